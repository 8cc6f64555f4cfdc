//! Keys that come nearly in order: a ring, kept in order by moving a new key forward past the few that are later.
//!
//! Limits: what lies before more than [`STEPS`] others, or finds no room, is refused and belongs into the heap.

use super::NEVER;

/// Places; a power of two.
const PLACES: usize = 64;
const MASK: usize = PLACES - 1;
/// How many keys a new one may pass.
const STEPS: usize = 8;

/// See the module.
#[derive(Debug)]
pub(super) struct Near {
    /// Behind the last one is always [`NEVER`], so that the first is there even if there is none.
    keys: [u128; PLACES],
    /// Keys taken, and keys kept, since the beginning.
    head: usize,
    tail: usize,
}

impl Default for Near {
    fn default() -> Self {
        Self { keys: [NEVER; PLACES], head: 0, tail: 0 }
    }
}

impl Near {
    /// The first key, or [`NEVER`].
    #[inline]
    pub(super) const fn first(&self) -> u128 {
        self.keys[self.head & MASK]
    }

    /// Takes the first key out.
    #[inline]
    pub(super) const fn pop(&mut self) {
        self.head += 1;
    }

    pub(super) const fn len(&self) -> usize {
        self.tail - self.head
    }

    /// Keeps a key; `false` if it has to go elsewhere.
    #[inline]
    pub(super) const fn insert(&mut self, key: u128) -> bool {
        if self.len() > STEPS && (self.len() + 1 == PLACES || self.keys[(self.tail - 1 - STEPS) & MASK] > key) {
            return false;
        }
        let mut place = self.tail;
        while place > self.head && self.keys[(place - 1) & MASK] > key {
            self.keys[place & MASK] = self.keys[(place - 1) & MASK];
            place -= 1;
        }
        self.keys[place & MASK] = key;
        self.tail += 1;
        self.keys[self.tail & MASK] = NEVER;
        true
    }
}
