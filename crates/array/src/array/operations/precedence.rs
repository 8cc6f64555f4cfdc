//! Requests before destages: what a controller that keeps writes holds back from a drive.
//!
//! Model: beside commands that requests wait for, a drive has n commands of destages at most; the others are held back, first
//! in, first out, and go when a command has ended. A drive without commands of requests takes all that there are. With D pages
//! dirty, the high watermark H, room for F dirty pages and `destage_per_device` N,
//!
//! - n = 1 for D ≤ H,
//! - n = 1 + ⌊(N − 1) (D − H) / (F − H)⌋ for H < D < F,
//! - all that there are for D ≥ F, or while somebody waits for room.
//!
//! With n = 1 the drive takes a request between two destages, however near the next of them lies; with none, rows would stay
//! locked. That the pace follows what is dirty is linear threshold scheduling (A. Varma, Q. Jacobson, IEEE Trans. Computers
//! 47(2), 1998), here by the number of writes outstanding (B. Gill, D. Modha, FAST 2005, section IV-E), from the high watermark
//! up; between the marks whole batches go as far as requests leave the drives to them.
//!
//! Limits: what is read ahead counts as asked for; rebuilds have a priority of their own (`raid/throttle.rs`).

use super::commands::Commands;
use crate::array::topology::Topology;
use crate::slab::NONE;

/// For whom a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// A request.
    Request,
    /// A destage.
    Destage,
    /// Neither is it held back, nor is anything for it.
    Other,
}

/// What a drive has of each rank.
#[derive(Clone, Debug)]
pub(super) struct Precedence {
    requests: u32,
    destages: u32,
    /// Destages that are held back: first and last.
    held: (u32, u32),
}

impl Precedence {
    pub(super) const NONE: Self = Self { requests: 0, destages: 0, held: (NONE, NONE) };

    const fn has_room(&self, beside_requests: u32) -> bool {
        self.requests == 0 || self.destages < beside_requests
    }
}

impl Commands {
    /// Whether a command may go to its drive now; otherwise it is held back.
    #[inline(never)]
    pub(super) fn goes_now(&mut self, topology: &Topology, number: u32) -> bool {
        let command = &self.issued[number];
        let precedence = &mut self.precedence[usize::from(command.drive)];
        match command.rank {
            Rank::Request => precedence.requests += 1,
            Rank::Destage => {
                let controller = &topology.controllers[usize::from(command.controller)];
                if !precedence.has_room(controller.destages_beside_requests()) {
                    self.hold(number);
                    return false;
                }
                precedence.destages += 1;
            }
            Rank::Other => {}
        }
        true
    }

    fn hold(&mut self, number: u32) {
        let command = &mut self.issued[number];
        command.next = NONE;
        let held = &mut self.precedence[usize::from(command.drive)].held;
        let last = std::mem::replace(&mut held.1, number);
        if held.0 == NONE {
            held.0 = number;
        } else {
            self.issued[last].next = number;
        }
    }

    /// A command of a rank has ended at a drive: what was held back goes, as far as there is room for it.
    #[inline(always)]
    pub(super) fn make_way(&mut self, topology: &mut Topology, drive: u16, controller: u16, rank: Rank) {
        if rank == Rank::Other {
            return;
        }
        let precedence = &mut self.precedence[usize::from(drive)];
        if rank == Rank::Request {
            precedence.requests -= 1;
        } else {
            precedence.destages -= 1;
        }
        if precedence.held.0 != NONE {
            self.send_held(topology, drive, controller);
        }
    }

    #[inline(never)]
    fn send_held(&mut self, topology: &mut Topology, drive: u16, controller: u16) {
        loop {
            let precedence = &mut self.precedence[usize::from(drive)];
            let first = precedence.held.0;
            let controller = &topology.controllers[usize::from(controller)];
            if first == NONE || !precedence.has_room(controller.destages_beside_requests()) {
                return;
            }
            precedence.held.0 = self.issued[first].next;
            precedence.destages += 1;
            self.send(topology, first);
        }
    }
}
