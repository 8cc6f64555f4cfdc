//! What becomes of the bytes of a request that a fault strikes. Pure: bytes in, bytes out.
//!
//! ```
//! use plimsoll_faultfs::chance::Draw;
//! use plimsoll_faultfs::fault::Fault;
//! use plimsoll_faultfs::injection::{Twist, written};
//!
//! let twist = Twist { fault: Fault::Torn, bytes: None, draw: Draw(1) };
//! let changed = written(&twist, 8192, &[1; 4096]);
//! let arrived: usize = changed.pieces.iter().map(|(_, bytes)| bytes.len()).sum();
//! assert!(0 < arrived && arrived < 4096 && changed.acknowledged == 4096);
//! ```

use std::ops::Range;

use crate::chance::Draw;
use crate::fault::Fault;

const SECTOR_BYTES: u64 = 512;
const SHIFT_BYTES: u64 = 64 << 10;

/// A fault with what it needs.
#[derive(Clone, Copy, Debug)]
pub struct Twist {
    /// What goes wrong.
    pub fault: Fault,
    /// Bytes, as the fault needs them.
    pub bytes: Option<u64>,
    /// What is left to chance.
    pub draw: Draw,
}

/// What becomes of a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// What is stored, and where.
    pub pieces: Vec<(u64, Vec<u8>)>,
    /// The bytes that are said to be written.
    pub acknowledged: usize,
    /// Where something else stands now than was asked for.
    pub wrong: Vec<Range<u64>>,
}

/// What becomes of a write of `data` at `offset`.
pub fn written(twist: &Twist, offset: u64, data: &[u8]) -> Written {
    let len = data.len() as u64;
    let whole = offset..offset + len;
    let keep = |pieces, wrong| Written { pieces, acknowledged: data.len(), wrong };
    match twist.fault {
        Fault::Short => {
            let kept = short(twist, len) as usize;
            Written { pieces: vec![(offset, data[..kept].to_vec())], acknowledged: kept, wrong: Vec::new() }
        }
        Fault::Lost => keep(Vec::new(), vec![whole]),
        Fault::Torn => torn(twist, offset, data),
        Fault::Misdirected => {
            let elsewhere = elsewhere(twist, offset, len);
            keep(vec![(elsewhere, data.to_vec())], vec![whole, elsewhere..elsewhere + len])
        }
        Fault::Flipped => {
            let mut changed = data.to_vec();
            let wrong = flip(twist.draw, offset, &mut changed);
            keep(vec![(offset, changed)], wrong)
        }
        Fault::Zeros => keep(vec![(offset, vec![0; data.len()])], vec![whole]),
        _ => keep(vec![(offset, data.to_vec())], Vec::new()),
    }
}

/// Changes what is read at `offset`; where it is wrong then. `None` for faults that do not change what is read.
pub fn read(twist: &Twist, offset: u64, data: &mut Vec<u8>) -> Option<Vec<Range<u64>>> {
    match twist.fault {
        Fault::Short => {
            data.truncate(short(twist, data.len() as u64) as usize);
            Some(Vec::new())
        }
        Fault::Flipped => Some(flip(twist.draw, offset, data)),
        Fault::Zeros => {
            data.fill(0);
            Some(vec![offset..offset + data.len() as u64])
        }
        _ => None,
    }
}

/// Where a misdirected request goes: further by the shift, or before where there is nothing before the shift ends.
pub fn elsewhere(twist: &Twist, offset: u64, len: u64) -> u64 {
    let shift = twist.bytes.unwrap_or(SHIFT_BYTES).max(len);
    // Backwards where it can be, so that the file does not grow.
    if offset >= shift { offset - shift } else { offset + shift }
}

fn short(twist: &Twist, len: u64) -> u64 {
    let half = len / 2 / SECTOR_BYTES * SECTOR_BYTES;
    twist.bytes.unwrap_or(half).min(len)
}

/// Some of the units arrive, not all and not none; of a write of one unit a part of its bytes.
fn torn(twist: &Twist, offset: u64, data: &[u8]) -> Written {
    let unit = twist.bytes.unwrap_or(SECTOR_BYTES).max(1) as usize;
    let units = data.len().div_ceil(unit);
    let mut pieces = Vec::new();
    let mut wrong = Vec::new();
    if units < 2 {
        let cut = data.len().min(1 + twist.draw.below(data.len().saturating_sub(1) as u64) as usize);
        pieces.push((offset, data[..cut].to_vec()));
        wrong.push(offset + cut as u64..offset + data.len() as u64);
        return Written { pieces, acknowledged: data.len(), wrong };
    }
    // A prefix or a suffix, as a power cut and a stripe leave it.
    let arrived = 1 + twist.draw.below(units as u64 - 1) as usize;
    let from_the_front = twist.draw.next().below(2) == 0;
    for (number, piece) in data.chunks(unit).enumerate() {
        let at = offset + (number * unit) as u64;
        let arrives = if from_the_front { number < arrived } else { number >= units - arrived };
        if arrives {
            pieces.push((at, piece.to_vec()));
        } else {
            wrong.push(at..at + piece.len() as u64);
        }
    }
    Written { pieces, acknowledged: data.len(), wrong }
}

/// Flips one bit; the sector that it stands in.
fn flip(draw: Draw, offset: u64, data: &mut [u8]) -> Vec<Range<u64>> {
    let bit = draw.below(data.len() as u64 * 8);
    let Some(byte) = data.get_mut(bit as usize / 8) else { return Vec::new() };
    *byte ^= 1 << (bit % 8);
    let at = offset + bit / 8;
    vec![at..at + 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    fn twist(fault: Fault, bytes: Option<u64>, seed: u64) -> Twist {
        Twist { fault, bytes, draw: Chance(seed).at(0) }
    }

    /// A file of ones, after a write of twos.
    fn after(written: &Written) -> Vec<u8> {
        let mut file = vec![1; 256 << 10];
        for (at, bytes) in &written.pieces {
            file[*at as usize..*at as usize + bytes.len()].copy_from_slice(bytes);
        }
        file
    }

    #[test]
    fn what_is_called_wrong_is_what_differs() {
        for fault in [Fault::Lost, Fault::Torn, Fault::Misdirected, Fault::Flipped, Fault::Zeros] {
            for seed in 0..50 {
                let changed = written(&twist(fault, None, seed), 128 << 10, &[2; 4096]);
                let right = after(&Written { pieces: vec![(128 << 10, vec![2; 4096])], ..Written::default() });
                let found = after(&changed);
                let wrong: Vec<u64> =
                    (0..found.len()).filter(|&at| found[at] != right[at]).map(|at| at as u64).collect();
                let said: Vec<u64> = changed.wrong.iter().cloned().flatten().collect();
                let (mut said, count) = (said, wrong.len());
                said.sort_unstable();
                assert_eq!(wrong, said, "{fault:?} {seed}");
                assert!(count > 0 && changed.acknowledged == 4096, "{fault:?}");
            }
        }
    }

    #[test]
    fn a_torn_write_arrives_in_part_whatever_is_drawn() {
        for seed in 0..200 {
            for len in [512, 1024, 4096] {
                let changed = written(&twist(Fault::Torn, None, seed), 0, &vec![2; len]);
                let arrived: usize = changed.pieces.iter().map(|(_, bytes)| bytes.len()).sum();
                assert!(0 < arrived && arrived < len, "{arrived} of {len}");
            }
        }
    }

    #[test]
    fn a_misdirected_write_stays_clear_of_its_own_place() {
        let place = |offset, bytes| elsewhere(&twist(Fault::Misdirected, bytes, 1), offset, 8192);
        assert_eq!([place(0, None), place(128 << 10, None), place(0, Some(512))], [64 << 10, 64 << 10, 8192]);
    }

    #[test]
    fn a_read_is_changed_and_says_where() {
        let mut data = vec![7; 1024];
        assert_eq!(read(&twist(Fault::Zeros, None, 1), 512, &mut data).unwrap(), [512..1536]);
        assert_eq!(data, [0; 1024]);
        let wrong = read(&twist(Fault::Flipped, None, 1), 512, &mut data).unwrap();
        let at: Vec<usize> = (0..1024).filter(|&at| data[at] != 0).collect();
        assert_eq!(at.len(), 1);
        assert_eq!(wrong, [at[0] as u64 + 512..at[0] as u64 + 513]);
        assert_eq!(read(&twist(Fault::Short, None, 1), 512, &mut data).unwrap(), []);
        assert_eq!(data.len(), 512);
        assert!(read(&twist(Fault::Eio, None, 1), 512, &mut data).is_none());
    }

    #[test]
    fn nothing_is_changed_of_nothing() {
        assert_eq!(read(&twist(Fault::Flipped, None, 1), 0, &mut Vec::new()).unwrap(), []);
        assert_eq!(written(&twist(Fault::Flipped, None, 1), 0, &[]).wrong, []);
    }
}
