//! Names of trees, as typed: one, or a list.

use serde_json::{Value, json};

use crate::error::WorkloadError;
use crate::kind::json_text;
use crate::option::{Kind, Range, not_a};

const ADVICE: &str = "write a tree's name, or a list of names such as [\"inbox\", \"archive\"]";

/// Names of trees in the order given, at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Names(pub Vec<String>);

impl Kind for Names {
    const NOUN: &'static str = "a name or a list of names";
    const FORM: &'static str = "`\"inbox\"`, `[\"inbox\", \"archive\"]`, on the command line `inbox,archive`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let wrong = || WorkloadError::from(not_a(value, Self::NOUN, ADVICE));
        match value {
            Value::Array(list) if !list.is_empty() => {
                let name = |name: &Value| name.as_str().map(str::to_owned).ok_or_else(wrong);
                Ok(Self(list.iter().map(name).collect::<Result<_, _>>()?))
            }
            Value::String(text) if text.trim_start().starts_with('[') => {
                Self::read(&json_text(value).ok_or_else(wrong)?)
            }
            Value::String(text) => Ok(Self(text.split(',').map(|name| name.trim().to_owned()).collect())),
            _ => Err(wrong()),
        }
    }

    fn write(&self) -> Value {
        match self.0.as_slice() {
            [only] => json!(only),
            several => json!(several),
        }
    }

    fn show(&self) -> String {
        self.0.join(",")
    }

    fn schema(_: Option<Range>) -> Value {
        json!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "minItems": 1, "items": { "type": "string" } },
        ] })
    }
}
