//! Users of a mail server: what they do, said to real servers in IMAP and SMTP or LMTP, timed as they would see it.
//!
//! Model: a thread acts for many users in one loop over the connections that are ready ([`client`], [`connections`]); each user goes
//! through the exchanges of one task after the other ([`person`]), whose dialogues are understood without touching a socket ([`imap`],
//! [`smtp`]). Arrivals are open: a task is due when the working day says, and its latency counts from then. What the server has taken is
//! written down ([`ledger`]), so that it can be looked for afterwards.

mod client;
mod connections;
mod dots;
mod imap;
mod layout;
mod ledger;
mod link;
mod outcome;
mod person;
mod report;
mod run;
mod server;
mod smtp;
mod socket;
mod tls;

pub use layout::{Laid, lay_out, letter};
pub use outcome::outcome;
pub use plimsoll_workload::mail::hash as hash_of;
pub use run::{MailOutcome, run};
pub use server::{Account, MailJob, MailServer, Place, Security, Service};
pub use smtp::Language;
