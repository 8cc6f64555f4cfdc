//! Things that come and go, under handles of 32 bits; places are used again, so memory follows the most there were at once.
//!
//! ```
//! let mut slab = plimsoll_array::slab::Slab::new(0);
//! let seven = slab.insert(7);
//! assert_eq!(slab.remove(seven), 7);
//! assert_eq!(slab.insert(8), seven);
//! ```

use crate::prefetch;
use std::ops::{Index, IndexMut};

/// No handle.
pub const NONE: u32 = u32::MAX;

/// Places to begin with; each time they do not suffice there are twice as many, so their number is always a power of two.
const LEAST: usize = 16;

/// See the module.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    places: Vec<T>,
    /// As many as there are places: those in use, then the free ones from the last on that was given up. What lies among those
    /// in use means nothing; so giving up needs no room.
    free: Vec<u32>,
    len: usize,
    blank: T,
}

impl<T: Copy> Slab<T> {
    /// No things; new places are filled with `blank` until they are used.
    pub fn new(blank: T) -> Self {
        Self::with_room(blank, LEAST)
    }

    /// The same, and so many can be kept before more memory is asked for.
    pub fn with_room(blank: T, things: usize) -> Self {
        let places = things.next_power_of_two().max(LEAST);
        Self { places: vec![blank; places], free: (0..places as u32).collect(), len: 0, blank }
    }

    /// Keeps a thing; its handle.
    #[inline(always)]
    pub fn insert(&mut self, thing: T) -> u32 {
        let handle = match self.free.get(self.len) {
            Some(&handle) => handle,
            None => self.grow(),
        };
        self.len += 1;
        // The only place where it is written: so its fields go there one by one, not through a copy on the stack, which the
        // processor could not forward.
        *at_mut(&mut self.places, handle) = thing;
        handle
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        let before = self.places.len();
        self.places.resize(2 * before, self.blank);
        self.free.extend(before as u32..2 * before as u32);
        before as u32
    }

    /// A thing will be looked at soon.
    #[inline]
    pub(crate) fn expect(&self, handle: u32) {
        prefetch::expect(&self.places, handle as usize);
    }

    /// Gives a thing up.
    #[inline]
    pub fn remove(&mut self, handle: u32) -> T {
        debug_assert!(self.len > 0, "{handle} was kept");
        self.len = self.len.wrapping_sub(1);
        *at_mut(&mut self.free, self.len as u32) = handle;
        *at(&self.places, handle)
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Places for as many as there were at once, or up to twice that.
    pub const fn most(&self) -> usize {
        self.places.len()
    }
}

/// A place of which there are always a power of two, so that no other can be meant and no branch is needed to see to it.
#[inline(always)]
fn at<T>(places: &[T], handle: u32) -> &T {
    debug_assert!(places.len().is_power_of_two() && (handle as usize) < places.len(), "{handle} was given out");
    // SAFETY: there is at least one place, and what is left of the handle is less than their number.
    unsafe { places.get_unchecked(handle as usize & (places.len() - 1)) }
}

/// The same, to be changed.
#[inline(always)]
fn at_mut<T>(places: &mut [T], handle: u32) -> &mut T {
    debug_assert!(places.len().is_power_of_two() && (handle as usize) < places.len(), "{handle} was given out");
    let place = handle as usize & (places.len() - 1);
    // SAFETY: as in `at`.
    unsafe { places.get_unchecked_mut(place) }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, handle: u32) -> &T {
        at(&self.places, handle)
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline(always)]
    fn index_mut(&mut self, handle: u32) -> &mut T {
        at_mut(&mut self.places, handle)
    }
}
