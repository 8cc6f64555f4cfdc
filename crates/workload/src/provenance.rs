//! Whether Plimsoll wrote some bytes: known from the bytes themselves, whichever run wrote them.
//!
//! Purpose: a device on which there is nothing but what earlier runs wrote holds nobody's data. Model: a sector
//! is Plimsoll's when it is a stamp with the right checksum, or when its words are consecutive draws of one sequence,
//! which [`crate::Content`] and the filling of scratch files both write: the finaliser is undone, and the numbers that
//! come out then differ by one known step (by chance with 2⁻⁶⁴ for each word). The first 16 bytes of a sector are free,
//! and zeros may follow the draws, as compressible content has them.
//!
//! Limits: patterns, and content that is to compress 85-fold or more, cannot be recognised: they count as somebody's.
//!
//! ```
//! use plimsoll_workload::provenance;
//! assert_eq!(provenance::unknown_at(&[0; 4096]), None);
//! assert_eq!(provenance::unknown_at(b"\0\0\0letters"), Some(3));
//! ```

use crate::rng::{STEP, mix, unmix};
use crate::stamp;

const SECTOR_BYTES: usize = 512;
const WORD_BYTES: usize = 8;
const WORDS: u64 = (SECTOR_BYTES / WORD_BYTES) as u64;
/// Words at the start of a sector that make it unique, and are not consecutive.
const FREE_WORDS: usize = 2;
/// Differences of consecutive draws that have to be right.
const STEPS_MIN: usize = 3;

/// The first byte that is neither zero nor in a sector of Plimsoll's.
pub fn unknown_at(bytes: &[u8]) -> Option<usize> {
    // Where the draws of the next sector begin if it goes on as the last one did.
    let mut going_on = None;
    for (number, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
        let Some(first) = sector.iter().position(|byte| *byte != 0) else {
            going_on = None;
            continue;
        };
        if is_stamp(sector) {
            going_on = None;
            continue;
        }
        let begun = begins(sector).filter(|begin| drawn_words(sector, *begin).is_some_and(|count| count > STEPS_MIN));
        // The last random bytes of a unit that compresses are too few to be recognised without those before them.
        let tail = going_on.filter(|begin| drawn_words(sector, *begin).is_some());
        match begun.or(tail) {
            Some(begin) => going_on = Some(begin.wrapping_add(STEP.wrapping_mul(WORDS))),
            None => return Some(number * SECTOR_BYTES + first),
        }
    }
    None
}

fn is_stamp(sector: &[u8]) -> bool {
    sector.try_into().is_ok_and(stamp::is_valid)
}

/// Where the sequence would stand at the sector's first word for its first drawn word to belong to it.
fn begins(sector: &[u8]) -> Option<u64> {
    let word = sector.as_chunks::<WORD_BYTES>().0.get(FREE_WORDS)?;
    Some(unmix(u64::from_le_bytes(*word)).wrapping_sub(STEP.wrapping_mul(FREE_WORDS as u64)))
}

/// How many whole words after the free ones are the draws from `begin` on, when nothing but zeros follows them.
/// The last draw may be cut short.
fn drawn_words(sector: &[u8], begin: u64) -> Option<usize> {
    let words = sector.chunks(WORD_BYTES).enumerate().skip(FREE_WORDS);
    let mut count = 0;
    let mut ended = false;
    for (index, word) in words {
        let draw = mix(begin.wrapping_add(STEP.wrapping_mul(index as u64))).to_le_bytes();
        let equal = word.iter().zip(&draw).take_while(|(byte, drawn)| byte == drawn).count();
        if ended || equal < WORD_BYTES {
            let from = if ended { 0 } else { equal };
            if word[from..].iter().any(|byte| *byte != 0) {
                return None;
            }
            ended = true;
        } else {
            count += 1;
        }
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Draws;
    use crate::stamp::{StampHeader, write};
    use crate::{Content, TargetShape, Workload};
    use serde_json::json;

    fn written(options: &serde_json::Value) -> Vec<u8> {
        let mut stream = json!({ "name": "w", "block_size": "64KiB", "read_percent": 0 });
        stream.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let workload = Workload::from_json(&json!({ "stream": [stream] }), "test").unwrap();
        let plan = &workload.resolve(TargetShape { size_bytes: 1 << 30, block_bytes: 512 }, 7).unwrap()[0];
        let content = Content::new(plan);
        let mut buffer = vec![0; 64 << 10];
        content.prepare(&mut buffer, 3);
        content.refresh(&mut buffer, 1 << 20, 11);
        buffer
    }

    #[test]
    fn everything_that_a_workload_writes_is_known_again_except_patterns() {
        for options in [
            json!({}),
            json!({ "compress_ratio": 2 }),
            json!({ "compress_ratio": 3.3 }),
            json!({ "compress_ratio": 50 }),
            json!({ "duplicate_ratio": 4 }),
            json!({ "content": "zeros" }),
        ] {
            assert_eq!(unknown_at(&written(&options)), None, "{options}");
        }
        assert_eq!(unknown_at(&written(&json!({ "content": "pattern", "pattern": "0xdeadbeef" }))), Some(0));
    }

    #[test]
    fn stamps_are_known_again_and_a_broken_one_is_not() {
        let mut buffer = vec![0; 8192];
        write(&mut buffer, &StampHeader { run: 1, start: 65_536, sequence: 1, granule_bytes: 4096 }, |_| 1);
        assert_eq!(unknown_at(&buffer), None);
        buffer[512 * 3 + 100] ^= 1;
        assert_eq!(unknown_at(&buffer), Some(512 * 3));
    }

    #[test]
    fn one_changed_byte_in_a_sector_of_draws_makes_it_somebodys() {
        let buffer = written(&json!({}));
        for at in [16, 511, 512 * 5 + 200, 65_535] {
            let mut changed = buffer.clone();
            changed[at] ^= 1;
            assert!(unknown_at(&changed).is_some(), "byte {at}");
        }
    }

    #[test]
    fn random_bytes_of_others_and_text_are_somebodys() {
        let foreign = Draws::new(1, &[]);
        let words = (0..8192_u64).map(|index| foreign.at(index * index)); // no constant step
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        assert_eq!(unknown_at(&bytes), Some(0));
        assert_eq!(unknown_at(&[1; 4096]), Some(0));
    }
}
