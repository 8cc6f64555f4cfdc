//! Trees never reach out of themselves: whatever somebody puts in place of a directory or file of a tree, before a run or
//! during it, nothing outside the tree is changed. Each holds with `openat2` and on a kernel without it.

#![allow(clippy::unwrap_used)]

#[path = "support/old_kernel.rs"]
mod old_kernel;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use old_kernel::without;
use plimsoll_engine::collector::Interval;
use plimsoll_engine::control::{Control, StoppedBy};
use plimsoll_engine::files::{FileJob, FileOutcome, FilesPrepared, outcome, prepare, remove, run};
use plimsoll_engine::safety::Permission;
use plimsoll_engine::target::TargetError;
use plimsoll_engine::{EngineError, Places, Sink};
use plimsoll_workload::JobOptions;
use plimsoll_workload::files::FileWorkload;
use serde_json::{Value, json};

/// A directory with the target of a tree in it, and a directory of somebody else.
struct Place {
    here: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let here = tempfile::tempdir().unwrap();
        fs::create_dir(here.path().join("outside")).unwrap();
        // Names as the tree gives them, and files of the tree's size and of another.
        for file in 0..30 {
            fs::write(here.path().join(format!("outside/f{file}")), vec![b'x'; 4096 * (1 + file % 2)]).unwrap();
        }
        Self { here }
    }

    fn tree(&self) -> PathBuf {
        self.here.path().join("tree")
    }

    fn outside(&self) -> PathBuf {
        self.here.path().join("outside")
    }

    /// Everything about the files outside that an operation could change.
    fn precious(&self) -> BTreeMap<String, (u64, usize, i64, i64)> {
        let entries = fs::read_dir(self.outside()).unwrap().map(Result::unwrap);
        let facts = |entry: fs::DirEntry| {
            let (path, metadata) = (entry.path(), entry.metadata().unwrap());
            let name = entry.file_name().into_string().unwrap();
            let kept = fs::read(path).unwrap().iter().filter(|byte| **byte == b'x').count();
            (name, (metadata.ino(), kept, metadata.mtime(), metadata.mtime_nsec()))
        };
        entries.map(facts).collect()
    }
}

fn tree() -> Value {
    json!({ "depth": 1, "width": 3, "files": 10, "sizes": "4KiB" })
}

fn job(target: &Path, tree: Value, stream: Value, options: Value) -> FileJob {
    let file = json!({ "driver": "files", "tree": [tree], "stream": [stream] });
    FileJob {
        workload: FileWorkload::from_json(&file, "test.toml").unwrap(),
        options: JobOptions::from_json(&options, "job").unwrap(),
        directories: vec![target.to_owned()],
        permission: Permission::default(),
    }
}

fn laid_out(target: &Path, operation: Value) -> Result<FilesPrepared, TargetError> {
    let plan = job(target, tree(), json!({ "operation": operation }), json!({})).workload.resolve(1).unwrap();
    prepare(&plan, &[target.to_owned()], &Permission::default(), &mut |_, _| {}, Control::default().flag())
}

/// Calls `mischief` when the trees are laid out and nothing has been done to them.
struct Meanwhile<'a>(&'a dyn Fn());

impl Sink for Meanwhile<'_> {
    fn placed(&mut self, _: Places) {
        (self.0)();
    }

    fn interval(&mut self, _: &Interval) {}
}

fn ran(place: &Place, stream: Value, mischief: &dyn Fn()) -> Result<FileOutcome, EngineError> {
    let options = json!({ "warmup": 0, "duration": "600s", "interval": "100ms", "on_error": "continue" });
    run(&job(&place.tree(), tree(), stream, options), &mut Meanwhile(mischief), &Control::default())
}

fn message(outcome: &FileOutcome) -> String {
    outcome::outcome(outcome, "auto")["first_error"]["message"].as_str().unwrap_or_default().to_owned()
}

/// Every operation on files.
fn every() -> Value {
    json!({
        "read": 10, "write": 10, "create": 10, "open": 5, "access": 5, "stat": 5, "setattr": 10, "rename": 10, "copy": 10, "move": 10, "delete": 10,
        "flush": 5,
    })
}

fn on_both_kernels(test: impl Fn() + Send + Sync) {
    test();
    without(libc::SYS_openat2, libc::ENOSYS, test);
}

fn link(place: &Place, name: &str) {
    let path = place.tree().join(name);
    if path.is_dir() {
        fs::remove_dir_all(&path).unwrap();
    } else {
        let _ = fs::remove_file(&path);
    }
    let file = path.file_name().unwrap().to_str().unwrap().trim_end_matches(".r").to_owned();
    let outside = if file.starts_with('f') { place.outside().join(file) } else { place.outside() };
    symlink(outside, path).unwrap();
}

#[test]
fn a_link_in_a_kept_tree_is_told_and_what_is_behind_it_stays() {
    on_both_kernels(|| {
        for (name, operation) in [("d1", "stat"), ("d0/f2", "write"), ("d2/f25.r", "rename"), ("d0/f2", "setattr")] {
            let place = Place::new();
            laid_out(&place.tree(), json!(operation)).unwrap();
            let before = place.precious();
            link(&place, name);
            let refused = laid_out(&place.tree(), json!(operation)).unwrap_err().to_string();
            let expected =
                format!("{} is a symbolic link, and Plimsoll neither follows", place.tree().join(name).display());
            assert!(refused.starts_with(&expected), "{refused}");
            assert!(ran(&place, json!({ "operation": operation }), &|| ()).is_err());
            remove(&place.tree()).unwrap();
            assert_eq!(place.precious(), before, "{name}");
            assert!(place.tree().join(name).is_symlink(), "{name}: the link is not ours to remove");
        }
    });
}

#[test]
fn a_tree_whose_anchor_is_behind_a_link_is_told() {
    on_both_kernels(|| {
        let place = Place::new();
        fs::create_dir(place.tree()).unwrap();
        symlink(place.outside(), place.tree().join("a")).unwrap();
        let allowed = Permission { destroy: true, typed: None };
        let tree = json!({ "path": "a/b", "files": 3 });
        let plan = job(&place.tree(), tree, json!({ "operation": "stat" }), json!({})).workload.resolve(1).unwrap();
        let before = place.precious();
        let refused = prepare(&plan, &[place.tree()], &allowed, &mut |_, _| {}, Control::default().flag());
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("/tree/a is a symbolic link"), "{refused}");
        assert_eq!(place.precious(), before);
    });
}

/// `cp -al` and backups that save space make them.
#[test]
fn a_file_with_another_name_elsewhere_is_made_anew() {
    on_both_kernels(|| {
        // f10 has the size of the tree's files, f11 has not.
        for (file, operation) in [("f10", "write"), ("f11", "write"), ("f10", "setattr"), ("f11", "create")] {
            let place = Place::new();
            let operation =
                if operation == "create" { json!({ "create": 50, "delete": 50 }) } else { json!(operation) };
            laid_out(&place.tree(), operation.clone()).unwrap();
            let before = place.precious();
            let name = place.tree().join("d1").join(file);
            fs::remove_file(&name).unwrap();
            fs::hard_link(place.outside().join(file), &name).unwrap();
            // As every command does before a point.
            laid_out(&place.tree(), operation.clone()).unwrap();
            ran(&place, json!({ "operation": operation, "requests": 200 }), &|| ()).unwrap();
            laid_out(&place.tree(), operation.clone()).unwrap();
            assert_eq!(place.precious(), before, "{file}");
            let found = fs::metadata(&name).unwrap();
            assert_eq!((found.nlink(), found.len()), (1, 4096), "{file} {operation}");
        }
    });
}

#[test]
fn what_is_no_file_in_place_of_one_is_told() {
    let fifo = |path: &Path| {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: `path` ends with NUL.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    };
    type Put<'a> = &'a dyn Fn(&Path);
    let cases: [(&str, Put<'_>); 3] = [
        ("d0/f2", &fifo),
        ("d0/f2", &|path| fs::create_dir(path).unwrap()),
        ("d1", &|path| fs::write(path, "x").unwrap()),
    ];
    for (name, put) in cases {
        let place = Place::new();
        laid_out(&place.tree(), json!("read")).unwrap();
        let path = place.tree().join(name);
        fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).unwrap();
        put(&path);
        let refused = laid_out(&place.tree(), json!("read")).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("{} is in the way", path.display())), "{refused}");
        remove(&place.tree()).unwrap();
        assert!(fs::symlink_metadata(&path).is_ok());
    }
}

#[test]
fn a_directory_that_became_a_link_during_a_run_leads_nowhere() {
    on_both_kernels(|| {
        let every = every();
        let place = Place::new();
        let before = place.precious();
        let mischief = || (0..3).for_each(|number| link(&place, &format!("d{number}")));
        let outcome = ran(&place, json!({ "operation": every, "requests": 400, "threads": 2 }), &mischief).unwrap();
        assert!(message(&outcome).contains("ELOOP"), "{}", message(&outcome));
        assert!(message(&outcome).contains("Plimsoll does not follow links in a tree"), "{}", message(&outcome));
        assert_eq!(place.precious(), before);
        remove(&place.tree()).unwrap();
        assert_eq!(place.precious(), before);
    });
}

#[test]
fn directories_made_and_removed_during_a_run_stay_in_the_tree() {
    on_both_kernels(|| {
        let place = Place::new();
        let target = place.tree();
        let tree = json!({ "depth": 2, "width": 3, "files": 0, "filled": 50 });
        let options = json!({ "warmup": 0, "duration": "600s", "interval": "100ms", "on_error": "continue" });
        let stream = json!({ "operation": { "mkdir": 50, "rmdir": 50 }, "requests": 300 });
        let before = place.precious();
        // Empty directories with the names that the tree gives.
        (0..3).for_each(|number| fs::create_dir(place.outside().parent().unwrap().join(format!("d{number}"))).unwrap());
        let mischief = || {
            for number in 0..3 {
                let path = target.join(format!("d{number}"));
                let _ = fs::remove_dir_all(&path);
                symlink(place.here.path(), &path).unwrap();
            }
        };
        run(&job(&target, tree, stream, options), &mut Meanwhile(&mischief), &Control::default()).unwrap();
        assert_eq!(place.precious(), before);
        let names = fs::read_dir(place.here.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["d0", "d1", "d2", "outside", "tree"]);
    });
}

#[test]
fn files_that_became_links_during_a_run_are_neither_read_nor_written_through() {
    on_both_kernels(|| {
        for (hard, operation, errno) in
            [(false, "write", "ELOOP"), (false, "read", "ELOOP"), (false, "copy", "ELOOP"), (true, "write", "EMLINK")]
        {
            let place = Place::new();
            let before = place.precious();
            let mischief = || {
                for file in 0..30 {
                    let name = place.tree().join(format!("d{}/f{file}", file / 10));
                    let _ = fs::remove_file(&name);
                    let outside = place.outside().join(format!("f{file}"));
                    if hard { fs::hard_link(outside, &name) } else { symlink(outside, &name) }.unwrap();
                }
            };
            let mut stream = json!({ "operation": operation, "requests": 50 });
            if operation == "copy" {
                stream["operation"] = json!({ "copy": 50, "delete": 50 });
            }
            let outcome = ran(&place, stream, &mischief).unwrap();
            let mut after = place.precious();
            after.iter_mut().for_each(|(name, facts)| facts.2 = before[name].2);
            assert_eq!(after, before, "{operation}");
            if operation != "copy" {
                assert!(message(&outcome).contains(errno), "{operation}: {}", message(&outcome));
            }
        }
    });
}

#[test]
fn renaming_and_moving_replace_nothing_that_somebody_else_put_there() {
    rename_and_move_among_foreign_files();
}

/// NFS and many file systems of FUSE answer EINVAL.
#[test]
fn nor_do_they_where_the_file_system_cannot_rename_without_replacing() {
    without(libc::SYS_renameat2, libc::EINVAL, rename_and_move_among_foreign_files);
}

fn rename_and_move_among_foreign_files() {
    for operation in ["rename", "move"] {
        let place = Place::new();
        let tree = json!({ "depth": 1, "width": 3, "files": 10, "sizes": "4KiB", "filled": 50 });
        let foreign = std::cell::RefCell::new(Vec::new());
        let mischief = || {
            for file in 0..30 {
                let name = place.tree().join(format!(
                    "d{}/f{file}{}",
                    file / 10,
                    if operation == "rename" { ".r" } else { "" }
                ));
                if !name.exists() {
                    fs::write(&name, "foreign").unwrap();
                    foreign.borrow_mut().push(name);
                }
            }
        };
        let options = json!({ "warmup": 0, "duration": "600s", "interval": "100ms", "on_error": "continue" });
        let stream = json!({ "operation": operation, "requests": 60 });
        let outcome =
            run(&job(&place.tree(), tree, stream, options), &mut Meanwhile(&mischief), &Control::default()).unwrap();
        assert!(message(&outcome).contains("EEXIST"), "{}", message(&outcome));
        assert!(message(&outcome).contains("which Plimsoll does not replace"), "{}", message(&outcome));
        assert!(foreign.borrow().len() >= 15);
        for name in foreign.take() {
            assert_eq!(fs::read_to_string(&name).unwrap(), "foreign", "{operation}: {}", name.display());
        }
    }
}

/// Sets its flag when it goes, also when a test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A thread exchanges directories and files for links and back, all the time, while the tree is laid out, worked in and
/// removed.
#[test]
fn whatever_is_exchanged_at_whatever_instant_nothing_outside_changes() {
    on_both_kernels(|| {
        let place = Place::new();
        laid_out(&place.tree(), json!("stat")).unwrap();
        let links = place.here.path().join("links");
        fs::create_dir(&links).unwrap();
        symlink(place.outside(), links.join("d")).unwrap();
        symlink(place.outside().join("f3"), links.join("f")).unwrap();
        let before = place.precious();
        let (done, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let _ends = Ends(&done);
            scope.spawn(|| {
                let swap = |name: PathBuf, link: PathBuf| {
                    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).unwrap();
                    let (name, link) = (text(&name), text(&link));
                    // SAFETY: both paths end with NUL.
                    let done = unsafe {
                        let (here, flags) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
                        libc::syscall(libc::SYS_renameat2, here, name.as_ptr(), here, link.as_ptr(), flags)
                    };
                    u64::from(done == 0)
                };
                while !done.load(Ordering::Relaxed) {
                    let swapped = swap(place.tree().join("d1"), links.join("d"))
                        + swap(place.tree().join("d0/f3"), links.join("f"));
                    swaps.fetch_add(swapped, Ordering::Relaxed);
                }
            });
            let every = every();
            let options = json!({ "warmup": 0, "duration": "600s", "interval": "100ms", "on_error": "continue" });
            let (mut runs, mut refused) = (0, 0);
            for _ in 0..400 {
                let control = Control::default();
                let stream = json!({ "operation": every, "requests": 300, "threads": 2, "write_created": true });
                match run(&job(&place.tree(), tree(), stream, options.clone()), &mut Meanwhile(&|| ()), &control) {
                    Ok(_) => runs += 1,
                    Err(_) => refused += 1,
                }
                control.stop(StoppedBy::Signal);
                if refused % 4 == 3 {
                    let _ = remove(&place.tree());
                }
                if runs >= 5 && refused >= 5 && swaps.load(Ordering::Relaxed) > 2000 {
                    break;
                }
                std::thread::sleep(Duration::from_micros(100));
            }
            let _ = remove(&place.tree());
            assert!(runs > 0 && refused > 0, "{runs} runs, {refused} refused");
        });
        assert_eq!(place.precious(), before);
    });
}
