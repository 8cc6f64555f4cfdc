//! Block traces that other tools wrote as text: their requests, and the compact form of a trace.
//!
//! Model: a [`TextReader`] takes lines from whatever can be read and gives [`Request`]s, one at a time; each format says
//! what a line means and nothing else. [`write`](fn@write) takes requests from any [`Source`], chooses among them, puts
//! them in order within a window, splits what is too long, and writes records as `plimsoll_workload::trace` has them.
//! Memory is that of the window, of the names, and of a bounded number of touched places, however long the trace is.
//!
//! Units: nanoseconds, bytes. What is wrong with a line is a [`TraceError`] with its number.

mod alibaba;
mod choice;
mod error;
mod gathered;
mod iolog;
mod lines;
mod mqsim;
mod msr;
mod order;
mod places;
mod reading;
mod request;
mod split;
mod tally;
mod text;
mod words;
mod written;

pub use choice::Wanted;
pub use error::{Piece, TraceError};
pub use gathered::{Device, Header, Service};
pub use reading::Reading;
pub use request::{Request, Source, Targets};
pub use tally::Tally;
pub use text::{Form, TextReader};
pub use written::{Written, write};
