//! The `?key=value&key=value` tail of a target specification.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use plimsoll_workload::nearest::did_you_mean;
use plimsoll_workload::units::{bytes_from_text, bytes_to_text};

use super::SpecProblem;

/// Sizes a modelled target may have.
pub(super) const SIZE_RANGE: RangeInclusive<u64> = 4096..=1 << 60;

/// An option: its key, and what takes its value or says why not.
pub(super) type Setter<'a> = (&'static str, &'a mut dyn FnMut(&str) -> Result<(), String>);

/// Splits `paths?options`.
pub(super) fn split(text: &str) -> (&str, &str) {
    text.split_once('?').unwrap_or((text, ""))
}

/// Hands every option to its setter.
pub(super) fn read(text: &str, setters: &mut [Setter<'_>]) -> Result<(), SpecProblem> {
    let mut seen = HashSet::new();
    for option in text.split('&').filter(|option| !option.is_empty()) {
        let (key, value) =
            option.split_once('=').ok_or_else(|| SpecProblem::NotAnOption { text: option.to_owned() })?;
        if !seen.insert(key) {
            return Err(SpecProblem::OptionTwice { key: key.to_owned() });
        }
        let Some((key, set)) = setters.iter_mut().find(|(name, _)| *name == key) else {
            let known: Vec<_> = setters.iter().map(|(name, _)| *name).collect();
            return Err(unknown(key, &known));
        };
        set(value).map_err(|reason| SpecProblem::Value { key, reason })?;
    }
    Ok(())
}

fn unknown(key: &str, known: &[&str]) -> SpecProblem {
    let list = if known.is_empty() { "no options".to_owned() } else { known.join(", ") };
    SpecProblem::UnknownOption { key: key.to_owned(), hint: did_you_mean(key, known.iter().copied()), known: list }
}

/// A size inside `range`.
pub(super) fn bytes(value: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let size = bytes_from_text(value).map_err(|problem| problem.to_string())?;
    if range.contains(&size) {
        return Ok(size);
    }
    let (least, most) = (bytes_to_text(*range.start()), bytes_to_text(*range.end()));
    Err(format!("{} is out of range; write {least} to {most}", bytes_to_text(size)))
}
