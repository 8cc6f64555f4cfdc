//! The process of a workflow towards whoever started it: it waits for the start, and tells what it does as lines of JSON.
//!
//! Model: a line `{"ready": …}` goes out, a line with an instant (CLOCK_MONOTONIC in nanoseconds) comes in, at which the first step begins.
//! Steps are told when they begin and end, what calls moved as often as asked. The last line is `{"done": …}` or `{"failed": …}`;
//! whoever hears it looks at the process from outside and sends a line, after which files are removed and the process ends. It also ends
//! when whoever started it ends.

use std::io::{BufRead, Write};
use std::path::Path;

use plimsoll_engine::histogram::Histogram;
use serde_json::{Value, json};

use crate::counters::{monotonic_ns, resident_bytes};
use crate::error::Trouble;
use crate::meter::{Listener, Moved};
use crate::step::{Step, StepRecord};
use crate::workflow::{Spec, run, work_files};

/// Writes lines to whoever started the process.
pub struct Teller<W: Write>(pub W);

impl<W: Write> Teller<W> {
    /// A line; nobody hears it where the other end is gone, and this process with it.
    fn say(&mut self, line: &Value) {
        let _ = writeln!(self.0, "{line}");
        let _ = self.0.flush();
    }

    /// The whole life of the process; whether the workflow came to its end.
    pub fn live(&mut self, spec: &Spec, folder: &Path, input: Option<&Path>, heard: &mut impl BufRead) -> bool {
        end_with_parent();
        self.say(&json!({ "ready": { "resident_bytes": resident_bytes() } }));
        let mut line = String::new();
        let Some(start_ns) = heard.read_line(&mut line).ok().and_then(|_| line.trim().parse().ok()) else {
            return false;
        };
        sleep_until(start_ns);
        let ended = run(spec, folder, input, self);
        let last = match &ended {
            Ok(()) => json!({ "done": { "at_ns": monotonic_ns() } }),
            Err(failure) => json!({ "failed": {
                "at_ns": monotonic_ns(),
                "step": failure.step,
                "sentence": failure.trouble.to_string(),
                "wrong_data": matches!(failure.trouble, Trouble::WrongData(_)),
            } }),
        };
        self.say(&last);
        let _ = heard.read_line(&mut String::new());
        for path in work_files(folder).unwrap_or_default() {
            // What stays is removed by whoever made the directory.
            let _ = std::fs::remove_file(path);
        }
        ended.is_ok()
    }
}

impl<W: Write> Listener for Teller<W> {
    fn moved(&mut self, read: &Moved, written: &Moved) {
        let of = |moved: &Moved| json!([moved.bytes, moved.sum_ns, counted(&moved.latency)]);
        self.say(&json!({ "moved": { "read": of(read), "write": of(written) } }));
    }

    fn began(&mut self, step: Step, at_ns: u64) {
        self.say(&json!({ "began": { "step": step, "at_ns": at_ns } }));
    }

    fn ended(&mut self, record: &StepRecord) {
        self.say(&json!({ "ended": record }));
    }
}

/// The values of a histogram with their counts as text: quicker to hear than its stored form, which holds every bucket there could be.
fn counted(latency: &Histogram) -> String {
    let each = latency.recorded().map(|(value_ns, count)| format!("{value_ns}*{count}"));
    each.collect::<Vec<_>>().join(" ")
}

fn end_with_parent() {
    // SAFETY: plain integers.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
    }
}

fn sleep_until(at_ns: u64) {
    let at = libc::timespec { tv_sec: (at_ns / 1_000_000_000) as i64, tv_nsec: (at_ns % 1_000_000_000) as i64 };
    // SAFETY: `at` is ours; nothing is written with TIMER_ABSTIME.
    while unsafe {
        libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const at, std::ptr::null_mut())
    } == libc::EINTR
    {}
}
