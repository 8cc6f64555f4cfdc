//! New drives in the places of failed ones.
//!
//! Model: where the failures of a group say after how long, whoever looks after the array puts a new drive of the same kind
//! into the slot of a failed one. If the member is still missing, it is rebuilt on the new drive. If a spare has taken over,
//! the spare stays what it has become and the new drive is a spare in its stead, for the same group or for all; a member
//! that waits for one, of whatever group, gets it at once. So do arrays without copying back, as the MSA families (from
//! memory).
//!
//! Limits: nothing is copied back to the new drive, as Smart Arrays do (from memory). It is as worn and has as much in its
//! buffer as the one that it replaces. What was lost stays lost.

use super::Array;
use super::incidents::What;
use crate::calendar::Event;
use crate::raid::{MemberState, SpareSpec};

/// A new drive on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coming {
    group: u16,
    member: u16,
    /// The slot that it is put into: that of the drive that failed.
    drive: u16,
}

impl Array {
    /// A drive has failed that stood for a member: a new one comes after the group's time, if it has one.
    pub(super) fn order_drive(&mut self, group: u16, member: u16, drive: u16) {
        let Some(after_ns) = self.faults.replaced_after_ns[usize::from(group)] else { return };
        let number = self.faults.coming.len() as u32;
        self.faults.coming.push(Coming { group, member, drive });
        if let Some(time_ns) = self.now_ns.checked_add(after_ns) {
            self.calendar.add(time_ns, Event::Replacement, number);
        }
    }

    /// A new drive has come.
    pub(super) fn drive_comes(&mut self, number: u32) {
        let Coming { group, member, drive } = self.faults.coming[number as usize];
        let found = &self.groups[usize::from(group)];
        if found.members.state(member) == MemberState::Failed {
            self.take_place(group, member, drive, What::Renewed);
            return;
        }
        let taken = found.drives[usize::from(member)];
        let spare = self.faults.serving.iter().find(|spare| spare.device == taken);
        let dedicated = spare.map_or(Some(group), |spare| spare.group);
        self.note(group, member, What::SpareRenewed);
        self.faults.spares.add(SpareSpec { device: drive, group: dedicated });
        self.replace_waiting();
    }

    /// Members that wait for a spare get what there is, in order of groups and members.
    fn replace_waiting(&mut self) {
        for group in 0..self.groups.len() as u16 {
            for member in 0..self.groups[usize::from(group)].drives.len() as u16 {
                if self.groups[usize::from(group)].members.state(member) == MemberState::Failed {
                    self.replace(group, member);
                }
            }
        }
    }
}
