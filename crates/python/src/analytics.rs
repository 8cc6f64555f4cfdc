//! Analytics workflows: the process of one, and the files of rows that they read.

use std::io::{BufReader, stdin, stdout};
use std::path::PathBuf;

use plimsoll_analytics::{Rows, Spec, Teller, Trouble, iterate, write_csv, write_input};
use plimsoll_engine::control::StoppedBy;
use pyo3::prelude::*;
use serde_json::json;

use crate::errors;
use crate::jobs::Control;
use crate::parse;

/// Makes the functions of this file those of the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_workflow, module)?)?;
    module.add_function(wrap_pyfunction!(write_rows, module)?)?;
    module.add_function(wrap_pyfunction!(iterate_loops, module)?)
}

/// Lives as the process of a workflow: hears its start on standard input, tells what it does on standard output, works in `folder`.
#[pyfunction]
#[pyo3(signature = (spec_json, folder, source=None))]
pub fn run_workflow(py: Python<'_>, spec_json: &str, folder: PathBuf, source: Option<PathBuf>) -> PyResult<bool> {
    let spec: Spec = serde_json::from_value(parse(py, spec_json)?).map_err(|error| errors::json(py, &error))?;
    let live = || Teller(stdout().lock()).live(&spec, &folder, source.as_deref(), &mut BufReader::new(stdin()));
    Ok(py.detach(live))
}

/// Writes rows to a new file, as lines of text if asked; their sums and bytes, or None where the control stopped it.
#[pyfunction]
#[pyo3(signature = (path, rows, text, on_progress, control))]
#[allow(clippy::too_many_arguments)] // the interpreter and the arguments of the Python function
pub fn write_rows(
    py: Python<'_>,
    path: PathBuf,
    rows: (u64, u64, u64),
    text: bool,
    on_progress: Option<Py<PyAny>>,
    control: &Control,
) -> PyResult<Option<String>> {
    let (seed, workflow, number) = rows;
    let brake = control.brake();
    let mut failure = None;
    let told = |done: u64| {
        if let Some(call) = &on_progress
            && let Err(raised) = Python::attach(|py| call.call1(py, (done,)))
        {
            failure = Some(raised);
            brake.stop(StoppedBy::Error);
        }
        !brake.is_stopped()
    };
    let rows = Rows { seed, workflow };
    let made = py.detach(|| {
        let write = if text { write_csv } else { write_input };
        write(&path, rows, number, told)
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let made = made.map_err(|trouble: Trouble| errors::trouble(py, &trouble))?;
    Ok(made.map(|made| json!({ "tally": made.tally, "bytes": made.bytes }).to_string()))
}

/// The processor work of step iterate.
#[pyfunction]
pub fn iterate_loops(py: Python<'_>, loops: u32) -> f64 {
    py.detach(|| iterate(loops))
}
