//! Laying trees out, bringing them back, removing them: only what Plimsoll made is ever touched, and all of it is.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use plimsoll_engine::control::Control;
use plimsoll_engine::files::{FilesPrepared, inspect, left_behind, prepare, release, remove};
use plimsoll_engine::safety::Permission;
use plimsoll_engine::target::TargetError;
use plimsoll_workload::files::{FilePlan, FileWorkload};
use serde_json::{Value, json};

fn plan(tree: Value) -> FilePlan {
    let trees = if tree.is_array() { tree } else { json!([tree]) };
    let operation = if trees[0]["files"] == 0 { "mkdir" } else { "stat" };
    let file = json!({ "driver": "files", "tree": trees, "stream": [{ "operation": operation }] });
    FileWorkload::from_json(&file, "layout.toml").unwrap().resolve(1).unwrap()
}

fn laid_out(tree: Value, target: &Path) -> Result<FilesPrepared, TargetError> {
    prepare(&plan(tree), &[target.to_owned()], &Permission::default(), &mut |_, _| {}, Control::default().flag())
}

/// Every path below a directory with its size, directories with none; the marker left out.
fn found(root: &Path) -> Vec<(String, Option<u64>)> {
    fn walk(root: &Path, at: &Path, paths: &mut Vec<(String, Option<u64>)>) {
        for entry in fs::read_dir(at).unwrap().flatten() {
            let (path, metadata) = (entry.path(), entry.metadata().unwrap());
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if name != ".plimsoll-files" {
                paths.push((name, metadata.is_file().then_some(metadata.len())));
            }
            if metadata.is_dir() {
                walk(root, &path, paths);
            }
        }
    }
    let mut paths = Vec::new();
    walk(root, root, &mut paths);
    paths.sort();
    paths
}

fn small() -> Value {
    json!({ "depth": 1, "width": 2, "files": 3, "sizes": "4KiB-8KiB", "filled": 70, "seed": 3 })
}

#[test]
fn whatever_became_of_a_tree_it_is_brought_back_to_its_beginning() {
    let here = tempfile::tempdir().unwrap();
    laid_out(small(), here.path()).unwrap();
    let first = found(here.path());
    let file = first.iter().find(|(_, size)| size.is_some()).unwrap().0.clone();
    let path = here.path().join(&file);
    let changes: [&dyn Fn(); 6] = [
        &|| fs::remove_file(&path).unwrap(),
        &|| fs::rename(&path, format!("{}.r", path.display())).unwrap(),
        &|| fs::write(format!("{}.r", path.display()), "two names").unwrap(),
        &|| fs::File::create(&path).unwrap().set_len(17).unwrap(),
        &|| fs::remove_dir_all(here.path().join("d1")).unwrap(),
        &|| (0..6).for_each(|number| fs::write(here.path().join(format!("d{}/f{number}", number / 3)), "").unwrap()),
    ];
    for (number, change) in changes.iter().enumerate() {
        change();
        mark_changed(here.path());
        assert_ne!(found(here.path()), first, "change {number}");
        let prepared = laid_out(small(), here.path()).unwrap();
        assert!(prepared.laid_out);
        assert_eq!(found(here.path()), first, "change {number}");
    }
    assert!(!laid_out(small(), here.path()).unwrap().laid_out, "it is as it should be");
}

/// Says what a run that changes names says before it begins.
fn mark_changed(target: &Path) {
    let marker = target.join(".plimsoll-files");
    let text = fs::read_to_string(&marker).unwrap();
    fs::write(&marker, text.replace("\"ready\"", "\"changed\"")).unwrap();
}

#[test]
fn a_tree_of_a_killed_run_is_known_as_left_behind_until_somebody_wants_to_keep_it() {
    let here = tempfile::tempdir().unwrap();
    let target = here.path().join("tree");
    let is_left = || inspect(target.to_str().unwrap()).unwrap().left_behind;
    laid_out(json!({ "files": 3, "sizes": "4KiB" }), &target).unwrap();
    assert!(!is_left() && left_behind(here.path()).is_empty(), "its run lives");
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let marker = target.join(".plimsoll-files");
    let kill = || {
        let mut value: Value = serde_json::from_str(&fs::read_to_string(&marker).unwrap()).unwrap();
        value["run"]["pid"] = child.id().into();
        fs::write(&marker, value.to_string()).unwrap();
    };
    kill();
    assert!(is_left());
    assert_eq!(left_behind(here.path()), [(target.clone(), 12 << 10)]);
    assert_eq!(left_behind(&target), [(target.clone(), 12 << 10)], "also when it is named itself");
    laid_out(json!({ "files": 3, "sizes": "4KiB" }), &target).unwrap();
    assert!(!is_left(), "the next run has taken it up");
    release(&target).unwrap();
    assert!(!is_left());
    laid_out(json!({ "files": 3, "sizes": "4KiB" }), &target).unwrap();
    kill();
    assert!(!is_left() && left_behind(here.path()).is_empty(), "it was to be kept");
}

#[test]
fn a_tree_that_another_process_has_locked_is_refused_with_its_number() {
    use std::os::fd::AsRawFd;
    let here = tempfile::tempdir().unwrap();
    laid_out(small(), here.path()).unwrap();
    let other = fs::File::open(here.path()).unwrap();
    // A program that another test is starting has the lock of the layout as well, until it runs.
    // SAFETY: an open descriptor.
    while unsafe { libc::flock(other.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        std::thread::yield_now();
    }
    let refused = laid_out(small(), here.path()).unwrap_err().to_string();
    let pid = std::process::id();
    assert!(
        refused.contains("in use by another run of Plimsoll") && refused.contains(&format!("pid {pid}")),
        "{refused}"
    );
}

#[test]
fn no_tree_is_laid_out_where_files_are_no_storage() {
    for (target, kind) in
        [("/proc/self", "proc"), ("/sys/kernel", "sysfs"), ("/dev/plimsoll-tree", "/dev"), ("/dev", "/dev")]
    {
        let said = [inspect(target).unwrap_err(), laid_out(small(), Path::new(target)).unwrap_err()];
        for refused in said.map(|error| error.to_string()) {
            let sentence = format!("{target}: {kind} is a file system of the kernel's own and stores nothing");
            assert!(refused.starts_with(&sentence), "{refused}");
        }
    }
    assert!(!Path::new("/dev/plimsoll-tree").exists());
}

#[test]
fn another_tree_takes_the_place_of_the_one_before() {
    let here = tempfile::tempdir().unwrap();
    laid_out(small(), here.path()).unwrap();
    laid_out(json!({ "depth": 2, "width": 2, "files": 1, "sizes": "1KiB" }), here.path()).unwrap();
    let files: Vec<_> = found(here.path()).into_iter().filter(|(_, size)| size.is_some()).collect();
    assert_eq!(files.len(), 4);
    assert!(files.iter().all(|(name, size)| name.matches('/').count() == 2 && *size == Some(1024)));
}

#[test]
fn removing_leaves_what_others_put_there() {
    let here = tempfile::tempdir().unwrap();
    let target = here.path().join("new");
    let trees =
        json!([{ "name": "a", "depth": 1, "width": 2, "files": 2 }, { "name": "b", "path": "deep/er", "files": 2 }]);
    assert!(laid_out(trees.clone(), &target).unwrap().created);
    assert_eq!(remove(&target).unwrap(), std::slice::from_ref(&target));
    assert!(!target.exists());
    laid_out(trees, &target).unwrap();
    fs::write(target.join("a/d1/letter"), "dear").unwrap();
    remove(&target).unwrap();
    let names: Vec<String> = found(&target).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "a/d1", "a/d1/letter"]);
    assert!(remove(&target).unwrap().is_empty(), "nothing of ours is left");
}

#[test]
fn a_name_that_is_taken_ends_the_layout_and_stays() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("f1"), "mine").unwrap();
    let allowed = Permission { destroy: true, typed: None };
    let lay_out = |permission: &Permission| {
        prepare(
            &plan(json!({ "files": 3 })),
            &[here.path().to_owned()],
            permission,
            &mut |_, _| {},
            Control::default().flag(),
        )
    };
    let refused = lay_out(&Permission::default()).unwrap_err().to_string();
    assert!(refused.contains("holds files that Plimsoll did not make, for example f1"), "{refused}");
    let refused = lay_out(&allowed).unwrap_err().to_string();
    assert!(refused.contains("f1 is in the way"), "{refused}");
    assert!(lay_out(&Permission::default()).is_err(), "the marker of the refused layout is gone");
    assert_eq!(found(here.path()), [("f1".to_owned(), Some(4))]);
    assert_eq!(fs::read_to_string(here.path().join("f1")).unwrap(), "mine");
}

#[test]
fn a_stopped_layout_leaves_nothing_of_a_directory_it_made() {
    let here = tempfile::tempdir().unwrap();
    let target = here.path().join("stopped");
    let control = Control::default();
    let plan = plan(json!({ "depth": 2, "width": 10, "files": 10, "sizes": "64KiB" }));
    let stop = &mut |done: u64, _: u64| {
        if done > 0 {
            control.stop(plimsoll_engine::control::StoppedBy::Signal);
        }
    };
    let stopped =
        prepare(&plan, std::slice::from_ref(&target), &Permission::default(), stop, control.flag()).unwrap_err();
    assert!(matches!(stopped, TargetError::Stopped), "{stopped}");
    assert!(!target.exists());
}

#[test]
fn an_unfinished_layout_is_finished_the_next_time() {
    let here = tempfile::tempdir().unwrap();
    let control = Control::default();
    let tree = json!({ "depth": 2, "width": 10, "files": 10, "sizes": "64KiB" });
    let stop = &mut |done: u64, _: u64| {
        if done > 1 << 20 {
            control.stop(plimsoll_engine::control::StoppedBy::Signal);
        }
    };
    let stopped = prepare(&plan(tree.clone()), &[here.path().to_owned()], &Permission::default(), stop, control.flag());
    assert!(stopped.is_err());
    laid_out(tree, here.path()).unwrap();
    let files = found(here.path()).into_iter().filter(|(_, size)| *size == Some(65_536)).count();
    assert_eq!(files, 1000);
}

#[test]
fn a_copy_of_the_directory_is_somebody_else_s() {
    let here = tempfile::tempdir().unwrap();
    let (target, copy) = (here.path().join("one"), here.path().join("two"));
    laid_out(json!({ "files": 2 }), &target).unwrap();
    fs::create_dir(&copy).unwrap();
    for entry in fs::read_dir(&target).unwrap().flatten() {
        fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    assert!(inspect(target.to_str().unwrap()).unwrap().made_by_plimsoll);
    let found = inspect(copy.to_str().unwrap()).unwrap();
    assert!(!found.made_by_plimsoll && found.write_refusal.is_some());
    assert!(remove(&copy).unwrap().is_empty() && copy.join("f0").exists());
}

#[test]
fn trees_that_the_file_system_has_no_room_for_are_refused_before_anything_is_made() {
    let here = tempfile::tempdir().unwrap();
    let target = here.path().join("huge");
    let refused = laid_out(json!({ "files": 1000, "sizes": "1TiB" }), &target).unwrap_err();
    assert!(matches!(refused, TargetError::NoSpaceForTrees { .. }), "{refused}");
    let said = refused.to_string();
    assert!(said.contains("lower files, sizes or total_size") && !said.contains("a size of"), "{said}");
    assert!(!target.exists());
}

#[test]
fn a_ready_tree_that_somebody_else_changed_is_brought_back() {
    let here = tempfile::tempdir().unwrap();
    let directories = json!({ "depth": 2, "width": 2, "files": 0, "filled": 50 });
    let bare = json!({ "depth": 1, "width": 2, "files": 3, "lay_out": "directories" });
    let nothing = json!({ "depth": 1, "width": 2, "files": 3, "lay_out": "nothing" });
    for (number, tree) in [small(), directories, bare, nothing].into_iter().enumerate() {
        let target = here.path().join(number.to_string());
        laid_out(tree.clone(), &target).unwrap();
        let first = found(&target);
        assert!(!laid_out(tree.clone(), &target).unwrap().laid_out, "nothing was changed");
        let kind =
            |is_file: bool| first.iter().find(|(_, size)| size.is_some() == is_file).map(|at| target.join(&at.0));
        if let Some(file) = kind(true) {
            fs::remove_file(&file).unwrap();
            assert!(laid_out(tree.clone(), &target).unwrap().laid_out);
            assert_eq!(found(&target), first, "a file is missing");
            fs::rename(&file, format!("{}.r", file.display())).unwrap();
            assert!(laid_out(tree.clone(), &target).unwrap().laid_out);
            assert_eq!(found(&target), first, "a file is renamed");
        }
        match kind(false) {
            Some(directory) => fs::remove_dir_all(directory).unwrap(),
            None => fs::create_dir(target.join("d0")).unwrap(),
        }
        assert!(laid_out(tree.clone(), &target).unwrap().laid_out);
        assert_eq!(found(&target), first, "a directory is missing, or there is one");
    }
}
