//! Mail stores through the worker loop: in virtual time on a modelled server, on nothing, and on a file.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_engine::control::{Control, StoppedBy};
use plimsoll_engine::safety::Permission;
use plimsoll_engine::{Interval, Job, Places, Sink, record, run};
use plimsoll_mailstore::MailstoreWorkload;
use plimsoll_workload::{JobOptions, Workload};
use serde_json::{Value, json};

/// Keeps what intervals say, as they would be stored.
#[derive(Default)]
struct Kept {
    places: Places,
    intervals: Vec<Value>,
}

impl Sink for Kept {
    fn placed(&mut self, places: Places) {
        self.places = places;
    }

    fn interval(&mut self, interval: &Interval) {
        self.intervals.push(record::interval(interval, &self.places));
    }
}

impl Kept {
    /// The mean latency of one kind over the whole run, by database.
    fn mean_ms(&self, database: &str, op: &str) -> f64 {
        let cells = self.intervals.iter().flat_map(|interval| interval["cells"].as_array().unwrap().clone());
        let own: Vec<Value> = cells.filter(|cell| cell["stream"] == database && cell["op"] == op).collect();
        let sum = |key: &str| own.iter().map(|cell| cell[key].as_f64().unwrap()).sum::<f64>();
        sum("latency_sum_ns") / sum("count") / 1e6
    }

    /// Requests of one kind in the measured time, by database.
    fn count(&self, database: &str, op: &str) -> u64 {
        let measured = self.intervals.iter().filter(|interval| interval["phase"] == "measure");
        let cells = measured.flat_map(|interval| interval["cells"].as_array().unwrap().clone());
        let own = cells.filter(|cell| cell["stream"] == database && cell["op"] == op);
        own.map(|cell| cell["count"].as_u64().unwrap()).sum()
    }
}

fn job(target: &str, store: Value, options: Value) -> Job {
    let mut document = json!({ "driver": "mailstore" });
    document.as_object_mut().unwrap().extend(store.as_object().unwrap().clone());
    Job {
        workload: Workload::default(),
        mailstore: Some(MailstoreWorkload::from_json(&document, "mail.toml").unwrap()),
        options: JobOptions::from_json(&options, "job").unwrap(),
        target: target.parse().unwrap(),
        permission: Permission { destroy: true, typed: None },
    }
}

fn ran(job: &Job) -> (Kept, Value) {
    let mut kept = Kept::default();
    let outcome = run::run(job, &mut kept, &Control::default()).unwrap();
    (kept, record::outcome(&outcome, "auto"))
}

const SERVER: &str = "queue:?servers=10&service=const:5ms&size=16GiB";

#[test]
fn what_a_store_counts_is_what_was_recorded_of_it() {
    let store = json!({ "databases": 2, "threads": 8, "copies": 1, "log_file_size": "1MiB", "maintenance": "2MB" });
    let (kept, outcome) = ran(&job(SERVER, store, json!({ "duration": "60s", "warmup": "2s" })));
    for (number, name) in ["database-1", "database-2"].into_iter().enumerate() {
        let told = &outcome["databases"][number];
        assert_eq!(told["database"], name);
        let counts = &told["counts"];
        assert_eq!(counts["page_writes"], kept.count(name, "write"), "{counts}");
        let log = counts["log_blocks"].as_u64().unwrap() + counts["checkpoints"].as_u64().unwrap();
        assert_eq!(log, kept.count(name, "log-write"), "{counts}");
        // What was asked for and came back in the next interval.
        let misses = counts["misses"].as_u64().unwrap();
        assert!(misses.abs_diff(kept.count(name, "read")) <= 8, "{counts}");
        assert!(kept.count(name, "maintenance-read") > 400 && kept.count(name, "replication-read") > 10);
    }
}

#[test]
fn equal_seeds_give_equal_intervals_and_another_seed_gives_others() {
    let one = |seed: u64| {
        ran(&job(SERVER, json!({ "threads": 8 }), json!({ "duration": "10s", "warmup": "0s", "seed": seed }))).0
    };
    let (first, second, third) = (one(1), one(1), one(2));
    assert!(first.intervals.len() > 10);
    assert_eq!(first.intervals, second.intervals);
    assert!(first.intervals != third.intervals);
}

/// With one thread, the requests that operations wait for never overlap; only writes of pages go beside them.
#[test]
fn a_thread_waits_for_each_of_its_pages_and_for_its_hard_commits() {
    let store = json!({ "threads": 1, "lazy_commit_percent": 0 });
    let (kept, outcome) = ran(&job(
        "queue:?servers=64&service=const:5ms&size=16GiB",
        store,
        json!({ "duration": "60s", "warmup": "0s" }),
    ));
    let waited = kept.count("database-1", "read") + outcome["databases"][0]["counts"]["log_blocks"].as_u64().unwrap();
    // 60 s hold 12,000 waits of 5 ms, less the 50 µs that each operation takes itself.
    assert!((11_500..=12_000).contains(&waited), "{waited}");
}

#[test]
fn a_file_holds_a_store_and_its_log() {
    let directory = support::directory();
    let path = support::hollow_file(directory.path(), "store", 256 << 20);
    let store = json!({ "threads": 4, "cache_size": "8MiB", "checkpoint_depth": "4MiB", "log_file_size": "1MiB", "write_through": false });
    let (kept, outcome) = ran(&job(path.to_str().unwrap(), store, json!({ "duration": "300ms", "warmup": "0s" })));
    assert_eq!(outcome["first_error"], Value::Null);
    assert!(kept.count("database-1", "read") > 0 && kept.count("database-1", "log-write") > 0, "{outcome}");
}

#[test]
fn a_backup_ends_when_everything_was_read() {
    let store = json!({ "test": "backup", "databases": 2 });
    let (kept, outcome) =
        ran(&job("queue:?servers=4&service=const:1ms&size=1GiB", store, json!({ "duration": "1h", "warmup": "0s" })));
    assert_eq!(outcome["stopped_by"], StoppedBy::Amount.name());
    let of = |number: usize| outcome["databases"][number]["final_bytes"].as_u64().unwrap().div_ceil(262_144);
    let pieces = kept.count("database-1", "maintenance-read") + kept.count("database-2", "maintenance-read");
    assert_eq!(pieces, of(0) + of(1));
}

#[test]
fn a_run_of_nothing_keeps_going_where_every_answer_comes_at_once() {
    let (kept, outcome) =
        ran(&job("null:", json!({ "threads": 2, "filled": 10 }), json!({ "duration": "200ms", "warmup": "0s" })));
    assert_eq!(outcome["stopped_by"], StoppedBy::Duration.name());
    assert!(kept.count("database-1", "read") > 1_000);
}

/// Two servers of 5 ms answer in 20 ms while eight requests are outstanding, whoever asks.
#[test]
fn tuning_finds_the_most_threads_that_wait_no_longer_than_they_may_and_ends() {
    let store = json!({ "test": "tuning", "threads": 64, "writes_outstanding": 2 });
    let (_, outcome) =
        ran(&job("queue:?servers=2&service=const:5ms&size=16GiB", store, json!({ "duration": "2h", "warmup": "0s" })));
    assert_eq!(outcome["stopped_by"], StoppedBy::Amount.name());
    let found = &outcome["databases"][0]["tuning"];
    assert_eq!(found["failure"], Value::Null, "{found}");
    let (held, failed) = (found["threads"].as_u64().unwrap(), found["failed_at"].as_u64().unwrap());
    assert_eq!(failed, held + 1, "{found}");
    let slower_ns = |threads: u64| {
        let cycles = found["cycles"].as_array().unwrap();
        let cycle = cycles.iter().find(|cycle| cycle["threads"] == threads).unwrap();
        cycle["read_ns"].as_f64().unwrap().max(cycle["write_ns"].as_f64().unwrap())
    };
    assert!(slower_ns(held) <= 20e6 && slower_ns(failed) > 20e6, "{found}");
    // A run with as many threads waits as long.
    let plain = json!({ "threads": held, "writes_outstanding": 2 });
    let (kept, _) = ran(&job(
        "queue:?servers=2&service=const:5ms&size=16GiB",
        plain,
        json!({ "duration": "120s", "warmup": "30s" }),
    ));
    let reads_ms = kept.mean_ms("database-1", "read");
    // What 120 samples of a second say of a mean is known to a few percent.
    assert!(reads_ms < 22.0, "{reads_ms} ms with {held} threads");
}
