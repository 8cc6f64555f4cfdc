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

use super::locks::RowSpan;
use plimsoll_workload::Divisor;

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

    /// The same where every record is as wide and what it does not fill is written as zeros.
    pub(super) fn of_width(data_units: u64, data: u32, parities: u32) -> Self {
        let columns = data + parities;
        let units = data_units.div_ceil(data.into()) * u64::from(columns);
        Self { columns, parities, data_units, units, taken_units: units }
    }

    /// Members that hold data of it.
    pub fn data_columns(&self) -> u32 {
        u64::from(self.columns - self.parities).min(self.data_units) as u32
    }
}

/// What a redundancy group of records looks like; all of a group are alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records {
    /// Data sectors of a record.
    pub(super) record: Divisor,
    /// Sectors of a unit.
    unit: u64,
    pub(super) members: Divisor,
    pub(super) parities: u32,
    /// Columns that a record has, parity included.
    columns: u32,
    /// Units of the first `long` columns; the others have one less.
    longest: u64,
    long: u32,
    /// Units of a record with parity and padding.
    taken: Divisor,
    pub(super) padding: u32,
    /// Records of a redundancy group.
    pub(super) count: u64,
    /// Units of each member after which a record begins on the first one again.
    turn: u64,
}

/// A column of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) position: u32,
    pub(super) lba: u64,
    pub(super) sectors: u32,
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

    pub(super) fn columns(&self, record: u64) -> impl Iterator<Item = Column> {
        let records = *self;
        (0..self.columns).map(move |which| records.column(record, which))
    }

    /// The unused units at the end of a record.
    pub(super) fn padding(&self, record: u64) -> impl Iterator<Item = Column> {
        let (records, end) = (*self, (record + 1) * self.taken.value());
        (end - u64::from(self.padding)..end).map(move |unit| {
            let (position, lba) = records.place(unit);
            Column { position, lba, sectors: records.unit as u32 }
        })
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

    pub(super) fn between(&self, start: u64, end: u64) -> (u64, u64) {
        let wide = self.members.value();
        let first = self.taken.quotient(start / self.unit * wide);
        let end = (end.div_ceil(self.unit) * wide).div_ceil(self.taken.value());
        (first.min(self.count), end.min(self.count))
    }
}

pub(super) const fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}
