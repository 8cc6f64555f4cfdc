//! One step of a rebuild: what is read, what is written, how far it goes and which rows it locks.

use super::locks::RowSpan;
use super::piece::Piece;

/// One step of a rebuild; used again for the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebuildChunk {
    /// Phase 0: what is read of survivors.
    pub reads: Vec<Piece>,
    /// Phase 1: what is written to the spare; no sectors where there is nothing to write.
    pub write: Piece,
    /// The same for further places that have to have it.
    pub further: Vec<Piece>,
    /// How far the rebuild has come before it and with it: of a distributed spare an address in the order of its rebuild, else a sector.
    pub from: u64,
    /// See `from`.
    pub end: u64,
    /// Bytes that the exclusive-or has to pass between.
    pub xor_bytes: u64,
    /// Rows to be locked.
    pub rows: RowSpan,
}

impl RebuildChunk {
    /// All that is written, given as a list; nothing where there is nothing to write.
    pub fn with_writes(&self, act: impl FnOnce(&[Piece])) {
        match (self.write.sectors, self.further.is_empty()) {
            (0, _) => act(&[]),
            (_, true) => act(std::slice::from_ref(&self.write)),
            (_, false) => act(&[&[self.write], &self.further[..]].concat()),
        }
    }
}
