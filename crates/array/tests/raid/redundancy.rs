//! P and Q over GF(2^8), eight bytes at a time: what a row's parity is, and what of a row follows from the rest.

/// Multiplies each of eight bytes by x, modulo x^8 + x^4 + x^3 + x^2 + 1.
fn doubled(word: u64) -> u64 {
    let high = word & 0x8080_8080_8080_8080;
    ((word ^ high) << 1) ^ ((high >> 7) * 0x1d)
}

/// `word · x^power`.
fn scaled(word: u64, power: u32) -> u64 {
    (0..power % 255).fold(word, |word, _| doubled(word))
}

/// `word / (x^power)`.
fn unscaled(word: u64, power: u32) -> u64 {
    scaled(word, 255 - power % 255)
}

/// `word / (1 + x^power)`, by trying all of the field for each byte.
fn over_one_plus(word: u64, power: u32) -> u64 {
    let divided = |byte: u8| {
        (0..=255_u64).find(|&quotient| (quotient ^ scaled(quotient, power)) & 0xff == u64::from(byte)).expect("a field")
    };
    u64::from_le_bytes(word.to_le_bytes().map(|byte| divided(byte) as u8))
}

/// Parity number `which` of a row: 0 is P, the sum; 1 is Q, the sum of column `i` times `x^i`.
pub fn parity(which: u32, data: &[u64]) -> u64 {
    (0..).zip(data).fold(0, |sum, (column, &word)| sum ^ weighted(which, column, word))
}

/// What a column contributes to a parity.
pub fn weighted(which: u32, column: u32, word: u64) -> u64 {
    if which == 0 { word } else { scaled(word, column) }
}

/// All data columns, if they follow from those that are known and from what is known of P and Q.
pub fn decoded(data: &[Option<u64>], p: Option<u64>, q: Option<u64>) -> Option<Vec<u64>> {
    let unknown: Vec<usize> = (0..data.len()).filter(|&column| data[column].is_none()).collect();
    let mut all: Vec<u64> = data.iter().map(|word| word.unwrap_or(0)).collect();
    let (sum, weighted_sum) = (parity(0, &all), parity(1, &all));
    match (unknown.as_slice(), p, q) {
        ([], _, _) => {}
        (&[column], Some(p), _) => all[column] = p ^ sum,
        (&[column], None, Some(q)) => all[column] = unscaled(q ^ weighted_sum, column as u32),
        (&[low, high], Some(p), Some(q)) => {
            // a + b = p', x^low·a + x^high·b = q'; so (1 + x^(high−low))·b = q'/x^low + p'.
            let (p, q) = (p ^ sum, unscaled(q ^ weighted_sum, low as u32));
            all[high] = over_one_plus(p ^ q, (high - low) as u32);
            all[low] = p ^ all[high];
        }
        _ => return None,
    }
    Some(all)
}

#[test]
fn any_two_lost_columns_come_back() {
    let data: Vec<u64> = (1..=9_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let (p, q) = (parity(0, &data), parity(1, &data));
    for low in 0..data.len() {
        for high in 0..data.len() {
            let mut known: Vec<Option<u64>> = data.iter().copied().map(Some).collect();
            (known[low], known[high]) = (None, None);
            assert_eq!(decoded(&known, Some(p), Some(q)).as_ref(), Some(&data));
            if low == high {
                assert_eq!(decoded(&known, None, Some(q)).as_ref(), Some(&data));
            } else {
                assert_eq!(decoded(&known, Some(p), None), None);
            }
        }
    }
}
