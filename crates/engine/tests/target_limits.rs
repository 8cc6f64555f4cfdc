//! A file-size limit hit while a scratch file is made. Alone in its process: the limit is the whole process's.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::AtomicBool;

use plimsoll_engine::safety::Permission;
use plimsoll_engine::target::{TargetError, TargetSpec, prepare};

#[test]
fn a_file_larger_than_allowed_is_a_sentence_and_leaves_nothing() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let target: TargetSpec = directory.path().join("scratch").to_str().unwrap().parse().unwrap();
    let limit = libc::rlimit { rlim_cur: 4 << 20, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: plain system calls; the signal that goes with the limit is ignored, as Python does.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit), 0);
    }
    let error =
        prepare(&target, Some(8 << 20), &Permission::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, TargetError::TooLarge { .. }), "{error}");
    assert!(
        error.to_string().contains("a file of 8.0 MiB is larger than the file system or `ulimit -f` allows"),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
