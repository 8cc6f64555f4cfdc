//! Intended instants and think times: exact where they are regular, of the right law where they are random.

use crate::plans::{open, plan, thinking};
use plimsoll_workload::plan::{OpenPlan, StreamPlan};
use plimsoll_workload::{Arrivals, Thinker};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

fn with_threads(process: OpenPlan, threads: u32) -> StreamPlan {
    StreamPlan { threads, ..open(process) }
}

fn instants(plan: &StreamPlan, shard: u32, count: usize) -> Vec<u64> {
    let mut arrivals = Arrivals::new(plan, shard);
    (0..count).map(|_| arrivals.next_ns()).collect()
}

/// Instants of all shards below a limit, in order.
fn merged(plan: &StreamPlan, until_ns: u64) -> Vec<u64> {
    let shard = |shard| {
        let mut arrivals = Arrivals::new(plan, shard);
        std::iter::repeat_with(move || arrivals.next_ns()).take_while(move |&due| due < until_ns)
    };
    let mut all: Vec<u64> = (0..plan.threads).flat_map(shard).collect();
    all.sort_unstable();
    all
}

/// Kolmogorov–Smirnov distance of gaps from the exponential law of a mean, in units of 1/√n.
fn exponential_distance(mut gaps: Vec<u64>, mean_ns: f64) -> f64 {
    gaps.sort_unstable();
    let count = gaps.len() as f64;
    let apart = |(rank, &gap): (usize, &u64)| {
        let law = 1.0 - (-(gap as f64 + 0.5) / mean_ns).exp();
        (law - (rank as f64 + 0.5) / count).abs()
    };
    gaps.iter().enumerate().map(apart).fold(0.0, f64::max) * count.sqrt()
}

fn gaps(instants: &[u64]) -> Vec<u64> {
    instants.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn threads_of_a_constant_stream_interleave_evenly() {
    let plan = with_threads(OpenPlan::Constant { rate_per_s: 1_000.0 }, 4);
    assert_eq!(instants(&plan, 0, 3), [0, 4_000_000, 8_000_000]);
    assert_eq!(instants(&plan, 3, 3), [3_000_000, 7_000_000, 11_000_000]);
}

#[test]
fn a_constant_stream_is_exact_after_a_hundred_million_requests() {
    let mut arrivals = Arrivals::new(&open(OpenPlan::Constant { rate_per_s: 300_007.0 }), 0);
    let count = 100_000_000_u64;
    let last = (0..=count).fold(0, |_, _| arrivals.next_ns());
    assert_eq!(u128::from(last), u128::from(count) * 1_000_000_000 / 300_007);
}

#[test]
fn groups_of_a_burst_stream_are_due_at_once_whoever_issues_them() {
    for threads in [1, 2, 3, 7, 10] {
        let plan = with_threads(OpenPlan::Burst { rate_per_s: 1_000.0, size: 5 }, threads);
        let expected: Vec<u64> = (0..100).map(|request| request / 5 * 5_000_000).collect();
        assert_eq!(merged(&plan, 100_000_000), expected, "{threads} threads");
    }
}

#[test]
fn poisson_gaps_are_exponential_with_the_asked_mean() {
    for (rate, threads) in [(20_000.0, 1), (70_000.0, 3), (300_000.0, 4)] {
        let plan = with_threads(OpenPlan::Poisson { rate_per_s: rate }, threads);
        let shard = instants(&plan, threads - 1, 100_000);
        let distance = exponential_distance(gaps(&shard), f64::from(threads) * 1e9 / rate);
        assert!(distance < 1.95, "one shard at {rate}/s: D√n = {distance}"); // 0.1 %
        let all = merged(&plan, SECOND);
        let deviation = (all.len() as f64 - rate) / rate.sqrt();
        assert!(deviation.abs() < 4.0, "{} in one second at {rate}/s", all.len());
        let distance = exponential_distance(gaps(&all), 1e9 / rate);
        assert!(distance < 1.95, "all shards at {rate}/s: D√n = {distance}");
    }
}

#[test]
fn poisson_counts_have_the_variance_of_their_mean() {
    let plan = with_threads(OpenPlan::Poisson { rate_per_s: 10_000.0 }, 2);
    let mut counts = vec![0.0_f64; 5_000];
    merged(&plan, 5_000_000_000).iter().for_each(|due| counts[(due / 1_000_000) as usize] += 1.0);
    let mean = counts.iter().sum::<f64>() / 5_000.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 4_999.0;
    // Index of dispersion 1 ± 4·√(2/4999).
    assert!((variance / mean - 1.0).abs() < 0.08, "variance {variance}, mean {mean}");
}

#[test]
fn gaps_below_a_nanosecond_keep_the_rate() {
    let last = *instants(&open(OpenPlan::Poisson { rate_per_s: 5e9 }), 0, 1_000_000).last().unwrap();
    assert!((last as f64 / 200_000.0 - 1.0).abs() < 0.005, "{last} ns for a million requests");
}

#[test]
fn a_schedule_changes_its_rate_at_the_given_instants() {
    let steps = vec![(0, 1_000.0), (SECOND, 0.0), (2 * SECOND, 50_000.0), (3 * SECOND, 10_000.0)];
    for threads in [1, 3] {
        let plan = with_threads(OpenPlan::Schedule(steps.clone()), threads);
        let all = merged(&plan, 5 * SECOND);
        let count = |from: u64, until: u64| all.iter().filter(|&&due| (from..until).contains(&due)).count() as f64;
        for (from, until, expected) in [(0, 1, 1_000.0_f64), (2, 3, 50_000.0), (3, 5, 20_000.0)] {
            let deviation = (count(from * SECOND, until * SECOND) - expected) / expected.sqrt();
            assert!(deviation.abs() < 4.0, "{threads} threads, second {from}: {deviation} σ");
        }
        assert_eq!(count(SECOND, 2 * SECOND), 0.0);
        let fast: Vec<u64> = all.iter().copied().filter(|due| (2 * SECOND..3 * SECOND).contains(due)).collect();
        assert!(exponential_distance(gaps(&fast), 20_000.0) < 1.95);
    }
}

#[test]
fn a_schedule_that_starts_late_is_silent_before_and_one_that_ends_at_zero_ends() {
    let plan = open(OpenPlan::Schedule(vec![(SECOND, 1_000.0), (2 * SECOND, 0.0)]));
    let all = instants(&plan, 0, 3_000);
    assert!(all[0] >= SECOND);
    let due = all.iter().filter(|&&due| due != u64::MAX).count();
    assert!((870..1130).contains(&due), "{due} in the one second with a rate");
    assert!(all[due..].iter().all(|&due| due == u64::MAX));
}

#[test]
fn streams_without_arrivals_never_have_one() {
    assert_eq!(instants(&plan(), 0, 2), [u64::MAX; 2]);
    for process in [
        OpenPlan::Constant { rate_per_s: 0.0 },
        OpenPlan::Poisson { rate_per_s: 0.0 },
        OpenPlan::Schedule(vec![]),
        OpenPlan::Schedule(vec![(0, 0.0)]),
    ] {
        assert_eq!(instants(&open(process.clone()), 0, 2), [u64::MAX; 2], "{process:?}");
    }
}

fn any_process() -> impl Strategy<Value = OpenPlan> {
    let rate = || prop_oneof![0.01_f64..10.0, 10.0_f64..1e6, Just(1e9)];
    let steps = prop::collection::vec((0_u64..10 * SECOND, prop_oneof![Just(0.0), rate()]), 0..6);
    prop_oneof![
        rate().prop_map(|rate_per_s| OpenPlan::Constant { rate_per_s }),
        rate().prop_map(|rate_per_s| OpenPlan::Poisson { rate_per_s }),
        (rate(), 1_u32..100).prop_map(|(rate_per_s, size)| OpenPlan::Burst { rate_per_s, size }),
        steps.prop_map(|mut steps| {
            steps.sort_by_key(|step| step.0);
            OpenPlan::Schedule(steps)
        }),
    ]
}

proptest! {
    #[test]
    fn instants_never_go_back(process in any_process(), threads in 1_u32..9, seed: u64) {
        let plan = StreamPlan { seed, ..with_threads(process, threads) };
        for shard in 0..threads {
            let due = instants(&plan, shard, 500);
            prop_assert!(due.is_sorted(), "{:?}", due);
        }
    }

    #[test]
    fn threads_share_constant_and_burst_streams_without_loss(rate in 1.0_f64..1e6, size in 1_u32..50, threads in 1_u32..20) {
        let process = OpenPlan::Burst { rate_per_s: rate, size };
        let each = 60;
        let mut all: Vec<u64> =
            (0..threads).flat_map(|shard| instants(&with_threads(process.clone(), threads), shard, each)).collect();
        all.sort_unstable();
        prop_assert_eq!(all, instants(&with_threads(process, 1), 0, each * threads as usize));
    }
}

#[test]
fn think_times_are_constant_or_exponential() {
    let pauses = |plan: &StreamPlan, shard| {
        let mut thinker = Thinker::new(plan, shard);
        (0..50_000).map(|_| thinker.next_ns()).collect::<Vec<u64>>()
    };
    assert!(pauses(&thinking(0, true), 0).iter().all(|&pause| pause == 0));
    assert!(pauses(&thinking(2_500, false), 0).iter().all(|&pause| pause == 2_500));
    assert!(pauses(&open(OpenPlan::Constant { rate_per_s: 1.0 }), 0).iter().all(|&pause| pause == 0));
    let first = pauses(&thinking(1_000_000, true), 0);
    assert!(exponential_distance(first.clone(), 1e6) < 1.95);
    assert_ne!(first, pauses(&thinking(1_000_000, true), 1));
    let tiny: u64 = pauses(&thinking(1, true), 0).iter().sum();
    assert!((48_900..51_100).contains(&tiny), "a mean of 1 ns sums to {tiny} in 50,000 pauses");
}
