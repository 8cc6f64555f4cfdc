//! Every letter that a server has taken, on disk: what has to be in the mailboxes in the end.
//!
//! Model: a line for each letter, written when the server has answered: `T` and the recipients it was taken for, or `U` and all of them
//! when the connection ended before the answer; `M` and a user whose move of a message from one folder to another had no answer, so that it
//! may be in both. The file is complete whenever this process is killed.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use plimsoll_workload::mail::Letter;

/// See the module.
#[derive(Debug)]
pub(crate) struct Ledger(Option<Mutex<File>>);

impl Ledger {
    /// At a path where nothing is yet; without one, nothing is kept.
    pub(crate) fn at(path: Option<&Path>) -> io::Result<Self> {
        path.map(|path| File::options().append(true).create_new(true).open(path).map(Mutex::new)).transpose().map(Self)
    }

    /// The server has taken a letter for the recipients with these places.
    pub(crate) fn taken(&self, letter: &Letter, places: &[usize]) -> io::Result<()> {
        self.enter('T', letter, places.iter().map(|place| letter.to[*place]))
    }

    /// Nobody knows whether the server has a letter.
    pub(crate) fn uncertain(&self, letter: &Letter) -> io::Result<()> {
        self.enter('U', letter, letter.to.iter().copied())
    }

    /// Nobody knows whether the server has moved a message of a user.
    pub(crate) fn moving(&self, user: u32) -> io::Result<()> {
        self.write(&format!("M {user}\n"))
    }

    fn enter(&self, word: char, letter: &Letter, to: impl Iterator<Item = u32>) -> io::Result<()> {
        let to = to.map(|user| user.to_string()).collect::<Vec<_>>().join(",");
        self.write(&format!("{word} {} {} {to}\n", letter.number, letter.from))
    }

    fn write(&self, line: &str) -> io::Result<()> {
        let Some(file) = &self.0 else { return Ok(()) };
        file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
    }
}
