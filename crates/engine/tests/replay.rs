//! Replaying traces: order, instants, scaling, ends, and what is said of lateness. Virtual time, exact numbers.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use plimsoll_engine::control::StoppedBy;
use plimsoll_workload::{Op, TraceRecord};
use serde_json::{Value, json};
use support::*;

const US: u64 = 1_000;
const DISK: &str = "queue:?service=const:100us&servers=64&size=1GiB";

/// A compact trace of one device, as `plimsoll replay --convert` writes it.
fn compact(path: &Path, records: &[TraceRecord], timed: bool) {
    let count = |op: Op| records.iter().filter(|record| record.op == op).count();
    let longest = |op: Op| records.iter().filter(|record| record.op == op).map(|record| record.len).max().unwrap_or(0);
    let end = records.iter().map(|record| record.offset + u64::from(record.len)).max().unwrap_or(0);
    let header = json!({
        "span_ns": records.last().map_or(0, |record| record.due_ns), "timed": timed, "ops": Op::ALL.map(count),
        "longest": Op::ALL.map(longest), "granule": 512, "place_bytes": MIB,
        "devices": [{ "name": "disk", "end_bytes": end }],
    });
    let json = serde_json::to_vec(&header).unwrap();
    let records_end = 64 + 24 * records.len() as u64;
    let mut bytes = b"PLIMTRC1".to_vec();
    for number in [records.len() as u64, records_end, json.len() as u64, records_end, 0, 0, 0] {
        bytes.extend(number.to_le_bytes());
    }
    records.iter().for_each(|record| bytes.extend(record.to_bytes()));
    std::fs::write(path, [bytes, json].concat()).unwrap();
}

fn read_at(due_ns: u64, offset: u64) -> TraceRecord {
    TraceRecord { due_ns, offset, len: 4096, op: Op::Read, device: 0 }
}

/// One finished request of the lateness report: number, due, submitted, completed, operation, offset, length.
type Line = (u64, Option<u64>, u64, u64, String, u64, u32);

struct Replayed {
    finished: Finished,
    lines: Vec<Line>,
    report: Value,
}

fn replay(records: &[TraceRecord], target: &str, options: Value) -> Replayed {
    replay_for(records, target, options, "1000s")
}

fn replay_for(records: &[TraceRecord], target: &str, options: Value, duration: &str) -> Replayed {
    let folder = tempfile::tempdir().unwrap();
    let (trace, log) = (folder.path().join("disk.trace"), folder.path().join("lateness.csv"));
    compact(&trace, records, true);
    let mut stream = json!({ "name": "again", "trace": trace, "queue_depth": 64 });
    stream.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let job = job(target, stream, json!({ "duration": duration, "warmup": "0s", "lateness_report": log }));
    let finished = finish(&job);
    let said = plimsoll_engine::record::outcome(&finished.outcome, "auto");
    assert_eq!(said["lateness_report"]["dropped"], 0, "virtual time waits for the writer");
    let text = std::fs::read_to_string(&log).unwrap();
    let mut lines: Vec<Line> = text.lines().skip(1).map(line).collect();
    assert_eq!(said["lateness_report"]["written"], lines.len());
    lines.sort_unstable();
    Replayed { finished, lines, report: said["replays"][0].clone() }
}

fn line(text: &str) -> Line {
    let words: Vec<&str> = text.split(',').collect();
    assert_eq!(words.len(), 11, "{text}");
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    (number(0), words[1].parse().ok(), number(2), number(3), words[6].into(), number(7), number(8) as u32)
}

fn expected(records: &[TraceRecord]) -> Vec<(String, u64, u32)> {
    records.iter().map(|record| (record.op.name().into(), record.offset, record.len)).collect()
}

fn issued(lines: &[Line]) -> Vec<(String, u64, u32)> {
    lines.iter().map(|line| (line.4.clone(), line.5, line.6)).collect()
}

/// Bunches, pauses and ties.
fn uneven(count: u64) -> Vec<TraceRecord> {
    let record = |index: u64| {
        let due_ns = index / 3 * 50 * US + index % 3 / 2 * 7 * US;
        let op = [Op::Read, Op::Write, Op::Read, Op::Flush, Op::Trim][index as usize % 5];
        let flushes = op == Op::Flush;
        let (offset, len) = (index * 7919 % 100_000 * 512, 512 * (1 + index as u32 % 64));
        TraceRecord {
            due_ns,
            offset: if flushes { 0 } else { offset },
            len: if flushes { 0 } else { len },
            op,
            device: 0,
        }
    };
    (0..count).map(record).collect()
}

#[test]
fn every_request_is_issued_in_order_at_its_instant() {
    let records = uneven(10_000);
    let Replayed { finished, lines, report } = replay(&records, DISK, json!({ "arrival": "trace" }));
    assert_eq!(issued(&lines), expected(&records));
    for (number, (line, record)) in lines.iter().zip(&records).enumerate() {
        assert_eq!((line.0, line.1), (number as u64, Some(record.due_ns)));
        assert_eq!((line.2, line.3), (record.due_ns, record.due_ns + 100 * US), "a free server, 100 µs");
    }
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Amount);
    assert_eq!(finished.outcome.end_ns, records.last().unwrap().due_ns + 100 * US);
    assert_eq!((&report["asked"], &report["completed"]), (&json!(10_000), &json!(10_000)));
    assert_eq!(report["gaps_asked"], report["gaps_left"], "no gap differs");
    assert_eq!((&report["waited"], &report["late"]["100us"]), (&json!(0), &json!(0)));
    assert_eq!(finished.measured.lag.as_ref().unwrap().len(), 10_000);
}

#[test]
fn a_speed_divides_every_instant() {
    let records = uneven(3_000);
    for (speed, factor) in [(2.0, 0.5), (0.25, 4.0), (3.0, 1.0 / 3.0)] {
        let found = replay(&records, DISK, json!({ "arrival": "trace", "trace_speed": speed })).lines;
        for (line, record) in found.iter().zip(&records) {
            let due_ns = (record.due_ns as f64 * factor).round() as i64;
            assert!((line.1.unwrap() as i64 - due_ns).abs() <= 1, "{line:?} at {speed}");
        }
    }
}

#[test]
fn as_fast_as_possible_keeps_the_queue_depth_and_the_order() {
    let records = uneven(4_000);
    let target = "queue:?service=const:1ms&servers=8&size=1GiB";
    let Replayed { finished, lines, report } = replay(&records, target, json!({ "queue_depth": 8 }));
    assert_eq!(issued(&lines), expected(&records));
    assert_eq!(finished.outcome.end_ns, 4_000 / 8 * MS, "eight at a time, 1 ms each");
    assert!(lines.iter().all(|line| line.1.is_none()), "nothing is due");
    assert!(finished.measured.lag.is_none());
    assert_near("outstanding", report["outstanding"].as_f64().unwrap(), 8.0, 1e-9);
    let reads = cell(&finished.measured, 0, Op::Read);
    assert_eq!((reads.latency_sum_ns, reads.service.is_none()), (reads.count() * MS, true));
}

#[test]
fn what_waits_for_a_slot_is_late_and_keeps_its_due_instant() {
    // Requests every 100 µs, one slot, 400 µs each: request i leaves at 400 i, 300 i after it was due.
    let records: Vec<_> = (0..100).map(|i| read_at(i * 100 * US, 0)).collect();
    let target = "queue:?service=const:400us&size=1GiB";
    let Replayed { finished, lines, report } =
        replay(&records, target, json!({ "arrival": "trace", "queue_depth": 1 }));
    for (i, line) in (0..).zip(&lines) {
        assert_eq!((line.1, line.2, line.3), (Some(i * 100 * US), i * 400 * US, (i + 1) * 400 * US));
    }
    assert_eq!(report["waited"], 99);
    assert_eq!(report["late"], json!({ "100us": 99, "1ms": 96 }), "300 i > 100 from 1 on, > 1000 from 4 on");
    assert_eq!(report["late_for_gap"], json!({ "late": 99, "of": 99 }));
    assert_eq!(finished.measured.late, 0, "none of it was Plimsoll's own lag");
    let reads = cell(&finished.everything, 0, Op::Read);
    assert_eq!(reads.latency_sum_ns, (0..100).map(|i| (300 * i + 400) * US).sum::<u64>(), "from the intended instant");
}

#[test]
fn what_was_due_and_never_issued_is_counted_when_the_time_is_over() {
    let records: Vec<_> = (0..1_000).map(|i| read_at(i * MS, 0)).collect();
    let found = replay_for(
        &records,
        "queue:?service=const:4ms&size=1GiB",
        json!({ "arrival": "trace", "queue_depth": 1 }),
        "400ms",
    );
    let issued = found.lines.len() as u64;
    assert_eq!(found.finished.outcome.stopped_by, StoppedBy::Duration);
    assert_eq!(issued + found.finished.outcome.unissued, 400, "one is due per ms");
    assert_eq!(issued, 100);
}

#[test]
fn operations_are_left_out_and_flushes_put_in_without_a_gap_in_the_numbers() {
    let records = uneven(1_000);
    let skip = json!({ "arrival": "trace", "trace_skip": ["flush", "trim"], "flush_every": 50 });
    let Replayed { finished, lines, report } = replay(&records, DISK, skip);
    let kept: Vec<_> = records.iter().filter(|record| !matches!(record.op, Op::Flush | Op::Trim)).copied().collect();
    assert_eq!(issued(&lines), expected(&kept));
    assert!(lines.iter().map(|line| line.0).eq(0..kept.len() as u64));
    // 200 writes, a flush after each 50; the last is not followed by anything that would put one in.
    assert_eq!(cell(&finished.measured, 0, Op::Flush).count(), 4);
    assert_eq!(report["asked"], 600);
}

#[test]
fn a_limit_and_a_later_start_hold_for_traces_as_for_other_streams() {
    let records = uneven(100);
    let found = replay(&records, DISK, json!({ "arrival": "trace", "requests": 10, "start_after": "2s" }));
    assert_eq!(issued(&found.lines), expected(&records[..10]));
    assert_eq!(found.lines[9].1, Some(2 * SECOND + records[9].due_ns));
    let fast = replay(&records, DISK, json!({ "start_after": "2s" }));
    assert_eq!((fast.lines.len(), fast.lines[0].2), (100, 2 * SECOND));
}

#[test]
fn two_traces_run_beside_a_drawn_stream() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    compact(&paths[0], &uneven(300), true);
    compact(&paths[1], &(0..50).map(|i| read_at(i * MS, i * 4096)).collect::<Vec<_>>(), false);
    let streams = json!([
        { "name": "timed", "trace": paths[0], "arrival": "trace", "queue_depth": 16 },
        { "name": "fast", "trace": paths[1], "queue_depth": 2 },
        { "name": "drawn", "requests": 20 },
    ]);
    let finished = finish(&job(DISK, streams, json!({ "duration": "10s", "warmup": "0s" })));
    let counts = |stream: usize| {
        Op::ALL.map(|op| finished.measured.cells[stream * 4 + op as usize].as_ref().map_or(0, |c| c.count()))
    };
    assert_eq!([0, 1, 2].map(|stream| counts(stream).iter().sum::<u64>()), [300, 50, 20]);
    let names: Vec<&str> = finished.outcome.replays.iter().map(|replay| replay.stream.as_str()).collect();
    assert_eq!(names, ["timed", "fast"]);
}

#[test]
fn a_trace_of_writes_reaches_a_real_file_where_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, data) = (folder.path().join("trace"), folder.path().join("data"));
    let write = |i: u64| TraceRecord { due_ns: i * 10 * US, offset: i * 8192, len: 4096, op: Op::Write, device: 0 };
    compact(&trace, &(0..100).map(write).collect::<Vec<_>>(), true);
    std::fs::write(&data, vec![0; 1 << 20]).unwrap();
    let stream = json!({ "trace": trace, "arrival": "trace", "queue_depth": 16, "direct": false });
    let mut job = job(data.to_str().unwrap(), stream, json!({ "duration": "60s", "warmup": "0s" }));
    job.permission.typed = Some(data.to_str().unwrap().to_owned());
    let finished = finish(&job);
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Amount);
    assert_eq!(finished.outcome.replays[0].fidelity.completed, 100);
    let blocks: Vec<bool> =
        std::fs::read(&data).unwrap().chunks(4096).map(|block| block.iter().any(|&b| b != 0)).collect();
    assert!(blocks.iter().enumerate().all(|(at, written)| *written == (at % 2 == 0 && at < 200)));
}

#[test]
fn a_file_that_is_no_compact_trace_is_refused_before_anything_is_issued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let job = job(DISK, json!({ "trace": path }), json!({ "duration": "1s", "warmup": "0s" }));
        let control = plimsoll_engine::Control::default();
        plimsoll_engine::run(&job, &mut Recording::default(), &control).unwrap_err().to_string()
    };
    compact(&path, &uneven(10), true);
    let whole = std::fs::read(&path).unwrap();
    assert!(refused(&whole[..whole.len() - 1]).ends_with("the file is cut off or damaged; convert the trace again"));
    assert!(refused(b"fio version 2 iolog\n").contains("it is no compact trace; make one with 'plimsoll replay"));
    assert!(refused(b"").contains("it is no compact trace"));
    let mut other = whole.clone();
    let at = whole.len() - 3;
    other[at] = b'?';
    assert!(refused(&other).contains("its header cannot be read"));
}
