//! The journal of a run: what is told to it and when, what is found by it, and where it may not be.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use plimsoll_engine::journal::check::Checked;
use plimsoll_engine::outcome::Journalled;
use plimsoll_engine::{Control, Job, Outcome, run};
use plimsoll_workload::journal::{Kind, RECORD_BYTES, Record};
use serde_json::{Value, json};
use support::{MIB, Recording, job};

/// A directory on a disk, for journals.
fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A directory in memory, for targets that a journal on a disk lies apart from; `None` where there is none.
fn in_memory() -> Option<tempfile::TempDir> {
    let apart = fs::metadata("/dev/shm").ok()?.dev() != fs::metadata(env!("CARGO_TARGET_TMPDIR")).unwrap().dev();
    apart.then(|| tempfile::tempdir_in("/dev/shm").ok()).flatten()
}

fn carried_out(job: &Job) -> Result<Outcome, String> {
    run(job, &mut Recording::default(), &Control::default()).map_err(|error| error.to_string())
}

fn journal_of(directory: &tempfile::TempDir) -> (PathBuf, String) {
    let path = directory.path().join("cut.journal");
    let name = path.display().to_string();
    (path, name)
}

fn records(path: &Path) -> Vec<Record> {
    let bytes = fs::read(path).unwrap();
    let (whole, rest) = bytes.as_chunks::<RECORD_BYTES>();
    assert!(rest.is_empty());
    whole.iter().map(|record| Record::decode(record).unwrap()).collect()
}

fn writes(durability: Value) -> Value {
    let mut stream = json!({
        "name": "w", "read_percent": 25, "queue_depth": 8, "threads": 2, "verify": "journal", "requests": 200,
    });
    stream.as_object_mut().unwrap().extend(durability.as_object().unwrap().clone());
    stream
}

#[test]
fn each_write_is_begun_before_it_is_durable_and_none_is_promised_twice() {
    for (durability, flushes) in
        [(json!({ "dsync": true }), false), (json!({ "flush_every": 8, "flush_at_end": true }), true)]
    {
        let directory = on_disk();
        let (path, name) = journal_of(&directory);
        let options = json!({ "duration": "100s", "warmup": 0, "journal": name });
        let target = "queue:?service=exp:1ms&servers=4&size=16MiB";
        let outcome = carried_out(&job(target, writes(durability), options)).unwrap();
        let Some(Journalled::Kept(kept)) = &outcome.journal else { panic!("{:?}", outcome.journal) };
        let records = records(&path);
        assert!(matches!(records[0], Record::Header(_)));
        let (mut begun, mut durable) = (BTreeSet::new(), BTreeSet::new());
        for record in &records[1..] {
            match record {
                Record::Header(_) => panic!("a second header"),
                Record::Begun(write) => assert!(begun.insert(write.sequence)),
                Record::Durable { write, horizon, .. } => {
                    assert!(begun.contains(&write.sequence) && durable.insert(write.sequence));
                    assert_eq!(Some(horizon), begun.last());
                }
            }
        }
        assert_eq!((kept.begun, kept.durable), (begun.len() as u64, durable.len() as u64));
        // 400 requests, three quarters of them writes, all of which came back; the last flush promises the last of them.
        assert!(begun.len() > 200, "{}", begun.len());
        assert_eq!(begun, durable, "flushes: {flushes}");
    }
}

/// A run on a file in memory with its journal on a disk, and what `journal-check` says of the file after `damage`.
fn checked_after(damage: impl FnOnce(&fs::File, &[Record])) -> Option<Checked> {
    let (memory, disk) = (in_memory()?, on_disk());
    let target = memory.path().join("t");
    let file = fs::File::create_new(&target).unwrap();
    file.set_len(4 * MIB).unwrap();
    let (path, name) = journal_of(&disk);
    let options = json!({ "duration": "100s", "warmup": 0, "journal": name });
    let stream = |verify: &str| {
        json!({
            "name": "w", "read_percent": 0, "queue_depth": 4, "block_size": "8KiB", "align": "4KiB", "direct": false, "dsync": true,
            "verify": verify, "requests": 300,
        })
    };
    let target = target.display().to_string();
    let mut writing = job(&target, stream("journal"), options.clone());
    writing.permission.typed = Some(target.clone());
    carried_out(&writing).unwrap();
    damage(&fs::File::options().write(true).open(&target).unwrap(), &records(&path));
    let mut looking = job(&target, stream("journal-check"), options);
    looking.permission = plimsoll_engine::safety::Permission::default();
    match carried_out(&looking).unwrap().journal {
        Some(Journalled::Checked(checked)) => Some(checked),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_target_that_kept_everything_is_cleared_without_permission_to_write() {
    let Some(checked) = checked_after(|_, _| ()) else { return };
    assert!(checked.violations.is_empty() && checked.complete, "{checked:?}");
    assert_eq!(checked.acknowledged, 300);
    assert!(checked.sectors_checked > 1000);
}

#[test]
fn every_acknowledged_write_that_is_gone_is_named() {
    let mut gone = 0;
    let checked = checked_after(|file, records| {
        let Some(Record::Durable { write, .. }) = records.last() else { panic!("{records:?}") };
        gone = write.sequence;
        file.write_all_at(&vec![0; write.len as usize], write.address).unwrap();
    });
    let Some(checked) = checked else { return };
    let named: Vec<_> = checked.violations.iter().map(|violation| (violation.sequence, violation.kind)).collect();
    assert_eq!(named, [(gone, Kind::Lost)]);
    assert_eq!(checked.counts.get("lost"), Some(&1));
}

#[test]
fn a_journal_is_refused_where_it_would_share_the_fate_of_the_target() {
    let disk = on_disk();
    let (_, name) = journal_of(&disk);
    let target = disk.path().join("t");
    fs::File::create_new(&target).unwrap().set_len(MIB).unwrap();
    let options = |journal: &str| json!({ "duration": "1s", "warmup": 0, "journal": journal });
    let stream = writes(json!({ "dsync": true, "direct": false }));
    let target = target.display().to_string();
    let mut same_disk = job(&target, stream.clone(), options(&name));
    same_disk.permission.typed = Some(target);
    assert!(carried_out(&same_disk).unwrap_err().contains("is on the disk of the target"));
    let queue = "queue:?service=exp:1ms&size=16MiB";
    if in_memory().is_some() {
        let problem = carried_out(&job(queue, stream.clone(), options("/dev/shm/cut.journal"))).unwrap_err();
        assert!(problem.contains("would be in memory"), "{problem}");
    }
    let problem = carried_out(&job(queue, stream.clone(), options("/nowhere/cut.journal"))).unwrap_err();
    assert!(problem.contains("in a directory that exists"), "{problem}");
    let problem = carried_out(&job(queue, stream.clone(), options("tcp://127.0.0.1:1"))).unwrap_err();
    assert!(problem.contains("nobody answers there"), "{problem}");
    let problem = carried_out(&job(queue, stream, json!({ "duration": "1s", "warmup": 0 }))).unwrap_err();
    assert!(problem.contains("needs a place for it"), "{problem}");
    let plain = json!({ "name": "w", "read_percent": 0 });
    let problem = carried_out(&job(queue, plain, options(&name))).unwrap_err();
    assert!(problem.contains("has no effect"), "{problem}");
}

#[test]
fn a_journal_that_is_torn_at_its_end_is_read_and_one_that_is_damaged_inside_is_not() {
    let Some(memory) = in_memory() else { return };
    let disk = on_disk();
    let (path, name) = journal_of(&disk);
    let target = memory.path().join("t");
    fs::File::create_new(&target).unwrap().set_len(4 * MIB).unwrap();
    let target = target.display().to_string();
    let stream = |verify: &str| json!({ "name": "w", "read_percent": 0, "direct": false, "dsync": true, "verify": verify, "requests": 50 });
    let options = json!({ "duration": "100s", "warmup": 0, "journal": name });
    let mut writing = job(&target, stream("journal"), options.clone());
    writing.permission.typed = Some(target.clone());
    carried_out(&writing).unwrap();
    let looking = job(&target, stream("journal-check"), options);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 30]).unwrap();
    let Some(Journalled::Checked(checked)) = carried_out(&looking).unwrap().journal else { panic!("not checked") };
    assert_eq!((checked.acknowledged, checked.violations.len()), (49, 0));
    let mut damaged = whole;
    damaged[10 * RECORD_BYTES + 9] ^= 1;
    fs::write(&path, &damaged).unwrap();
    assert!(carried_out(&looking).unwrap_err().contains("is damaged at byte 640"));
    fs::write(&path, b"something else").unwrap();
    assert!(carried_out(&looking).unwrap_err().contains("is no journal of Plimsoll's"));
}
