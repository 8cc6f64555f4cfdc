//! How often flash is written per write of the host: formulas for greedy collection under uniform random writes, what that
//! costs, and what runs of writes pay of it.
//!
//! Both formulas depend only on the spare factor `ρ`: flash beyond the capacity, in proportion to the capacity.
//!
//! - Agarwal & Marrow (2010): `(1 + ρ) / 2ρ`, from the probability that a page of the whole flash is valid.
//! - Xiang & Kurkoski (2012, arXiv 1110.4245): `(1 + ρ) / (1 + ρ + W(−(1 + ρ)e^−(1 + ρ)))`, from the probability that a
//!   page of the chosen block is; `W` is Lambert's function. Their simulation has 2.35 at `ρ` = 0.3, the formulas 2.17
//!   and 2.36.
//!
//! Limits: both hold for many and large blocks; blocks that are being filled or kept free are not spare and do not
//! count in `ρ`. With these left out our own page map agrees with Xiang & Kurkoski within 2 % for blocks of 512 units
//! and `ρ` of 7 to 100 % (test `flash_amplification`); blocks of 64 units are 5 % better than the formula. Other orders
//! of writes than uniform random ones amplify less, down to 1 if they are sequential.
//!
//! Runs at random places, aligned to their length: a row goes to the next die, so what a run leaves in a block is a part of it as
//! large as the run is of the blocks of all dies together. A run that fills them leaves nothing valid behind: amplification 1;
//! one of a megabyte, which is a five-hundredth of them in a drive of 64 dies, is as bad as one of a page. What lies between
//! is a curve drawn through what our own page map does (test `flash_amplification`), and right to 0.2 of what random writes
//! add: with `ρ` of 7 % it is too high by up to 0.18, with 28 % and half of the blocks too low by 0.19.

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
        Translation::Analytic(_) | Translation::PageMap(_) => xiang_kurkoski(spec.spare()),
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

/// The formula of Agarwal & Marrow.
pub fn agarwal_marrow(spare: f64) -> f64 {
    (1.0 + spare) / (2.0 * spare)
}

/// The formula of Xiang & Kurkoski, by which the analytic translation works.
pub fn xiang_kurkoski(spare: f64) -> f64 {
    let total = 1.0 + spare;
    // x = −W(−total·e^−total) is the other solution of x·e^−x = total·e^−total: the one below 1.
    let product = total * libm::exp(-total);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if middle * libm::exp(-middle) < product {
            low = middle;
        } else {
            high = middle;
        }
    }
    total / (total - high)
}

/// What a run of writes pays of what random ones add to 1; `part` is its length in proportion to a block of every die.
pub fn share_of_random(part: f64) -> f64 {
    if part < 1.0 { (1.0 - part) / (1.0 + 2.0 * part) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_give_the_published_values() {
        // Abstract of arXiv 1110.4245.
        assert!((xiang_kurkoski(0.3) - 2.36).abs() < 0.005);
        assert!((agarwal_marrow(0.3) - 2.17).abs() < 0.005);
        // Reference, section 4.8.
        assert!((agarwal_marrow(0.07) - 7.6).abs() < 0.05);
        assert!((agarwal_marrow(0.28) - 2.3).abs() < 0.05);
    }

    #[test]
    fn much_spare_flash_needs_no_collection() {
        assert!(xiang_kurkoski(20.0) < 1.000_001);
        assert!(xiang_kurkoski(0.02) > 25.0);
    }
}
