//! Row locks against the plain rule: who asked has its rows when nobody who asked before still has or wants one of them.

use std::collections::BTreeSet;

use plimsoll_array::raid::{RowLocks, RowSpan};

use super::scenario::Dice;

/// Everybody who has asked and not released, in the order of asking.
#[derive(Default)]
struct Plain {
    asked: Vec<(u32, Vec<RowSpan>)>,
}

fn overlap(left: &[RowSpan], right: &[RowSpan]) -> bool {
    let rows = |span: &RowSpan| span.first..span.first + u64::from(span.count);
    left.iter().any(|one| {
        right.iter().any(|other| {
            one.group == other.group && rows(one).start < rows(other).end && rows(other).start < rows(one).end
        })
    })
}

impl Plain {
    fn holders(&self) -> BTreeSet<u32> {
        let free = |index: usize| {
            let (_, spans) = &self.asked[index];
            self.asked[..index].iter().all(|(_, earlier)| !overlap(spans, earlier))
        };
        (0..self.asked.len()).filter(|&index| free(index)).map(|index| self.asked[index].0).collect()
    }
}

/// Spans of one or two groups, sometimes long, sometimes none.
fn spans(dice: &mut Dice, rows: u64) -> Vec<RowSpan> {
    let count = dice.below(8).min(2);
    (0..count as u16)
        .map(|group| {
            let length = if dice.below(4) == 0 { 1 + dice.below(6) as u32 } else { 1 };
            RowSpan { group, first: dice.below(rows), count: length }
        })
        .collect()
}

fn agree_with_the_plain_rule(rows: u64, most: usize, seed: u64) {
    let (mut locks, mut plain, mut dice) = (RowLocks::new(4), Plain::default(), Dice::new(seed));
    let (mut holders, mut granted) = (BTreeSet::new(), Vec::new());
    let mut free: Vec<u32> = (0..most as u32).rev().collect();
    let (mut asked, mut served) = (0_u32, 0_u32);
    for step in 0..6000 {
        let draining = step >= 5000;
        if !draining && !free.is_empty() && (holders.is_empty() || dice.below(2) == 0) {
            let (handle, spans) = (free.pop().unwrap(), spans(&mut dice, rows));
            if locks.acquire(handle, &spans) {
                holders.insert(handle);
            }
            plain.asked.push((handle, spans));
            asked += 1;
        } else if let Some(&handle) = holders.iter().nth(dice.below(holders.len().max(1) as u64) as usize) {
            holders.remove(&handle);
            plain.asked.retain(|&(other, _)| other != handle);
            granted.clear();
            locks.release(handle, &mut granted);
            granted.iter().for_each(|&next| assert!(holders.insert(next), "{next} is granted twice"));
            free.push(handle);
            served += 1;
        }
        assert_eq!(holders, plain.holders(), "seed {seed}, step {step}");
        assert_eq!(locks.waiting(), plain.asked.len() - holders.len());
        assert!(!holders.is_empty() || plain.asked.is_empty(), "somebody always goes on");
    }
    assert_eq!((served, locks.rows(), locks.waiting()), (asked, 0, 0), "everybody is served, nothing is left");
}

#[test]
fn holders_are_just_those_whom_the_plain_rule_lets_go_on() {
    for seed in 0..4 {
        agree_with_the_plain_rule(3, 12, seed);
        agree_with_the_plain_rule(40, 60, seed);
        agree_with_the_plain_rule(1 << 40, 200, seed);
    }
}

#[test]
fn writers_of_one_row_are_served_in_the_order_of_asking() {
    let row = [RowSpan { group: 0, first: 9, count: 1 }];
    let mut locks = RowLocks::new(8);
    let at_once: Vec<bool> = (0..5).map(|handle| locks.acquire(handle, &row)).collect();
    assert_eq!(at_once, [true, false, false, false, false]);
    for handle in 0..5 {
        let mut granted = Vec::new();
        locks.release(handle, &mut granted);
        assert_eq!(granted, (handle + 1..5).take(1).collect::<Vec<_>>());
    }
}

#[test]
fn a_write_of_many_rows_is_not_overtaken_for_ever_by_small_ones() {
    let mut locks = RowLocks::new(8);
    let row = |first| RowSpan { group: 0, first, count: 1 };
    locks.acquire(0, &[row(1)]);
    assert!(!locks.acquire(1, &[RowSpan { group: 0, first: 0, count: 4 }]), "row 1 is held");
    assert!(!locks.acquire(2, &[row(2)]), "row 2 is free, but the long write has asked for it before");
    let mut granted = Vec::new();
    locks.release(0, &mut granted);
    locks.release(1, &mut granted);
    assert_eq!(granted, [1, 2]);
}

#[test]
#[should_panic(expected = "has rows already")]
fn a_holder_that_asks_again_is_our_own_mistake() {
    let mut locks = RowLocks::new(8);
    locks.acquire(0, &[RowSpan { group: 0, first: 1, count: 1 }]);
    locks.acquire(0, &[RowSpan { group: 0, first: 2, count: 1 }]);
}

const fn row(first: u64) -> RowSpan {
    RowSpan { group: 0, first, count: 1 }
}

#[test]
fn a_waiting_holder_can_have_more_rows_if_nobody_else_wants_them() {
    let mut locks = RowLocks::new(4);
    assert!(locks.acquire(0, &[row(1)]));
    assert!(!locks.acquire(1, &[row(1)]));
    assert!(locks.extend(1, &[RowSpan { group: 0, first: 1, count: 3 }]));
    assert_eq!(locks.rows(), 3);
    assert!(!locks.acquire(2, &[row(3)]), "an added row is taken");
    let mut granted = Vec::new();
    locks.release(0, &mut granted);
    assert_eq!(granted, [1]);
    locks.release(1, &mut granted);
    assert_eq!(granted, [1, 2]);
    locks.release(2, &mut granted);
    assert_eq!((locks.rows(), locks.waiting()), (0, 0));
}

#[test]
fn who_asks_twice_gets_nothing_that_another_has_or_wants() {
    let mut locks = RowLocks::new(4);
    assert!(locks.acquire(0, &[row(1), row(2)]));
    assert!(!locks.acquire(1, &[row(1)]));
    assert!(!locks.acquire(2, &[row(2), row(3)]));
    // Row 3 is wanted by one who waits for row 2: waiting for both could never end.
    assert!(!locks.extend(1, &[row(1), row(4), row(3)]));
    assert_eq!(locks.rows(), 3, "nothing was added");
    let mut granted = Vec::new();
    locks.release(0, &mut granted);
    granted.sort_unstable();
    assert_eq!(granted, [1, 2]);
}
