//! The mail server that users work with.

use std::net::SocketAddr;
use std::path::PathBuf;

use plimsoll_workload::JobOptions;
use plimsoll_workload::mail::{MailShare, MailWorkload};
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
    /// The first message of the inbox that the user may touch: what was there before is somebody's own.
    pub first_uid: u32,
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

/// Where a server listens: `127.0.0.1:4143`, `[::1]:4143`, or `unix:/PATH`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub enum Place {
    /// An address and a port.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl TryFrom<String> for Place {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some(path) => Ok(Self::Unix(PathBuf::from(path))),
            None => text.parse().map(Self::Tcp).map_err(|problem| format!("{text}: {problem}")),
        }
    }
}

/// What keeps others from listening to a connection.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// Nothing.
    None,
    /// TLS that is begun on the plain connection, before anybody logs in.
    Starttls,
    /// TLS from the first byte on.
    Tls,
}

/// A server of one of the two protocols.
#[derive(Clone, Debug, Deserialize)]
pub struct Service {
    /// Where it listens.
    pub place: Place,
    /// How its connections are kept.
    pub security: Security,
    /// The name that its certificate has to have.
    pub host: String,
}

/// Where the servers are, and who has an account.
#[derive(Clone, Debug, Deserialize)]
pub struct MailServer {
    /// The IMAP server.
    pub imap: Service,
    /// The server that takes letters.
    pub submission: Service,
    /// Whether that is one of LMTP.
    pub lmtp: bool,
    /// Whether who sends a letter has to log in first.
    pub login: bool,
    /// The certificates of authorities, as PEM; those of this system where it is none.
    pub ca: Option<PathBuf>,
    /// What the names of folders begin with, but for the inbox.
    pub prefix: String,
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
    /// Which of several hosts this is, that have the users divided among them.
    pub share: MailShare,
}
