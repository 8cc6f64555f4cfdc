//! A modelled array in real time: any program's requests, answered when the model says.
//!
//! Model: a front (NBD in [`nbd`], FUSE in [`mount`]) hands requests to a [`server::Server`]. Its [`pacer`] runs the
//! array (`plimsoll_array`) along the wall clock: a request enters the model at the instant it arrives, and its answer leaves
//! at the instant the model completes it. The bytes are kept beside that ([`data`]), because the model has none. How late
//! answers were is measured ([`lateness`]) and told with every report.
//!
//! ```text
//! front ──request──► server ──► pacer: schedule (array, virtual time) ◄── timer thread, wall clock
//!   ▲                  └──────► data: memory, file, derived
//!   └───answer at its instant ──► lateness ──► report
//! ```
//!
//! Limits: Linux only. What a front itself costs (sockets, the kernel) comes on top of the modelled time.

pub mod byte_request;
pub mod data;
pub mod error;
pub mod lateness;
pub mod mount;
pub mod nbd;
pub mod pacer;
pub mod priority;
pub mod report;
pub mod schedule;
pub mod server;
pub mod session;
#[cfg(test)]
mod small_array;

pub use error::ServeError;
pub use server::Server;
pub use session::Session;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The value behind a lock, also after a thread has panicked with it: a server goes on for its other clients.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
