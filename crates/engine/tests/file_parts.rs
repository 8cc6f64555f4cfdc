//! Trees in directories of their own: each is judged, claimed, marked and removed by itself, and nothing beside or above
//! any of them is touched.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use plimsoll_engine::collector::Interval;
use plimsoll_engine::control::Control;
use plimsoll_engine::files::{
    FileJob, FilesPrepared, directories_of, inspect, left_behind, prepare, release, remove, run,
};
use plimsoll_engine::safety::{Permission, Refusal};
use plimsoll_engine::target::TargetError;
use plimsoll_engine::{EngineError, Places, Sink};
use plimsoll_workload::JobOptions;
use plimsoll_workload::files::{FilePlan, FileWorkload};
use serde_json::{Value, json};

/// Two places that have a file of somebody else each and nothing above them in common but a directory with another one.
struct Somewhere {
    here: tempfile::TempDir,
}

impl Somewhere {
    fn new() -> Self {
        let here = tempfile::tempdir().unwrap();
        for name in ["mnt", "srv"] {
            fs::create_dir(here.path().join(name)).unwrap();
            fs::write(here.path().join(name).join("precious"), "p").unwrap();
        }
        fs::write(here.path().join("precious"), "p").unwrap();
        Self { here }
    }

    fn directories(&self) -> Vec<PathBuf> {
        vec![self.here.path().join("mnt/a"), self.here.path().join("srv/b")]
    }

    /// Every path below, in order.
    fn found(&self) -> Vec<String> {
        fn walk(root: &Path, at: &Path, paths: &mut Vec<String>) {
            for entry in fs::read_dir(at).unwrap().flatten() {
                paths.push(entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned());
                if entry.metadata().unwrap().is_dir() {
                    walk(root, &entry.path(), paths);
                }
            }
        }
        let mut paths = Vec::new();
        walk(self.here.path(), self.here.path(), &mut paths);
        paths.sort();
        paths
    }
}

const FOREIGN: [&str; 5] = ["mnt", "mnt/precious", "precious", "srv", "srv/precious"];

fn workload(trees: Value, stream: Value) -> FileWorkload {
    FileWorkload::from_json(&json!({ "driver": "files", "tree": trees, "stream": [stream] }), "parts.toml").unwrap()
}

fn two() -> Value {
    json!([
        { "name": "a", "files": 2, "sizes": "4KiB" },
        { "name": "b", "part": 1, "files": 3, "sizes": "8KiB" },
    ])
}

fn plan(trees: Value) -> FilePlan {
    workload(trees, json!({ "operation": "stat" })).resolve(1).unwrap()
}

fn laid_out(trees: Value, directories: &[PathBuf]) -> Result<FilesPrepared, TargetError> {
    prepare(&plan(trees), directories, &Permission::default(), &mut |_, _| {}, Control::default().flag())
}

struct Quiet;

impl Sink for Quiet {
    fn placed(&mut self, _: Places) {}

    fn interval(&mut self, _: &Interval) {}
}

fn ran(trees: Value, stream: Value, directories: &[PathBuf]) -> Result<Vec<(u64, u64)>, EngineError> {
    let options = json!({ "warmup": 0, "duration": "600s", "interval": "100ms" });
    let job = FileJob {
        workload: workload(trees, stream),
        options: JobOptions::from_json(&options, "job").unwrap(),
        directories: directories.to_owned(),
        permission: Permission::default(),
    };
    run(&job, &mut Quiet, &Control::default()).map(|outcome| outcome.left)
}

#[test]
fn every_tree_lies_in_its_directory_with_a_marker_there_and_goes_again_alone() {
    let place = Somewhere::new();
    let [a, b] = place.directories().try_into().unwrap();
    let prepared = laid_out(two(), &[a.clone(), b.clone()]).unwrap();
    assert_eq!((prepared.files, prepared.file_bytes), (5, 2 * 4096 + 3 * 8192));
    assert_eq!(prepared.scratch, [a.clone(), b.clone()]);
    let in_b = ["srv/b", "srv/b/.plimsoll-files", "srv/b/f0", "srv/b/f1", "srv/b/f2"];
    let mut all: Vec<&str> =
        [&FOREIGN[..], &["mnt/a", "mnt/a/.plimsoll-files", "mnt/a/f0", "mnt/a/f1"], &in_b].concat();
    all.sort_unstable();
    assert_eq!(place.found(), all);
    assert!(!laid_out(two(), &[a.clone(), b.clone()]).unwrap().laid_out, "both are as they should be");
    fs::remove_file(b.join("f1")).unwrap();
    assert!(laid_out(two(), &[a.clone(), b.clone()]).unwrap().laid_out);
    assert_eq!(place.found(), all, "the one that was missing is there again");
    assert_eq!(remove(&a).unwrap(), [a]);
    all.retain(|name| !name.starts_with("mnt/a"));
    assert_eq!(place.found(), all, "the other one stays");
    assert_eq!(remove(&b).unwrap(), [b]);
    assert_eq!(place.found(), FOREIGN);
}

#[test]
fn a_directory_that_one_run_used_alone_another_uses_beside_others_as_it_stands() {
    let place = Somewhere::new();
    let directories = place.directories();
    laid_out(json!([two()[0]]), &directories[..1]).unwrap();
    let kept = fs::metadata(directories[0].join("f0")).unwrap().modified().unwrap();
    laid_out(two(), &directories).unwrap();
    assert_eq!(fs::metadata(directories[0].join("f0")).unwrap().modified().unwrap(), kept);
    // Its number is no matter of the tree's: the other way round both are as they should be.
    let turned =
        json!([{ "name": "a", "part": 1, "files": 2, "sizes": "4KiB" }, { "name": "b", "files": 3, "sizes": "8KiB" }]);
    assert!(!laid_out(turned, &[directories[1].clone(), directories[0].clone()]).unwrap().laid_out);
}

#[test]
fn a_run_works_in_all_directories_and_files_move_from_one_to_the_other() {
    let place = Somewhere::new();
    let trees = json!([
        { "name": "a", "files": 4, "sizes": "4KiB" },
        { "name": "b", "part": 1, "files": 9, "sizes": "4KiB", "lay_out": "directories" },
    ]);
    let stream = json!({ "operation": "move", "tree": ["a", "b"], "threads": 2 });
    let left = ran(trees.clone(), stream.clone(), &place.directories()).unwrap();
    assert_eq!(left, [(0, 1), (4, 1)], "files and directories, the anchor counted");
    let in_b = place.found().iter().filter(|name| name.starts_with("srv/b/f")).count();
    assert_eq!((place.found().iter().any(|name| name.starts_with("mnt/a/f")), in_b), (false, 4));
    // Both markers say that their trees are changed, so both are brought back.
    assert_eq!(ran(trees, stream, &place.directories()).unwrap(), [(0, 1), (4, 1)]);
    place.directories().iter().for_each(|directory| drop(remove(directory).unwrap()));
    assert_eq!(place.found(), FOREIGN);
}

#[test]
fn a_refusal_of_one_directory_leaves_all_as_they_were() {
    let place = Somewhere::new();
    let [a, b] = place.directories().try_into().unwrap();
    fs::create_dir(&b).unwrap();
    fs::write(b.join("somebody"), "s").unwrap();
    let before = place.found();
    let refused = laid_out(two(), &[a.clone(), b.clone()]).unwrap_err();
    assert!(
        matches!(&refused, TargetError::Refused(Refusal::ForeignDirectory { path, .. }) if *path == b),
        "{refused}"
    );
    assert_eq!(place.found(), before);
    // A name that is in the way is seen before anything is laid out in another directory.
    fs::rename(b.join("somebody"), b.join("f1")).unwrap();
    let (before, anyway) = (place.found(), Permission { destroy: true, ..Permission::default() });
    let stop = AtomicBool::new(false);
    let refused = prepare(&plan(two()), &[a, b], &anyway, &mut |_, _| {}, &stop).unwrap_err();
    assert!(matches!(&refused, TargetError::Refused(Refusal::InTheWay { .. })), "{refused}");
    assert_eq!(place.found(), before);
}

#[test]
fn directories_in_each_other_and_two_names_of_one_are_refused_before_anything_is_made() {
    let place = Somewhere::new();
    let at = |name: &str| place.here.path().join(name);
    fs::create_dir(at("mnt/real")).unwrap();
    symlink(at("mnt/real"), at("srv/link")).unwrap();
    let before = place.found();
    let cases = [
        ("mnt/real", "srv/link", "are one directory"),
        ("mnt/real", "srv/link/inner", "lies in"),
        ("srv/link/inner", "mnt/real", "lies in"),
        ("mnt/new", "mnt/./new", "are one directory"),
    ];
    for (first, second, expected) in cases {
        let directories = [at(first), at(second)];
        let refused = laid_out(two(), &directories).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
        let spec = format!("concat:{},{}", directories[0].display(), directories[1].display());
        let looked = inspect(&spec).unwrap_err().to_string();
        assert!(looked.contains(expected) || looked.contains("is there twice"), "{looked}");
        assert_eq!(place.found(), before);
    }
}

#[test]
fn every_directory_has_a_tree_and_every_tree_a_directory() {
    let place = Somewhere::new();
    let directories = place.directories();
    let refused = laid_out(two(), &directories[..1]).unwrap_err().to_string();
    assert!(refused.contains("tree \"b\" lies in part 1, and the target has 1 directory"), "{refused}");
    let refused = laid_out(json!([two()[0]]), &directories).unwrap_err().to_string();
    assert!(refused.contains("srv/b: no tree lies in it"), "{refused}");
    assert_eq!(place.found(), FOREIGN);
}

#[test]
fn what_two_directories_of_one_file_system_need_together_has_to_be_free_there() {
    let place = Somewhere::new();
    let free: u64 = {
        let found = free_bytes(place.here.path());
        found / 100 * 60
    };
    let size = format!("{}KiB", free / 1024);
    let trees =
        json!([{ "name": "a", "files": 1, "sizes": size }, { "name": "b", "part": 1, "files": 1, "sizes": size }]);
    // Stopped before the first byte, should it not be refused.
    let stop = AtomicBool::new(true);
    let permission = Permission::default();
    let refused = prepare(&plan(trees), &place.directories(), &permission, &mut |_, _| {}, &stop).unwrap_err();
    assert!(matches!(refused, TargetError::NoSpaceForTrees { .. }), "{refused}");
    assert_eq!(place.found(), FOREIGN);
}

fn free_bytes(path: &Path) -> u64 {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: zeroes are a valid statvfs, and the path ends with NUL.
    let found = unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        assert_eq!(libc::statvfs(path.as_ptr(), &raw mut found), 0);
        found
    };
    found.f_bavail * found.f_frsize
}

#[test]
fn what_a_killed_run_left_is_known_in_each_directory_by_itself() {
    let place = Somewhere::new();
    let [a, b] = place.directories().try_into().unwrap();
    laid_out(two(), &[a.clone(), b.clone()]).unwrap();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    for directory in [&a, &b] {
        let marker = directory.join(".plimsoll-files");
        let mut value: Value = serde_json::from_str(&fs::read_to_string(&marker).unwrap()).unwrap();
        value["run"]["pid"] = child.id().into();
        fs::write(&marker, value.to_string()).unwrap();
    }
    let spec = format!("concat:{},{}", a.display(), b.display());
    let left = || inspect(&spec).unwrap().parts.iter().map(|part| part.left_behind).collect::<Vec<_>>();
    assert_eq!(left(), [true, true]);
    assert_eq!(left_behind(&b), [(b.clone(), 3 * 8192)]);
    release(&a).unwrap();
    assert_eq!(left(), [false, true]);
    assert!(!inspect(&spec).unwrap().left_behind && inspect(&spec).unwrap().made_by_plimsoll);
    remove(&b).unwrap();
    assert!(!inspect(&spec).unwrap().exists && a.exists());
}

#[test]
fn the_text_of_a_target_names_its_directories() {
    assert_eq!(directories_of("/a,b").unwrap(), [PathBuf::from("/a,b")]);
    assert_eq!(directories_of("concat:/a%2Cb,./c").unwrap(), [PathBuf::from("/a,b"), PathBuf::from("./c")]);
    assert!(directories_of("concat:/a").unwrap_err().to_string().contains("at least two parts"));
}
