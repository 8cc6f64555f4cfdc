//! The engine as the Python module `plimsoll._core`: JSON text in and out, conversion only, no decisions.

mod analytics;
mod arrays;
mod data;
mod distribution;
mod errors;
mod files;
mod histogram;
mod jobs;
mod mail;
mod mailstore;
mod panics;
mod service;
mod terminals;
mod traces;
mod wait;

use plimsoll_engine::offset::{Offset, RoundTrip};
use plimsoll_engine::{calibrate as calibration, clock::Clock, uring};
use plimsoll_workload::share::{Part, Share, touched};
use plimsoll_workload::{JobOptions, Recorded, TargetShape, Workload};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The canonical form of a workload; `source` names its file in messages.
#[pyfunction]
fn check_workload(py: Python<'_>, json: &str, source: &str) -> PyResult<String> {
    let value = parse(py, json)?;
    Ok(jobs::read_workload(py, &value, source)?.to_json().to_string())
}

/// The canonical form of job options.
#[pyfunction]
fn check_job(py: Python<'_>, json: &str) -> PyResult<String> {
    let value = parse(py, json)?;
    Ok(jobs::read_options(py, &value)?.to_json().to_string())
}

/// Both with one option changed; combinations are not checked, so that several can be set one by one.
#[pyfunction]
fn set_option(
    py: Python<'_>,
    workload_json: &str,
    job_json: &str,
    key: &str,
    value_json: &str,
) -> PyResult<(String, String)> {
    let refused = |error: &_| errors::workload(py, error);
    let mut workload = Workload::from_json(&parse(py, workload_json)?, "workload").map_err(|error| refused(&error))?;
    let mut job = JobOptions::from_json(&parse(py, job_json)?, "job").map_err(|error| refused(&error))?;
    let value = parse(py, value_json)?;
    plimsoll_workload::set_option(&mut workload, &mut job, key, &value).map_err(|error| refused(&error))?;
    Ok((workload.to_json().to_string(), job.to_json().to_string()))
}

/// Refuses a workload with requests that a target with this logical block cannot take.
#[pyfunction]
fn check_blocks(py: Python<'_>, workload_json: &str, block_bytes: u32) -> PyResult<()> {
    let workload = jobs::read_workload(py, &parse(py, workload_json)?, "workload")?;
    workload.check_blocks(block_bytes).map_err(|error| errors::workload(py, &error))
}

/// One host's part of a workload whose target several hosts reach, with the bytes of the target that it may touch.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the interpreter and the arguments of the Python function
fn share_workload(
    py: Python<'_>,
    workload_json: &str,
    share: &str,
    part: (u32, u32),
    shape: (u64, u32),
    part_ends: Vec<u64>,
) -> PyResult<(String, Vec<(u64, u64)>)> {
    let refused = |error: &_| errors::workload(py, error);
    let workload = jobs::read_workload(py, &parse(py, workload_json)?, "workload")?;
    let (part, shape) =
        (Part { number: part.0, count: part.1 }, TargetShape { size_bytes: shape.0, block_bytes: shape.1 });
    let share = Share::from_text(share).map_err(|error| refused(&error))?;
    let own = share.of(&workload, part, shape, &part_ends).map_err(|error| refused(&error))?;
    let recorded = Recorded { part_ends, ..Recorded::default() };
    let plans = own.resolve_recorded(shape, 0, &recorded).map_err(|error| refused(&error))?;
    let ranges = touched(&plans).into_iter().map(|range| (range.start, range.end)).collect();
    Ok((own.to_json().to_string(), ranges))
}

/// Refuses a word that says no way to share a target.
#[pyfunction]
fn check_share(py: Python<'_>, share: &str) -> PyResult<()> {
    Share::from_text(share).map(drop).map_err(|error| errors::workload(py, &error))
}

/// JSON Schema of a workload file.
#[pyfunction]
fn workload_schema() -> String {
    plimsoll_workload::schema().to_string()
}

/// The reference page of all options, in Markdown.
#[pyfunction]
fn options_reference() -> String {
    plimsoll_workload::reference_markdown()
}

/// A hash of the first requests of every thread of a workload.
#[pyfunction]
fn fingerprint(py: Python<'_>, workload_json: &str, size_bytes: u64, requests: u64) -> PyResult<String> {
    let workload = jobs::read_workload(py, &parse(py, workload_json)?, "workload")?;
    let shape = TargetShape { size_bytes, block_bytes: 512 };
    let plans = workload.resolve(shape, 1).map_err(|error| errors::workload(py, &error))?;
    Ok(plimsoll_workload::fingerprint(&plans, requests))
}

/// What one I/O costs the engine itself.
#[pyfunction]
fn calibrate(py: Python<'_>, seconds: f64) -> PyResult<String> {
    let figures = py.detach(|| calibration::calibrate(seconds));
    Ok(figures.map_err(|error| errors::engine(py, &error))?.to_string())
}

/// Whether io_uring can be used.
#[pyfunction]
fn probe_io_uring() -> String {
    match uring::probe() {
        Ok(flavour) => json!({ "available": true, "features": [flavour] }).to_string(),
        Err(error) => json!({ "available": false, "reason": error.to_string() }).to_string(),
    }
}

/// How far another clock is ahead, out of round trips `(sent_ns, theirs_ns, received_ns)`: `(offset_ns, bound_ns, agree)`;
/// `None` when there is no round trip.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what a function of Python takes
fn clock_offset(trips: Vec<(i64, i64, i64)>) -> Option<(i64, i64, bool)> {
    let trip = |&(sent_ns, theirs_ns, received_ns): &_| RoundTrip { sent_ns, theirs_ns, received_ns };
    let found = Offset::of(&trips.iter().map(trip).collect::<Vec<_>>())?;
    Some((found.offset_ns, found.bound_ns, found.agree))
}

fn parse(py: Python<'_>, text: &str) -> PyResult<Value> {
    serde_json::from_str(text).map_err(|error| errors::json(py, &error))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    panics::listen();
    // The clock's first reading: by the time a job starts, calibrating it needs no waiting.
    Clock::anchor();
    data::add_to(module)?;
    module.add_class::<distribution::Distribution>()?;
    module.add_class::<histogram::Histogram>()?;
    jobs::add_to(module)?;
    terminals::add_to(module)?;
    module.add_function(wrap_pyfunction!(panics::panic_on_purpose, module)?)?;
    module.add_function(wrap_pyfunction!(check_workload, module)?)?;
    module.add_function(wrap_pyfunction!(check_job, module)?)?;
    module.add_function(wrap_pyfunction!(set_option, module)?)?;
    module.add_function(wrap_pyfunction!(check_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(share_workload, module)?)?;
    module.add_function(wrap_pyfunction!(check_share, module)?)?;
    module.add_function(wrap_pyfunction!(workload_schema, module)?)?;
    module.add_function(wrap_pyfunction!(options_reference, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(calibrate, module)?)?;
    module.add_function(wrap_pyfunction!(probe_io_uring, module)?)?;
    module.add_function(wrap_pyfunction!(clock_offset, module)?)?;
    files::add_to(module)?;
    mail::add_to(module)?;
    traces::add_to(module)?;
    mailstore::add_to(module)?;
    analytics::add_to(module)?;
    arrays::add_to(module)?;
    module.add_function(wrap_pyfunction!(service::serve_array, module)?)?;
    module.add_function(wrap_pyfunction!(wait::await_path, module)?)?;
    Ok(())
}
