//! Why an array cannot be served: one sentence each, with what would be right.

use std::io;
use std::path::PathBuf;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The request to serve is not of the right shape.
    #[error("the request to serve is not valid: {0}")]
    Request(#[from] serde_json::Error),
    /// The array cannot be built.
    #[error("{0}")]
    Array(#[from] plimsoll_array::SpecError),
    /// The file for the data cannot be used.
    #[error("--data {}: {problem}", plimsoll_engine::shown(path))]
    Data {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what would be right.
        problem: String,
    },
    /// What is at the path for the data is no file for this array.
    #[error("--data {}: {problem}", plimsoll_engine::shown(path))]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what would be right.
        problem: String,
    },
    /// The array cannot be mounted.
    #[error("--mount {}: {problem}", plimsoll_engine::shown(path))]
    Mount {
        /// The directory.
        path: PathBuf,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A thread cannot be started, or a descriptor not be used.
    #[error("the server cannot start ({0}); is the machine out of memory or descriptors?")]
    Start(#[from] io::Error),
}

impl ServeError {
    /// Whether what was asked for is wrong, whatever the machine is like.
    pub const fn is_input(&self) -> bool {
        matches!(self, Self::Request(_) | Self::Array(_) | Self::Unfit { .. })
    }
}
