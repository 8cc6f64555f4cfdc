//! Values that no array can have, and arrays against which no load can be driven, are refused in one sentence.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::ArraySpec;
use serde_json::{Value, json};

/// An array with everything in it that has a limit.
fn whole() -> Value {
    let mut document = cached("raid5", 4, 64);
    document["link"] = json!([{ "name": "bus", "rate_bytes_per_s": 100_000_000 }]);
    document["host"] = json!({ "mode": "buffered", "page_cache": { "size_bytes": 1 << 20 } });
    document
}

fn sentence(document: &Value) -> String {
    ArraySpec::read(document).err().map_or_else(String::new, |error| error.to_string())
}

#[test]
fn a_cache_larger_than_its_tables_can_be_is_refused() {
    for (pointer, at, most) in [
        ("/controller/0/cache/size_bytes", "controller.a.cache", 1_u64 << 40),
        ("/host/page_cache/size_bytes", "host.page_cache", 1 << 38),
    ] {
        let mut document = whole();
        *document.pointer_mut(pointer).unwrap() = json!(1_000_000_000_000_000_u64);
        let said = sentence(&document);
        assert!(said.starts_with(&format!("array \"tested\": {at}.size_bytes: 1000000000000000 bytes are ")), "{said}");
        assert!(said.ends_with(&format!("pages, too many to model; write at most {most}")), "{said}");
        *document.pointer_mut(pointer).unwrap() = json!(most);
        assert_eq!(sentence(&document), "");
        *document.pointer_mut(pointer).unwrap() = json!(100);
        assert!(sentence(&document).contains("holds no page"));
    }
}

#[test]
fn times_that_would_overflow_are_refused() {
    for (parent, at, key, most) in [
        ("/controller/0", "controller.a", "request_ns", 60_000_000_000_u64),
        ("/controller/0", "controller.a", "command_ns", 1_000_000_000),
        ("/controller/0", "controller.a", "kib_ns", 1_000_000_000),
        ("/controller/0/cache", "controller.a.cache", "idle_ns", 86_400_000_000_000),
        ("/link/0", "link.bus", "overhead_ns", 60_000_000_000),
        ("/link/0", "link.bus", "latency_ns", 60_000_000_000),
        ("/host", "host", "request_ns", 60_000_000_000),
        ("/host", "host", "page_ns", 1_000_000_000),
        ("/host/page_cache", "host.page_cache", "moved_page_ns", 1_000_000_000),
        ("/host/page_cache", "host.page_cache", "idle_ns", 86_400_000_000_000),
    ] {
        let mut document = whole();
        document.pointer_mut(parent).unwrap()[key] = json!(u64::MAX);
        let expected = format!("array \"tested\": {at}.{key}: 18446744073709551615 is out of range; write 0 to {most}");
        assert_eq!(sentence(&document), expected);
        document.pointer_mut(parent).unwrap()[key] = json!(most);
        assert_eq!(sentence(&document), "");
    }
}

#[test]
fn an_array_that_answers_in_no_time_at_all_is_refused_as_a_target() {
    let refused = |document: &Value| {
        let spec = ArraySpec::read(document).unwrap().spec;
        spec.check_takes_time().err().map_or_else(String::new, |error| error.to_string())
    };
    assert_eq!(refused(&array("raid5", 4)), "", "disks take time");
    let mut document = cached("raid5", 4, 64);
    assert_eq!(
        refused(&document),
        "array \"tested\": controller.a.request_ns: what its cache holds is answered in no time at all; write what a request \
         costs, here or as host.request_ns"
    );
    for (pointer, key) in [("/controller/0", "request_ns"), ("/controller/0", "kib_ns"), ("/host", "request_ns")] {
        let mut costly = document.clone();
        costly["host"] = json!({});
        costly.pointer_mut(pointer).unwrap()[key] = json!(1);
        assert_eq!(refused(&costly), "", "{key}");
    }
    document["link"] = json!([{ "name": "bus", "rate_bytes_per_s": 100_000_000 }]);
    document["volumes"][0]["links"] = json!(["bus"]);
    assert_eq!(refused(&document), "");
    // What lies in a host's pages passes no link.
    document["host"] = json!({ "mode": "buffered", "page_cache": { "size_bytes": 1 << 20, "moved_page_ns": 9 } });
    assert_eq!(
        refused(&document),
        "array \"tested\": host.page_ns: what its page cache holds is answered in no time at all; write what copying a page \
         costs, or a request as host.request_ns"
    );
    for key in ["page_ns", "request_ns"] {
        let mut costly = document.clone();
        costly["host"][key] = json!(1);
        assert_eq!(refused(&costly), "", "{key}");
    }
}
