//! Every file operation does what its name says: the tree that a run leaves behind is what its record says happened.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use plimsoll_engine::collector::Interval;
use plimsoll_engine::control::Control;
use plimsoll_engine::files::{FileJob, FileOutcome, outcome, prepare, remove, run};
use plimsoll_engine::record;
use plimsoll_engine::safety::Permission;
use plimsoll_engine::{EngineError, Places, Sink};
use plimsoll_workload::JobOptions;
use plimsoll_workload::files::FileWorkload;
use serde_json::{Value, json};

/// Sums of a run, by operation.
#[derive(Default)]
struct Sums {
    places: Places,
    counts: BTreeMap<String, (u64, u64, u64)>,
    phases: Vec<String>,
}

impl Sink for Sums {
    fn placed(&mut self, places: Places) {
        self.places = places;
    }

    fn interval(&mut self, interval: &Interval) {
        let stored = record::interval(interval, &self.places);
        self.phases.push(stored["phase"].as_str().unwrap().to_owned());
        for cell in stored["cells"].as_array().unwrap() {
            let sum = self.counts.entry(cell["op"].as_str().unwrap().to_owned()).or_default();
            sum.0 += cell["count"].as_u64().unwrap();
            sum.1 += cell["bytes"].as_u64().unwrap();
            sum.2 += cell["errors"].as_object().unwrap().values().map(|times| times.as_u64().unwrap()).sum::<u64>();
        }
    }
}

impl Sums {
    fn count(&self, op: &str) -> u64 {
        self.counts.get(op).map_or(0, |sum| sum.0)
    }

    fn bytes(&self, op: &str) -> u64 {
        self.counts.get(op).map_or(0, |sum| sum.1)
    }

    fn errors(&self) -> u64 {
        self.counts.values().map(|sum| sum.2).sum()
    }
}

/// Sums of a run that is stopped from outside once it has done something.
struct Stopping<'a> {
    sums: Sums,
    control: &'a Control,
}

impl Sink for Stopping<'_> {
    fn placed(&mut self, places: Places) {
        self.sums.placed(places);
    }

    fn interval(&mut self, interval: &Interval) {
        self.sums.interval(interval);
        if self.sums.count("stat") > 100 {
            self.control.stop(plimsoll_engine::control::StoppedBy::Signal);
        }
    }
}

fn job(target: &Path, tree: Value, stream: Value) -> FileJob {
    let trees = if tree.is_array() { tree } else { json!([tree]) };
    let streams = if stream.is_array() { stream } else { json!([stream]) };
    let file = json!({ "driver": "files", "tree": trees, "stream": streams });
    let options = json!({ "warmup": 0, "duration": "600s", "interval": "100ms" });
    FileJob {
        workload: FileWorkload::from_json(&file, "test.toml").unwrap(),
        options: JobOptions::from_json(&options, "job").unwrap(),
        directories: vec![target.to_owned()],
        permission: Permission::default(),
    }
}

fn ran(job: &FileJob) -> (Sums, FileOutcome) {
    let mut sums = Sums::default();
    let outcome = run(job, &mut sums, &Control::default()).unwrap_or_else(|error| panic!("{error}"));
    (sums, outcome)
}

/// Files and directories below a directory, Plimsoll's marker left out, with the sizes of files.
fn found(root: &Path) -> (BTreeMap<String, u64>, usize) {
    fn walk(root: &Path, at: &Path, files: &mut BTreeMap<String, u64>, directories: &mut usize) {
        for entry in fs::read_dir(at).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                *directories += 1;
                walk(root, &path, files, directories);
            } else if entry.file_name() != ".plimsoll-files" {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                files.insert(name, fs::metadata(&path).unwrap().len());
            }
        }
    }
    let (mut files, mut directories) = (BTreeMap::new(), 0);
    walk(root, root, &mut files, &mut directories);
    (files, directories)
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn threads_say_when_the_last_of_them_began() {
    let here = scratch();
    let stream = json!({ "operation": "stat", "threads": 3, "requests": 10 });
    let (_, ended) = ran(&job(here.path(), json!({ "files": 2 }), stream));
    let began_ns = outcome::outcome(&ended, "auto")["start"]["began_ns"].as_u64().unwrap();
    assert!(began_ns > 0, "no thread is woken up in no time");
    assert!(began_ns <= ended.end_ns);
}

#[test]
fn a_tree_is_laid_out_with_the_names_and_sizes_of_its_shape() {
    let here = scratch();
    let job = job(
        here.path(),
        json!({ "depth": 2, "width": 3, "files": 4, "sizes": "1KiB-9KiB", "placed": "all" }),
        json!({ "operation": "stat" }),
    );
    let plan = job.workload.resolve(1).unwrap();
    let prepared =
        prepare(&plan, &[here.path().to_owned()], &Permission::default(), &mut |_, _| {}, Control::default().flag())
            .unwrap();
    let (files, directories) = found(here.path());
    assert_eq!((files.len(), directories), (48, 12));
    let shape = &plan.trees[0].shape;
    let mut path = Vec::new();
    for file in 0..shape.files() {
        shape.file_path(file, &mut path);
        assert_eq!(files[std::str::from_utf8(&path).unwrap()], shape.size_bytes(file), "file {file}");
    }
    assert_eq!((prepared.files, prepared.file_bytes, prepared.directories), (48, files.values().sum(), 13));
    assert!(prepared.laid_out && !prepared.created);
}

#[test]
fn reading_sequentially_reads_every_byte_of_every_file_once() {
    let here = scratch();
    let tree = json!({ "depth": 1, "width": 2, "files": 5, "sizes": "10000B" });
    let stream = json!({ "operation": "read", "file_select": "once", "threads": 3 });
    let (sums, outcome) = ran(&job(here.path(), tree, stream));
    assert_eq!((sums.count("open"), sums.count("close")), (10, 10));
    assert_eq!((sums.count("read"), sums.bytes("read")), (30, 100_000));
    assert_eq!((sums.errors(), outcome.stopped_by.name()), (0, "amount"));
    assert!(!outcome.ran_out, "every thread has done its part");
}

#[test]
fn random_requests_leave_a_file_after_so_many_and_follow_the_mix() {
    let here = scratch();
    let tree = json!({ "files": 20, "sizes": "64KiB" });
    let stream = json!({
        "operation": { "read": 70, "write": 30 }, "file_access": "random", "stop_after": 10, "requests": 4000,
    });
    let (sums, _) = ran(&job(here.path(), tree, stream));
    assert_eq!(sums.count("read") + sums.count("write"), 4000);
    assert_eq!((sums.count("open"), sums.count("close")), (400, 400));
    // 4000 draws at 70 %: standard deviation 29.
    assert!(sums.count("read").abs_diff(2800) < 120, "{}", sums.count("read"));
    assert!(found(here.path()).0.values().all(|size| *size == 65_536));
}

#[test]
fn writing_sequentially_changes_every_file_and_keeps_its_size() {
    let here = scratch();
    let tree = json!({ "files": 6, "sizes": "12KiB" });
    let job = job(here.path(), tree, json!({ "operation": "write", "file_select": "once", "flush_at_close": true }));
    let plan = job.workload.resolve(1).unwrap();
    prepare(&plan, &[here.path().to_owned()], &Permission::default(), &mut |_, _| {}, Control::default().flag())
        .unwrap();
    let before: Vec<_> = (0..6).map(|file| fs::read(here.path().join(format!("f{file}"))).unwrap()).collect();
    let (sums, _) = ran(&job);
    assert_eq!((sums.count("write"), sums.bytes("write"), sums.count("flush")), (18, 6 * 12_288, 6));
    for (file, old) in before.iter().enumerate() {
        let new = fs::read(here.path().join(format!("f{file}"))).unwrap();
        assert!(new.len() == old.len() && new != *old, "file {file}");
    }
}

#[test]
fn created_files_are_there_and_empty_unless_they_are_to_be_written() {
    for (write_created, size) in [(false, 0), (true, 8192)] {
        let here = scratch();
        let tree = json!({ "depth": 1, "width": 2, "files": 10, "sizes": "8KiB", "lay_out": "directories" });
        let stream = json!({ "operation": "create", "write_created": write_created, "threads": 4 });
        let (sums, outcome) = ran(&job(here.path(), tree, stream));
        let (files, _) = found(here.path());
        assert_eq!((sums.count("create"), sums.count("close"), files.len()), (20, 20, 20));
        assert!(files.values().all(|found| *found == size));
        assert_eq!(sums.bytes("write"), 20 * size);
        assert!(outcome.ran_out, "there was nothing left to create");
        assert_eq!(outcome.stopped_by.name(), "amount");
    }
}

#[test]
fn deleting_leaves_the_directories_and_ends_when_no_file_is_left() {
    let here = scratch();
    let tree = json!({ "depth": 1, "width": 3, "files": 7, "filled": 50 });
    let job = job(here.path(), tree, json!({ "operation": "delete", "threads": 2 }));
    let laid_out = job.workload.resolve(1).unwrap().trees[0].shape.first_bytes().1;
    let (sums, outcome) = ran(&job);
    assert_eq!(sums.count("delete"), laid_out);
    assert!((3..18).contains(&laid_out), "about half of 21 files: {laid_out}");
    assert_eq!(found(here.path()), (BTreeMap::new(), 3));
    assert!(outcome.ran_out);
    let value = outcome::outcome(&outcome, "auto");
    assert_eq!(value["files"]["left"]["tree-1"], json!({ "files": 0, "directories": 3 }));
}

#[test]
fn files_created_less_files_deleted_are_the_files_that_are_there() {
    let here = scratch();
    let tree = json!({ "depth": 2, "width": 4, "files": 25, "sizes": "1KiB", "filled": 50 });
    let stream = json!({
        "operation": { "create": 30, "delete": 30, "stat": 20, "read": 20 }, "threads": 8, "requests": 1000,
    });
    let job = job(here.path(), tree, stream);
    let first = job.workload.resolve(1).unwrap().trees[0].shape.first_bytes().1;
    let (sums, outcome) = ran(&job);
    let left = found(here.path()).0.len() as u64;
    assert_eq!(first + sums.count("create") - sums.count("delete"), left);
    assert_eq!(outcome.left[0].0, left, "what is thought to exist exists");
    assert_eq!(sums.errors(), 0);
    let drawn: u64 = ["create", "delete", "stat", "read"].iter().map(|op| sums.count(op)).sum();
    assert_eq!(drawn, 8000);
}

#[test]
fn renaming_gives_files_their_other_name_and_back() {
    let here = scratch();
    let tree = json!({ "files": 8, "sizes": "1KiB" });
    let select = |requests: u64| json!({ "operation": "rename", "file_select": "sequential", "requests": requests });
    let (sums, _) = ran(&job(here.path(), tree.clone(), select(8)));
    let names: Vec<String> = found(here.path()).0.into_keys().collect();
    assert_eq!(sums.count("rename"), 8);
    assert_eq!(names, ["f0.r", "f1.r", "f2.r", "f3.r", "f4.r", "f5.r", "f6.r", "f7.r"]);
    ran(&job(here.path(), tree, select(12)));
    let renamed = found(here.path()).0.into_keys().filter(|name| name.ends_with(".r")).count();
    assert_eq!(renamed, 4, "brought back first, then 12 renamings of 8 files");
}

#[test]
fn copies_hold_what_the_original_holds() {
    let here = scratch();
    let trees = json!([
        { "name": "from", "files": 5, "sizes": "100000B" },
        { "name": "to", "files": 5, "sizes": "100000B", "lay_out": "directories" },
    ]);
    let stream = json!({ "operation": "copy", "transfer_size": "16KiB" });
    let (sums, outcome) = ran(&job(here.path(), trees, stream));
    assert_eq!((sums.count("copy"), sums.bytes("copy")), (5, 500_000));
    assert!(outcome.ran_out);
    for file in 0..5 {
        let read = |tree: &str| fs::read(here.path().join(tree).join(format!("f{file}"))).unwrap();
        assert!(!read("to").is_empty());
    }
    let contents = |tree: &str| {
        let mut all: Vec<Vec<u8>> =
            (0..5).map(|file| fs::read(here.path().join(tree).join(format!("f{file}"))).unwrap()).collect();
        all.sort();
        all
    };
    let from = contents("from");
    assert!(contents("to").iter().all(|copy| from.contains(copy)));
}

#[test]
fn moved_files_are_gone_where_they_were() {
    let here = scratch();
    let trees = json!([
        { "name": "inbox", "depth": 1, "width": 2, "files": 6, "sizes": "4KiB" },
        { "name": "archive", "path": "old/archive", "files": 20, "sizes": "4KiB", "lay_out": "directories" },
    ]);
    let (sums, outcome) = ran(&job(here.path(), trees, json!({ "operation": "move", "threads": 3 })));
    assert_eq!(sums.count("move"), 12);
    assert_eq!(found(&here.path().join("inbox")).0.len(), 0);
    assert_eq!(found(&here.path().join("old/archive")).0.len(), 12);
    assert!(outcome.ran_out);
}

/// Mailboxes of which half the places are taken, and what messages are delivered with.
fn mailboxes() -> (Value, Value) {
    let shape = |name: &str| json!({ "name": name, "depth": 1, "width": 2, "files": 20, "sizes": "3KiB" });
    let (mut mail, mut tmp, mut lists) = (shape("mail"), shape("tmp"), shape("lists"));
    (mail["filled"], tmp["lay_out"]) = (json!(50), json!("directories"));
    (lists["files"], lists["sizes"]) = (json!(1), json!("100"));
    let stream = json!({
        "tree": "mail", "operation": "deliver", "made_in": "tmp", "listed_in": "lists", "transfer_size": "1KiB",
    });
    (json!([mail, tmp, lists]), stream)
}

#[test]
fn a_delivered_message_is_in_its_mailbox_and_has_a_line_in_its_list() {
    let here = scratch();
    let (trees, mut stream) = mailboxes();
    stream["threads"] = json!(3);
    let (sums, outcome) = ran(&job(here.path(), trees.clone(), stream.clone()));
    assert_eq!((sums.count("deliver"), sums.bytes("deliver"), sums.errors()), (20, 20 * 3072, 0));
    assert!(outcome.ran_out);
    assert!(found(&here.path().join("mail")).0.into_values().eq([3072; 40]), "each has its whole size");
    assert_eq!(found(&here.path().join("tmp")).0.len(), 0, "nothing unfinished is left");
    let lists = found(&here.path().join("lists")).0;
    assert_eq!(lists.keys().collect::<Vec<_>>(), ["d0/f0", "d1/f1"], "no lock is left");
    let line = b"12345 :1795448109.M404064P27079.vm,S=4490,W=4560\n".len() as u64;
    assert_eq!(lists.into_values().sum::<u64>(), 2 * 100 + 20 * line);
    // The next point begins as this one did.
    stream["operation"] = json!({ "deliver": 50, "delete": 50 });
    stream["requests"] = json!(200);
    let (sums, outcome) = ran(&job(here.path(), trees, stream));
    let left = 20 + sums.count("deliver") - sums.count("delete");
    assert_eq!((found(&here.path().join("mail")).0.len() as u64, sums.errors()), (left, 0));
    assert_eq!(outcome.left[1].0, 0);
}

/// Takes the lists away when everything is laid out and nothing has begun.
struct Thief<'a> {
    sums: Sums,
    lists: &'a Path,
}

impl Sink for Thief<'_> {
    fn placed(&mut self, places: Places) {
        self.sums.placed(places);
        fs::remove_file(self.lists.join("d0/f0")).unwrap();
        fs::remove_file(self.lists.join("d1/f1")).unwrap();
    }

    fn interval(&mut self, interval: &Interval) {
        self.sums.interval(interval);
    }
}

#[test]
fn a_delivery_that_fails_is_counted_and_leaves_nothing_unfinished() {
    let here = scratch();
    let (trees, mut stream) = mailboxes();
    stream["requests"] = json!(5);
    let mut job = job(here.path(), trees, stream);
    job.options.on_error = plimsoll_workload::job::OnError::Continue;
    let lists = here.path().join("lists");
    let mut thief = Thief { sums: Sums::default(), lists: &lists };
    run(&job, &mut thief, &Control::default()).unwrap();
    assert_eq!((thief.sums.count("deliver"), thief.sums.errors()), (0, 5));
    assert_eq!(found(&here.path().join("tmp")).0.len(), 0);
    assert_eq!(found(&here.path().join("mail")).0.len(), 20, "what was there is there");
}

#[test]
fn directories_are_made_below_existing_ones_and_removed_from_the_deepest_on() {
    let here = scratch();
    let tree = |lay_out: &str| json!({ "depth": 3, "width": 3, "files": 0, "lay_out": lay_out });
    for select in ["random", "sequential"] {
        let stream = |operation: &str| json!({ "operation": operation, "file_select": select, "threads": 3 });
        let (sums, outcome) = ran(&job(here.path(), tree("nothing"), stream("mkdir")));
        assert_eq!((sums.count("mkdir"), found(here.path()).1), (39, 39), "{select}");
        assert!(outcome.ran_out && sums.errors() == 0);
        let (sums, _) = ran(&job(here.path(), tree("directories"), stream("rmdir")));
        assert_eq!((sums.count("rmdir"), found(here.path()).1, sums.errors()), (39, 0, 0), "{select}");
    }
}

#[test]
fn directories_come_and_go_under_files_that_come_and_go_without_an_error() {
    let here = scratch();
    let tree = json!({ "depth": 2, "width": 3, "files": 2, "sizes": "1KiB", "filled": 30, "placed": "all" });
    let stream = json!({
        "operation": { "create": 25, "delete": 35, "mkdir": 20, "rmdir": 20 }, "threads": 8, "requests": 500,
    });
    let (sums, outcome) = ran(&job(here.path(), tree, stream));
    let (files, directories) = found(here.path());
    assert_eq!(sums.errors(), 0, "{:?}", outcome::outcome(&outcome, "auto")["first_error"]);
    assert_eq!(outcome.left, [(files.len() as u64, directories as u64 + 1)]);
    assert_eq!(12 + sums.count("mkdir") - sums.count("rmdir"), directories as u64);
}

#[test]
fn attributes_are_asked_for_and_set() {
    let here = scratch();
    let tree = json!({ "files": 4, "sizes": "1KiB" });
    let prepare_first = job(here.path(), tree.clone(), json!({ "operation": "stat", "requests": 1 }));
    ran(&prepare_first);
    let old = fs::File::options().write(true).open(here.path().join("f0")).unwrap();
    old.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let one = |operation: &str| json!({ "operation": operation, "file_select": "once" });
    for operation in ["stat", "access"] {
        let (sums, _) = ran(&job(here.path(), tree.clone(), one(operation)));
        assert_eq!((sums.count(operation), sums.errors()), (4, 0));
        assert_eq!(fs::metadata(here.path().join("f0")).unwrap().mtime(), 0);
    }
    let (sums, _) = ran(&job(here.path(), tree, one("setattr")));
    assert_eq!(sums.count("setattr"), 4);
    assert!(fs::metadata(here.path().join("f0")).unwrap().mtime() > 1_600_000_000);
}

#[test]
fn opening_and_closing_by_themselves_go_in_pairs() {
    let here = scratch();
    let tree = json!({ "files": 10, "sizes": "1KiB" });
    for operation in ["open", "close"] {
        let stream = json!({ "operation": operation, "requests": 50 });
        let (sums, _) = ran(&job(here.path(), tree.clone(), stream));
        assert_eq!((sums.count("open"), sums.count("close"), sums.count("read")), (50, 50, 0));
    }
}

#[test]
fn flushes_are_an_operation_of_their_own() {
    let here = scratch();
    let tree = json!({ "files": 10, "sizes": "64KiB" });
    let stream = json!({ "operation": { "write": 50, "flush": 50 }, "file_access": "random", "requests": 200 });
    let (sums, _) = ran(&job(here.path(), tree, stream));
    assert_eq!(sums.count("write") + sums.count("flush"), 200);
    assert!(sums.count("flush") > 60);
}

#[test]
fn a_file_is_used_by_one_thread_only_unless_it_is_shared() {
    // One file, two threads that stay in it for ever: the other one finds nothing.
    let here = scratch();
    let tree = json!({ "files": 1, "sizes": "64KiB" });
    let stream = |shared: bool| {
        json!({ "operation": "read", "file_access": "random", "stop_after": 1_000_000_000_u64, "threads": 2,
                "shared": shared })
    };
    for (shared, opens) in [(false, 1), (true, 2)] {
        let mut job = job(here.path(), tree.clone(), stream(shared));
        job.options = JobOptions::from_json(&json!({ "warmup": 0, "duration": "300ms" }), "job").unwrap();
        // A thread that the machine had stopped until the very end may still take a file that is free by then, or take none.
        let tried: Vec<u64> = (0..3)
            .map(|_| {
                let (sums, outcome) = ran(&job);
                assert_eq!((outcome.stopped_by.name(), sums.errors()), ("duration", 0));
                sums.count("open")
            })
            .collect();
        assert!(tried.contains(&opens) && tried.iter().all(|&opened| opened <= 2), "shared {shared}: {tried:?}");
    }
}

#[test]
fn operations_come_at_their_rate_and_latency_counts_from_the_intended_instant() {
    let here = scratch();
    let tree = json!({ "files": 50, "sizes": "1KiB" });
    let stream = json!({ "operation": "stat", "arrival": "constant", "rate": 500, "threads": 4 });
    let mut job = job(here.path(), tree, stream);
    job.options = JobOptions::from_json(&json!({ "warmup": "200ms", "duration": "1s" }), "job").unwrap();
    let (sums, outcome) = ran(&job);
    let done = sums.count("stat") + outcome.unissued;
    assert!((598..=602).contains(&done), "500/s for 1.2 s: {done}");
    assert_eq!(outcome::outcome(&outcome, "auto")["offered_per_s"], 500.0);
    assert!(sums.phases.contains(&"warmup".to_owned()) && sums.phases.contains(&"measure".to_owned()));
}

#[test]
fn a_call_that_fails_is_counted_named_and_ends_the_run_unless_it_may_go_on() {
    for (policy, stopped_by) in [("stop", "error"), ("continue", "amount")] {
        let here = scratch();
        let tree = json!({ "files": 4, "sizes": "1KiB" });
        let mut job = job(here.path(), tree, json!({ "operation": "stat", "file_select": "once" }));
        job.options =
            JobOptions::from_json(&json!({ "warmup": 0, "duration": "5s", "on_error": policy }), "job").unwrap();
        let plan = job.workload.resolve(1).unwrap();
        prepare(&plan, &[here.path().to_owned()], &Permission::default(), &mut |_, _| {}, Control::default().flag())
            .unwrap();
        fs::remove_file(here.path().join("f1")).unwrap();
        let (sums, outcome) = ran(&job);
        assert_eq!((sums.errors(), outcome.stopped_by.name()), (1, stopped_by));
        let value = outcome::outcome(&outcome, "auto");
        assert_eq!(value["first_error"]["errno"], "ENOENT");
        let message = value["first_error"]["message"].as_str().unwrap();
        assert!(message.starts_with("stat of f1 in tree tree-1 failed with ENOENT"), "{message}");
    }
}

#[test]
fn a_file_that_somebody_cut_short_fails_what_reads_it() {
    let here = scratch();
    let tree = json!({ "files": 4, "sizes": "8KiB" });
    let stream = json!({ "operation": "read", "file_select": "once", "transfer_size": "4KiB" });
    let mut job = job(here.path(), tree, stream);
    job.options =
        JobOptions::from_json(&json!({ "warmup": 0, "duration": "5s", "on_error": "continue" }), "job").unwrap();
    let plan = job.workload.resolve(1).unwrap();
    prepare(&plan, &[here.path().to_owned()], &Permission::default(), &mut |_, _| {}, Control::default().flag())
        .unwrap();
    fs::OpenOptions::new().write(true).open(here.path().join("f1")).unwrap().set_len(4096).unwrap();
    let (sums, outcome) = ran(&job);
    assert_eq!((sums.bytes("read"), sums.errors()), (6 << 12, 1));
    let message = outcome::outcome(&outcome, "auto")["first_error"]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("read of f1 in tree tree-1") && message.contains("transferred less"), "{message}");
}

#[test]
fn moved_files_may_be_shorter_than_their_new_place() {
    let here = scratch();
    let trees = json!([
        { "name": "inbox", "files": 20, "sizes": "1KiB" },
        { "name": "archive", "files": 20, "sizes": "8KiB", "lay_out": "directories" },
    ]);
    let stream = json!({ "operation": { "read": 80, "move": 20 }, "transfer_size": "1KiB", "requests": 400 });
    let (sums, _) = ran(&job(here.path(), trees, stream));
    assert!(sums.count("move") == 20 && sums.count("read") > 20);
    assert_eq!(sums.errors(), 0);
}

#[test]
fn a_stopped_run_keeps_what_it_measured() {
    let here = scratch();
    let control = Control::default();
    let job = job(here.path(), json!({ "files": 10 }), json!({ "operation": "stat", "threads": 2 }));
    let mut stopping = Stopping { sums: Sums::default(), control: &control };
    let outcome = run(&job, &mut stopping, &control).unwrap();
    assert_eq!(outcome.stopped_by.name(), "signal");
    assert!(stopping.sums.count("stat") > 100 && outcome.end_ns < 600_000_000_000);
}

#[test]
fn one_thread_with_equal_seeds_does_the_same_to_the_same_files() {
    let names = |here: &Path| {
        let tree = json!({ "depth": 1, "width": 4, "files": 50, "sizes": "1KiB", "filled": 50 });
        let stream = json!({ "operation": { "create": 30, "delete": 40, "rename": 30 }, "requests": 300 });
        ran(&job(here, tree, stream));
        found(here).0.into_keys().collect::<Vec<_>>()
    };
    let (one, other) = (scratch(), scratch());
    assert_eq!(names(one.path()), names(other.path()));
}

#[test]
fn direct_reads_and_writes_work_where_the_file_system_allows_them() {
    let here = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let tree = json!({ "files": 4, "sizes": "64KiB" });
    let stream = json!({
        "operation": { "read": 50, "write": 50 }, "file_access": "random", "direct": true, "dsync": true, "requests": 40,
    });
    let (sums, outcome) = ran(&job(here.path(), tree, stream));
    let value = outcome::outcome(&outcome, "auto");
    if value["first_error"]["errno"] == "EINVAL" {
        return; // tmpfs and the like
    }
    assert_eq!((sums.count("read") + sums.count("write"), sums.errors()), (40, 0));
}

#[test]
fn a_backend_that_is_none_for_files_is_refused() {
    let here = scratch();
    let mut job = job(here.path(), json!({}), json!({ "operation": "stat" }));
    job.options = JobOptions::from_json(&json!({ "backend": "uring" }), "job").unwrap();
    let error = run(&job, &mut Sums::default(), &Control::default()).unwrap_err();
    assert!(matches!(error, EngineError::Mismatch(_)), "{error}");
    assert!(remove(here.path()).unwrap().is_empty(), "nothing was laid out");
}

#[test]
fn files_that_are_not_written_are_each_written_once() {
    let here = scratch();
    let created = json!({ "name": "maker", "operation": "create", "requests": 40 });
    let written = json!({
        "name": "writer", "operation": "write", "file_state": "unwritten", "transfer_size": "1KiB", "threads": 2,
    });
    let job =
        job(here.path(), json!({ "files": 40, "sizes": "4KiB", "lay_out": "directories" }), json!([created, written]));
    let (sums, _) = ran(&job);
    assert_eq!((sums.count("create"), sums.count("write"), sums.errors()), (40, 160, 0));
    let (files, _) = found(here.path());
    assert_eq!(files.into_values().collect::<Vec<_>>(), vec![4096; 40]);
}
