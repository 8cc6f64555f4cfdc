//! The mail server that users work with.

use std::net::SocketAddr;
use std::path::PathBuf;

use plimsoll_workload::JobOptions;
use plimsoll_workload::mail::MailWorkload;
use serde::Deserialize;

use super::smtp::Language;

/// A user's account.
#[derive(Clone, Deserialize)]
pub struct Account {
    /// The name to log in with.
    pub name: String,
    /// The password; it is in no message and no result.
    pub password: String,
    /// Where their mail goes.
    pub address: String,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Account")
            .field("name", &self.name)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Where the servers are, and who has an account.
#[derive(Clone, Debug, Deserialize)]
pub struct MailServer {
    /// The IMAP server.
    pub imap: SocketAddr,
    /// The server that takes letters.
    pub submission: SocketAddr,
    /// Whether that is one of LMTP.
    pub lmtp: bool,
    /// The users' accounts, by number.
    pub accounts: Vec<Account>,
    /// How long a server may take to answer, in seconds.
    pub timeout_s: f64,
}

impl MailServer {
    /// The language of the server that takes letters.
    pub(crate) const fn language(&self) -> Language {
        if self.lmtp { Language::Lmtp } else { Language::Smtp }
    }
}

/// A job of mail users.
#[derive(Clone, Debug)]
pub struct MailJob {
    /// What they do.
    pub workload: MailWorkload,
    /// How it is run.
    pub options: JobOptions,
    /// Whom they talk to.
    pub server: MailServer,
    /// A name of this run, which its letters carry.
    pub run: String,
    /// The text of Date headers.
    pub date: String,
    /// Where to write what the server has taken.
    pub ledger: Option<PathBuf>,
}
