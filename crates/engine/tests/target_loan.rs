//! A claim that one process of a run lends stays until the last of them has ended. One test in a process of its own, since a
//! session is the process's.

#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::os::fd::AsRawFd;

use plimsoll_engine::safety::Permission;
use plimsoll_engine::target::{Elsewhere, Loan, OpenMode, Session, TargetSpec, open, prepare, release};

const WRITE: OpenMode = OpenMode { direct: false, dsync: false, writes: true };

fn is_free(path: &std::path::Path) -> bool {
    let file = File::open(path).unwrap();
    // SAFETY: flock on an open descriptor, given up with it.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

fn duplicates(loans: &[Loan]) -> Vec<Loan> {
    loans.iter().map(|loan| Loan { carries: loan.carries, file: loan.file.try_clone().unwrap() }).collect()
}

#[test]
fn what_is_lent_stays_claimed_and_its_marker_tells_the_last_write_when_it_is_released() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("shared");
    let target: TargetSpec = path.display().to_string().parse().unwrap();
    let permission = Permission::default();
    let never = std::sync::atomic::AtomicBool::new(false);
    let wrote_ns = || {
        let marker = fs::read_to_string(path.with_extension("plimsoll")).unwrap();
        serde_json::from_str::<serde_json::Value>(&marker).unwrap()["wrote_ns"].clone()
    };

    let lender = Session::begin();
    prepare(&target, Some(1 << 20), &permission, &mut |_, _| (), &never).unwrap();
    let loans = lender.lend(&target, true, Elsewhere::Nobody).unwrap();
    assert_eq!(loans.len(), 1);
    drop(open(&target, WRITE, &permission).unwrap());
    assert!(wrote_ns().is_null(), "another process may write later than this one");
    release(&target).unwrap();
    assert!(wrote_ns().is_number(), "all have ended");
    drop(lender);
    assert!(!is_free(&path), "the others still have it");

    let borrower = Session::begin();
    borrower.borrow_claims(duplicates(&loans)).unwrap();
    drop(loans);
    let told = wrote_ns();
    drop(open(&target, WRITE, &permission).unwrap());
    assert_eq!(wrote_ns(), told, "what is borrowed, its lender tells of");
    assert!(!is_free(&path));
    drop(borrower);
    assert!(is_free(&path));
}
