//! Many streams on many parts, where a shell allows few open files; alone in its process, whose limit it lowers.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_engine::target::{TargetError, prepare};
use plimsoll_engine::{Control, run};
use serde_json::{Value, json};
use support::{Recording, job};

#[test]
fn a_run_opens_more_files_than_the_shell_allows_at_first() {
    const PARTS: usize = 24;
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let names: Vec<String> =
        (0..PARTS).map(|number| directory.path().join(format!("f{number}")).display().to_string()).collect();
    for name in &names {
        std::fs::File::create_new(name).unwrap().set_len(4096).unwrap();
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls take a valid rlimit.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit), 0);
        limit.rlim_cur = 256;
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit), 0);
    }
    let stream =
        |number: usize| json!({ "name": format!("s{number}"), "parts": number, "direct": false, "requests": 1 });
    let streams: Value = (0..PARTS).map(stream).collect();
    let options = json!({ "duration": "1000s", "warmup": 0, "backend": "sync", "workers": 1 });
    let many = job(&format!("concat:{}", names.join(",")), streams, options);
    run(&many, &mut Recording::default(), &Control::default()).unwrap();

    // Where the system allows no more, nothing is made in vain. In the same test, since the limit is that of the process.
    limit.rlim_max = 256;
    // SAFETY: a valid rlimit.
    unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit), 0) };
    let further: Vec<_> =
        (0..100).map(|number| directory.path().join(format!("g{number}")).display().to_string()).collect();
    let target = format!("concat:{}?sizes=4KiB", further.join(",")).parse().unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let error = prepare(&target, None, &Default::default(), &mut |_, _| (), &stop).unwrap_err();
    assert!(matches!(error, TargetError::TooManyParts { parts: 100, needed: 396, limit: 256 }), "{error}");
    assert!(error.to_string().contains("raise the limit (`ulimit -Hn 396`), or use fewer files"), "{error}");
    assert!(!std::fs::exists(&further[0]).unwrap());
}
