//! `TerminalThreads`: terminals over open connections of PostgreSQL; `copy_rows`: rows of a COPY over one.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use plimsoll_terminals::rows::{self, Written};
use plimsoll_terminals::tally::Slice;
use plimsoll_terminals::{Pace, Request, TerminalThreads as Threads, wire};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::histogram::Histogram;

/// Writes rows to the socket of a connection whose server waits for them; whether it takes more. A signal that raises ends it.
#[pyfunction]
pub fn copy_rows(py: Python<'_>, file: i32, text: &[u8]) -> PyResult<bool> {
    // SAFETY: who calls keeps the connection open.
    let socket = unsafe { BorrowedFd::borrow_raw(file) };
    let mut raised = None;
    let written = py.detach(|| {
        rows::write(&socket, text, || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_some()
        })
    });
    raised.map_or(Ok(written == Written::All), Err)
}

/// A value of a call.
#[derive(FromPyObject)]
enum Value {
    Whole(i64),
    Text(String),
}

impl Value {
    fn into_text(self) -> String {
        match self {
            Self::Whole(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

/// Kind, pause or due instant, whether it is rolled back, and the call's values.
type Asked = (usize, u64, bool, Vec<Value>);

/// Terminals as threads, each over a connection of its own.
#[pyclass(module = "plimsoll._core", frozen)]
pub struct TerminalThreads {
    threads: Threads,
    /// The prepared statement of each kind.
    statements: Vec<String>,
    queues: usize,
}

#[pymethods]
impl TerminalThreads {
    /// Over copies of the file descriptors; `statements` are those of the kinds.
    #[new]
    #[pyo3(signature = (files, statements, *, by_instants, low, stop_on_error))]
    fn new(
        files: Vec<i32>,
        statements: Vec<String>,
        by_instants: bool,
        low: usize,
        stop_on_error: bool,
    ) -> PyResult<Self> {
        let pace = if by_instants { Pace::Instants } else { Pace::Answers };
        let queues = if by_instants { 1 } else { files.len() };
        // SAFETY: who calls keeps the files open until they are copied, which is here.
        let copied = |file: i32| unsafe { BorrowedFd::borrow_raw(file) }.try_clone_to_owned();
        let sockets = files.into_iter().map(copied).collect::<Result<Vec<OwnedFd>, _>>()?;
        let threads = Threads::new(sockets, statements.len(), pace, low, stop_on_error)?;
        Ok(Self { threads, statements, queues })
    }

    /// The job began at this instant of CLOCK_MONOTONIC.
    fn begin(&self, origin_ns: u64) -> PyResult<()> {
        Ok(self.threads.begin(origin_ns)?)
    }

    /// Puts requests into a queue.
    fn put(&self, queue: usize, asked: Vec<Asked>) -> PyResult<()> {
        let request = |(kind, when_ns, rolls_back, values): Asked| {
            let statement = self.statements.get(kind)?;
            let values: Vec<String> = values.into_iter().map(Value::into_text).collect();
            Some(Request { kind, when_ns, rolls_back, call: wire::call(statement, &values) })
        };
        let requests: Option<Vec<Request>> = asked.into_iter().map(request).collect();
        match requests {
            Some(requests) if queue < self.queues => self.threads.put(queue, requests),
            _ => return Err(PyIndexError::new_err("there is no such queue or kind")),
        }
        Ok(())
    }

    /// How many requests each queue holds, once one of them is low, or after so long.
    fn wanted(&self, py: Python<'_>, seconds: f64) -> Vec<usize> {
        py.detach(|| self.threads.wanted(Duration::from_secs_f64(seconds)))
    }

    /// Begins nothing more.
    fn stop(&self) {
        self.threads.stop();
    }

    /// What is under way will have no answer.
    fn give_up(&self, now_ns: u64) {
        self.threads.give_up(now_ns);
    }

    /// Ends connections and threads.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            self.threads.abandon();
            self.threads.join();
        });
    }

    /// What failed since this was asked last: kind, SQLSTATE, message, whether the connection lives, whether the data are damaged.
    fn failures(&self) -> Vec<(usize, String, String, bool, bool)> {
        let told = self.threads.failures().into_iter();
        told.map(|one| (one.kind, one.state, one.message, one.alive, one.damaged)).collect()
    }

    /// How many calls are under way.
    #[getter]
    fn under_way(&self) -> u64 {
        self.threads.under_way()
    }

    /// When the last thread began, from the start; none before all of them have.
    #[getter]
    fn began_ns(&self) -> Option<u64> {
        self.threads.began_ns()
    }

    /// When the first call was answered.
    #[getter]
    fn first_ns(&self) -> Option<u64> {
        self.threads.first_ns()
    }

    /// For how long there was no answer although calls were under way, and how many those are.
    fn waits(&self, now_ns: u64) -> (u64, u64) {
        self.threads.waits(now_ns)
    }

    /// How many requests are due and were not begun.
    fn unissued(&self, now_ns: u64) -> usize {
        self.threads.unissued(now_ns)
    }

    /// Ends the interval that lasts; what was recorded in it, by the names of the interval and its cells.
    fn cut<'py>(&self, py: Python<'py>, now_ns: u64) -> PyResult<Bound<'py, PyDict>> {
        let Slice { start_ns, end_ns, busy_ns, age_ns, cells, lag, late, behind_ns, waiting, retries, starved_ns } =
            py.detach(|| self.threads.cut(now_ns));
        let found = PyDict::new(py);
        for (name, value) in [
            ("start_ns", start_ns),
            ("end_ns", end_ns),
            ("busy_ns", busy_ns),
            ("age_ns", age_ns),
            ("late", late),
            ("behind_ns", behind_ns),
            ("starved_ns", starved_ns),
        ] {
            found.set_item(name, value)?;
        }
        found.set_item("lag", Histogram::of(lag).into_pyobject(py)?)?;
        let waiting: Vec<Option<Histogram>> = waiting.into_iter().map(|ages| ages.map(Histogram::of)).collect();
        found.set_item("waiting", waiting)?;
        found.set_item("retries", retries)?;
        let mut listed = Vec::with_capacity(cells.len());
        for cell in cells {
            let one = PyDict::new(py);
            one.set_item("latency", Histogram::of(cell.latency).into_pyobject(py)?)?;
            one.set_item("latency_sum_ns", cell.latency_sum_ns)?;
            one.set_item("service", cell.service.map(Histogram::of))?;
            one.set_item("service_sum_ns", cell.service_sum_ns)?;
            one.set_item("errors", cell.errors)?;
            one.set_item("committed", cell.committed)?;
            one.set_item("rolled_back", cell.rolled_back)?;
            listed.push(one);
        }
        found.set_item("cells", listed)?;
        Ok(found)
    }
}

/// Makes the classes and functions of this file those of the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TerminalThreads>()?;
    module.add_function(wrap_pyfunction!(copy_rows, module)?)?;
    Ok(())
}
