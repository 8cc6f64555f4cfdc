//! Plans written by hand, for tests that need a stream without options, files or targets.
#![allow(dead_code)] // every test file uses a part

pub mod any;

use plimsoll_workload::plan::{
    AccessEntryPlan, AccessPlan, ArrivalPlan, ContentKind, ContentPlan, Distribution, HoldPlan, OpenPlan, RunPlan,
    Sequential, SizePlan, StreamPlan, Verify,
};

pub const KIB: u32 = 1024;
pub const GIB: u64 = 1 << 30;

/// 4 KiB random reads over 1 GiB; tests change what they are about.
pub fn plan() -> StreamPlan {
    StreamPlan {
        name: "test".into(),
        threads: 1,
        queue_depth: 1,
        region: 0..GIB,
        placed: plimsoll_workload::parts::Placed::default(),
        max_len: 4 * KIB,
        granule: 4 * KIB,
        ops: [true, false, false, false],
        access: AccessPlan {
            entries: vec![entry(4 * KIB)],
            distribution: Distribution::Uniform,
            sequential: Sequential::PerThread,
            backward: false,
            stride: 0,
            zones: None,
            run: RunPlan::NONE,
            begins: 0,
            trims_first: false,
        },
        trace: None,
        arrival: ArrivalPlan::Closed { think_ns: 0, exponential: false },
        direct: true,
        read_ahead: plimsoll_workload::plan::ReadAhead::Usual,
        dsync: false,
        hold: HoldPlan::NONE,
        start_ns: 0,
        end_ns: u64::MAX,
        flush_at_end: false,
        budget: plimsoll_workload::plan::Budget::ENDLESS,
        flush_every: 0,
        merge_depth: 1,
        content: ContentPlan { kind: ContentKind::Random, compress_ratio: 1.0, duplicate_ratio: 1.0 },
        verify: Verify::Off,
        seed: 42,
    }
}

/// Random reads of one size, aligned to it.
pub fn entry(size: u32) -> AccessEntryPlan {
    AccessEntryPlan {
        weight: 1.0,
        op_percent: [100.0, 0.0, 0.0, 0.0],
        sizes: sizes(SizePlan::Fixed(size)),
        random_percent: 100.0,
        align: size,
        burst: 1,
        delay_ns: 0,
    }
}

/// The same sizes for every operation.
pub fn sizes(size: SizePlan) -> [SizePlan; 4] {
    [size.clone(), size.clone(), size, SizePlan::Fixed(0)]
}

pub fn entries(lines: Vec<AccessEntryPlan>) -> StreamPlan {
    let mut plan = plan();
    plan.access.entries = lines;
    plan
}

/// Fixed size, all sequential.
pub fn sequential(size: u32) -> StreamPlan {
    entries(vec![AccessEntryPlan { random_percent: 0.0, ..entry(size) }])
}

pub fn distributed(distribution: Distribution) -> StreamPlan {
    let mut plan = plan();
    plan.access.distribution = distribution;
    plan
}

pub fn open(open: OpenPlan) -> StreamPlan {
    StreamPlan { arrival: ArrivalPlan::Open(open), ..plan() }
}

pub fn thinking(think_ns: u64, exponential: bool) -> StreamPlan {
    StreamPlan { arrival: ArrivalPlan::Closed { think_ns, exponential }, ..plan() }
}

/// Iometer's "All in one" in spirit: twenty lines of 512 B to 32 KiB with five read shares each.
pub fn twenty_lines() -> StreamPlan {
    let mut lines = Vec::new();
    for size in [512, 4 * KIB, 16 * KIB, 32 * KIB] {
        for read in [100.0, 75.0, 50.0, 25.0, 0.0] {
            let op_percent = [read, 100.0 - read, 0.0, 0.0];
            lines.push(AccessEntryPlan { weight: 5.0, op_percent, align: 512, ..entry(size) });
        }
    }
    entries(lines)
}
