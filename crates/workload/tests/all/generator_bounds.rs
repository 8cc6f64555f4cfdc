//! Whatever the plan: requests lie inside the region, are aligned, and have one of their line's sizes.

use crate::plans::any::any_plan;
use plimsoll_workload::plan::{AccessEntryPlan, SizePlan, StreamPlan};
use plimsoll_workload::{Generator, Op, Request};
use proptest::prelude::*;

fn has_size(plan: &SizePlan, len: u32) -> bool {
    match plan {
        SizePlan::Fixed(size) => len == *size,
        SizePlan::Range { min, max, step } => (*min..=*max).contains(&len) && (len - min).is_multiple_of(*step),
        SizePlan::Weighted(pairs) => pairs.iter().any(|pair| pair.0 == len),
    }
}

/// Whether a line can have produced a request.
fn can_come_from(line: &AccessEntryPlan, request: Request) -> bool {
    let op = request.op as usize;
    line.op_percent[op] > 0.0
        && (request.op == Op::Flush
            || (request.offset.is_multiple_of(u64::from(line.align)) && has_size(&line.sizes[op], request.len)))
        && (request.delay_ns == 0 || request.delay_ns == line.delay_ns)
}

fn assert_right(plan: &StreamPlan, request: Request) -> Result<(), TestCaseError> {
    let end = request.offset + u64::from(request.len);
    prop_assert!(plan.region.start <= request.offset && end <= plan.region.end, "{:?} of {:?}", request, plan.region);
    prop_assert!((request.len == 0) == (request.op == Op::Flush), "{:?}", request);
    let possible = plan.access.entries.iter().any(|line| can_come_from(line, request));
    prop_assert!(possible, "{:?} comes from no line", request);
    Ok(())
}

proptest! {
    #[test]
    fn requests_are_inside_aligned_and_of_a_listed_size(plan in any_plan()) {
        for mut generator in Generator::family(&plan) {
            for _ in 0..300 {
                assert_right(&plan, generator.next())?;
            }
        }
    }

    #[test]
    fn a_region_that_barely_fits_one_request_is_enough(mut plan in any_plan(), extra in 0_u64..4096) {
        let longest = |line: &AccessEntryPlan| line.sizes.iter().map(|size| match size {
            SizePlan::Fixed(len) => *len,
            SizePlan::Range { max, .. } => *max,
            SizePlan::Weighted(pairs) => pairs.iter().map(|pair| pair.0).max().unwrap(),
        }).max().unwrap();
        let len = plan.access.entries.iter().map(longest).max().unwrap();
        // 12,288 is a multiple of every alignment that occurs.
        plan.region = 12_288..12_288 + u64::from(len) + extra;
        for mut generator in Generator::family(&plan) {
            for _ in 0..100 {
                assert_right(&plan, generator.next())?;
            }
        }
    }

    #[test]
    fn the_short_ways_yield_what_the_general_course_yields(mut plan in any_plan(), shard in 0_u32..4) {
        plan.access.entries.truncate(1);
        plan.access.entries[0].delay_ns = 0;
        let mut short = Generator::new(&plan, shard.min(plan.threads - 1));
        plan.access.entries[0].delay_ns = 1; // a pause keeps the plan on the general course
        let mut general = Generator::new(&plan, shard.min(plan.threads - 1));
        for _ in 0..300 {
            let expected = Request { delay_ns: 0, ..general.next() };
            prop_assert_eq!(short.next(), expected);
        }
    }
}
