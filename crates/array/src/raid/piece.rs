//! One command to one member, and how commands that touch on a member become one.

/// A stretch of data addresses, in sectors of 512 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first sector.
    pub lba: u64,
    /// How many; at least one.
    pub sectors: u32,
}

/// One command to one member of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// Which member, counted through the whole group.
    pub device: u16,
    /// 0 for what is issued at once, 1 for what waits until every piece of phase 0 has ended.
    pub phase: u8,
    /// Whether it writes.
    pub write: bool,
    /// The first sector on the member.
    pub lba: u64,
    /// How many.
    pub sectors: u32,
}

impl Piece {
    pub(super) const fn read(device: u16, lba: u64, sectors: u32) -> Self {
        Self { device, phase: 0, write: false, lba, sectors }
    }

    /// Writes are of phase 1, also where no read comes before them: the phase that is then empty costs nothing.
    pub(super) const fn write(device: u16, lba: u64, sectors: u32) -> Self {
        Self { device, phase: 1, write: true, lba, sectors }
    }

    /// The sector after the last one.
    pub const fn end(&self) -> u64 {
        self.lba + self.sectors as u64
    }
}

/// The most members of one redundancy group: who is missing is one word of bits.
pub(super) const MEMBERS_MAX: usize = 64;

/// Where pieces of one redundancy group go, all of one phase, rows in ascending order.
pub(super) trait Sink {
    /// Takes a piece of the member that is number `position` in its redundancy group.
    fn put(&mut self, position: u32, piece: Piece);
}

/// Appends: enough within one row, where every member is met once.
pub(super) struct Appending<'a>(pub(super) &'a mut Vec<Piece>);

impl Sink for Appending<'_> {
    #[inline]
    fn put(&mut self, _: u32, piece: Piece) {
        self.0.push(piece);
    }
}

/// Lengthens the last piece of the same member where the new one begins at its end.
pub(super) struct Merging<'a> {
    pieces: &'a mut Vec<Piece>,
    last: [u32; MEMBERS_MAX],
}

impl<'a> Merging<'a> {
    pub(super) fn new(pieces: &'a mut Vec<Piece>) -> Self {
        Self { pieces, last: [u32::MAX; MEMBERS_MAX] }
    }
}

impl Sink for Merging<'_> {
    #[inline]
    fn put(&mut self, position: u32, piece: Piece) {
        let last = &mut self.last[position as usize];
        if let Some(before) = self.pieces.get_mut(*last as usize)
            && before.end() == piece.lba
        {
            before.sectors += piece.sectors;
            return;
        }
        *last = self.pieces.len() as u32;
        self.pieces.push(piece);
    }
}
