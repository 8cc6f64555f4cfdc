//! Looking at what a target returns after the cut, block by block.

use std::collections::BTreeMap;

use super::account::{Account, Block, Claim};
use super::verdict::{Fault, Tally, Verdict};
use crate::stamp::{self, SECTOR_BYTES, Seen};

/// See the module. Ranges may be looked at in any order, each once.
#[derive(Debug)]
pub struct Inspection<'a> {
    account: &'a Account,
    /// The newest write of the run of which anything was seen.
    newest: u64,
    checked: u64,
    excused: u64,
    /// By block: every sector of it was right.
    whole: Vec<bool>,
    faulty: BTreeMap<(u64, u64), Tally>,
}

impl<'a> Inspection<'a> {
    /// Nothing was looked at yet.
    pub fn new(account: &'a Account) -> Self {
        let whole = vec![false; account.blocks.len()];
        Self { account, newest: 0, checked: 0, excused: 0, whole, faulty: BTreeMap::new() }
    }

    /// Looks at what the target returned for the whole blocks from `address` on.
    pub fn look(&mut self, address: u64, bytes: &[u8]) {
        let granule = self.account.granule_bytes as usize;
        let first = self.account.place(address);
        for (number, block) in bytes.chunks_exact(granule).enumerate() {
            self.look_at_block(first + number, block);
        }
    }

    /// The target returned an error for the whole blocks from `address` on.
    pub fn unreadable(&mut self, address: u64, len: u64) {
        let granule = u64::from(self.account.granule_bytes);
        let first = self.account.place(address);
        for place in first..first + (len / granule) as usize {
            let block = self.account.blocks[place];
            if block.claim.sequence == 0 {
                continue;
            }
            let sectors = granule / SECTOR_BYTES as u64;
            self.checked += sectors;
            if block.is_in_flux() {
                self.excused += sectors;
            } else {
                self.tally(&block.claim, self.account.address(place)).unreadable += sectors;
            }
        }
    }

    fn look_at_block(&mut self, place: usize, bytes: &[u8]) {
        let block = self.account.blocks[place];
        let base = self.account.address(place);
        let mut seen = [0u64; 4];
        let mut first_bad = None;
        for (number, sector) in bytes.as_chunks::<SECTOR_BYTES>().0.iter().enumerate() {
            let address = base + (number * SECTOR_BYTES) as u64;
            let look = self.judge(sector, address, &block);
            seen[look as usize] += 1;
            if look != Look::Right && first_bad.is_none() {
                first_bad = Some(address);
            }
        }
        if block.claim.sequence == 0 {
            return;
        }
        self.checked += seen.iter().sum::<u64>();
        let Some(first_bad) = first_bad else {
            self.whole[place] = true;
            return;
        };
        let tally = self.tally(&block.claim, first_bad);
        for (count, more) in
            [&mut tally.right, &mut tally.missing, &mut tally.broken, &mut tally.foreign].into_iter().zip(seen)
        {
            *count += more;
        }
    }

    /// What a sector holds, measured by the write that has to be there.
    fn judge(&mut self, sector: &[u8; SECTOR_BYTES], address: u64, block: &Block) -> Look {
        let claimed = block.claim.sequence;
        match stamp::seen_by(sector, self.account.run) {
            Seen::Own { address: stamped, sequence } => {
                self.newest = self.newest.max(sequence);
                match stamped == address {
                    false => Look::Foreign,
                    true if sequence >= claimed => Look::Right,
                    true => Look::Missing,
                }
            }
            Seen::Broken if block.is_in_flux() => {
                self.excused += u64::from(claimed > 0);
                Look::Right
            }
            Seen::Broken => Look::Broken,
            Seen::Other => Look::Missing,
        }
    }

    fn tally(&mut self, claim: &Claim, first_bad: u64) -> &mut Tally {
        self.faulty.entry((claim.sequence, claim.address)).or_insert(Tally {
            claim: *claim,
            right: 0,
            missing: 0,
            broken: 0,
            foreign: 0,
            unreadable: 0,
            first_bad,
        })
    }

    /// The verdict on everything that was looked at.
    pub fn verdict(self) -> Verdict {
        let fault = |tally: &Tally| Fault { tally: *tally, arrived: self.arrived(tally), newest: self.newest };
        let faults: Vec<Fault> = self.faulty.values().map(fault).collect();
        Verdict::new(self.account.acknowledged(), self.checked, self.excused, &faults)
    }

    /// Whether anything of the write was there.
    fn arrived(&self, tally: &Tally) -> bool {
        let Claim { sequence, address, len, .. } = tally.claim;
        let first = self.account.place(address);
        let mut places = first..first + (len / self.account.granule_bytes) as usize;
        tally.right > 0
            || places.any(|place| self.account.blocks[place].claim.sequence == sequence && self.whole[place])
    }
}

/// What a sector is, in the order of a [`Tally`]'s counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Right,
    Missing,
    Broken,
    Foreign,
}
