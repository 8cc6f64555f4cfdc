//! The steps of a workflow, and what became of each.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Makes or reads rows, derives columns, writes them.
    DataStep,
    /// Only computes.
    Iterate,
    /// Writes a catalog of formats and copies the rows with labels.
    Format,
    /// Builds two indexes and looks rows up.
    Index,
    /// Sorts all rows.
    Sort,
    /// Groups them.
    Summary,
}

impl Step {
    /// All, in order.
    pub const ALL: [Self; 6] = [Self::DataStep, Self::Iterate, Self::Format, Self::Index, Self::Sort, Self::Summary];
}

impl fmt::Display for Step {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::DataStep => "data-step",
            Self::Iterate => "iterate",
            Self::Format => "format",
            Self::Index => "index",
            Self::Sort => "sort",
            Self::Summary => "summary",
        })
    }
}

/// What became of a step; instants are those of CLOCK_MONOTONIC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepRecord {
    /// Which.
    pub name: Step,
    /// Its beginning.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// Rows that it handled.
    pub rows: u64,
    /// Processor time in user mode.
    pub user_us: u64,
    /// In the kernel.
    pub system_us: u64,
    /// What rows and memory make necessary to read; `None` where the step did not come to its end.
    pub needed_read_bytes: Option<u64>,
    /// To write.
    pub needed_written_bytes: Option<u64>,
    /// What its calls read.
    pub read_bytes: u64,
    /// What they wrote.
    pub written_bytes: u64,
    /// What the kernel charged to this process: read from storage, and to be written to it.
    pub stored: Option<(u64, u64)>,
    /// What the devices read and wrote meanwhile, for everybody.
    pub devices: Option<(u64, u64)>,
    /// How often a sort wrote its records to run files.
    pub passes: Option<u32>,
    /// `ok`, or what was wrong.
    pub check: Option<String>,
}
