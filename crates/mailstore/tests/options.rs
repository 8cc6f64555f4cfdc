//! What may be written, and what each mistake is answered with.

#![allow(clippy::unwrap_used)]

use plimsoll_mailstore::{MailstoreWorkload, set_option};
use plimsoll_workload::{JobOptions, TargetShape};
use serde_json::{Value, json};

const SHAPE: TargetShape = TargetShape { size_bytes: 16 << 30, block_bytes: 512 };

fn read(changes: &Value) -> MailstoreWorkload {
    let mut document = json!({ "driver": "mailstore" });
    document.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    MailstoreWorkload::from_json(&document, "mine.toml").unwrap()
}

fn refused(changes: &Value) -> String {
    read(changes).check("mine.toml").unwrap_err().to_string()
}

#[test]
fn values_that_cannot_hold_together_are_refused_with_what_would_be_right() {
    for (changes, sentence) in [
        (
            json!({ "insert_percent": 18 }),
            "mine.toml: insert_percent, delete_percent, replace_percent and seek_percent add up to 101; they have to be 100",
        ),
        (json!({ "page_size": 5000 }), "mine.toml: page_size 5000 is none; write 4KiB, 8KiB, 16KiB or 32KiB"),
        (
            json!({ "record_size": 3000 }),
            "mine.toml: record_size 3000 is more than half a page of 4096; write a smaller one, or a larger page_size",
        ),
        (
            json!({ "log_files": 5 }),
            "mine.toml: log_files 5 hold less than the checkpoint_depth of 20971520 and two more; write 6 or more, or leave it out",
        ),
        (
            json!({ "distribution": "permutation" }),
            "mine.toml: distribution permutation has an order, and operations have none; write uniform or zipf:0.8",
        ),
    ] {
        assert_eq!(refused(&changes), sentence);
    }
}

#[test]
fn a_mix_that_the_original_warns_of_is_allowed_with_a_warning() {
    let shrinking = read(&json!({ "insert_percent": 5, "delete_percent": 17 }));
    assert!(shrinking.check("mine.toml").is_ok());
    assert_eq!(shrinking.warnings(), ["more records are deleted than inserted: the databases shrink"]);
    assert_eq!(read(&json!({ "insert_percent": 20, "delete_percent": 11, "replace_percent": 59 })).warnings().len(), 1);
    assert!(read(&json!({})).warnings().is_empty());
}

#[test]
fn a_target_that_is_too_small_is_refused_with_what_it_would_take() {
    let shape = TargetShape { size_bytes: 60 << 20, block_bytes: 512 };
    let refused = read(&json!({})).resolve(shape, 1, &[]).unwrap_err().to_string();
    assert_eq!(
        refused,
        "workload \"mine\": a database has 0 MiB of the target and its log 60 MiB, and they need 4 MiB and 61 MiB; take a larger target, \
         fewer databases, or a smaller checkpoint_depth"
    );
}

#[test]
fn databases_and_logs_share_the_target_without_touching_each_other() {
    let plan = read(&json!({ "databases": 3 })).resolve(SHAPE, 1, &[]).unwrap();
    let plans = plan.streams.resolve(SHAPE, 1).unwrap();
    // Reads and the log of each: the others lie where one of these does.
    let mut regions: Vec<_> =
        plans.chunks(5).flat_map(|five| [five[0].region.clone(), five[2].region.clone()]).collect();
    regions.sort_by_key(|region| region.start);
    assert_eq!(regions.len(), 6);
    assert!(regions.windows(2).all(|pair| pair[0].end <= pair[1].start), "{regions:?}");
    assert!(regions.last().unwrap().end <= SHAPE.size_bytes);
}

#[test]
fn logs_on_a_part_of_their_own_leave_the_others_to_the_databases() {
    let ends = [8 << 30, 16 << 30];
    let store = read(&json!({ "databases": 2, "database_parts": "0", "log_parts": "1" }));
    let plan = store.resolve(SHAPE, 1, &ends).unwrap();
    let parts: Vec<_> = plan.streams.streams.iter().map(|stream| stream.parts.clone().unwrap().0[0]).collect();
    assert_eq!(parts, [0, 0, 1, 0, 1, 0, 0, 1, 0, 1]);
    let missing = read(&json!({ "log_parts": "7" })).resolve(SHAPE, 1, &ends).unwrap_err().to_string();
    assert_eq!(missing, "workload \"mine\": the target has no part 7; its parts are 0 to 1");
}

#[test]
fn an_option_is_set_where_it_belongs() {
    let (mut store, mut job) = (read(&json!({})), JobOptions::default());
    set_option(&mut store, &mut job, "threads", &json!("12")).unwrap();
    set_option(&mut store, &mut job, "seed", &json!(9)).unwrap();
    assert_eq!((store.threads, job.seed), (12, 9));
    let wrong = set_option(&mut store, &mut job, "thread", &json!(1)).unwrap_err().to_string();
    assert_eq!(wrong, "key 'thread' is not known; did you mean 'threads'?");
    let again = MailstoreWorkload::from_json(&store.to_json(), "x").unwrap();
    assert_eq!(again, store);
}
