//! Waiting for what may never answer: in another thread, while this one serves signals and says how long it has been.
//!
//! Model: paths are asked by a scout first ([`await_answer`]), since a thread that hangs in the kernel keeps its process from
//! ending; then the work goes on in a thread of its own, without the interpreter's lock. What a signal handler or the
//! callable raises is what the waiting ends with, and the work is left alone.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use plimsoll_engine::target::{TargetSpec, await_answer};
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
    fn waiting(&mut self, path: &Path, waited: Duration) -> bool {
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
                Some(call) => call.call1(py, (path.display().to_string(), waited.as_secs_f64())).map(drop),
                None => Ok(()),
            }
        });
        self.raised = heard.err();
        self.raised.is_none()
    }
}

/// What `work` gives, which looks at these paths.
pub(crate) fn answered<T: Send + 'static>(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    on_wait: Option<&Py<PyAny>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let Some(first) = paths.first() else { return Ok(py.detach(work)) };
    let (given, raised) = py.detach(|| {
        let mut hearer = Hearer::new(on_wait);
        let asked = await_answer(&paths, &mut |path, waited| hearer.waiting(path, waited));
        let given = asked.ok().and_then(|()| worked(first, &mut hearer, work));
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
    path: &Path,
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
            Err(RecvTimeoutError::Timeout) if hearer.waiting(path, begun.elapsed()) => {}
            Err(RecvTimeoutError::Timeout) => return None,
            // It panicked, which is told like any other panic.
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return None,
            },
        }
    }
}

/// The files and devices of a target.
pub(crate) fn paths_of(spec: &TargetSpec) -> Vec<PathBuf> {
    spec.parts().iter().map(|part| part.path.clone()).collect()
}

/// Waits until what is at a path has answered, whatever it says; `on_wait(path, seconds)` is told meanwhile.
#[pyfunction]
#[pyo3(signature = (path, on_wait=None))]
pub fn await_path(py: Python<'_>, path: PathBuf, on_wait: Option<Py<PyAny>>) -> PyResult<()> {
    answered(py, vec![path], on_wait.as_ref(), || ())
}
