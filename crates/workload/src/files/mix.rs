//! Which operations a stream performs, as typed: one word, or a table of operations with their shares.

use serde_json::{Map, Value, json};

use crate::error::WorkloadError;
use crate::files::operation::FileOp;
use crate::kind::{Percent, json_text, number};
use crate::option::{Kind, Range, not_a};
use crate::units;
use crate::words::not_a_word;

const ADVICE: &str = "write an operation (read) or shares in percent (read=70,write=30)";

/// Percent of each operation, indexed by [`FileOp`]; sums to 100.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationMix(pub [f64; FileOp::COUNT]);

impl OperationMix {
    /// Nothing but one operation.
    pub fn only(op: FileOp) -> Self {
        let mut percent = [0.0; FileOp::COUNT];
        percent[op as usize] = 100.0;
        Self(percent)
    }

    /// Percent of one operation.
    pub const fn percent(&self, op: FileOp) -> f64 {
        self.0[op as usize]
    }

    /// Operations that occur.
    pub fn occurring(&self) -> impl Iterator<Item = FileOp> + '_ {
        FileOp::ALL.into_iter().filter(|op| self.percent(*op) > 0.0)
    }

    fn table(shares: impl Iterator<Item = Result<(String, f64), WorkloadError>>) -> Result<Self, WorkloadError> {
        let mut percent = [0.0; FileOp::COUNT];
        for entry in shares {
            let (word, share) = entry?;
            let op = operation(&word)?;
            if !(share > 0.0 && share <= 100.0) {
                return Err(WorkloadError::impossible(format!(
                    "the share of {word} is {share}; write a percentage above 0, or leave the operation out"
                )));
            }
            if percent[op as usize] > 0.0 {
                return Err(WorkloadError::impossible(format!(
                    "the operation {word} stands twice in the table; write it once"
                )));
            }
            percent[op as usize] = share;
        }
        let sum: f64 = percent.iter().sum();
        if (sum - 100.0).abs() > 1e-6 {
            return Err(WorkloadError::impossible(format!(
                "the shares of the operations sum to {}; they must sum to 100",
                units::number_to_text((sum * 1e6).round() / 1e6)
            )));
        }
        Ok(Self(percent))
    }
}

fn operation(word: &str) -> Result<FileOp, WorkloadError> {
    FileOp::named(word).ok_or_else(|| not_a_word(&json!(word), "an operation", &FileOp::NAMES))
}

/// `read=70`.
fn entry(text: &str, entry: &str) -> Result<(String, f64), WorkloadError> {
    let (word, share) = entry.split_once('=').ok_or_else(|| not_a(&json!(text), OperationMix::NOUN, ADVICE))?;
    Ok((word.trim().to_owned(), units::percent_from_text(share)?))
}

impl Kind for OperationMix {
    const NOUN: &'static str = "an operation or a table of operations";
    const FORM: &'static str = "one of `read write flush create open close access stat setattr rename copy move delete \
        mkdir rmdir deliver`; or a table of them with their shares in percent, `{ read = 70, write = 30 }`, on the command \
        line `read=70,write=30`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        match value {
            Value::Object(map) => Self::table(map.iter().map(|(op, share)| Ok((op.clone(), Percent::read(share)?.0)))),
            Value::String(text) if text.trim_start().starts_with('{') => {
                Self::read(&json_text(value).ok_or_else(|| not_a(value, Self::NOUN, ADVICE))?)
            }
            Value::String(text) if text.contains('=') => Self::table(text.split(',').map(|part| entry(text, part))),
            Value::String(text) => operation(text.trim()).map(Self::only),
            _ => Err(not_a(value, Self::NOUN, ADVICE).into()),
        }
    }

    fn write(&self) -> Value {
        match self.occurring().collect::<Vec<_>>().as_slice() {
            [only] => json!(only.name()),
            several => {
                let share = |op: &FileOp| (op.name().to_owned(), number(self.percent(*op)));
                Value::Object(several.iter().map(share).collect::<Map<_, _>>())
            }
        }
    }

    fn show(&self) -> String {
        match self.occurring().collect::<Vec<_>>().as_slice() {
            [only] => only.name().to_owned(),
            several => {
                let share = |op: &FileOp| format!("{}={}", op.name(), self.percent(*op));
                several.iter().map(share).collect::<Vec<_>>().join(",")
            }
        }
    }

    fn schema(_: Option<Range>) -> Value {
        let share = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 100 });
        let word = FileOp::NAMES.join("|");
        json!({ "anyOf": [
            { "enum": FileOp::NAMES },
            { "type": "string", "pattern": format!("^({word})=[0-9.]+%?(,({word})=[0-9.]+%?)*$") },
            { "type": "object", "minProperties": 1, "propertyNames": { "enum": FileOp::NAMES },
              "additionalProperties": share },
        ] })
    }
}
