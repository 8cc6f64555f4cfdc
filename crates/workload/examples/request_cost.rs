//! What one request costs the generator, in nanoseconds: `cargo run --release --example request_cost`.
//!
//! Each line is the best of several rounds, so that a busy machine disturbs it little. What is measured is opaque to the
//! compiler at every call (`black_box`): otherwise it lifts the match on the plan's kind and the state out of the loop, as
//! no worker's loop allows, and sequential requests seem to cost 0.3 ns. The sums of all fields are used, so that nothing
//! of a request can be left out.

#[path = "../tests/plans/mod.rs"]
mod plans;

use std::hint::black_box;
use std::time::Instant;

use plans::{KIB, distributed, entry, open, plan, sequential, sizes, thinking, twenty_lines};
use plimsoll_workload::plan::{ContentKind, Distribution, OpenPlan, Sequential, SizePlan, StreamPlan};
use plimsoll_workload::stamp::{self, Expectation, Findings, ReadBack, StampHeader};
use plimsoll_workload::{Arrivals, Content, Generator, Thinker};

const ROUNDS: u32 = 7;

fn main() {
    generator();
    instants();
    content();
    stamps();
}

/// Prints the least time of one call in nanoseconds.
fn measure(what: &str, calls: u64, mut call: impl FnMut() -> u64) {
    let round = |call: &mut dyn FnMut(u64) -> u64| {
        let begin = Instant::now();
        black_box(call(calls));
        begin.elapsed().as_secs_f64() * 1e9 / calls as f64
    };
    let mut calls_of = |calls: u64| (0..calls).fold(0_u64, |sum, _| sum.wrapping_add(call()));
    let best = (0..ROUNDS).map(|_| round(&mut calls_of)).fold(f64::INFINITY, f64::min);
    println!("{what:<44} {best:>9.2} ns");
}

fn requests(what: &str, plan: &StreamPlan) {
    let mut generator = Generator::family(plan).swap_remove(0);
    measure(what, 5_000_000, || {
        let request = black_box(&mut generator).next();
        request
            .offset
            .wrapping_add(u64::from(request.len))
            .wrapping_add(request.op as u64)
            .wrapping_add(request.delay_ns)
    });
}

fn mixed(size: SizePlan, read: f64, random: f64) -> StreamPlan {
    let mut plan = plan();
    let line = &mut plan.access.entries[0];
    line.sizes = sizes(size);
    line.op_percent = [read, 100.0 - read, 0.0, 0.0];
    line.random_percent = random;
    plan
}

fn generator() {
    requests("uniform random, fixed size", &plan());
    requests("sequential", &sequential(64 * KIB));
    requests("70/30 random 8 KiB", &mixed(SizePlan::Fixed(8 * KIB), 70.0, 100.0));
    requests("75 % random", &mixed(SizePlan::Fixed(4 * KIB), 100.0, 75.0));
    requests("75 % random, 95/5", &mixed(SizePlan::Fixed(4 * KIB), 95.0, 75.0));
    requests("size range", &mixed(SizePlan::Range { min: 4 * KIB, max: 64 * KIB, step: 4 * KIB }, 100.0, 100.0));
    requests("20 lines", &twenty_lines());
    let mut shared = sequential(64 * KIB);
    (shared.threads, shared.access.sequential) = (4, Sequential::Shared);
    requests("sequential, shared pointer", &shared);
    requests("zipf:1.1", &distributed(Distribution::Zipf { theta: 1.1 }));
    requests("zipf:0.9", &distributed(Distribution::Zipf { theta: 0.9 }));
    requests("pareto:0.2", &distributed(Distribution::Pareto { h: 0.2 }));
    requests("normal:10", &distributed(Distribution::Normal { deviation_percent: 10.0 }));
    requests("hot:80/20", &distributed(Distribution::Hot(vec![(80.0, 20.0), (20.0, 80.0)])));
    requests("permutation, 2^18 blocks", &distributed(Distribution::Permutation));
    let mut odd = distributed(Distribution::Permutation);
    odd.region = 0..200_000 * u64::from(4 * KIB);
    requests("permutation, 200,000 blocks", &odd);
    let mut bursts = plan();
    bursts.access.entries.push(entry(8 * KIB));
    bursts.access.entries.iter_mut().for_each(|line| line.burst = 16);
    requests("2 lines, bursts of 16", &bursts);
}

fn instants() {
    for (what, process) in [
        ("arrival: constant", OpenPlan::Constant { rate_per_s: 300e3 }),
        ("arrival: poisson", OpenPlan::Poisson { rate_per_s: 300e3 }),
        ("arrival: burst", OpenPlan::Burst { rate_per_s: 300e3, size: 32 }),
        ("arrival: schedule", OpenPlan::Schedule(vec![(0, 1e3), (1_000_000_000, 300e3)])),
    ] {
        let mut arrivals = Arrivals::new(&open(process), 0);
        measure(what, 2_000_000, || black_box(&mut arrivals).next_ns());
    }
    let mut thinker = Thinker::new(&thinking(1_000_000, true), 0);
    measure("think: exponential", 2_000_000, || black_box(&mut thinker).next_ns());
}

fn content() {
    for (what, compress, duplicate) in
        [("incompressible", 1.0, 1.0), ("compress ratio 2", 2.0, 1.0), ("duplicate ratio 2", 1.0, 2.0)]
    {
        let mut plan = plan();
        (plan.content.compress_ratio, plan.content.duplicate_ratio) = (compress, duplicate);
        let content = Content::new(&plan);
        for (size, bytes, calls) in [("4 KiB", 4096_usize, 500_000), ("1 MiB", 1 << 20, 2_000)] {
            let mut buffer = vec![0; bytes];
            content.prepare(&mut buffer, 0);
            let mut sequence = 0;
            measure(&format!("refresh {size}, {what}"), calls, || {
                sequence += 1;
                content.refresh(black_box(&mut buffer), sequence << 20, sequence);
                u64::from(buffer[0])
            });
        }
    }
    let content = Content::new(&plan());
    let mut buffer = vec![0; 1 << 20];
    measure("prepare 1 MiB", 200, || {
        content.prepare(black_box(&mut buffer), 1);
        u64::from(buffer[0])
    });
}

fn stamps() {
    let mut stamped = plan();
    stamped.content.kind = ContentKind::Stamps;
    for (size, bytes, calls) in [("4 KiB", 4096_usize, 100_000), ("1 MiB", 1 << 20, 500)] {
        let mut buffer = vec![0; bytes];
        let mut header = StampHeader { run: 1, start: 0, sequence: 0, granule_bytes: 4096 };
        measure(&format!("stamp {size}"), calls, || {
            header.sequence += 1;
            stamp::write(black_box(&mut buffer), &header, |_| 7);
            u64::from(buffer[60])
        });
        let read = ReadBack { run: 1, start: 0, granule_bytes: 4096 };
        let mut findings = Findings::default();
        measure(&format!("check {size}"), calls, || {
            stamp::check(black_box(&buffer), &read, |_| Expectation::exactly(7), &mut findings)
        });
        assert!(findings.is_clean(), "{findings:?}");
    }
}
