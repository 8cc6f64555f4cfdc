//! A number for each task, as typed: how often a day, or how much it weighs.

use serde_json::{Map, Value, json};

use crate::error::WorkloadError;
use crate::kind::{json_text, number};
use crate::mail::task::MailTask;
use crate::option::{Kind, Range, not_a};
use crate::words::not_a_word;

const ADVICE: &str = "write numbers by task (read=80,send=15)";

/// A number above 0 of each task that is named; 0 for the others. Indexed by [`MailTask`].
#[derive(Clone, Debug, PartialEq)]
pub struct TaskTable(pub [f64; MailTask::COUNT]);

impl TaskTable {
    /// The number of one task.
    pub const fn of(&self, task: MailTask) -> f64 {
        self.0[task as usize]
    }

    /// Tasks that have a number.
    pub fn named(&self) -> impl Iterator<Item = MailTask> + '_ {
        MailTask::ALL.into_iter().filter(|task| self.of(*task) > 0.0)
    }

    fn table(entries: impl Iterator<Item = Result<(String, f64), WorkloadError>>) -> Result<Self, WorkloadError> {
        let mut numbers = [0.0; MailTask::COUNT];
        for entry in entries {
            let (word, number) = entry?;
            let unknown = || not_a_word(&json!(word), "a task", &MailTask::NAMES);
            let task = MailTask::named(&word).ok_or_else(unknown)?;
            if !(number > 0.0 && number <= 1e6) {
                return Err(WorkloadError::impossible(format!(
                    "{word} is {number}; write a number above 0 and up to 1000000, or leave the task out"
                )));
            }
            if numbers[task as usize] > 0.0 {
                return Err(WorkloadError::impossible(format!("the task {word} stands twice; write it once")));
            }
            numbers[task as usize] = number;
        }
        if numbers.iter().all(|number| *number <= 0.0) {
            return Err(WorkloadError::impossible(
                "no task is named; write at least one, for example read=80".to_owned(),
            ));
        }
        Ok(Self(numbers))
    }
}

/// `read=80`.
fn entry(text: &str, entry: &str) -> Result<(String, f64), WorkloadError> {
    let wrong = || WorkloadError::from(not_a(&json!(text), TaskTable::NOUN, ADVICE));
    let (word, number) = entry.split_once('=').ok_or_else(wrong)?;
    Ok((word.trim().to_owned(), number.trim().parse().map_err(|_| wrong())?))
}

impl Kind for TaskTable {
    const NOUN: &'static str = "a table of tasks";
    const FORM: &'static str = "numbers by task, `{ read = 80, send = 15 }`, on the command line `read=80,send=15`; tasks are `login \
        check-inbox read send reply reply-all forward move delete search calendar resolve`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let wrong = || WorkloadError::from(not_a(value, Self::NOUN, ADVICE));
        match value {
            Value::Object(map) => {
                let number = |(word, number): (&String, &Value)| Ok((word.clone(), number.as_f64().ok_or_else(wrong)?));
                Self::table(map.iter().map(number))
            }
            Value::String(text) if text.trim_start().starts_with('{') => {
                Self::read(&json_text(value).ok_or_else(wrong)?)
            }
            Value::String(text) => Self::table(text.split(',').map(|part| entry(text, part))),
            _ => Err(wrong()),
        }
    }

    fn write(&self) -> Value {
        let entry = |task: MailTask| (task.name().to_owned(), number(self.of(task)));
        Value::Object(self.named().map(entry).collect::<Map<_, _>>())
    }

    fn show(&self) -> String {
        self.named().map(|task| format!("{}={}", task.name(), self.of(task))).collect::<Vec<_>>().join(",")
    }

    fn schema(_: Option<Range>) -> Value {
        let each = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1e6 });
        let word = MailTask::NAMES.join("|");
        json!({ "anyOf": [
            { "type": "string", "pattern": format!("^({word})=[0-9.]+(,({word})=[0-9.]+)*$") },
            { "type": "object", "minProperties": 1, "propertyNames": { "enum": MailTask::NAMES },
              "additionalProperties": each },
        ] })
    }
}
