//! What is wrong with a specification, as one sentence that names the key: `queue.window: 0 is too few; write 1 to
//! 4096`.

use std::fmt;

use plimsoll_workload::WorkloadError;

/// Why a specification cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    key: String,
    problem: String,
}

impl SpecError {
    /// A key and what is wrong with its value, with what would be right.
    pub fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into() }
    }

    /// The same error, seen from the table that holds the key.
    #[must_use]
    pub fn within(self, table: &str) -> Self {
        Self { key: format!("{table}.{}", self.key), ..self }
    }

    /// The key, with the tables it lies in.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl From<WorkloadError> for SpecError {
    fn from(error: WorkloadError) -> Self {
        Self::new(error.path(), error.problem().to_string())
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.key, self.problem)
    }
}

impl std::error::Error for SpecError {}

/// Refuses a number outside of its range.
pub(crate) fn in_range<T: PartialOrd + fmt::Display>(key: &str, value: T, least: T, most: T) -> Result<(), SpecError> {
    if value >= least && value <= most {
        return Ok(());
    }
    Err(SpecError::new(key, format!("{value} is out of range; write {least} to {most}")))
}
