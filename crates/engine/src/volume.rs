//! Where on which part of a target a request lands. PURE.
//!
//! Purpose: `concat:` and `stripe:` targets look like one range of bytes; this maps requests on that range to pieces
//! on the parts (LUNs), as ORION's simulated RAID-0 does. Model: a concatenation fills one part after the other; a
//! stripe deals units round-robin, so unit `u` is unit `u / n` of part `u mod n`.
//!
//! Limits: a stripe uses of every part only whole units, as many as the smallest part has. Pieces of a long request
//! that are neighbours on one part stay separate, because other parts' bytes lie between them in the buffer; so a
//! request of k units is k (+1) pieces. Requests must lie inside the volume and have a length: a flush goes to every
//! part, which is the caller's to do.
//!
//! ```
//! use plimsoll_engine::volume::Volume;
//! let stripe = Volume::stripe(4096, &[1 << 20, 1 << 20]);
//! let mut pieces = Vec::new();
//! stripe.map(4096, 8192, &mut |part, offset, len, buffer_offset| pieces.push((part, offset, len, buffer_offset)));
//! assert_eq!(pieces, [(1, 0, 4096, 0), (0, 4096, 4096, 4096)]);
//! ```

use plimsoll_workload::parts::Spread;

/// How a target's bytes lie on its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Volume {
    /// One part.
    Single {
        /// Its size in bytes.
        size_bytes: u64,
    },
    /// One part after the other.
    Concat {
        /// First byte after each part, ascending.
        ends: Vec<u64>,
    },
    /// Units dealt round-robin.
    Stripe {
        /// Size of a unit in bytes.
        unit_bytes: u64,
        /// Number of parts.
        parts: u64,
        /// Size of the volume in bytes; a multiple of a row of units.
        size_bytes: u64,
    },
}

/// How the requests of a stream are spread over parts of its own choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadVolume {
    volume: Volume,
    /// The target's numbers of the volume's parts.
    numbers: Vec<usize>,
}

impl SpreadVolume {
    /// As a plan says.
    pub fn new(spread: &Spread) -> Self {
        let sizes: Vec<u64> = spread.parts.iter().map(|(_, size)| *size).collect();
        let numbers = spread.parts.iter().map(|(number, _)| *number as usize).collect();
        let volume = spread.unit_bytes.map_or_else(|| Volume::concat(&sizes), |unit| Volume::stripe(unit, &sizes));
        Self { volume, numbers }
    }

    /// As [`Volume::map`], with its own numbers of parts, counted from 0.
    pub fn map(&self, offset: u64, len: u32, out: &mut impl FnMut(usize, u64, u32, u32)) {
        self.volume.map(offset, len, out);
    }

    /// As [`Volume::pieces_max`].
    pub fn pieces_max(&self, longest: u32) -> usize {
        self.volume.pieces_max(longest)
    }

    /// The target's numbers of its parts.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }
}

impl Volume {
    /// Parts of these sizes one after the other.
    pub fn concat(sizes_bytes: &[u64]) -> Self {
        if let [size_bytes] = *sizes_bytes {
            return Self::Single { size_bytes };
        }
        let mut end = 0;
        Self::Concat {
            ends: sizes_bytes
                .iter()
                .map(|size| {
                    end += size;
                    end
                })
                .collect(),
        }
    }

    /// A stripe over parts of these sizes.
    pub fn stripe(unit_bytes: u32, sizes_bytes: &[u64]) -> Self {
        assert!(unit_bytes > 0 && !sizes_bytes.is_empty(), "a stripe has units and parts");
        let (unit_bytes, parts) = (u64::from(unit_bytes), sizes_bytes.len() as u64);
        let smallest = sizes_bytes.iter().copied().min().unwrap_or(0);
        Self::Stripe { unit_bytes, parts, size_bytes: smallest / unit_bytes * unit_bytes * parts }
    }

    /// Usable bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Single { size_bytes } | Self::Stripe { size_bytes, .. } => *size_bytes,
            Self::Concat { ends } => ends.last().copied().unwrap_or(0),
        }
    }

    /// First byte after each part of a concatenation; empty for others, whose parts are no ranges.
    pub fn part_ends(&self) -> &[u64] {
        match self {
            Self::Concat { ends } => ends,
            Self::Single { .. } | Self::Stripe { .. } => &[],
        }
    }

    /// The most pieces that a request of so many bytes can fall into, or a flush.
    pub fn pieces_max(&self, longest: u32) -> usize {
        match self {
            Self::Single { .. } => 1,
            Self::Concat { ends } => ends.len(),
            Self::Stripe { unit_bytes, parts, .. } => {
                (longest as usize / *unit_bytes as usize + 2).max(*parts as usize)
            }
        }
    }

    /// Number of parts.
    pub fn parts(&self) -> usize {
        match self {
            Self::Single { .. } => 1,
            Self::Concat { ends } => ends.len(),
            Self::Stripe { parts, .. } => *parts as usize,
        }
    }

    /// Calls `out(part, offset, len, buffer_offset)` for every piece of the request, in the order of its bytes: the
    /// piece covers `len` bytes of part `part` from `offset` on, and `buffer_offset` bytes of the request precede it.
    #[inline(always)]
    pub fn map(&self, offset: u64, len: u32, out: &mut impl FnMut(usize, u64, u32, u32)) {
        debug_assert!(len > 0 && offset + u64::from(len) <= self.size(), "request outside the volume");
        match self {
            Self::Single { .. } => out(0, offset, len, 0),
            Self::Concat { ends } => map_concat(ends, offset, len, out),
            Self::Stripe { unit_bytes, parts, .. } => {
                map_stripe(*unit_bytes, *parts, offset..offset + u64::from(len), out)
            }
        }
    }
}

fn map_concat(ends: &[u64], offset: u64, len: u32, out: &mut impl FnMut(usize, u64, u32, u32)) {
    let first = ends.partition_point(|end| *end <= offset);
    let mut start = if first == 0 { 0 } else { ends[first - 1] };
    let mut covered = 0;
    for (part, &end) in ends.iter().enumerate().skip(first) {
        let position = offset + u64::from(covered);
        let piece = (end - position).min(u64::from(len - covered)) as u32;
        if piece > 0 {
            out(part, position - start, piece, covered);
        }
        covered += piece;
        if covered == len {
            return;
        }
        start = end;
    }
}

fn map_stripe(unit: u64, parts: u64, range: std::ops::Range<u64>, out: &mut impl FnMut(usize, u64, u32, u32)) {
    let (index, mut skip) = (range.start / unit, range.start % unit);
    let (mut row, mut part) = (index / parts, index % parts);
    let mut position = range.start;
    while position < range.end {
        let piece = (unit - skip).min(range.end - position);
        out(part as usize, row * unit + skip, piece as u32, (position - range.start) as u32);
        position += piece;
        skip = 0;
        part += 1;
        if part == parts {
            (part, row) = (0, row + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Piece = (usize, u64, u32, u32);

    fn pieces(volume: &Volume, offset: u64, len: u32) -> Vec<Piece> {
        let mut pieces = Vec::new();
        volume
            .map(offset, len, &mut |part, offset, len, buffer_offset| pieces.push((part, offset, len, buffer_offset)));
        pieces
    }

    /// Volumes small enough to enumerate, with the sizes of their parts.
    fn volumes() -> impl Strategy<Value = (Volume, Vec<u64>)> {
        let sizes = prop::collection::vec(1u64..200, 1..6);
        (sizes, 1u32..20, 0..3).prop_map(|(sizes, unit, kind)| match kind {
            0 => (Volume::Single { size_bytes: sizes[0] }, sizes[..1].to_vec()),
            1 => (Volume::concat(&sizes), sizes),
            _ => (Volume::stripe(unit, &sizes), sizes),
        })
    }

    proptest! {
        #[test]
        fn every_byte_has_one_place_of_its_own_inside_its_part((volume, sizes) in volumes()) {
            let mut taken = std::collections::HashSet::new();
            for offset in 0..volume.size() {
                let found = pieces(&volume, offset, 1);
                prop_assert_eq!(found.len(), 1);
                let (part, at, len, buffer_offset) = found[0];
                prop_assert_eq!((len, buffer_offset), (1, 0));
                prop_assert!(at < sizes[part]);
                prop_assert!(taken.insert((part, at)));
            }
        }

        #[test]
        fn a_request_goes_where_its_bytes_go((volume, _) in volumes(), a in 0u64..1000, b in 0u64..1000) {
            prop_assume!(volume.size() > 0);
            let (a, b) = (a % volume.size(), b % volume.size());
            let (offset, len) = (a.min(b), (a.max(b) - a.min(b) + 1) as u32);
            let mut covered = 0;
            for (part, at, piece, buffer_offset) in pieces(&volume, offset, len) {
                prop_assert!(piece > 0);
                prop_assert_eq!(buffer_offset, covered, "in order and without gaps");
                for byte in 0..u64::from(piece) {
                    let single = pieces(&volume, offset + u64::from(covered) + byte, 1);
                    prop_assert_eq!((single[0].0, single[0].1), (part, at + byte));
                }
                covered += piece;
            }
            prop_assert_eq!(covered, len);
        }
    }

    #[test]
    fn a_stripe_uses_whole_units_of_the_smallest_part() {
        assert_eq!(Volume::stripe(1 << 20, &[10 << 20, (7 << 20) + 4096, 9 << 20]).size(), 21 << 20);
        assert_eq!(Volume::stripe(1 << 20, &[1000, 1 << 30]).size(), 0);
    }

    #[test]
    fn a_long_request_keeps_neighbours_on_a_part_apart() {
        let stripe = Volume::stripe(4096, &[1 << 20, 1 << 20]);
        let found = pieces(&stripe, 0, 4 * 4096);
        assert_eq!(found, [(0, 0, 4096, 0), (1, 0, 4096, 4096), (0, 4096, 4096, 8192), (1, 4096, 4096, 12288)]);
    }

    #[test]
    fn a_concatenation_skips_to_the_right_part_and_crosses_several() {
        let volume = Volume::concat(&[100, 50, 200]);
        assert_eq!(pieces(&volume, 90, 100), [(0, 90, 10, 0), (1, 0, 50, 10), (2, 0, 40, 60)]);
        assert_eq!(pieces(&volume, 150, 8), [(2, 0, 8, 0)]);
        assert_eq!(Volume::concat(&[100]), Volume::Single { size_bytes: 100 });
    }

    #[test]
    fn offsets_beyond_four_gigabytes_survive() {
        let stripe = Volume::stripe(1 << 20, &[1 << 44, 1 << 44, 1 << 44]);
        let offset = (1 << 44) + 12_345 * 512;
        let unit = offset / (1 << 20);
        let found = pieces(&stripe, offset, 4096);
        assert_eq!(found[0], ((unit % 3) as usize, unit / 3 * (1 << 20) + offset % (1 << 20), 4096, 0));
    }
}
