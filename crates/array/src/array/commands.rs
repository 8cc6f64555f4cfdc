//! Commands on their way to devices and back.
//!
//! Model: what is written has passed the links before its device hears of it; what is read leaves by the device's interface
//! and passes the links meanwhile, so that it takes the slower of the two. Limits: reads take the links in order of their
//! ends; a device that reports a write early has taken it over links and interface one after the other.

use super::{Array, Issued, OF_JOB, Operation};
use crate::calendar::{Calendar, Event};
use crate::device::{Command, Device, INTERNAL};
use crate::link::{Direction, Transfer, carry};
use crate::slab::NONE;

/// Arrays of fewer drives are near the processor anyway.
const EXPECTED_FROM: usize = 16;

/// A device has started what ends at an instant.
#[inline(always)] // a call for each command costs more than what is done
fn add_end(calendar: &mut Calendar, drive: u16, handle: u32, end_ns: u64) {
    if handle == INTERNAL {
        calendar.add(end_ns, Event::DeviceInternal, u32::from(drive));
    } else {
        calendar.add(end_ns, Event::DeviceFinish, handle);
    }
}

impl Array {
    /// A command sets off to its device, or is held back for others.
    #[inline(always)]
    pub(super) fn issue(&mut self, number: u32) {
        let controller = self.commands[number].controller;
        if !self.controllers[usize::from(controller)].writes_back || self.goes_now(number) {
            self.send(number);
        }
    }

    /// What is to be written goes over the links first.
    #[inline(always)]
    pub(super) fn send(&mut self, number: u32) {
        let Issued { drive, controller, write, sectors, .. } = self.commands[number];
        let controller = &mut self.controllers[usize::from(controller)];
        if controller.command_ns > 0 {
            controller.cpu.work(self.now_ns, controller.command_ns);
        }
        if write {
            let transfer = self.transfer(sectors, Direction::Down);
            let arrived_ns = carry(&mut self.links, &self.drives[usize::from(drive)].path, transfer);
            if arrived_ns > self.now_ns {
                self.calendar.add(arrived_ns, Event::DeviceOffer, number);
                return;
            }
        }
        self.offer(number);
    }

    const fn transfer(&self, sectors: u32, direction: Direction) -> Transfer {
        Transfer { now_ns: self.now_ns, ready_ns: self.now_ns, bytes: sectors as u64 * 512, direction }
    }

    /// What a command writes has passed the links.
    #[inline(never)]
    pub(super) fn arrive(&mut self, number: u32) {
        self.offer(number);
    }

    /// A command has reached its device.
    #[inline(always)]
    fn offer(&mut self, number: u32) {
        let command = &mut self.commands[number];
        command.offered_ns = self.now_ns;
        let Issued { drive, write, sectors, lba, .. } = *command;
        let command = Command { handle: number, write, lba, sectors };
        let device = &mut self.drives[usize::from(drive)].device;
        device.offer(command, self.now_ns);
        if device.may_start() {
            self.start_device(drive);
        }
    }

    /// Lets a device start what it can.
    #[inline(never)]
    pub(super) fn start_device(&mut self, drive: u16) {
        let calendar = &mut self.calendar;
        let device = &mut self.drives[usize::from(drive)].device;
        device.start_each(self.now_ns, |handle, end_ns| add_end(calendar, drive, handle, end_ns));
    }

    /// The same for one that has just finished something: mostly a disk, which then starts one command or none.
    #[inline(always)]
    fn start_freed_device(&mut self, drive: u16) {
        match &mut self.drives[usize::from(drive)].device {
            Device::Disk(disk) if !disk.has_answers() => {
                if let Some((handle, end_ns)) = disk.start_next(self.now_ns) {
                    add_end(&mut self.calendar, drive, handle, end_ns);
                }
            }
            _ => self.start_device(drive),
        }
    }

    /// The next command that ends will be looked at soon.
    #[inline]
    fn expect_next_end(&self) {
        if self.drives.len() < EXPECTED_FROM {
            return;
        }
        if let Some((Event::DeviceFinish, index)) = self.calendar.peek_far() {
            self.commands.expect(index);
        }
    }

    /// What a command that has ended names will be looked at, all at once rather than one after the other.
    #[inline]
    fn expect_named(&self, operation: u32, drive: u16) {
        if self.drives.len() >= EXPECTED_FROM {
            self.operations.expect(operation);
            self.drives[usize::from(drive)].device.expect();
        }
    }

    /// If this command is its operation's last, the cache will soon look at what the operation brings or writes.
    #[inline]
    fn expect_end(&self, operation: u32) {
        let Operation { group, extent, left: 1, second: NONE, page, .. } = self.operations[operation] else { return };
        let group = &self.groups[usize::from(group)];
        match &self.controllers[usize::from(group.controller)].cache {
            Some(cache) if page != NONE => cache.expect_fetched(page),
            Some(cache) => cache.expect(group.space, extent.lba, false),
            None => {}
        }
    }

    /// A device has done a piece of its own work.
    pub(super) fn finish_internal(&mut self, drive: u32) {
        self.drives[drive as usize].device.finish(INTERNAL, self.now_ns);
        self.start_device(drive as u16);
    }

    /// A device has finished a command; what was read goes over the links.
    #[inline]
    pub(super) fn finish_command(&mut self, number: u32) {
        let Issued { owner, drive, controller, write, rank, sectors, offered_ns, .. } = self.commands.remove(number);
        if owner & OF_JOB == 0 {
            self.expect_named(owner, drive);
            self.expect_end(owner);
        }
        let found = &mut self.drives[usize::from(drive)];
        found.device.finish(number, self.now_ns);
        found.account.operations += 1;
        found.account.bytes += u64::from(sectors) * 512;
        found.account.resident_ns += self.now_ns - offered_ns;
        let mut ready_ns = self.now_ns;
        if !write && !found.path.is_empty() {
            // What a drive's interface has sent, its links have carried meanwhile.
            let begin_ns = self.now_ns.saturating_sub(found.device.sending_ns(sectors));
            let transfer = Transfer { ready_ns: begin_ns, ..self.transfer(sectors, Direction::Up) };
            let arrived_ns = carry(&mut self.links, &self.drives[usize::from(drive)].path, transfer);
            ready_ns = arrived_ns.max(self.now_ns);
        }
        self.start_freed_device(drive);
        self.make_way(drive, controller, rank);
        if owner & OF_JOB != 0 {
            self.end_read_past_cache(owner & !OF_JOB, ready_ns);
        } else {
            let waiting = &mut self.operations[owner];
            waiting.ready_ns = waiting.ready_ns.max(ready_ns);
            waiting.left -= 1;
            if waiting.left == 0 {
                self.end_phase(owner);
            }
        }
        self.expect_next_end();
    }
}
