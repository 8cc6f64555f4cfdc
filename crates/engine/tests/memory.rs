//! What requests read into and write from: an arena, or pages as most programs have them.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;

use serde_json::json;
use support::*;

#[test]
fn memory_as_programs_have_it_is_not_registered() {
    if !file_backends().contains(&"uring") {
        return;
    }
    let directory = directory();
    let path = directory.path().join("file");
    fs::write(&path, vec![1; 8 << 20]).unwrap();
    for (memory, registered) in [("arena", "true"), ("pages", "false")] {
        let options = json!({ "duration": "100ms", "warmup": "0s", "interval": "100ms", "memory": memory });
        let stream = json!({ "block_size": "1MiB", "queue_depth": 4, "direct": false });
        let finished = finish(&job(path.to_str().unwrap(), stream, options));
        assert!(finished.outcome.facts.contains(&("registered_buffers", registered.to_owned())), "{memory}");
        assert_eq!(finished.outcome.first_error, None);
    }
}
