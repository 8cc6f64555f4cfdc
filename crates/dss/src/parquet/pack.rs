//! Numbers in as few bits as they need.

use crate::parquet::thrift::{varint, zigzag};

const BLOCK: usize = 128;
const MINIBLOCK: usize = 32;

/// Appends the low `width` bits of each value, the first value lowest; full bytes, zeros behind the last.
pub fn bits(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u32) {
    if width == 0 {
        return;
    }
    let (mut gathered, mut filled) = (0_u64, 0_u32);
    for value in values {
        gathered |= value << filled;
        filled += width;
        if filled >= 64 {
            out.extend_from_slice(&gathered.to_le_bytes());
            filled -= 64;
            gathered = if filled == 0 { 0 } else { value >> (width - filled) };
        }
    }
    let bytes = filled.div_ceil(8) as usize;
    out.extend_from_slice(&gathered.to_le_bytes()[..bytes]);
}

/// Bits that a number needs.
pub const fn width(value: u64) -> u32 {
    64 - value.leading_zeros()
}

/// Appends numbers as differences, packed in blocks of 128 (DELTA_BINARY_PACKED).
pub fn differences(out: &mut Vec<u8>, values: impl ExactSizeIterator<Item = i64>) {
    let mut values = values;
    varint(out, BLOCK as u64);
    varint(out, (BLOCK / MINIBLOCK) as u64);
    varint(out, values.len() as u64);
    let Some(mut last) = values.next() else {
        varint(out, 0);
        return;
    };
    varint(out, zigzag(last));
    let mut block = [0_i64; BLOCK];
    while values.len() > 0 {
        let count = values.len().min(BLOCK);
        for (place, value) in block.iter_mut().zip(values.by_ref().take(count)) {
            *place = value - last;
            last = value;
        }
        write_block(out, &block[..count]);
    }
}

fn write_block(out: &mut Vec<u8>, differences: &[i64]) {
    let least = differences.iter().copied().min().unwrap_or_default();
    varint(out, zigzag(least));
    let above =
        |values: &[i64]| width(values.iter().map(|value| (value - least) as u64).fold(0, |all, value| all | value));
    let mut widths = [0_u8; BLOCK / MINIBLOCK];
    for (place, values) in widths.iter_mut().zip(differences.chunks(MINIBLOCK)) {
        *place = above(values) as u8;
    }
    out.extend_from_slice(&widths);
    for (width, values) in widths.into_iter().zip(differences.chunks(MINIBLOCK)) {
        // The last one is filled up with zeros.
        let padding = std::iter::repeat_n(0, MINIBLOCK - values.len());
        bits(out, values.iter().map(|value| (value - least) as u64).chain(padding), width.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_format_is_packed_as_it_shows() {
        // 0 to 7 with three bits each.
        let mut out = Vec::new();
        bits(&mut out, 0..8, 3);
        assert_eq!(out, [0b1000_1000, 0b1100_0110, 0b1111_1010]);
    }

    #[test]
    fn numbers_of_any_width_cross_words_unharmed() {
        for width in 1..=64 {
            let mask = u64::MAX >> (64 - width);
            let values: Vec<u64> = (1..100_u64).map(|value| value.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask).collect();
            let mut out = Vec::new();
            bits(&mut out, values.iter().copied(), width);
            assert_eq!(out.len(), (99 * width).div_ceil(8) as usize);
            let bit = |at: u32| u64::from(out[at as usize / 8] >> (at % 8) & 1);
            let read = |index: u32| (0..width).map(|at| bit(index * width + at) << at).sum::<u64>();
            assert!((0..99).map(read).eq(values), "{width} bits");
        }
    }
}
