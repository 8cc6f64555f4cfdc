//! Workloads of file operations: the verbs of block workloads once more, for trees and streams on them.

use std::path::PathBuf;

use plimsoll_engine::files::{self, FileJob, outcome};
use plimsoll_workload::JobOptions;
use plimsoll_workload::files::{FileWorkload, fingerprint, reference_markdown, schema, set_option};
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors;
use crate::parse;
use crate::running::{Control, Progress, read_options, read_permission, typed_permission, watched};
use crate::waiting::answered;

/// The canonical form of a workload of file operations; `source` names its file in messages.
#[pyfunction]
pub fn check_files(py: Python<'_>, json: &str, source: &str) -> PyResult<String> {
    Ok(read(py, &parse(py, json)?, source)?.to_json().to_string())
}

/// Workload and job options with one option changed; combinations are not checked.
#[pyfunction]
pub fn set_files_option(
    py: Python<'_>,
    workload_json: &str,
    job_json: &str,
    key: &str,
    value_json: &str,
) -> PyResult<(String, String)> {
    let refused = |error: &_| errors::workload(py, error);
    let workload = FileWorkload::from_json(&parse(py, workload_json)?, "workload");
    let mut workload = workload.map_err(|error| refused(&error))?;
    let mut job = JobOptions::from_json(&parse(py, job_json)?, "job").map_err(|error| refused(&error))?;
    set_option(&mut workload, &mut job, key, &parse(py, value_json)?).map_err(|error| refused(&error))?;
    Ok((workload.to_json().to_string(), job.to_json().to_string()))
}

/// JSON Schema of a workload of file operations.
#[pyfunction]
pub fn files_schema() -> String {
    schema().to_string()
}

/// The reference page of the options of file operations, in Markdown.
#[pyfunction]
pub fn files_reference() -> String {
    reference_markdown()
}

/// A hash of the first files of every tree and the first draws of every thread.
#[pyfunction]
pub fn files_fingerprint(py: Python<'_>, workload_json: &str, draws: u64) -> PyResult<String> {
    let plan = read(py, &parse(py, workload_json)?, "workload")?.resolve(1);
    Ok(fingerprint(&plan.map_err(|error| errors::workload(py, &error))?, draws))
}

/// Runs a job of file operations: `{workload, job, target, permission}`, the target a directory.
#[pyfunction]
pub fn run_files(py: Python<'_>, job_json: &str, on_event: Py<PyAny>, control: &Control) -> PyResult<String> {
    let asked = parse(py, job_json)?;
    let job = FileJob {
        workload: read(py, &asked["workload"], "workload")?,
        options: read_options(py, &asked["job"])?,
        target: PathBuf::from(asked["target"].as_str().unwrap_or_default()),
        permission: read_permission(py, &asked["permission"])?,
    };
    let backend = job.options.backend.name();
    let ended = watched(py, &on_event, control, |events, brake| files::run(&job, events, brake))?;
    Ok(outcome::outcome(&ended, backend).to_string())
}

/// Lays the trees of a workload out in a directory; `on_progress(done_bytes, total_bytes)`.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the interpreter and the five arguments of the Python function
pub fn prepare_files(
    py: Python<'_>,
    workload_json: &str,
    target: &str,
    permission: Option<&str>,
    on_progress: Option<Py<PyAny>>,
    control: &Control,
) -> PyResult<String> {
    let plan = read(py, &parse(py, workload_json)?, "workload")?.resolve(1);
    let plan = plan.map_err(|error| errors::workload(py, &error))?;
    let permission = typed_permission(py, permission)?;
    let brake = control.brake();
    let (prepared, failure) = py.detach(|| {
        let mut progress = Progress::new(on_progress.as_ref(), &brake);
        let mut told = |done, total| progress.tell(done, total);
        let prepared = files::prepare(&plan, target.as_ref(), &permission, &mut told, brake.flag());
        (prepared, progress.into_failure())
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let prepared = prepared.map_err(|error| errors::target(py, &error))?;
    serde_json::to_string(&prepared).map_err(|error| errors::json(py, &error))
}

/// Removes what Plimsoll laid out in a directory; the paths that are gone.
#[pyfunction]
#[pyo3(signature = (target, on_wait=None))]
pub fn remove_files(py: Python<'_>, target: PathBuf, on_wait: Option<Py<PyAny>>) -> PyResult<Vec<String>> {
    let removed = answered(py, vec![target.clone()], on_wait.as_ref(), move || files::remove(&target))?;
    let removed = removed.map_err(|error| errors::target(py, &error))?;
    Ok(removed.iter().map(|path| path.display().to_string()).collect())
}

/// Notes that what was laid out in a directory stays and that no run uses it any more.
#[pyfunction]
#[pyo3(signature = (target, on_wait=None))]
pub fn release_files(py: Python<'_>, target: PathBuf, on_wait: Option<Py<PyAny>>) -> PyResult<()> {
    let released = answered(py, vec![target.clone()], on_wait.as_ref(), move || files::release(&target))?;
    released.map_err(|error| errors::target(py, &error))
}

/// What is at a directory; never writes. `on_wait(path, seconds)` is told while it does not answer.
#[pyfunction]
#[pyo3(signature = (target, on_wait=None))]
pub fn inspect_files(py: Python<'_>, target: &str, on_wait: Option<Py<PyAny>>) -> PyResult<String> {
    let spec = target.to_owned();
    let inspection = answered(py, vec![target.into()], on_wait.as_ref(), move || files::inspect(&spec))?;
    let inspection = inspection.map_err(|error| errors::target(py, &error))?;
    serde_json::to_string(&inspection).map_err(|error| errors::json(py, &error))
}

/// A workload, its combinations checked.
fn read(py: Python<'_>, value: &Value, source: &str) -> PyResult<FileWorkload> {
    let workload = FileWorkload::from_json(value, source).map_err(|error| errors::workload(py, &error))?;
    workload.check(source).map_err(|error| errors::workload(py, &error))?;
    Ok(workload)
}
