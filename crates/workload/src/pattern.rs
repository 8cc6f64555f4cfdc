//! The bytes of a fixed pattern, as typed: text, or hexadecimal after `0x`.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::error::{Problem, WorkloadError};
use crate::option::{Kind, Range, not_a};

/// The longest pattern in bytes.
const LONGEST: usize = 4096;

/// Bytes written over and over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(pub Vec<u8>);

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}

impl Kind for Pattern {
    const NOUN: &'static str = "a pattern";
    const FORM: &'static str =
        "text, whose UTF-8 bytes are taken, or hexadecimal: `\"plimsoll\"`, `\"0xdeadbeef\"`; at most 4096 bytes.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let advice = "write text, or pairs of hexadecimal digits as in 0xdeadbeef";
        let wrong = || WorkloadError::from(not_a(value, Self::NOUN, advice));
        let text = value.as_str().ok_or_else(wrong)?;
        let bytes = match text.strip_prefix("0x") {
            Some(digits) => hexadecimal(digits).ok_or_else(wrong)?,
            None => text.as_bytes().to_vec(),
        };
        if bytes.is_empty() || bytes.len() > LONGEST {
            let found = format!("a pattern of {} bytes", bytes.len());
            return Err(Problem::OutOfRange { found, least: "1".into(), most: format!("{LONGEST} bytes") }.into());
        }
        Ok(Self(bytes))
    }

    fn write(&self) -> Value {
        json!(self.show())
    }

    fn show(&self) -> String {
        self.0.iter().fold("0x".to_owned(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    fn schema(_: Option<Range>) -> Value {
        json!({ "type": "string", "minLength": 1 })
    }
}
