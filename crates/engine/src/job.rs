//! A job: the unit that is run.

use plimsoll_workload::{JobOptions, Workload};

use crate::safety::Permission;
use crate::target::TargetSpec;

/// A job and its target.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is issued.
    pub workload: Workload,
    /// How it is run.
    pub options: JobOptions,
    /// Where.
    pub target: TargetSpec,
    /// What the user allows.
    pub permission: Permission,
}
