//! The parts of a target that a stream uses, as typed and as placed.
//!
//! Model: a target of several parts written `concat:A,B,C` is their bytes one after the other, numbered from 0.
//! A stream with `parts` sees those alone, as if they were its whole target: regions, percentages and alignment count
//! from their first byte. Parts that follow each other are a range of the target, and the stream's addresses are moved
//! there (`base`), so that verification knows them. Other choices, and those that `parts_unit` stripes, are spread by
//! whoever issues the requests ([`Spread`]).
//!
//! Limits: only the parts of a concatenation can be chosen.

use std::ops::Range;

use serde_json::{Value, json};

use crate::error::WorkloadError;
use crate::kind::Bytes;
use crate::option::{Kind, Range as Bounds, not_a};
use crate::units::bytes_to_text;

/// The most parts that can be named.
const MOST_PARTS: usize = 4096;

/// Numbers of parts in the order in which they are used, no two alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartList(pub Vec<u32>);

impl Kind for PartList {
    const NOUN: &'static str = "a list of parts";
    const FORM: &'static str = "`0`, `\"0,2\"`, `\"1-3\"` or `[0, 2]`: numbers of a target's parts, counted from 0.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let wrong = || not_a(value, Self::NOUN, "write numbers from 0 on, for example \"0,2\" or \"1-3\"");
        let numbers = match value {
            Value::String(text) => from_text(text),
            Value::Array(list) => list.iter().map(number).collect(),
            other => number(other).map(|number| vec![number]),
        };
        let numbers: Vec<u32> =
            numbers.filter(|numbers| (1..=MOST_PARTS).contains(&numbers.len())).ok_or_else(wrong)?;
        if let Some(twice) = numbers.iter().enumerate().find(|(at, number)| numbers[..*at].contains(number)) {
            return Err(WorkloadError::impossible(format!("part {} stands twice in parts; name it once", twice.1)));
        }
        Ok(Self(numbers))
    }

    fn write(&self) -> Value {
        json!(self.0)
    }

    fn show(&self) -> String {
        self.0.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    }

    fn schema(_: Option<Bounds>) -> Value {
        let one = json!({ "type": "integer", "minimum": 0 });
        json!({ "anyOf": [one, { "type": "array", "minItems": 1, "items": one }, { "type": "string", "pattern": "^[0-9,\\- ]+$" }] })
    }
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn from_text(text: &str) -> Option<Vec<u32>> {
    if text.trim_start().starts_with('[') {
        let list: Vec<u32> = serde_json::from_str(text).ok()?;
        return Some(list);
    }
    let mut numbers = Vec::new();
    for word in text.split(',') {
        let parse = |digits: &str| digits.trim().parse::<u32>().ok();
        match word.split_once('-') {
            None => numbers.push(parse(word)?),
            Some((first, last)) => {
                let (first, last) = (parse(first)?, parse(last)?);
                if last < first || (last - first) as usize >= MOST_PARTS {
                    return None;
                }
                numbers.extend(first..=last);
            }
        }
    }
    Some(numbers)
}

/// Where the addresses of a stream with `parts` lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// Bytes of the target before the stream's address 0.
    pub base: u64,
    /// The parts that are used, where they follow each other; `None` = all, or those of `spread`.
    pub row: Option<Range<u32>>,
    /// How its addresses are spread where they are no range of the target.
    pub spread: Option<Spread>,
}

/// Parts that are no range of the target, or are used in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Number and size in bytes of each part, in the order of use.
    pub parts: Vec<(u32, u64)>,
    /// Bytes on one part before the next; `None` = a part is used up first.
    pub unit_bytes: Option<u32>,
    /// The bytes of the target that they are.
    pub ranges: Vec<Range<u64>>,
}

/// Where a stream's addresses lie on a concatenation whose parts end at `part_ends`, and how many bytes they are.
pub(crate) fn placed(list: &PartList, unit: Option<Bytes>, part_ends: &[u64]) -> Result<(Placed, u64), WorkloadError> {
    if part_ends.is_empty() {
        return Err(WorkloadError::impossible(
            "parts needs a target whose parts are known one by one; write the target as concat:A,B, or leave parts out"
                .to_owned(),
        ));
    }
    if let Some(beyond) = list.0.iter().find(|&&number| number as usize >= part_ends.len()) {
        return Err(WorkloadError::impossible(format!(
            "part {beyond} is not there: the target has parts 0 to {}",
            part_ends.len() - 1
        )));
    }
    let range = |number: u32| {
        let number = number as usize;
        if number == 0 { 0..part_ends[0] } else { part_ends[number - 1]..part_ends[number] }
    };
    let ranges: Vec<Range<u64>> = list.0.iter().map(|&number| range(number)).collect();
    let follows = ranges.windows(2).all(|pair| pair[0].end == pair[1].start);
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok((Placed::default(), 0)) };
    if follows && (unit.is_none() || ranges.len() == 1) {
        let row = list.0[0]..list.0[0] + list.0.len() as u32;
        return Ok((Placed { base: first.start, row: Some(row), spread: None }, last.end - first.start));
    }
    let sizes = ranges.iter().map(|range| range.end - range.start);
    let parts: Vec<(u32, u64)> = list.0.iter().copied().zip(sizes).collect();
    let size_bytes = match unit {
        None => parts.iter().map(|(_, size)| size).sum(),
        Some(Bytes(unit)) => parts.iter().map(|(_, size)| size / unit).min().unwrap_or(0) * unit * parts.len() as u64,
    };
    if let Some(unit) = unit.filter(|_| size_bytes == 0) {
        return Err(WorkloadError::impossible(format!(
            "no part has room for one parts_unit of {}; choose a smaller one",
            bytes_to_text(unit.0)
        )));
    }
    let unit_bytes = unit.map(|unit| unit.0 as u32);
    Ok((Placed { base: 0, row: None, spread: Some(Spread { parts, unit_bytes, ranges }) }, size_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<Vec<u32>, String> {
        PartList::read(&value).map(|list| list.0).map_err(|error| error.to_string())
    }

    #[test]
    fn parts_are_numbers_lists_and_ranges() {
        assert_eq!(read(json!(3)), Ok(vec![3]));
        assert_eq!(read(json!([2, 0])), Ok(vec![2, 0]));
        assert_eq!(read(json!("[2, 0]")), Ok(vec![2, 0]));
        assert_eq!(read(json!("0, 2-4")), Ok(vec![0, 2, 3, 4]));
        for wrong in
            [json!(-1), json!(1.5), json!([]), json!(""), json!("a"), json!("4-2"), json!("0-99999999"), json!(null)]
        {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(read(json!("1,0-2")).is_err_and(|problem| problem.contains("part 1 stands twice")));
    }

    #[test]
    fn parts_in_a_row_are_a_range_and_others_are_spread() {
        let ends = [100, 300, 600];
        let list = |numbers: &[u32]| PartList(numbers.to_vec());
        assert_eq!(placed(&list(&[1, 2]), None, &ends), Ok((Placed { base: 100, row: Some(1..3), spread: None }, 500)));
        let (alone, size) = placed(&list(&[2]), Some(Bytes(50)), &ends).expect("one part needs no stripe");
        assert_eq!((alone, size), (Placed { base: 300, row: Some(2..3), spread: None }, 300));
        let (apart, size) = placed(&list(&[2, 0]), None, &ends).expect("parts in any order");
        let spread = Spread { parts: vec![(2, 300), (0, 100)], unit_bytes: None, ranges: vec![300..600, 0..100] };
        assert_eq!((apart, size), (Placed { base: 0, row: None, spread: Some(spread) }, 400));
        let (striped, size) = placed(&list(&[0, 1]), Some(Bytes(60)), &ends).expect("a stripe of whole units");
        assert_eq!((striped.spread.and_then(|spread| spread.unit_bytes), size), (Some(60), 120));
        let sentence = |numbers, unit| placed(&list(numbers), unit, &ends).expect_err("refused").to_string();
        assert!(sentence(&[3], None).contains("the target has parts 0 to 2"));
        assert!(sentence(&[0, 1], Some(Bytes(101))).contains("no part has room"));
        assert!(placed(&list(&[0]), None, &[]).is_err());
    }
}
