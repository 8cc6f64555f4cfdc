//! What panics say: kept for whoever tells the user, and a line on stderr, since not every thread has somebody who asks.
//!
//! Model: the hook of the process, set when the module is loaded. With `PLIMSOLL_DEBUG` the usual one speaks instead, which can
//! show a backtrace.

use std::io::Write;
use std::panic;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

/// Panics that are kept; the first says what broke, what follows breaks by it.
const KEPT_MAX: usize = 8;
static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Listens from now on.
pub fn listen() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        let place =
            panicked.location().map_or_else(String::new, |place| format!(" at {}:{}", place.file(), place.line()));
        let text = format!("{}{place}", message(panicked.payload()));
        if std::env::var_os("PLIMSOLL_DEBUG").is_some() {
            usual(panicked);
        } else {
            // A line of its own: a mistake in a thread that nobody waits for is seen all the same.
            let _ = writeln!(std::io::stderr(), "plimsoll: a mistake in Plimsoll's engine: {text}");
        }
        let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.len() < KEPT_MAX {
            heard.push(text);
        }
    }));
}

/// What was heard since the last time.
pub fn heard() -> Vec<String> {
    std::mem::take(&mut *HEARD.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Panics, so that a test can see what becomes of it.
#[pyfunction]
pub fn panic_on_purpose(text: &str) {
    panic::panic_any(text.to_owned());
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}
