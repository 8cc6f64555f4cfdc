//! What the storage is made of, and the instant that it has come to.
//!
//! Model: links, controllers, RAID groups, drives and volumes know each other by number. A stage keeps for itself what is under
//! way in it; it is lent the topology for as long as it works.

use crate::calendar::{Calendar, Event};
use crate::controller::Controller;
use crate::device::{Device, INTERNAL};
use crate::flash_cache::FlashCache;
use crate::link::Link;
use crate::raid::{Extent, Gaps, Geometry, Members, Piece, ReadChoice, RowLocks, Throttle};
use crate::station::Account;
use crate::volume::Volume;

/// See the module.
#[derive(Debug)]
pub(super) struct Topology {
    pub(super) now_ns: u64,
    pub(super) calendar: Calendar,
    pub(super) links: Vec<Link>,
    pub(super) controllers: Vec<Controller>,
    pub(super) groups: Vec<Group>,
    pub(super) drives: Vec<Drive>,
    pub(super) volumes: Vec<Volume>,
}

/// A RAID group at work.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) geometry: Geometry,
    /// What destages do with the gaps between dirty stretches of a strip.
    pub(super) gaps: Gaps,
    pub(super) members: Members,
    pub(super) locks: RowLocks,
    /// The flash before it.
    pub(super) flash_cache: Option<Box<FlashCache>>,
    /// Of the flash before another group, that one.
    pub(super) cached_group: Option<u16>,
    /// The drive that acts as each member, then the new drive of each member that is copied back.
    pub(super) drives: Vec<u16>,
    /// The members' own drives, if what a spare has taken over is copied back to them.
    pub(super) own: Option<Vec<u16>>,
    pub(super) copies: Vec<CopyBack>,
    pub(super) controller: u16,
    /// Whether it may be known what becomes of a read before it is taken in: there is no cache, no choice of copies, no failure and no
    /// limit of a volume, its controller takes requests in in their order and spends no time on commands, and its drives are of nobody
    /// else.
    pub(super) foreseen: bool,
    /// Its place among the controller's groups.
    pub(super) space: u32,
    /// The step, pace and priority of its rebuilds.
    pub(super) chunk_sectors: u32,
    pub(super) throttle: Throttle,
    /// Jobs on their way or under way, and when the last of them ended.
    pub(super) jobs: u32,
    pub(super) last_request_ns: u64,
    /// Jobs that write, as many as were sent and as have arrived with their data.
    pub(super) writes_sent: u64,
    pub(super) writes_arrived: u64,
    /// Operations under way but for those of rebuilds, and reads past the cache that need none.
    pub(super) operations: u32,
    /// When the last of them ended.
    pub(super) rested_ns: u64,
}

/// A member that is copied back.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyBack {
    pub(super) member: u16,
    /// Sectors from the start of the member that the new drive has, too.
    pub(super) copied_sectors: u64,
}

/// A device with what leads to it.
#[derive(Debug)]
pub(super) struct Drive {
    pub(super) device: Device,
    pub(super) path: Vec<u16>,
    /// The links that what is written to it passes.
    pub(super) write_path: Vec<u16>,
    pub(super) account: Account,
    /// Where the last command that its controller made for it ends.
    pub(super) sent_lba: u64,
}

/// A device has started what ends at an instant.
#[inline(always)] // a call for each command costs more than what is done
fn add_end(calendar: &mut Calendar, drive: u16, handle: u32, end_ns: u64) {
    if handle == INTERNAL {
        calendar.add(end_ns, Event::DeviceInternal, u32::from(drive));
    } else {
        calendar.add(end_ns, Event::DeviceFinish, handle);
    }
}

impl Topology {
    /// A controller makes a command, which delays only what its processor does afterwards.
    #[inline(always)]
    pub(super) fn make_command(&mut self, controller: u16) {
        let controller = &mut self.controllers[usize::from(controller)];
        if controller.command_ns > 0 {
            controller.cpu.work(self.now_ns, controller.command_ns);
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
    pub(super) fn start_freed_device(&mut self, drive: u16) {
        match &mut self.drives[usize::from(drive)].device {
            Device::Disk(disk) if !disk.has_answers() => {
                if let Some((handle, end_ns)) = disk.start_next(self.now_ns) {
                    add_end(&mut self.calendar, drive, handle, end_ns);
                }
            }
            _ => self.start_device(drive),
        }
    }

    /// A device has done a piece of its own work.
    pub(super) fn finish_internal(&mut self, drive: u32) {
        self.drives[drive as usize].device.finish(INTERNAL, self.now_ns);
        self.start_device(drive as u16);
    }

    /// Whether all members of a group are present.
    pub(super) fn is_whole(&self, group: u16) -> bool {
        self.groups[usize::from(group)].members.is_whole()
    }

    /// Somebody uses the cache of a group's controller.
    #[inline]
    pub(super) fn touch_cache(&mut self, group: u16) {
        let number = self.groups[usize::from(group)].controller;
        let controller = &mut self.controllers[usize::from(number)];
        let Some(cache) = &controller.cache else { return };
        if let Some(due_ns) = controller.destager.used(self.now_ns, cache.dirty_pages()) {
            self.calendar.add(due_ns, Event::CacheIdle, number.into());
        }
    }

    /// The cache of a group's controller gives up what it has read of an extent.
    pub(super) fn forget(&mut self, group: u16, extent: Extent) {
        let group = &self.groups[usize::from(group)];
        if let Some(cache) = &mut self.controllers[usize::from(group.controller)].cache {
            cache.forget(group.space, extent);
        }
    }
}

/// Of two copies with equally many commands waiting, the nearer one counts; a distance has the lower bits of the cost.
const DISTANCE_BITS: u32 = 48;
const DISTANCE_MAX: u64 = (1 << DISTANCE_BITS) - 1;

impl Group {
    /// Something that it did but for rebuilding has ended.
    #[inline]
    pub(super) const fn rest(&mut self, now_ns: u64) {
        self.operations -= 1;
        self.rested_ns = now_ns;
    }

    /// What a copy of a mirror would cost, by which the one that is read is chosen.
    pub(super) fn cost<'a>(&'a self, drives: &'a [Drive], now_ns: u64) -> impl Fn(u16, u64) -> u64 + 'a {
        let choice = self.geometry.read_choice();
        move |member, lba| {
            let drive = &drives[usize::from(self.drives[usize::from(member)])];
            let device = &drive.device;
            match choice {
                ReadChoice::LeastQueued => {
                    (device.outstanding() as u64) << DISTANCE_BITS | drive.sent_lba.abs_diff(lba).min(DISTANCE_MAX)
                }
                // A busy copy is later by every command before it; positioning alone, or none, would send all to one.
                _ => device.positioning_ns(lba, false, now_ns).max(1) * (device.outstanding() as u64 + 1),
            }
        }
    }

    /// The index of a member's new drive in the list of drives.
    pub(super) const fn place_of_new(&self, member: u16) -> u16 {
        self.members.count() + member
    }

    /// Whether a drive that comes is the member's own and a spare is to give back to it.
    pub(super) fn gives_back(&self, member: u16, drive: u16) -> bool {
        self.own.as_ref().is_some_and(|own| own[usize::from(member)] == drive)
    }

    /// What of a written piece goes to a new drive as well.
    pub(super) fn copied(&self, piece: &Piece) -> Option<Piece> {
        let found = self.copies.iter().find(|copy| copy.member == piece.device)?;
        let sectors = found.copied_sectors.min(piece.end()).checked_sub(piece.lba).filter(|&sectors| sectors > 0)?;
        Some(Piece { device: self.place_of_new(piece.device), sectors: sectors as u32, ..*piece })
    }
}
