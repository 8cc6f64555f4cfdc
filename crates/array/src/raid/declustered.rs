//! Declustered groups, the dRAID of OpenZFS: records of a fixed width spread over all children, with spare places among them.
//!
//! Model: a *row* is 16 MiB of every child at the same height. A *group* is `d` data and `p` parity places side by side, wrapping around
//! to the next row; groups fill the rows of a *slice*, the fewest rows that hold whole groups, and leave free the last places of every
//! row, the *distributed spares*. Which child takes which place differs from slice to slice (`permutation.rs`). A group is filled with
//! records before the next one: a record takes as many units of each place as it needs in the fullest, so that all places have
//! equally much and what is not filled is written as zeros. That is the arithmetic of OpenZFS (`vdev_draid.c`: `vdev_draid_asize`,
//! `vdev_draid_logical_to_physical`, `vdev_draid_map_alloc_row`); its documents call the last point the fixed stripe width.
//!
//! A child that fails is replaced by a distributed spare: in every slice, what it held goes to the child in that spare's place, so that
//! all children read and write. If that one is missing as well, what stands for it holds the data, and so on. Where the child itself
//! has a spare place, there is nothing of its own; it may have stood for another one, though, whose data are then its own.
//!
//! Several slices are rebuilt at once. OpenZFS has up to 64 MiB per child under way (zfs(4), `zfs_rebuild_vdev_limit`), of which each
//! child gets three commands at a time, and one where requests go on beside it (`zfs_vdev_rebuild_max_active` and
//! `zfs_vdev_rebuild_min_active`). Here as much is under way as is six commands for each child on average, so that few ever have
//! none, and one beside requests.
//!
//! Limits: a record does not go on in the next group, so the end of a row that is no whole record is not used; whole slices only.
//! OpenZFS passes a pool in the order of addresses: where what is under way is less than a slice, it writes to one child at a time and
//! is slower than here. What records.rs says of copy-on-write holds here.

use super::permutation::Permutations;
use super::rebuild_order::Order;
use super::records::{Column, common_divisor};
use super::spec::GroupSpec;
use plimsoll_workload::Divisor;

/// Commands of a rebuild that a child has, on average, while nothing else is asked, and while something is.
const COMMANDS_ALONE: u64 = 6;
const COMMANDS_BESIDE: u64 = 1;
/// Sectors of a step of a rebuild if nothing else is said.
const STEP_SECTORS: u32 = 1024;

/// What a declustered redundancy group looks like.
#[derive(Clone, Debug)]
pub(super) struct Declustered {
    /// Data sectors of a record.
    pub(super) record: Divisor,
    unit: u64,
    pub(super) parities: u32,
    /// Data places of a group.
    pub(super) data: u32,
    /// Units of data that every data place has, and how many of them have one more.
    each: u64,
    longer: u32,
    /// Sectors of a record at each place.
    pub(super) height: u64,
    pub(super) row: Divisor,
    /// Records of a group.
    pub(super) per_group: Divisor,
    /// Groups and rows of a slice.
    pub(super) groups: Divisor,
    pub(super) rows: Divisor,
    /// Places of a row but for the spares.
    pub(super) disks: Divisor,
    slices: u64,
    pub(super) permutations: Permutations,
    /// The order of a rebuild into a spare, and of one onto a new drive.
    pub(super) spread: Order,
    pub(super) straight: Order,
}

impl Declustered {
    /// Of children with so many sectors.
    pub(super) fn new(spec: &GroupSpec, children: u16, device_sectors: u64) -> Self {
        let (record, unit) = (u64::from(spec.record_sectors()), u64::from(spec.strip_sectors));
        let (data, parities) = (u32::from(spec.data_members(children)), spec.parities());
        let width = u64::from(data + parities);
        let disks = u64::from(children - spec.distributed_spares());
        let groups = disks / common_divisor(disks, width);
        let rows = width * groups / disks;
        let row = u64::from(spec.row_sectors());
        let (each, longer) = (record / unit / u64::from(data), record / unit % u64::from(data));
        let height = (each + u64::from(longer > 0)) * unit;
        let slices = device_sectors / (row * rows);
        let empty = Order::new((row, rows, slices), (row, 1), 1);
        let found = Self {
            record: Divisor::new(record),
            unit,
            parities,
            data,
            each,
            longer: longer as u32,
            height,
            row: Divisor::new(row),
            per_group: Divisor::new((row / height).max(1)),
            groups: Divisor::new(groups),
            rows: Divisor::new(rows),
            disks: Divisor::new(disks),
            slices,
            permutations: Permutations::new(children),
            spread: empty,
            straight: empty,
        };
        found.with_step(STEP_SECTORS)
    }

    /// The same with a rebuild that goes on in steps of about so many sectors, whole records.
    pub(super) fn with_step(mut self, wanted: u32) -> Self {
        let records = u64::from(wanted).div_ceil(self.height).clamp(1, self.per_group.value());
        let shape = (self.row.value(), self.rows.value(), self.slices);
        let step = (records * self.height, self.per_group.value().div_ceil(records));
        let lanes = self.steps_at_once(COMMANDS_ALONE);
        (self.spread, self.straight) = (Order::new(shape, step, lanes), Order::new(shape, step, 1));
        self
    }

    /// Steps that give every child so many commands: each reads as many as a group has data places, and writes one.
    fn steps_at_once(&self, commands: u64) -> u64 {
        let others = u64::from(self.permutations.children() - 1);
        (commands * others).div_ceil(u64::from(self.data) + 1).max(1)
    }

    /// Steps under way at most, alone and beside requests.
    pub(super) fn steps_most(&self) -> (usize, usize) {
        (self.steps_at_once(COMMANDS_ALONE).max(2) as usize, self.steps_at_once(COMMANDS_BESIDE) as usize)
    }

    /// Records of all groups.
    pub(super) const fn count(&self) -> u64 {
        self.slices * self.groups.value() * self.per_group.value()
    }

    /// Data sectors of all records.
    pub(super) const fn data_sectors(&self) -> u64 {
        self.count() * self.record.value()
    }

    /// Sectors of each child that are used.
    pub(super) const fn member_sectors(&self) -> u64 {
        self.slices * self.slice_sectors()
    }

    const fn slice_sectors(&self) -> u64 {
        self.row.value() * self.rows.value()
    }

    pub(super) const fn width(&self) -> u32 {
        self.data + self.parities
    }

    pub(super) fn spares(&self) -> u32 {
        self.permutations.children() - self.disks.value() as u32
    }

    pub(super) fn slice_of(&self, lba: u64) -> u64 {
        self.row.quotient(lba) / self.rows.value()
    }

    /// The place of a distributed spare.
    pub(super) fn spare_place(&self, spare: u16) -> u32 {
        self.permutations.children() - 1 - u32::from(spare)
    }

    /// Column number `which` of a record: first parity, then data; zeros count.
    pub(super) fn column(&self, record: u64, which: u32) -> Column {
        let (group, inside) = self.per_group.split(record);
        let (slice, group) = self.groups.split(group);
        let (row, place) = self.disks.split(group * u64::from(self.width()) + u64::from(which));
        let position = self.permutations.of_slice(slice).child(place as u32);
        let lba = (slice * self.rows.value() + row) * self.row.value() + inside * self.height;
        Column { position, lba, sectors: self.height as u32 }
    }

    pub(super) fn columns(&self, record: u64) -> impl Iterator<Item = Column> {
        (0..self.width()).map(move |which| self.column(record, which))
    }

    /// Sectors of data in data column number `which`; the rest is zeros.
    pub(super) fn filled_sectors(&self, which: u32) -> u32 {
        ((self.each + u64::from(which < self.longer)) * self.unit) as u32
    }

    /// The child and the sector on it that hold a data sector, while all are present.
    pub(super) fn locate(&self, inner: u64) -> (u32, u64) {
        let (record, mut inside) = self.record.split(inner);
        for which in 0..self.data {
            let filled = u64::from(self.filled_sectors(which));
            if inside < filled {
                let column = self.column(record, self.parities + which);
                return (column.position, column.lba + inside);
            }
            inside -= filled;
        }
        unreachable!("the data columns hold the record")
    }

    /// Members of a redundancy group.
    pub(super) const fn children(&self) -> u16 {
        self.permutations.children() as u16
    }

    /// The way that a rebuild of a member takes.
    pub(super) const fn order(&self, into_spare: bool) -> &Order {
        if into_spare { &self.spread } else { &self.straight }
    }
}
