//! Values that recur, each kept once and numbered.

/// As many values as a column may have and still be written by their numbers.
pub const VALUES_MAX: usize = 1 << 12;
const SLOTS: usize = 4 * VALUES_MAX;
const FREE: u16 = u16::MAX;

/// The number of each value of a column, counted from 0 in the order in which values appeared, and where each appeared first.
#[derive(Debug, PartialEq, Eq)]
pub struct Dictionary {
    pub numbers: Vec<u16>,
    pub firsts: Vec<usize>,
}

impl Dictionary {
    /// Of `count` values, told apart by `hash` and `same` (whether values at two places are equal). None as soon as there are too
    /// many, or more than half as many as values.
    pub fn of(count: usize, hash: impl Fn(usize) -> u64, same: impl Fn(usize, usize) -> bool) -> Option<Self> {
        let mut slots = vec![FREE; SLOTS];
        let (mut numbers, mut firsts) = (Vec::with_capacity(count), Vec::new());
        for place in 0..count {
            // The upper bits of a product depend on all bits of what was multiplied.
            let mut slot = (hash(place).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50) as usize % SLOTS;
            let number = loop {
                match slots[slot] {
                    FREE if firsts.len() == VALUES_MAX.min(count / 2) => return None,
                    FREE => {
                        slots[slot] = firsts.len() as u16;
                        firsts.push(place);
                        break slots[slot];
                    }
                    number if same(firsts[usize::from(number)], place) => break number,
                    _ => slot = (slot + 1) % SLOTS,
                }
            };
            numbers.push(number);
        }
        Some(Self { numbers, firsts })
    }
}

/// A number made of a text, for telling texts apart quickly.
pub fn text_hash(text: &[u8]) -> u64 {
    let word = |bytes: &[u8]| bytes.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    match text {
        [head @ .., a, b, c, d, e, f, g, h] => {
            let start = head.first_chunk::<8>().map_or_else(|| word(head), |start| u64::from_le_bytes(*start));
            let end = u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]);
            (start.wrapping_mul(31) ^ end).wrapping_add(text.len() as u64)
        }
        short => word(short),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Option<Dictionary> {
        Dictionary::of(values.len(), |place| values[place], |a, b| values[a] == values[b])
    }

    #[test]
    fn values_are_numbered_in_the_order_in_which_they_appear() {
        let made = of(&[7, 9, 7, 7, 2, 9]).unwrap();
        assert_eq!((made.numbers, made.firsts), (vec![0, 1, 0, 0, 2, 1], vec![0, 1, 4]));
    }

    #[test]
    fn values_that_hash_alike_are_told_apart() {
        let made = Dictionary::of(100, |_| 5, |a, b| a % 50 == b % 50).unwrap();
        assert!(made.numbers.iter().copied().eq((0..50).chain(0..50)));
    }

    #[test]
    fn too_many_values_have_no_dictionary() {
        let values: Vec<u64> = (0..=VALUES_MAX as u64).collect();
        let twice = |values: &[u64]| of(&[values, values].concat());
        assert_eq!(twice(&values), None);
        assert_eq!(twice(&values[1..]).unwrap().firsts.len(), VALUES_MAX);
        assert_eq!(of(&[1, 2, 3]), None, "none that recurs");
    }
}
