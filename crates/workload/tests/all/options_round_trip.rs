//! Property: the canonical form of anything that reads, reads again as the same thing.

use plimsoll_workload::{JobOptions, Workload};
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn size() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1u64..1 << 30).prop_map(|bytes| json!(bytes)),
        (1u32..1000).prop_map(|kib| json!(format!("{kib}KiB"))),
        (1u32..1000).prop_map(|kb| json!(format!("{kb}kB"))),
    ]
}

fn block_size() -> impl Strategy<Value = Value> {
    prop_oneof![
        size(),
        (1u32..100, 1u32..100).prop_map(|(low, more)| json!(format!("{low}k-{}k", low + more))),
        (1u32..100, 1u32..100, 1u32..100)
            .prop_map(|(low, more, share)| json!({ format!("{low}k"): share, format!("{}k", low + more): 100 - share }))
            .prop_filter("shares are positive", |table| table
                .as_object()
                .is_some_and(|map| map.values().all(|share| share != 0))),
    ]
}

fn percent() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0u32..=100).prop_map(|whole| json!(whole)),
        (0u32..=1000).prop_map(|tenth| json!(format!("{}.{}%", tenth / 11, tenth % 10)))
    ]
}

fn duration() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0u64..3_600_000_000_000).prop_map(|ns| json!(format!("{ns}ns"))),
        (0u32..1000).prop_map(|seconds| json!(seconds)),
        (0u32..60, 0u32..60).prop_map(|(m, s)| json!(format!("{m}m{s}s"))),
    ]
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    proptest::sample::select(words).prop_map(|word| json!(word))
}

fn table(fields: Vec<(&'static str, BoxedStrategy<Option<Value>>)>) -> impl Strategy<Value = Value> {
    let (keys, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    values.prop_map(move |values| {
        let given = keys.iter().zip(values).filter_map(|(key, value)| Some(((*key).to_owned(), value?)));
        Value::Object(given.collect::<Map<_, _>>())
    })
}

fn access() -> impl Strategy<Value = Value> {
    let entry = table(vec![
        ("size", size().prop_map(Some).boxed()),
        ("weight", of((1u32..100).prop_map(|weight| json!(weight))).boxed()),
        ("read_percent", of(percent()).boxed()),
        ("align", of(size()).boxed()),
        ("delay", of(duration()).boxed()),
    ]);
    proptest::collection::vec(entry, 1..4).prop_map(Value::Array)
}

fn stream() -> impl Strategy<Value = Value> {
    table(vec![
        ("name", of("[a-z][a-z0-9_-]{0,12}".prop_map(|name| json!(name))).boxed()),
        ("access", of(access()).boxed()),
        ("block_size", of(block_size()).boxed()),
        ("write_block_size", of(block_size()).boxed()),
        ("read_percent", of(percent()).boxed()),
        ("random_percent", of(percent()).boxed()),
        ("align", of(size()).boxed()),
        (
            "distribution",
            of(word(&["uniform", "zipf:1.1", "pareto:0.2", "normal:7.5", "hot:80/20", "permutation"])).boxed(),
        ),
        ("sequential", of(word(&["shared", "per_thread", "same_start"])).boxed()),
        ("region_start", of(prop_oneof![size(), word(&["0%", "12.5%", "100%"])]).boxed()),
        ("region_length", of(prop_oneof![size(), word(&["1%", "99.9%"])]).boxed()),
        ("threads", of((1u32..=4096).prop_map(|threads| json!(threads.to_string()))).boxed()),
        ("arrival", of(word(&["closed", "constant", "poisson", "burst", "schedule"])).boxed()),
        ("rate", of(prop_oneof![word(&["20k", "1.5k/s"]), (1u32..1000).prop_map(|rate| json!(rate))]).boxed()),
        ("schedule", of(duration().prop_map(|at| json!([{ "at": at, "rate": "1k" }]))).boxed()),
        ("think_time", of(duration()).boxed()),
        ("direct", of(any::<bool>().prop_map(|on| json!(on))).boxed()),
        ("pattern", of("[a-z]{1,9}".prop_map(|text| json!(text))).boxed()),
        ("verify", of(word(&["off", "reads", "all"])).boxed()),
        ("seed", of(any::<u64>().prop_map(|seed| json!(seed))).boxed()),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_workload_survives_its_canonical_form(streams in proptest::collection::vec(stream(), 1..4)) {
        let file = json!({ "title": "t", "tags": ["a"], "stream": streams });
        let workload = Workload::from_json(&file, "w.toml").unwrap();
        let text = workload.to_json().to_string();
        let again = Workload::from_json(&serde_json::from_str(&text).unwrap(), "other.toml").unwrap();
        prop_assert_eq!(&again, &workload);
        prop_assert_eq!(again.to_json().to_string(), text);
    }

    #[test]
    fn job_options_survive_their_canonical_form(
        duration_ms in 1u64..1_000_000_000, seed in any::<u64>(), workers in 0u32..=1024, size in of(4096u64..1 << 45),
    ) {
        let json = json!({ "duration": format!("{duration_ms}ms"), "seed": seed, "workers": workers, "size": size });
        let job = JobOptions::from_json(&json, "job").unwrap();
        prop_assert_eq!(JobOptions::from_json(&job.to_json(), "job").unwrap(), job);
    }

    #[test]
    fn nothing_that_is_written_as_text_makes_reading_panic(key in "[a-z_]{1,20}", text in "\\PC{0,20}") {
        let mut workload = Workload::from_json(&json!({ "stream": [{}] }), "w.toml").unwrap();
        let mut job = JobOptions::default();
        let _ = plimsoll_workload::set_option(&mut workload, &mut job, &key, &json!(text));
        for name in plimsoll_workload::option_names() {
            let _ = plimsoll_workload::set_option(&mut workload, &mut job, name, &json!(text));
        }
    }
}
