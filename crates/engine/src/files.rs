//! The load of a file system: operations on trees of directories and files, timed and recorded like block requests.
//!
//! Model: [`prepare`] lays the trees of a plan out below one directory or several ([`parts`]); [`run`] gives every thread of every stream a thread
//! of the operating system, which draws an operation, finds a file or directory that it can be done to, makes the system
//! call and records it. Which files exist is kept in memory, some bits each ([`state`]); a file in use by one thread is
//! left alone by the others unless a stream shares its files. Intervals, histograms and the outcome are those of block
//! requests, with more operations.
//!
//! Limits: Linux only; one host; a thread has one operation under way and at most one file open. Files that somebody else
//! makes or removes below the directory while a run lasts show up as errors. Nothing leads out of the directory
//! ([`beneath`]).

mod actor;
mod beneath;
mod bits;
mod calls;
mod candidate;
mod claims;
mod copy;
mod crew;
mod deliver;
mod desk;
mod directories;
mod hunger;
mod intact;
mod lane;
mod layout;
mod leftovers;
mod listing;
mod marker;
mod names;
mod open_file;
pub mod outcome;
mod ownership;
mod parts;
mod place;
mod possession;
mod removal;
mod restoration;
mod run;
mod state;
mod stopwatch;

pub use layout::{FilesPrepared, prepare};
pub use leftovers::{left_behind, release};
pub use ownership::{claim, own};
pub use parts::{check_used, directories_of, inspect};
pub use place::FilesInspection;
pub use removal::remove;
pub use run::{FileJob, FileOutcome, run};
