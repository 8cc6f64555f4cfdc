//! Copying back: the contents of a spare go to the drive that replaces the failed one, and the spare is free again.
//!
//! Model: a controller that copies back does so once the spare holds everything, chunk by chunk and at the pace of a rebuild.
//! Only the spare is read for it. Until the end the spare acts as the member: it serves all reads, and writes to what is
//! copied already go to both drives. If the spare fails meanwhile, the new drive is already in its bay and is rebuilt.
//! MegaRAID does it this way (MegaRAID Storage Manager, help, *Copyback*), so do Smart Arrays with dedicated spares
//! (Microchip's guide to the SmartRAID controllers, which follow them, 6.1 and 15.3.1) and Sun's arrays (StorEdge 6130, help,
//! *About Hot-Spare Drives*).
//!
//! A distributed spare always gives back what it holds, as OpenZFS does: members that have it are read, and as far as it has come the new
//! drive is written besides, and read instead of them. Then the spare is free for the next failure.
//!
//! Limits: if the spare fails, the new drive is rebuilt from the start. Trims and flushes reach it only once it acts as the
//! member; until then they go to the spare alone. A new drive that fails while it is copied to is not modelled.

use super::Faults;
use super::incidents::What;
use crate::array::topology::{CopyBack, Topology};
use crate::raid::{MemberState, Rebuild, SpareSpec};

/// A drive in a bay, and the member that it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bay {
    pub(super) group: u16,
    pub(super) member: u16,
    pub(super) drive: u16,
}

impl Faults {
    /// A member whose place a spare has taken gets a new drive. Copying back begins once the spare holds everything.
    pub(super) fn copy_back(&mut self, topology: &mut Topology, bay: Bay) {
        self.fitted.push(bay);
        if topology.groups[usize::from(bay.group)].members.state(bay.member) == MemberState::Present {
            self.begin_copy(topology, bay);
        } else {
            self.note(topology, bay.group, bay.member, What::Fitted);
        }
    }

    /// The spare holds everything: copies it back if the new drive is there.
    pub(super) fn spare_is_whole(&mut self, topology: &mut Topology, group: u16, member: u16) {
        let fitted = self.fitted.iter().find(|bay| (bay.group, bay.member) == (group, member));
        if let Some(&bay) = fitted {
            self.begin_copy(topology, bay);
        }
    }

    fn begin_copy(&mut self, topology: &mut Topology, Bay { group: number, member, drive }: Bay) {
        let group = &mut topology.groups[usize::from(number)];
        if group.members.is_spared(member) {
            // The new drive stands in the place that nobody uses meanwhile.
            let copying = Rebuild::copying(member, member, group.chunk_sectors, &group.geometry);
            self.note(topology, number, member, What::Copying);
            self.begin_rebuild(topology, number, copying);
            return;
        }
        let place = group.place_of_new(member);
        group.drives.resize(2 * usize::from(group.members.count()), drive);
        group.drives[usize::from(place)] = drive;
        group.members.copy(member, true);
        group.copies.push(CopyBack { member, copied_sectors: 0 });
        let copying = Rebuild::copying(member, place, group.chunk_sectors, &group.geometry);
        self.note(topology, number, member, What::Copying);
        self.begin_rebuild(topology, number, copying);
    }

    /// The copy of a member has come this far; whether that is the end.
    pub(super) fn note_copied(
        &mut self,
        topology: &mut Topology,
        number: u16,
        member: u16,
        copied_sectors: u64,
    ) -> bool {
        let group = &mut topology.groups[usize::from(number)];
        if group.members.is_spared(member) {
            return self.note_returned(topology, number, member, copied_sectors);
        }
        if copied_sectors < group.geometry.member_sectors() {
            group
                .copies
                .iter_mut()
                .filter(|copy| copy.member == member)
                .for_each(|copy| copy.copied_sectors = copied_sectors);
            return false;
        }
        if let Some(own) = self.end_copy(topology, number, member) {
            let spare = std::mem::replace(&mut topology.groups[usize::from(number)].drives[usize::from(member)], own);
            let spare = self.stops_serving(spare).unwrap_or(SpareSpec { device: spare, group: Some(number) });
            self.note(topology, number, member, What::CopiedBack);
            self.spares.add(spare);
            self.replace_waiting(topology);
        }
        true
    }

    /// The new drive of a member that a distributed spare stands for has so much; with all of it the spare is free.
    fn note_returned(&mut self, topology: &mut Topology, number: u16, member: u16, sectors: u64) -> bool {
        let group = &mut topology.groups[usize::from(number)];
        group.members.return_to(member, sectors, &group.geometry);
        if group.members.is_spared(member) {
            return false;
        }
        self.fitted.retain(|bay| (bay.group, bay.member) != (number, member));
        self.note(topology, number, member, What::CopiedBack);
        self.replace_waiting(topology);
        true
    }

    /// No longer copies a member, if it does or is about to; the new drive that was for it.
    pub(super) fn end_copy(&mut self, topology: &mut Topology, number: u16, member: u16) -> Option<u16> {
        let fitted = &mut self.fitted;
        let place = fitted.iter().position(|bay| (bay.group, bay.member) == (number, member))?;
        let group = &mut topology.groups[usize::from(number)];
        if group.members.is_spared(member) {
            group.members.return_to(member, 0, &group.geometry);
        }
        group.members.copy(member, false);
        group.copies.retain(|copy| copy.member != member);
        Some(fitted.remove(place).drive)
    }
}
