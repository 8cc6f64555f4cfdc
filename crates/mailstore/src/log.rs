//! The log: records in blocks, blocks in a ring of files, one block on its way at a time.
//!
//! Model: a log position counts bytes from the store's birth. Records gather in the block that is being built, behind a header; a
//! flush seals it, padded to a sector, and whoever commits meanwhile gathers in the next (group commit). No block crosses the end of a
//! file: what no record would fit into is padding. Files are used in turn; one is only overwritten when nothing needs it any more.
//!
//! Limits: a block is written once and never again, so it has no torn neighbours; engines that fill their last sector up write
//! that sector twice.

/// Bytes of a block before its first record.
pub(crate) const HEADER_BYTES: u32 = crate::image::HEADER_BYTES as u32;

/// Sizes of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogShape {
    /// Unit of writing.
    pub(crate) sector_bytes: u32,
    pub(crate) file_bytes: u32,
    /// Files of the ring.
    pub(crate) files: u32,
    /// What is not yet on the target, blocks on their way included, is this much at most.
    pub(crate) buffer_bytes: u32,
    /// The longest record.
    pub(crate) record_bytes_max: u32,
}

/// A block that is being built or on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// Where it begins.
    pub(crate) lsn: u64,
    /// Its bytes so far, header included; once sealed, all of them.
    pub(crate) len: u32,
    pub(crate) records: u32,
    /// Bytes of records.
    pub(crate) record_bytes: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) shape: LogShape,
    building: Block,
    flying: Option<Block>,
    /// Everything before this is on the target.
    pub(crate) flushed_lsn: u64,
}

impl Log {
    pub(crate) fn new(shape: LogShape) -> Self {
        let building = Block { len: HEADER_BYTES, ..Block::default() };
        Self { shape, building, flying: None, flushed_lsn: 0 }
    }

    /// Where the block begins that is being built. Positions are told by block: a record is on the target when its block is.
    pub(crate) const fn head_lsn(&self) -> u64 {
        self.building.lsn
    }

    /// Whether the block that begins there is on the target.
    pub(crate) const fn is_durable(&self, lsn: u64) -> bool {
        lsn < self.flushed_lsn
    }

    /// Whether a record of so many bytes fits behind the others, with the oldest position that is still needed.
    pub(crate) fn fits(&self, bytes: u32, needed_lsn: u64) -> bool {
        let len = self.building.len + bytes;
        let file_bytes = u64::from(self.shape.file_bytes);
        let in_file = self.building.lsn % file_bytes + u64::from(len) <= file_bytes;
        let in_buffer = self.flying.map_or(0, |flying| flying.len) + len <= self.shape.buffer_bytes;
        let ring_bytes = file_bytes * u64::from(self.shape.files);
        let needed_file = needed_lsn / file_bytes * file_bytes;
        in_file && in_buffer && (self.building.lsn / file_bytes + 1) * file_bytes <= needed_file + ring_bytes
    }

    /// Appends a record that fits; where its block begins.
    pub(crate) fn append(&mut self, bytes: u32) -> u64 {
        self.building.len += bytes;
        self.building.records += 1;
        self.building.record_bytes += bytes;
        self.building.lsn
    }

    /// Where in its block the next record begins.
    pub(crate) const fn tail(&self) -> u32 {
        self.building.len
    }

    /// Where the block begins that is on its way.
    pub(crate) fn flying_lsn(&self) -> u64 {
        self.flying.map_or(0, |flying| flying.lsn)
    }

    /// Records that no flush has taken yet.
    pub(crate) const fn pending(&self) -> u32 {
        self.building.records
    }

    /// Whether so much has gathered that it is written although nobody waits.
    pub(crate) const fn is_half_full(&self) -> bool {
        self.building.len >= self.shape.buffer_bytes / 2
    }

    pub(crate) const fn is_flying(&self) -> bool {
        self.flying.is_some()
    }

    /// Seals the block that is being built and begins the next; nothing may be on its way.
    pub(crate) fn seal(&mut self) -> Block {
        debug_assert!(
            self.flying.is_none() && self.building.records > 0,
            "one block at a time, and none without records"
        );
        let sector_bytes = self.shape.sector_bytes;
        let mut block = self.building;
        block.len = block.len.next_multiple_of(sector_bytes);
        let file_bytes = u64::from(self.shape.file_bytes);
        let left = file_bytes - block.lsn % file_bytes - u64::from(block.len);
        let least = (HEADER_BYTES + self.shape.record_bytes_max).next_multiple_of(sector_bytes);
        if left < u64::from(least) {
            block.len += left as u32;
        }
        self.flying = Some(block);
        self.building = Block { lsn: block.lsn + u64::from(block.len), len: HEADER_BYTES, ..Block::default() };
        block
    }

    /// The block on its way is on the target; it, and the number of the file that it closed.
    pub(crate) fn landed(&mut self) -> (Block, Option<u64>) {
        let Some(block) = self.flying.take() else { unreachable!("only what flies can land") };
        self.flushed_lsn = block.lsn + u64::from(block.len);
        let file_bytes = u64::from(self.shape.file_bytes);
        let closes = self.flushed_lsn.is_multiple_of(file_bytes);
        (block, closes.then(|| self.flushed_lsn / file_bytes - 1))
    }

    /// Where a position lies in the ring.
    pub(crate) fn offset_of(&self, lsn: u64) -> u64 {
        lsn % (u64::from(self.shape.file_bytes) * u64::from(self.shape.files))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: LogShape =
        LogShape { sector_bytes: 512, file_bytes: 8192, files: 3, buffer_bytes: 6000, record_bytes_max: 1064 };

    #[test]
    fn a_block_is_its_records_behind_a_header_padded_to_a_sector() {
        let mut log = Log::new(SHAPE);
        assert_eq!((log.append(1064), log.append(64)), (0, 0));
        assert_eq!(log.seal(), Block { lsn: 0, len: 1536, records: 2, record_bytes: 1128 });
        assert_eq!((log.head_lsn(), log.is_durable(0)), (1536, false));
        assert_eq!(log.landed().1, None);
        assert!(log.is_durable(0) && !log.is_durable(1536));
    }

    #[test]
    fn no_block_crosses_the_end_of_a_file_and_what_is_left_of_it_is_padding() {
        let mut log = Log::new(SHAPE);
        for _ in 0..2 {
            (0..3).for_each(|_| {
                let _ = log.append(1064);
            });
            let _ = log.seal();
            let _ = log.landed();
        }
        // Two blocks of 3,232 bytes, 3,584 with padding, leave 1,024: no room for a header and the longest record.
        assert_eq!(log.flushed_lsn, 8192);
        assert_eq!(log.append(64), 8192);
    }

    #[test]
    fn a_file_that_is_still_needed_is_not_overwritten() {
        let mut log = Log::new(SHAPE);
        let fill = |log: &mut Log| {
            while !log.flushed_lsn.is_multiple_of(8192) || log.pending() == 0 {
                let _ = log.append(1064);
                let _ = log.seal();
                let _ = log.landed();
                if log.flushed_lsn.is_multiple_of(8192) {
                    return;
                }
            }
        };
        (0..3).for_each(|_| fill(&mut log));
        assert!(!log.fits(64, 8191), "the first file of three is needed");
        assert!(log.fits(64, 8192));
        assert_eq!(log.offset_of(log.head_lsn()), 0, "the ring has gone round");
    }

    #[test]
    fn what_flies_takes_room_in_the_buffer() {
        let mut log = Log::new(SHAPE);
        (0..3).for_each(|_| {
            let _ = log.append(1064);
        });
        let _ = log.seal();
        assert!(log.fits(1064, 0));
        let _ = (log.append(1064), log.append(1064));
        assert!(!log.fits(1064, 0), "3,584 fly, 2,168 wait, 6,000 is all");
    }
}
