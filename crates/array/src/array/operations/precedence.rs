//! Requests before destages: how many destages a write-back controller sends to a drive that also serves requests.
//!
//! Model: while a drive has commands that requests wait for, it gets at most n commands of destages. The rest wait first in,
//! first out, and the next is sent when a command has ended. A drive without commands of requests takes all of them. With D
//! pages dirty, the high watermark H, room for F dirty pages and `destage_per_device` N,
//!
//! - n = 1 for D ≤ H,
//! - n = 1 + ⌊(N − 1) (D − H) / (F − H)⌋ for H < D < F,
//! - no limit for D ≥ F, or while a request waits for room.
//!
//! With n = 1 the drive takes a request between two destages, however near the next of them lies; with none, rows would stay
//! locked. That the pace follows what is dirty is linear threshold scheduling (A. Varma, Q. Jacobson, IEEE Trans. Computers
//! 47(2), 1998), here by the number of writes outstanding (B. Gill, D. Modha, FAST 2005, section IV-E), from the high watermark
//! up; between the marks whole batches go as far as requests leave the drives to them.
//!
//! Limits: what is read ahead counts as asked for; rebuilds have a priority of their own (`raid/throttle.rs`).

use super::command::{Issued, Rank};
use crate::array::topology::Topology;
use crate::slab::{NONE, Slab};

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

    /// Whether a command may go to its drive now; otherwise it is held back.
    #[inline(never)]
    pub(super) fn goes_now(&mut self, issued: &mut Slab<Issued>, topology: &Topology, number: u32) -> bool {
        let command = &issued[number];
        match command.rank {
            Rank::Request => self.requests += 1,
            Rank::Destage => {
                let controller = &topology.controllers[usize::from(command.controller)];
                if !self.has_room(controller.destages_beside_requests()) {
                    self.hold(issued, number);
                    return false;
                }
                self.destages += 1;
            }
            Rank::Other => {}
        }
        true
    }

    fn hold(&mut self, issued: &mut Slab<Issued>, number: u32) {
        issued[number].next = NONE;
        let last = std::mem::replace(&mut self.held.1, number);
        if self.held.0 == NONE {
            self.held.0 = number;
        } else {
            issued[last].next = number;
        }
    }

    /// A command of a request or of a destage has ended; whether something is held back.
    #[inline(always)]
    pub(super) const fn ended(&mut self, rank: Rank) -> bool {
        match rank {
            Rank::Other => return false,
            Rank::Request => self.requests -= 1,
            Rank::Destage => self.destages -= 1,
        }
        self.held.0 != NONE
    }

    /// Takes the first destage that was held back, if there is room for it beside the requests.
    pub(super) fn next_held(&mut self, issued: &Slab<Issued>, beside_requests: u32) -> Option<u32> {
        let first = self.held.0;
        if first == NONE || !self.has_room(beside_requests) {
            return None;
        }
        self.held.0 = issued[first].next;
        self.destages += 1;
        Some(first)
    }
}
