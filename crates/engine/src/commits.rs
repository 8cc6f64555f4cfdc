//! A file that says how many hard commits each database of a mail store had acknowledged when it was killed.
//!
//! Model: a header names the store's life and how many databases there are; a number for each follows, written anew whenever more is on
//! the target and before anybody who waited goes on. The kernel keeps what was written when the process is killed.
//!
//! Limits: not flushed, so it has to lie on another host when a whole host loses its power.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use plimsoll_mailstore::Acknowledged;

const MAGIC: &[u8; 16] = b"plimsoll commits";
const HEADER_BYTES: u64 = 32;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Commits {
    path: String,
    file: Arc<File>,
}

impl Commits {
    /// A file at `path` for a life of a store of so many databases; one of an earlier run is replaced.
    ///
    /// # Errors
    /// A sentence: it is something else, or cannot be written.
    pub(crate) fn begin(path: &str, life: u64, databases: usize) -> Result<Self, String> {
        let said = |error: &io::Error| format!("acknowledged {path}: {error}; name a file that can be written");
        let mut options = OpenOptions::new();
        let file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(|error| said(&error))?;
        let mut first = Vec::new();
        (&file).take(MAGIC.len() as u64).read_to_end(&mut first).map_err(|error| said(&error))?;
        if !first.is_empty() && first != MAGIC {
            return Err(format!("acknowledged {path} is there already and is something else; name another file"));
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(life.to_le_bytes());
        bytes.extend((databases as u64).to_le_bytes());
        bytes.resize(HEADER_BYTES as usize + 8 * databases, 0);
        file.set_len(0).and_then(|()| file.write_all_at(&bytes, 0)).map_err(|error| said(&error))?;
        Ok(Self { path: path.to_owned(), file: Arc::new(file) })
    }

    /// What a file says of each of so many databases.
    ///
    /// # Errors
    /// A sentence: it is not there, not such a file, or of another number of databases.
    pub(crate) fn read(path: &str, databases: usize) -> Result<Vec<u64>, String> {
        let bytes = std::fs::read(path)
            .map_err(|error| format!("acknowledged {path}: {error}; name the file that the killed run was given"))?;
        let (header, numbers) = bytes.split_at(bytes.len().min(HEADER_BYTES as usize));
        let numbers: Vec<u64> = numbers.chunks_exact(8).map(number).collect();
        if !header.starts_with(MAGIC) || header.len() < HEADER_BYTES as usize {
            return Err(format!(
                "acknowledged {path} does not say what was acknowledged; name the file that the killed run was given"
            ));
        }
        if numbers.len() != databases {
            return Err(format!(
                "acknowledged {path} is of {} databases, and this workload has {databases}; give the options of the killed run",
                numbers.len()
            ));
        }
        Ok(numbers)
    }

    /// What the store tells it of database `number`.
    pub(crate) fn of(&self, number: u32) -> Box<dyn Acknowledged> {
        Box::new(OfDatabase { commits: self.clone(), place: HEADER_BYTES + 8 * u64::from(number) })
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

struct OfDatabase {
    commits: Commits,
    place: u64,
}

impl Acknowledged for OfDatabase {
    fn acknowledge(&mut self, commits: u64) -> Result<(), String> {
        self.commits
            .file
            .write_all_at(&commits.to_le_bytes(), self.place)
            .map_err(|error| format!("acknowledged {}: {error}", self.commits.path))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_last_is_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commits").to_string_lossy().into_owned();
        let commits = Commits::begin(&path, 9, 2).unwrap();
        commits.of(1).acknowledge(4).unwrap();
        commits.of(1).acknowledge(7).unwrap();
        assert_eq!(Commits::read(&path, 2).unwrap(), [0, 7]);
        assert_eq!(
            Commits::read(&path, 3).unwrap_err(),
            format!(
                "acknowledged {path} is of 2 databases, and this workload has 3; give the options of the killed run"
            )
        );
        let again = Commits::begin(&path, 10, 1).unwrap();
        again.of(0).acknowledge(1).unwrap();
        assert_eq!(Commits::read(&path, 1).unwrap(), [1]);
    }

    #[test]
    fn a_file_that_is_something_else_is_neither_replaced_nor_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("letter").to_string_lossy().into_owned();
        std::fs::write(&path, "Dear Sir or Madam, what I have to say takes more than a header.").unwrap();
        assert!(Commits::begin(&path, 1, 1).unwrap_err().ends_with("is something else; name another file"));
        assert!(Commits::read(&path, 1).unwrap_err().contains("does not say what was acknowledged"));
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("Dear"));
        assert!(Commits::read(&format!("{path}.gone"), 1).unwrap_err().contains("No such file"));
    }
}
