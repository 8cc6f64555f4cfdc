//! Terminals of a database: each a thread with a connection of its own, which carries out what it is given and times it. Besides, the rows of
//! a COPY ([`rows`]).
//!
//! Model: requests are drawn elsewhere, ahead of their time, and lie in queues ([`queue`]); a terminal takes the next, sends its call
//! ([`wire`]), and the tally records when it was due, begun and answered ([`tally`]). A call is a prepared statement of a connection that
//! somebody else has opened, so that addresses, passwords and settings are none of this crate's business. Conflicts are tried again.
//!
//! Limits: PostgreSQL's protocol 3 without encryption. Requests that come too late leave a terminal idle, which is counted.

pub mod queue;
pub mod rows;
pub mod tally;
mod threads;
pub mod wire;

pub use queue::Request;
pub use threads::{Failure, Pace, TerminalThreads};
