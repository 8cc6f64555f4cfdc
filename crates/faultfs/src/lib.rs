//! A file system that does what failing storage does, on command: what the long test suite runs Plimsoll on.
//!
//! Model: a directory passed through FUSE. Files, directories, links, renames, sizes, times, locks and direct I/O are those of
//! the directory, until a rule has a fault strike a request: sixteen kinds ([`fault::Fault`]), for chosen operations, files,
//! ranges, times and shares ([`rule::Rule`]), drawn from seeds. What was injected is logged, with the bytes that are wrong since
//! and whether anybody has read them ([`log::Entry`]), so that a test can compare what was done with what was said.
//!
//! ```text
//! faultfs BACKING MOUNT SOCKET     # says "mounted"; ends, and unmounts, when its standard input does
//! echo '{"do": "arm", "rule": {"fault": "lost", "path": "*.dat", "every": 100}}' | nc -U SOCKET
//! ```
//!
//! **Power cuts.** `{"do": "volatile", "room_bytes": N}` puts a write cache over the directory ([`volatile`]): what is written
//! is read back at once, but is durable only after fsync or fdatasync of its file, by itself when it was written to a file that
//! was opened with `O_DSYNC` or `O_SYNC` (or with `RWF_DSYNC`), or when it was pushed out because more than N bytes wait.
//! `{"do": "cut"}` cuts the power between two requests: what is not durable is gone, except the share `keep` of the writes,
//! drawn from `seed` regardless of their order, a share `tear` of which arrived in part, in units of `tear_bytes` (512, 4096).
//! Each change that was lost or torn is in the answer. With `"dark": true` every request fails with EIO from then on, as on
//! a machine without power, so that a program which still runs cannot write on; when it is gone, `{"do": "light"}` brings power
//! back. Open files stay open. A fault `reordered` has a flush lie, which only a cut shows:
//!
//! ```text
//! {"do": "volatile", "room_bytes": 67108864}
//! …   the program under test writes to MOUNT and hears what was acknowledged
//! {"do": "cut", "cut": {"keep": 0.5, "tear": 0.2, "tear_bytes": 4096, "seed": 7}, "dark": true}
//! …   the program is killed
//! {"do": "light"}
//! …   MOUNT holds what was durable; another program checks it
//! ```
//!
//! Limits: names and directories are durable at once, only bytes and sizes of files are volatile. No extended attributes, no
//! shared memory maps. One thread takes requests, so this is no fast file system: tens of thousands of requests per second.

// Lists of ranges are what this crate works on.
#![allow(clippy::single_range_in_vec_init)]

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub mod answer;
pub mod backing;
pub mod blame;
pub mod chance;
pub mod control;
pub mod disk;
pub mod fault;
pub mod faults;
pub mod filesystem;
pub mod injection;
pub mod later;
pub mod log;

pub mod node;
pub mod past;
pub mod rule;
pub mod volatile;

/// A lock that a thread which panicked may have left behind: what it guards is still whole.
fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn reading<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn writing<T: ?Sized>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
