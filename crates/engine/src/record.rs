//! Intervals and outcomes as the JSON that is stored.
//!
//! One shape for the live view, the store and the analysis; times are nanoseconds, histograms HDR V2 text. Cells in which
//! nothing happened are left out.

use std::borrow::Cow;

use plimsoll_workload::Op;
use serde_json::{Map, Value, json};

use crate::collector::Interval;
use crate::errno::errno_name;
use crate::histogram;
use crate::outcome::Outcome;
use crate::recorder::{Cell, Slice};
use crate::replay::ReplayReport;
use crate::silence::Silence;
use crate::sink::Places;
use crate::timeline::Phase;

/// How many devices of a trace are named; there can be thousands.
const DEVICES_NAMED: usize = 16;

/// An interval.
pub fn interval(interval: &Interval, places: &Places) -> Value {
    let slice = &interval.slice;
    let elapsed_ns = (slice.end_ns - slice.start_ns).max(1);
    let ops = places.part_ops.len().max(1);
    let streams = slice.cells.iter().enumerate().filter_map(|(place, found)| {
        let found = found.as_ref().filter(|found| !found.is_empty())?;
        let (stream, op) = places.cell(place);
        Some(cell(found, Some(stream), op, None))
    });
    let per_part = slice.parts.iter().enumerate().filter_map(|(place, found)| {
        let found = found.as_ref().filter(|found| !found.is_empty())?;
        Some(cell(found, None, places.part_ops[place % ops], places.parts.get(place / ops).map(String::as_str)))
    });
    json!({
        "index": slice.index,
        "phase": interval.phase.name(),
        "start_ns": slice.start_ns,
        "end_ns": slice.end_ns,
        "inflight_mean": slice.in_flight_area as f64 / elapsed_ns as f64,
        "inflight_age_ns": slice.in_flight_age_ns,
        "write_caches": slice.write_caches,
        "summary": summary(interval, places),
        "cells": streams.chain(per_part).collect::<Vec<_>>(),
        "outstanding": outstanding(slice, places),
        "lag": slice.lag.as_ref().filter(|lag| !lag.is_empty()).map(|lag| json!({
            "count": lag.len(), "late": slice.late, "p99_ns": lag.value_at_quantile(0.99), "max_ns": lag.max(),
        })),
        "backlog_ns": if interval.phase == Phase::Drain { Value::Null } else { slice.behind_ns.into() },
    })
}

/// Lower bounds of the latencies of what was outstanding at the interval's end; of the drain, of what never had an answer.
fn outstanding(slice: &Slice, places: &Places) -> Vec<Value> {
    let cells = slice.outstanding.by_cell().into_iter();
    let told = cells.map(|(place, ages)| {
        let (stream, op) = places.cell(place);
        json!({
            "stream": stream,
            "op": op,
            "count": ages.len(),
            "latency": histogram::encode(&ages),
        })
    });
    told.collect()
}

/// The figures of the live view, per operation over all streams.
fn summary(interval: &Interval, places: &Places) -> Value {
    let mut operations = Map::new();
    for op in &places.ops {
        let named = interval.slice.cells.iter().enumerate().filter(|(place, _)| places.cell(*place).1 == *op);
        let mut cells = named.filter_map(|(_, cell)| cell.as_ref()).filter(|cell| !cell.is_empty());
        let Some(first) = cells.next() else { continue };
        let mut latency = Cow::Borrowed(&first.latency);
        let (mut bytes, mut errors, mut sum_ns) = (first.bytes, first.failures(), first.latency_sum_ns);
        for cell in cells {
            latency.to_mut().add(&cell.latency);
            bytes += cell.bytes;
            errors += cell.failures();
            sum_ns += cell.latency_sum_ns;
        }
        let figures = json!({
            "count": latency.len(),
            "bytes": bytes,
            "errors": errors,
            "mean_ns": sum_ns as f64 / latency.len().max(1) as f64,
            "p50_ns": latency.value_at_quantile(0.5),
            "p99_ns": latency.value_at_quantile(0.99),
            "max_ns": latency.max(),
        });
        operations.insert((*op).to_owned(), figures);
    }
    Value::Object(operations)
}

fn cell(cell: &Cell, stream: Option<&str>, op: &'static str, part: Option<&str>) -> Value {
    let errors: Map<String, Value> =
        cell.errors.iter().map(|(&errno, &times)| (errno_name(errno), times.into())).collect();
    json!({
        "stream": stream,
        "op": op,
        "part": part,
        "count": cell.count(),
        "bytes": cell.bytes,
        "errors": errors,
        "latency": histogram::encode(&cell.latency),
        "service": cell.service.as_ref().map(histogram::encode),
        "latency_sum_ns": cell.latency_sum_ns as f64,
        "service_sum_ns": cell.service.as_ref().map(|_| cell.service_sum_ns as f64),
    })
}

/// What is known of a run when it is over.
pub fn outcome(outcome: &Outcome, asked: &'static str) -> Value {
    let facts: Map<String, Value> =
        outcome.facts.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
    let mut told = json!({
        "backend": { "asked": asked, "used": outcome.backend.name(), "fallback_reason": outcome.fallback },
        "engine": {
            "workers": outcome.workers,
            "virtual_time": outcome.is_virtual,
            "facts": facts,
            "components": outcome.components,
            "clock": { "source": outcome.clock.0.name(), "drift_ppm": outcome.clock.1 },
            "iou_wrk_threads": outcome.ring_workers,
            "unissued": outcome.unissued,
            "spent_ns": outcome.spent_ns,
        },
        "silence": outcome.silence.map(silence),
        "start": { "monotonic_ns": outcome.start_ns.0, "wall_ns": outcome.start_ns.1, "began_ns": outcome.began_ns },
        "end_ns": outcome.end_ns,
        "first_io_ns": outcome.first_done_ns,
        "stopped_by": outcome.stopped_by.name(),
        "first_error": outcome.first_error.map(|(op, offset, errno)| json!({
            "op": op.name(), "offset": offset, "errno": errno_name(errno), "message": error_sentence(op, offset, errno),
        })),
        "cpu_ns": { "user": outcome.cpu_ns.0, "system": outcome.cpu_ns.1 },
        "verify": outcome.findings,
        "journal": outcome.journal,
        "offered_per_s": offered(outcome),
        "parts": outcome.parts,
        "replays": outcome.replays.iter().map(replay).collect::<Vec<_>>(),
        "lateness_report": outcome.logged.as_ref().map(|logged| json!({
            "path": logged.path, "written": logged.written, "dropped": logged.dropped, "failure": logged.failure,
        })),
    });
    if !outcome.databases.is_empty() {
        told["databases"] = json!(outcome.databases);
    }
    told
}

/// How long a target answered nothing, and how many requests waited.
pub fn silence(silence: Silence) -> Value {
    json!({ "ns": silence.ns, "waiting": silence.waiting })
}

/// How faithfully a trace was replayed.
fn replay(report: &ReplayReport) -> Value {
    let (found, header) = (&report.fidelity, &report.header);
    let (source, service) = (&header.source, header.service);
    json!({
        "stream": report.stream,
        "speed": report.speed,
        "asked": report.asked,
        "issued": report.issued,
        "completed": found.completed,
        "failed": found.failed,
        "changes": {
            "moved": found.changes.moved, "rounded": found.changes.rounded, "shortened": found.changes.shortened,
        },
        "lateness": histogram::encode(&found.lateness),
        "late": { "100us": found.late[0], "1ms": found.late[1] },
        "late_for_gap": { "late": found.late_for_gap.0, "of": found.late_for_gap.1 },
        "waited": found.waited,
        "gaps_asked": histogram::encode(&found.gaps_asked),
        "gaps_left": histogram::encode(&found.gaps_left.histogram),
        "outstanding": found.outstanding(),
        "service_mean_ns": found.service_sum_ns.checked_div(found.completed),
        "course_ns": found.course_ns.1.saturating_sub(found.course_ns.0),
        "trace": {
            "span_ns": header.span_ns,
            "timed": header.timed,
            "device_count": header.devices.len(),
            "devices": header.devices.iter().take(DEVICES_NAMED).map(|device| device.name.as_str()).collect::<Vec<_>>(),
            "service": { "count": service.count, "sum_ns": service.sum_ns },
            "source": { "name": source.name, "format": source.format, "sha256": source.sha256 },
        },
    })
}

/// Offered requests per second of all open streams together; null when there is none.
fn offered(outcome: &Outcome) -> Value {
    let window = outcome.window_ns.clone();
    let rates: Vec<f64> = outcome.plans.iter().filter_map(|plan| plan.arrival.offered_per_s(window.clone())).collect();
    if rates.is_empty() { Value::Null } else { rates.iter().sum::<f64>().into() }
}

fn error_sentence(op: Op, offset: u64, errno: i32) -> String {
    let what = match errno {
        0 => "transferred less than was asked for; is the target shorter than it was?".to_owned(),
        _ => format!("failed with {} ({})", errno_name(errno), std::io::Error::from_raw_os_error(errno)),
    };
    format!("{} at byte {offset} {what}", op.name())
}
