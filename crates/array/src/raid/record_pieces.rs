//! The pieces of reads, writes, trims and rebuilds of records: which columns, of whom, and how commands that touch become one.
//!
//! What a record is, and why it is read and written as a whole, is in `records.rs`.

use super::declustered::Declustered;
use super::geometry::Geometry;
use super::locks::RowSpan;
use super::loss::Lost;
use super::members::{MemberState, Members};
use super::piece::{Extent, Piece};
use super::rebuild_chunk::RebuildChunk;
use super::records::{Column, Records};
use super::striping::Share;
use super::write_plan::WritePlan;
use plimsoll_workload::Divisor;

/// Sectors that a read of several records passes rather than making two commands: 32 KiB.
const READ_GAP: u64 = 64;

/// Pieces of one redundancy group, records in ascending order; a piece goes on over gaps of up to so many sectors.
pub(super) struct Joining<'a> {
    pieces: &'a mut Vec<Piece>,
    /// The first of these.
    from: usize,
    gap: u64,
}

impl Joining<'_> {
    fn put(&mut self, piece: Piece) {
        let own = &mut self.pieces[self.from..];
        let before = own.iter_mut().rev().find(|before| before.device == piece.device);
        match before {
            Some(before) if before.end() <= piece.lba && before.end() + self.gap >= piece.lba => {
                before.sectors = (piece.end() - before.lba) as u32;
            }
            _ => self.pieces.push(piece),
        }
    }
}

/// Who of a redundancy group serves a column.
#[derive(Clone, Copy)]
pub(super) struct Present<'a> {
    pub(super) members: &'a Members,
    pub(super) base: u16,
}

/// Where records lie: what reads, writes and trims of them have to know.
pub(super) trait RecordMap {
    /// Data sectors of a record.
    fn record(&self) -> &Divisor;

    /// Columns of a record that are parity, its first ones.
    fn parities(&self) -> usize;

    /// Columns of a record as they are written.
    fn columns_of(&self, record: u64) -> impl Iterator<Item = Column>;

    /// Sectors of a column that are data of the record: of data column number `which`.
    fn data_of(&self, which: u32, column: &Column) -> u32;

    /// The unused units at the end of a record.
    fn padding_of(&self, record: u64) -> impl Iterator<Item = Column>;

    /// Everybody who holds a column; the first is read.
    fn each_holder(&self, column: &Column, present: Present<'_>, visit: impl FnMut(u16));

    /// Who is read for a column, if anybody has it.
    fn holder(&self, column: &Column, present: Present<'_>) -> Option<u16> {
        let mut found = None;
        self.each_holder(column, present, |device| found = found.or(Some(device)));
        found
    }

    /// The records that a share touches, as first and last.
    fn touched(&self, share: Share) -> (u64, u64) {
        (self.record().quotient(share.start), self.record().quotient(share.end() - 1))
    }

    /// The record of a share that touches one.
    fn single(&self, share: Share) -> Option<u64> {
        let (first, last) = self.touched(share);
        (first == last).then_some(first)
    }

    /// Appends what has to be read to know all of a record; how many data columns are worked out, or nothing if too few are left.
    /// Where any is, the others are read with the zeros that they are filled up with.
    fn read_record(&self, record: u64, present: Present<'_>, out: &mut Joining<'_>) -> Option<u32> {
        let data = || (0..).zip(self.columns_of(record).skip(self.parities()));
        let is_missing = |(which, column): &(u32, Column)| {
            self.data_of(*which, column) > 0 && self.holder(column, present).is_none()
        };
        let whole = !data().any(|found| is_missing(&found));
        let mut missing = 0;
        for (which, column) in data() {
            let sectors = if whole { self.data_of(which, &column) } else { column.sectors };
            match self.holder(&column, present) {
                Some(_) if sectors == 0 => {}
                Some(device) => out.put(Piece::read(device, column.lba, sectors)),
                None => missing += u32::from(sectors > 0),
            }
        }
        let mut wanted = missing;
        for column in self.columns_of(record).take(self.parities()) {
            if wanted == 0 {
                break;
            }
            if let Some(device) = self.holder(&column, present) {
                out.put(Piece::read(device, column.lba, column.sectors));
                wanted -= 1;
            }
        }
        (wanted == 0).then_some(missing)
    }

    fn is_lost(&self, record: u64, present: Present<'_>) -> bool {
        let missing = self.columns_of(record).filter(|column| self.holder(column, present).is_none()).count();
        missing > self.parities()
    }

    /// The pieces of a read, and the bytes that working out passes; the error is the record that is lost.
    fn read(&self, share: Share, members: &Members, base: u16, out: &mut Vec<Piece>) -> Result<u64, u64> {
        let (present, from) = (Present { members, base }, out.len());
        let (first, last) = self.touched(share);
        let mut out = Joining { from, pieces: out, gap: READ_GAP };
        let mut worked_out = 0;
        for record in first..=last {
            worked_out += u64::from(self.read_record(record, present, &mut out).ok_or(record)?);
        }
        Ok(worked_out * self.record().value() * 512)
    }

    /// Plans a write of one share; the error is the record that is lost.
    fn write(&self, share: Share, members: &Members, base: u16, plan: &mut WritePlan) -> Result<(), u64> {
        let (first, last) = self.touched(share);
        let covers = |record: u64| {
            let start = record * self.record().value();
            share.start <= start && share.end() >= start + self.record().value()
        };
        self.write_records((share.group, first, last), covers, (members, base), plan)
    }

    /// Plans a write of stretches of one record that together hold so many sectors.
    fn write_together(
        &self,
        (group, record): (u16, u64),
        sectors: u64,
        (members, base): (&Members, u16),
        plan: &mut WritePlan,
    ) -> Result<(), u64> {
        self.write_records((group, record, record), |_| sectors == self.record().value(), (members, base), plan)
    }

    fn write_records(
        &self,
        (group, first, last): (u16, u64, u64),
        covers: impl Fn(u64) -> bool,
        (members, base): (&Members, u16),
        plan: &mut WritePlan,
    ) -> Result<(), u64> {
        let present = Present { members, base };
        plan.rows.push(RowSpan { group, first, count: (last - first + 1) as u32 });
        let bytes = self.record().value() * 512;
        let mut reads = Joining { from: plan.reads.len(), pieces: &mut plan.reads, gap: READ_GAP };
        let mut writes = Joining { from: plan.writes.len(), pieces: &mut plan.writes, gap: 0 };
        for record in first..=last {
            if self.is_lost(record, present) {
                return Err(record);
            }
            if covers(record) {
                plan.choices.full += 1;
            } else {
                let worked_out = self.read_record(record, present, &mut reads).ok_or(record)?;
                plan.choices.recovered += u32::from(worked_out > 0);
                plan.choices.reconstructed += u32::from(worked_out == 0);
                plan.xor_bytes += u64::from(worked_out) * bytes;
            }
            plan.xor_bytes += self.parities() as u64 * bytes;
            let filled = if record < last { usize::MAX } else { 0 };
            let padding = self.padding_of(record).take(filled);
            for column in self.columns_of(record).chain(padding) {
                self.each_holder(&column, present, |device| {
                    writes.put(Piece::write(device, column.lba, column.sectors));
                });
            }
        }
        Ok(())
    }

    /// The pieces of a trim: of the records that it covers, with their parity; what is missing is left out.
    fn trim(&self, share: Share, members: &Members, base: u16, out: &mut Vec<Piece>) {
        let (present, from) = (Present { members, base }, out.len());
        let (first, end) = (share.start.div_ceil(self.record().value()), self.record().quotient(share.end()));
        let mut out = Joining { from, pieces: out, gap: 0 };
        for record in first..end {
            for column in self.columns_of(record) {
                self.each_holder(&column, present, |device| {
                    out.put(Piece::write(device, column.lba, column.sectors));
                });
            }
        }
    }
}

impl RecordMap for Records {
    fn record(&self) -> &Divisor {
        &self.record
    }

    fn parities(&self) -> usize {
        self.parities as usize
    }

    fn columns_of(&self, record: u64) -> impl Iterator<Item = Column> {
        self.columns(record)
    }

    fn data_of(&self, _: u32, column: &Column) -> u32 {
        column.sectors
    }

    fn padding_of(&self, record: u64) -> impl Iterator<Item = Column> {
        self.padding(record)
    }

    fn each_holder(&self, column: &Column, Present { members, base }: Present<'_>, mut visit: impl FnMut(u16)) {
        let device = base + column.position as u16;
        if members.served_sectors(device) >= column.lba + u64::from(column.sectors) {
            visit(device);
        }
    }
}

impl RecordMap for Declustered {
    fn record(&self) -> &Divisor {
        &self.record
    }

    fn parities(&self) -> usize {
        self.parities as usize
    }

    fn columns_of(&self, record: u64) -> impl Iterator<Item = Column> {
        self.columns(record)
    }

    fn data_of(&self, which: u32, _: &Column) -> u32 {
        self.filled_sectors(which)
    }

    fn padding_of(&self, _: u64) -> impl Iterator<Item = Column> {
        std::iter::empty()
    }

    fn each_holder(&self, column: &Column, Present { members, base }: Present<'_>, visit: impl FnMut(u16)) {
        self.holders(column.position, column.lba, (members, base), visit);
    }
}

impl Records {
    /// Plans what a chunk of a rebuild reads: of every record that has a column there, as many others as it has data columns.
    pub(super) fn rebuild(
        &self,
        (position, start, end): (u32, u64, u64),
        members: &Members,
        base: u16,
        chunk: &mut RebuildChunk,
    ) -> Result<(), u64> {
        let present = Present { members, base };
        chunk.reads.clear();
        chunk.xor_bytes = 0;
        let mut out = Joining { from: 0, pieces: &mut chunk.reads, gap: READ_GAP };
        let (first, last) = self.between(start, end);
        for record in first..last {
            if !self.columns(record).any(|column| column.position == position) {
                continue;
            }
            let mut wanted = self.data();
            // Data first, then as much parity as makes up for what is missing.
            let parity = self.parities as usize;
            let others = self.columns(record).skip(parity).chain(self.columns(record).take(parity));
            for column in others.filter(|column| column.position != position && self.holder(column, present).is_some())
            {
                if wanted > 0 {
                    out.put(Piece::read(base + column.position as u16, column.lba, column.sectors));
                    wanted -= 1;
                }
            }
            if wanted > 0 {
                return Err(record);
            }
            chunk.xor_bytes += self.record.value() * 512;
        }
        Ok(())
    }
}

impl Geometry {
    /// Data sectors of the records of a redundancy group that too few members are left for. Between the marks of two members all
    /// records miss the same ones, so that whole turns count alike.
    pub(super) fn lost_in_records(&self, records: &Records, group: u16, members: &Members) -> u64 {
        let present = Present { members, base: self.base(group) };
        let wide = records.members.value();
        let mut marks = vec![0, records.count];
        for position in 0..self.members_per_group() {
            let served = members.served_sectors(present.base + position).min(self.member_sectors());
            let (mark, _) = records.between(served, served);
            marks.extend([mark, (mark + 1).min(records.count)]);
        }
        marks.sort_unstable();
        let lost = |record: &u64| records.is_lost(*record, present);
        let mut count = 0;
        for pair in marks.windows(2).filter(|pair| pair[0] < pair[1]) {
            let turns = (pair[1] - pair[0]) / wide;
            let per_turn = if turns > 0 { (pair[0]..pair[0] + wide).filter(lost).count() as u64 } else { 0 };
            count += turns * per_turn + (pair[0] + turns * wide..pair[1]).filter(lost).count() as u64;
        }
        count * records.record.value()
    }

    /// Data sectors of the records of a declustered redundancy group that too few members are left for: of a group all alike, unless
    /// a rebuild has come to the middle of it.
    pub(super) fn lost_declustered(&self, declustered: &Declustered, group: u16, members: &Members) -> u64 {
        let present = Present { members, base: self.base(group) };
        let own = present.base..present.base + self.members_per_group();
        let moving = own.clone().any(|device| matches!(members.state(device), MemberState::Rebuilding { .. }));
        let step = if moving { 1 } else { declustered.per_group.value() };
        let firsts = (0..declustered.count()).step_by(step as usize);
        firsts.filter(|&record| declustered.is_lost(record, present)).count() as u64 * step * declustered.record.value()
    }

    /// Extents of one record, from the first on.
    pub(super) fn together_in_record(&self, records: &impl RecordMap, extents: &[Extent]) -> usize {
        let of = |extent: &Extent| {
            let share = self.striping.single(*extent)?;
            Some((share.group, records.single(share)?))
        };
        let Some(first) = extents.first().and_then(of) else { return 1 };
        extents.iter().take_while(|extent| of(extent) == Some(first)).count()
    }

    /// See [`Geometry::write_together`].
    pub(super) fn write_record_together(
        &self,
        records: &impl RecordMap,
        extents: &[Extent],
        members: &Members,
        plan: &mut WritePlan,
    ) -> Result<(), Lost> {
        let Some(share) = extents.first().and_then(|extent| self.striping.single(*extent)) else { return Ok(()) };
        let Some(record) = records.single(share) else { return Ok(()) };
        let sectors = extents.iter().map(|extent| u64::from(extent.sectors)).sum();
        let present = (members, self.base(share.group));
        let planned = records.write_together((share.group, record), sectors, present, plan);
        planned.map_err(|record| self.lost(share.group, record * records.record().value()))
    }
}
