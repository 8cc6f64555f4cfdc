//! Many streams on many parts, where a shell allows few open files; alone in its process, whose limit it lowers.

#![allow(clippy::unwrap_used)]

mod support;

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
}
