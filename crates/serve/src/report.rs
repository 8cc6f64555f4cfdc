//! What a session has served: counts, modelled service, lateness, data, and doubts as flags.

use plimsoll_workload::Op;
use serde::Serialize;
use serde_json::{Value, json};

use crate::byte_request::ByteRequest;
use crate::data::Kept;
use crate::lateness::Lateness;

/// Requests and bytes by operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes, zeros included.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Trims.
    pub trims: u64,
    /// Bytes given up.
    pub trimmed_bytes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Requests that the model failed because data were lost.
    pub failed: u64,
}

impl Counts {
    /// One answer.
    pub fn add(&mut self, asked: ByteRequest, failed: bool) {
        let (requests, bytes) = match asked.op {
            Op::Read => (&mut self.reads, &mut self.read_bytes),
            Op::Write => (&mut self.writes, &mut self.written_bytes),
            Op::Trim => (&mut self.trims, &mut self.trimmed_bytes),
            Op::Flush => (&mut self.flushes, &mut 0),
        };
        *requests += 1;
        *bytes += asked.len;
        self.failed += u64::from(failed);
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    fields: Value,
    flags: Vec<Value>,
}

impl Report {
    /// What was counted until an instant.
    pub fn new(array: &str, elapsed_ns: u64, counts: &Counts, lateness: &Lateness) -> Self {
        let answers = lateness.answers();
        let elapsed_s = elapsed_ns as f64 / 1e9;
        let fields = json!({
            "schema": "plimsoll.serving/1",
            "array": array,
            "modelled": true,
            "elapsed_ns": elapsed_ns,
            "answers": answers,
            "answers_per_s": if elapsed_ns > 0 { answers as f64 / elapsed_s } else { 0.0 },
            "counts": counts,
            "service": lateness.service(),
            "lateness": lateness.late(),
            "lateness_share": lateness.share(),
        });
        Self { fields, flags: Vec::new() }
    }

    /// With the most requests that were under way at once.
    #[must_use]
    pub fn with_outstanding(mut self, most: usize) -> Self {
        self.fields["outstanding_max"] = json!(most);
        self
    }

    /// With whether the server's threads come before those of other programs.
    #[must_use]
    pub fn with_first(mut self, first: bool) -> Self {
        self.fields["scheduled_first"] = json!(first);
        self
    }

    /// With what is said of the data.
    #[must_use]
    pub fn with_kept(mut self, kept: Kept) -> Self {
        let Kept { refused_writes, differing_writes, bound_bytes, .. } = kept;
        if refused_writes > 0 {
            self.flag(
                "full",
                format!(
                    "{refused_writes} writes were refused because {bound_bytes} bytes are kept in memory; allow more with --memory, or \
                     use --data FILE"
                ),
            );
        }
        if differing_writes > 0 {
            self.flag(
                "dropped",
                format!(
                    "{differing_writes} writes held other bytes than derived data have and were dropped; whoever reads them back does \
                     not find them, so use --data memory or --data FILE for that"
                ),
            );
        }
        self.fields["data"] = json!(kept);
        self
    }

    /// With the verdict on lateness.
    #[must_use]
    pub fn judged(mut self, verdict: Option<String>) -> Self {
        if let Some(text) = verdict {
            self.flag("late", text);
        }
        self
    }

    fn flag(&mut self, name: &str, text: String) {
        self.flags.push(json!({ "name": name, "text": text }));
    }

    /// As one object.
    pub fn into_json(mut self) -> Value {
        self.fields["flags"] = Value::Array(self.flags);
        self.fields
    }
}
