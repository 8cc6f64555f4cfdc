//! What ends a workflow early, as the sentence that is told of it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a step could not go on, or that its results are wrong.
#[derive(Debug, Error)]
pub enum Trouble {
    /// A call of the system failed.
    #[error("{path}: cannot {action} ({reason}){advice}.", path = path.display(), reason = reason(source), advice = advice(source))]
    Io {
        /// What was tried, after "cannot".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Rows are not those that were written, or results do not agree.
    #[error("wrong data: {0}.")]
    WrongData(String),
}

impl Trouble {
    /// For `map_err` after a call of the system.
    pub fn io<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }

    /// Wrong data in a file.
    pub fn wrong(path: &Path, what: impl std::fmt::Display) -> Self {
        Self::WrongData(format!("{}: {what}", path.display()))
    }
}

fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

fn advice(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => "; make room, or ask for fewer rows",
        Some(libc::EINVAL) => "; direct I/O may not be possible there: set direct=false, or a buffer of its block size",
        _ => "",
    }
}
