//! Options of mail users: their page and schema, their canonical form, `--set`, refusals; and the working day that follows from them.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::{env, fs};

use plimsoll_workload::JobOptions;
use plimsoll_workload::mail::{
    MailStreamOptions, MailTask, MailWorkload, Workday, option_names, reference_markdown, schema, set_option,
};
use plimsoll_workload::option::Record;
use serde_json::{Value, json};

fn compare(file: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
    if env::var_os("PLIMSOLL_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "docs/reference/{file} has drifted; run PLIMSOLL_BLESS=1 cargo test -p plimsoll-workload");
}

#[test]
fn page_and_schema_are_up_to_date() {
    compare("mail.md", &reference_markdown());
    compare("mail.schema.json", &(serde_json::to_string_pretty(&schema()).unwrap() + "\n"));
}

#[test]
fn every_example_reads_and_every_option_stands_in_the_page() {
    for declaration in MailStreamOptions::declarations() {
        let mut record = MailStreamOptions::default();
        record.assign(declaration.key, &json!(declaration.example)).unwrap().unwrap();
        assert_ne!(record.fields(), MailStreamOptions::default().fields(), "{}", declaration.key);
        assert!(reference_markdown().contains(&format!("| `{}` |", declaration.key)));
        assert!(option_names().contains(&declaration.key));
    }
}

fn whole() -> Value {
    json!({
        "name": "office", "driver": "mail", "mail_fsync": "always",
        "stream": [
            { "name": "clerks", "users": 30, "tasks": { "read": 80, "send": 20 }, "threads": 4 },
            { "name": "bosses", "users": 10, "tasks": { "check-inbox": 50 }, "speed": 10 },
        ],
    })
}

fn office() -> MailWorkload {
    MailWorkload::from_json(&whole(), "office.toml").unwrap()
}

#[test]
fn the_canonical_form_reads_as_itself() {
    let once = office().to_json();
    assert_eq!(MailWorkload::from_json(&once, "office.toml").unwrap().to_json(), once);
}

#[test]
fn set_reaches_every_group_or_one_and_the_server_and_the_job() {
    let (mut workload, mut job) = (office(), JobOptions::default());
    let mut set = |key: &str, value: Value| set_option(&mut workload, &mut job, key, &value);
    set("users", json!(7)).unwrap();
    set("bosses.tasks", json!("read=5,reply-all=1")).unwrap();
    set("mail_fsync", json!("never")).unwrap();
    set("duration", json!("3s")).unwrap();
    for (key, said) in [
        ("user", "did you mean 'users'"),
        ("clrks.users", "did you mean 'clerks'"),
        ("bosses.mail_fsync", "did you mean"),
    ] {
        assert!(set(key, json!(1)).unwrap_err().to_string().contains(said), "{key}");
    }
    let streams = &workload.streams;
    assert_eq!((streams[0].users, streams[1].users), (7, 7));
    assert!((streams[1].tasks.of(MailTask::ReplyAll) - 1.0).abs() < 1e-12 && streams[1].tasks.named().count() == 2);
    assert_eq!(workload.to_json()["mail_fsync"], "never");
}

#[test]
fn what_cannot_hold_together_is_refused_in_a_sentence() {
    let refused = |stream: Value| {
        let file = json!({ "driver": "mail", "stream": [stream] });
        let workload = MailWorkload::from_json(&file, "w.toml");
        workload.and_then(|workload| workload.check("w.toml")).unwrap_err().to_string()
    };
    assert!(refused(json!({ "users": 3 })).contains("every group says what its users do"));
    assert!(refused(json!({ "tasks": { "raed": 1 } })).contains("'read'"));
    assert!(refused(json!({ "tasks": { "read": -1 } })).contains("above 0"));
    assert!(refused(json!({ "tasks": "read" })).contains("read=80"));
    assert!(refused(json!({ "tasks": { "move": 1 }, "folders": 0 })).contains("set folders"));
    assert!(
        refused(json!({ "tasks": { "read": 1 }, "users": 1_000_000, "inbox_messages": 1_000_000 }))
            .contains("lower users")
    );
}

/// Tasks by kind and by user in the first `seconds` of a group, over all its threads.
fn passed(workload: &MailWorkload, group: usize, seconds: u64) -> (Vec<u64>, Vec<u64>) {
    let plan = workload.resolve(1).unwrap();
    let stream = &plan.streams[group];
    let (mut tasks, mut users) = (vec![0; MailTask::COUNT], vec![0; plan.users() as usize]);
    for shard in 0..stream.threads {
        let (mut day, mut last_ns) = (Workday::new(stream, shard), 0);
        loop {
            let due = day.next();
            assert!(due.due_ns >= last_ns);
            if due.due_ns > seconds * 1_000_000_000 {
                break;
            }
            last_ns = due.due_ns;
            tasks[due.task as usize] += 1;
            users[due.user as usize] += 1;
        }
    }
    (tasks, users)
}

#[test]
fn a_day_holds_as_many_tasks_of_each_kind_as_its_users_do() {
    let (tasks, users) = passed(&office(), 0, 100 * 8 * 3600);
    // A hundred days of thirty users: 240,000 reads and 60,000 sends, within five standard deviations.
    assert!((tasks[MailTask::Read as usize] as f64 - 240_000.0).abs() < 5.0 * 490.0, "{tasks:?}");
    assert!((tasks[MailTask::Send as usize] as f64 - 60_000.0).abs() < 5.0 * 245.0, "{tasks:?}");
    assert_eq!(tasks.iter().sum::<u64>(), users.iter().sum::<u64>());
    assert!(users[..30].iter().all(|count| (*count as f64 - 10_000.0).abs() < 500.0), "every user alike: {users:?}");
    assert!(users[30..].iter().all(|count| *count == 0), "the other group is another stream");
}

#[test]
fn a_day_that_passes_ten_times_as_fast_is_over_in_a_tenth_of_the_time() {
    let (tasks, users) = passed(&office(), 1, 100 * 8 * 360);
    assert!((tasks[MailTask::CheckInbox as usize] as f64 - 50_000.0).abs() < 5.0 * 224.0, "{tasks:?}");
    assert!(users[..30].iter().all(|count| *count == 0));
}
