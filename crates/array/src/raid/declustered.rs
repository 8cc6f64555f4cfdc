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

use super::members::{MemberState, Members};
use super::permutation::{Permutation, Permutations};
use super::rebuild_order::Order;
use super::records::Column;
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
    row: Divisor,
    /// Records of a group.
    pub(super) per_group: Divisor,
    /// Groups and rows of a slice.
    groups: Divisor,
    rows: Divisor,
    /// Places of a row but for the spares.
    disks: Divisor,
    slices: u64,
    permutations: Permutations,
    /// The order of a rebuild into a spare, and of one onto a new drive.
    spread: Order,
    straight: Order,
}

/// The part of a group that a step of a rebuild is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The first record, and how many.
    pub(super) record: u64,
    pub(super) count: u64,
    /// The number of the column that the child holds of them.
    pub(super) column: u32,
}

impl Declustered {
    /// Of children with so many sectors.
    pub(super) fn new(spec: &GroupSpec, children: u16, device_sectors: u64) -> Self {
        let (record, unit) = (u64::from(spec.record_sectors()), u64::from(spec.strip_sectors));
        let (data, parities) = (u32::from(spec.data_members(children)), spec.level.parities());
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

    const fn width(&self) -> u32 {
        self.data + self.parities
    }

    fn spares(&self) -> u32 {
        self.permutations.children() - self.disks.value() as u32
    }

    fn slice_of(&self, lba: u64) -> u64 {
        self.row.quotient(lba) / self.rows.value()
    }

    /// The place of a distributed spare.
    fn spare_place(&self, spare: u16) -> u32 {
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

    /// Everybody who holds what a child should hold at a sector, who is read first; nobody if it is missing.
    pub(super) fn holders(&self, child: u32, lba: u64, (members, base): (&Members, u16), mut visit: impl FnMut(u16)) {
        let mut at = base + child as u16;
        while let Some(spare) = members.spare_of(at) {
            if members.returned_sectors(at) > lba {
                visit(at);
            }
            if !self.is_reached(members.state(at), &self.spread, lba) {
                return;
            }
            let place = self.spare_place(spare);
            at = base + self.permutations.of_slice(self.slice_of(lba)).child(place) as u16;
        }
        if self.is_reached(members.state(at), &self.straight, lba) {
            visit(at);
        }
    }

    fn is_reached(&self, state: MemberState, order: &Order, lba: u64) -> bool {
        match state {
            MemberState::Present => true,
            MemberState::Failed => false,
            MemberState::Rebuilding { rebuilt_sectors } => rebuilt_sectors > order.address(lba),
        }
    }

    /// Where a rebuild of a member puts what it holds at a sector: on its own drive, or on all that stand for it, if any are there.
    pub(super) fn destinations(
        &self,
        device: u16,
        lba: u64,
        (members, base): (&Members, u16),
        mut visit: impl FnMut(u16),
    ) {
        let Some(spare) = members.spare_of(device) else { return visit(device) };
        let next = self.permutations.of_slice(self.slice_of(lba)).child(self.spare_place(spare));
        self.holders(next, lba, (members, base), visit);
    }

    /// Members of a redundancy group.
    pub(super) const fn children(&self) -> u16 {
        self.permutations.children() as u16
    }

    /// The way that a rebuild of a member takes.
    pub(super) const fn order(&self, into_spare: bool) -> &Order {
        if into_spare { &self.spread } else { &self.straight }
    }

    /// What a member holds of the records of a step, its own or that of a member that it stands for.
    pub(super) fn part(
        &self,
        position: u32,
        (lba, number): (u64, u64),
        (members, base): (&Members, u16),
    ) -> Option<Part> {
        let (slice, row) = self.rows.split(self.row.quotient(lba));
        let permutation = self.permutations.of_slice(slice);
        let place = self.place_stood_for(position, permutation, (members, base))?;
        let linear = row * self.disks.value() + u64::from(place);
        let (group, column) = (linear / u64::from(self.width()), linear % u64::from(self.width()));
        let records = self.straight.step_sectors() / self.height;
        let first = number * records;
        let count = records.min(self.per_group.value() - first);
        let record = (slice * self.groups.value() + group) * self.per_group.value() + first;
        Some(Part { record, count, column: column as u32 })
    }

    fn place_stood_for(
        &self,
        position: u32,
        permutation: Permutation<'_>,
        (members, base): (&Members, u16),
    ) -> Option<u32> {
        let mut place = permutation.place(position);
        // Members in spare places of this slice may stand for each other in a circle, and hold nothing.
        for _ in 0..=self.spares() {
            if u64::from(place) < self.disks.value() {
                return Some(place);
            }
            let spare = (self.permutations.children() - 1 - place) as u16;
            let mut children = 0..self.permutations.children();
            let stood_for = children.find(|&child| members.spare_of(base + child as u16) == Some(spare))?;
            place = permutation.place(stood_for);
        }
        None
    }

    /// A distributed spare that stands for nobody yet.
    pub(super) fn free_spare(&self, members: &Members, base: u16) -> Option<u16> {
        let children = base..base + self.children();
        (0..self.spares() as u16).find(|&spare| children.clone().all(|device| members.spare_of(device) != Some(spare)))
    }
}

pub(super) const fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}
