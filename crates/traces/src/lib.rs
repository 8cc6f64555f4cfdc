//! Block traces that other tools wrote, as text or in records: their requests, and the compact form of a trace.
//!
//! Model: a [`Reader`] takes lines or records from whatever can be read and gives [`Request`]s, one at a time; each format
//! says what a line or record means and nothing else, and those of the kernel's block layer have their issues and
//! completions brought together. [`write`](fn@write) takes requests from any [`Source`], chooses among them, puts
//! them in order within a window, splits what is too long, and writes records as `plimsoll_workload::trace` has them.
//! Memory is that of the window, of the names, and of a bounded number of touched places, however long the trace is.
//!
//! Units: nanoseconds, bytes. What is wrong with a line or record is a [`TraceError`] with its number.

mod alibaba;
mod blkparse;
mod blktrace;
mod choice;
mod cloudphysics;
mod compact;
mod completions;
mod counted_action;
mod error;
mod header;
mod iolog;
mod lines;
mod mqsim;
mod msr;
mod oracle_general;
mod order;
mod places;
mod reader;
mod reading;
mod records;
mod request;
mod scsi;
mod split;
mod tally;
mod text;
mod vscsi;
mod words;

pub use choice::Wanted;
pub use compact::{Written, write};
pub use counted_action::Counted;
pub use error::{Piece, TraceError};
pub use header::{Device, Header, Service};
pub use reader::Reader;
pub use reading::Reading;
pub use request::{Request, Source, Targets};
pub use tally::Tally;
pub use text::{Form, TextReader};
