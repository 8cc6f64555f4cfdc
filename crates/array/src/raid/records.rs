//! RAIDZ: data in records, each spread over as many members as it fills, with parity of its own and padding.
//!
//! Model: a pool counts in *units* of 2^ashift bytes. A record of `s` data units takes `s + p · ⌈s / (n − p)⌉` units of its
//! redundancy group, rounded up to a multiple of `p + 1` so that whatever is freed can be used again. The units of a group are
//! numbered through its `n` members, and a record takes the next ones: it begins on any member, is as wide as it is long, and of
//! each member it has one contiguous *column*. Its first `p` columns are parity, the others data, each column contiguous. The
//! arithmetic is that of OpenZFS (`vdev_raidz_map_alloc` and `vdev_raidz_asize` in `vdev_raidz.c`), where every other MiB of one
//! parity exchanges the first two columns.
//!
//! A checksum goes over a whole record, so a read of any of it reads all its data columns. A write of a whole record reads
//! nothing; one of a part reads the record first and writes all of it. Parity is never read but for what is missing. Where several
//! records are read or written, commands go on over what lies between as OpenZFS aggregates them: reads over up to 32 KiB
//! (`zfs_vdev_read_gap_limit`), writes over the padding (M. Ahrens, openzfs/zfs pull request 5931, 2017).
//!
//! Limits: a record stays where it is, so what a copy-on-write file system gains by putting new records side by side, and loses
//! by scattering old ones, is not modelled; neither are its own records (indirect blocks, intent log). All records are of one
//! size, and nothing is compressed.

use super::geometry::Geometry;
use super::locks::RowSpan;
use super::loss::Lost;
use super::members::Members;
use super::piece::{Extent, Piece};
use super::rebuild::RebuildChunk;
use super::striping::Share;
use super::write::WritePlan;
use plimsoll_workload::Divisor;

/// Sectors that a read of several records passes rather than making two commands: 32 KiB.
const READ_GAP: u64 = 64;
/// Every other MiB of a group with one parity exchanges parity and the first data column.
const EXCHANGED_SECTORS: u64 = 1 << 11;

/// What a record takes of its redundancy group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordShape {
    /// Members that hold some of it, those of parity included.
    pub columns: u32,
    /// How many of them hold parity.
    pub parities: u32,
    /// Units of data.
    pub data_units: u64,
    /// Units of data and parity.
    pub units: u64,
    /// The same with padding.
    pub taken_units: u64,
}

impl RecordShape {
    /// Of so many data units on so many members.
    pub(super) fn new(data_units: u64, members: u32, parities: u32) -> Self {
        let (wide, each) = (u64::from(members), u64::from(parities));
        let units = data_units + each * data_units.div_ceil(wide - each);
        let taken_units = units.next_multiple_of(each + 1);
        Self { columns: units.min(wide) as u32, parities, data_units, units, taken_units }
    }

    /// Members that hold data of it.
    pub const fn data_columns(&self) -> u32 {
        self.columns - self.parities
    }
}

/// What a redundancy group of records looks like; all of a group are alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records {
    /// Data sectors of a record.
    record: Divisor,
    /// Sectors of a unit.
    unit: u64,
    members: Divisor,
    pub(super) parities: u32,
    /// Columns that a record has, parity included.
    columns: u32,
    /// Units of the first `long` columns; the others have one less.
    longest: u64,
    long: u32,
    /// Units of a record with parity and padding.
    taken: Divisor,
    padding: u32,
    /// Records of a redundancy group.
    count: u64,
    /// Units of each member after which a record begins on the first one again.
    turn: u64,
}

/// A column of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Column {
    position: u32,
    lba: u64,
    sectors: u32,
}

impl Records {
    /// Of members with so many sectors; `record` is a multiple of `unit`, both in sectors.
    pub(super) fn new((record, unit): (u64, u64), members: u32, parities: u32, member_sectors: u64) -> Self {
        let wide = u64::from(members);
        let RecordShape { columns, units: all, taken_units: taken, .. } =
            RecordShape::new(record / unit, members, parities);
        let long = all % wide;
        Self {
            record: Divisor::new(record),
            unit,
            members: Divisor::new(wide),
            parities,
            columns,
            longest: all.div_ceil(wide),
            long: if long == 0 { members } else { long as u32 },
            taken: Divisor::new(taken),
            padding: (taken - all) as u32,
            count: member_sectors / unit * wide / taken,
            turn: taken / common_divisor(taken, wide),
        }
    }

    /// Data sectors of a record.
    pub(super) const fn record_sectors(&self) -> u64 {
        self.record.value()
    }

    /// Data sectors of all records.
    pub(super) const fn data_sectors(&self) -> u64 {
        self.count * self.record.value()
    }

    /// Data columns of a record.
    pub(super) const fn data(&self) -> u32 {
        self.columns - self.parities
    }

    /// A unit of a redundancy group, as the member and the sector on it.
    fn place(&self, unit: u64) -> (u32, u64) {
        let (row, position) = self.members.split(unit);
        (position as u32, row * self.unit)
    }

    /// Column number `which` of a record: first parity, then data.
    fn column(&self, record: u64, which: u32) -> Column {
        let first = record * self.taken.value();
        let sectors = ((self.longest - u64::from(which >= self.long)) * self.unit) as u32;
        let exchanged = self.parities == 1 && first * self.unit / EXCHANGED_SECTORS % 2 == 1;
        let which = if exchanged && which < 2 { 1 - which } else { which };
        let (position, lba) = self.place(first + u64::from(which));
        Column { position, lba, sectors }
    }

    fn columns(&self, record: u64) -> impl Iterator<Item = Column> {
        let records = *self;
        (0..self.columns).map(move |which| records.column(record, which))
    }

    /// The unused units at the end of a record.
    fn padding(&self, record: u64) -> impl Iterator<Item = Column> {
        let (records, end) = (*self, (record + 1) * self.taken.value());
        (end - u64::from(self.padding)..end).map(move |unit| {
            let (position, lba) = records.place(unit);
            Column { position, lba, sectors: records.unit as u32 }
        })
    }

    /// The records that a share touches, as first and last.
    fn touched(&self, share: Share) -> (u64, u64) {
        (self.record.quotient(share.start), self.record.quotient(share.end() - 1))
    }

    /// The record of a share that touches one.
    pub(super) fn single(&self, share: Share) -> Option<u64> {
        let (first, last) = self.touched(share);
        (first == last).then_some(first)
    }

    /// The member and the sector on it that hold a data sector.
    pub(super) fn locate(&self, inner: u64) -> (u32, u64) {
        let (record, mut inside) = self.record.split(inner);
        let data = (self.parities..self.columns).map(|which| self.column(record, which));
        for column in data {
            if inside < u64::from(column.sectors) {
                return (column.position, column.lba + inside);
            }
            inside -= u64::from(column.sectors);
        }
        unreachable!("the data columns hold the record")
    }

    /// Sectors that a chunk of a rebuild is made, so that no record lies in two.
    pub(super) const fn chunk_sectors(&self, wanted: u64) -> u64 {
        wanted.next_multiple_of(self.turn * self.unit)
    }

    /// The records that lie between two sectors of a member, of which the first is a multiple of a chunk.
    pub(super) fn rows(&self, group: u16, start: u64, end: u64) -> RowSpan {
        let (first, end) = self.between(start, end);
        RowSpan { group, first, count: (end - first) as u32 }
    }

    fn between(&self, start: u64, end: u64) -> (u64, u64) {
        let wide = self.members.value();
        let first = self.taken.quotient(start / self.unit * wide);
        let end = (end.div_ceil(self.unit) * wide).div_ceil(self.taken.value());
        (first.min(self.count), end.min(self.count))
    }
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// Pieces of one redundancy group, records in ascending order; a piece goes on over gaps of up to so many sectors.
struct Joining<'a> {
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
struct Present<'a> {
    members: &'a Members,
    base: u16,
}

impl Present<'_> {
    fn has(&self, column: &Column) -> bool {
        let end = column.lba + u64::from(column.sectors);
        self.members.served_sectors(self.base + column.position as u16) >= end
    }
}

impl Records {
    /// Appends what has to be read to know all of a record; how many data columns are worked out, or nothing if too few are left.
    fn read_record(&self, record: u64, present: Present<'_>, out: &mut Joining<'_>) -> Option<u32> {
        let mut missing = 0;
        for column in self.columns(record).skip(self.parities as usize) {
            if present.has(&column) {
                out.put(Piece::read(present.base + column.position as u16, column.lba, column.sectors));
            } else {
                missing += 1;
            }
        }
        let mut wanted = missing;
        for column in self.columns(record).take(self.parities as usize) {
            if wanted > 0 && present.has(&column) {
                out.put(Piece::read(present.base + column.position as u16, column.lba, column.sectors));
                wanted -= 1;
            }
        }
        (wanted == 0).then_some(missing)
    }

    fn is_lost(&self, record: u64, present: Present<'_>) -> bool {
        let missing = self.columns(record).filter(|column| !present.has(column)).count();
        missing > self.parities as usize
    }

    /// The pieces of a read, and the bytes that working out passes; the error is the record that is lost.
    pub(super) fn read(&self, share: Share, members: &Members, base: u16, out: &mut Vec<Piece>) -> Result<u64, u64> {
        let (present, from) = (Present { members, base }, out.len());
        let (first, last) = self.touched(share);
        let mut out = Joining { from, pieces: out, gap: READ_GAP };
        let mut worked_out = 0;
        for record in first..=last {
            worked_out += u64::from(self.read_record(record, present, &mut out).ok_or(record)?);
        }
        Ok(worked_out * self.record.value() * 512)
    }

    /// Plans a write of one share; the error is the record that is lost.
    pub(super) fn write(&self, share: Share, members: &Members, base: u16, plan: &mut WritePlan) -> Result<(), u64> {
        let (first, last) = self.touched(share);
        let covers = |record: u64| {
            let start = record * self.record.value();
            share.start <= start && share.end() >= start + self.record.value()
        };
        self.write_records((share.group, first, last), covers, (members, base), plan)
    }

    /// Plans a write of stretches of one record that together hold so many sectors.
    pub(super) fn write_together(
        &self,
        (group, record): (u16, u64),
        sectors: u64,
        (members, base): (&Members, u16),
        plan: &mut WritePlan,
    ) -> Result<(), u64> {
        self.write_records((group, record, record), |_| sectors == self.record.value(), (members, base), plan)
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
        let bytes = self.record.value() * 512;
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
            plan.xor_bytes += u64::from(self.parities) * bytes;
            let filled = if record < last { self.padding } else { 0 };
            let padding = self.padding(record).take(filled as usize);
            for column in self.columns(record).chain(padding).filter(|column| present.has(column)) {
                writes.put(Piece::write(base + column.position as u16, column.lba, column.sectors));
            }
        }
        Ok(())
    }

    /// The pieces of a trim: of the records that it covers, with their parity; what is missing is left out.
    pub(super) fn trim(&self, share: Share, members: &Members, base: u16, out: &mut Vec<Piece>) {
        let (present, from) = (Present { members, base }, out.len());
        let (first, end) = (share.start.div_ceil(self.record.value()), self.record.quotient(share.end()));
        let mut out = Joining { from, pieces: out, gap: 0 };
        for record in first..end {
            for column in self.columns(record).filter(|column| present.has(column)) {
                out.put(Piece::write(base + column.position as u16, column.lba, column.sectors));
            }
        }
    }

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
            for column in others.filter(|column| column.position != position && present.has(column)) {
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

    /// Extents of one record, from the first on.
    pub(super) fn together_in_record(&self, records: &Records, extents: &[Extent]) -> usize {
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
        records: &Records,
        extents: &[Extent],
        members: &Members,
        plan: &mut WritePlan,
    ) -> Result<(), Lost> {
        let Some(share) = extents.first().and_then(|extent| self.striping.single(*extent)) else { return Ok(()) };
        let Some(record) = records.single(share) else { return Ok(()) };
        let sectors = extents.iter().map(|extent| u64::from(extent.sectors)).sum();
        let present = (members, self.base(share.group));
        let planned = records.write_together((share.group, record), sectors, present, plan);
        planned.map_err(|record| self.lost(share.group, record * records.record_sectors()))
    }
}
