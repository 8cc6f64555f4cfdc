//! When a thread leaves the file it has open, as typed: after so many requests, or after so many bytes.

use serde_json::{Value, json};

use crate::error::WorkloadError;
use crate::kind::SIZE_PATTERN;
use crate::option::{Kind, Range, not_a};
use crate::units;

const ADVICE: &str = "write a number of requests (100) or a size (1MiB)";

/// When a thread leaves the file it has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAfter {
    /// At its end.
    End,
    /// After so many requests.
    Requests(u64),
    /// After so many bytes.
    Bytes(u64),
}

/// [`StopAfter`] as typed; its end is never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopAfterOption(pub StopAfter);

impl Kind for StopAfterOption {
    const NOUN: &'static str = "a number of requests or a size";
    const FORM: &'static str = "`100` is requests, `\"1MiB\"` is bytes.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let wrong = || WorkloadError::from(not_a(value, Self::NOUN, ADVICE));
        let stop = match value {
            Value::Number(_) => StopAfter::Requests(value.as_u64().ok_or_else(wrong)?),
            Value::String(text) => match text.trim().parse() {
                Ok(requests) => StopAfter::Requests(requests),
                Err(_) => StopAfter::Bytes(units::bytes_from_text(text).map_err(|_| wrong())?),
            },
            _ => return Err(wrong()),
        };
        match stop {
            StopAfter::Requests(0) | StopAfter::Bytes(0) => Err(wrong()),
            other => Ok(Self(other)),
        }
    }

    fn write(&self) -> Value {
        match self.0 {
            StopAfter::Requests(requests) => json!(requests),
            StopAfter::Bytes(bytes) => json!(format!("{bytes}B")),
            StopAfter::End => Value::Null,
        }
    }

    fn show(&self) -> String {
        match self.0 {
            StopAfter::Requests(requests) => requests.to_string(),
            StopAfter::Bytes(bytes) => units::bytes_to_text(bytes),
            StopAfter::End => "end".to_owned(),
        }
    }

    fn schema(_: Option<Range>) -> Value {
        json!({ "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "type": "string", "pattern": format!("^{SIZE_PATTERN}$") },
        ] })
    }
}
