//! Strips of redundancy over GF(2^8), eight bytes at a time: what those of a row are, and what of a row follows from the rest.
//!
//! Model: a Cauchy code: of as many data columns and parities as there are, any that are as many as the data columns give all (J. Blömer
//! et al., *An XOR-Based Erasure-Resilient Coding Scheme*, 1995). Which code it is does not matter to the layout, only that.

use std::sync::LazyLock;

/// Parities that there may be; columns are numbered behind them.
const PARITIES_MAX: u32 = 32;

/// Multiplies each of eight bytes by x, modulo x^8 + x^4 + x^3 + x^2 + 1.
fn doubled(word: u64) -> u64 {
    let high = word & 0x8080_8080_8080_8080;
    ((word ^ high) << 1) ^ ((high >> 7) * 0x1d)
}

/// Multiplies each of eight bytes by a byte.
fn scaled(word: u64, by: u8) -> u64 {
    let (mut power, mut sum) = (word, 0);
    for bit in 0..8 {
        sum ^= if by >> bit & 1 == 1 { power } else { 0 };
        power = doubled(power);
    }
    sum
}

/// The byte that gives one with another, for each but 0.
static INVERSES: LazyLock<[u8; 256]> = LazyLock::new(|| {
    let inverse = |byte: u64| (1..=255).find(|&other| scaled(byte, other) == 1).unwrap_or(0);
    std::array::from_fn(|byte| inverse(byte as u64))
});

fn inverse(byte: u8) -> u8 {
    INVERSES[usize::from(byte)]
}

/// How a column counts in a parity: 1 / (x + y), with an x of its own for every parity and a y for every column.
fn weight(which: u32, column: u32) -> u8 {
    assert!(which < PARITIES_MAX && column < 256 - PARITIES_MAX, "the field has room for so many");
    inverse(which as u8 ^ (column + PARITIES_MAX) as u8)
}

/// What a column contributes to a parity.
pub fn weighted(which: u32, column: u32, word: u64) -> u64 {
    scaled(word, weight(which, column))
}

/// Parity number `which` of a row.
pub fn parity(which: u32, data: &[u64]) -> u64 {
    (0..).zip(data).fold(0, |sum, (column, &word)| sum ^ weighted(which, column, word))
}

/// All data columns, if they follow from those that are known and from the parities that are known.
pub fn decoded(data: &[Option<u64>], parities: &[Option<u64>]) -> Option<Vec<u64>> {
    let unknown: Vec<usize> = (0..data.len()).filter(|&column| data[column].is_none()).collect();
    let mut all: Vec<u64> = data.iter().map(|word| word.unwrap_or(0)).collect();
    let known = (0..).zip(parities).filter_map(|(which, word)| Some((which, (*word)?)));
    // One equation for each column that is unknown: its weights, and what they give together.
    let mut equations: Vec<(Vec<u8>, u64)> = known
        .take(unknown.len())
        .map(|(which, word)| {
            let weights = unknown.iter().map(|&column| weight(which, column as u32)).collect();
            (weights, word ^ parity(which, &all))
        })
        .collect();
    if equations.len() < unknown.len() {
        return None;
    }
    for step in 0..unknown.len() {
        let pivot = (step..unknown.len()).find(|&row| equations[row].0[step] != 0)?;
        equations.swap(step, pivot);
        let by = inverse(equations[step].0[step]);
        let (weights, word) = &equations[step];
        let own: (Vec<u8>, u64) =
            (weights.iter().map(|&weight| scaled(u64::from(weight), by) as u8).collect(), scaled(*word, by));
        for (_, other) in equations.iter_mut().enumerate().filter(|(row, _)| *row != step) {
            let by = other.0[step];
            for (weight, &from) in other.0.iter_mut().zip(&own.0) {
                *weight ^= scaled(u64::from(from), by) as u8;
            }
            other.1 ^= scaled(own.1, by);
        }
        equations[step] = own;
    }
    unknown.iter().zip(equations).for_each(|(&column, (_, word))| all[column] = word);
    Some(all)
}

#[test]
fn any_lost_columns_come_back_from_as_many_parities_and_not_from_fewer() {
    let data: Vec<u64> = (1..=9_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let parities: Vec<Option<u64>> = (0..4).map(|which| Some(parity(which, &data))).collect();
    for lost in (0_u32..1 << 9).filter(|lost| lost.count_ones() <= 4) {
        let known: Vec<Option<u64>> = (0..9).map(|column| (lost >> column & 1 == 0).then_some(data[column])).collect();
        for left in 0..1_usize << 4 {
            let left: Vec<Option<u64>> =
                (0..4).map(|which| parities[which].filter(|_| left >> which & 1 == 1)).collect();
            let enough = left.iter().flatten().count() >= lost.count_ones() as usize;
            assert_eq!(decoded(&known, &left).as_ref(), enough.then_some(&data), "without {lost:b} from {left:?}");
        }
    }
}
