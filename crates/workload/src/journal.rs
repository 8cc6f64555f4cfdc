//! The power-cut journal: what a target has promised to keep, so that what it kept can be compared with it.
//!
//! Model: while a run with `verify = "journal"` writes stamps ([`crate::stamp`]), two kinds of [`Record`] go to another
//! disk or host and are durable there first. *Begun* precedes the write itself: from then on its blocks may hold
//! anything of it. *Durable* precedes the acknowledgement of a write that the target has to keep: one that completed
//! with `dsync`, or that completed before a flush was issued which has completed since. After the cut an [`Account`] is
//! made of the records, an [`Inspection`] looks at every block they name, and its [`Verdict`] names each acknowledged
//! write that is not there.
//!
//! A write that was not acknowledged may be there, or not, or in part. So a block whose last durable write was being
//! overwritten at the cut may hold either, and a sector broken inside is then nobody's fault.
//!
//! Limits: what a journal does not name is not judged; a write that a later durable one has replaced is proved by that
//! one. Memory: 48 bytes per block of the region.
//!
//! ```
//! use plimsoll_workload::journal::{Account, Header, Inspection, Record, Write};
//! use plimsoll_workload::stamp::{self, StampHeader};
//!
//! let header = Header { run: 7, granule_bytes: 4096, region: 0..8192, started_ns: 0 };
//! let write = Write { sequence: 1, address: 4096, len: 4096 };
//! let mut account = Account::new(&header);
//! account.take(&Record::Begun(write));
//! account.take(&Record::Durable { write, horizon: 1, at_ns: 5_000_000 });
//!
//! let mut inspection = Inspection::new(&account);
//! inspection.look(4096, &[0; 4096]); // what the target returns after the cut
//! let verdict = inspection.verdict();
//! assert_eq!(verdict.violations[0].kind.name(), "lost");
//! # let mut kept = [0; 4096];
//! # stamp::write(&mut kept, &StampHeader { run: 7, start: 4096, sequence: 1, granule_bytes: 4096 }, |_| 1);
//! # let mut inspection = Inspection::new(&account);
//! # inspection.look(4096, &kept);
//! # assert!(inspection.verdict().violations.is_empty());
//! ```

mod account;
mod inspection;
mod verdict;

use std::ops::Range;

pub use account::Account;
pub use inspection::Inspection;
pub use verdict::{Kind, Verdict, Violation};

/// Bytes of a record in a file or on its way.
pub const RECORD_BYTES: usize = 64;

const MAGIC: [u8; 4] = *b"PLJ1";
const CHECKSUM_START: usize = 60;

/// What a journal begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The run whose stamps it is about.
    pub run: u64,
    /// Bytes per block: every write is made of whole ones.
    pub granule_bytes: u32,
    /// Bytes of the target that writes stay inside.
    pub region: Range<u64>,
    /// When the run began, in nanoseconds of the wall clock since 1970.
    pub started_ns: u64,
}

/// One write, or the piece of it on one part of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Its number in the run, in the order of issue, from 1 on.
    pub sequence: u64,
    /// First byte on the target.
    pub address: u64,
    /// Length in bytes.
    pub len: u32,
}

/// One entry of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The first entry.
    Header(Header),
    /// A write is about to be issued.
    Begun(Write),
    /// The target has promised to keep a write.
    Durable {
        /// Which.
        write: Write,
        /// The newest write begun by then: all later ones were issued after this promise.
        horizon: u64,
        /// When, in nanoseconds from the run's start.
        at_ns: u64,
    },
}

impl Record {
    /// The entry as it is stored: magic, kind, six numbers, checksum, little-endian.
    pub fn encode(&self) -> [u8; RECORD_BYTES] {
        let (kind, numbers) = match self {
            Self::Header(Header { run, granule_bytes, region, started_ns }) => {
                (0, [*run, u64::from(*granule_bytes), region.start, region.end, *started_ns])
            }
            Self::Begun(Write { sequence, address, len }) => (1, [*sequence, *address, u64::from(*len), 0, 0]),
            Self::Durable { write: Write { sequence, address, len }, horizon, at_ns } => {
                (2, [*sequence, *address, u64::from(*len), *horizon, *at_ns])
            }
        };
        let mut bytes = [0; RECORD_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = kind;
        for (place, number) in bytes[8..48].as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM_START]);
        bytes[CHECKSUM_START..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The entry that was stored so; `None` for anything else.
    pub fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let word = |place: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 + place * 8 + byte]));
        let checksum = u32::from_le_bytes(std::array::from_fn(|byte| bytes[CHECKSUM_START + byte]));
        if bytes[..4] != MAGIC || checksum != crc32c::crc32c(&bytes[..CHECKSUM_START]) {
            return None;
        }
        let write = || Some(Write { sequence: word(0), address: word(1), len: u32::try_from(word(2)).ok()? });
        match bytes[4] {
            0 => {
                let granule_bytes = u32::try_from(word(1)).ok()?;
                Some(Self::Header(Header {
                    run: word(0),
                    granule_bytes,
                    region: word(2)..word(3),
                    started_ns: word(4),
                }))
            }
            1 => write().map(Self::Begun),
            2 => write().map(|write| Self::Durable { write, horizon: word(3), at_ns: word(4) }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_read_back_and_a_flipped_bit_is_noticed() {
        let write = Write { sequence: u64::MAX, address: 1 << 40, len: u32::MAX };
        let records = [
            Record::Header(Header { run: 3, granule_bytes: 512, region: 512..1 << 50, started_ns: 9 }),
            Record::Begun(write),
            Record::Durable { write, horizon: 12, at_ns: 77 },
        ];
        for record in records {
            let bytes = record.encode();
            assert_eq!(Record::decode(&bytes), Some(record));
            for bit in 0..RECORD_BYTES * 8 {
                let mut damaged = bytes;
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Record::decode(&damaged), None, "bit {bit}");
            }
        }
        assert_eq!(Record::decode(&[0; RECORD_BYTES]), None);
    }
}
