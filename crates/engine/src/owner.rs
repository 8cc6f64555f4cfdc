//! Which process something belongs to, told so that it cannot be mistaken for a later one with the same number.
//!
//! Model: process number, the time it was started (in ticks since boot) and the boot itself. A marker that names its run
//! this way shows whether that run is alive, and so whether what it made was left behind by a kill.
//!
//! Limits: processes of another PID namespace (a container) count as dead. Whoever takes something over therefore gets
//! its lock first, which the kernel holds for the living across namespaces.
//!
//! ```
//! use plimsoll_engine::owner::Run;
//! assert!(Run::this().is_alive());
//! ```

use std::fs;

use serde::{Deserialize, Serialize};

/// A process of Plimsoll's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its number.
    pub pid: u32,
    /// When it was started, in clock ticks since boot.
    started: u64,
    /// The boot: `/proc/sys/kernel/random/boot_id`.
    boot: String,
}

impl Run {
    /// This process.
    pub fn this() -> Self {
        let pid = std::process::id();
        Self { pid, started: started(pid).unwrap_or(0), boot: boot() }
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        self.boot == boot() && started(self.pid) == Some(self.started)
    }
}

/// Format: proc(5), `/proc/PID/stat`, field 22; the name in field 2 may contain blanks and brackets.
fn started(pid: u32) -> Option<u64> {
    let text = String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?).into_owned();
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    // A zombie has ended and holds nothing any more.
    if state == "Z" { None } else { fields.nth(18)?.parse().ok() }
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_one_that_ended_or_has_its_number_only_is_not() {
        let this = Run::this();
        assert!(this.is_alive());
        assert!(!Run { started: this.started + 1, ..this.clone() }.is_alive(), "another process of that number");
        assert!(!Run { boot: "earlier".to_owned(), ..this }.is_alive(), "before the machine was started");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let run = Run { pid: child.id(), started: started(child.id()).unwrap_or(1), boot: boot() };
        child.wait().unwrap();
        assert!(!run.is_alive());
    }
}
