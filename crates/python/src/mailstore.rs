//! Workloads of a mail store: the verbs of block workloads once more.

use plimsoll_mailstore::{MailstoreWorkload, reference_markdown, schema, set_option};
use plimsoll_workload::{JobOptions, Workload};
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors;
use crate::jobs::{Control, carried_out, job_of};
use crate::parse;

/// The canonical form of a workload of a mail store; `source` names its file in messages.
#[pyfunction]
pub fn check_mailstore(py: Python<'_>, json: &str, source: &str) -> PyResult<String> {
    Ok(read(py, &parse(py, json)?, source)?.to_json().to_string())
}

/// What is doubtful about a workload of a mail store, and allowed.
#[pyfunction]
pub fn mailstore_warnings(py: Python<'_>, json: &str) -> PyResult<Vec<String>> {
    Ok(read(py, &parse(py, json)?, "workload")?.warnings())
}

/// Workload and job options with one option changed; combinations are not checked.
#[pyfunction]
pub fn set_mailstore_option(
    py: Python<'_>,
    workload_json: &str,
    job_json: &str,
    key: &str,
    value_json: &str,
) -> PyResult<(String, String)> {
    let refused = |error: &_| errors::workload(py, error);
    let workload = MailstoreWorkload::from_json(&parse(py, workload_json)?, "workload");
    let mut workload = workload.map_err(|error| refused(&error))?;
    let mut job = JobOptions::from_json(&parse(py, job_json)?, "job").map_err(|error| refused(&error))?;
    set_option(&mut workload, &mut job, key, &parse(py, value_json)?).map_err(|error| refused(&error))?;
    Ok((workload.to_json().to_string(), job.to_json().to_string()))
}

/// JSON Schema of a workload of a mail store.
#[pyfunction]
pub fn mailstore_schema() -> String {
    schema().to_string()
}

/// The reference page of the options of a mail store, in Markdown.
#[pyfunction]
pub fn mailstore_reference() -> String {
    reference_markdown()
}

/// Runs a job of a mail store: `{workload, job, target, permission}`. `on_wait(name, seconds)` is told while the target does not
/// answer before it is opened.
#[pyfunction]
#[pyo3(signature = (job_json, on_event, control, on_wait=None))]
pub fn run_mailstore(
    py: Python<'_>,
    job_json: &str,
    on_event: Py<PyAny>,
    control: &Control,
    on_wait: Option<Py<PyAny>>,
) -> PyResult<String> {
    let asked = parse(py, job_json)?;
    let workload = read(py, &asked["workload"], "workload")?;
    let job = job_of(py, &asked, Workload::default(), Some(workload))?;
    carried_out(py, &job, &on_event, control, on_wait.as_ref())
}

/// A workload, its combinations checked.
fn read(py: Python<'_>, value: &Value, source: &str) -> PyResult<MailstoreWorkload> {
    let workload = MailstoreWorkload::from_json(value, source).map_err(|error| errors::workload(py, &error))?;
    workload.check(source).map_err(|error| errors::workload(py, &error))?;
    Ok(workload)
}

/// Makes the classes and functions of this file those of the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_mailstore, module)?)?;
    module.add_function(wrap_pyfunction!(mailstore_warnings, module)?)?;
    module.add_function(wrap_pyfunction!(set_mailstore_option, module)?)?;
    module.add_function(wrap_pyfunction!(mailstore_schema, module)?)?;
    module.add_function(wrap_pyfunction!(mailstore_reference, module)?)?;
    module.add_function(wrap_pyfunction!(run_mailstore, module)?)?;
    Ok(())
}
