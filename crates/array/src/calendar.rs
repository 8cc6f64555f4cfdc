//! What happens next: events in order of time, ties in the order in which they were made.
//!
//! Model: an event is one packed key (time, sequence, event), so that one comparison decides. Those that come a short and
//! mostly equal while ahead, such as the end of a transfer, are made nearly in order: they go to the end of a short line
//! (`near`). The ends of commands go into a wheel of short stretches of time (`wheel`). All others, and what finds no room in
//! those, go into a heap (`heap`). The next event is the earliest of the three firsts, so where a key is kept changes what it
//! costs and nothing else.
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

mod heap;
mod near;
mod wheel;

use heap::Heap;
use near::Near;
use wheel::Wheel;

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
    /// A device has carried out a trim.
    DeviceTrimmed,
    /// A rebuild may take its next step.
    Rebuild,
    /// A new drive comes for one that has failed.
    Replacement,
    /// The limit of its volume lets a job in.
    JobAdmitted,
}

impl Event {
    /// The event of a number.
    #[inline]
    const fn of(number: u64) -> Self {
        match number {
            0 => Self::HostDone,
            1 => Self::JobReady,
            2 => Self::JobData,
            3 => Self::JobDone,
            4 => Self::DeviceOffer,
            5 => Self::DeviceFinish,
            6 => Self::DeviceInternal,
            7 => Self::SecondPhase,
            8 => Self::CacheIdle,
            9 => Self::PageCacheIdle,
            10 => Self::Failure,
            11 => Self::DeviceTrimmed,
            12 => Self::Rebuild,
            13 => Self::Replacement,
            _ => Self::JobAdmitted,
        }
    }

    /// Whether such events are made nearly in the order in which they happen.
    #[inline]
    const fn is_near(self) -> bool {
        use Event::{DeviceOffer, HostDone, JobData, JobDone, JobReady, SecondPhase};
        matches!(self, HostDone | JobReady | JobData | JobDone | DeviceOffer | SecondPhase)
    }

    /// Whether it is the end of what a device does.
    #[inline]
    const fn is_end(self) -> bool {
        matches!(self, Self::DeviceFinish | Self::DeviceInternal)
    }
}

const INDEX_BITS: u32 = 24;
const PAYLOAD_BITS: u32 = INDEX_BITS + 4;

/// Stands where there is no event, after every event there is.
const NEVER: u128 = u128::MAX;
/// The last instant at which something can happen, 584 years after the beginning.
const LAST_NS: u64 = u64::MAX - 1;

/// See the module.
#[derive(Debug)]
pub struct Calendar {
    near: Near,
    wheel: Wheel,
    heap: Heap,
    /// The first key of wheel and heap, or [`NEVER`].
    far: u128,
    sequence: u64,
}

impl Default for Calendar {
    fn default() -> Self {
        Self { near: Near::default(), wheel: Wheel::default(), heap: Heap::default(), far: NEVER, sequence: 0 }
    }
}

impl Calendar {
    /// Makes an event.
    #[inline(always)] // which kind it is, and so where it goes, is known where it is made
    pub fn add(&mut self, time_ns: u64, event: Event, index: u32) {
        debug_assert!(index < 1 << INDEX_BITS, "too many at once for the calendar");
        let order = self.sequence << PAYLOAD_BITS | u64::from(event as u8) << INDEX_BITS | u64::from(index);
        self.sequence += 1;
        let key = u128::from(time_ns) << 64 | u128::from(order);
        if event.is_near() && self.near.insert(key) {
            return;
        }
        if !(event.is_end() && self.wheel.insert(key)) {
            self.keep(key);
        }
        self.far = self.far.min(key);
    }

    /// Keeps a key for which there is no room elsewhere.
    #[inline(never)]
    fn keep(&mut self, key: u128) {
        self.heap.insert(key);
        self.wheel.adapt(|key| self.heap.insert(key));
    }

    /// Takes the first key of wheel and heap out.
    #[inline]
    fn pop_far(&mut self) {
        if !self.wheel.take(self.far) {
            self.heap.pop();
        }
        self.far = self.wheel.first().min(self.heap.first());
    }

    /// When the next event is.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        let first = self.near.first().min(self.far);
        (first != NEVER).then_some((first >> 64) as u64)
    }

    /// The first event but for those that are near, and its index: the next one as soon as nothing is near.
    #[inline]
    pub(crate) fn peek_far(&self) -> Option<(Event, u32)> {
        let first = self.far;
        (first != NEVER).then(|| Self::unpacked(first))
    }

    #[inline]
    const fn unpacked(key: u128) -> (Event, u32) {
        let payload = key as u64 & ((1 << PAYLOAD_BITS) - 1);
        (Event::of(payload >> INDEX_BITS), payload as u32 & ((1 << INDEX_BITS) - 1))
    }

    /// The next event: its time, what it is and its index.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, Event, u32)> {
        self.pop_until(u64::MAX)
    }

    /// The next event if it is no later than `until_ns`.
    #[inline]
    pub fn pop_until(&mut self, until_ns: u64) -> Option<(u64, Event, u32)> {
        let (near, far) = (self.near.first(), self.far);
        let is_near = near < far;
        let first = if is_near { near } else { far };
        let time_ns = (first >> 64) as u64;
        if time_ns > until_ns.min(LAST_NS) {
            return None;
        }
        if is_near {
            self.near.pop();
        } else {
            self.pop_far();
        }
        let (event, index) = Self::unpacked(first);
        Some((time_ns, event, index))
    }

    /// How many are pending.
    pub fn len(&self) -> usize {
        self.near.len() + self.wheel.len() + self.heap.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.next_ns().is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const KINDS: u64 = Event::Replacement as u64 + 1;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_ties_as_they_were_made(
            steps in prop::collection::vec((0_u64..20, 0..KINDS, 0_u32..3), 1..300),
        ) {
            let mut calendar = Calendar::default();
            let mut pending = BTreeSet::new();
            let mut now_ns = 0;
            for (number, (pause_ns, kind, pops)) in (0_u32..).zip(steps) {
                calendar.add(now_ns + pause_ns, Event::of(kind), number);
                pending.insert((now_ns + pause_ns, number, kind));
                for _ in 0..pops {
                    let expected = pending.pop_first().map(|(time_ns, number, kind)| (time_ns, Event::of(kind), number));
                    prop_assert_eq!(calendar.next_ns(), expected.map(|(time_ns, _, _)| time_ns));
                    prop_assert_eq!(calendar.pop(), expected);
                    now_ns = expected.map_or(now_ns, |(time_ns, _, _)| time_ns);
                }
                prop_assert_eq!((calendar.len(), calendar.is_empty()), (pending.len(), pending.is_empty()));
            }
            for (time_ns, number, kind) in pending {
                prop_assert_eq!(calendar.pop(), Some((time_ns, Event::of(kind), number)));
            }
            prop_assert_eq!(calendar.pop(), None);
        }
    }

    #[test]
    fn more_than_find_room_nearby_come_in_order_too() {
        let mut calendar = Calendar::default();
        // Upwards, downwards, and all at one instant.
        let times: Vec<u64> = (0..200).chain((0..200).rev()).chain([50; 200]).collect();
        for (number, &time_ns) in (0..).zip(&times) {
            calendar.add(time_ns, Event::JobDone, number);
        }
        let mut order: Vec<(u64, u32)> = times.into_iter().zip(0..).collect();
        order.sort_unstable();
        let found = std::iter::from_fn(|| calendar.pop()).map(|(time_ns, _, number)| (time_ns, number));
        assert_eq!(found.collect::<Vec<_>>(), order);
    }

    /// The wheel has to change the length of its buckets several times in both directions, and to be of use afterwards.
    #[test]
    fn ends_come_in_order_however_far_ahead_they_lie() {
        let draws = plimsoll_workload::rng::Draws::new(7, &[]);
        let mut calendar = Calendar::default();
        let mut pending = BTreeSet::new();
        let mut now_ns = 0;
        for (phase, ahead_ns) in (0_u32..).zip([5_000_000, 1_000, 10_000_000_000, 100_000]) {
            for number in phase * 20_000..(phase + 1) * 20_000 {
                let time_ns = now_ns + draws.at(u64::from(number)) % ahead_ns;
                calendar.add(time_ns, Event::DeviceFinish, number);
                pending.insert((time_ns, number));
                if pending.len() > 50 {
                    let expected = pending.pop_first();
                    assert_eq!(calendar.pop().map(|(time_ns, _, number)| (time_ns, number)), expected);
                    now_ns = expected.map_or(now_ns, |(time_ns, _)| time_ns);
                }
            }
            assert_eq!(calendar.len(), 50);
            assert!(calendar.wheel.len() > 25, "{} of 50 on the wheel at {ahead_ns} ns", calendar.wheel.len());
            while let Some((time_ns, number)) = pending.pop_first() {
                assert_eq!(calendar.pop(), Some((time_ns, Event::DeviceFinish, number)));
                now_ns = time_ns;
            }
        }
    }

    #[test]
    fn what_lies_beyond_an_instant_stays() {
        let mut calendar = Calendar::default();
        calendar.add(10, Event::JobDone, 1);
        calendar.add(20, Event::DeviceFinish, 2);
        assert_eq!(calendar.pop_until(9), None);
        assert_eq!(calendar.pop_until(10), Some((10, Event::JobDone, 1)));
        assert_eq!(calendar.pop_until(19), None);
        assert_eq!((calendar.next_ns(), calendar.len()), (Some(20), 1));
        assert_eq!(calendar.pop_until(u64::MAX), Some((20, Event::DeviceFinish, 2)));
        assert_eq!((calendar.next_ns(), calendar.len()), (None, 0));
    }

    #[test]
    fn every_event_survives_packing() {
        let mut calendar = Calendar::default();
        for number in 0..KINDS {
            assert_eq!(Event::of(number) as u64, number);
            calendar.add(number, Event::of(number), (1 << INDEX_BITS) - 1);
        }
        for number in 0..KINDS {
            assert_eq!(calendar.pop(), Some((number, Event::of(number), (1 << INDEX_BITS) - 1)));
        }
    }
}
