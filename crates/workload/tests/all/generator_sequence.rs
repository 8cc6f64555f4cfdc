//! Sequential requests: continuity, wrapping, direction, stride, sharing; and permutations, which are sequences too.

use crate::plans;
use std::collections::BTreeSet;

use crate::plans::any::any_permutation;
use crate::plans::{KIB, entries, entry, sequential, sizes};
use plimsoll_workload::plan::{AccessEntryPlan, Sequential, SizePlan, StreamPlan};
use plimsoll_workload::{Generator, Op, Request};
use proptest::prelude::*;

const UNIT: u64 = 64 * 1024;

/// A sequential stream of 64 KiB requests over `units` of them, from one unit on.
fn lap(units: u64) -> StreamPlan {
    let mut plan = sequential(64 * KIB);
    plan.region = UNIT..(units + 1) * UNIT;
    plan
}

/// Offsets of the first requests of one shard, in 64 KiB.
fn offsets(plan: &StreamPlan, shard: u32, count: usize) -> Vec<u64> {
    let mut generator = Generator::new(plan, shard);
    (0..count).map(|_| generator.next().offset / UNIT).collect()
}

#[test]
fn forward_wraps_to_the_start() {
    assert_eq!(offsets(&lap(4), 0, 6), [1, 2, 3, 4, 1, 2]);
}

#[test]
fn backward_mirrors_forward() {
    let mut plan = lap(4);
    plan.access.backward = true;
    assert_eq!(offsets(&plan, 0, 6), [4, 3, 2, 1, 4, 3]);
}

#[test]
fn a_stride_is_the_distance_between_starts() {
    let mut plan = lap(5);
    plan.access.stride = 2 * UNIT;
    assert_eq!(offsets(&plan, 0, 5), [1, 3, 5, 1, 3]);
    plan.access.backward = true;
    assert_eq!(offsets(&plan, 0, 5), [5, 3, 1, 5, 3]);
}

#[test]
fn threads_of_their_own_start_evenly_spread() {
    let mut plan = lap(8);
    plan.threads = 4;
    let starts: Vec<u64> = (0..4).map(|shard| offsets(&plan, shard, 1)[0]).collect();
    assert_eq!(starts, [1, 3, 5, 7]);
    assert_eq!(offsets(&plan, 3, 4), [7, 8, 1, 2]);
    plan.access.backward = true;
    let starts: Vec<u64> = (0..4).map(|shard| offsets(&plan, shard, 1)[0]).collect();
    assert_eq!(starts, [8, 6, 4, 2]);
}

#[test]
fn threads_that_share_a_pointer_take_turns_on_one_course() {
    let mut plan = lap(100);
    plan.threads = 3;
    plan.access.sequential = Sequential::Shared;
    let mut family = Generator::family(&plan);
    let turns = [0, 1, 1, 2, 0, 0, 2, 1];
    let seen: Vec<u64> = turns.iter().map(|&thread: &usize| family[thread].next().offset / UNIT).collect();
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn seeking_one_thread_leaves_the_pointer_of_all_where_it_is() {
    let mut plan = lap(100);
    plan.threads = 2;
    plan.access.sequential = Sequential::Shared;
    let mut family = Generator::family(&plan);
    family[0].next();
    family[1].seek(50);
    assert_eq!((family[1].index(), family[1].next().offset / UNIT, family[0].next().offset / UNIT), (50, 2, 3));
}

#[test]
fn threads_really_running_side_by_side_share_the_course_without_loss() {
    let mut plan = lap(40_000);
    plan.threads = 4;
    plan.access.sequential = Sequential::Shared;
    let running: Vec<_> = Generator::family(&plan)
        .into_iter()
        .map(|mut generator| {
            std::thread::spawn(move || (0..10_000).map(|_| generator.next().offset).collect::<Vec<u64>>())
        })
        .collect();
    let seen: BTreeSet<u64> = running.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert_eq!(seen.len(), 40_000, "every address exactly once");
}

#[test]
fn a_sequential_request_follows_the_previous_one_random_or_not() {
    let line = AccessEntryPlan { random_percent: 50.0, sizes: sizes(mixed_sizes()), align: 512, ..entry(512) };
    let plan = entries(vec![line]);
    let mut generator = Generator::new(&plan, 0);
    let requests: Vec<Request> = (0..10_000).map(|_| generator.next()).collect();
    let follows = |pair: &&[Request]| pair[1].offset == pair[0].offset + u64::from(pair[0].len);
    let followers = requests.windows(2).filter(follows).count();
    // Half of 9,999, five standard deviations either way.
    assert!((4750..5250).contains(&followers), "{followers} of 9,999 follow");
}

#[test]
fn sequences_of_mixed_sizes_leave_no_gap_before_they_wrap() {
    let line = AccessEntryPlan { random_percent: 0.0, sizes: sizes(mixed_sizes()), align: 512, ..entry(512) };
    for backward in [false, true] {
        let mut plan = entries(vec![line.clone()]);
        plan.region = 512..1 << 20;
        plan.access.backward = backward;
        let mut generator = Generator::new(&plan, 0);
        let mut last = generator.next();
        let mut wraps = 0;
        for _ in 0..10_000 {
            let request = generator.next();
            let (upper, lower) = if backward { (last, request) } else { (request, last) };
            if upper.offset != lower.offset + u64::from(lower.len) {
                wraps += 1;
                let restart =
                    if backward { request.offset + u64::from(request.len) == 1 << 20 } else { request.offset == 512 };
                assert!(restart, "{last:?} then {request:?}");
            }
            last = request;
        }
        assert!(wraps > 50, "{wraps} wraps");
    }
}

fn mixed_sizes() -> SizePlan {
    SizePlan::Weighted(vec![(512, 1.0), (4096, 2.0), (65_536, 1.0)])
}

#[test]
fn lines_are_drawn_per_burst_and_the_pause_is_paid_once() {
    let line = |size, burst, delay_ns| AccessEntryPlan { burst, delay_ns, ..entry(size) };
    let plan = entries(vec![line(4096, 5, 1_000), line(8192, 3, 2_000)]);
    let mut generator = Generator::new(&plan, 0);
    for _ in 0..1_000 {
        let first = generator.next();
        let (burst, delay_ns) = if first.len == 4096 { (5, 1_000) } else { (3, 2_000) };
        assert_eq!(first.delay_ns, delay_ns);
        for _ in 1..burst {
            let request = generator.next();
            assert_eq!((request.len, request.delay_ns), (first.len, 0));
        }
    }
}

proptest! {
    #[test]
    fn shards_of_a_permutation_visit_every_block_once_per_pass(plan in any_permutation()) {
        let blocks = (plan.region.end - plan.region.start) / 4096;
        let threads = u64::from(plan.threads);
        let mut family = Generator::family(&plan);
        let mut passes = vec![BTreeSet::new(); 3];
        for round in 0..3 * blocks / threads + 1 {
            for (shard, generator) in family.iter_mut().enumerate() {
                let request = std::iter::repeat_with(|| generator.next()).find(|next| next.op != Op::Flush).unwrap();
                let pass = (round * threads + shard as u64) / blocks;
                if let Some(seen) = passes.get_mut(pass as usize) {
                    prop_assert!(seen.insert(request.offset), "{} twice in pass {}", request.offset, pass);
                }
            }
        }
        for seen in passes {
            prop_assert_eq!(seen.len() as u64, blocks);
        }
    }
}

#[test]
fn passes_of_a_permutation_have_orders_of_their_own() {
    let mut plan = plans::distributed(plimsoll_workload::plan::Distribution::Permutation);
    plan.region = 0..1000 * 4096;
    let mut generator = Generator::new(&plan, 0);
    let first: Vec<u64> = (0..1000).map(|_| generator.next().offset).collect();
    let second: Vec<u64> = (0..1000).map(|_| generator.next().offset).collect();
    let same = first.iter().zip(&second).filter(|pair| pair.0 == pair.1).count();
    assert!(same < 10, "{same} of 1000 places agree");
}
