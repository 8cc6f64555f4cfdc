//! Who has the lock that a target needs, told from the kernel's tables and from the marker beside the file.

use std::fs::File;
use std::path::Path;

use super::error::TargetError;
use super::marker::Marker;
use crate::safety::{Refusal, System};

/// Why the lock of flock(2) on this open file cannot be had: another run of Plimsoll uses it, or another program has
/// locked it, which is a refusal like that for any other lock.
pub(super) fn locked(path: &Path, file: &File) -> TargetError {
    let (path, system) = (path.to_owned(), System::host());
    let by = match system.flock_holder(file) {
        Some(pid) if is_plimsoll(pid, &path) => return TargetError::Busy { path, by: run_with(pid) },
        Some(pid) => format!("{} (pid {pid})", system.program(pid)),
        // In another container, on another host, or another user's: the marker tells of runs of Plimsoll.
        None => match Marker::read(&path).and_then(|marker| marker.run) {
            Some(run) => return TargetError::Busy { path, by: run_with(run.pid) },
            None => "a program that cannot be seen from here".to_owned(),
        },
    };
    TargetError::Refused(Refusal::Locked { path, by })
}

fn run_with(pid: u32) -> String {
    format!("another run of Plimsoll (pid {pid})")
}

/// Whether a process is a run of Plimsoll: the marker of the file says so, or its command line does.
fn is_plimsoll(pid: u32, path: &Path) -> bool {
    let marked = Marker::read(path).and_then(|marker| marker.run).is_some_and(|run| run.pid == pid);
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    marked || pid == std::process::id() || String::from_utf8_lossy(&line).contains("plimsoll")
}
