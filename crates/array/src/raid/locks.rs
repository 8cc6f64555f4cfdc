//! Locks of rows: two writes of one row follow each other, all others go on.
//!
//! Model: a holder asks for all its rows at once and takes a place in the queue of each at that instant; it has them when
//! it is first in every one. The order in every queue is the order of asking, so the oldest holder is first everywhere:
//! somebody always goes on (no deadlock), and everybody is served after those who asked before for the same rows (no
//! starvation). Queues are kept in one table from row to first and last place; memory grows to the most that was ever
//! held and is used again.
//!
//! Limits: a write that had to wait must be planned again when it gets its rows, since a rebuild may have moved on, or a
//! member failed, meanwhile.
//!
//! ```
//! use plimsoll_array::raid::{RowLocks, RowSpan};
//!
//! let mut locks = RowLocks::new(64);
//! assert!(locks.acquire(0, &[RowSpan { group: 0, first: 7, count: 2 }]));
//! assert!(!locks.acquire(1, &[RowSpan { group: 0, first: 8, count: 1 }]));
//! let mut granted = Vec::new();
//! locks.release(0, &mut granted);
//! assert_eq!(granted, [1]);
//! ```

/// Neighbouring rows of one redundancy group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSpan {
    /// The redundancy group.
    pub group: u16,
    /// The first row.
    pub first: u64,
    /// How many.
    pub count: u32,
}

impl RowSpan {
    /// Rows as keys; no two groups share a key.
    fn keys(self) -> impl Iterator<Item = u64> {
        debug_assert!(self.first >> 48 == 0);
        let group = u64::from(self.group) << 48;
        (self.first..self.first + u64::from(self.count)).map(move |row| group | row)
    }
}

/// No place, no row.
const NONE: u32 = u32::MAX;
const EMPTY: u64 = u64::MAX;

/// A place in the queue of a row.
#[derive(Clone, Copy, Debug)]
struct Place {
    key: u64,
    holder: u32,
    /// Behind it in the row's queue; of a free place, the next free one.
    behind: u32,
    /// The holder's next place.
    sibling: u32,
}

/// Who asks: its places, and in how many rows somebody is before it.
#[derive(Clone, Copy, Debug)]
struct Holder {
    places: u32,
    blocked: u32,
}

const IDLE: Holder = Holder { places: NONE, blocked: 0 };

/// A row that somebody holds: its queue.
#[derive(Clone, Copy, Debug)]
struct Queue {
    key: u64,
    first: u32,
    last: u32,
}

const UNUSED: Queue = Queue { key: EMPTY, first: NONE, last: NONE };

/// The rows that are held and waited for.
#[derive(Clone, Debug)]
pub struct RowLocks {
    /// Open addressing with linear probing; a power of two, at most half full.
    table: Vec<Queue>,
    used: usize,
    places: Vec<Place>,
    free: u32,
    holders: Vec<Holder>,
    waiting: usize,
}

impl RowLocks {
    /// Room for so many rows before anything has to grow.
    pub fn new(rows: usize) -> Self {
        Self {
            table: vec![UNUSED; (2 * rows).next_power_of_two().max(16)],
            used: 0,
            places: Vec::with_capacity(rows),
            free: NONE,
            holders: Vec::new(),
            waiting: 0,
        }
    }

    /// Rows that somebody holds or waits for.
    pub const fn rows(&self) -> usize {
        self.used
    }

    /// Holders that wait.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Asks for rows, none of them twice; `true` if they are held at once, else the holder comes out of a later
    /// [`RowLocks::release`]. Without rows they are held at once, and released as well.
    pub fn acquire(&mut self, holder: u32, spans: &[RowSpan]) -> bool {
        if self.holders.len() <= holder as usize {
            self.holders.resize(holder as usize + 1, IDLE);
        }
        assert!(self.holders[holder as usize].places == NONE, "holder {holder} has rows already");
        let (mut places, mut blocked) = (NONE, 0);
        for key in spans.iter().flat_map(|span| span.keys()) {
            let place = self.place(Place { key, holder, behind: NONE, sibling: places });
            blocked += u32::from(self.join(key, place));
            places = place;
        }
        self.holders[holder as usize] = Holder { places, blocked };
        self.waiting += usize::from(blocked > 0);
        blocked == 0
    }

    /// Adds rows to those that a waiting holder has asked for, as far as they are not among them; `false`, and nothing is
    /// added, if anybody else has or wants one of the new ones: who asks twice must not wait for those between.
    pub fn extend(&mut self, holder: u32, spans: &[RowSpan]) -> bool {
        let Holder { places, blocked } = self.holders[holder as usize];
        assert!(blocked > 0, "holder {holder} does not wait");
        let is_own = |locks: &Self, key: u64| {
            let mut place = places;
            while place != NONE && locks.places[place as usize].key != key {
                place = locks.places[place as usize].sibling;
            }
            place != NONE
        };
        let keys = || spans.iter().flat_map(|span| span.keys());
        if keys().any(|key| !is_own(self, key) && self.table[self.find(key)].key != EMPTY) {
            return false;
        }
        for key in keys() {
            if !is_own(self, key) {
                let sibling = self.holders[holder as usize].places;
                let place = self.place(Place { key, holder, behind: NONE, sibling });
                self.join(key, place);
                self.holders[holder as usize].places = place;
            }
        }
        true
    }

    /// Gives up all rows of a holder; those who have all of theirs now are appended to `granted`.
    pub fn release(&mut self, holder: u32, granted: &mut Vec<u32>) {
        let Holder { mut places, blocked } = std::mem::replace(&mut self.holders[holder as usize], IDLE);
        assert!(blocked == 0, "holder {holder} has not got its rows yet");
        while places != NONE {
            let Place { key, behind, sibling, .. } = self.places[places as usize];
            self.places[places as usize].behind = self.free;
            self.free = places;
            self.leave(key, behind, granted);
            places = sibling;
        }
    }

    /// Puts a place at the end of a row's queue; whether somebody is before it.
    fn join(&mut self, key: u64, place: u32) -> bool {
        if 2 * (self.used + 1) > self.table.len() {
            self.grow();
        }
        let index = self.find(key);
        let queue = &mut self.table[index];
        if queue.key == EMPTY {
            *queue = Queue { key, first: place, last: place };
            self.used += 1;
            return false;
        }
        debug_assert!(
            self.places[queue.last as usize].holder != self.places[place as usize].holder,
            "a row asked twice"
        );
        self.places[queue.last as usize].behind = place;
        queue.last = place;
        true
    }

    /// Takes the first place out of a row's queue.
    fn leave(&mut self, key: u64, behind: u32, granted: &mut Vec<u32>) {
        let index = self.find(key);
        if behind == NONE {
            self.remove(index);
            return;
        }
        self.table[index].first = behind;
        let next = self.places[behind as usize].holder;
        let blocked = &mut self.holders[next as usize].blocked;
        *blocked -= 1;
        if *blocked == 0 {
            self.waiting -= 1;
            granted.push(next);
        }
    }

    fn place(&mut self, place: Place) -> u32 {
        if self.free == NONE {
            self.places.push(place);
            return self.places.len() as u32 - 1;
        }
        let index = self.free;
        self.free = std::mem::replace(&mut self.places[index as usize], place).behind;
        index
    }

    fn home(&self, key: u64) -> usize {
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - self.table.len().trailing_zeros())) as usize
    }

    /// Where a row is, or would be.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut index = self.home(key);
        while self.table[index].key != key && self.table[index].key != EMPTY {
            index = (index + 1) & mask;
        }
        index
    }

    /// Takes a row out and moves those behind it up, so that no probe meets a hole.
    fn remove(&mut self, mut hole: usize) {
        let mask = self.table.len() - 1;
        let mut index = hole;
        loop {
            index = (index + 1) & mask;
            let queue = self.table[index];
            if queue.key == EMPTY {
                break;
            }
            let from_home = index.wrapping_sub(self.home(queue.key)) & mask;
            if from_home >= (index.wrapping_sub(hole) & mask) {
                self.table[hole] = queue;
                hole = index;
            }
        }
        self.table[hole] = UNUSED;
        self.used -= 1;
    }

    #[cold]
    fn grow(&mut self) {
        let doubled = vec![UNUSED; 2 * self.table.len()];
        let old = std::mem::replace(&mut self.table, doubled);
        for queue in old.into_iter().filter(|queue| queue.key != EMPTY) {
            let index = self.find(queue.key);
            self.table[index] = queue;
        }
    }
}
