//! A place or length on a target, as typed: bytes, or percent of the target.

use serde_json::{Value, json};

use crate::error::WorkloadError;
use crate::kind::{Bytes, Percent};
use crate::option::{Kind, Range, not_a};
use crate::units;

/// Bytes, or a share of the target that becomes bytes once its size is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// This many bytes.
    Bytes(u64),
    /// This many percent of the target's size, 0 to 100.
    Percent(f64),
}

impl Extent {
    /// Bytes on a target of the given size, rounded down.
    pub fn bytes(self, target_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(100.0) => target_bytes,
            Self::Percent(percent) => ((target_bytes as f64 * percent / 100.0) as u64).min(target_bytes),
        }
    }
}

impl Kind for Extent {
    const NOUN: &'static str = "a size or share of the target";
    const FORM: &'static str = "a size, or percent of the target with its sign: `\"10GiB\"`, `\"25%\"`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let text = value.as_str().unwrap_or_default();
        if !text.trim_end().ends_with('%') {
            let bytes = Bytes::read(value);
            return Ok(Self::Bytes(bytes.map_err(|_| not_a(value, Self::NOUN, "write for example 10GiB or 25%"))?.0));
        }
        let Percent(percent) = Percent::read(value)?;
        if percent > 100.0 {
            return Err(not_a(value, "a share of the target", "write 0% to 100%").into());
        }
        Ok(Self::Percent(percent))
    }

    fn write(&self) -> Value {
        match self {
            Self::Bytes(bytes) => json!(bytes),
            Self::Percent(_) => json!(self.show()),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Bytes(bytes) => units::bytes_to_text(*bytes),
            Self::Percent(percent) => format!("{}%", units::number_to_text(*percent)),
        }
    }

    fn schema(_: Option<Range>) -> Value {
        let percent = json!({ "type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?%$" });
        json!({ "anyOf": [Bytes::schema(None), percent] })
    }
}
