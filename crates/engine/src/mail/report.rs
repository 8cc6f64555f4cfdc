//! What a thread of mail users leaves behind when the day is over.

use plimsoll_workload::mail::MailTask;

use super::link::Failure;
use crate::histogram::{self, Histogram};

/// What a thread leaves behind.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) first_error: Option<TaskError>,
    pub(crate) skipped: [u64; MailTask::COUNT],
    pub(crate) unissued: u64,
    pub(crate) letters: u64,
    pub(crate) deliveries: u64,
    pub(crate) refused_recipients: u64,
    pub(crate) first_done_ns: Option<u64>,
    /// How long after the start it began.
    pub(crate) began_ns: u64,
    pub(crate) cpu_ns: (u64, u64),
    /// How long the handing over of letters took that were taken in the measured time.
    pub(crate) handovers: Histogram,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            first_error: None,
            skipped: [0; MailTask::COUNT],
            unissued: 0,
            letters: 0,
            deliveries: 0,
            refused_recipients: 0,
            first_done_ns: None,
            began_ns: 0,
            cpu_ns: (0, 0),
            handovers: histogram::empty(),
        }
    }
}

/// The first task that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskError {
    pub(crate) at_ns: u64,
    pub(crate) task: MailTask,
    pub(crate) user: u32,
    pub(crate) failure: Failure,
}
