//! What happens next: events in order of time, ties in the order in which they were made.
//!
//! Model: a heap of four children per node over packed keys (time, sequence, event), so that one comparison decides and a
//! node's children share a cache line. Few events are pending at once: about one per busy device and request on a link.
//!
//! Limits: sequence numbers have 36 bits; after 6.9e10 events one tie may be broken the other way, the same way every
//! time. At most 2^24 requests, jobs or commands at once.
//!
//! ```
//! use plimsoll_array::calendar::{Calendar, Event};
//! let mut calendar = Calendar::default();
//! calendar.add(20, Event::JobDone, 7);
//! calendar.add(10, Event::JobDone, 8);
//! assert_eq!(calendar.pop(), Some((10, Event::JobDone, 8)));
//! assert_eq!(calendar.next_ns(), Some(20));
//! ```

/// What an event is about; its index says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// The host has done its part of a request.
    HostDone,
    /// A controller's processor has taken a job in.
    JobReady,
    /// The data of a write have reached the controller.
    JobData,
    /// A job's answer has reached the host.
    JobDone,
    /// A command has reached its device.
    DeviceOffer,
    /// A device has finished a command.
    DeviceFinish,
    /// A device has finished a piece of its own work.
    DeviceInternal,
    /// An operation's second phase may begin.
    SecondPhase,
    /// A controller's cache may have been left alone for long enough.
    CacheIdle,
    /// The host's page cache may have been.
    PageCacheIdle,
    /// A device fails.
    Failure,
    /// A rebuild may take its next step.
    Rebuild,
}

const EVENTS: [Event; 12] = [
    Event::HostDone,
    Event::JobReady,
    Event::JobData,
    Event::JobDone,
    Event::DeviceOffer,
    Event::DeviceFinish,
    Event::DeviceInternal,
    Event::SecondPhase,
    Event::CacheIdle,
    Event::PageCacheIdle,
    Event::Failure,
    Event::Rebuild,
];

const INDEX_BITS: u32 = 24;
const PAYLOAD_BITS: u32 = INDEX_BITS + 4;
const ARITY: usize = 4;

/// See the module.
#[derive(Debug, Default)]
pub struct Calendar {
    heap: Vec<u128>,
    sequence: u64,
}

impl Calendar {
    /// Makes an event.
    #[inline]
    pub fn add(&mut self, time_ns: u64, event: Event, index: u32) {
        debug_assert!(index < 1 << INDEX_BITS, "too many at once for the calendar");
        let order = self.sequence << PAYLOAD_BITS | u64::from(event as u8) << INDEX_BITS | u64::from(index);
        self.sequence += 1;
        let key = u128::from(time_ns) << 64 | u128::from(order);
        self.heap.push(key);
        self.rise(self.heap.len() - 1, key);
    }

    /// When the next event is.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        self.heap.first().map(|key| (key >> 64) as u64)
    }

    /// What the next event is, and its index.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Event, u32)> {
        self.heap.first().map(|&key| Self::unpacked(key))
    }

    #[inline]
    const fn unpacked(key: u128) -> (Event, u32) {
        let payload = key as u64 & ((1 << PAYLOAD_BITS) - 1);
        (EVENTS[(payload >> INDEX_BITS) as usize], payload as u32 & ((1 << INDEX_BITS) - 1))
    }

    /// The next event: its time, what it is and its index.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, Event, u32)> {
        let first = *self.heap.first()?;
        let last = self.heap.pop()?;
        if !self.heap.is_empty() {
            self.sink(last);
        }
        let (event, index) = Self::unpacked(first);
        Some(((first >> 64) as u64, event, index))
    }

    /// How many are pending.
    pub const fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    pub const fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    #[inline]
    fn rise(&mut self, mut place: usize, key: u128) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[place] = self.heap[parent];
            place = parent;
        }
        self.heap[place] = key;
    }

    /// Puts `key` in the place of the first.
    #[inline]
    fn sink(&mut self, key: u128) {
        let heap = self.heap.as_mut_slice();
        let mut place = 0;
        loop {
            let first = place * ARITY + 1;
            if first >= heap.len() {
                break;
            }
            let children = &heap[first..heap.len().min(first + ARITY)];
            let (mut least, mut at) = (children[0], 0);
            for (number, &child) in children.iter().enumerate().skip(1) {
                if child < least {
                    (least, at) = (child, number);
                }
            }
            if key <= least {
                break;
            }
            heap[place] = least;
            place = first + at;
        }
        heap[place] = key;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_ties_as_they_were_made(
            steps in prop::collection::vec((0_u64..20, 0..EVENTS.len(), 0_u32..3), 1..300),
        ) {
            let mut calendar = Calendar::default();
            let mut pending = BTreeSet::new();
            let mut now_ns = 0;
            for (number, (pause_ns, kind, pops)) in (0_u32..).zip(steps) {
                calendar.add(now_ns + pause_ns, EVENTS[kind], number);
                pending.insert((now_ns + pause_ns, number, kind));
                for _ in 0..pops {
                    let expected = pending.pop_first().map(|(time_ns, number, kind)| (time_ns, EVENTS[kind], number));
                    prop_assert_eq!(calendar.next_ns(), expected.map(|(time_ns, _, _)| time_ns));
                    prop_assert_eq!(calendar.pop(), expected);
                    now_ns = expected.map_or(now_ns, |(time_ns, _, _)| time_ns);
                }
                prop_assert_eq!((calendar.len(), calendar.is_empty()), (pending.len(), pending.is_empty()));
            }
            for (time_ns, number, kind) in pending {
                prop_assert_eq!(calendar.pop(), Some((time_ns, EVENTS[kind], number)));
            }
            prop_assert_eq!(calendar.pop(), None);
        }
    }

    #[test]
    fn every_event_survives_packing() {
        let mut calendar = Calendar::default();
        for (number, event) in EVENTS.into_iter().enumerate() {
            calendar.add(number as u64, event, (1 << INDEX_BITS) - 1);
        }
        for (number, event) in EVENTS.into_iter().enumerate() {
            assert_eq!(calendar.pop(), Some((number as u64, event, (1 << INDEX_BITS) - 1)));
        }
    }
}
