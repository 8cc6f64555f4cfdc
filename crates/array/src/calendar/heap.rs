//! Keys in no order: a heap of four children per node, so that it is flat.
//!
//! The first key leaves a hole, because mostly a device that has finished starts its next command at once: the new key is put
//! into the hole and sinks, which costs half of filling the hole with the last one and letting the new one rise.

use std::hint::select_unpredictable;

use super::NEVER;

const ARITY: usize = 4;

/// See the module.
#[derive(Debug)]
pub(super) struct Heap {
    /// Filled up with [`NEVER`], so that a node has all of its children or none.
    keys: Vec<u128>,
    /// Keys, with the hole.
    end: usize,
    /// Whether the first was taken.
    hole: bool,
}

impl Default for Heap {
    fn default() -> Self {
        Self { keys: vec![NEVER; 1 + ARITY], end: 0, hole: false }
    }
}

impl Heap {
    pub(super) const fn len(&self) -> usize {
        self.end - self.hole as usize
    }

    /// The first key, or [`NEVER`].
    #[inline]
    pub(super) fn first(&self) -> u128 {
        if self.hole { self.least_child(1).map_or(NEVER, |(least, _)| least) } else { self.keys[0] }
    }

    /// Takes the first key out of a heap that is not empty.
    #[inline]
    pub(super) fn pop(&mut self) {
        if self.hole {
            self.close();
        }
        self.hole = true;
    }

    pub(super) fn insert(&mut self, key: u128) {
        if self.hole {
            self.hole = false;
            self.sink(key);
        } else {
            self.append(key);
        }
    }

    /// Fills the hole with the last key.
    fn close(&mut self) {
        self.end -= 1;
        let last = std::mem::replace(&mut self.keys[self.end], NEVER);
        self.hole = false;
        if self.end > 0 {
            self.sink(last);
        }
    }

    fn append(&mut self, key: u128) {
        if self.end == self.keys.len() {
            self.keys.extend([NEVER; ARITY]);
        }
        let mut place = self.end;
        self.end += 1;
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[place] = self.keys[parent];
            place = parent;
        }
        self.keys[place] = key;
    }

    /// Puts a key in the place of the first.
    #[inline]
    fn sink(&mut self, key: u128) {
        let mut place = 0;
        while let Some((least, at)) = self.least_child(place * ARITY + 1) {
            if key <= least {
                break;
            }
            self.keys[place] = least;
            place = at;
        }
        self.keys[place] = key;
    }

    /// The least of the children from a place on, and its own place. No branch is taken on their order, which nothing foresees.
    #[inline]
    fn least_child(&self, first: usize) -> Option<(u128, usize)> {
        let children: &[u128; ARITY] = self.keys.get(first..)?.first_chunk()?;
        let lesser = |one: (u128, usize), other: (u128, usize)| {
            let is_other = other.0 < one.0;
            (select_unpredictable(is_other, other.0, one.0), select_unpredictable(is_other, other.1, one.1))
        };
        let pair = |at: usize| lesser((children[at], first + at), (children[at + 1], first + at + 1));
        Some(lesser(pair(0), pair(2)))
    }
}
