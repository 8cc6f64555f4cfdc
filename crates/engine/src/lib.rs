//! Issues a workload at a target, times it, records it and verifies it.
//!
//! Model: [`run::run`] opens the target, gives every core a worker, and pushes one [`collector::Interval`] after the other
//! into a [`Sink`]. A worker is one loop over a [`backend::Backend`], which owns the clock: io_uring and system calls
//! in real time, queueing models in virtual time. Three instants per request: intended, submitted, completed.
//!
//! Limits: Linux only; one host.

mod accounts;
mod appointment;
pub mod array;
pub mod backend;
pub mod buckets;
pub mod buffers;
pub mod calibrate;
mod changeover;
pub mod clock;
mod collection;
pub mod collector;
mod commits;
pub mod control;
mod crew;
mod display;
mod durable;
mod either;
mod errno;
pub mod error;
pub mod files;
mod gate;
pub mod histogram;
pub mod job;
pub mod journal;
mod lane;
pub mod ledger;
pub mod mail;
mod mailstore;
pub mod mmap;
pub mod neighbours;
pub mod null;
pub mod offset;
mod open_files;
pub mod outcome;
pub mod outstanding;
pub mod owner;
mod pause;
pub mod queue;
pub mod record;
pub mod recorder;
pub mod replay;
mod ring;
mod ring_threads;
pub mod run;
pub mod safety;
pub mod silence;
mod sink;
mod slot;
pub mod sync;
pub mod target;
pub mod timeline;
pub mod uring;
pub mod volume;
mod worker;

pub use collector::Interval;
pub use control::Control;
pub use display::{Shown, shown};
pub use error::EngineError;
pub use job::Job;
pub use outcome::Outcome;
pub use run::run;
pub use sink::{Places, Sink};
