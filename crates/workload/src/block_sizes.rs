//! How long requests are, as typed: one size, a range, or a table of sizes with their shares.

use serde_json::{Map, Value, json};

use crate::error::{Problem, WorkloadError};
use crate::kind::{Bytes, Percent, SIZE_PATTERN, json_text, number, number_schema};
use crate::option::{Kind, Range, not_a};
use crate::units;

const ADVICE: &str = "write a size (4KiB), a range (4KiB-64KiB) or shares in percent (4KiB=60,8KiB=40)";

/// The sizes of one operation's requests.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockSizes {
    /// Always this many bytes.
    Fixed(u32),
    /// Uniform from the smallest to the largest in steps of the alignment.
    Range {
        /// Smallest size in bytes.
        min: u32,
        /// Largest size in bytes.
        max: u32,
    },
    /// (bytes, percent of the requests), by ascending size; the shares sum to 100.
    Table(Vec<(u32, f64)>),
}

impl BlockSizes {
    /// The sizes that are named: one, both ends of a range, or all of a table.
    pub fn named(&self) -> Vec<u32> {
        match self {
            Self::Fixed(bytes) => vec![*bytes],
            Self::Range { min, max } => vec![*min, *max],
            Self::Table(shares) => shares.iter().map(|(bytes, _)| *bytes).collect(),
        }
    }

    /// The largest size in bytes.
    pub fn largest(&self) -> u32 {
        self.named().into_iter().max().unwrap_or(0)
    }

    fn range(text: &str, low: &str, high: &str) -> Result<Self, WorkloadError> {
        let (min, max) = (size(low)?, size(high)?);
        if min > max {
            let advice = "write the smaller size first, for example 4KiB-64KiB".to_owned();
            return Err(Problem::NotA { found: format!("'{text}'"), expected: "a range of sizes", advice }.into());
        }
        Ok(if min == max { Self::Fixed(min) } else { Self::Range { min, max } })
    }

    fn table(shares: Vec<(u32, f64)>) -> Result<Self, WorkloadError> {
        let mut shares = shares;
        shares.sort_by_key(|(bytes, _)| *bytes);
        if let Some(twice) = shares.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let size = units::bytes_to_text(twice[0].0.into());
            return Err(WorkloadError::impossible(format!("the size {size} stands twice in the table; write it once")));
        }
        if let Some((bytes, share)) = shares.iter().find(|(_, share)| !(*share > 0.0 && *share <= 100.0)) {
            let size = units::bytes_to_text((*bytes).into());
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
}

/// One size; whether it is sensible is the range's matter, whether it fits 32 bits is ours.
fn size(text: &str) -> Result<u32, WorkloadError> {
    narrow(units::bytes_from_text(text)?)
}

fn narrow(bytes: u64) -> Result<u32, WorkloadError> {
    let out_of_range =
        || Problem::OutOfRange { found: units::bytes_to_text(bytes), least: "1B".into(), most: "1GiB".into() };
    Ok(u32::try_from(bytes).map_err(|_| out_of_range())?)
}

/// `4KiB=60,8KiB=40`.
fn shares_from_text(text: &str) -> Result<Vec<(u32, f64)>, WorkloadError> {
    text.split(',')
        .map(|entry| {
            let wrong = || not_a(&json!(text), BlockSizes::NOUN, ADVICE);
            let (bytes, share) = entry.split_once('=').ok_or_else(wrong)?;
            Ok((size(bytes.trim())?, units::percent_from_text(share)?))
        })
        .collect()
}

impl Kind for BlockSizes {
    const NOUN: &'static str = "a block size";
    const FORM: &'static str = "a size; a range `\"4KiB-64KiB\"`, uniform in steps of the alignment; or a table of \
        sizes with their shares in percent, `{ \"4KiB\" = 60, \"8KiB\" = 40 }`, on the command line \
        `4KiB=60,8KiB=40`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        match value {
            Value::Object(map) => {
                let share = |(bytes, share): (&String, &Value)| Ok((size(bytes)?, Percent::read(share)?.0));
                Self::table(map.iter().map(share).collect::<Result<_, WorkloadError>>()?)
            }
            Value::String(text) if text.trim_start().starts_with('{') => {
                let map = json_text(value).ok_or_else(|| not_a(value, Self::NOUN, ADVICE))?;
                Self::read(&map)
            }
            Value::String(text) if text.contains('=') => Self::table(shares_from_text(text)?),
            Value::String(text) => match text.split_once('-') {
                Some((low, high)) if !low.is_empty() => Self::range(text, low, high),
                _ => Ok(Self::Fixed(size(text)?)),
            },
            Value::Number(_) => Ok(Self::Fixed(narrow(Bytes::read(value)?.0)?)),
            _ => Err(not_a(value, Self::NOUN, ADVICE).into()),
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Fixed(bytes) => json!(bytes),
            Self::Range { min, max } => json!(format!("{min}-{max}")),
            Self::Table(shares) => {
                let entry = |(bytes, share): &(u32, f64)| (bytes.to_string(), number(*share));
                Value::Object(shares.iter().map(entry).collect::<Map<_, _>>())
            }
        }
    }

    fn show(&self) -> String {
        let text = |bytes: &u32| units::bytes_to_text((*bytes).into());
        match self {
            Self::Fixed(bytes) => text(bytes),
            Self::Range { min, max } => format!("{}-{}", text(min), text(max)),
            Self::Table(shares) => {
                let entry = |(bytes, share): &(u32, f64)| format!("{}={share}", text(bytes));
                shares.iter().map(entry).collect::<Vec<_>>().join(",")
            }
        }
    }

    fn schema(range: Option<Range>) -> Value {
        let entry = format!("{SIZE_PATTERN}=[0-9.]+%?");
        let share = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 100 });
        json!({ "anyOf": [
            number_schema("integer", range, 1.0),
            { "type": "string", "pattern": format!("^({SIZE_PATTERN}(-{SIZE_PATTERN})?|{entry}(,{entry})*)$") },
            { "type": "object", "minProperties": 1, "propertyNames": { "pattern": format!("^{SIZE_PATTERN}$") },
              "additionalProperties": share },
        ] })
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        let smallest = self.named().into_iter().min()?;
        Some((f64::from(smallest), f64::from(self.largest())))
    }

    fn show_bound(bound: f64) -> String {
        units::bytes_to_text(bound as u64)
    }
}
