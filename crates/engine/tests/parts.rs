//! Streams on parts of a target of their own choice: each reaches those and no others, with the addresses that it means.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::PathBuf;

use plimsoll_engine::{Control, Outcome, run};
use serde_json::{Value, json};
use support::{MIB, Recording, job};

struct Files {
    directory: tempfile::TempDir,
    paths: Vec<PathBuf>,
}

impl Files {
    fn new(sizes: &[u64]) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let paths: Vec<PathBuf> = (0..sizes.len()).map(|number| directory.path().join(format!("f{number}"))).collect();
        for (path, size) in paths.iter().zip(sizes) {
            std::fs::File::create_new(path).unwrap().set_len(*size).unwrap();
        }
        Self { directory, paths }
    }

    fn target(&self) -> String {
        let names: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        if names.len() == 1 { names.concat() } else { format!("concat:{}", names.join(",")) }
    }

    fn run(&self, streams: Value) -> Result<Outcome, String> {
        let options = json!({ "duration": "1000s", "warmup": 0, "backend": "sync" });
        let mut job = job(&self.target(), streams, options);
        let names: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        job.permission.typed = Some(names.join(","));
        run(&job, &mut Recording::default(), &Control::default()).map_err(|error| error.to_string())
    }

    /// What each file holds, as the lengths of its runs of equal bytes.
    fn runs(&self) -> Vec<Vec<(u8, usize)>> {
        let runs = |path: &PathBuf| {
            let bytes = std::fs::read(path).unwrap();
            bytes.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
        };
        self.paths.iter().map(runs).collect()
    }
}

fn writer(name: &str, pattern: &str, more: Value) -> Value {
    let mut stream = json!({
        "name": name, "read_percent": 0, "random_percent": 0, "block_size": "64KiB", "pattern": pattern, "direct": false,
    });
    stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    stream
}

#[test]
fn each_stream_reaches_its_own_parts() {
    const KIB: usize = 1024;
    let files = Files::new(&[MIB, MIB, 2 * MIB]);
    let streams = json!([
        writer("a", "A", json!({ "parts": 0, "region_start": "50%", "amount": "512KiB" })),
        // 256 KiB of part 2, then of part 1, in turn; a request of 192 KiB may fall on both.
        writer(
            "b",
            "B",
            json!({ "parts": "2,1", "parts_unit": "256KiB", "block_size": "192KiB", "align": "64KiB", "amount": "960KiB" })
        ),
    ]);
    files.run(streams).unwrap();
    assert_eq!(files.runs()[0], [(0, 512 * KIB), (b'A', 512 * KIB)]);
    assert_eq!(files.runs()[1], [(b'B', 448 * KIB), (0, 576 * KIB)]);
    assert_eq!(files.runs()[2], [(b'B', 512 * KIB), (0, 1536 * KIB)]);
    drop(files.directory);
}

#[test]
fn parts_in_another_order_are_used_in_that_order() {
    let files = Files::new(&[MIB, MIB, MIB]);
    files.run(writer("a", "A", json!({ "parts": [2, 0], "amount": "1280KiB" }))).unwrap();
    let (whole, quarter) = (MIB as usize, MIB as usize / 4);
    assert_eq!(files.runs(), [vec![(b'A', quarter), (0, 3 * quarter)], vec![(0, whole)], vec![(b'A', whole)]]);
}

#[test]
fn what_is_on_parts_in_a_row_is_verified() {
    let files = Files::new(&[MIB, MIB, 2 * MIB]);
    let stream = |name, parts| {
        json!({
            "name": name, "read_percent": 50, "parts": parts, "direct": false, "verify": "all", "queue_depth": 4, "requests": 200,
        })
    };
    let outcome = files.run(json!([stream("a", "0"), stream("b", "1-2")])).unwrap();
    let findings = outcome.findings.unwrap();
    assert!(findings.is_clean() && findings.sectors_checked > 0, "{findings:?}");
}

#[test]
fn what_cannot_be_is_refused_with_what_would_be_right() {
    let files = Files::new(&[MIB, MIB]);
    let read = |more: Value| {
        let mut stream = json!({ "name": "r", "direct": false, "requests": 1 });
        stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        files.run(stream).unwrap_err()
    };
    assert!(read(json!({ "parts": 2 })).contains("part 2 is not there: the target has parts 0 to 1"));
    assert!(read(json!({ "parts": "0,1", "parts_unit": "2MiB" })).contains("no part has room"));
    assert!(read(json!({ "parts": "1,0", "verify": "reads" })).contains("use parts in a row without parts_unit"));
    assert!(read(json!({ "parts": 1, "region_start": "1MiB" })).contains("has no room for one request"));
    let options = json!({ "duration": "1s", "warmup": 0 });
    let null = job("null:", json!({ "name": "r", "parts": 0 }), options);
    let problem = run(&null, &mut Recording::default(), &Control::default()).unwrap_err().to_string();
    assert!(problem.contains("write the target as concat:A,B"), "{problem}");
}

#[test]
fn a_stream_that_only_reads_its_part_is_opened_for_writing_where_another_writes() {
    let files = Files::new(&[MIB, MIB]);
    let streams = json!([
        json!({ "name": "r", "parts": 0, "direct": false, "requests": 20 }),
        writer("w", "W", json!({ "parts": 1, "amount": "1MiB" })),
    ]);
    files.run(streams).unwrap();
    assert_eq!(files.runs()[1], [(b'W', MIB as usize)]);
}

#[test]
fn hundreds_of_streams_run_side_by_side_and_no_two_writes_are_alike() {
    const STREAMS: usize = 600;
    let files = Files::new(&[STREAMS as u64 * 4096]);
    let stream = |number: usize| {
        json!({
            "name": format!("s{number}"), "read_percent": 0, "direct": false, "requests": 1,
            "region_start": number * 4096, "region_length": 4096,
        })
    };
    files.run((0..STREAMS).map(stream).collect()).unwrap();
    let bytes = std::fs::read(&files.paths[0]).unwrap();
    let blocks: std::collections::BTreeSet<&[u8]> = bytes.chunks(4096).collect();
    assert_eq!(blocks.len(), STREAMS, "each block was written, and with bytes of its own");
}

#[test]
fn more_streams_than_memory_has_room_for_are_refused() {
    let streams: Value = (0..200_000).map(|number| json!({ "name": format!("s{number}") })).collect();
    let many = job("null:", streams, json!({ "duration": "1s", "warmup": 0 }));
    let problem = run(&many, &mut Recording::default(), &Control::default()).unwrap_err().to_string();
    assert!(problem.contains("200000 streams need about") && problem.contains("use threads"), "{problem}");
}

#[test]
fn streams_have_only_their_own_parts_open() {
    // Twice as many files as streams, each stream on two of its own: all of them for each would be 16 times as many.
    const STREAMS: usize = 16;
    let files = Files::new(&[65536; 2 * STREAMS]);
    let stream = |number: usize| {
        json!({
            "name": format!("s{number}"), "read_percent": 0, "direct": false, "requests": 8, "flush_every": 2,
            "parts": [2 * number, 2 * number + 1], "parts_unit": "4KiB", "random_percent": 0,
        })
    };
    let most = std::cell::Cell::new(0);
    let mut job = job(
        &files.target(),
        (0..STREAMS).map(stream).collect(),
        json!({ "duration": "1000s", "warmup": 0, "backend": "uring", "workers": 1 }),
    );
    let names: Vec<String> = files.paths.iter().map(|path| path.display().to_string()).collect();
    job.permission.typed = Some(names.join(","));
    // Descriptors of these files only, because other tests run in this process.
    let count = || {
        let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let ours = links.filter_map(|link| std::fs::read_link(link.path()).ok());
        most.set(ours.filter(|path| path.starts_with(files.directory.path())).count());
    };
    let mut sink = Recording { when_open: Box::new(count), ..Recording::default() };
    run(&job, &mut sink, &Control::default()).unwrap();
    drop(sink);
    for path in &files.paths {
        assert!(std::fs::read(path).unwrap()[..16384].iter().any(|&byte| byte != 0), "{}", path.display());
    }
    // Two for each stream, and what holds and claims each part; all parts for each stream alone would be 512.
    assert!((64..256).contains(&most.get()), "{} open", most.get());
}

#[test]
fn a_flush_reaches_the_parts_of_its_stream_alone() {
    let files = Files::new(&[MIB, MIB, MIB]);
    let outcome = |parts: Value| {
        let stream = json!({
            "name": "w", "read_percent": 0, "direct": false, "requests": 4, "flush_every": 1, "flush_at_end": true, "parts": parts,
        });
        let options = json!({ "duration": "1000s", "warmup": 0, "backend": "sync" });
        let mut job = job(&files.target(), stream, options);
        let names: Vec<String> = files.paths.iter().map(|path| path.display().to_string()).collect();
        job.permission.typed = Some(names.join(","));
        let mut sink = Recording::default();
        run(&job, &mut sink, &Control::default()).unwrap();
        let slice = sink.everything.take().unwrap();
        let flushed = |part: usize| slice.parts[part * 4 + 3].as_ref().map_or(0, |cell| cell.count());
        (0..3).map(flushed).collect::<Vec<_>>()
    };
    assert_eq!(outcome(json!(1)), [0, 4, 0]);
    assert_eq!(outcome(json!("2,0")), [4, 0, 4]);
}

/// Histograms of each part took a megabyte of memory for each.
#[test]
fn a_target_of_more_parts_than_anybody_reads_is_recorded_as_a_whole() {
    for (count, recorded) in [(2, true), (256, true), (257, false)] {
        let files = Files::new(&vec![4096; count]);
        let options = json!({ "duration": "1000s", "warmup": 0, "backend": "sync", "workers": 1 });
        let stream = json!([{ "name": "s", "direct": false, "block_size": "4KiB", "requests": 600 }]);
        let mut recording = Recording::default();
        run(&job(&files.target(), stream, options), &mut recording, &Control::default()).unwrap();
        let slice = recording.everything.unwrap();
        assert_eq!(slice.cells.iter().flatten().map(|cell| cell.bytes).sum::<u64>(), 600 * 4096);
        assert_eq!(!slice.parts.is_empty(), recorded, "{count} parts");
    }
}
