//! What can go wrong with a run as a whole. A failed I/O is not an error here: it is counted.

use std::io;

use plimsoll_workload::WorkloadError;

use crate::target::TargetError;

/// Why a job could not be run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The job contradicts itself or the target.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The target cannot be used so.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// An option does not go with the target.
    #[error("{0}")]
    Mismatch(String),
    /// The operating system refused what a backend needs.
    #[error("backend {backend}: {doing} failed: {source}; {advice}")]
    Backend {
        /// The backend's word.
        backend: &'static str,
        /// What was being done.
        doing: &'static str,
        /// The system's answer.
        source: io::Error,
        /// What to do about it.
        advice: &'static str,
    },
    /// A trace cannot be replayed.
    #[error("trace {path}: {reason}")]
    Trace {
        /// Its compact file.
        path: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// The streams' histograms do not fit into memory.
    #[error(
        "{streams} streams need about {needed_mib} MiB for their histograms, and {available_mib} MiB are available; use threads for more \
         of the same, or fewer streams"
    )]
    Memory {
        /// Streams.
        streams: usize,
        /// What they need.
        needed_mib: u64,
        /// What there is.
        available_mib: u64,
    },
    /// A server that users work with refuses them, or does not answer.
    #[error("{0}")]
    Server(String),
    /// The journal of a run could not be kept.
    #[error("{0}")]
    Journal(String),
    /// A defect of Plimsoll.
    #[error("a worker of the engine stopped unexpectedly; please report this with the command that was run")]
    WorkerLost,
}
