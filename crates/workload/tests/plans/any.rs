//! Arbitrary resolved plans.

use plimsoll_workload::plan::{AccessEntryPlan, Distribution, Sequential, SizePlan, StreamPlan};
use proptest::prelude::*;

use super::{KIB, plan};

/// Lengths up to 64 KiB in a region of at least twice that.
const LEN_MAX: u32 = 64 * KIB;

pub fn size_plan() -> impl Strategy<Value = SizePlan> {
    let length = || (1_u32..=128).prop_map(|sectors| sectors * 512);
    prop_oneof![
        length().prop_map(SizePlan::Fixed),
        (length(), 0_u32..16, 1_u32..9).prop_map(|(min, steps, sectors)| {
            let step = sectors * 512;
            SizePlan::Range { min, max: (min + steps * step).min(min + (LEN_MAX - min) / step * step), step }
        }),
        prop::collection::vec((length(), 0.1_f64..10.0), 1..5).prop_map(SizePlan::Weighted),
    ]
}

fn percent() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(100.0), 0.0_f64..100.0]
}

fn op_percent() -> impl Strategy<Value = [f64; 4]> {
    prop_oneof![
        Just([100.0, 0.0, 0.0, 0.0]),
        Just([70.0, 30.0, 0.0, 0.0]),
        Just([50.0, 30.0, 15.0, 5.0]),
        Just([0.0, 0.0, 0.0, 100.0]),
    ]
}

fn line(burst: impl Strategy<Value = u32>) -> impl Strategy<Value = AccessEntryPlan> {
    let align = prop_oneof![Just(512_u32), Just(4096), Just(1536), Just(1)];
    let sizes = [size_plan(), size_plan(), size_plan(), size_plan()];
    (0.1_f64..10.0, op_percent(), sizes, percent(), align, burst, prop_oneof![Just(0_u64), Just(5_000)]).prop_map(
        |(weight, op_percent, sizes, random_percent, align, burst, delay_ns)| AccessEntryPlan {
            weight,
            op_percent,
            sizes,
            random_percent,
            align,
            burst,
            delay_ns,
        },
    )
}

fn distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        4 => Just(Distribution::Uniform),
        1 => (0.1_f64..2.5).prop_map(|theta| Distribution::Zipf { theta }),
        1 => (0.01_f64..0.6).prop_map(|h| Distribution::Pareto { h }),
        1 => (0.01_f64..300.0).prop_map(|deviation_percent| Distribution::Normal { deviation_percent }),
        1 => Just(Distribution::Hot(vec![(80.0, 20.0), (15.0, 30.0), (5.0, 50.0)])),
        1 => Just(Distribution::Hot(vec![(99.0, 0.0001), (1.0, 99.9999)])),
    ]
}

/// Any lines, with bursts of one or of several lengths.
fn lines() -> impl Strategy<Value = Vec<AccessEntryPlan>> {
    prop_oneof![
        prop::collection::vec(line(Just(1)), 1..4),
        prop::collection::vec(line(Just(7)), 1..4),
        prop::collection::vec(line(1_u32..20), 1..4),
        prop::collection::vec(line(1_u32..20), 1..2),
    ]
}

/// Any plan but permutations.
pub fn any_plan() -> impl Strategy<Value = StreamPlan> {
    let region = (0_u64..1000, 3 * u64::from(LEN_MAX)..1 << 34);
    let course = (any::<bool>(), prop_oneof![Just(0_u64), Just(512), Just(1 << 20), Just(1 << 40), 1_u64..200_000]);
    let shape = (any::<bool>(), 1_u32..5, any::<u64>());
    (lines(), distribution(), region, course, shape).prop_map(
        |(entries, distribution, (start, length), (backward, stride), (shared, threads, seed))| {
            let mut plan = plan();
            plan.region = start * 4096..start * 4096 + length;
            plan.access.entries = entries;
            plan.access.distribution = distribution;
            plan.access.backward = backward;
            plan.access.stride = stride;
            plan.access.sequential = if shared { Sequential::Shared } else { Sequential::PerThread };
            (plan.threads, plan.seed, plan.max_len) = (threads, seed, LEN_MAX);
            plan
        },
    )
}

/// A permutation over a number of blocks, with a mix that may include flushes.
pub fn any_permutation() -> impl Strategy<Value = StreamPlan> {
    (1_u64..400, 1_u32..9, any::<u64>(), prop_oneof![Just(0.0), Just(20.0)]).prop_map(
        |(blocks, threads, seed, flush)| {
            let mut plan = super::distributed(Distribution::Permutation);
            plan.region = 4096..4096 * (blocks + 1);
            plan.access.entries[0].op_percent = [100.0 - flush, 0.0, 0.0, flush];
            (plan.threads, plan.seed) = (threads, seed);
            plan
        },
    )
}
