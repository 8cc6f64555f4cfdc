//! The plan of a write: what is read, what is then written, what the exclusive-or passes, and which rows must be locked.
//!
//! Model, per row of a parity group: a *full* row needs no read. *Modifying* reads the old data and old parity of what is
//! touched; *reconstructing* reads the rest of the row; the way with fewer commands is taken, a bias added. Where a member
//! is missing, modifying can be done if what is touched is present, and reconstructing if what is missing is wholly
//! overwritten; else the row is *recovered*: as many survivors as it has data strips are read over the range, which gives
//! everything. A row whose parity is missing is written *unprotected*. Writes of phase 1 wait for every read of the plan,
//! also those of other rows.
//!
//! Limits: where a write touches the end of one strip and the beginning of the next, parity is read and written over the
//! gap too, as one command.

use super::geometry::{Geometry, Inner};
use super::locks::RowSpan;
use super::loss::Lost;
use super::members::Members;
use super::parity::{Parity, Range, Touch, Touched};
use super::piece::{Appending, Extent, Merging, Piece, Sink};
use super::positions::holds;
use super::record_pieces::RecordMap;
use super::rotation::Row;
use super::spec::WriteChoice;
use super::striping::Share;
use super::write_plan::{RowChoices, WritePlan};

impl Geometry {
    /// Plans a write; what was in `plan` is gone. On error the plan is empty.
    #[inline]
    pub fn write(&self, extent: Extent, members: &Members, plan: &mut WritePlan) -> Result<(), Lost> {
        debug_assert!(extent.sectors > 0 && extent.lba + u64::from(extent.sectors) <= self.data_sectors());
        plan.clear();
        if let Some(share) = self.striping.single(extent) {
            return self.write_share(share, members, plan).inspect_err(|_| plan.clear());
        }
        for share in self.striping.shares(extent) {
            self.write_share(share, members, plan).inspect_err(|_| plan.clear())?;
        }
        Ok(())
    }

    #[inline]
    fn write_share(&self, share: Share, members: &Members, plan: &mut WritePlan) -> Result<(), Lost> {
        match &self.inner {
            Inner::Copies => self.write_copies(share, members, plan),
            Inner::Parity(parity) => {
                let lost = |row| self.lost(share.group, row * self.row_sectors());
                parity.write(share, members, self.base(share.group), plan).map_err(lost)
            }
            Inner::Records(records) => {
                let lost = |record| self.lost(share.group, record * self.row_sectors());
                records.write(share, members, self.base(share.group), plan).map_err(lost)
            }
            Inner::Declustered(declustered) => {
                let lost = |record| self.lost(share.group, record * self.row_sectors());
                declustered.write(share, members, self.base(share.group), plan).map_err(lost)
            }
        }
    }

    /// Every copy that serves any of it; one that is being rebuilt gets what lies above its mark as well, since the
    /// rebuild brings that again.
    fn write_copies(&self, share: Share, members: &Members, plan: &mut WritePlan) -> Result<(), Lost> {
        let missing = members.missing(share.group, share.start + 1);
        let before = plan.writes.len();
        for position in (0..self.members_per_group()).filter(|&position| !holds(missing, u32::from(position))) {
            plan.writes.push(Piece::write(self.base(share.group) + position, share.start, share.sectors));
        }
        if plan.writes.len() == before {
            return Err(self.lost(share.group, share.start));
        }
        if members.is_moving(share.group) {
            plan.rows.push(self.copied_rows(share.group, share.start, share.end()));
        }
        Ok(())
    }

    /// The rows, or records, of a redundancy group between two sectors of its members: what a write and a rebuild must not do at
    /// once.
    pub(super) fn copied_rows(&self, group: u16, start: u64, end: u64) -> RowSpan {
        if let Inner::Records(records) = &self.inner {
            return records.rows(group, start, end);
        }
        let first = self.strip.quotient(start);
        RowSpan { group, first, count: (self.strip.quotient(end - 1) - first) as u32 + 1 }
    }
}

/// How one row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Full,
    Modify,
    Reconstruct,
    Recover,
    Unprotected,
}

/// One row of a write.
pub(super) struct RowWrite<T> {
    pub(super) touch: T,
    pub(super) row: Row,
    pub(super) missing: u64,
    pub(super) base: u16,
}

impl<T: Touched> RowWrite<T> {
    #[inline]
    fn lba(&self, range: Range) -> u64 {
        self.touch.row() * u64::from(self.touch.strip()) + u64::from(range.from)
    }

    #[inline]
    fn read<S: Sink>(&self, position: u32, range: Range, sink: &mut S) {
        if !range.is_empty() && !holds(self.missing, position) {
            sink.put(position, Piece::read(self.base + position as u16, self.lba(range), range.len()));
        }
    }

    #[inline]
    pub(super) fn write<S: Sink>(&self, position: u32, range: Range, sink: &mut S) {
        if !range.is_empty() && !holds(self.missing, position) {
            sink.put(position, Piece::write(self.base + position as u16, self.lba(range), range.len()));
        }
    }

    fn columns(&self) -> std::ops::RangeInclusive<u32> {
        self.touch.columns()
    }
}

impl Parity {
    #[inline]
    fn write(&self, share: Share, members: &Members, base: u16, plan: &mut WritePlan) -> Result<(), u64> {
        let touches = self.touches(share);
        let (first, count) = touches.span();
        plan.rows.push(RowSpan { group: share.group, first, count });
        let WritePlan { reads, writes, xor_bytes, choices, .. } = plan;
        let task = |touch: Touch| RowWrite {
            touch,
            row: self.row(touch.row),
            missing: members.missing(share.group, (touch.row + 1) * self.strip.value()),
            base,
        };
        if count == 1 {
            let (mut reads, mut writes) = (Appending(reads), Appending(writes));
            for touch in touches {
                *xor_bytes += self.write_row(&task(touch), &mut reads, &mut writes, choices)?;
            }
        } else {
            let (mut reads, mut writes) = (Merging::new(reads), Merging::new(writes));
            for touch in touches {
                *xor_bytes += self.write_row(&task(touch), &mut reads, &mut writes, choices)?;
            }
        }
        Ok(())
    }

    /// Gives the bytes that the exclusive-or passes.
    #[inline]
    fn write_row<S: Sink>(
        &self,
        task: &RowWrite<Touch>,
        reads: &mut S,
        writes: &mut S,
        choices: &mut RowChoices,
    ) -> Result<u64, u64> {
        let xor_bytes = self.read_before(task, reads, choices)?;
        self.write_hulls(task, writes);
        Ok(xor_bytes)
    }

    /// Decides how a row is written and plans what is read for it; the bytes that the exclusive-or passes.
    #[inline]
    pub(super) fn read_before<T: Touched, S: Sink>(
        &self,
        task: &RowWrite<T>,
        reads: &mut S,
        choices: &mut RowChoices,
    ) -> Result<u64, u64> {
        let choice = if task.missing == 0 { self.choose(&task.touch) } else { self.choose_degraded(task)? };
        match choice {
            Choice::Full => choices.full += 1,
            Choice::Modify => {
                choices.modified += 1;
                self.read_old(task, reads);
            }
            Choice::Reconstruct => {
                choices.reconstructed += 1;
                self.read_rest(task, reads);
            }
            Choice::Recover => {
                choices.recovered += 1;
                self.read_survivors(task, reads);
            }
            Choice::Unprotected => {
                choices.unprotected += 1;
                self.read_gaps(task, reads);
            }
        }
        Ok(self.xor_sectors(task, choice) * 512)
    }

    /// Plans one write of every strip: of all that is touched, and of what lies between.
    #[inline]
    pub(super) fn write_hulls<T: Touched, S: Sink>(&self, task: &RowWrite<T>, writes: &mut S) {
        for column in task.columns() {
            task.write(task.row.data(column), task.touch.of(column), writes);
        }
        for which in 0..self.parities {
            task.write(task.row.parity(which), task.touch.span(), writes);
        }
    }

    /// Modifying passes new data, old data and old parity for each parity; every other way passes the whole row over the
    /// span, for each parity and for each strip that has to be recovered first.
    #[inline]
    fn xor_sectors<T: Touched>(&self, task: &RowWrite<T>, choice: Choice) -> u64 {
        let span = u64::from(task.touch.span().len());
        let parities = u64::from(self.parities_left(task));
        match choice {
            Choice::Unprotected => 0,
            Choice::Modify => parities * (2 * u64::from(task.touch.sectors()) + span),
            Choice::Full | Choice::Reconstruct => parities * self.data.value() * span,
            Choice::Recover => {
                let recovered = u64::from((task.missing & self.data_positions(task.row)).count_ones());
                (parities + recovered) * self.data.value() * span
            }
        }
    }

    /// How many parities of a row are present.
    #[inline]
    fn parities_left<T: Touched>(&self, task: &RowWrite<T>) -> u32 {
        match task.missing {
            0 => self.parities,
            missing => self.parities - (missing & !self.data_positions(task.row)).count_ones(),
        }
    }

    fn read_old<T: Touched, S: Sink>(&self, task: &RowWrite<T>, reads: &mut S) {
        for column in task.columns() {
            task.read(task.row.data(column), task.touch.of(column), reads);
        }
        for which in 0..self.parities {
            task.read(task.row.parity(which), task.touch.span(), reads);
        }
    }

    /// Parity is missing, so that nothing is read for it; what is written over a gap is.
    fn read_gaps<T: Touched, S: Sink>(&self, task: &RowWrite<T>, reads: &mut S) {
        for column in task.columns() {
            task.read(task.row.data(column), task.touch.gap(column), reads);
        }
    }

    fn read_rest<T: Touched, S: Sink>(&self, task: &RowWrite<T>, reads: &mut S) {
        for column in 0..self.data.value() as u32 {
            task.read(task.row.data(column), task.touch.rest(column), reads);
        }
    }

    fn read_survivors<T: Touched, S: Sink>(&self, task: &RowWrite<T>, reads: &mut S) {
        let span = task.touch.span();
        for column in 0..self.data.value() as u32 {
            task.read(task.row.data(column), span, reads);
        }
        let wanted = (task.missing & self.data_positions(task.row)).count_ones() as usize;
        let parities = (0..self.parities).map(|which| task.row.parity(which));
        for position in parities.filter(|&position| !holds(task.missing, position)).take(wanted) {
            task.read(position, span, reads);
        }
    }

    /// The way for a row with every member present.
    #[inline]
    fn choose<T: Touched>(&self, touch: &T) -> Choice {
        let (touched, rest) = touch.count(self.data.value() as u32);
        if rest == 0 {
            return Choice::Full;
        }
        let writes = touched + self.parities;
        self.cheaper(2 * writes, rest + writes)
    }

    #[inline]
    fn cheaper(&self, modify_ios: u32, reconstruct_ios: u32) -> Choice {
        let reconstruct = match self.write_choice {
            WriteChoice::FewestIos => i64::from(reconstruct_ios) < i64::from(modify_ios) + self.reconstruct_bias_ios,
            WriteChoice::ReadModifyWrite => false,
            WriteChoice::Reconstruct => true,
        };
        if reconstruct { Choice::Reconstruct } else { Choice::Modify }
    }

    /// The way for a row with missing members.
    #[cold]
    fn choose_degraded<T: Touched>(&self, task: &RowWrite<T>) -> Result<Choice, u64> {
        if task.missing.count_ones() > self.parities {
            return Err(task.touch.row());
        }
        let parities = self.parities_left(task);
        if parities == 0 {
            return Ok(Choice::Unprotected);
        }
        let (mut can_modify, mut can_reconstruct) = (true, true);
        let (mut touched, mut rest) = (0, 0);
        for column in 0..self.data.value() as u32 {
            let touches = !task.touch.of(column).is_empty();
            let untouched = !task.touch.rest(column).is_empty();
            if holds(task.missing, task.row.data(column)) {
                can_modify &= !touches;
                can_reconstruct &= !untouched;
            } else {
                touched += u32::from(touches);
                rest += u32::from(untouched);
            }
        }
        let writes = touched + parities;
        let recover_ios = self.data.value() as u32 + writes;
        Ok(match (can_modify, can_reconstruct) {
            (_, true) if rest == 0 => Choice::Full,
            (true, true) => self.cheaper(2 * writes, rest + writes),
            (false, true) => Choice::Reconstruct,
            (true, false) if self.write_choice != WriteChoice::FewestIos || 2 * writes <= recover_ios => Choice::Modify,
            _ => Choice::Recover,
        })
    }
}
