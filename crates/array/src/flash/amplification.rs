//! How often flash is written per write of the host: formulas for greedy collection under uniform random writes, what that
//! costs, and what runs of writes pay of it.
//!
//! The formulas stand in `formulas.rs`.
//!
//! Runs at random places, aligned to their length: a row goes to the next die, so what a run leaves in a block is a part of it as
//! large as the run is of the blocks of all dies together. A run that fills them leaves nothing valid behind: amplification 1;
//! one of a megabyte, which is a five-hundredth of them in a drive of 64 dies, is as bad as one of a page. What lies between
//! is a curve drawn through what our own page map does (test `flash_amplification`), and right to 0.2 of what random writes
//! add: with `ρ` of 7 % it is too high by up to 0.18, with 28 % and half of the blocks too low by 0.19.

use super::formulas::greedy;
use super::spec::{AnalyticSpec, FlashSpec, Translation};

/// What collecting costs per row that the host writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Collecting {
    /// Rows that are sensed and programmed, and blocks that are erased.
    pub(crate) rows_read: f64,
    pub(crate) rows_programmed: f64,
    pub(crate) erases: f64,
    /// Work of the die.
    pub(crate) work_us: f64,
    /// Valid bytes that are moved, out to the controller and back.
    pub(crate) moved_bytes: f64,
}

/// How often a drive writes every unit under uniform random writes: as it says, or by the formula.
pub(crate) fn of_random_writes(spec: &FlashSpec) -> f64 {
    match spec.translation {
        Translation::Analytic(AnalyticSpec { write_amplification: Some(amplification) }) => amplification,
        Translation::Analytic(_) | Translation::PageMap(_) => greedy(spec.spare(), spec.block_units()),
    }
}

/// The cost of collecting, from how often every unit is written.
pub(crate) fn collecting(spec: &FlashSpec, amplification: f64) -> Collecting {
    // A victim has this part of valid units; a row of it is read unless none of its units is valid.
    let valid = 1.0 - 1.0 / amplification;
    let row_units = spec.row_bytes() as f64 / f64::from(spec.unit_bytes);
    let rows_read = amplification * (1.0 - libm::pow(1.0 - valid, row_units));
    let work_us = rows_read * f64::from(spec.page_read_us)
        + (amplification - 1.0) * f64::from(spec.page_program_us)
        + amplification / f64::from(spec.pages_per_block) * f64::from(spec.block_erase_us);
    Collecting {
        rows_read,
        rows_programmed: amplification - 1.0,
        erases: amplification / f64::from(spec.pages_per_block),
        work_us,
        moved_bytes: (amplification - 1.0) * spec.row_bytes() as f64,
    }
}

/// What a run of writes pays of what random ones add to 1; `part` is its length in proportion to a block of every die.
pub fn share_of_random(part: f64) -> f64 {
    if part < 1.0 { (1.0 - part) / (1.0 + 2.0 * part) } else { 0.0 }
}
