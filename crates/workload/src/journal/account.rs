//! What the records of a journal add up to: of every block, the last write that has to be there.

use std::ops::Range;

use super::{Header, Record, Write};

/// What is known of one block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// The newest durable write that covers it; sequence 0 for none.
    pub(super) claim: Claim,
    /// The newest write begun that covers it; 0 for none.
    begun: u64,
}

impl Block {
    /// Whether a write that need not be kept was on its way when the records end.
    pub(super) const fn is_in_flux(&self) -> bool {
        self.begun > self.claim.sequence
    }
}

/// A write that has to be there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Claim {
    pub(super) sequence: u64,
    pub(super) address: u64,
    pub(super) len: u32,
    pub(super) horizon: u64,
    pub(super) at_ns: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Account {
    pub(super) run: u64,
    pub(super) granule_bytes: u32,
    first_byte: u64,
    pub(super) blocks: Vec<Block>,
    /// Durable writes taken up.
    pub(super) acknowledged: u64,
}

impl Account {
    /// An account in which nothing was written yet.
    ///
    /// # Panics
    /// If the header has blocks of no whole sectors, or a region that ends before it begins: its reader refuses those.
    pub fn new(header: &Header) -> Self {
        let granule_bytes = u64::from(header.granule_bytes);
        assert!(header.is_sound(), "a journal is about whole sectors of a region");
        let first_byte = header.region.start / granule_bytes * granule_bytes;
        let blocks = (header.region.end - first_byte).div_ceil(granule_bytes);
        let blocks = vec![Block::default(); blocks as usize];
        Self { run: header.run, granule_bytes: header.granule_bytes, first_byte, blocks, acknowledged: 0 }
    }

    /// Takes up the next record; `false` if it cannot belong to this journal: a second header, a write
    /// outside the region.
    pub fn take(&mut self, record: &Record) -> bool {
        match record {
            Record::Header(_) => false,
            Record::Begun(write) => {
                let Some(places) = self.places(write) else { return false };
                for block in &mut self.blocks[places] {
                    block.begun = block.begun.max(write.sequence);
                }
                true
            }
            Record::Durable { write, horizon, at_ns } => {
                let Some(places) = self.places(write) else { return false };
                let Write { sequence, address, len } = *write;
                let claim = Claim { sequence, address, len, horizon: *horizon, at_ns: *at_ns };
                for block in self.blocks[places].iter_mut().filter(|block| block.claim.sequence < sequence) {
                    block.claim = claim;
                }
                self.acknowledged += 1;
                true
            }
        }
    }

    /// The ranges that the records name, in ascending order, each at most `longest_bytes` long.
    pub fn named(&self, longest_bytes: u32) -> impl Iterator<Item = Range<u64>> + '_ {
        let longest = (longest_bytes / self.granule_bytes).max(1) as usize;
        let mut place = 0;
        std::iter::from_fn(move || {
            let is_named = |block: &Block| block.begun > 0 || block.claim.sequence > 0;
            let start = place + self.blocks[place..].iter().position(is_named)?;
            let run = self.blocks[start..].iter().take(longest).take_while(|block| is_named(block)).count();
            place = start + run;
            Some(self.address(start)..self.address(place))
        })
    }

    /// Writes that the target has promised to keep, those that later ones replaced included.
    pub const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    pub(super) fn address(&self, place: usize) -> u64 {
        self.first_byte + place as u64 * u64::from(self.granule_bytes)
    }

    /// The place of the block at `address`.
    pub(super) fn place(&self, address: u64) -> usize {
        ((address - self.first_byte) / u64::from(self.granule_bytes)) as usize
    }

    fn places(&self, write: &Write) -> Option<Range<usize>> {
        let granule = u64::from(self.granule_bytes);
        let whole =
            write.len > 0 && u64::from(write.len).is_multiple_of(granule) && write.address.is_multiple_of(granule);
        if !whole || write.sequence == 0 || write.address < self.first_byte {
            return None;
        }
        let first = self.place(write.address);
        let end = first.checked_add((u64::from(write.len) / granule) as usize)?;
        (end <= self.blocks.len()).then_some(first..end)
    }
}

impl Header {
    /// Whether an account can be made for it.
    pub fn is_sound(&self) -> bool {
        self.granule_bytes > 0
            && self.granule_bytes.is_multiple_of(crate::stamp::SECTOR_BYTES as u32)
            && self.region.start < self.region.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> Account {
        Account::new(&Header { run: 1, granule_bytes: 4096, region: 4096..40_960, started_ns: 0 })
    }

    const fn write(sequence: u64, address: u64, len: u32) -> Write {
        Write { sequence, address, len }
    }

    #[test]
    fn the_newest_durable_write_of_a_block_counts_in_whichever_order_the_records_come() {
        let mut account = account();
        for sequence in [2, 1] {
            assert!(account.take(&Record::Durable { write: write(sequence, 8192, 4096), horizon: 2, at_ns: 0 }));
        }
        assert_eq!(account.blocks[1].claim.sequence, 2);
        assert_eq!(account.acknowledged(), 2);
    }

    #[test]
    fn records_that_do_not_belong_are_refused() {
        let mut account = account();
        let foreign =
            [write(1, 0, 4096), write(1, 4096, 100), write(1, 40_960, 4096), write(0, 4096, 4096), write(1, 4096, 0)];
        for write in foreign {
            assert!(!account.take(&Record::Begun(write)), "{write:?}");
        }
        assert!(!account.take(&Record::Header(Header { run: 1, granule_bytes: 512, region: 0..1, started_ns: 0 })));
    }

    #[test]
    fn named_ranges_are_cut_at_the_longest_read() {
        let mut account = account();
        assert!(account.take(&Record::Begun(write(1, 8192, 12_288))));
        assert!(account.take(&Record::Begun(write(2, 32_768, 4096))));
        assert_eq!(account.named(8192).collect::<Vec<_>>(), [8192..16_384, 16_384..20_480, 32_768..36_864]);
    }
}
