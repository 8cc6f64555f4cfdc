//! Names of devices in lists: `disk` is a whole set, `disk[3]` one device of it, `disk[0-11]` several.

use plimsoll_workload::WorkloadError;
use plimsoll_workload::option::{Kind, Range};
use serde_json::Value;

use super::layout::DeviceSet;

/// A list of names of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(pub Vec<String>);

impl Kind for Members {
    const NOUN: &'static str = "a list of names";
    const FORM: &'static str = "`[\"disk\"]` for a whole set, `[\"disk[3]\", \"disk[5-7]\"]` for some of it.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        Vec::<String>::read_exact(value).map(Self)
    }

    fn write(&self) -> Value {
        self.0.write()
    }

    fn show(&self) -> String {
        self.0.show()
    }

    fn schema(range: Option<Range>) -> Value {
        Vec::<String>::schema(range)
    }
}

impl Members {
    /// The devices' numbers over all sets, in the order of the list.
    ///
    /// # Errors
    /// A sentence about the first name that stands for nothing.
    pub fn numbers(&self, sets: &[DeviceSet]) -> Result<Vec<u16>, String> {
        let mut numbers = Vec::new();
        for text in &self.0 {
            numbers.extend(resolved(text, sets)?);
        }
        Ok(numbers)
    }
}

fn resolved(text: &str, sets: &[DeviceSet]) -> Result<std::ops::Range<u16>, String> {
    let (name, range) = match text.split_once('[') {
        None => (text, None),
        Some((name, rest)) => (name, Some(rest)),
    };
    let mut first = 0;
    let Some(set) = sets.iter().find(|set| {
        let found = set.name == name;
        first += if found { 0 } else { set.count };
        found
    }) else {
        return Err(format!("there are no devices `{name}`"));
    };
    let Some(range) = range else { return Ok(first..first + set.count) };
    let inner = range.strip_suffix(']').unwrap_or(range);
    let (from, to) = inner.split_once('-').unwrap_or((inner, inner));
    match (from.parse::<u16>(), to.parse::<u16>()) {
        (Ok(from), Ok(to)) if from <= to && to < set.count => Ok(first + from..first + to + 1),
        _ => Err(format!("`{text}` is no part of `{name}`, which has the devices 0 to {}", set.count - 1)),
    }
}
