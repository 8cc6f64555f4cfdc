//! The grammar of sizes: one size, a range, or a table of sizes with their shares.
//!
//! [`crate::block_sizes::BlockSizes`] are such sizes of requests, [`crate::files::FileSizes`] such sizes of files.

use serde_json::{Map, Value, json};

use crate::error::{Problem, WorkloadError};
use crate::kind::{Bytes, Percent, SIZE_PATTERN, json_text, number, number_schema};
use crate::option::{Kind, Range, not_a};
use crate::units;

/// What a value of this grammar is called, and how such values are written.
#[derive(Clone, Copy)]
pub(crate) struct Grammar {
    pub(crate) noun: &'static str,
    pub(crate) advice: &'static str,
}

/// Sizes as typed.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// Always this many bytes.
    Fixed(u64),
    /// Uniform from the smallest to the largest in steps.
    Range {
        /// Smallest size in bytes.
        min: u64,
        /// Largest size in bytes.
        max: u64,
    },
    /// (bytes, percent), by ascending size; the shares sum to 100.
    Table(Vec<(u64, f64)>),
}

impl Sizes {
    /// The sizes that are named: one, both ends of a range, or all of a table.
    pub fn named(&self) -> Vec<u64> {
        match self {
            Self::Fixed(bytes) => vec![*bytes],
            Self::Range { min, max } => vec![*min, *max],
            Self::Table(shares) => shares.iter().map(|(bytes, _)| *bytes).collect(),
        }
    }

    /// The mean in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(bytes) => *bytes as f64,
            Self::Range { min, max } => (*min as f64 + *max as f64) / 2.0,
            Self::Table(shares) => shares.iter().map(|(bytes, share)| *bytes as f64 * share / 100.0).sum(),
        }
    }

    /// Reads a value of this grammar.
    pub(crate) fn read(value: &Value, grammar: Grammar) -> Result<Self, WorkloadError> {
        match value {
            Value::Object(map) => {
                let share = |(bytes, share): (&String, &Value)| Ok((size(bytes)?, Percent::read(share)?.0));
                Self::table(map.iter().map(share).collect::<Result<_, WorkloadError>>()?)
            }
            Value::String(text) if text.trim_start().starts_with('{') => {
                let map = json_text(value).ok_or_else(|| not_a(value, grammar.noun, grammar.advice))?;
                Self::read(&map, grammar)
            }
            Value::String(text) if text.contains('=') => Self::table(shares_from_text(text, grammar)?),
            Value::String(text) => match text.split_once('-') {
                Some((low, high)) if !low.is_empty() => Self::range(text, low, high),
                _ => Ok(Self::Fixed(size(text)?)),
            },
            Value::Number(_) => Ok(Self::Fixed(Bytes::read(value)?.0)),
            _ => Err(not_a(value, grammar.noun, grammar.advice).into()),
        }
    }

    fn range(text: &str, low: &str, high: &str) -> Result<Self, WorkloadError> {
        let (min, max) = (size(low)?, size(high)?);
        if min > max {
            let advice = "write the smaller size first, for example 4KiB-64KiB".to_owned();
            return Err(Problem::NotA { found: format!("'{text}'"), expected: "a range of sizes", advice }.into());
        }
        Ok(if min == max { Self::Fixed(min) } else { Self::Range { min, max } })
    }

    fn table(shares: Vec<(u64, f64)>) -> Result<Self, WorkloadError> {
        let mut shares = shares;
        shares.sort_by_key(|(bytes, _)| *bytes);
        if let Some(twice) = shares.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let size = units::bytes_to_text(twice[0].0);
            return Err(WorkloadError::impossible(format!("the size {size} stands twice in the table; write it once")));
        }
        if let Some((bytes, share)) = shares.iter().find(|(_, share)| !(*share > 0.0 && *share <= 100.0)) {
            let size = units::bytes_to_text(*bytes);
            return Err(WorkloadError::impossible(format!(
                "the share of {size} is {share}; write a percentage above 0, or leave the size out"
            )));
        }
        let sum: f64 = shares.iter().map(|(_, share)| share).sum();
        if (sum - 100.0).abs() > 1e-6 {
            return Err(WorkloadError::impossible(format!(
                "the shares of the sizes sum to {}; they must sum to 100",
                units::number_to_text((sum * 1e6).round() / 1e6)
            )));
        }
        Ok(match shares.as_slice() {
            [(bytes, _)] => Self::Fixed(*bytes),
            _ => Self::Table(shares),
        })
    }

    /// The canonical JSON form.
    pub(crate) fn write(&self) -> Value {
        match self {
            Self::Fixed(bytes) => json!(bytes),
            Self::Range { min, max } => json!(format!("{min}-{max}")),
            Self::Table(shares) => {
                let entry = |(bytes, share): &(u64, f64)| (bytes.to_string(), number(*share));
                Value::Object(shares.iter().map(entry).collect::<Map<_, _>>())
            }
        }
    }

    /// As a person would write it.
    pub(crate) fn show(&self) -> String {
        let text = |bytes: &u64| units::bytes_to_text(*bytes);
        match self {
            Self::Fixed(bytes) => text(bytes),
            Self::Range { min, max } => format!("{}-{}", text(min), text(max)),
            Self::Table(shares) => {
                let entry = |(bytes, share): &(u64, f64)| format!("{}={share}", text(bytes));
                shares.iter().map(entry).collect::<Vec<_>>().join(",")
            }
        }
    }

    /// JSON Schema of the grammar.
    pub(crate) fn schema(range: Option<Range>) -> Value {
        let entry = format!("{SIZE_PATTERN}=[0-9.]+%?");
        let share = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 100 });
        json!({ "anyOf": [
            number_schema("integer", range, 1.0),
            { "type": "string", "pattern": format!("^({SIZE_PATTERN}(-{SIZE_PATTERN})?|{entry}(,{entry})*)$") },
            { "type": "object", "minProperties": 1, "propertyNames": { "pattern": format!("^{SIZE_PATTERN}$") },
              "additionalProperties": share },
        ] })
    }

    /// Smallest and largest size named.
    pub(crate) fn extremes(&self) -> Option<(f64, f64)> {
        let named = self.named();
        Some((*named.iter().min()? as f64, *named.iter().max()? as f64))
    }
}

/// One size; the range check decides whether it is sensible.
fn size(text: &str) -> Result<u64, WorkloadError> {
    Ok(units::bytes_from_text(text)?)
}

/// `4KiB=60,8KiB=40`.
fn shares_from_text(text: &str, grammar: Grammar) -> Result<Vec<(u64, f64)>, WorkloadError> {
    text.split(',')
        .map(|entry| {
            let wrong = || not_a(&json!(text), grammar.noun, grammar.advice);
            let (bytes, share) = entry.split_once('=').ok_or_else(wrong)?;
            Ok((size(bytes.trim())?, units::percent_from_text(share)?))
        })
        .collect()
}
