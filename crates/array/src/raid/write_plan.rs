//! How one write goes: its reads, its writes, what the exclusive-or passes between them, and the rows that it locks.

use super::locks::RowSpan;
use super::piece::Piece;

/// How a write goes; filled by [`Geometry::write`](super::Geometry::write) and used again for the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WritePlan {
    /// Phase 0: what is read first.
    pub reads: Vec<Piece>,
    /// Phase 1: what is written when every read has ended and the exclusive-or is done.
    pub writes: Vec<Piece>,
    /// Bytes that the exclusive-or has to pass between the phases.
    pub xor_bytes: u64,
    /// Rows that must not be written by others meanwhile; empty where nothing can conflict.
    pub rows: Vec<RowSpan>,
    /// How the rows are written.
    pub choices: RowChoices,
}

/// How many rows of a plan are written in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowChoices {
    /// Without a read.
    pub full: u32,
    /// From old data and old parity.
    pub modified: u32,
    /// From the rest of the row.
    pub reconstructed: u32,
    /// From all that is left of the row.
    pub recovered: u32,
    /// Without parity, as that is missing.
    pub unprotected: u32,
}

impl WritePlan {
    /// Empties the plan and keeps its memory.
    pub fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.rows.clear();
        self.xor_bytes = 0;
        self.choices = RowChoices::default();
    }
}
