//! One database with its cache, its log and its threads, as a director of requests.
//!
//! Model: whatever comes from outside (a beginning, an answer, an instant) lets threads go on until each waits for something, and leaves
//! behind what they asked for. Threads wait for a page, for room in the cache, for room in the log, for their commit, or for an
//! instant. `transaction.rs` has what a thread does, `writing.rs` log, pages and checkpoint, `background.rs` what nobody waits for.

mod background;
mod life;
mod transaction;
mod tuning;
mod writes;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::Range;

use plimsoll_workload::Op;
use plimsoll_workload::director::{Answer, Asked, Director};
use serde_json::{Value, json};

use self::background::{Replication, Sweep};
pub use self::life::Acknowledged;
use self::life::Life;
use self::transaction::{Thread, newest_pages};
use self::tuning::{SAMPLE_NS, Step, Tuned};
use self::writes::{Flight, Written};
use crate::cache::Cache;
use crate::counts::Counts;
use crate::log::Log;
use crate::map::NONE;
use crate::operation::{Dice, Kind};
use crate::options::Test;
use crate::plan::{DatabasePlan, Role};
use crate::tree::Tree;

/// A timer that belongs to the sweep and not to a thread.
pub(crate) const SWEEP: u32 = u32::MAX - 1;
/// A timer that lets threads go on that gave way.
const GO_ON: u32 = u32::MAX - 2;
/// A timer that takes a sample for tuning.
const SAMPLE: u32 = u32::MAX - 3;
/// Operations that follow each other before answers are looked at again, in real time.
const TURNS: u32 = 256;
/// What a token stands for, in its upper bits.
const KINDS: u32 = 28;
const PLACES: u32 = (1 << KINDS) - 1;

/// When the time that counts begins and ends, and whether it is modelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// From the beginning on.
    pub measured_ns: Range<u64>,
    /// Whether only answers and operations take time.
    pub modelled: bool,
}

/// What an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A page, by its frame.
    Read(u32),
    /// Pages, by the place of their write.
    Write(u32),
    Block,
    Checkpoint,
    Sweep,
    Replication,
}

impl Token {
    const fn coded(self) -> u32 {
        match self {
            Self::Read(frame) => frame,
            Self::Write(place) => 1 << KINDS | place,
            Self::Block => 2 << KINDS,
            Self::Checkpoint => 3 << KINDS,
            Self::Sweep => 4 << KINDS,
            Self::Replication => 5 << KINDS,
        }
    }

    /// The lane that the request goes to, and what it does.
    const fn lane(self) -> (Role, Op) {
        match self {
            Self::Read(_) => (Role::Reads, Op::Read),
            Self::Write(_) => (Role::Writes, Op::Write),
            Self::Block | Self::Checkpoint => (Role::Log, Op::Write),
            Self::Sweep => (Role::Sweep, Op::Read),
            Self::Replication => (Role::Replication, Op::Read),
        }
    }

    const fn decoded(code: u32) -> Self {
        match code >> KINDS {
            0 => Self::Read(code),
            1 => Self::Write(code & PLACES),
            2 => Self::Block,
            3 => Self::Checkpoint,
            4 => Self::Sweep,
            _ => Self::Replication,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Store {
    pub(crate) plan: DatabasePlan,
    times: Times,
    pub(crate) now_ns: u64,
    pub(crate) tree: Tree,
    pub(crate) cache: Cache,
    pub(crate) log: Log,
    pub(crate) dice: Dice,
    /// The newest pages of the mailboxes, as leaves.
    pub(crate) recent: Vec<u32>,
    pub(crate) threads: Vec<Thread>,
    /// Threads that go on before anything else is looked at.
    pub(crate) ready: VecDeque<u32>,
    /// Threads that wait for the block on its way, and for the one that is being built.
    pub(crate) committing: [Vec<u32>; 2],
    pub(crate) wait_for_log: VecDeque<u32>,
    pub(crate) wait_for_cache: VecDeque<u32>,
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    pub(crate) flight: Flight,
    pub(crate) sweep: Sweep,
    pub(crate) replication: Replication,
    pub(crate) counts: Counts,
    /// Requests without an answer that threads may wait for.
    pub(crate) outstanding: u32,
    /// Operations are carried out against nothing until the store is warm.
    pub(crate) settling: bool,
    turns_left: u32,
    asks: Vec<Asked>,
    before: Option<Counts>,
    after: Option<Counts>,
    initial_pages: u32,
    /// What is measured for tuning, and who decides.
    pub(crate) tuned: Option<Tuned>,
    /// What it writes means something, on a target that keeps data.
    pub(crate) life: Option<Life>,
    /// Threads wait for the first checkpoint of this life.
    pub(crate) is_unborn: bool,
    /// What cannot be done any more because nothing is left.
    over: bool,
}

impl Store {
    /// A warm store at rest.
    pub fn new(plan: &DatabasePlan, times: Times) -> Self {
        let tree = Tree::new(plan.tree);
        let recent = newest_pages(tree.initial(), plan.mailboxes, plan.recent_pages);
        let mut store = Self {
            times,
            now_ns: 0,
            cache: Cache::new(plan.frames),
            log: Log::new(plan.log),
            dice: Dice::new(&plan.mix, plan.threads, tree.initial(), plan.seed),
            recent,
            threads: vec![Thread::IDLE; plan.threads as usize],
            ready: VecDeque::new(),
            committing: [Vec::new(), Vec::new()],
            wait_for_log: VecDeque::new(),
            wait_for_cache: VecDeque::new(),
            timers: BinaryHeap::new(),
            flight: Flight::default(),
            sweep: Sweep::new(plan),
            replication: Replication::new(plan),
            counts: Counts::default(),
            outstanding: 0,
            settling: true,
            turns_left: 0,
            asks: Vec::new(),
            before: None,
            after: None,
            initial_pages: tree.pages_used(),
            tuned: (plan.test == Test::Tuning).then(|| Tuned::new(plan)),
            life: None,
            is_unborn: false,
            over: false,
            tree,
            plan: plan.clone(),
        };
        if plan.test.operates() {
            store.settle();
        }
        store.settling = false;
        store.counts = Counts::default();
        store
    }

    /// Carries operations out against nothing until the cache is full and the log has gone far enough for checkpoints.
    fn settle(&mut self) {
        let most = 20 * u64::from(self.plan.frames) + self.plan.depth_bytes / 16;
        self.ready.extend(0..self.plan.threads);
        let mut answers = VecDeque::new();
        loop {
            self.turns_left = TURNS;
            let full = !self.cache.has_unused() && self.log.head_lsn() >= 2 * self.plan.depth_bytes;
            let enough = full || self.counts.all_operations() >= most;
            if enough && answers.is_empty() {
                break;
            }
            if !enough {
                self.go_on();
            }
            answers.extend(self.asks.drain(..));
            match answers.pop_front() {
                Some(ask) => self.take(Token::decoded(ask.token)),
                None => self.unstick(),
            }
            answers.extend(self.asks.drain(..));
        }
        // What is half done begins anew.
        self.settled();
    }

    fn settled(&mut self) {
        self.threads.fill(Thread::IDLE);
        self.ready.clear();
        self.wait_for_log.clear();
        self.wait_for_cache.clear();
        self.committing.iter_mut().for_each(Vec::clear);
        self.replication.forget();
        for frame in 0..self.cache.frames() {
            self.cache.frame_mut(frame).waiter = NONE;
        }
        // What has gathered is no part of what follows.
        if self.log.pending() > 0 {
            let _ = self.log.seal();
            let _ = self.log.landed();
        }
        self.flight.persisted_lsn = self.checkpoint_lsn();
        self.outstanding = 0;
    }

    /// Asks for a request.
    pub(crate) fn ask(&mut self, token: Token, offset: u64, len: u32) {
        let (role, op) = token.lane();
        if let Some(tuned) = &mut self.tuned {
            tuned.asked(token, self.now_ns);
        }
        self.asks.push(Asked { token: token.coded(), lane: role as u32, op, offset, len });
    }

    pub(crate) fn set_timer(&mut self, due_ns: u64, who: u32) {
        self.timers.push(Reverse((due_ns, who)));
    }

    /// How long an operation takes beside its requests.
    pub(crate) const fn operation_ns(&self) -> u64 {
        if self.times.modelled { self.plan.operation_ns } else { 0 }
    }

    /// Whether a thread may begin its next operation before answers are looked at.
    pub(crate) fn has_turn(&mut self) -> bool {
        self.turns_left = self.turns_left.saturating_sub(1);
        self.turns_left > 0
    }

    /// What an answer lets happen.
    fn take(&mut self, token: Token) {
        match token {
            Token::Read(frame) => self.page_came(frame),
            Token::Write(place) => self.pages_written(place),
            Token::Block => self.block_landed(),
            Token::Checkpoint => self.checkpoint_written(),
            Token::Sweep => self.swept(),
            Token::Replication => self.replicated(),
        }
    }

    /// Lets threads go on until each waits.
    fn go_on(&mut self) {
        while let Some(thread) = self.ready.pop_front() {
            if self.turns_left == 0 {
                self.ready.push_front(thread);
                if !self.settling {
                    self.set_timer(self.now_ns, GO_ON);
                }
                return;
            }
            self.run_thread(thread);
        }
        self.write_due_pages();
        self.unstick();
    }

    /// Lets threads go on, unless nothing is to be done any more, and hands over what they asked for.
    fn go_on_for(&mut self, asks: &mut Vec<Asked>) {
        if self.over {
            return self.asks.clear();
        }
        self.go_on();
        asks.append(&mut self.asks);
    }

    /// Nothing is on its way and somebody waits: what has gathered in the log is written, or pages although they are not due.
    fn unstick(&mut self) {
        let waits = !self.wait_for_log.is_empty() || !self.wait_for_cache.is_empty() || !self.committing[1].is_empty();
        if self.outstanding > 0 || !waits {
            return;
        }
        self.flush_now();
        if self.outstanding == 0 {
            self.write_pages_early();
        }
    }

    fn enter(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        self.turns_left = TURNS;
        if now_ns >= self.times.measured_ns.start && self.before.is_none() {
            self.before = Some(self.counts.clone());
        }
        if now_ns >= self.times.measured_ns.end && self.after.is_none() {
            self.after = Some(self.counts.clone());
        }
    }

    /// Threads of a paced load do not begin at once.
    pub(crate) fn begin_threads(&mut self) {
        if let Some(tuned) = &mut self.tuned {
            tuned.tuning.begin(self.now_ns);
            self.timers.push(Reverse((self.now_ns + SAMPLE_NS, SAMPLE)));
        }
        for thread in 0..self.threads_active() {
            let offset_ns = self.plan.cycle_ns / u64::from(self.plan.threads) * u64::from(thread);
            self.set_timer(self.now_ns + offset_ns, thread);
        }
    }

    /// Threads that carry operations out; the others rest.
    pub(crate) fn threads_active(&self) -> u32 {
        self.tuned.as_ref().map_or(self.plan.threads, |tuned| tuned.tuning.threads)
    }

    /// Another second has passed.
    fn take_sample(&mut self) {
        let Some(tuned) = &mut self.tuned else { return };
        let before = tuned.tuning.threads;
        match tuned.sample(self.now_ns) {
            Step::On => {}
            Step::Threads(_) => {
                for thread in before..tuned.tuning.threads {
                    // One that is still in its last operation of an earlier cycle goes on by itself.
                    if self.threads[thread as usize].rests() {
                        self.ready.push_back(thread);
                    }
                }
            }
            Step::Over => return self.ended(),
        }
        self.set_timer(self.now_ns + SAMPLE_NS, SAMPLE);
    }

    /// What was done in the measured time.
    pub fn counts(&self) -> Counts {
        let after = self.after.as_ref().unwrap_or(&self.counts);
        self.before.as_ref().map_or_else(Counts::default, |before| after.since(before))
    }

    pub(crate) fn ended(&mut self) {
        self.over = true;
    }
}

impl Director for Store {
    fn begin(&mut self, now_ns: u64, asks: &mut Vec<Asked>) {
        let Range { start, end } = self.times.measured_ns;
        self.times.measured_ns = start.saturating_add(now_ns)..end.saturating_add(now_ns);
        self.enter(now_ns);
        self.begin_sweep();
        if self.plan.test.operates() {
            if let Some(life) = &self.life {
                // Nothing is acknowledged before a recovery would find where to begin.
                self.is_unborn = true;
                self.persist(life.start_lsn);
            } else {
                self.begin_threads();
            }
        }
        asks.append(&mut self.asks);
    }

    fn answered(&mut self, answer: Answer<'_>, asks: &mut Vec<Asked>) {
        self.enter(answer.now_ns);
        let token = Token::decoded(answer.token);
        if answer.failed && token.lane().1 == Op::Write {
            // What was logged or saved is not known any more: nothing of it is told as done.
            return self.ended();
        }
        if let Some(tuned) = &mut self.tuned {
            tuned.answered(token, self.now_ns);
        }
        if let (Token::Read(frame), Some(bytes)) = (token, answer.bytes) {
            self.page_read(frame, bytes);
        }
        self.take(token);
        self.go_on_for(asks);
    }

    fn due_ns(&self) -> u64 {
        if self.over {
            return u64::MAX;
        }
        self.timers.peek().map_or(u64::MAX, |Reverse((due_ns, _))| *due_ns)
    }

    fn wake(&mut self, now_ns: u64, asks: &mut Vec<Asked>) {
        self.enter(now_ns);
        while let Some(&Reverse((due_ns, who))) = self.timers.peek() {
            if due_ns > now_ns {
                break;
            }
            self.timers.pop();
            match who {
                SWEEP => self.sweep_on(),
                SAMPLE => self.take_sample(),
                GO_ON => {}
                thread => self.ready.push_back(thread),
            }
        }
        self.go_on_for(asks);
    }

    fn fill(&mut self, token: u32, bytes: &mut [u8]) {
        self.fill_bytes(Token::decoded(token), bytes);
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn report(&self) -> Value {
        let page = u64::from(self.plan.page_bytes);
        let life = self.life.as_ref();
        json!({
            "hard_commits_saved": life.map(|life| life.saved),
            "damaged_pages": life.map(|life| life.damaged),
            "failure": life.and_then(|life| life.failure.clone()),
            "database": format!("database-{}", self.plan.number + 1),
            "threads": self.plan.threads,
            "page_bytes": page,
            "cache_bytes": u64::from(self.plan.frames) * page,
            "initial_bytes": u64::from(self.initial_pages) * page,
            "final_bytes": u64::from(self.tree.pages_used()) * page,
            "dirty_pages": self.cache.dirty,
            "counts": counted(&self.counts()),
            "tuning": self.tuned.as_ref().map(|tuned| tuned.tuning.report()),
        })
    }
}

/// Counts as a report has them: operations by name.
pub(crate) fn counted(counts: &Counts) -> Value {
    let named = Kind::ALL.iter().map(|kind| (kind.name(), counts.operations[*kind as usize]));
    let operations: BTreeMap<&str, u64> = named.collect();
    let mut told = serde_json::to_value(counts).unwrap_or_default();
    told["operations"] = json!(operations);
    told
}

/// A write of pages that is on its way: places are used again.
impl Written {
    pub(crate) const NOTHING: Self = Self { first_page: NONE, pages: 0, evicts: false };
}
