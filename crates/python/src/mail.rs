//! Workloads of mail users: the verbs of block workloads once more, for groups of users and the server they work with.

use std::path::{Path, PathBuf};

use plimsoll_engine::mail::{MailJob, MailServer, hash_of, lay_out, letter, outcome, run};
use plimsoll_workload::JobOptions;
use plimsoll_workload::mail::{MARK, MailShare, MailWorkload, reference_markdown, schema, set_option};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors;
use crate::jobs::{Control, read_options, watched};
use crate::parse;

/// Makes the functions of this file those of the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_mail, module)?)?;
    module.add_function(wrap_pyfunction!(set_mail_option, module)?)?;
    module.add_function(wrap_pyfunction!(mail_schema, module)?)?;
    module.add_function(wrap_pyfunction!(mail_reference, module)?)?;
    module.add_function(wrap_pyfunction!(mail_mark, module)?)?;
    module.add_function(wrap_pyfunction!(mail_hash, module)?)?;
    module.add_function(wrap_pyfunction!(mail_letter, module)?)?;
    module.add_function(wrap_pyfunction!(lay_out_mail, module)?)?;
    module.add_function(wrap_pyfunction!(run_mail, module)?)?;
    Ok(())
}

/// The canonical form of a workload of mail users; `source` names its file in messages.
#[pyfunction]
pub fn check_mail(py: Python<'_>, json: &str, source: &str) -> PyResult<String> {
    Ok(read(py, &parse(py, json)?, source)?.to_json().to_string())
}

/// Workload and job options with one option changed; combinations are not checked.
#[pyfunction]
pub fn set_mail_option(
    py: Python<'_>,
    workload_json: &str,
    job_json: &str,
    key: &str,
    value_json: &str,
) -> PyResult<(String, String)> {
    let refused = |error: &_| errors::workload(py, error);
    let workload = MailWorkload::from_json(&parse(py, workload_json)?, "workload");
    let mut workload = workload.map_err(|error| refused(&error))?;
    let mut job = JobOptions::from_json(&parse(py, job_json)?, "job").map_err(|error| refused(&error))?;
    set_option(&mut workload, &mut job, key, &parse(py, value_json)?).map_err(|error| refused(&error))?;
    Ok((workload.to_json().to_string(), job.to_json().to_string()))
}

/// JSON Schema of a workload of mail users.
#[pyfunction]
pub fn mail_schema() -> String {
    schema().to_string()
}

/// The reference page of the options of mail users, in Markdown.
#[pyfunction]
pub fn mail_reference() -> String {
    reference_markdown()
}

/// The header that says which letter a message is.
#[pyfunction]
pub fn mail_mark() -> &'static str {
    MARK
}

/// The hash of a letter's body as its mark has it.
#[pyfunction]
pub fn mail_hash(body: &[u8]) -> String {
    hash_of(body)
}

/// Writes the mailboxes of all users below a directory, for the user and group of the server; `on_progress(bytes, in all)`.
#[pyfunction]
#[pyo3(signature = (workload_json, root, owner, on_progress, control))]
#[allow(clippy::too_many_arguments)] // the interpreter and the arguments of the Python function
pub fn lay_out_mail(
    py: Python<'_>,
    workload_json: &str,
    root: PathBuf,
    owner: Option<(u32, u32)>,
    on_progress: Option<Py<PyAny>>,
    control: &Control,
) -> PyResult<String> {
    let plan = read(py, &parse(py, workload_json)?, "workload")?.resolve(1);
    let plan = plan.map_err(|error| errors::workload(py, &error))?;
    let brake = control.brake();
    let mut failure = None;
    let laid = py.detach(|| {
        let mut tell = |done: u64, total: u64| {
            if let (Some(call), None) = (&on_progress, &failure)
                && let Err(raised) = Python::attach(|py| call.call1(py, (done, total)))
            {
                failure = Some(raised);
                brake.stop(plimsoll_engine::control::StoppedBy::Error);
            }
        };
        lay_out(&plan, Path::new(&root), owner, &mut tell, brake.flag())
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let laid = laid.map_err(|problem| errors::io(py, &root, &problem))?;
    Ok(json!({ "messages": laid.messages, "bytes": laid.bytes }).to_string())
}

/// A letter that a user has in the beginning: the one at `place` of their mailbox, as it travels.
#[pyfunction]
pub fn mail_letter(py: Python<'_>, workload_json: &str, user: u32, place: u64) -> PyResult<Vec<u8>> {
    let plan = read(py, &parse(py, workload_json)?, "workload")?.resolve(1);
    Ok(letter(&plan.map_err(|error| errors::workload(py, &error))?, user, place))
}

/// Runs a job of mail users: `{workload, job, server, run, date, ledger}`, with `clients: {number, count}` for those of one host of several.
#[pyfunction]
pub fn run_mail(py: Python<'_>, job_json: &str, on_event: Py<PyAny>, control: &Control) -> PyResult<String> {
    let asked = parse(py, job_json)?;
    let text = |key: &str| asked[key].as_str().unwrap_or_default().to_owned();
    let server: MailServer =
        serde_json::from_value(asked["server"].clone()).map_err(|error| errors::json(py, &error))?;
    let job = MailJob {
        workload: read(py, &asked["workload"], "workload")?,
        options: read_options(py, &asked["job"])?,
        server,
        run: text("run"),
        date: text("date"),
        ledger: asked["ledger"].as_str().map(PathBuf::from),
        share: share_of(&asked["clients"]),
    };
    let backend = job.options.backend.name();
    let ended = watched(py, &on_event, control, |events, brake| run(&job, events, brake))?;
    Ok(outcome(&ended, backend).to_string())
}

/// Which of several hosts this is; alone where nothing says it.
fn share_of(clients: &Value) -> MailShare {
    let number = |key: &str| clients[key].as_u64().and_then(|number| u32::try_from(number).ok());
    match (number("number"), number("count")) {
        (Some(number), Some(count)) if number < count => MailShare { number, count },
        _ => MailShare::ALONE,
    }
}

/// A workload, its combinations checked.
fn read(py: Python<'_>, value: &Value, source: &str) -> PyResult<MailWorkload> {
    let workload = MailWorkload::from_json(value, source).map_err(|error| errors::workload(py, &error))?;
    workload.check(source).map_err(|error| errors::workload(py, &error))?;
    Ok(workload)
}
