//! What a thread does: one operation after the other, each on the pages of its path.

use crate::image::Change;
use crate::map::NONE;
use crate::operation::{Drawn, Kind};
use crate::store::{Store, Token};

/// Pages that are looked at for one that can go; more than can be on their way.
const VICTIM_STEPS: u32 = 2048;
/// Pages on the way to a leaf, the leaf included; what is above is always in memory.
const LEVELS: u32 = 3;

/// A thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thread {
    /// The operation that it carries out.
    drawn: Option<Drawn>,
    /// The level of its path that it has to reach next.
    level: u32,
    /// The next thread that waits for the same page.
    next: u32,
    /// When its operation began.
    began_ns: u64,
    /// Where the block begins that holds its record.
    lsn: u64,
}

impl Thread {
    /// Whether it is in no operation.
    pub(crate) const fn rests(&self) -> bool {
        self.drawn.is_none()
    }

    pub(crate) const IDLE: Self = Self { drawn: None, level: 0, next: NONE, began_ns: 0, lsn: 0 };
}

/// The newest pages of all mailboxes: the last leaves of each table.
pub(crate) fn newest_pages(leaves: u32, mailboxes: u32, each: u32) -> Vec<u32> {
    let mailboxes = mailboxes.clamp(1, leaves);
    let newest = |mailbox: u32| {
        let bound = |number: u32| (u64::from(leaves) * u64::from(number) / u64::from(mailboxes)) as u32;
        let (first, end) = (bound(mailbox), bound(mailbox + 1));
        end.saturating_sub(each).max(first)..end
    };
    (0..mailboxes).flat_map(newest).collect()
}

impl Store {
    /// Lets a thread go on until it waits.
    pub(crate) fn run_thread(&mut self, thread: u32) {
        loop {
            let own = &mut self.threads[thread as usize];
            if own.drawn.is_none() {
                let drawn = self.dice.next(&self.plan.mix, thread, &self.recent, self.tree.leaves());
                *own = Thread { drawn: Some(drawn), level: 0, next: NONE, began_ns: self.now_ns, lsn: 0 };
            }
            let Some(drawn) = own.drawn else { return };
            if !self.reach_leaf(thread, drawn.leaf) || !self.apply(thread, drawn) {
                return;
            }
            if !self.commit(thread, drawn) || !self.end_operation(thread) {
                return;
            }
        }
    }

    /// Brings the pages of a path into memory, one after the other; `false` while it waits for one.
    fn reach_leaf(&mut self, thread: u32, leaf: u32) -> bool {
        while self.threads[thread as usize].level < LEVELS {
            let page = match self.threads[thread as usize].level {
                0 => self.tree.grandparent_of(leaf),
                1 => self.tree.parent_of(leaf),
                _ => self.tree.page_of(leaf),
            };
            if !self.reach(thread, page) {
                return false;
            }
            self.counts.lookups += 1;
            self.threads[thread as usize].level += 1;
        }
        true
    }

    /// Whether a page is in memory; if not, the thread waits for it or for room.
    fn reach(&mut self, thread: u32, page: u32) -> bool {
        let frame = self.cache.find(page);
        if frame != NONE {
            self.cache.touch(frame);
            if !self.cache.frame(frame).reading {
                return true;
            }
            self.wait_for_page(thread, frame);
            return false;
        }
        let frame = self.admit(page, [NONE; 2]);
        if frame == NONE {
            self.wait_for_cache.push_back(thread);
            self.counts.cache_waits += 1;
            return false;
        }
        self.cache.frame_mut(frame).reading = true;
        self.counts.misses += 1;
        self.outstanding += 1;
        self.wait_for_page(thread, frame);
        let offset = self.plan.database_start + u64::from(page) * u64::from(self.plan.page_bytes);
        self.ask(Token::Read(frame), offset, self.plan.page_bytes);
        false
    }

    fn wait_for_page(&mut self, thread: u32, frame: u32) {
        let waiter = &mut self.cache.frame_mut(frame).waiter;
        self.threads[thread as usize].next = std::mem::replace(waiter, thread);
    }

    /// A frame with a page that was not in memory, or [`NONE`] when none can go yet; those in `kept` stay.
    fn admit(&mut self, page: u32, kept: [u32; 2]) -> u32 {
        if self.cache.has_unused() {
            return self.cache.admit(page, NONE);
        }
        let mut passed = std::mem::take(&mut self.flight.passed);
        let victim = self.cache.victim(VICTIM_STEPS, kept, |frame| passed.push(frame));
        passed.drain(..).for_each(|frame| self.write_from(frame, true));
        self.flight.passed = passed;
        if victim == NONE { NONE } else { self.cache.admit(page, victim) }
    }

    /// A page is in memory: whoever waits for it goes on, in the order of coming.
    pub(crate) fn page_came(&mut self, frame: u32) {
        self.outstanding -= 1;
        let came = self.cache.frame_mut(frame);
        came.reading = false;
        let mut waiter = std::mem::replace(&mut came.waiter, NONE);
        let first = self.ready.len();
        while waiter != NONE {
            // The last that came stands first in the list.
            self.ready.insert(first, waiter);
            waiter = self.threads[waiter as usize].next;
        }
        self.room_in_cache();
    }

    /// A page rests again, so that it can go.
    pub(crate) fn room_in_cache(&mut self) {
        if let Some(thread) = self.wait_for_cache.pop_front() {
            self.ready.push_back(thread);
        }
    }

    /// Changes what an operation changes and logs it; `false` while it waits for room in the log or the cache, or for a page that has
    /// gone meanwhile.
    fn apply(&mut self, thread: u32, drawn: Drawn) -> bool {
        let bytes = self.plan.mix.record_bytes[drawn.kind as usize];
        if bytes == 0 {
            return true;
        }
        let splits = drawn.kind == Kind::Insert && self.tree.splits(drawn.leaf);
        if !self.reach_again(thread, drawn.leaf, splits) {
            return false;
        }
        if !self.log.fits(bytes, self.needed_lsn()) {
            self.counts.log_waits += 1;
            self.wait_for_log.push_back(thread);
            self.flush();
            self.write_checkpoint(true);
            return false;
        }
        let added = if splits { self.admit_added(thread, drawn.leaf) } else { Some(NONE) };
        let Some(added) = added else { return false };
        let place = self.log.tail();
        let lsn = self.log.append(bytes);
        self.threads[thread as usize].lsn = lsn;
        let changed =
            [self.cache.find(self.tree.page_of(drawn.leaf)), added, self.cache.find(self.tree.parent_of(drawn.leaf))];
        let changed = if splits { &changed[..] } else { &changed[..1] };
        changed.iter().for_each(|&frame| self.cache.change(frame, lsn));
        if let Some(life) = &mut self.life {
            let change =
                |&frame: &u32| Change { page: self.cache.frame(frame).page, version: self.cache.frame(frame).version };
            let changes: Vec<Change> = changed.iter().map(change).collect();
            life.append(place, (bytes, !drawn.lazy), &changes);
        }
        if splits {
            let leaf = self.tree.split(drawn.leaf);
            self.counts.splits += 1;
            if let Some(place) = drawn.recent {
                self.recent[place as usize] = leaf;
            }
        } else if drawn.kind == Kind::Insert {
            self.tree.insert(drawn.leaf);
        }
        if self.log.is_half_full() {
            self.flush();
        }
        true
    }

    /// Whether the pages that an operation changes are still in memory; those that are not are read again.
    fn reach_again(&mut self, thread: u32, leaf: u32, splits: bool) -> bool {
        (!splits || self.reach(thread, self.tree.parent_of(leaf))) && self.reach(thread, self.tree.page_of(leaf))
    }

    /// A frame for the page that a split of `leaf` adds, which has never been read.
    fn admit_added(&mut self, thread: u32, leaf: u32) -> Option<u32> {
        let page = self.tree.page_of(self.tree.leaves());
        let frame = match self.cache.find(page) {
            NONE => {
                let kept = [self.tree.page_of(leaf), self.tree.parent_of(leaf)].map(|page| self.cache.find(page));
                self.admit(page, kept)
            }
            frame => frame,
        };
        if frame == NONE {
            self.wait_for_cache.push_back(thread);
            self.counts.cache_waits += 1;
            return None;
        }
        Some(frame)
    }

    /// Ends the transaction of what changed something; `false` while it waits for the log.
    fn commit(&mut self, thread: u32, drawn: Drawn) -> bool {
        if drawn.kind == Kind::Seek {
            return true;
        }
        if drawn.lazy {
            self.counts.lazy_commits += 1;
            return true;
        }
        self.counts.hard_commits += 1;
        // A block that was half full may be on its way already, with the record in it.
        let building = self.threads[thread as usize].lsn == self.log.head_lsn();
        self.committing[usize::from(building)].push(thread);
        self.flush();
        false
    }

    /// Ends an operation; whether the next begins at once.
    pub(crate) fn end_operation(&mut self, thread: u32) -> bool {
        let own = &mut self.threads[thread as usize];
        let Some(drawn) = own.drawn.take() else { return false };
        let began_ns = own.began_ns;
        self.counts.operations[drawn.kind as usize] += 1;
        if self.settling {
            if self.has_turn() {
                return true;
            }
            self.ready.push_back(thread);
            return false;
        }
        if thread >= self.threads_active() {
            return false;
        }
        let pause_ns = self.operation_ns() + self.plan.think_ns;
        let due_ns = (self.now_ns + pause_ns).max(began_ns + self.plan.cycle_ns);
        if due_ns > self.now_ns {
            self.set_timer(due_ns, thread);
            return false;
        }
        if self.has_turn() {
            return true;
        }
        self.ready.push_back(thread);
        false
    }
}
