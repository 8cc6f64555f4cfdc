//! Proportions: operations, sizes, lines, randomness and the shapes of all distributions, at fixed seeds.

use std::collections::BTreeMap;

use crate::plans::{GIB, KIB, distributed, entries, entry, plan, sizes, twenty_lines};
use plimsoll_workload::plan::{AccessEntryPlan, Distribution, SizePlan, StreamPlan};
use plimsoll_workload::{Generator, Op, Request};

const SAMPLES: u64 = 400_000;

fn samples(plan: &StreamPlan) -> impl Iterator<Item = Request> + use<> {
    let mut generator = Generator::new(plan, 0);
    (0..SAMPLES).map(move |_| generator.next())
}

/// A share of all samples is what was asked for, within 4.5 binomial standard deviations.
#[track_caller]
fn assert_share(what: &str, counted: u64, expected: f64) {
    let share = counted as f64 / SAMPLES as f64;
    let tolerance = 4.5 * (expected * (1.0 - expected) / SAMPLES as f64).sqrt();
    assert!((share - expected).abs() <= tolerance, "{what}: {share} instead of {expected} ± {tolerance}");
}

fn count(plan: &StreamPlan, mut wanted: impl FnMut(&Request) -> bool) -> u64 {
    samples(plan).filter(|request| wanted(request)).count() as u64
}

#[test]
fn operations_come_in_their_proportions() {
    let mut plan = plan();
    plan.access.entries[0].op_percent = [62.5, 25.0, 10.0, 2.5];
    for (op, percent) in Op::ALL.into_iter().zip([62.5, 25.0, 10.0, 2.5]) {
        assert_share(op.name(), count(&plan, |request| request.op == op), percent / 100.0);
    }
}

#[test]
fn lines_come_by_weight() {
    let plan = entries(
        [(512, 10.0), (KIB, 5.0), (4 * KIB, 60.0), (64 * KIB, 25.0)]
            .map(|(size, weight)| AccessEntryPlan { weight, ..entry(size) })
            .to_vec(),
    );
    for (size, share) in [(512, 0.10), (KIB, 0.05), (4 * KIB, 0.60), (64 * KIB, 0.25)] {
        assert_share("line", count(&plan, |request| request.len == size), share);
    }
}

#[test]
fn read_and_size_draws_are_independent() {
    let plan = twenty_lines();
    assert_share("reads", count(&plan, |request| request.op == Op::Read), 0.5);
    let small_reads = count(&plan, |request| request.op == Op::Read && request.len == 512);
    assert_share("512-byte reads", small_reads, 0.125);
}

#[test]
fn read_and_random_draws_are_independent() {
    let mut plan = plan();
    plan.access.entries[0].op_percent = [60.0, 40.0, 0.0, 0.0];
    plan.access.entries[0].random_percent = 30.0;
    let mut pointer = 0;
    let random_writes = count(&plan, |request| {
        let jumped = request.offset != pointer;
        pointer = request.offset + u64::from(request.len);
        jumped && request.op == Op::Write
    });
    assert_share("random writes", random_writes, 0.12);
}

#[test]
fn percent_random_is_the_share_of_jumps() {
    for percent in [1.0, 20.0, 75.0, 99.0] {
        let mut plan = plan();
        plan.access.entries[0].random_percent = percent;
        let mut pointer = 0;
        let jumps = count(&plan, |request| {
            let jumped = request.offset != pointer;
            pointer = request.offset + 4096;
            jumped
        });
        assert_share("jumps", jumps, percent / 100.0);
    }
}

#[test]
fn sizes_follow_their_distribution() {
    let mut plan = plan();
    plan.access.entries[0].align = 512;
    plan.access.entries[0].sizes = sizes(SizePlan::Range { min: 4 * KIB, max: 16 * KIB, step: 4 * KIB });
    for size in [4, 8, 12, 16] {
        assert_share("range", count(&plan, |request| request.len == size * KIB), 0.25);
    }
    plan.access.entries[0].sizes = sizes(SizePlan::Weighted(vec![(4096, 60.0), (512, 25.0), (65_536, 15.0)]));
    for (size, share) in [(4096, 0.60), (512, 0.25), (65_536, 0.15)] {
        assert_share("weighted", count(&plan, |request| request.len == size), share);
    }
    let fixed = |size| SizePlan::Fixed(size);
    plan.access.entries[0].sizes = [fixed(512), fixed(8192), fixed(4096), fixed(0)];
    plan.access.entries[0].op_percent = [50.0, 50.0, 0.0, 0.0];
    assert!(samples(&plan).all(|request| request.len == if request.op == Op::Read { 512 } else { 8192 }));
}

#[test]
fn uniform_reaches_every_start_alike() {
    let line = AccessEntryPlan {
        sizes: sizes(SizePlan::Weighted(vec![(4096, 1.0), (65_536, 1.0)])),
        align: 4096,
        ..entry(4096)
    };
    let mut plan = entries(vec![line]);
    plan.region = 4096..4096 * 101;
    for (len, starts) in [(4096_u32, 100_u64), (65_536, 85)] {
        let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
        samples(&plan)
            .filter(|request| request.len == len)
            .for_each(|request| *seen.entry(request.offset).or_default() += 1);
        assert_eq!(seen.len() as u64, starts);
        let total: u64 = seen.values().sum();
        let expected = total as f64 / starts as f64;
        let chi_square: f64 = seen.values().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
        // The 99.9 % point of χ² with 99 degrees of freedom is 148.2.
        assert!(chi_square < 148.2, "{len} bytes: χ² {chi_square}");
    }
}

/// How often each block was hit, the most popular first.
fn popularity(plan: &StreamPlan) -> Vec<u64> {
    let mut hits: BTreeMap<u64, u64> = BTreeMap::new();
    samples(plan).for_each(|request| *hits.entry(request.offset).or_default() += 1);
    let mut counts: Vec<u64> = hits.into_values().collect();
    counts.sort_unstable_by(|left, right| right.cmp(left));
    counts
}

#[test]
fn zipf_ranks_have_their_shares_and_are_scattered() {
    let mut plan = distributed(Distribution::Zipf { theta: 1.2 });
    plan.region = 0..4096 * 1000;
    let total: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-1.2)).sum();
    for (rank, &hits) in popularity(&plan).iter().take(5).enumerate() {
        assert_share("rank", hits, ((rank + 1) as f64).powf(-1.2) / total);
    }
    let mut hits: BTreeMap<u64, u64> = BTreeMap::new();
    samples(&plan).for_each(|request| *hits.entry(request.offset).or_default() += 1);
    let mut hot: Vec<(u64, u64)> = hits.into_iter().map(|(offset, count)| (count, offset / 4096)).collect();
    hot.sort_unstable_by(|left, right| right.cmp(left));
    let neighbours = hot[..20].windows(2).filter(|pair| pair[0].1.abs_diff(pair[1].1) < 10).count();
    assert!(neighbours < 5, "{neighbours} of the 20 hottest blocks lie beside the next hottest");
}

#[test]
fn pareto_gives_a_fraction_of_the_blocks_the_rest_of_the_requests() {
    for h in [0.1, 0.2, 0.4] {
        let mut plan = distributed(Distribution::Pareto { h });
        plan.region = 0..4096 * 10_000;
        let hot: u64 = popularity(&plan).iter().take((h * 10_000.0) as usize).sum();
        let share = hot as f64 / SAMPLES as f64;
        // Sorting by observed count favours the lucky a little.
        assert!((share - (1.0 - h)).abs() < 0.02, "h = {h}: {share}");
    }
}

#[test]
fn normal_is_centred_with_its_deviation() {
    let plan = distributed(Distribution::Normal { deviation_percent: 10.0 });
    let within = |sigmas: f64| {
        count(&plan, |request| ((request.offset as f64 + 2048.0) / GIB as f64 - 0.5).abs() < sigmas * 0.1)
    };
    // P(|z| < 1) and P(|z| < 2), renormalised for the cut at 5 σ, which changes nothing here.
    assert_share("1 σ", within(1.0), 0.682_689);
    assert_share("2 σ", within(2.0), 0.954_500);
}

#[test]
fn zones_get_their_shares() {
    let plan = distributed(Distribution::Hot(vec![(80.0, 20.0), (15.0, 30.0), (5.0, 50.0)]));
    for (from, until, share) in [(0.0, 0.2, 0.80), (0.2, 0.5, 0.15), (0.5, 1.0, 0.05), (0.0, 0.1, 0.40)] {
        let inside = count(&plan, |request| {
            let place = request.offset as f64 / GIB as f64;
            (from..until).contains(&place)
        });
        assert_share("zone", inside, share);
    }
}

#[test]
fn all_threads_have_the_same_hot_blocks() {
    let mut plan = distributed(Distribution::Zipf { theta: 1.5 });
    plan.threads = 4;
    let hottest: Vec<u64> = Generator::family(&plan)
        .into_iter()
        .map(|mut generator| {
            let mut hits: BTreeMap<u64, u64> = BTreeMap::new();
            (0..10_000).for_each(|_| *hits.entry(generator.next().offset).or_default() += 1);
            hits.into_iter().max_by_key(|&(_, count)| count).unwrap().0
        })
        .collect();
    assert!(hottest.iter().all(|&block| block == hottest[0]), "{hottest:?}");
}
