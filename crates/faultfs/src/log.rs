//! What was injected, so that a test can compare it with what was found.
//!
//! Model: one entry per strike of a rule, in order, numbered from 1. An entry of wrong data says which bytes are wrong, and is
//! *seen* once a read has returned some of them: what was not seen, nobody can name. Entries are read while the mount is used.
//!
//! Limits: 200,000 entries; of those beyond only the number is kept.

use std::ops::Range;
use std::sync::Mutex;

use serde::Serialize;

use crate::fault::{Fault, Op};
use crate::locked;

const ENTRIES_MAX: usize = 200_000;

/// One strike.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its number, from 1.
    pub number: u64,
    /// Milliseconds since the mount.
    pub at_ms: u64,
    /// The rule that struck.
    pub rule: u64,
    /// What went wrong.
    pub fault: Fault,
    /// What was asked.
    pub op: Op,
    /// Of which file, below the mount.
    pub path: String,
    /// The first byte that was asked for.
    pub offset: u64,
    /// How many.
    pub len: u64,
    /// First bytes and ends of what is wrong.
    pub wrong: Vec<Range<u64>>,
    /// Whether a read has returned any of it.
    pub seen: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Log {
    entries: Mutex<(Vec<Entry>, u64)>,
}

impl Log {
    /// Adds an entry, which gets its number; the number.
    pub fn add(&self, mut entry: Entry) -> u64 {
        let (entries, count) = &mut *locked(&self.entries);
        *count += 1;
        entry.number = *count;
        if entries.len() < ENTRIES_MAX {
            entries.push(entry);
        }
        *count
    }

    /// A read has returned what these injections left.
    pub fn see(&self, numbers: &[u64]) {
        let (entries, _) = &mut *locked(&self.entries);
        for entry in numbers.iter().filter_map(|number| (*number as usize).checked_sub(1)) {
            if let Some(entry) = entries.get_mut(entry) {
                entry.seen = true;
            }
        }
    }

    /// The entries after number `after`, and how many there were in all.
    pub fn since(&self, after: u64) -> (Vec<Entry>, u64) {
        let (entries, count) = &*locked(&self.entries);
        (entries.iter().skip(after as usize).cloned().collect(), *count)
    }
}
