//! Waiting for what may never answer: in another thread, while this one serves signals and says how long it has been.
//!
//! Model: everything is asked by a scout first ([`await_answer`]), since a thread that hangs in the kernel keeps its process from
//! ending; then the work goes on in a thread of its own, without the interpreter's lock. What a signal handler or the
//! callable raises is what the waiting ends with, and the work is left alone.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use plimsoll_engine::target::{Question, await_answer};
use pyo3::prelude::*;

/// How long nothing is said.
const QUIET: Duration = Duration::from_secs(5);
/// How often it is said then.
const EVERY: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(50);

/// Who is told, as a callable of a path and seconds, and what came of it.
struct Hearer<'a> {
    call: Option<&'a Py<PyAny>>,
    due: Duration,
    raised: Option<PyErr>,
}

impl<'a> Hearer<'a> {
    const fn new(call: Option<&'a Py<PyAny>>) -> Self {
        Self { call, due: QUIET, raised: None }
    }

    /// Whether to wait on.
    fn waiting(&mut self, name: &str, waited: Duration) -> bool {
        if waited < QUIET {
            // Another path, or another thing to do with it.
            self.due = QUIET;
        }
        let told = waited >= self.due;
        if told {
            self.due = waited + EVERY;
        }
        let heard = Python::attach(|py| {
            py.check_signals()?;
            match self.call.filter(|_| told) {
                Some(call) => call.call1(py, (name, waited.as_secs_f64())).map(drop),
                None => Ok(()),
            }
        });
        self.raised = heard.err();
        self.raised.is_none()
    }
}

/// Waits until all of this has answered, for work that then goes on in this thread.
pub(crate) fn awaited(py: Python<'_>, questions: &[Question], on_wait: Option<&Py<PyAny>>) -> PyResult<()> {
    let raised = py.detach(|| {
        let mut hearer = Hearer::new(on_wait);
        // Given up only for what was raised.
        let _ = await_answer(questions, &mut |name, waited| hearer.waiting(name, waited));
        hearer.raised
    });
    raised.map_or(Ok(()), Err)
}

/// What `work` gives, which looks at what is asked here.
pub(crate) fn answered<T: Send + 'static>(
    py: Python<'_>,
    questions: &[Question],
    on_wait: Option<&Py<PyAny>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let Some(first) = questions.first() else { return Ok(py.detach(work)) };
    let (given, raised) = py.detach(|| {
        let mut hearer = Hearer::new(on_wait);
        let asked = await_answer(questions, &mut |name, waited| hearer.waiting(name, waited));
        let given = asked.ok().and_then(|()| worked(first.name(), &mut hearer, work));
        (given, hearer.raised)
    });
    match (given, raised) {
        (_, Some(raised)) => Err(raised),
        (Some(given), None) => Ok(given),
        // Given up without a reason: cannot be, as only what was raised makes it so.
        (None, None) => Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(())),
    }
}

/// What `work` gives in a thread of its own; `None` when the hearer would not wait any longer.
fn worked<T: Send + 'static>(
    name: &str,
    hearer: &mut Hearer<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (give, given) = channel();
    let begun = Instant::now();
    let thread = std::thread::Builder::new().name("plimsoll-look".into()).spawn(move || {
        // Nobody takes it when the wait was given up.
        let _ = give.send(work());
    });
    let thread = thread.ok()?;
    loop {
        match given.recv_timeout(LOOK) {
            Ok(value) => return Some(value),
            Err(RecvTimeoutError::Timeout) if hearer.waiting(name, begun.elapsed()) => {}
            Err(RecvTimeoutError::Timeout) => return None,
            // It panicked, which is told like any other panic.
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return None,
            },
        }
    }
}

/// Waits until what is at a path has answered, whatever it says; `on_wait(path, seconds)` is told meanwhile.
#[pyfunction]
#[pyo3(signature = (path, on_wait=None))]
pub fn await_path(py: Python<'_>, path: PathBuf, on_wait: Option<Py<PyAny>>) -> PyResult<()> {
    awaited(py, &[Question::about(&path)], on_wait.as_ref())
}
