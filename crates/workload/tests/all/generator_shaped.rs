//! Zones, runs, trims before writes and pointers of operations: their sequences, and going to any place of them.

use crate::plans::{KIB, distributed, entry, plan, sequential, sizes};
use plimsoll_workload::plan::{Distribution, RunPlan, Sequential, SizePlan, StreamPlan, ZonePlan};
use plimsoll_workload::{Generator, Op, Request};

const BLOCK: u64 = 4096;

fn take(plan: &StreamPlan, count: usize) -> Vec<Request> {
    let mut generator = Generator::new(plan, 0);
    (0..count).map(|_| generator.next()).collect()
}

/// Block numbers of the requests.
fn blocks(plan: &StreamPlan, count: usize) -> Vec<u64> {
    take(plan, count).iter().map(|request| request.offset / BLOCK).collect()
}

fn zoned(mut plan: StreamPlan, length: u64, amount: u64, skip: u64) -> StreamPlan {
    plan.access.zones = Some(ZonePlan { length: length * BLOCK, amount: amount * BLOCK, skip: skip * BLOCK });
    plan
}

fn in_region(mut plan: StreamPlan, first: u64, count: u64) -> StreamPlan {
    plan.region = first * BLOCK..(first + count) * BLOCK;
    plan
}

fn mixed(mut plan: StreamPlan) -> StreamPlan {
    plan.access.entries[0].op_percent = [50.0, 50.0, 0.0, 0.0];
    plan
}

#[test]
fn a_sequential_stream_goes_from_zone_to_zone_and_round_again() {
    let plan = zoned(in_region(sequential(4 * KIB), 10, 11), 3, 2, 1);
    // Zones of 3 blocks begin at 10 and 14; the third would reach the end at 21 exactly: 18, 19 and 20.
    assert_eq!(blocks(&plan, 8), [10, 11, 14, 15, 18, 19, 10, 11]);
    let whole = zoned(in_region(sequential(4 * KIB), 10, 10), 3, 2, 1);
    assert_eq!(blocks(&whole, 5), [10, 11, 14, 15, 10], "a zone that does not fit is left out");
}

#[test]
fn more_than_its_length_is_taken_round_and_round_from_a_zone() {
    let plan = zoned(in_region(sequential(4 * KIB), 0, 8), 2, 3, 0);
    assert_eq!(blocks(&plan, 6), [0, 1, 0, 2, 3, 2]);
}

#[test]
fn random_requests_stay_in_their_zone() {
    let plan = zoned(in_region(plan(), 0, 100), 10, 25, 15);
    let seen = blocks(&plan, 200);
    for (index, block) in seen.iter().enumerate() {
        let zone = (index as u64 / 25) % 4 * 25;
        assert!((zone..zone + 10).contains(block), "request {index} at block {block}");
    }
    assert_ne!(seen[..25], seen[100..125], "a zone that is entered again is drawn anew");
}

#[test]
fn a_permutation_visits_every_block_of_a_zone_once() {
    let plan = zoned(in_region(distributed(Distribution::Permutation), 0, 40), 10, 10, 0);
    let seen = blocks(&plan, 80);
    for (zone, chunk) in seen.chunks(10).enumerate() {
        let mut chunk = chunk.to_vec();
        chunk.sort_unstable();
        let first = zone as u64 % 4 * 10;
        assert_eq!(chunk, (first..first + 10).collect::<Vec<_>>());
    }
    let half = zoned(in_region(distributed(Distribution::Permutation), 0, 40), 10, 5, 0);
    for chunk in blocks(&half, 200).chunks(5) {
        let mut chunk = chunk.to_vec();
        chunk.sort_unstable();
        chunk.dedup();
        assert_eq!(chunk.len(), 5, "no block twice in one visit");
    }
}

#[test]
fn every_thread_goes_through_all_zones() {
    let mut plan = zoned(in_region(sequential(4 * KIB), 0, 8), 2, 2, 0);
    (plan.threads, plan.access.sequential) = (2, Sequential::Shared);
    for mut generator in Generator::family(&plan) {
        let seen: Vec<u64> = (0..5).map(|_| generator.next().offset / BLOCK).collect();
        assert_eq!(seen, [0, 1, 2, 3, 4]);
    }
}

#[test]
fn a_run_follows_or_repeats_its_first_request() {
    for (repeats, step) in [(false, 1), (true, 0)] {
        let mut plan = mixed(in_region(plan(), 7, 1000));
        plan.access.run = RunPlan { length: 4, repeats };
        let requests = take(&plan, 4000);
        for run in requests.chunks(4) {
            for pair in run.windows(2) {
                let wraps = pair[1].offset == 7 * BLOCK && pair[0].offset == 1006 * BLOCK;
                assert!(pair[1].offset == pair[0].offset + step * BLOCK || wraps && !repeats, "{pair:?}");
            }
        }
        let reads = requests.iter().filter(|request| request.op == Op::Read).count();
        assert!((1800..2200).contains(&reads), "operations are drawn for each request: {reads}");
    }
}

#[test]
fn a_trim_of_the_same_blocks_comes_before_every_write() {
    let mut plan = in_region(distributed(Distribution::Permutation), 0, 64);
    plan.access.entries[0].op_percent = [0.0, 100.0, 0.0, 0.0];
    plan.access.trims_first = true;
    plan.threads = 2;
    let mut family = Generator::family(&plan);
    let mut seen: Vec<u64> = Vec::new();
    for generator in &mut family {
        for _ in 0..32 {
            let (trim, write) = (generator.next(), generator.next());
            assert_eq!((trim.op, write.op), (Op::Trim, Op::Write));
            assert_eq!((trim.offset, trim.len), (write.offset, write.len));
            seen.push(write.offset / BLOCK);
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..64).collect::<Vec<_>>(), "together the threads visit every block once");
}

#[test]
fn operations_with_pointers_of_their_own_each_begin_at_the_start() {
    let mut plan = mixed(in_region(sequential(4 * KIB), 5, 20));
    plan.access.sequential = Sequential::PerOperation;
    plan.access.entries[0].sizes = [4, 8, 4, 4].map(|kib| SizePlan::Fixed(kib * KIB));
    let requests = take(&plan, 200);
    for (op, blocks) in [(Op::Read, 1), (Op::Write, 2)] {
        let own: Vec<u64> =
            requests.iter().filter(|request| request.op == op).map(|each| each.offset / BLOCK).collect();
        let course: Vec<u64> = (0..own.len() as u64).map(|place| 5 + place * blocks % 20).collect();
        assert_eq!(own, course, "{op:?}");
    }
}

#[test]
fn random_requests_move_the_pointer_of_their_operation() {
    let mut plan = mixed(in_region(plan(), 0, 1 << 20));
    plan.access.entries[0].random_percent = 10.0;
    plan.access.sequential = Sequential::PerOperation;
    let requests = take(&plan, 20_000);
    for op in [Op::Read, Op::Write] {
        let own: Vec<&Request> = requests.iter().filter(|request| request.op == op).collect();
        let follow = own.windows(2).filter(|pair| pair[1].offset == pair[0].offset + BLOCK).count();
        let share = follow as f64 / (own.len() - 1) as f64;
        assert!((share - 0.9).abs() < 0.02, "{op:?}: {share}");
    }
}

#[test]
fn any_request_can_be_gone_to() {
    let mut runs = mixed(in_region(plan(), 0, 100));
    runs.access.run = RunPlan { length: 3, repeats: false };
    let mut apart = mixed(in_region(sequential(4 * KIB), 0, 100));
    apart.access.sequential = Sequential::PerOperation;
    let mut trims = in_region(plan(), 0, 100);
    trims.access.entries[0].op_percent = [0.0, 100.0, 0.0, 0.0];
    trims.access.trims_first = true;
    let mut sized = in_region(sequential(4 * KIB), 0, 100);
    sized.access.entries[0].sizes = sizes(SizePlan::Weighted(vec![(4096, 1.0), (8192, 1.0)]));
    let mut lines = in_region(plan(), 0, 100);
    lines.access.entries = vec![entry(4 * KIB), entry(8 * KIB)];
    let shaped = [
        zoned(in_region(plan(), 0, 100), 10, 7, 5),
        zoned(in_region(sequential(4 * KIB), 0, 100), 10, 17, 5),
        zoned(in_region(distributed(Distribution::Permutation), 0, 100), 10, 10, 0),
        zoned(sized, 10, 12, 1),
        zoned(lines, 10, 12, 1),
        zoned(runs.clone(), 10, 12, 1),
        zoned(apart.clone(), 10, 12, 1),
        zoned(trims.clone(), 10, 12, 1),
        runs,
        apart,
        trims,
    ];
    for (number, plan) in shaped.iter().enumerate() {
        let requests = take(plan, 320);
        let mut generator = Generator::new(plan, 0);
        for target in [300, 0, 17, 31, 150, 151, 2, 299] {
            generator.seek(target as u64);
            for expected in &requests[target..target + 12] {
                assert_eq!(generator.next(), *expected, "plan {number} after seeking {target}");
            }
        }
    }
}
