//! Requests in the order of their instants, as far as a window of them shows it.
//!
//! Model: as many requests wait as the window holds; the earliest goes first, of equal instants the one that came first.
//! One that comes later still is set to the instant before it. Those that come in order wait in a queue, and only the
//! others in a heap, so that a trace in order costs no comparisons to speak of.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::request::Request;
use crate::tally::Tally;

/// Requests that wait for earlier ones to show up.
pub const WINDOW: usize = 16_384;

/// An instant, and the number of the request by which equal ones are told apart.
type Due = (u64, u64);

/// The window.
#[derive(Debug, Default)]
pub struct Ordering {
    in_order: VecDeque<(Due, Request)>,
    late: BinaryHeap<Reverse<(Due, Late)>>,
    came: u64,
    latest_ns: u64,
    last_ns: u64,
}

/// A request that plays no part in comparing.
#[derive(Debug)]
struct Late(Request);

impl Ordering {
    /// Takes a request, or the end of them; gives the next with its instant, which never steps back, once the window is full.
    #[inline]
    pub fn take(&mut self, request: Option<Request>, changes: &mut Tally) -> Option<(u64, Request)> {
        let Some(request) = request else {
            let ((at_ns, _), first) = self.earliest()?;
            self.last_ns = self.last_ns.max(at_ns);
            return Some((self.last_ns, first));
        };
        let at_ns = request.at_ns.unwrap_or(0);
        let due = (at_ns, self.came);
        self.came += 1;
        if at_ns < self.latest_ns {
            changes.count("put in order");
            self.late.push(Reverse((due, Late(request))));
        } else {
            self.latest_ns = at_ns;
            self.in_order.push_back((due, request));
        }
        if self.in_order.len() + self.late.len() <= WINDOW {
            return None;
        }
        let ((at_ns, _), first) = self.earliest()?;
        if at_ns < self.last_ns {
            changes.count("set later");
        }
        self.last_ns = self.last_ns.max(at_ns);
        Some((self.last_ns, first))
    }

    #[inline]
    fn earliest(&mut self) -> Option<(Due, Request)> {
        let late_is_first = match (self.in_order.front(), self.late.peek()) {
            (Some((in_order, _)), Some(Reverse((late, _)))) => late < in_order,
            (None, Some(_)) => true,
            _ => false,
        };
        if late_is_first {
            return self.late.pop().map(|Reverse((due, Late(request)))| (due, request));
        }
        self.in_order.pop_front()
    }
}

impl PartialEq for Late {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Late {}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Late {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}
