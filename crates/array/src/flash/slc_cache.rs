//! Flash that is written with one bit per cell at first.
//!
//! Model: rows of the host are programmed quickly as long as there is room. Once the host has asked for nothing for a while, all dies
//! fold what is there into cells of all bits: each row is sensed and programmed once more. When there is no room, a row either goes
//! past it, or another one is folded first on the same die. Folding is worked out when the next command comes.
//!
//! Limits: what is read has the times of the cells of all bits, wherever it is; a row that the host has overwritten is folded like
//! any other; a command that comes while rows are folded does not wait for them.

use crate::flash::spec::{FlashSpec, SlcCacheSpec};

/// How a row of the host is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// With one bit per cell.
    Quick,
    /// With all bits.
    Past,
    /// With one bit per cell, after another row was folded.
    Folding,
}

#[derive(Clone, Debug)]
pub(super) struct SlcCache {
    size_bytes: u64,
    pub(super) program_ns: u64,
    idle_ns: u64,
    folds_first: bool,
    row_bytes: u64,
    /// Of one row by all dies.
    fold_ns: f64,
    used_bytes: u64,
    /// When the last command will have ended.
    rest_ns: u64,
}

impl SlcCache {
    pub(super) fn new(spec: &FlashSpec, cache: SlcCacheSpec) -> Self {
        let fold_us = f64::from(spec.page_read_us) + f64::from(spec.page_program_us);
        Self {
            size_bytes: cache.size_bytes,
            program_ns: u64::from(cache.program_us) * 1_000,
            idle_ns: u64::from(cache.idle_ms) * 1_000_000,
            folds_first: cache.folds_first,
            row_bytes: spec.row_bytes(),
            fold_ns: fold_us * 1_000.0 / f64::from(spec.dies()),
            used_bytes: 0,
            rest_ns: 0,
        }
    }

    /// A command comes: how many rows were folded since the last one ended.
    pub(super) fn wake(&mut self, now_ns: u64) -> u64 {
        let resting_ns = now_ns.saturating_sub(self.rest_ns + self.idle_ns);
        if resting_ns == 0 || self.used_bytes == 0 {
            return 0;
        }
        let rows = ((resting_ns as f64 / self.fold_ns) as u64).min(self.used_bytes / self.row_bytes);
        self.used_bytes -= rows * self.row_bytes;
        rows
    }

    /// A command ends.
    pub(super) fn rest(&mut self, end_ns: u64) {
        self.rest_ns = self.rest_ns.max(end_ns);
    }

    /// Takes a row, if there is room or room is made.
    pub(super) const fn take(&mut self) -> Way {
        if self.used_bytes + self.row_bytes <= self.size_bytes {
            self.used_bytes += self.row_bytes;
            return Way::Quick;
        }
        if self.folds_first { Way::Folding } else { Way::Past }
    }
}
