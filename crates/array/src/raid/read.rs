//! The pieces of a read: one per member where the extent is contiguous there; what is missing comes from the survivors.
//!
//! Model: a strip of a missing member is got from as many other strips of its row as the row has data strips, over the
//! range that is asked for; a strip that is read anyway is read once, over the hull of both ranges. P is preferred to Q.

use super::geometry::{Geometry, Inner};
use super::loss::Lost;
use super::members::Members;
use super::parity::{Parity, Range, Touch, Touched};
use super::piece::{Appending, Extent, Merging, Piece, Sink};
use super::positions::holds;
use super::record_pieces::RecordMap;
use super::rotation::Row;
use super::spec::ReadChoice;
use super::striping::Share;

impl Geometry {
    /// Appends the pieces of a read to `out`; gives the bytes that the exclusive-or has to pass afterwards, 0 unless
    /// something missing has to be worked out.
    ///
    /// `cost` is asked for each present copy of a mirror with the member and the sector on it, and the lowest answer wins:
    /// predicted positioning or commands waiting, as [`Geometry::read_choice`] says; of equals the one whose turn it is at
    /// this address. With `primary_only` it is not asked. On error `out` is as it was.
    #[inline]
    pub fn read<C: FnMut(u16, u64) -> u64>(
        &self,
        extent: Extent,
        members: &Members,
        mut cost: C,
        out: &mut Vec<Piece>,
    ) -> Result<u64, Lost> {
        debug_assert!(extent.sectors > 0 && extent.lba + u64::from(extent.sectors) <= self.data_sectors());
        if let Some(piece) = self.read_one(extent, members, &mut cost) {
            out.push(piece);
            return Ok(0);
        }
        if let Some(share) = self.striping.single(extent) {
            return self.read_share(share, members, &mut cost, out);
        }
        let mut xor_bytes = 0;
        let before = out.len();
        for share in self.striping.shares(extent) {
            xor_bytes += self.read_share(share, members, &mut cost, out).inspect_err(|_| out.truncate(before))?;
        }
        Ok(xor_bytes)
    }

    /// The piece of a read that is one piece, as nearly all are, without a list for it; nothing where only [`Geometry::read`] can
    /// say what becomes of the read.
    #[inline(always)]
    pub fn read_one<C: FnMut(u16, u64) -> u64>(&self, extent: Extent, members: &Members, mut cost: C) -> Option<Piece> {
        let share = self.striping.single(extent)?;
        match &self.inner {
            Inner::Copies => {
                let device = self.copy(share, members, &mut cost)?;
                Some(Piece::read(device, share.start, share.sectors))
            }
            Inner::Parity(parity) if members.is_whole() => parity.single(share, self.base(share.group)),
            Inner::Parity(_) | Inner::Records(_) | Inner::Declustered(_) => None,
        }
    }

    fn read_share<C: FnMut(u16, u64) -> u64>(
        &self,
        share: Share,
        members: &Members,
        cost: &mut C,
        out: &mut Vec<Piece>,
    ) -> Result<u64, Lost> {
        let lost = || self.lost(share.group, share.start);
        match &self.inner {
            Inner::Copies => {
                let device = self.copy(share, members, cost).ok_or_else(lost)?;
                out.push(Piece::read(device, share.start, share.sectors));
                Ok(0)
            }
            Inner::Parity(parity) => {
                let base = self.base(share.group);
                let before = out.len();
                parity.read(share, members, base, out).map_err(|row| {
                    out.truncate(before);
                    self.lost(share.group, row * self.row_sectors())
                })
            }
            Inner::Records(records) => self.read_records(records, share, members, out),
            Inner::Declustered(declustered) => self.read_records(&**declustered, share, members, out),
        }
    }

    fn read_records(
        &self,
        records: &impl RecordMap,
        share: Share,
        members: &Members,
        out: &mut Vec<Piece>,
    ) -> Result<u64, Lost> {
        let before = out.len();
        records.read(share, members, self.base(share.group), out).map_err(|record| {
            out.truncate(before);
            self.lost(share.group, record * self.row_sectors())
        })
    }

    /// The copy that serves a read.
    ///
    /// Of copies that cost the same the address decides, strip by strip, so that they share the reads without anything to
    /// remember: as OpenZFS does it, by stretches of 2 MiB (`vdev_mirror_preferred_child_randomize`). Linux md takes the first.
    #[inline(always)]
    fn copy<C: FnMut(u16, u64) -> u64>(&self, share: Share, members: &Members, cost: &mut C) -> Option<u16> {
        let base = self.base(share.group);
        let missing = members.missing(share.group, share.end());
        if self.members_per_group() == 1 {
            return (missing == 0).then_some(base);
        }
        let is_present = |&position: &u16| !holds(missing, u32::from(position));
        let copies = self.members_per_group();
        if self.read_choice == ReadChoice::PrimaryOnly {
            return (0..copies).find(is_present).map(|position| base + position);
        }
        let turn = (self.strip.quotient(share.start) % u64::from(copies)) as u16;
        let in_turn = (turn..copies).chain(0..turn).filter(is_present);
        in_turn.map(|position| base + position).min_by_key(|&device| cost(device, share.start))
    }

    #[cold]
    pub(super) fn lost(&self, group: u16, inner: u64) -> Lost {
        Lost { group, lba: self.striping.address(group, inner) }
    }
}

impl Parity {
    /// The piece of a share that lies in one strip.
    #[inline]
    pub(super) fn single(&self, share: Share, base: u16) -> Option<Piece> {
        let (strip, from) = self.strip.split(share.start);
        if from + u64::from(share.sectors) > self.strip.value() {
            return None;
        }
        let (row, column) = self.data.split(strip);
        let position = self.row(row).data(column as u32);
        Some(Piece::read(base + position as u16, row * self.strip.value() + from, share.sectors))
    }

    /// The pieces of a share that may span strips and rows, or meet missing members; the error is the row that is lost.
    fn read(&self, share: Share, members: &Members, base: u16, out: &mut Vec<Piece>) -> Result<u64, u64> {
        let touches = self.touches(share);
        let mut xor_bytes = 0;
        if touches.span().1 == 1 {
            let mut sink = Appending(out);
            for touch in touches {
                let missing = members.missing(share.group, (touch.row + 1) * self.strip.value());
                xor_bytes += self.read_row(&RowRead { touch, row: self.row(touch.row), missing, base }, &mut sink)?;
            }
        } else {
            let mut sink = Merging::new(out);
            for touch in touches {
                let missing = members.missing(share.group, (touch.row + 1) * self.strip.value());
                xor_bytes += self.read_row(&RowRead { touch, row: self.row(touch.row), missing, base }, &mut sink)?;
            }
        }
        Ok(xor_bytes)
    }

    fn read_row<S: Sink>(&self, task: &RowRead, sink: &mut S) -> Result<u64, u64> {
        let touch = &task.touch;
        let wanted = match task.missing {
            0 => Range::EMPTY,
            missing => (touch.first..=touch.last)
                .filter(|&column| holds(missing, task.row.data(column)))
                .fold(Range::EMPTY, |hull, column| hull.hull(touch.of(column))),
        };
        if wanted.is_empty() {
            for column in touch.first..=touch.last {
                task.put(task.row.data(column), touch.of(column), sink);
            }
            return Ok(0);
        }
        self.read_around(task, wanted, sink)
    }

    /// Reads the requested part of present members, and enough of the row to compute `wanted` of the missing ones.
    #[cold]
    fn read_around<S: Sink>(&self, task: &RowRead, wanted: Range, sink: &mut S) -> Result<u64, u64> {
        let data = self.data.value() as u32;
        let missing_data = (task.missing & self.data_positions(task.row)).count_ones();
        if task.missing.count_ones() > self.parities {
            return Err(task.touch.row);
        }
        let mut recovered = 0;
        for column in 0..data {
            let position = task.row.data(column);
            if !holds(task.missing, position) {
                task.put(position, task.touch.of(column).hull(wanted), sink);
            } else if !task.touch.of(column).is_empty() {
                recovered += 1;
            }
        }
        let parities =
            (0..self.parities).map(|which| task.row.parity(which)).filter(|&position| !holds(task.missing, position));
        for position in parities.take(missing_data as usize) {
            task.put(position, wanted, sink);
        }
        Ok(u64::from(recovered * data * wanted.len()) * 512)
    }
}

/// One row of a read.
struct RowRead {
    touch: Touch,
    row: Row,
    missing: u64,
    base: u16,
}

impl RowRead {
    #[inline]
    fn put<S: Sink>(&self, position: u32, range: Range, sink: &mut S) {
        let lba = self.touch.row * u64::from(self.touch.strip) + u64::from(range.from);
        sink.put(position, Piece::read(self.base + position as u16, lba, range.len()));
    }
}
