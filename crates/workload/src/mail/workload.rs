//! A workload of mail users: groups of them with their purpose and source, as read from a file.

use serde_json::Value;

use crate::bounds::DAY_NS;
use crate::error::WorkloadError;
use crate::kind::Nanos;
use crate::mail::stream::MailStreamOptions;
use crate::option::Record;
use crate::options;
use crate::scope::{give_names, sent_home};
use crate::words;

words! {
    /// What carries a workload out.
    pub enum Driver: "the driver of mail users" {
        /// Users of a mail server.
        Mail = "mail",
    }
}

words! {
    /// When a private server makes a message durable.
    pub enum MailSync: "a policy of fsync" {
        /// After every write, those of indexes included.
        Always = "always",
        /// Where a message could be lost.
        Optimized = "optimized",
        /// Not at all: a message that was accepted can be lost.
        Never = "never",
    }
}

words! {
    /// How a private server keeps messages.
    pub enum MailFormat: "a format of mailboxes" {
        /// A file for each message, in the directories cur, new and tmp of its folder.
        Maildir = "maildir",
        /// Dovecot's own: a file for each message, and what is known of all of them in the folder's index.
        Sdbox = "sdbox",
    }
}

words! {
    /// Which private servers are killed while users work.
    pub enum MailKill: "a choice of servers to kill" {
        /// None.
        None = "none",
        /// Dovecot, which keeps the mailboxes.
        Dovecot = "dovecot",
        /// Postfix, which takes letters; where there is none, Dovecot.
        Postfix = "postfix",
        /// Now one, now the other.
        Both = "both",
    }
}

options! {
    /// A workload of mail users, as typed.
    pub struct MailWorkload: "workload" {
        "Workload" {
            /// Name in the catalog and in results: letters, digits, `-` and `_`.
            name: String = String::new(), unset "the file's name", example "office";
            /// What carries it out; without it a workload is one of block requests.
            driver: Driver = Driver::Mail, required "write driver = \"mail\"", example "mail";
            /// One line for people.
            title: String = String::new(), example "Mail users of an office";
            /// Heading under which reports put it.
            group: String = String::new(), example "mail";
            /// What it is meant to show.
            purpose: String = String::new(), example "How long users wait for their mail";
            /// Where it comes from.
            source: String = String::new(), example "Counted on our mail server in May";
            /// Why its values are what they are, and which of them the source does not give.
            rationale: String = String::new(), example "Sizes follow the server's own";
            /// What a healthy target does under it.
            expect: String = String::new(), example "Sending waits for the device, reading for memory";
            /// Words to list it by.
            tags: Vec<String> = Vec::new(), example "[\"mail\"]";
            /// The groups of users, which work at the same time.
            streams as "stream": Vec<MailStreamOptions> = Vec::new(),
                required "write at least one [[stream]]", example "[{\"users\": 100, \"tasks\": {\"read\": 80}}]";
        }
        "Server" {
            /// When a private server makes a message durable.
            mail_fsync: MailSync = MailSync::Optimized, example "always";
            /// How a private server keeps messages.
            mailbox_format: MailFormat = MailFormat::Maildir, example "sdbox";
            /// Which private servers are killed (SIGKILL) and started again while users work, to see whether mail is lost. What is under way
            /// then fails and is counted; the run goes on.
            kill: MailKill = MailKill::None, example "both";
            /// How long after a server has come back the next one is killed.
            kill_every: Nanos = Nanos(5_000_000_000), range 1e6 => DAY_NS, example "10s";
        }
    }
}

impl MailWorkload {
    /// Reads a workload from JSON; `source` is the file it came from, named in errors and giving the name if
    /// there is none.
    ///
    /// # Errors
    /// On the first unknown key, bad value or missing key.
    pub fn from_json(value: &Value, source: &str) -> Result<Self, WorkloadError> {
        let mut workload = Self::read_record(value).map_err(|error| sent_home(error).within(source))?;
        give_names(&mut workload.name, workload.streams.iter_mut().map(|stream| &mut stream.name), source);
        Ok(workload)
    }

    /// The canonical JSON object, defaults included; reading it gives an equal workload.
    pub fn to_json(&self) -> Value {
        self.write_record()
    }

    /// Refuses options that cannot hold together.
    ///
    /// # Errors
    /// On the first contradiction; the sentence begins with `source`.
    pub fn check(&self, source: &str) -> Result<(), WorkloadError> {
        self.resolve_all(0).map(drop).map_err(|error| error.within(source))
    }
}
