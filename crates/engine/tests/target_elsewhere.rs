//! A target that processes use which cannot hand each other open files: they share its lock, and nobody else gets it. One test
//! in a process of its own, since a session is the process's; open files of their own stand for processes elsewhere.

#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

use plimsoll_engine::safety::Permission;
use plimsoll_engine::target::{Elsewhere, OpenMode, Session, TargetSpec, open, prepare};

const WRITE: OpenMode = OpenMode { direct: false, dsync: false, writes: true };

/// A lock of somebody else's, if it can be had.
fn other(path: &Path, kind: i32) -> Option<File> {
    let file = File::open(path).unwrap();
    // SAFETY: flock on an open descriptor, given up with it.
    let got = unsafe { libc::flock(file.as_raw_fd(), kind | libc::LOCK_NB) } == 0;
    got.then_some(file)
}

#[test]
fn a_run_shares_its_lock_with_its_own_elsewhere_and_with_nobody_else() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("shared");
    let target: TargetSpec = path.display().to_string().parse().unwrap();
    let permission = Permission::default();
    let never = std::sync::atomic::AtomicBool::new(false);

    let first = Session::begin();
    prepare(&target, Some(1 << 20), &permission, &mut |_, _| (), &never).unwrap();
    assert!(other(&path, libc::LOCK_SH).is_none(), "who makes it has it alone");
    first.lend(&target, true, Elsewhere::Follows).unwrap();
    let joined = other(&path, libc::LOCK_SH);
    assert!(joined.is_some(), "now the others of its run can come");
    assert!(other(&path, libc::LOCK_EX).is_none(), "and nobody alone");
    drop(open(&target, WRITE, &permission).unwrap());
    first.forgo_reading(&target).unwrap();
    assert!(other(&path, libc::LOCK_EX).is_none(), "what is claimed for writing is kept");
    drop(first);

    let second = Session::begin();
    assert!(
        second.lend(&target, true, Elsewhere::Follows).is_err(),
        "the first of another run is refused while one has it"
    );
    second.lend(&target, true, Elsewhere::Leads).unwrap();
    drop(open(&target, WRITE, &permission).unwrap());
    drop(joined);
    assert!(other(&path, libc::LOCK_EX).is_none(), "until the last has ended");
    drop(second);

    let reader = Session::begin();
    reader.lend(&target, false, Elsewhere::Leads).unwrap();
    reader.forgo_reading(&target).unwrap();
    assert!(other(&path, libc::LOCK_EX).is_some(), "who only reads makes way for the first that writes");
}
