//! What a workload means once its options are read, set and resolved.

use plimsoll_workload::plan::{AccessEntryPlan, Distribution, OpenPlan, Sequential, SizePlan};
use plimsoll_workload::{ArrivalPlan, JobOptions, Op, Scope, StreamPlan, TargetShape, Workload, scope_of};
use serde_json::{Value, json};

const DISK: TargetShape = TargetShape { size_bytes: 1 << 30, block_bytes: 512 };

fn workload(stream: Value) -> Workload {
    Workload::from_json(&json!({ "stream": [stream] }), "my.toml").expect("reads")
}

fn plan(stream: Value) -> StreamPlan {
    workload(stream).resolve(DISK, 1).expect("resolves").remove(0)
}

fn entry(stream: Value) -> AccessEntryPlan {
    plan(stream).access.entries.remove(0)
}

#[test]
fn an_empty_stream_reads_4_kib_at_random_with_direct_io() {
    let plan = plan(json!({}));
    assert_eq!((plan.name.as_str(), plan.threads, plan.queue_depth), ("stream-1", 1, 1));
    assert_eq!((plan.region.clone(), plan.max_len, plan.granule), (0..1 << 30, 4096, 4096));
    assert_eq!(plan.ops, [true, false, false, false]);
    assert_eq!(plan.arrival, ArrivalPlan::Closed { think_ns: 0, exponential: false });
    assert!(plan.direct && !plan.dsync);
    assert_eq!(plan.access.entries[0].random_percent, 100.0);
    assert_eq!(plan.access.entries[0].align, 4096);
}

#[test]
fn percentages_left_out_are_the_rest() {
    let cases = [
        (json!({}), [100.0, 0.0, 0.0, 0.0]),
        (json!({ "read_percent": 70 }), [70.0, 30.0, 0.0, 0.0]),
        (json!({ "write_percent": "30%" }), [70.0, 30.0, 0.0, 0.0]),
        (json!({ "read_percent": 66.6 }), [66.6, 33.4, 0.0, 0.0]),
        (json!({ "read_percent": 50, "trim_percent": 20, "flush_percent": 5 }), [50.0, 25.0, 20.0, 5.0]),
        (json!({ "trim_percent": 100 }), [0.0, 0.0, 100.0, 0.0]),
        (json!({ "trim_percent": 20 }), [80.0, 0.0, 20.0, 0.0]),
    ];
    for (stream, percent) in cases {
        assert_eq!(entry(stream).op_percent, percent);
    }
}

#[test]
fn sizes_differ_per_operation_and_decide_the_alignment() {
    let entry = entry(json!({ "read_percent": 50, "block_size": "12KiB", "write_block_size": "8KiB=60,16KiB=40" }));
    assert_eq!(entry.sizes[Op::Read as usize], SizePlan::Fixed(12 << 10));
    assert_eq!(entry.sizes[Op::Write as usize], SizePlan::Weighted(vec![(8 << 10, 60.0), (16 << 10, 40.0)]));
    assert_eq!(entry.align, 4 << 10);
}

#[test]
fn a_range_goes_in_steps_of_the_alignment() {
    let size = |stream| entry(stream).sizes[Op::Read as usize].clone();
    let range = |step| SizePlan::Range { min: 4096, max: 65_536, step };
    assert_eq!(size(json!({ "block_size": "4KiB-64KiB" })), range(4096));
    assert_eq!(size(json!({ "block_size": "4KiB-64KiB", "align": 512 })), range(512));
    assert_eq!(plan(json!({ "block_size": "4KiB-64KiB" })).max_len, 65_536);
}

#[test]
fn sizes_of_operations_that_never_occur_do_not_matter() {
    let plan = plan(json!({ "read_percent": 100, "write_block_size": 1_000_000 }));
    assert_eq!((plan.max_len, plan.granule), (4096, 4096));
}

#[test]
fn an_access_list_reads_as_iometer_has_it() {
    let plan = plan(json!({ "access": [
        { "weight": 10, "size": 512, "read_percent": 80 },
        {
            "weight": 90, "size": "4KiB", "read_percent": 80, "random_percent": 0,
            "align": 512, "burst": 8, "delay": "2ms",
        },
    ] }));
    let [first, second] = plan.access.entries.as_slice() else { panic!("two lines") };
    assert_eq!((first.weight, first.align, first.burst, first.random_percent), (10.0, 512, 1, 100.0));
    assert_eq!((second.align, second.burst, second.delay_ns), (512, 8, 2_000_000));
    assert_eq!(second.op_percent, [80.0, 20.0, 0.0, 0.0]);
    assert_eq!((plan.max_len, plan.granule), (4096, 512));
}

#[test]
fn regions_are_rounded_inward_and_neighbours_do_not_overlap() {
    let half = |stream: Value| {
        let shape = TargetShape { size_bytes: 1_000_000, block_bytes: 512 };
        workload(stream).resolve(shape, 1).expect("resolves")[0].region.clone()
    };
    let first = half(json!({ "block_size": "4KiB", "region_length": "50%" }));
    let second = half(json!({ "block_size": "4KiB", "region_start": "50%" }));
    assert_eq!(first, 0..499_712);
    assert_eq!(second, 503_808..999_424);
}

#[test]
fn the_granule_divides_every_request_and_the_region() {
    let plan = plan(json!({ "block_size": "64KiB", "align": "4KiB", "region_start": "12KiB" }));
    assert_eq!((plan.region.start, plan.granule), (12 << 10, 4096));
}

#[test]
fn each_arrival_process_becomes_numbers() {
    let arrival = |stream| plan(stream).arrival;
    assert_eq!(
        arrival(json!({ "arrival": "poisson", "rate": "20k" })),
        ArrivalPlan::Open(OpenPlan::Poisson { rate_per_s: 20_000.0 })
    );
    assert_eq!(
        arrival(json!({ "arrival": "burst", "rate": 100, "burst_size": 10 })),
        ArrivalPlan::Open(OpenPlan::Burst { rate_per_s: 100.0, size: 10 })
    );
    assert_eq!(
        arrival(json!({ "arrival": "schedule", "schedule": [{ "at": 0, "rate": 0 }, { "at": "1s", "rate": "1k" }] })),
        ArrivalPlan::Open(OpenPlan::Schedule(vec![(0, 0.0), (1_000_000_000, 1000.0)]))
    );
    assert_eq!(
        arrival(json!({ "think_time": "5ms", "think_distribution": "exponential" })),
        ArrivalPlan::Closed { think_ns: 5_000_000, exponential: true }
    );
}

#[test]
fn hot_zones_are_completed_by_the_rest() {
    let spread = |text: Value| plan(json!({ "distribution": text })).access.distribution;
    let zones = Distribution::Hot(vec![(80.0, 20.0), (20.0, 80.0)]);
    assert_eq!(spread(json!("hot:80/20")), zones);
    assert_eq!(spread(json!({ "kind": "hot", "zones": [[80, 20]] })), zones);
    assert_eq!(spread(json!({ "kind": "zipf", "theta": 1.1 })), Distribution::Zipf { theta: 1.1 });
    let three = Distribution::Hot(vec![(60.0, 10.0), (30.0, 20.0), (10.0, 70.0)]);
    assert_eq!(spread(json!("hot:60/10,30/20")), three);
}

#[test]
fn sequential_shapes_reach_the_plan() {
    let plan = plan(json!({
        "random_percent": 0, "sequential": "per_thread", "direction": "backward", "stride": "1MiB", "threads": 4,
    }));
    assert_eq!(plan.access.sequential, Sequential::PerThread);
    assert!(plan.access.backward);
    assert_eq!((plan.access.stride, plan.threads), (1 << 20, 4));
}

#[test]
fn verification_implies_stamps_and_a_pattern_implies_itself() {
    use plimsoll_workload::plan::ContentKind;
    let kind = |stream| plan(stream).content.kind;
    assert_eq!(kind(json!({ "verify": "all", "write_percent": 50 })), ContentKind::Stamps);
    assert_eq!(kind(json!({ "pattern": "0xdead" })), ContentKind::Pattern(vec![0xde, 0xad]));
    assert_eq!(kind(json!({ "pattern": "ab" })), ContentKind::Pattern(b"ab".to_vec()));
    assert_eq!(kind(json!({})), ContentKind::Random);
}

#[test]
fn inserted_flushes_are_among_the_operations() {
    assert_eq!(plan(json!({ "read_percent": 0, "flush_every": 8 })).ops, [false, true, false, true]);
    assert_eq!(plan(json!({ "read_percent": 100, "flush_every": 8 })).ops, [true, false, false, false]);
}

#[test]
fn requests_may_touch_unless_they_are_scattered_over_many_blocks() {
    let touch = |stream| plan(stream).may_touch();
    // 2^18 blocks of 4 KiB: a thousand for each of 262 requests.
    assert!(!touch(json!({ "queue_depth": 262 })));
    assert!(touch(json!({ "queue_depth": 263 })));
    assert!(touch(json!({ "queue_depth": 32, "threads": 10 })));
    assert!(!touch(json!({ "queue_depth": 32, "distribution": "permutation" })));
    for more in [
        json!({ "random_percent": 99 }),
        json!({ "run_length": 2 }),
        json!({ "distribution": "zipf:1.1" }),
        json!({ "zone_length": "1MiB" }),
        json!({ "region_length": "1MiB" }),
    ] {
        let mut stream = json!({ "queue_depth": 2 });
        stream.as_object_mut().expect("a stream").extend(more.as_object().expect("options").clone());
        assert!(touch(stream), "{more}");
    }
}

#[test]
fn every_seed_changes_the_stream_and_equal_seeds_do_not() {
    let seed = |job, stream: u64| workload(json!({ "seed": stream })).resolve(DISK, job).expect("resolves")[0].seed;
    assert_eq!(seed(1, 0), seed(1, 0));
    let seeds = [seed(0, 0), seed(1, 0), seed(0, 1), seed(1, 1), seed(2, 0)];
    for (index, one) in seeds.iter().enumerate() {
        assert!(!seeds[..index].contains(one));
    }
    let twins = Workload::from_json(&json!({ "stream": [{}, {}] }), "twins.toml").unwrap();
    let plans = twins.resolve(DISK, 1).unwrap();
    assert_ne!(plans[0].seed, plans[1].seed);
}

#[test]
fn an_option_is_set_on_all_streams_or_on_one() {
    let two = json!({ "stream": [{ "name": "data" }, { "name": "log" }] });
    let mut workload = Workload::from_json(&two, "two.toml").unwrap();
    workload.set("queue_depth", &json!("8")).unwrap();
    workload.set("log.queue_depth", &json!(2)).unwrap();
    workload.set("log.arrival", &json!("poisson")).unwrap();
    workload.set("log.rate", &json!("1k")).unwrap();
    let depths: Vec<u32> = workload.streams.iter().map(|stream| stream.queue_depth).collect();
    assert_eq!(depths, [8, 2]);
    workload.check("two.toml").unwrap();
}

#[test]
fn a_refused_value_changes_no_stream() {
    let two = json!({ "stream": [{ "name": "plain" }, { "name": "listed", "access": [{ "size": 512 }] }] });
    let mut workload = Workload::from_json(&two, "two.toml").unwrap();
    let before = workload.clone();
    assert!(workload.set("block_size", &json!("8k")).is_err());
    assert!(workload.set("queue_depth", &json!("x")).is_err());
    assert_eq!(workload, before);
    workload.set("plain.block_size", &json!("8k")).unwrap();
}

#[test]
fn lists_can_be_set_from_text() {
    let mut workload = workload(json!({}));
    workload.set("access", &json!("[{\"size\": \"8KiB\", \"read_percent\": 67}]")).unwrap();
    workload.set("access", &Value::Null).unwrap();
    workload.set("block_size", &json!("{\"4KiB\": 60, \"8KiB\": 40}")).unwrap();
    assert_eq!(workload.resolve(DISK, 1).unwrap()[0].max_len, 8192);
}

#[test]
fn one_set_serves_streams_and_jobs() {
    assert_eq!(scope_of("queue_depth").unwrap(), Scope::Stream);
    assert_eq!(scope_of("log.seed").unwrap(), Scope::Stream);
    assert_eq!(scope_of("seed").unwrap(), Scope::Job);
    assert_eq!(scope_of("duration").unwrap(), Scope::Job);
}

#[test]
fn a_workload_without_a_name_takes_its_files() {
    let name = |source| Workload::from_json(&json!({ "stream": [{}] }), source).unwrap().name;
    assert_eq!(name("/tmp/my load.toml"), "my-load");
    assert_eq!(name("plain"), "plain");
}

#[test]
fn automatic_intervals_follow_the_duration() {
    let interval_ms = |duration: &str| {
        let job = JobOptions::from_json(&json!({ "duration": duration }), "job").unwrap();
        job.interval_ns() / 1_000_000
    };
    assert_eq!(interval_ms("50ms"), 50);
    assert_eq!(interval_ms("1s"), 100);
    assert_eq!(interval_ms("10s"), 250);
    assert_eq!(interval_ms("30s"), 500);
    assert_eq!(interval_ms("5m"), 1_000);
    assert_eq!(interval_ms("1d"), 10_000);
}
