//! Flushes on their way to devices.
//!
//! Model: a flush ends at a controller that keeps writes, since its cache survives a loss of power. Behind any other it goes
//! to every drive that has reported writes and not carried them out, and ends when the last of them has.
//!
//! Limits: it concerns all groups, also those that its volume does not lie on, and costs the first controller only; a command
//! of it is on no link. A write that asks to be durable itself is not known here.

use super::command::Issued;
use super::{Kind, Operations};
use crate::array::topology::Topology;
use crate::raid::{Extent, MemberState};

impl Operations {
    /// Begins a flush of all drives that owe writes; nothing if none does.
    pub(in crate::array) fn flush(&mut self, topology: &mut Topology, group: u16, extent: Extent) -> Option<u32> {
        let mut operation = None;
        for owner in 0..topology.groups.len() {
            for member in 0..usize::from(topology.groups[owner].members.count()) {
                let Some(drive) = owing_drive(topology, owner, member) else { continue };
                let number = *operation.get_or_insert_with(|| self.begin(topology, Kind::Flush, group, extent));
                self.flush_drive(topology, number, drive, topology.groups[owner].controller);
            }
        }
        operation
    }

    fn flush_drive(&mut self, topology: &mut Topology, owner: u32, drive: u16, controller: u16) {
        topology.make_command(controller);
        let offered_ns = topology.now_ns;
        let issued = Issued { owner, drive, controller, write: true, offered_ns, ..Issued::BLANK };
        let command = self.commands.issued.insert(issued);
        self.operations[owner].left += 1;
        topology.drives[usize::from(drive)].device.flush(command);
        topology.start_device(drive);
    }
}

/// The drive of a member that has to be flushed.
fn owing_drive(topology: &Topology, group: usize, member: usize) -> Option<u16> {
    let group = &topology.groups[group];
    let controller = &topology.controllers[usize::from(group.controller)];
    let keeps_writes = controller.writes_back && controller.cache.is_some();
    let drive = group.drives[member];
    let is_there = group.members.state(member as u16) != MemberState::Failed && !group.members.is_spared(member as u16);
    (!keeps_writes && is_there && topology.drives[usize::from(drive)].device.owes_writes()).then_some(drive)
}
