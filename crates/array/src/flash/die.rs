//! One die with a queue of its own: which of reads, programs and erases it does next.
//!
//! Model: programs, erases and what collecting does wait in one line. A read goes before all of it. It waits for the operation under
//! way, or suspends it, which holds the read up by a time of its own and the operation by that and the read; reads that come while
//! an operation is suspended follow one another without another suspension. So many reads may go before one operation, due or under
//! way; then the next one waits for its end. A read holds the die until its data have left it.
//!
//! Limits: the end of a program is said when it is queued, so reads that come later and go before it do not change what was said;
//! they do push back what the die does afterwards.

use std::collections::VecDeque;

/// What a die has to do besides reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    /// When its data are there.
    pub(super) ready_ns: u64,
    pub(super) work_ns: u64,
    /// By how much suspending it holds a read up; `None` if it cannot be suspended.
    pub(super) suspend_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    ends_ns: u64,
    suspend_ns: Option<u64>,
    /// How many reads may still go before it.
    passes: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Die {
    reads_end_ns: u64,
    /// When the operation before the next one ended.
    free_ns: u64,
    under_way: Option<UnderWay>,
    queue: VecDeque<Operation>,
    queued_ns: u64,
    /// How many reads may still go before the first of the queue.
    passes: u32,
    passes_max: u32,
}

/// When a read begins, and whether what is under way lets it go first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) begin_ns: u64,
    suspends: bool,
}

impl Die {
    pub(super) fn new(passes_max: u32) -> Self {
        Self {
            reads_end_ns: 0,
            free_ns: 0,
            under_way: None,
            queue: VecDeque::new(),
            queued_ns: 0,
            passes: passes_max,
            passes_max,
        }
    }

    /// The turn of a read that comes now; [`Die::hold`] has to follow.
    pub(super) fn take_turn(&mut self, now_ns: u64) -> Turn {
        self.advance(now_ns);
        loop {
            let free_ns = now_ns.max(self.reads_end_ns);
            let Some(under_way) = &mut self.under_way else {
                match self.pass_next(free_ns) {
                    Some(ends_ns) => self.begin_unpassed(ends_ns),
                    None => return Turn { begin_ns: free_ns, suspends: false },
                }
                continue;
            };
            let is_suspended = self.reads_end_ns > now_ns && self.reads_end_ns < under_way.ends_ns;
            let hold_up_ns = if is_suspended { Some(0) } else { under_way.suspend_ns };
            let remaining_ns = under_way.ends_ns.saturating_sub(free_ns);
            if under_way.passes > 0 && hold_up_ns.is_some_and(|hold_up_ns| hold_up_ns < remaining_ns) {
                under_way.passes -= 1;
                return Turn { begin_ns: free_ns + hold_up_ns.unwrap_or(0), suspends: true };
            }
            let ends_ns = under_way.ends_ns.max(free_ns);
            match self.pass_next(ends_ns) {
                Some(ends_ns) => self.begin_unpassed(ends_ns),
                None => return Turn { begin_ns: ends_ns, suspends: false },
            }
        }
    }

    /// A read that had its turn, and came at `now_ns`, holds the die until its data have left.
    pub(super) fn hold(&mut self, turn: Turn, now_ns: u64, end_ns: u64) {
        if turn.suspends
            && let Some(under_way) = &mut self.under_way
        {
            under_way.ends_ns += end_ns - now_ns.max(self.reads_end_ns);
        }
        self.reads_end_ns = end_ns;
    }

    /// Queues an operation; when it ends, if nothing comes between.
    pub(super) fn queue(&mut self, operation: Operation, now_ns: u64) -> u64 {
        self.advance(now_ns);
        let before_ns = self.under_way.map_or(now_ns, |one| one.ends_ns).max(self.reads_end_ns) + self.queued_ns;
        self.queue.push_back(operation);
        self.queued_ns += operation.work_ns;
        before_ns.max(operation.ready_ns) + operation.work_ns
    }

    /// How long a read that comes now would wait.
    pub(super) fn wait_ns(&self, now_ns: u64) -> u64 {
        let free_ns = now_ns.max(self.reads_end_ns);
        let blocked_ns = self.under_way.map_or(0, |one| {
            let remaining_ns = one.ends_ns.saturating_sub(free_ns);
            if one.passes > 0 { one.suspend_ns.unwrap_or(u64::MAX).min(remaining_ns) } else { remaining_ns }
        });
        free_ns - now_ns + blocked_ns
    }

    /// Ends and begins what ends and begins until now.
    fn advance(&mut self, now_ns: u64) {
        loop {
            if let Some(under_way) = self.under_way {
                if under_way.ends_ns > now_ns {
                    return;
                }
                self.free_ns = under_way.ends_ns;
                self.under_way = None;
            }
            let Some(next) = self.queue.front() else { return };
            let begin_ns = next.ready_ns.max(self.free_ns).max(self.reads_end_ns);
            if begin_ns > now_ns {
                return;
            }
            self.begin(begin_ns);
        }
    }

    /// The first of the queue begins.
    fn begin(&mut self, begin_ns: u64) {
        if let Some(Operation { work_ns, suspend_ns, .. }) = self.queue.pop_front() {
            self.queued_ns -= work_ns;
            self.under_way = Some(UnderWay { ends_ns: begin_ns + work_ns, suspend_ns, passes: self.passes });
            self.passes = self.passes_max;
        }
    }

    /// A read would go before the first of the queue at an instant; when that would have to begin instead, if it was passed often enough.
    fn pass_next(&mut self, begin_ns: u64) -> Option<u64> {
        let is_due = self.queue.front().is_some_and(|next| next.ready_ns <= begin_ns);
        if is_due && self.passes == 0 {
            return Some(begin_ns);
        }
        self.passes -= u32::from(is_due);
        None
    }

    /// The first of the queue follows at once on what is under way, as one operation that nothing passes.
    fn begin_unpassed(&mut self, begin_ns: u64) {
        self.begin(begin_ns);
        if let Some(under_way) = &mut self.under_way {
            under_way.passes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM_NS: u64 = 500;

    fn program(suspend_ns: Option<u64>) -> Operation {
        Operation { ready_ns: 0, work_ns: PROGRAM_NS, suspend_ns }
    }

    /// When a read that takes 50 begins and ends.
    fn read(die: &mut Die, now_ns: u64) -> (u64, u64) {
        let turn = die.take_turn(now_ns);
        die.hold(turn, now_ns, turn.begin_ns + 50);
        (turn.begin_ns, turn.begin_ns + 50)
    }

    #[test]
    fn a_read_waits_for_what_is_under_way_and_goes_before_what_is_queued() {
        let mut die = Die::new(u32::MAX);
        assert_eq!((0..3).map(|_| die.queue(program(None), 0)).collect::<Vec<_>>(), [500, 1_000, 1_500]);
        assert_eq!(read(&mut die, 100), (500, 550));
        // The second program begins behind the read: 550 to 1,050.
        assert_eq!(read(&mut die, 600), (1_050, 1_100));
        assert_eq!(read(&mut die, 2_000), (2_000, 2_050));
    }

    #[test]
    fn a_suspended_operation_goes_on_where_it_was() {
        let mut die = Die::new(u32::MAX);
        die.queue(program(Some(20)), 0);
        // At 100, 400 are left. Two reads come while it is suspended, which happens once.
        assert_eq!(read(&mut die, 100), (120, 170));
        assert_eq!(read(&mut die, 130), (170, 220));
        assert_eq!(die.queue(program(Some(20)), 300), 220 + 400 + PROGRAM_NS);
    }

    #[test]
    fn an_operation_that_so_many_reads_have_gone_before_is_ended_first() {
        let mut die = Die::new(2);
        die.queue(program(Some(20)), 0);
        die.queue(program(Some(20)), 0);
        assert_eq!(read(&mut die, 100), (120, 170));
        assert_eq!(read(&mut die, 110), (170, 220));
        // 400 were left at 100: it ends at 620, and this read and the next go before the second program.
        assert_eq!(read(&mut die, 120), (620, 670));
        assert_eq!(read(&mut die, 130), (670, 720));
        // Which then goes before the next.
        assert_eq!(read(&mut die, 140), (1_220, 1_270));
    }

    #[test]
    fn with_no_read_before_it_every_operation_is_served_in_the_order_of_arrival() {
        let mut die = Die::new(0);
        for _ in 0..3 {
            die.queue(program(Some(20)), 0);
        }
        assert_eq!(read(&mut die, 10), (1_500, 1_550));
    }

    #[test]
    fn an_operation_without_its_data_is_not_waited_for() {
        let mut die = Die::new(0);
        die.queue(Operation { ready_ns: 1_000, ..program(None) }, 0);
        assert_eq!(read(&mut die, 10), (10, 60));
    }
}
