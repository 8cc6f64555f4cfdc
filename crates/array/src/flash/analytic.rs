//! Places without a map: the rows go round the dies, and the collection costs what formulas say.
//!
//! Model: everything has been written. Random writes cost what [`of_random_writes`] says; a run of writes that fills the
//! blocks of all dies costs their erasing only, and a shorter one the share between them that [`share_of_random`] says.
//!
//! Limits: a row costs what the last write in it is expected to; nothing is known of what was written before, so sequential
//! writes cost little at once, where a drive that was written at random has to be overwritten first.

use super::amplification::{Collecting, collecting, of_random_writes, share_of_random};
use super::dies::Work;
use super::runs::Runs;
use super::spec::FlashSpec;
use crate::device::command::SECTOR_BYTES;

#[derive(Clone, Debug)]
pub(crate) struct Analytic {
    rows: u64,
    filled_units: u64,
    runs: Runs,
    /// A block of every die.
    blocks_sectors: u64,
    /// Of the row being filled, between none and all of what random writes cost.
    share: f64,
    whole: Collecting,
    random: Collecting,
}

impl Analytic {
    pub(crate) fn new(spec: &FlashSpec) -> Self {
        let blocks_bytes = u64::from(spec.dies()) * u64::from(spec.pages_per_block) * spec.row_bytes();
        Self {
            rows: 0,
            filled_units: 0,
            runs: Runs::default(),
            blocks_sectors: blocks_bytes / SECTOR_BYTES,
            share: 0.0,
            whole: collecting(spec, 1.0),
            random: collecting(spec, of_random_writes(spec)),
        }
    }

    /// The row and the die a unit must be read from.
    #[inline]
    pub(crate) fn find(&self, unit: u64, spec: &FlashSpec) -> (u32, usize) {
        let row = unit / (spec.row_bytes() / u64::from(spec.unit_bytes));
        (row as u32, (row % u64::from(spec.dies())) as usize)
    }

    /// A write begins; its units follow.
    #[inline]
    pub(crate) fn begin(&mut self, lba: u64, sectors: u32) {
        let run = self.runs.write(lba, u64::from(sectors));
        self.share = share_of_random(run as f64 / self.blocks_sectors as f64);
    }

    /// Adds a unit to the row being filled; its die if the row is full.
    #[inline]
    pub(crate) fn write(&mut self, spec: &FlashSpec) -> Option<usize> {
        self.filled_units += 1;
        let is_full = self.filled_units * u64::from(spec.unit_bytes) == spec.row_bytes();
        if is_full { self.close(spec) } else { None }
    }

    /// Gives up the row being filled; its die, if it holds anything.
    pub(crate) fn close(&mut self, spec: &FlashSpec) -> Option<usize> {
        let die = (self.rows % u64::from(spec.dies())) as usize;
        self.rows += u64::from(self.filled_units > 0);
        (std::mem::take(&mut self.filled_units) > 0).then_some(die)
    }

    /// Collects for one row of the host: the time of its die, and the bytes that are moved.
    pub(crate) fn collect(&self) -> (u64, u64) {
        let between = |whole: f64, random: f64| libm::round(whole + (random - whole) * self.share) as u64;
        let work_ns = between(self.whole.work_us * 1e3, self.random.work_us * 1e3);
        (work_ns, between(self.whole.moved_bytes, self.random.moved_bytes))
    }

    /// The same as parts of operations; bytes as they cross the channel, out and back.
    pub(crate) fn collected(&self) -> Work {
        let between = |of: fn(&Collecting) -> f64| of(&self.whole) + (of(&self.random) - of(&self.whole)) * self.share;
        Work {
            senses: between(|one| one.rows_read),
            programs: between(|one| one.rows_programmed),
            erases: between(|one| one.erases),
            moved_bytes: 2 * libm::round(between(|one| one.moved_bytes)) as u64,
        }
    }
}
