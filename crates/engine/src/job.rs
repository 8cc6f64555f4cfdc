//! A job: the unit that is run.

use plimsoll_mailstore::MailstoreWorkload;
use plimsoll_workload::{JobOptions, Workload};

use crate::safety::Permission;
use crate::target::TargetSpec;

/// A job and its target.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is issued.
    pub workload: Workload,
    /// The mail store that says what is issued, in place of the workload's streams.
    pub mailstore: Option<MailstoreWorkload>,
    /// How it is run.
    pub options: JobOptions,
    /// Where.
    pub target: TargetSpec,
    /// What the user allows.
    pub permission: Permission,
}
