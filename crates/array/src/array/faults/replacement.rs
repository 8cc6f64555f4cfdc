//! New drives in the places of failed ones.
//!
//! Model: where the failures of a group say when, or after how long, whoever looks after the array puts a new drive of the
//! same kind into the bay of a failed one. If the member is still missing, it is rebuilt on the new drive. If a spare has
//! taken over, the controller copies back what the spare holds (`copy_back.rs`); or the spare stays what it has become, and the
//! new drive is a spare in its stead, for the same group or for all: a member that waits for one, of whatever group, gets it
//! at once. So do arrays without copying back, as the MSA families and Linux md (both from memory).
//!
//! Limits: a new drive is as worn and has as much in its buffer as the one that it replaces. What was lost stays lost. Of
//! several drives of a member that have failed, the one that failed first is replaced first.

use super::Faults;
use super::copy_back::Bay;
use super::incidents::What;
use crate::array::topology::Topology;
use crate::calendar::Event;
use crate::raid::{MemberState, SpareSpec};

/// A new drive on its way to a member that has failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coming {
    group: u16,
    member: u16,
}

impl Faults {
    /// Sets the events of the new drives that are written down.
    pub(super) fn expect_drives(&mut self, topology: &mut Topology) {
        for (coming, group) in std::mem::take(&mut self.written) {
            self.expect_drive(topology, coming.time_ns, Coming { group, member: coming.member });
        }
    }

    fn expect_drive(&mut self, topology: &mut Topology, time_ns: u64, coming: Coming) {
        topology.calendar.add(time_ns, Event::Replacement, self.coming.len() as u32);
        self.coming.push(coming);
    }

    /// A drive has failed that stood for a member: a new one comes after the group's time, if it has one.
    pub(super) fn order_drive(&mut self, topology: &mut Topology, bay: Bay) {
        self.failed.push(bay);
        let Bay { group, member, .. } = bay;
        let after_ns = self.replaced_after_ns[usize::from(group)];
        if let Some(time_ns) = after_ns.and_then(|after_ns| topology.now_ns.checked_add(after_ns)) {
            self.expect_drive(topology, time_ns, Coming { group, member });
        }
    }

    /// A new drive has come, for the first of the member's drives that have failed; without one it is of no use.
    pub(in crate::array) fn drive_comes(&mut self, topology: &mut Topology, number: u32) {
        let Coming { group, member } = self.coming[number as usize];
        let failed = &mut self.failed;
        let of_it = |bay: &Bay| (bay.group, bay.member) == (group, member);
        let Some(place) = failed.iter().position(of_it) else { return };
        let bay = failed.remove(place);
        let found = &topology.groups[usize::from(group)];
        if found.members.state(member) == MemberState::Failed {
            self.take_place(topology, bay, What::Renewed);
        } else if found.members.is_spared(member) || found.gives_back(member, bay.drive) {
            self.copy_back(topology, bay);
        } else {
            let taken = found.drives[usize::from(member)];
            // A spare in its own stead, or in that of the one that has taken over.
            let spare = self.stops_serving(bay.drive).or_else(|| self.serving(taken));
            let dedicated = spare.map_or(Some(group), |spare| spare.group);
            self.note(topology, group, member, What::SpareRenewed);
            self.spares.add(SpareSpec { device: bay.drive, group: dedicated });
            self.replace_waiting(topology);
        }
    }

    /// Members that wait for a spare get what there is, in order of groups and members.
    pub(super) fn replace_waiting(&mut self, topology: &mut Topology) {
        for group in 0..topology.groups.len() as u16 {
            for member in 0..topology.groups[usize::from(group)].members.count() {
                if topology.groups[usize::from(group)].members.state(member) == MemberState::Failed {
                    self.replace(topology, group, member);
                }
            }
        }
    }
}
