//! Bad input is refused with one sentence: where, what is wrong, what would be right.

use plimsoll_workload::{JobOptions, TargetShape, Workload, scope_of, set_option};
use serde_json::{Value, json};

const DISK: TargetShape = TargetShape { size_bytes: 1 << 30, block_bytes: 512 };

/// The sentence for a workload with one stream called "log".
fn read(options: Value) -> String {
    Workload::from_json(&file(options), "my.toml").expect_err("should not read").to_string()
}

/// The sentence for a stream whose values read well and cannot hold together.
fn check(options: Value) -> String {
    let workload = Workload::from_json(&file(options), "my.toml").expect("reads");
    let sentence = workload.check("my.toml").expect_err("should not hold together").to_string();
    sentence.strip_prefix("my.toml: stream \"log\": ").expect("names file and stream").to_owned()
}

/// The sentence for a stream that holds together but does not fit the target.
fn resolve(options: Value, shape: TargetShape) -> String {
    let workload = Workload::from_json(&file(options), "my.toml").expect("reads");
    workload.check("my.toml").expect("holds together");
    let sentence = workload.resolve(shape, 1).expect_err("should not fit").to_string();
    sentence.strip_prefix("workload \"my\": stream \"log\": ").expect("names workload and stream").to_owned()
}

fn file(options: Value) -> Value {
    let mut stream = json!({ "name": "log" });
    stream.as_object_mut().expect("object").extend(options.as_object().expect("object").clone());
    json!({ "stream": [stream] })
}

#[test]
fn an_unknown_key_names_file_stream_and_nearest_key() {
    assert_eq!(
        read(json!({ "quue_depth": 4 })),
        "my.toml: stream \"log\": key 'quue_depth' is not known; did you mean 'queue_depth'?"
    );
    assert_eq!(
        read(json!({ "ioengine": "libaio" })),
        "my.toml: stream \"log\": key 'ioengine' is not known; docs/reference/options.md lists all keys"
    );
    assert_eq!(
        read(json!({ "access": [{ "size": 512 }, { "size": 512, "read_precent": 1 }] })),
        "my.toml: stream \"log\": access entry 2: key 'read_precent' is not known; did you mean 'read_percent'?"
    );
}

#[test]
fn a_key_in_the_wrong_place_is_sent_home() {
    assert_eq!(
        read(json!({ "duration": "10s" })),
        "my.toml: stream \"log\": key 'duration' is not known; it is an option of the job: give it on the command \
         line, --set duration=…"
    );
    let top = Workload::from_json(&json!({ "block_size": 512, "stream": [{}] }), "my.toml").unwrap_err();
    assert_eq!(
        top.to_string(),
        "my.toml: key 'block_size' is not known; it is an option of a stream: write it under [[stream]]"
    );
    assert_eq!(
        read(json!({ "weight": 3 })),
        "my.toml: stream \"log\": key 'weight' is not known; it belongs in an entry of access"
    );
}

/// Options and the sentence that refuses them.
fn bad_values() -> Vec<(Value, &'static str)> {
    vec![
        (
            json!({ "block_size": "4 potatoes" }),
            "block_size: '4 potatoes' is not a size; write for example 4KiB, 64k or 1GiB",
        ),
        (
            json!({ "block_size": "4KB" }),
            "block_size: '4KB' is not a clear size; write KiB for steps of 1024 or kB for steps of 1000",
        ),
        (json!({ "block_size": -1 }), "block_size: -1 is not a size; write for example 4KiB, 64k or 1GiB"),
        (json!({ "align": 0.5 }), "align: 0.5 is not a size; write for example 4KiB, 64k or 1GiB"),
        (json!({ "block_size": "2GiB" }), "block_size: 2GiB is out of range; write 1B to 1GiB"),
        (
            json!({ "block_size": "64KiB-4KiB" }),
            "block_size: '64KiB-4KiB' is not a range of sizes; write the smaller size first, for example 4KiB-64KiB",
        ),
        (
            json!({ "block_size": { "4KiB": 60, "8KiB": 30 } }),
            "block_size: the shares of the sizes sum to 90; they must sum to 100",
        ),
        (
            json!({ "block_size": "4k=60,4KiB=40" }),
            "block_size: the size 4KiB stands twice in the table; write it once",
        ),
        (
            json!({ "think_time": "5 parsecs" }),
            "think_time: '5 parsecs' is not a duration; write for example 250ms, 10s or 1m30s",
        ),
        (
            json!({ "rate": "1e3" }),
            "rate: '1e3' is not a rate; write the number in full, requests per second, for example 500, 20k or 1.5k/s",
        ),
        (json!({ "rate": 0 }), "rate: 0/s is out of range; write 0.001/s to 1000000000/s"),
        (json!({ "read_percent": 130 }), "read_percent: 130% is out of range; write 0% to 100%"),
        (
            json!({ "read_percent": "most" }),
            "read_percent: 'most' is not a percentage; write for example 70, 70.5 or 70%",
        ),
        (json!({ "threads": 0 }), "threads: 0 is out of range; write 1 to 4096"),
        (json!({ "queue_depth": 70000 }), "queue_depth: 70000 is out of range; write 1 to 65536"),
        (json!({ "queue_depth": "many" }), "queue_depth: 'many' is not a whole number; write for example 1 or 32"),
        (json!({ "direct": "maybe" }), "direct: 'maybe' is not a switch; write true or false"),
        (json!({ "arrival": "posson" }), "arrival: 'posson' is not an arrival process; did you mean 'poisson'?"),
        (
            json!({ "content": 7 }),
            "content: 7 is not a kind of content; write incompressible, zeros, pattern or stamps",
        ),
        (json!({ "distribution": "zipff:1" }), "distribution: 'zipff:1' is not a distribution; did you mean 'zipf'?"),
        (
            json!({ "distribution": "zipf:99" }),
            "distribution: the parameter of 'zipf:99' is out of range; write 0.01 to 10",
        ),
        (
            json!({ "distribution": "zipf" }),
            "distribution: 'zipf' is not a distribution; write uniform, zipf:1.1, pareto:0.2, normal:10, hot:80/20 \
             or permutation",
        ),
        (json!({ "region_start": "110%" }), "region_start: '110%' is not a share of the target; write 0% to 100%"),
        (
            json!({ "pattern": "0xabc" }),
            "pattern: '0xabc' is not a pattern; write text, or pairs of hexadecimal digits as in 0xdeadbeef",
        ),
        (json!({ "access": [] }), "access: a list is not a list of tables; write a list of at least one access entry"),
        (
            json!({ "access": [{ "weight": 4 }] }),
            "access entry 1: key 'size' is missing; every access entry says how long its requests are, for example \
             8KiB",
        ),
        (json!({ "access": ["8k"] }), "access entry 1: '8k' is not a table; every access entry is a table of options"),
    ]
}

#[test]
fn a_bad_value_names_its_key_and_shows_how_to_write_one() {
    for (options, sentence) in bad_values() {
        assert_eq!(read(options), format!("my.toml: stream \"log\": {sentence}"));
    }
}

#[test]
fn zones_that_do_not_add_up_are_refused() {
    for zones in ["hot:80/0", "hot:110/20", "hot:60/50,60/50", "hot:80/100"] {
        assert!(read(json!({ "distribution": zones })).contains("do not add up"), "{zones}");
    }
}

#[test]
fn options_that_contradict_each_other_say_which_to_drop() {
    let cases = [
        (json!({ "access": [{ "size": 512 }], "block_size": 512 }), "access and block_size exclude each other"),
        (json!({ "access": [{ "size": 512 }], "align": 512 }), "access and align exclude each other"),
        (json!({ "access": [{ "size": 512 }], "trim_percent": 5 }), "access and trim_percent exclude each other"),
        (json!({ "read_percent": 70, "write_percent": 40 }), "sum to 110; they must sum to 100"),
        (json!({ "read_percent": 70, "write_percent": 20 }), "sum to 90; they must sum to 100"),
        (json!({ "trim_percent": 70, "flush_percent": 40 }), "sum to 110; they must sum to 100"),
        (json!({ "block_size": "4KiB-64KiB", "align": "7KiB" }), "goes in steps of align"),
        (json!({ "rate": "20k" }), "rate 20000/s has no effect with closed arrival"),
        (json!({ "arrival": "poisson" }), "arrival = \"poisson\" needs a rate; write for example rate = \"20k\""),
        (json!({ "arrival": "schedule", "rate": 5 }), "rate and arrival = \"schedule\" exclude each other"),
        (json!({ "arrival": "burst", "rate": 5 }), "needs a burst_size"),
        (json!({ "burst_size": 4 }), "burst_size has no effect with closed arrival"),
        (json!({ "arrival": "schedule" }), "needs a schedule"),
        (json!({ "schedule": [{ "at": 0, "rate": 5 }] }), "schedule has no effect with closed arrival"),
        (json!({ "arrival": "schedule", "schedule": [{ "at": 1, "rate": 5 }] }), "must start at 0"),
        (
            json!({ "arrival": "schedule", "schedule": [{ "at": 0, "rate": 5 }, { "at": 0, "rate": 6 }] }),
            "one after the other, and 0s follows 0s",
        ),
        (json!({ "arrival": "schedule", "schedule": [{ "at": 0, "rate": 0 }] }), "every rate of schedule is 0"),
        (json!({ "arrival": "poisson", "rate": 5, "think_time": 1 }), "think_time has no effect with poisson arrival"),
        (
            json!({ "arrival": "poisson", "rate": 5, "access": [{ "size": 512, "delay": "1ms" }] }),
            "delay of an access entry has no effect with poisson arrival",
        ),
        (json!({ "flush_at_end": true }), "flush_at_end needs amount or requests"),
        (json!({ "think_distribution": "exponential" }), "think_distribution needs a think_time"),
        (json!({ "stride": "1MiB" }), "stride shapes sequential requests"),
        (json!({ "direction": "backward" }), "direction shapes sequential requests"),
        (json!({ "stride": 1000, "random_percent": 0 }), "stride 1000B is not a multiple of the alignment 4KiB"),
        (json!({ "zone_skip": "1MiB" }), "zone_amount and zone_skip need zones"),
        (json!({ "zone_length": 1000 }), "zone_length 1000B is not a multiple of the alignment 4KiB"),
        (json!({ "zone_length": "1MiB", "zone_skip": 512 }), "zone_skip 512B is not a multiple of the alignment 4KiB"),
        (
            json!({ "zone_length": "1MiB", "direction": "backward", "random_percent": 0 }),
            "zone_length and direction = \"backward\" exclude each other",
        ),
        (json!({ "run_repeats": true }), "run_repeats needs runs; write for example run_length = 8"),
        (json!({ "run_length": 8, "block_size": "4KiB-8KiB" }), "run_length needs random requests of one size"),
        (json!({ "run_length": 8, "random_percent": 50 }), "run_length needs random requests of one size"),
        (json!({ "trim_first": true }), "trim_first is for streams that only write; set write_percent to 100"),
        (json!({ "trim_first": true, "write_percent": 100, "content": "stamps" }), "trim_first and stamps exclude"),
        (json!({ "sequential": "per_operation", "access": [{ "size": 512 }] }), "and access exclude each other"),
        (json!({ "share_group": 1 }), "share_group needs a share; write for example share = 2"),
        (json!({ "share": 1, "arrival": "poisson", "rate": 5 }), "share has no effect with poisson arrival"),
        (json!({ "serialize_overlap": true, "think_time": 1 }), "serialize_overlap and think_time exclude each other"),
        (json!({ "refill_depth": 4, "queue_depth": 4 }), "refill_depth 4 is not below queue_depth 4"),
        (json!({ "pause": "1s" }), "pause needs pause_requests or pause_interval"),
        (json!({ "pause_requests": 5 }), "pause_requests and pause_interval need a pause"),
        (json!({ "start_after": "2s", "end_after": "2s" }), "end_after 2s is not later than start_after 2s"),
        (json!({ "distribution": "permutation", "random_percent": 50 }), "set random_percent to 100"),
        (json!({ "distribution": "permutation", "block_size": "4KiB-8KiB" }), "visits blocks of one size"),
        (json!({ "distribution": "permutation", "align": 512 }), "visits blocks of one size"),
        (json!({ "distribution": "permutation", "access": [{ "size": 512 }] }), "permutation\" and access exclude"),
        (json!({ "content": "pattern" }), "content = \"pattern\" needs a pattern"),
        (json!({ "content": "zeros", "pattern": "ab" }), "pattern has no effect with content zeros"),
        (json!({ "content": "zeros", "compress_ratio": 2 }), "compress_ratio cannot shape content zeros"),
        (json!({ "verify": "all", "duplicate_ratio": 2 }), "duplicate_ratio cannot shape content stamps"),
        (json!({ "verify": "reads", "content": "incompressible" }), "needs content stamps, not incompressible"),
        (json!({ "verify": "reads", "trim_percent": 5 }), "cannot tell what a trimmed block holds"),
        (json!({ "verify": "reads", "block_size": 768 }), "multiples of 768 bytes; make them multiples of 512"),
        (json!({ "threads": 4096, "queue_depth": 4096 }), "16777216 requests outstanding"),
    ];
    for (options, part) in cases {
        let sentence = check(options);
        assert!(sentence.contains(part), "{sentence:?} should contain {part:?}");
    }
}

#[test]
fn a_flush_can_hold_where_there_are_flushes_and_no_think_times() {
    assert!(check(json!({ "flush_holds": true })).contains("needs flushes; write for example flush_every = 64"));
    let thinking = check(json!({ "flush_holds": true, "flush_every": 1, "think_time": "1s" }));
    assert!(thinking.contains("flush_holds and think_time exclude each other"), "{thinking}");
}

#[test]
fn streams_need_names_of_their_own_and_must_exist() {
    let sentence = |file: Value| {
        let workload = Workload::from_json(&file, "my.toml");
        workload.and_then(|workload| workload.check("my.toml")).expect_err("should not hold").to_string()
    };
    assert_eq!(sentence(json!({})), "my.toml: key 'stream' is missing; write at least one [[stream]]");
    assert!(sentence(json!({ "stream": [] })).contains("at least one stream"));
    assert_eq!(
        sentence(json!({ "stream": [{ "name": "a" }, { "name": "a" }] })),
        "my.toml: two streams are called \"a\"; give each a name of its own"
    );
    assert!(sentence(json!({ "stream": [{ "name": "a.b" }] })).contains("'a.b' cannot name a stream"));
    assert!(sentence(json!([1])).starts_with("my.toml: a list is not a table"));
}

#[test]
fn what_does_not_fit_the_target_says_by_how_much() {
    let small = TargetShape { size_bytes: 1 << 20, block_bytes: 4096 };
    let cases = [
        (json!({ "block_size": 512 }), small, "direct I/O needs multiples of the target's logical block of 4KiB"),
        (json!({ "access": [{ "size": "8KiB", "align": 512 }] }), small, "requests of up to 8KiB aligned to 512B"),
        (json!({ "region_start": "2MiB" }), small, "from 2MiB to 2MiB reaches beyond the target's end at 1MiB"),
        (json!({ "region_start": "80%", "region_length": "30%" }), DISK, "reaches beyond the target's end at 1GiB"),
        (
            json!({ "region_length": "1TiB" }),
            TargetShape { size_bytes: 876_346_400_256, block_bytes: 512 },
            "from 0B to 1TiB reaches beyond the target's end at 876346400256B (816.2 GiB); lower",
        ),
        (json!({ "block_size": "2MiB" }), small, "from 0B to 1MiB has no room for one request of 2MiB"),
        (json!({ "region_length": 100 }), DISK, "from 0B to 100B has no room for one request of 4KiB"),
    ];
    for (options, shape, part) in cases {
        let sentence = resolve(options, shape);
        assert!(sentence.contains(part), "{sentence:?} should contain {part:?}");
    }
}

#[test]
fn setting_an_option_says_what_is_wrong_with_it() {
    let mut workload = Workload::from_json(&file(json!({ "access": [{ "size": "8KiB" }] })), "my.toml").unwrap();
    let mut job = JobOptions::default();
    let mut set =
        |key: &str, value: &str| set_option(&mut workload, &mut job, key, &json!(value)).unwrap_err().to_string();
    assert_eq!(
        set("block_size", "4k"),
        "block_size cannot be set: stream \"log\" has an access list, whose entries decide it; set access itself, or \
         take a workload without an access list"
    );
    assert_eq!(set("lg.queue_depth", "4"), "no stream is called 'lg'; did you mean 'log'?");
    assert_eq!(set("data.queue_depth", "4"), "no stream is called 'data'; this workload has log");
    assert_eq!(set("quue_depth", "4"), "key 'quue_depth' is not known; did you mean 'queue_depth'?");
    assert_eq!(set("durration", "4"), "key 'durration' is not known; did you mean 'duration'?");
    assert_eq!(
        set("log.backend", "sync"),
        "key 'backend' is not known; it is an option of the job: give it on the command line, --set backend=…"
    );
    assert_eq!(set("backend", "urng"), "backend: 'urng' is not a backend; did you mean 'uring'?");
    assert_eq!(
        set("interval", "often"),
        "interval: 'often' is not an interval; write auto or a duration, for example 500ms"
    );
    assert!(scope_of("nonsense").is_err());
}

#[test]
fn job_options_that_contradict_each_other_are_refused() {
    let sentence = |job: Value| JobOptions::from_json(&job, "job").unwrap().check().unwrap_err().to_string();
    assert_eq!(
        sentence(json!({ "polled": true, "backend": "mmap" })),
        "polled works with backend uring only, not with mmap; drop one of the two"
    );
    assert_eq!(
        sentence(json!({ "duration": "1s", "interval": "2s" })),
        "interval 2s is longer than duration 1s; write at most the duration, or auto"
    );
    let unknown = JobOptions::from_json(&json!({ "queue_depth": 1 }), "job").unwrap_err();
    assert!(unknown.to_string().contains("write it under [[stream]]"));
}
