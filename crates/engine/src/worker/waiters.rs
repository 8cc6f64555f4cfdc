//! Who waits for whom: requests that cannot be issued yet, in the order in which they came.
//!
//! Model: who waits stands in a queue for each granule that it touches, and in one for its lane if that keeps its order. A write is *first*
//! when nobody is before it in any of them; a read or flush waits for its lane alone, but writes behind it wait for it. Only who is first
//! can be issued, so only they are *called* when something came back. Each step is a look-up in an ordered set: joining, being called and
//! leaving take O(g log n) steps for a request of g granules, however many wait.
//!
//! Limits: it knows nothing of what is outstanding; who is called and still finds a granule busy stays where it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What a request wants to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// The granules that it touches.
    pub(super) granules: Range<u64>,
    /// Whether nobody may touch them while it is outstanding.
    pub(super) writes: bool,
    pub(super) lane: u32,
    /// Whether nothing of its lane may overtake it.
    pub(super) in_order: bool,
}

#[derive(Debug)]
struct Waiter {
    slot: u32,
    claim: Claim,
    /// How many of its queues have somebody before it that it waits for.
    behind: u64,
}

/// See the module. A waiter's *place* is its number in the order of arrival.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    by_place: BTreeMap<u64, Waiter>,
    /// The queues, as (granule or lane, place).
    by_granule: BTreeSet<(u64, u64)>,
    by_lane: BTreeSet<(u32, u64)>,
    /// Places of those who have nobody before them.
    first: BTreeSet<u64>,
    /// Those of them who are to be tried.
    called: BTreeSet<u64>,
    /// Those of them whose lane was held when they were tried, as (lane, place).
    held: BTreeSet<(u32, u64)>,
    next_place: u64,
    #[cfg(test)]
    steps: std::cell::Cell<u64>,
}

impl Waiters {
    /// Whether nobody waits.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.by_place.is_empty()
    }

    /// Whether somebody waits before a request that comes now.
    pub(super) fn is_before(&self, claim: &Claim) -> bool {
        let Range { start, end } = claim.granules;
        self.step();
        (claim.in_order && self.first_in_lane(claim.lane).is_some())
            || (claim.writes && start < end && self.by_granule.range((start, 0)..(end, 0)).next().is_some())
    }

    /// A request waits from now on, in this slot.
    pub(super) fn join(&mut self, slot: u32, claim: Claim) {
        let place = self.next_place;
        self.next_place += 1;
        let mut behind = u64::from(claim.in_order && self.first_in_lane(claim.lane).is_some());
        for granule in claim.granules.clone() {
            behind += u64::from(claim.writes && self.first_at(granule).is_some());
            self.by_granule.insert((granule, place));
        }
        if claim.in_order {
            self.by_lane.insert((claim.lane, place));
        }
        if behind == 0 {
            self.first.insert(place);
        }
        self.by_place.insert(place, Waiter { slot, claim, behind });
    }

    /// A write of these granules has come back: who is first at one of them is to be tried.
    pub(super) fn call_at(&mut self, granules: Range<u64>) {
        for granule in granules {
            if let Some(place) = self.first_at(granule).filter(|place| self.first.contains(place)) {
                self.called.insert(place);
            }
        }
    }

    /// A lane is held no longer: those who were tried meanwhile are to be tried again.
    pub(super) fn call_lane(&mut self, lane: u32) {
        while let Some(&(_, place)) = self.held.range((lane, 0)..=(lane, u64::MAX)).next() {
            self.step();
            self.held.remove(&(lane, place));
            self.called.insert(place);
        }
    }

    /// Everybody who is first is to be tried.
    pub(super) fn call_all(&mut self) {
        self.called.clone_from(&self.first);
        self.held.clear();
    }

    /// Who is to be tried next, as place and slot: who came first of those who are called. If it is issued it has to [`Waiters::leave`].
    pub(super) fn next_called(&mut self) -> Option<(u64, u32)> {
        self.step();
        let place = self.called.pop_first()?;
        self.by_place.get(&place).map(|waiter| (place, waiter.slot))
    }

    /// Who was tried cannot be issued because its lane is held.
    pub(super) fn hold(&mut self, place: u64, lane: u32) {
        self.held.insert((lane, place));
    }

    /// Somebody waits no longer; those who have nobody before them now are to be tried.
    pub(super) fn leave(&mut self, place: u64) {
        let Some(Waiter { claim, .. }) = self.by_place.remove(&place) else { return };
        self.first.remove(&place);
        self.called.remove(&place);
        self.held.remove(&(claim.lane, place));
        for granule in claim.granules {
            let was_first = self.first_at(granule) == Some(place);
            self.by_granule.remove(&(granule, place));
            if was_first && let Some(next) = self.first_at(granule) {
                self.move_up(next, |claim| claim.writes);
            }
        }
        if claim.in_order {
            let was_first = self.first_in_lane(claim.lane) == Some(place);
            self.by_lane.remove(&(claim.lane, place));
            if was_first && let Some(next) = self.first_in_lane(claim.lane) {
                self.move_up(next, |_| true);
            }
        }
    }

    /// Everybody who waits, as place and slot, in their order.
    pub(super) fn places(&self) -> Vec<(u64, u32)> {
        self.by_place.iter().map(|(place, waiter)| (*place, waiter.slot)).collect()
    }

    /// Somebody has come to the head of one of its queues.
    fn move_up(&mut self, place: u64, waits_there: impl Fn(&Claim) -> bool) {
        self.step();
        let Some(waiter) = self.by_place.get_mut(&place) else { return };
        if waits_there(&waiter.claim) {
            waiter.behind -= 1;
            if waiter.behind == 0 {
                self.first.insert(place);
                self.called.insert(place);
            }
        }
    }

    fn first_at(&self, granule: u64) -> Option<u64> {
        self.step();
        self.by_granule.range((granule, 0)..=(granule, u64::MAX)).next().map(|(_, place)| *place)
    }

    fn first_in_lane(&self, lane: u32) -> Option<u64> {
        self.step();
        self.by_lane.range((lane, 0)..=(lane, u64::MAX)).next().map(|(_, place)| *place)
    }

    /// Tests count look-ups.
    #[inline(always)]
    fn step(&self) {
        #[cfg(test)]
        self.steps.set(self.steps.get() + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the worker does with those who wait, by the book: every outstanding write has its granules to itself.
    #[derive(Default)]
    struct Desk {
        waiters: Waiters,
        claims: Vec<Claim>,
        outstanding: Vec<u32>,
        /// Everything that was issued, in its order.
        issued: Vec<u32>,
        tries: u64,
    }

    impl Desk {
        fn is_busy(&self, claim: &Claim) -> bool {
            let writes = self.outstanding.iter().map(|slot| &self.claims[*slot as usize]).filter(|other| other.writes);
            claim.writes && writes.into_iter().any(|other| meet(&other.granules, &claim.granules))
        }

        fn come(&mut self, claim: Claim) {
            let slot = self.claims.len() as u32;
            self.claims.push(claim.clone());
            if self.waiters.is_before(&claim) || self.is_busy(&claim) {
                self.waiters.join(slot, claim);
            } else {
                self.issue(slot);
            }
        }

        fn issue(&mut self, slot: u32) {
            self.outstanding.push(slot);
            self.issued.push(slot);
        }

        fn come_back(&mut self, number: usize) {
            let slot = self.outstanding.remove(number);
            if self.claims[slot as usize].writes {
                self.waiters.call_at(self.claims[slot as usize].granules.clone());
                self.call_up();
            }
        }

        fn call_up(&mut self) {
            while let Some((place, slot)) = self.waiters.next_called() {
                self.tries += 1;
                if !self.is_busy(&self.claims[slot as usize]) {
                    self.waiters.leave(place);
                    self.issue(slot);
                }
            }
        }
    }

    fn meet(one: &Range<u64>, other: &Range<u64>) -> bool {
        one.start < other.end && other.start < one.end
    }

    /// Who of `waiting` may be issued, each looked at beside all before it.
    fn may_go(desk: &Desk, waiting: &[u32]) -> Option<u32> {
        let free = |(number, slot): (usize, &u32)| {
            let claim = &desk.claims[*slot as usize];
            let behind = waiting[..number].iter().map(|other| &desk.claims[*other as usize]).any(|other| {
                (claim.in_order && other.lane == claim.lane) || (claim.writes && meet(&other.granules, &claim.granules))
            });
            (!behind && !desk.is_busy(claim)).then_some(*slot)
        };
        waiting.iter().enumerate().find_map(free)
    }

    fn write(granules: Range<u64>) -> Claim {
        Claim { granules, writes: true, lane: 0, in_order: false }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        /// Lane 0 keeps its order, reads included; reads of others never wait.
        #[test]
        fn nobody_waits_who_could_go_and_nobody_goes_before_its_turn(
            steps in prop::collection::vec((any::<bool>(), 0u64..12, 1u64..4, 0u32..3, any::<bool>(), any::<prop::sample::Index>()), 1..200),
        ) {
            let mut desk = Desk::default();
            for (comes, first, granules, lane, writes, which) in steps {
                if comes {
                    desk.come(Claim { granules: first..first + granules, writes: writes || lane > 0, lane, in_order: lane == 0 });
                } else if !desk.outstanding.is_empty() {
                    desk.come_back(which.index(desk.outstanding.len()));
                }
                let waiting: Vec<u32> = desk.waiters.places().into_iter().map(|(_, slot)| slot).collect();
                prop_assert_eq!(may_go(&desk, &waiting), None, "{:?} wait", waiting);
                let busy: Vec<&Claim> = desk.outstanding.iter().map(|slot| &desk.claims[*slot as usize]).collect();
                for (number, claim) in busy.iter().enumerate().filter(|(_, claim)| claim.writes) {
                    prop_assert!(busy[..number].iter().all(|other| !other.writes || !meet(&other.granules, &claim.granules)));
                }
                prop_assert!(desk.issued.iter().filter(|slot| desk.claims[**slot as usize].lane == 0).is_sorted());
            }
            while !desk.outstanding.is_empty() {
                desk.come_back(0);
            }
            prop_assert!(desk.waiters.is_empty());
            prop_assert_eq!(desk.issued.len(), desk.claims.len());
        }
    }

    /// Look-ups and tries until all of a load of so many requests, which come at once, are back.
    fn steps(claims: impl Iterator<Item = Claim>) -> u64 {
        let mut desk = Desk::default();
        claims.for_each(|claim| desk.come(claim));
        while !desk.outstanding.is_empty() {
            desk.come_back(0);
        }
        assert_eq!((desk.issued.len(), desk.waiters.is_empty()), (desk.claims.len(), true));
        desk.waiters.steps.get() + desk.tries
    }

    #[test]
    fn twice_as_many_that_wait_take_twice_as_many_steps() {
        let in_order = |granules| Claim { in_order: true, ..write(granules) };
        type Granules = fn(u64) -> Range<u64>;
        let loads: [(&str, Granules, bool); 4] = [
            ("one block", |_| 7..8, false),
            ("one block in order", |_| 7..8, true),
            ("a few blocks in order", |number| number % 5..number % 5 + 1, true),
            ("blocks that overlap in part", |number| number % 9 * 2..number % 9 * 2 + 4, false),
        ];
        for (name, granules, ordered) in loads {
            let of =
                |count: u64| steps((0..count).map(|number| (if ordered { in_order } else { write })(granules(number))));
            let (once, twice) = (of(1_000), of(2_000));
            assert!(twice <= once * 2 + 100, "{name}: {once} and {twice} steps");
            assert!(once <= 1_000 * 40, "{name}: {once} steps");
        }
    }

    /// A flush that holds a lane is answered once for each that waits, however often the others are called meanwhile.
    #[test]
    fn who_was_tried_while_its_lane_was_held_is_tried_again_when_that_is_over() {
        let mut waiters = Waiters::default();
        for (slot, lane) in [(0, 1), (1, 2), (2, 1)] {
            waiters.join(slot, Claim { lane, ..write(u64::from(slot)..u64::from(slot) + 1) });
        }
        waiters.call_all();
        let mut tried = Vec::new();
        while let Some((place, slot)) = waiters.next_called() {
            tried.push(slot);
            if slot == 1 { waiters.leave(place) } else { waiters.hold(place, 1) }
        }
        assert_eq!(tried, [0, 1, 2]);
        waiters.call_lane(2);
        assert_eq!(waiters.next_called(), None);
        waiters.call_lane(1);
        assert_eq!(
            [waiters.next_called(), waiters.next_called(), waiters.next_called()],
            [Some((0, 0)), Some((2, 2)), None]
        );
    }

    #[test]
    fn who_waits_for_one_that_is_forgotten_is_called() {
        let mut waiters = Waiters::default();
        waiters.join(0, write(0..2));
        waiters.join(1, write(1..3));
        waiters.call_at(1..2);
        assert_eq!(waiters.next_called(), Some((0, 0)));
        waiters.leave(0);
        assert_eq!(waiters.next_called(), Some((1, 1)));
    }
}
