//! Commands on their way to devices and back.
//!
//! Model: what is written has passed the links before a disk hears of it; a flash drive's interface takes it while the links
//! bring it, and what is read leaves by the device's interface and passes the links meanwhile, so that both take the slower of
//! the two. Limits: reads take the links in order of their ends; a disk that reports a write early has taken it over links and
//! interface one after the other.

use super::command::{Issued, Origin, Rank};
use super::precedence::Precedence;
use crate::array::topology::Topology;
use crate::calendar::Event;
use crate::device::Command;
use crate::link::{Direction, Transfer, carry, slowest_ns};
use crate::raid::Piece;
use crate::slab::{NONE, Slab};

/// Arrays of fewer drives are near the processor anyway.
const EXPECTED_FROM: usize = 16;

/// All commands that are under way or held back.
#[derive(Debug)]
pub(super) struct Commands {
    pub(super) issued: Slab<Issued>,
    /// By drive.
    pub(super) precedence: Vec<Precedence>,
}

const fn transfer(topology: &Topology, sectors: u32, direction: Direction) -> Transfer {
    Transfer { now_ns: topology.now_ns, ready_ns: topology.now_ns, bytes: sectors as u64 * 512, direction }
}

impl Commands {
    pub(super) fn new(drives: usize) -> Self {
        Self { issued: Slab::new(Issued::BLANK), precedence: vec![Precedence::NONE; drives] }
    }

    /// Makes a command of a piece, before another in a line.
    #[inline(always)]
    fn prepare(&mut self, topology: &mut Topology, origin: Origin, piece: &Piece, next: u32) -> u32 {
        let group = &topology.groups[usize::from(origin.group)];
        debug_assert!(
            piece.write || group.members.serves(piece),
            "{piece:?} is read of a member that does not have it"
        );
        let (controller, drive) = (group.controller, group.drives[usize::from(piece.device)]);
        let Piece { write, lba, sectors, .. } = *piece;
        topology.drives[usize::from(drive)].sent_lba = lba + u64::from(sectors);
        let Origin { owner, rank, .. } = origin;
        self.issued.insert(Issued { owner, drive, controller, write, rank, sectors, lba, offered_ns: 0, next })
    }

    /// Makes commands of pieces, one behind the other; the first of them.
    #[inline(always)]
    pub(super) fn prepare_line(&mut self, topology: &mut Topology, origin: Origin, writes: &[Piece]) -> u32 {
        let mut first = NONE;
        if !topology.groups[usize::from(origin.group)].copies.is_empty() {
            first = self.prepare_copied(topology, origin, writes);
        }
        for piece in writes.iter().rev() {
            first = self.prepare(topology, origin, piece, first);
        }
        first
    }

    /// Makes commands of pieces of another group before others in a line; the first of all.
    pub(super) fn prepare_before(
        &mut self,
        topology: &mut Topology,
        origin: Origin,
        writes: &[Piece],
        mut first: u32,
    ) -> u32 {
        for piece in writes.iter().rev() {
            first = self.prepare(topology, origin, piece, first);
        }
        first
    }

    /// Makes commands of what a write has to bring to new drives as well.
    #[cold]
    fn prepare_copied(&mut self, topology: &mut Topology, origin: Origin, writes: &[Piece]) -> u32 {
        let mut first = NONE;
        for piece in writes {
            if let Some(copied) = topology.groups[usize::from(origin.group)].copied(piece) {
                first = self.prepare(topology, origin, &copied, first);
            }
        }
        first
    }

    /// The commands of a line set off; how many they are.
    pub(super) fn issue_line(&mut self, topology: &mut Topology, first: u32) -> u32 {
        let (mut next, mut count) = (first, 0);
        while next != NONE {
            let command = next;
            next = self.issued[command].next;
            self.issue(topology, command);
            count += 1;
        }
        count
    }

    /// Makes a command of a piece, which sets off.
    #[inline]
    pub(super) fn issue_piece(&mut self, topology: &mut Topology, origin: Origin, piece: &Piece) {
        let command = self.prepare(topology, origin, piece, NONE);
        self.issue(topology, command);
    }

    /// The same where nothing is held back.
    #[inline(always)]
    pub(super) fn send_piece(&mut self, topology: &mut Topology, origin: Origin, piece: &Piece) {
        let command = self.prepare(topology, origin, piece, NONE);
        self.send(topology, command);
    }

    /// A command sets off to its device, or is held back for others.
    #[inline(always)]
    fn issue(&mut self, topology: &mut Topology, number: u32) {
        let Issued { drive, rank, .. } = self.issued[number];
        if rank == Rank::Other || self.precedence[usize::from(drive)].goes_now(&mut self.issued, topology, number) {
            self.send(topology, number);
        }
    }

    /// A command goes to its device: what is to be written goes over the links first.
    #[inline(always)]
    fn send(&mut self, topology: &mut Topology, number: u32) {
        let Issued { drive, controller, write, sectors, .. } = self.issued[number];
        topology.make_command(controller);
        if write {
            let transfer = transfer(topology, sectors, Direction::Down);
            let found = &topology.drives[usize::from(drive)];
            let arrived_ns = carry(&mut topology.links, &found.write_path, transfer);
            // The command runs ahead of what the interface takes as it comes.
            let taking_ns =
                found.device.taking_ns(sectors).min(slowest_ns(&topology.links, &found.write_path, transfer.bytes));
            let offered_ns = arrived_ns.saturating_sub(taking_ns);
            if offered_ns > topology.now_ns {
                topology.calendar.add(offered_ns, Event::DeviceOffer, number);
                return;
            }
        }
        self.offer(topology, number);
    }

    /// A command has reached its device.
    #[inline(always)]
    pub(super) fn offer(&mut self, topology: &mut Topology, number: u32) {
        let command = &mut self.issued[number];
        command.offered_ns = topology.now_ns;
        let Issued { drive, write, sectors, lba, .. } = *command;
        let command = Command { handle: number, write, lba, sectors };
        let device = &mut topology.drives[usize::from(drive)].device;
        device.offer(command, topology.now_ns);
        if device.may_start() {
            topology.start_device(drive);
        }
    }

    /// The next command that ends will be looked at soon.
    #[inline]
    pub(super) fn expect_next_end(&self, topology: &Topology) {
        if is_near(topology) {
            return;
        }
        if let Some((Event::DeviceFinish, index)) = topology.calendar.peek_far() {
            self.issued.expect(index);
        }
    }

    /// A device has finished a command that is no longer listed; when what it read, if it did, has passed the links.
    #[inline(always)]
    pub(super) fn end(&mut self, topology: &mut Topology, number: u32, command: &Issued) -> u64 {
        let Issued { drive, controller, write, rank, sectors, offered_ns, .. } = *command;
        let now_ns = topology.now_ns;
        let found = &mut topology.drives[usize::from(drive)];
        found.device.finish(number, now_ns);
        found.account.operations += 1;
        found.account.bytes += u64::from(sectors) * 512;
        found.account.resident_ns += now_ns - offered_ns;
        let mut ready_ns = now_ns;
        if !write && !found.path.is_empty() {
            // What a drive's interface has sent, its links have carried meanwhile.
            let begin_ns = now_ns.saturating_sub(found.device.sending_ns(sectors));
            let transfer = Transfer { ready_ns: begin_ns, ..transfer(topology, sectors, Direction::Up) };
            let arrived_ns = carry(&mut topology.links, &topology.drives[usize::from(drive)].path, transfer);
            ready_ns = arrived_ns.max(now_ns);
        }
        topology.start_freed_device(drive);
        if rank != Rank::Other && self.precedence[usize::from(drive)].ended(rank) {
            self.send_held(topology, drive, controller);
        }
        ready_ns
    }

    /// What was held back from a drive goes, as far as there is room for it.
    #[inline(never)]
    fn send_held(&mut self, topology: &mut Topology, drive: u16, controller: u16) {
        loop {
            let room = topology.controllers[usize::from(controller)].destages_beside_requests();
            let Some(next) = self.precedence[usize::from(drive)].next_held(&self.issued, room) else { return };
            self.send(topology, next);
        }
    }
}

/// Whether there are so few drives that nothing need be looked at before it is used.
#[inline(always)]
pub(super) fn is_near(topology: &Topology) -> bool {
    topology.drives.len() < EXPECTED_FROM
}
