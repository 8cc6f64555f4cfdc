//! Trims on their way to devices.
//!
//! Model: a trim moves no data. Its controller forgets what it has read of it and makes a command for every device that holds
//! data of it; each device forgets the contents at once and needs the time of a command for it.
//!
//! Limits: trims wait for nothing and hold nothing up, neither links nor other commands nor rows; what the cache is to write
//! yet is written afterwards.

use super::{Array, Issued, Job, Kind};
use crate::calendar::Event;
use crate::raid::Piece;

impl Array {
    /// A controller has taken a trim in.
    pub(super) fn trim_job(&mut self, number: u32) {
        self.forget(number);
        let Job { group, share, .. } = self.jobs[number];
        let mut pieces = std::mem::take(&mut self.scratch.pieces);
        pieces.clear();
        let found = &self.groups[usize::from(group)];
        found.geometry.trim(share.extent, &found.members, &mut pieces);
        if pieces.is_empty() {
            self.answer(number, self.now_ns);
        } else {
            let operation = self.new_operation(Kind::Trim, group, share.extent);
            self.wait_for(number, operation);
            self.operations[operation].left = pieces.len() as u32;
            pieces.iter().for_each(|piece| self.trim_piece(operation, group, piece));
        }
        self.scratch.pieces = pieces;
    }

    fn trim_piece(&mut self, owner: u32, group: u16, &Piece { device, lba, sectors, .. }: &Piece) {
        let group = &self.groups[usize::from(group)];
        let (controller, drive) = (group.controller, group.drives[usize::from(device)]);
        let processor = &mut self.controllers[usize::from(controller)];
        if processor.command_ns > 0 {
            processor.cpu.work(self.now_ns, processor.command_ns);
        }
        let trimmed = &mut self.drives[usize::from(drive)].device;
        trimmed.trim(lba, u64::from(sectors));
        let end_ns = self.now_ns + trimmed.trimming_ns();
        let issued =
            Issued { owner, drive, controller, write: true, sectors, lba, offered_ns: self.now_ns, ..Issued::BLANK };
        let command = self.commands.insert(issued);
        self.calendar.add(end_ns, Event::DeviceTrimmed, command);
    }

    /// A device has carried out a trim.
    pub(super) fn finish_trim(&mut self, number: u32) {
        let Issued { owner, drive, offered_ns, .. } = self.commands.remove(number);
        let account = &mut self.drives[usize::from(drive)].account;
        account.operations += 1;
        account.resident_ns += self.now_ns - offered_ns;
        let waiting = &mut self.operations[owner];
        waiting.ready_ns = self.now_ns;
        waiting.left -= 1;
        if waiting.left == 0 {
            self.end_phase(owner);
        }
    }
}
