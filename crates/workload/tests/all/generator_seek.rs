//! Any request can be gone to, seeds and shards separate streams, and equal seeds give equal ones.

use crate::plans;
use crate::plans::any::{any_permutation, any_plan};
use crate::plans::{KIB, distributed, entry, plan, sequential, sizes};
use plimsoll_workload::plan::{Distribution, Sequential, SizePlan, StreamPlan};
use plimsoll_workload::{Generator, Request, fingerprint};
use proptest::prelude::*;

fn take(plan: &StreamPlan, shard: u32, count: usize) -> Vec<Request> {
    let mut generator = Generator::new(plan, shard);
    (0..count).map(|_| generator.next()).collect()
}

#[test]
fn uniform_requests_of_one_size_are_foreseen() {
    let mut generator = Generator::new(&plan(), 0);
    for _ in 0..50 {
        assert_eq!(generator.foreseen(), Some(generator.next().offset));
    }
}

fn assert_seekable(plan: &StreamPlan, targets: &[usize]) -> Result<(), TestCaseError> {
    for shard in 0..plan.threads {
        let requests = take(plan, shard, 410);
        let mut generator = Generator::new(plan, shard);
        for &target in targets {
            generator.seek(target as u64);
            for (place, expected) in requests.iter().enumerate().skip(target).take(10) {
                prop_assert_eq!(generator.index(), place as u64);
                prop_assert_eq!(generator.next(), *expected, "request {} after seeking {}", place, target);
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_is_foreseen_comes(plan in any_plan()) {
        let mut generator = Generator::new(&plan, 0);
        for _ in 0..50 {
            let foreseen = generator.foreseen();
            let offset = generator.next().offset;
            prop_assert!(foreseen.is_none_or(|foreseen| foreseen == offset), "{:?} is not {}", foreseen, offset);
        }
    }

    #[test]
    fn seeking_finds_the_request_of_that_index(plan in any_plan(), targets in prop::collection::vec(0_usize..400, 1..6)) {
        assert_seekable(&plan, &targets)?;
    }

    #[test]
    fn seeking_finds_the_place_of_a_permutation(
        plan in any_permutation(),
        targets in prop::collection::vec(0_usize..400, 1..6),
    ) {
        assert_seekable(&plan, &targets)?;
    }

    #[test]
    fn equal_seeds_give_equal_streams(plan in any_plan()) {
        prop_assert_eq!(take(&plan, 0, 200), take(&plan.clone(), 0, 200));
        prop_assert_eq!(fingerprint(std::slice::from_ref(&plan), 50), fingerprint(&[plan], 50));
    }

    #[test]
    fn one_thread_does_not_care_whose_pointer_it_is(mut plan in any_plan()) {
        plan.threads = 1;
        plan.access.sequential = Sequential::Shared;
        let mut shared = Generator::family(&plan).remove(0);
        plan.access.sequential = Sequential::PerThread;
        let mut own = Generator::family(&plan).remove(0);
        for _ in 0..300 {
            prop_assert_eq!(shared.next(), own.next());
        }
    }
}

#[test]
fn threads_that_start_together_go_the_way_of_one_alone() {
    let mut plan = sequential(4 * KIB);
    plan.access.sequential = Sequential::SameStart;
    let offsets = |generator: &mut Generator| (0..50).map(|_| generator.next().offset).collect::<Vec<_>>();
    let alone = offsets(&mut Generator::family(&plan)[0]);
    plan.threads = 3;
    let mut family = Generator::family(&plan);
    assert_eq!(family.len(), 3);
    assert!(family.iter_mut().all(|generator| offsets(generator) == alone));
    plan.access.sequential = Sequential::PerThread;
    assert!(offsets(&mut Generator::family(&plan)[1]) != alone);
}

#[test]
fn distant_requests_are_reached_at_once() {
    let far = 1 << 50;
    for plan in [
        plan(),
        sequential(4 * KIB),
        distributed(Distribution::Permutation),
        distributed(Distribution::Zipf { theta: 1.0 }),
    ] {
        let mut there = Generator::new(&plan, 0);
        there.seek(far);
        let expected = there.next();
        there.seek(far - 1);
        there.next();
        assert_eq!(there.next(), expected);
    }
}

#[test]
fn seeds_and_shards_give_different_streams() {
    let mut plan = plan();
    plan.threads = 2;
    let (first, second) = (take(&plan, 0, 100), take(&plan, 1, 100));
    plan.seed += 1;
    let third = take(&plan, 0, 100);
    let equal = |left: &[Request], right: &[Request]| left.iter().zip(right).filter(|pair| pair.0 == pair.1).count();
    assert_eq!((equal(&first, &second), equal(&first, &third)), (0, 0));
}

#[test]
fn fingerprints_tell_every_kind_of_change() {
    let changes: [fn(&mut StreamPlan); 10] = [
        |_| {},
        |plan| plan.seed = 1,
        |plan| plan.threads = 3,
        |plan| plan.region.end /= 2,
        |plan| plan.access.entries[0].sizes = sizes(SizePlan::Fixed(8 * KIB)),
        |plan| plan.access.entries[0].op_percent = [70.0, 30.0, 0.0, 0.0],
        |plan| plan.access.entries[0].random_percent = 50.0,
        |plan| plan.access.entries[0].delay_ns = 1,
        |plan| plan.access.entries.push(entry(8 * KIB)),
        |plan| plan.arrival = plans::open(plimsoll_workload::plan::OpenPlan::Poisson { rate_per_s: 1e3 }).arrival,
    ];
    let mut prints: Vec<String> = changes
        .iter()
        .map(|change| {
            let mut plan = plan();
            change(&mut plan);
            fingerprint(&[plan], 100)
        })
        .collect();
    prints.sort();
    prints.dedup();
    assert_eq!(prints.len(), changes.len());
}

/// The streams of this release: these must be equal on every machine and may only change with a line in CHANGELOG.
#[test]
fn golden_streams_do_not_change() {
    let streams = [
        ("uniform", plan()),
        ("twenty lines", plans::twenty_lines()),
        ("zipf", distributed(Distribution::Zipf { theta: 1.1 })),
        ("pareto", distributed(Distribution::Pareto { h: 0.2 })),
        ("normal", distributed(Distribution::Normal { deviation_percent: 10.0 })),
        ("permutation", distributed(Distribution::Permutation)),
        ("poisson", plans::open(plimsoll_workload::plan::OpenPlan::Poisson { rate_per_s: 20e3 })),
        ("thinking", plans::thinking(1_000_000, true)),
    ];
    let prints: Vec<String> = streams
        .iter()
        .map(|(name, plan)| format!("{name} {}", fingerprint(std::slice::from_ref(plan), 1000)))
        .collect();
    assert_eq!(prints, GOLDEN);
}

const GOLDEN: [&str; 8] = [
    "uniform 7b885d5aeb0b9b26",
    "twenty lines e73d5a3ce47b8483",
    "zipf 845e774a30428e91",
    "pareto 1de248e57b98994e",
    "normal 13567faa2cff3bb4",
    "permutation ea5962a634009ecc",
    "poisson dd6dab2c8bb7df40",
    "thinking 2d5a7808220d7c1c",
];
