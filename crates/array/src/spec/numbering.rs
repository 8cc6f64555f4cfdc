//! Devices by their numbers over all sets: what the names in a list stand for.

use super::layout::DeviceSet;
use super::members::Members;

impl Members {
    /// The devices' numbers over all sets, in the order of the list.
    ///
    /// # Errors
    /// A sentence about the first name that no device set has.
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
