//! What can be wrong with options, as one sentence: where, what is wrong, what would be right.
//!
//! An error starts as a bare [`Problem`] deep inside a value and gathers its places on the way out, outermost first:
//! `my.toml: stream "log": block_size: '4 potatoes' is not a size; write for example 4KiB, 64k or 1GiB`.
//! Limit: the first problem found is the only one reported.

use std::fmt;

use thiserror::Error;

/// What is wrong, without the place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// A key that no option has.
    #[error("key '{key}' is not known; {advice}")]
    UnknownKey {
        /// The key as written.
        key: String,
        /// What the record is called that does not have it.
        record: &'static str,
        /// The nearest valid key, or where the key belongs.
        advice: String,
    },
    /// A key that must be given and is not.
    #[error("key '{key}' is missing; {advice}")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// What it is for.
        advice: &'static str,
    },
    /// A key that must be given and is not, which says what else there is.
    #[error("key '{key}' is missing; {advice}")]
    MissingWord {
        /// The key.
        key: &'static str,
        /// The words it can hold.
        advice: String,
    },
    /// A value that does not read as its kind.
    #[error("{found} is not {expected}; {advice}")]
    NotA {
        /// The value as written, quoted if it is text.
        found: String,
        /// The kind with its article, for example "a size".
        expected: &'static str,
        /// How such a value is written.
        advice: String,
    },
    /// A value of the right kind that is too small or too large.
    #[error("{found} is out of range; write {least} to {most}")]
    OutOfRange {
        /// The value as a person would write it.
        found: String,
        /// The smallest valid value.
        least: String,
        /// The largest valid value.
        most: String,
    },
    /// A value of the right kind that is too small, where none is too large.
    #[error("{found} is too small; write {least} or more")]
    TooSmall {
        /// The value as a person would write it.
        found: String,
        /// The smallest valid value.
        least: String,
    },
    /// Values that are fine by themselves and cannot hold together, or not on this target.
    #[error("{0}")]
    Impossible(String),
}

/// Why a workload or a job's options cannot be used. Its text is one sentence that names the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadError {
    places: Vec<String>,
    problem: Problem,
}

impl WorkloadError {
    /// An error about values that contradict each other.
    pub fn impossible(sentence: impl Into<String>) -> Self {
        Problem::Impossible(sentence.into()).into()
    }

    /// The same error, seen from one level further out.
    #[must_use]
    pub fn within(mut self, place: impl Into<String>) -> Self {
        self.places.insert(0, place.into());
        self
    }

    /// Whether a place was already named.
    pub(crate) const fn is_placed(&self) -> bool {
        !self.places.is_empty()
    }

    /// The same error with another problem at the same place.
    #[must_use]
    pub(crate) fn because(self, problem: Problem) -> Self {
        Self { problem, ..self }
    }

    /// The place as a path: `devices.disk.model.heads`, entries without a name by their number, `link[0].name`. Empty if the
    /// problem is with the document itself.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for place in &self.places {
            let dot = if path.is_empty() || place.starts_with('[') { "" } else { "." };
            path += &format!("{dot}{place}");
        }
        path
    }

    /// The sentence with the place as a path.
    pub fn with_path(&self) -> String {
        let path = self.path();
        if path.is_empty() { self.problem.to_string() } else { format!("{path}: {}", self.problem) }
    }

    /// What is wrong, without the place.
    pub const fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl From<Problem> for WorkloadError {
    fn from(problem: Problem) -> Self {
        Self { places: Vec::new(), problem }
    }
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in &self.places {
            write!(out, "{place}: ")?;
        }
        write!(out, "{}", self.problem)
    }
}

impl std::error::Error for WorkloadError {}
