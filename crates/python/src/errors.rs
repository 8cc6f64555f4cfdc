//! Rust errors as the exceptions of `plimsoll.errors`: the only place where one becomes the other.

use std::path::Path;

use plimsoll_analytics::Trouble;
use plimsoll_dss::DataError;
use plimsoll_engine::EngineError;
use plimsoll_engine::target::{SpecError, TargetError};
use plimsoll_traces::{Piece, TraceError};
use plimsoll_workload::WorkloadError;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

use crate::panics;

/// The classes of `plimsoll.errors` that arise in Rust.
enum Class {
    Input,
    Safety,
    Target,
    Engine,
    Interrupted,
}

impl Class {
    const fn name(&self) -> &'static str {
        match self {
            Self::Input => "InputError",
            Self::Safety => "SafetyRefusal",
            Self::Target => "TargetError",
            Self::Engine => "EngineError",
            Self::Interrupted => "Interrupted",
        }
    }

    fn raise(&self, py: Python<'_>, sentence: String) -> PyErr {
        let class = py.import("plimsoll.errors").and_then(|module| module.getattr(self.name()));
        match class.and_then(|class| class.call1((sentence,))) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    }
}

/// A failed job.
pub fn engine(py: Python<'_>, error: &EngineError) -> PyErr {
    match error {
        EngineError::Workload(error) => workload(py, error),
        EngineError::Target(error) => target(py, error),
        EngineError::Mismatch(_) | EngineError::Memory { .. } | EngineError::Trace { .. } => {
            Class::Input.raise(py, error.to_string())
        }
        EngineError::Server(_) => Class::Target.raise(py, error.to_string()),
        EngineError::Backend { .. } | EngineError::Journal(_) => Class::Engine.raise(py, error.to_string()),
        // A mistake of our own is no error of the engine's; the command line tells it, with what the panic said.
        EngineError::WorkerLost => {
            let said = panics::heard();
            PyRuntimeError::new_err(if said.is_empty() { error.to_string() } else { said.join("; ") })
        }
    }
}

/// A target that cannot be used.
pub fn target(py: Python<'_>, error: &TargetError) -> PyErr {
    let class = match error {
        TargetError::Spec(_)
        | TargetError::NoPart { .. }
        | TargetError::NoTreeInPart { .. }
        | TargetError::OneDirectory { .. }
        | TargetError::DirectoryInPart { .. } => Class::Input,
        TargetError::Refused(_) => Class::Safety,
        TargetError::Stopped => Class::Interrupted,
        _ => Class::Target,
    };
    class.raise(py, error.to_string())
}

/// What the operating system answered about a path.
pub fn io(py: Python<'_>, path: &Path, problem: &std::io::Error) -> PyErr {
    if problem.kind() == std::io::ErrorKind::Interrupted {
        return Class::Interrupted.raise(py, "the preparation was stopped".to_owned());
    }
    Class::Target.raise(py, format!("{}: cannot be written ({problem})", path.display()))
}

/// A text that is no target.
pub fn spec(py: Python<'_>, error: &SpecError) -> PyErr {
    Class::Input.raise(py, error.to_string())
}

/// A workload or job that is not valid.
pub fn workload(py: Python<'_>, error: &WorkloadError) -> PyErr {
    Class::Input.raise(py, error.to_string())
}

/// A request for data that cannot be answered.
pub fn data(py: Python<'_>, error: &DataError) -> PyErr {
    Class::Input.raise(py, error.to_string())
}

/// Rows that cannot be written or read.
pub fn trouble(py: Python<'_>, error: &Trouble) -> PyErr {
    Class::Target.raise(py, error.to_string())
}

/// A trace that cannot be read or written; `source` names it.
pub fn trace(py: Python<'_>, source: &str, error: &TraceError) -> PyErr {
    match error {
        TraceError::Line(line, pieces) => match sentence(py, pieces) {
            Ok(sentence) => Class::Input.raise(py, format!("{source}:{line}: {sentence}")),
            Err(error) => error,
        },
        TraceError::Record { .. } => Class::Input.raise(py, format!("{source}: {error}")),
        TraceError::Choice(sentence) => Class::Input.raise(py, sentence.clone()),
        TraceError::Io(problem) => match problem.get_ref().and_then(|inside| inside.downcast_ref::<PyErr>()) {
            Some(raised) => raised.clone_ref(py),
            None => system(py, problem),
        },
    }
}

/// Pieces as one sentence; what stands in the file is quoted as every reader quotes it.
fn sentence(py: Python<'_>, pieces: &[Piece]) -> PyResult<String> {
    let shortened = py.import("plimsoll.formats.traces.request")?.getattr("shortened")?;
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Said(text) => Ok(text.clone()),
            Piece::Quoted(text) => shortened.call1((text,))?.extract(),
        })
        .collect()
}

/// An answer of the operating system as Python has it, with its number.
fn system(py: Python<'_>, problem: &std::io::Error) -> PyErr {
    let Some(number) = problem.raw_os_error() else { return PyOSError::new_err(problem.to_string()) };
    let said = py.import("os").and_then(|os| os.call_method1("strerror", (number,))?.extract::<String>());
    PyOSError::new_err((number, said.unwrap_or_else(|_| problem.to_string())))
}

/// Text that should have been JSON, or JSON of the right shape.
pub fn json(py: Python<'_>, error: &serde_json::Error) -> PyErr {
    Class::Input.raise(py, format!("the request is not valid JSON: {error}"))
}

/// Anything else about an input.
pub fn input(py: Python<'_>, sentence: String) -> PyErr {
    Class::Input.raise(py, sentence)
}
