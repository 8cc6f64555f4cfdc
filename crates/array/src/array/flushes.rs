//! Flushes on their way to devices.
//!
//! Model: a flush ends at a controller that keeps writes, since its cache survives a loss of power. Behind any other it goes
//! to every drive that has reported writes and not carried them out, and ends when the last of them has.
//!
//! Limits: it concerns all groups, also those that its volume does not lie on, and costs the first controller only; a command
//! of it is on no link. A write that asks to be durable itself is not known here.

use super::{Array, Issued, Job, Kind};
use crate::raid::MemberState;
use crate::slab::NONE;

impl Array {
    /// A controller has taken a flush in.
    pub(super) fn flush_job(&mut self, number: u32) {
        let Job { group, share, .. } = self.jobs[number];
        let mut operation = NONE;
        for owner in 0..self.groups.len() {
            for member in 0..usize::from(self.groups[owner].members.count()) {
                let Some(drive) = self.owing_drive(owner, member) else { continue };
                if operation == NONE {
                    operation = self.new_operation(Kind::Flush, group, share.extent);
                    self.wait_for(number, operation);
                }
                self.flush_drive(operation, drive, self.groups[owner].controller);
            }
        }
        if operation == NONE {
            self.answer(number, self.now_ns);
        }
    }

    /// The drive of a member that has to be flushed.
    fn owing_drive(&self, group: usize, member: usize) -> Option<u16> {
        let group = &self.groups[group];
        let controller = &self.controllers[usize::from(group.controller)];
        let keeps_writes = controller.writes_back && controller.cache.is_some();
        let drive = group.drives[member];
        let is_there = group.members.state(member as u16) != MemberState::Failed;
        (!keeps_writes && is_there && self.drives[usize::from(drive)].device.owes_writes()).then_some(drive)
    }

    fn flush_drive(&mut self, owner: u32, drive: u16, controller: u16) {
        let processor = &mut self.controllers[usize::from(controller)];
        if processor.command_ns > 0 {
            processor.cpu.work(self.now_ns, processor.command_ns);
        }
        let offered_ns = self.now_ns;
        let issued = Issued { owner, drive, controller, write: true, offered_ns, ..Issued::BLANK };
        let command = self.commands.insert(issued);
        self.operations[owner].left += 1;
        self.drives[usize::from(drive)].device.flush(command);
        self.start_device(drive);
    }
}
