//! Workloads of file operations: the verbs of block workloads once more, for trees and streams on them.

use std::ffi::OsString;
use std::path::PathBuf;

use plimsoll_engine::files::{self, FileJob, outcome};
use plimsoll_engine::target::{Question, TargetError};
use plimsoll_workload::JobOptions;
use plimsoll_workload::files::{FileWorkload, fingerprint, reference_markdown, schema, set_option};
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors;
use crate::jobs::{Control, prepared, read_options, read_permission, typed_permission, watched};
use crate::parse;
use crate::wait::{answered, awaited};

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

/// Runs a job of file operations: `{workload, job, target, permission}`, the target a directory or `concat:` of several.
/// `on_wait(name, seconds)` is told while one does not answer.
#[pyfunction]
#[pyo3(signature = (job_json, on_event, control, on_wait=None))]
pub fn run_files(
    py: Python<'_>,
    job_json: &str,
    on_event: Py<PyAny>,
    control: &Control,
    on_wait: Option<Py<PyAny>>,
) -> PyResult<String> {
    let asked = parse(py, job_json)?;
    let job = FileJob {
        workload: read(py, &asked["workload"], "workload")?,
        options: read_options(py, &asked["job"])?,
        directories: directories(py, asked["target"].as_str().unwrap_or_default())?,
        permission: read_permission(py, &asked["permission"])?,
    };
    awaited(py, &asked_of(&job.directories), on_wait.as_ref())?;
    let backend = job.options.backend.name();
    let ended = watched(py, &on_event, control, |events, brake| files::run(&job, events, brake))?;
    Ok(outcome::outcome(&ended, backend).to_string())
}

/// Refuses a target that has more or fewer directories than the trees of a workload lie in.
#[pyfunction]
pub fn check_files_parts(py: Python<'_>, workload_json: &str, target: &str) -> PyResult<()> {
    let plan = read(py, &parse(py, workload_json)?, "workload")?.resolve(1);
    let plan = plan.map_err(|error| errors::workload(py, &error))?;
    files::check_used(&plan, &directories(py, target)?).map_err(|error| errors::target(py, &error))
}

/// Lays the trees of a workload out in the directories of a target; `on_progress(done_bytes, total_bytes)`, and `on_wait(name,
/// seconds)` while one does not answer.
#[pyfunction]
#[pyo3(signature = (workload_json, target, permission, on_progress, control, on_wait=None))]
#[allow(clippy::too_many_arguments)] // the interpreter and the arguments of the Python function
pub fn prepare_files(
    py: Python<'_>,
    workload_json: &str,
    target: &str,
    permission: Option<&str>,
    on_progress: Option<Py<PyAny>>,
    control: &Control,
    on_wait: Option<Py<PyAny>>,
) -> PyResult<String> {
    let plan = read(py, &parse(py, workload_json)?, "workload")?.resolve(1);
    let plan = plan.map_err(|error| errors::workload(py, &error))?;
    let permission = typed_permission(py, permission)?;
    let directories = directories(py, target)?;
    awaited(py, &asked_of(&directories), on_wait.as_ref())?;
    prepared(py, on_progress.as_ref(), control, |progress, stop| {
        files::prepare(&plan, &directories, &permission, progress, stop)
    })
}

/// Takes a directory and makes one called `name` in it that is Plimsoll's; its path.
#[pyfunction]
#[pyo3(signature = (target, permission, name, on_wait=None))]
pub fn own_directory(
    py: Python<'_>,
    target: PathBuf,
    permission: Option<&str>,
    name: String,
    on_wait: Option<Py<PyAny>>,
) -> PyResult<OsString> {
    let permission = typed_permission(py, permission)?;
    let asked = asked_of(std::slice::from_ref(&target));
    let owned = answered(py, &asked, on_wait.as_ref(), move || files::own(&target, &permission, &name))?;
    owned.map(PathBuf::into_os_string).map_err(|error| errors::target(py, &error))
}

/// Keeps other runs from a directory that Plimsoll works in while this session lasts; `False` when it does not work there.
#[pyfunction]
#[pyo3(signature = (target, on_wait=None))]
pub fn claim_directory(py: Python<'_>, target: PathBuf, on_wait: Option<Py<PyAny>>) -> PyResult<bool> {
    let asked = asked_of(std::slice::from_ref(&target));
    answered(py, &asked, on_wait.as_ref(), move || files::claim(&target))?.map_err(|error| errors::target(py, &error))
}

/// Removes what Plimsoll laid out in the directories of a target; the paths that are gone.
#[pyfunction]
#[pyo3(signature = (target, on_wait=None))]
pub fn remove_files(py: Python<'_>, target: &str, on_wait: Option<Py<PyAny>>) -> PyResult<Vec<OsString>> {
    let directories = directories(py, target)?;
    let remove = |directories: Vec<PathBuf>| directories.iter().map(|directory| files::remove(directory)).collect();
    let asked = asked_of(&directories);
    let removed: Result<Vec<Vec<PathBuf>>, TargetError> =
        answered(py, &asked, on_wait.as_ref(), move || remove(directories))?;
    let removed = removed.map_err(|error| errors::target(py, &error))?;
    Ok(removed.into_iter().flatten().map(PathBuf::into_os_string).collect())
}

/// Notes that what was laid out in the directories of a target stays and that no run uses it any more.
#[pyfunction]
#[pyo3(signature = (target, on_wait=None))]
pub fn release_files(py: Python<'_>, target: &str, on_wait: Option<Py<PyAny>>) -> PyResult<()> {
    let directories = directories(py, target)?;
    let asked = asked_of(&directories);
    let release = move || directories.iter().try_for_each(|directory| files::release(directory));
    answered(py, &asked, on_wait.as_ref(), release)?.map_err(|error| errors::target(py, &error))
}

/// What is at the directories of a target; never writes. `on_wait(path, seconds)` is told while one does not answer.
#[pyfunction]
#[pyo3(signature = (target, on_wait=None))]
pub fn inspect_files(py: Python<'_>, target: &str, on_wait: Option<Py<PyAny>>) -> PyResult<String> {
    let spec = target.to_owned();
    let asked = asked_of(&directories(py, target)?);
    let inspection = answered(py, &asked, on_wait.as_ref(), move || files::inspect(&spec))?;
    let inspection = inspection.map_err(|error| errors::target(py, &error))?;
    serde_json::to_string(&inspection).map_err(|error| errors::json(py, &error))
}

fn directories(py: Python<'_>, target: &str) -> PyResult<Vec<PathBuf>> {
    files::directories_of(target).map_err(|error| errors::target(py, &error))
}

fn asked_of(directories: &[PathBuf]) -> Vec<Question> {
    directories.iter().map(|directory| Question::about(directory)).collect()
}

/// A workload, its combinations checked.
fn read(py: Python<'_>, value: &Value, source: &str) -> PyResult<FileWorkload> {
    let workload = FileWorkload::from_json(value, source).map_err(|error| errors::workload(py, &error))?;
    workload.check(source).map_err(|error| errors::workload(py, &error))?;
    Ok(workload)
}

/// Makes the classes and functions of this file those of the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_files, module)?)?;
    module.add_function(wrap_pyfunction!(set_files_option, module)?)?;
    module.add_function(wrap_pyfunction!(files_schema, module)?)?;
    module.add_function(wrap_pyfunction!(files_reference, module)?)?;
    module.add_function(wrap_pyfunction!(files_fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(run_files, module)?)?;
    module.add_function(wrap_pyfunction!(check_files_parts, module)?)?;
    module.add_function(wrap_pyfunction!(prepare_files, module)?)?;
    module.add_function(wrap_pyfunction!(remove_files, module)?)?;
    module.add_function(wrap_pyfunction!(own_directory, module)?)?;
    module.add_function(wrap_pyfunction!(claim_directory, module)?)?;
    module.add_function(wrap_pyfunction!(release_files, module)?)?;
    module.add_function(wrap_pyfunction!(inspect_files, module)?)?;
    Ok(())
}
