//! What holds a closed lane back besides its queue depth: refilling in waves, pauses, a ratio to other lanes, overlaps.
//!
//! Model: the slots of a held lane that have nothing to do wait in its `free` list. Before each request the gate is asked;
//! it lets the request pass, or says that the next completion or an instant has to come first. A pause is due after so many
//! requests or so much time, and begins when nothing of the lane is outstanding. A share lets a lane pass while its part of
//! all requests of its group is not above its part of the group's weight, which is fio's rule. A flush that holds its lane is the lane's own
//! matter, because it holds open lanes, too.
//!
//! Limits: lanes of one group on different workers look at each other's counts every [`LOOK_NS`]; so their ratio holds to
//! within the requests of that time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_workload::plan::HoldPlan;

/// How long a lane that is ahead of its group waits before it looks again.
const LOOK_NS: u64 = 50_000;
/// Weights are kept in millionths.
const WEIGHT_UNIT: f64 = 1e6;

/// What the lanes of a group know of each other.
#[derive(Debug, Default)]
pub(crate) struct ShareGroup {
    issued: AtomicU64,
    weight: AtomicU64,
}

impl ShareGroup {
    /// Adds a lane of this weight.
    pub(crate) fn join(&self, weight: f64) {
        self.weight.fetch_add(millionths(weight), Ordering::Relaxed);
    }
}

fn millionths(weight: f64) -> u64 {
    (weight * WEIGHT_UNIT) as u64
}

/// A lane's part in its group.
#[derive(Debug)]
struct Share {
    group: Arc<ShareGroup>,
    weight: u64,
    issued: u64,
}

impl Share {
    /// Whether the lane has issued more than its part.
    fn is_ahead(&self) -> bool {
        let all = u128::from(self.group.issued.load(Ordering::Relaxed));
        let weight = u128::from(self.group.weight.load(Ordering::Relaxed));
        u128::from(self.issued) * weight > u128::from(self.weight) * all
    }

    fn count(&mut self) {
        self.issued += 1;
        self.group.issued.fetch_add(1, Ordering::Relaxed);
    }
}

/// Leaving the group keeps the others' ratio among themselves.
impl Drop for Share {
    fn drop(&mut self) {
        self.group.issued.fetch_sub(self.issued, Ordering::Relaxed);
        self.group.weight.fetch_sub(self.weight, Ordering::Relaxed);
    }
}

/// What a lane may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Issue a request.
    Issue,
    /// Wait for a completion.
    Completion,
    /// Wait until this instant.
    Until(u64),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Gate {
    plan: HoldPlan,
    depth: u32,
    outstanding: u32,
    /// Whether the queue has been full and not yet fallen to where it is filled up again.
    draining: bool,
    since_pause: u64,
    /// When the work since the last pause began.
    working_since_ns: Option<u64>,
    paused_until_ns: u64,
    share: Option<Share>,
    /// Whether a timer of the lane is set.
    pub(crate) armed: bool,
    /// A slot whose request waits for those it overlaps.
    pub(crate) held: Option<u32>,
    /// Slots whose requests' delays ended while a flush held the lane.
    pub(crate) delayed: Vec<u32>,
    /// The slots that are outstanding, where requests wait for those they overlap.
    pub(crate) busy: Vec<u32>,
}

impl Gate {
    /// The gate of a lane, if its stream has one; it has joined its group before.
    pub(crate) fn new(plan: HoldPlan, depth: u32, group: Option<Arc<ShareGroup>>) -> Option<Self> {
        if plan == HoldPlan::NONE {
            return None;
        }
        let weight = millionths(plan.share.map_or(1.0, |share| share.1));
        Some(Self {
            plan,
            depth,
            outstanding: 0,
            draining: false,
            since_pause: 0,
            working_since_ns: None,
            paused_until_ns: 0,
            share: group.map(|group| Share { group, weight, issued: 0 }),
            armed: false,
            held: None,
            delayed: Vec::new(),
            busy: Vec::new(),
        })
    }

    /// What may happen at `now_ns`.
    pub(crate) fn turn(&mut self, now_ns: u64) -> Turn {
        if now_ns < self.paused_until_ns {
            return Turn::Until(self.paused_until_ns);
        }
        if self.pause_is_due(now_ns) {
            if self.outstanding > 0 {
                return Turn::Completion;
            }
            (self.since_pause, self.working_since_ns) = (0, None);
            self.paused_until_ns = now_ns + self.plan.pause_ns;
            return Turn::Until(self.paused_until_ns);
        }
        if let Some(refill_depth) = self.plan.refill_depth {
            self.draining &= self.outstanding > refill_depth;
            if self.draining {
                return Turn::Completion;
            }
        }
        if self.share.as_ref().is_some_and(Share::is_ahead) {
            return Turn::Until(now_ns + LOOK_NS);
        }
        Turn::Issue
    }

    fn pause_is_due(&self, now_ns: u64) -> bool {
        let worked_ns = self.working_since_ns.map_or(0, |since_ns| now_ns.saturating_sub(since_ns));
        self.plan.pause_ns > 0
            && (self.since_pause >= self.plan.pause_requests || worked_ns >= self.plan.pause_interval_ns)
    }

    /// The request of a slot passes.
    pub(crate) fn issued(&mut self, number: u32, now_ns: u64) {
        self.outstanding += 1;
        self.draining = self.outstanding >= self.depth;
        self.since_pause += 1;
        self.working_since_ns.get_or_insert(now_ns);
        if let Some(share) = &mut self.share {
            share.count();
        }
        if self.plan.serializes {
            self.busy.push(number);
        }
    }

    /// The request of a slot has come back.
    pub(crate) fn completed(&mut self, number: u32) {
        self.outstanding -= 1;
        self.busy.retain(|&busy| busy != number);
    }

    /// The lane issues nothing more; its group does not wait for it.
    pub(crate) fn leave(&mut self) {
        self.share = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(plan: HoldPlan, depth: u32) -> Gate {
        Gate::new(plan, depth, None).expect("the plan holds")
    }

    #[test]
    fn a_plan_that_holds_nothing_has_no_gate() {
        assert!(Gate::new(HoldPlan::NONE, 8, None).is_none());
    }

    #[test]
    fn a_queue_that_was_full_is_filled_up_when_it_has_fallen() {
        let mut gate = gate(HoldPlan { refill_depth: Some(1), ..HoldPlan::NONE }, 3);
        for _ in 0..3 {
            assert_eq!(gate.turn(0), Turn::Issue);
            gate.issued(0, 0);
        }
        gate.completed(0);
        assert_eq!(gate.turn(1), Turn::Completion, "two are outstanding");
        gate.completed(0);
        assert_eq!(gate.turn(2), Turn::Issue);
        gate.issued(0, 2);
        assert_eq!(gate.turn(2), Turn::Issue, "it is filled up, not only topped up");
    }

    #[test]
    fn a_pause_begins_when_nothing_is_outstanding() {
        let mut gate = gate(HoldPlan { pause_ns: 100, pause_requests: 2, ..HoldPlan::NONE }, 8);
        gate.issued(0, 0);
        assert_eq!(gate.turn(0), Turn::Issue);
        gate.issued(0, 0);
        assert_eq!(gate.turn(5), Turn::Completion);
        gate.completed(0);
        gate.completed(0);
        assert_eq!(gate.turn(10), Turn::Until(110));
        assert_eq!(gate.turn(60), Turn::Until(110));
        assert_eq!(gate.turn(110), Turn::Issue);
    }

    #[test]
    fn time_since_the_first_request_makes_a_pause_due() {
        let mut gate = gate(HoldPlan { pause_ns: 100, pause_interval_ns: 50, ..HoldPlan::NONE }, 8);
        gate.issued(0, 1000);
        gate.completed(0);
        assert_eq!(gate.turn(1049), Turn::Issue);
        assert_eq!(gate.turn(1050), Turn::Until(1150));
        assert_eq!(gate.turn(1150), Turn::Issue, "the next interval begins with the next request");
    }

    #[test]
    fn who_is_ahead_of_its_part_waits_until_the_others_follow_or_leave() {
        let group = Arc::new(ShareGroup::default());
        let shared = |weight: f64| {
            group.join(weight);
            let plan = HoldPlan { share: Some((0, weight)), ..HoldPlan::NONE };
            Gate::new(plan, 8, Some(Arc::clone(&group))).expect("the plan holds")
        };
        let (mut much, mut little) = (shared(3.0), shared(1.0));
        let issue = |gate: &mut Gate| {
            let passes = gate.turn(0) == Turn::Issue;
            if passes {
                gate.issued(0, 0);
            }
            passes
        };
        assert!(issue(&mut little));
        assert!(!issue(&mut little), "one of one request is more than a quarter");
        assert_eq!((0..10).filter(|_| issue(&mut much)).count(), 4, "3 of 4 is its part, and it may go one beyond");
        assert!(issue(&mut little));
        drop(much);
        assert!(issue(&mut little) && issue(&mut little), "alone it waits for nobody");
    }
}
