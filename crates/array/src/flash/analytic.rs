//! Places without a map: the rows go round the dies, and the collection costs what formulas say.
//!
//! Model: everything has been written. Random writes cost what [`xiang_kurkoski`] says of the spare flash, or what the
//! specification gives; a run of writes that fills the blocks of all dies costs their erasing only, and a shorter one the share
//! between them that [`share_of_random`] says.
//!
//! Limits: a row costs what the last write in it is expected to; nothing is known of what was written before, so sequential
//! writes cost little at once, where a drive that was written at random has to be overwritten first.

use super::amplification::{share_of_random, xiang_kurkoski};
use super::runs::Runs;
use super::spec::FlashSpec;
use crate::device::SECTOR_BYTES;

/// What the collection adds to a row of the host.
#[derive(Clone, Copy, Debug)]
struct Work {
    ns: f64,
    moved_bytes: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Analytic {
    rows: u64,
    filled_units: u64,
    runs: Runs,
    /// A block of every die.
    blocks_sectors: u64,
    /// Of the row being filled, between none and all of what random writes cost.
    share: f64,
    whole: Work,
    random: Work,
}

impl Analytic {
    pub(crate) fn new(spec: &FlashSpec, write_amplification: Option<f64>) -> Self {
        let blocks_bytes = u64::from(spec.dies()) * u64::from(spec.pages_per_block) * spec.row_bytes();
        Self {
            rows: 0,
            filled_units: 0,
            runs: Runs::default(),
            blocks_sectors: blocks_bytes / SECTOR_BYTES,
            share: 0.0,
            whole: Work::at(1.0, spec),
            random: Work::at(write_amplification.unwrap_or_else(|| xiang_kurkoski(spec.spare())), spec),
        }
    }

    /// The row and the die a unit must be read from.
    #[inline]
    pub(crate) fn find(&self, unit: u64, spec: &FlashSpec) -> (u32, usize) {
        let row = unit / (spec.row_bytes() / u64::from(spec.unit_bytes));
        (row as u32, (row % u64::from(spec.dies())) as usize)
    }

    /// A write begins, the units of which follow.
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
        (between(self.whole.ns, self.random.ns), between(self.whole.moved_bytes, self.random.moved_bytes))
    }
}

impl Work {
    /// From how often every unit is written.
    fn at(amplification: f64, spec: &FlashSpec) -> Self {
        // A victim has this part of valid units; a row of it is read unless none of its units is valid.
        let valid = 1.0 - 1.0 / amplification;
        let row_units = spec.row_bytes() as f64 / f64::from(spec.unit_bytes);
        let rows_read = amplification * (1.0 - libm::pow(1.0 - valid, row_units));
        let work_us = rows_read * f64::from(spec.page_read_us)
            + (amplification - 1.0) * f64::from(spec.page_program_us)
            + amplification / f64::from(spec.pages_per_block) * f64::from(spec.block_erase_us);
        Self { ns: work_us * 1e3, moved_bytes: (amplification - 1.0) * spec.row_bytes() as f64 }
    }
}
