//! Intervals and outcomes as the JSON that is stored.
//!
//! One shape for the live view, the store and the analysis; times are nanoseconds, histograms HDR V2 text. Cells in which
//! nothing happened are left out.

use plimsoll_workload::{Op, StreamPlan};
use serde_json::{Map, Value, json};

use crate::collector::Interval;
use crate::histogram;
use crate::recorder::{Cell, SHORT};
use crate::run::Outcome;
use crate::timeline::Phase;

/// An interval; `parts` names the parts of the target.
pub fn interval(interval: &Interval, plans: &[StreamPlan], parts: &[String]) -> Value {
    let slice = &interval.slice;
    let elapsed_ns = (slice.end_ns - slice.start_ns).max(1);
    let streams = slice.cells.iter().enumerate().filter_map(|(place, found)| {
        let found = found.as_ref().filter(|found| !found.is_empty())?;
        Some(cell(found, Some(&plans[place / 4].name), Op::ALL[place % 4], None))
    });
    let per_part = slice.parts.iter().enumerate().filter_map(|(place, found)| {
        let found = found.as_ref().filter(|found| !found.is_empty())?;
        Some(cell(found, None, Op::ALL[place % 4], parts.get(place / 4).map(String::as_str)))
    });
    json!({
        "index": slice.index,
        "phase": interval.phase.name(),
        "start_ns": slice.start_ns,
        "end_ns": slice.end_ns,
        "inflight_mean": slice.in_flight_area as f64 / elapsed_ns as f64,
        "summary": summary(interval),
        "cells": streams.chain(per_part).collect::<Vec<_>>(),
        "lag": slice.lag.as_ref().filter(|lag| !lag.is_empty()).map(|lag| json!({
            "count": lag.len(), "late": slice.late, "p99_ns": lag.value_at_quantile(0.99), "max_ns": lag.max(),
        })),
        "backlog_ns": if interval.phase == Phase::Drain { Value::Null } else { slice.behind_ns.into() },
    })
}

/// The figures of the live view, per operation over all streams.
fn summary(interval: &Interval) -> Value {
    let mut operations = Map::new();
    for op in Op::ALL {
        let mut cells =
            interval.slice.cells.iter().skip(op as usize).step_by(4).flatten().filter(|cell| !cell.is_empty());
        let Some(first) = cells.next() else { continue };
        let mut latency = first.latency.clone();
        let (mut bytes, mut errors, mut sum_ns) = (first.bytes, first.failures(), first.latency_sum_ns);
        for cell in cells {
            // Histograms of one shape always add.
            let _ = latency.add(&cell.latency);
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
        operations.insert(op.name().to_owned(), figures);
    }
    Value::Object(operations)
}

fn cell(cell: &Cell, stream: Option<&str>, op: Op, part: Option<&str>) -> Value {
    let errors: Map<String, Value> =
        cell.errors.iter().map(|(&errno, &times)| (errno_name(errno), times.into())).collect();
    json!({
        "stream": stream,
        "op": op.name(),
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
    json!({
        "backend": { "asked": asked, "used": outcome.backend.name(), "fallback_reason": outcome.fallback },
        "engine": {
            "workers": outcome.workers,
            "virtual_time": outcome.is_virtual,
            "facts": facts,
            "clock": { "source": outcome.clock.0.name(), "drift_ppm": outcome.clock.1 },
            "iou_wrk_threads": outcome.ring_workers,
            "unissued": outcome.unissued,
        },
        "start": { "monotonic_ns": outcome.start_ns.0, "wall_ns": outcome.start_ns.1 },
        "end_ns": outcome.end_ns,
        "first_io_ns": outcome.first_done_ns,
        "stopped_by": outcome.stopped_by.name(),
        "first_error": outcome.first_error.map(|(op, offset, errno)| json!({
            "op": op.name(), "offset": offset, "errno": errno_name(errno), "message": error_sentence(op, offset, errno),
        })),
        "cpu_ns": { "user": outcome.cpu_ns.0, "system": outcome.cpu_ns.1 },
        "verify": outcome.findings,
        "offered_per_s": offered(outcome),
        "parts": outcome.parts,
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

/// The name of an errno; `SHORT` for 0.
pub fn errno_name(errno: i32) -> String {
    let known = [
        (SHORT, "SHORT"),
        (libc::EIO, "EIO"),
        (libc::ENOSPC, "ENOSPC"),
        (libc::EFBIG, "EFBIG"),
        (libc::EDQUOT, "EDQUOT"),
        (libc::ENODEV, "ENODEV"),
        (libc::ENXIO, "ENXIO"),
        (libc::ENOMEDIUM, "ENOMEDIUM"),
        (libc::EINVAL, "EINVAL"),
        (libc::EBADF, "EBADF"),
        (libc::EROFS, "EROFS"),
        (libc::EPERM, "EPERM"),
        (libc::EACCES, "EACCES"),
        (libc::EAGAIN, "EAGAIN"),
        (libc::ENOMEM, "ENOMEM"),
        (libc::EOPNOTSUPP, "EOPNOTSUPP"),
        (libc::ETIMEDOUT, "ETIMEDOUT"),
        (libc::EREMOTEIO, "EREMOTEIO"),
        (libc::EILSEQ, "EILSEQ"),
        (libc::ENODATA, "ENODATA"),
        (libc::ECANCELED, "ECANCELED"),
        (libc::ENOLINK, "ENOLINK"),
        (libc::EBUSY, "EBUSY"),
    ];
    known
        .iter()
        .find(|(number, _)| *number == errno)
        .map_or_else(|| format!("E{errno}"), |(_, name)| (*name).to_owned())
}
