//! What a client asks for, in bytes, and what that is in sectors.

use plimsoll_array::Request;
use plimsoll_workload::Op;

/// The unit of the model's addresses.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// What a client asks for, before it is rounded to sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRequest {
    /// What.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Length in bytes; 0 for a flush.
    pub len: u64,
}

impl ByteRequest {
    /// The request rounded out to whole sectors.
    pub(crate) fn in_sectors(self) -> Request {
        let Self { op, offset, len } = self;
        if op == Op::Flush {
            return Request { op, lba: 0, sectors: 0 };
        }
        let (first, end) = (offset / SECTOR_BYTES, (offset + len).div_ceil(SECTOR_BYTES));
        Request { op, lba: first, sectors: u32::try_from(end - first).unwrap_or(u32::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_enters_the_model_rounded_out_to_sectors() {
        let request = ByteRequest { op: Op::Read, offset: 511, len: 2 }.in_sectors();
        assert_eq!((request.lba, request.sectors), (0, 2));
        let request = ByteRequest { op: Op::Write, offset: 1024, len: 512 }.in_sectors();
        assert_eq!((request.lba, request.sectors), (2, 1));
    }
}
