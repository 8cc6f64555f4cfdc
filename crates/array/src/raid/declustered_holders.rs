//! Who holds what of a declustered group while members are missing or replaced: the spare places that stand for them.
//!
//! Model: see declustered.rs. A member that was replaced by a distributed spare is stood for, slice by slice, by the child in that spare's
//! place, and that one by another if it is missing as well.

use super::declustered::Declustered;
use super::members::{MemberState, Members};
use super::permutation::Permutation;
use super::rebuild_order::Order;

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
    /// Everybody who holds what a child should hold at a sector, who is read first; nobody if it is missing.
    pub(super) fn holders(&self, child: u32, lba: u64, (members, base): (&Members, u16), mut visit: impl FnMut(u16)) {
        let mut at = base + child as u16;
        // Each spare stands for one member, so that no chain is longer than there are spares.
        for _ in 0..=self.spares() {
            let Some(spare) = members.spare_of(at) else {
                if self.is_reached(members.state(at), &self.straight, lba) {
                    visit(at);
                }
                return;
            };
            if members.returned_sectors(at) > lba {
                visit(at);
            }
            if !self.is_reached(members.state(at), &self.spread, lba) {
                return;
            }
            let place = self.spare_place(spare);
            at = base + self.permutations.of_slice(self.slice_of(lba)).child(place) as u16;
        }
        debug_assert!(false, "spares stand for each other in a circle behind child {child} at sector {lba}");
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
