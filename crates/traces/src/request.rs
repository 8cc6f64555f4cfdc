//! A request of a trace, whatever format it came from, and the names of what requests are of.

use std::collections::BTreeMap;

use plimsoll_workload::Op;

use crate::error::TraceError;

/// The unit of addresses in traces of block devices.
pub(crate) const SECTOR_BYTES: u128 = 512;
/// Names kept at most: more than any volume farm has devices, and few enough to hold.
const MOST_TARGETS: usize = 1 << 20;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Nanoseconds since the trace's own zero, below 2^63; they may step back. `None` where the format has no times.
    pub at_ns: Option<u64>,
    /// What was done.
    pub op: Op,
    /// First byte; the request ends at 2^63 at the latest.
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub length: u64,
    /// What it was of: an index into [`Targets`].
    pub target: u32,
    /// Response time in nanoseconds, where the trace says it.
    pub service_ns: Option<u64>,
}

/// Whatever gives requests, with the names that they refer to.
pub trait Source {
    /// The next request; `None` at the end.
    ///
    /// # Errors
    /// What is wrong with the trace, or with whoever hands it over.
    fn request(&mut self) -> Result<Option<Request>, TraceError>;

    /// The names so far.
    fn targets(&mut self) -> &mut Targets;
}

/// Names of devices and files, numbered in the order in which they came up.
#[derive(Debug, Default)]
pub struct Targets {
    numbers: BTreeMap<String, u32>,
    names: Vec<String>,
    /// Most requests are of what the request before was of.
    latest: u32,
}

impl Targets {
    /// The number of a name, new if need be.
    ///
    /// # Errors
    /// If there are more than 2^20 names.
    pub fn number(&mut self, name: &str) -> Result<u32, TraceError> {
        if self.names.get(self.latest as usize).is_some_and(|latest| latest == name) {
            return Ok(self.latest);
        }
        if let Some(&number) = self.numbers.get(name) {
            self.latest = number;
            return Ok(number);
        }
        if self.names.len() == MOST_TARGETS {
            return Err(TraceError::Choice(format!(
                "the trace names more than {MOST_TARGETS} devices or files; give a part of it."
            )));
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        self.latest = number;
        Ok(number)
    }

    /// The name with a number that [`number`](Self::number) gave.
    pub fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
