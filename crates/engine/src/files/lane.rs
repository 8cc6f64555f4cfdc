//! One thread of a stream: waits until its next operation is due, has it carried out, thinks, until it or the run ends.
//!
//! Model: what the thread draws and cannot do is skipped for something else that it draws; when nothing that it may do
//! can be done, it looks again a little later, and [`super::hunger`] tells when that is true of everybody.

use plimsoll_workload::files::FileOp;
use plimsoll_workload::plan::Budget;
use plimsoll_workload::{ArrivalPlan, Arrivals, Thinker};

use super::actor::{Act, Actor};
use crate::control::StoppedBy;
use crate::outstanding::due_in;
use crate::pause;

/// How long a thread may miss that it is told to stop.
const LOOK_NS: u64 = 20_000_000;
/// How long a thread that finds nothing to do waits before it looks again.
const HUNGRY_NS: u64 = 1_000_000;
/// Operations due and never begun that are drawn one by one, over all threads.
const STEPS_GIVEN_UP: u64 = 1 << 18;
/// Draws before every operation is tried in turn.
const REDRAWS: u32 = 8;

/// When operations are due.
pub(crate) enum Timing {
    Closed(Thinker),
    Open(Arrivals),
}

/// See the module.
pub(crate) struct Lane<'a> {
    pub(crate) actor: Actor<'a>,
    pub(crate) timing: Timing,
    pub(crate) number: usize,
    pub(crate) left: Budget,
    pub(crate) origin_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) continues: bool,
    pub(crate) lanes: usize,
    /// Operations drawn that could not be done, by operation.
    pub(crate) skipped: [u64; FileOp::COUNT],
    pub(crate) unissued: u64,
}

/// How a turn ends.
enum Turn {
    Go,
    /// The thread has done all it had to do.
    Spent,
    /// The run is over.
    Over,
}

impl<'a> Lane<'a> {
    /// The timing of one thread.
    pub(crate) fn timing(actor: &Actor<'_>, shard: u32) -> Timing {
        match actor.plan.arrival {
            ArrivalPlan::Closed { .. } => Timing::Closed(Thinker::new(actor.plan, shard)),
            ArrivalPlan::Open(_) => Timing::Open(Arrivals::new(actor.plan, shard)),
        }
    }

    /// Runs to the end, and leaves no file open.
    pub(crate) fn run(&mut self) {
        let start_ns = self.origin_ns.saturating_add(self.actor.plan.start_ns);
        let mut spent = false;
        let mut turn = match &mut self.timing {
            Timing::Closed(_) => self.wait_until(start_ns),
            Timing::Open(_) => true,
        };
        while turn {
            turn = match self.turn() {
                Turn::Go => true,
                Turn::Over => false,
                Turn::Spent => {
                    let _ = self.actor.close_open();
                    self.actor.hunger.ended(self.number);
                    self.actor.control.spend(self.lanes);
                    spent = true;
                    false
                }
            };
        }
        if self.actor.is_stopped() {
            // Promptly, so that no idle time is counted as measured.
            self.actor.watch.desk.cut(self.now());
        }
        let _ = self.actor.close_open();
        self.actor.hunger.ended(self.number);
        // Who has done its amount owes nothing.
        if !spent {
            self.count_unissued();
        }
    }

    fn turn(&mut self) -> Turn {
        let due_ns = match &mut self.timing {
            Timing::Closed(_) => None,
            Timing::Open(arrivals) => Some(self.origin_ns.saturating_add(arrivals.next_ns())),
        };
        if let Some(due_ns) = due_ns {
            self.seat_due(due_ns);
            let idle = self.now() < due_ns;
            if due_ns >= self.end_ns || !self.wait_until(due_ns) {
                self.pass_over(due_ns);
                return self.rest();
            }
            self.seat_due(u64::MAX);
            if idle {
                self.actor.watch.desk.lag(self.now().saturating_sub(due_ns));
            }
        }
        if self.actor.is_stopped() || self.now() >= self.end_ns {
            return self.last(due_ns);
        }
        let turn = self.act(due_ns);
        if let (Turn::Go, Timing::Closed(thinker)) = (&turn, &mut self.timing) {
            let pause_ns = thinker.next_ns();
            if pause_ns > 0 && !self.wait_until(self.now().saturating_add(pause_ns)) {
                return Turn::Over;
            }
        }
        turn
    }

    /// The end has come: what was due and waited for the operation before it is still done, if it is the only one. That is what any
    /// thread has waiting at any instant, and doing it shows how long it took.
    fn last(&mut self, due_ns: Option<u64>) -> Turn {
        let Some(due_ns) = due_ns else { return Turn::Over };
        let more = match &self.timing {
            Timing::Closed(_) => true,
            Timing::Open(arrivals) => self.origin_ns.saturating_add(arrivals.clone().next_ns()) < self.end_ns,
        };
        if more || self.actor.is_stopped() {
            self.pass_over(due_ns);
        } else {
            self.act(Some(due_ns));
        }
        Turn::Over
    }

    /// An operation was due and is not begun, if that was before the end.
    fn pass_over(&mut self, due_ns: u64) {
        let end_ns = if self.actor.is_stopped() { self.now().min(self.end_ns) } else { self.end_ns };
        if due_ns < end_ns {
            self.give_up(due_ns, end_ns, 1);
        }
    }

    fn give_up(&mut self, due_ns: u64, end_ns: u64, count: u64) {
        let op = self.actor.script.operation();
        let watch = &self.actor.watch;
        watch.desk.give_up(watch.stream, op, end_ns.saturating_sub(due_ns), count);
        self.unissued += count;
    }

    /// Nothing more is due before the end: waits for it.
    fn rest(&mut self) -> Turn {
        self.seat_due(u64::MAX);
        self.wait_until(self.end_ns);
        Turn::Over
    }

    /// Does something that can be done.
    fn act(&mut self, due_ns: Option<u64>) -> Turn {
        let hunger = self.actor.hunger;
        let mut told = false;
        loop {
            let before = hunger.before();
            let act = self.try_all(due_ns, !told);
            match act {
                Act::Nothing if self.actor.is_stopped() || self.now() >= self.end_ns => return Turn::Over,
                Act::Nothing => {
                    // What it holds open may be what another one waits for.
                    let released = self.actor.open.is_some();
                    let _ = self.actor.close_open();
                    hunger.in_vain(self.number, if released { hunger.before() } else { before });
                    told = true;
                    if !self.wait_until(self.now() + HUNGRY_NS) {
                        return Turn::Over;
                    }
                    // On open streams the next operation has an instant of its own.
                    if due_ns.is_some() {
                        return Turn::Go;
                    }
                }
                Act::Through => return Turn::Spent,
                Act::Failed => {
                    hunger.found(self.number);
                    if !self.continues {
                        self.actor.control.stop(StoppedBy::Error);
                        return Turn::Over;
                    }
                    return self.spend(0);
                }
                Act::Done(bytes) => {
                    hunger.found(self.number);
                    return self.spend(bytes);
                }
            }
        }
    }

    /// What is drawn, until something of it can be done; then everything else once.
    fn try_all(&mut self, due_ns: Option<u64>, counts: bool) -> Act {
        let mut tried = [false; FileOp::COUNT];
        let choices = self.actor.script.operations().len();
        let draws = if choices > 1 { REDRAWS } else { 1 };
        for _ in 0..draws {
            let op = self.actor.script.operation();
            if !std::mem::replace(&mut tried[op as usize], true) {
                match self.attempt(op, due_ns, counts) {
                    Act::Nothing => {}
                    act => return act,
                }
            }
        }
        let rest: Vec<FileOp> =
            self.actor.script.operations().iter().copied().filter(|op| !tried[*op as usize]).collect();
        for op in rest {
            match self.actor.perform(op, due_ns) {
                Act::Nothing => {}
                act => return act,
            }
        }
        Act::Nothing
    }

    fn attempt(&mut self, op: FileOp, due_ns: Option<u64>, counts: bool) -> Act {
        let act = self.actor.perform(op, due_ns);
        if act == Act::Nothing && counts {
            self.skipped[op as usize] += 1;
        }
        act
    }

    fn spend(&mut self, bytes: u64) -> Turn {
        if self.left == Budget::ENDLESS {
            return Turn::Go;
        }
        self.left.requests = self.left.requests.saturating_sub(1);
        if self.left.bytes != u64::MAX {
            self.left.bytes = self.left.bytes.saturating_sub(bytes);
        }
        if self.left.requests == 0 || self.left.bytes == 0 { Turn::Spent } else { Turn::Go }
    }

    /// Waits, in steps short enough to notice the end of the run; whether it goes on.
    fn wait_until(&self, until_ns: u64) -> bool {
        loop {
            if self.actor.is_stopped() {
                return false;
            }
            let now_ns = self.now();
            if now_ns >= until_ns {
                return true;
            }
            if now_ns >= self.end_ns {
                return false;
            }
            pause::until(&self.actor.watch.clock, until_ns.min(now_ns + LOOK_NS).min(self.end_ns));
        }
    }

    fn now(&self) -> u64 {
        self.actor.watch.clock.now()
    }

    fn seat_due(&self, due_ns: u64) {
        self.actor.watch.desk.seat(self.actor.watch.seat).due(due_ns);
    }

    /// Counts what was due before the end and never begun.
    fn count_unissued(&mut self) {
        let end_ns = if self.actor.is_stopped() { self.now().min(self.end_ns) } else { self.end_ns };
        let Timing::Open(arrivals) = &mut self.timing else { return };
        let mut arrivals = arrivals.clone();
        let until_ns = end_ns.saturating_sub(self.origin_ns);
        let first_ns = arrivals.next_ns();
        let steps_max = (STEPS_GIVEN_UP / self.lanes as u64).max(1_024);
        due_in(&mut arrivals, first_ns..until_ns, steps_max, |due_ns, count| self.give_up(due_ns, until_ns, count));
    }
}
