//! What a deserializer says of a document, as a sentence: where, what is wrong, what would be right.
//!
//! Model: the deserializer names types of the program; people write numbers, texts and tables. What a device is depends on its
//! `kind`, and the deserializer loses the key while it looks for it: so models of devices are read once by themselves.

use plimsoll_workload::nearest::did_you_mean;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::disk::DiskSpec;
use crate::flash::FlashSpec;

const KINDS: &str = "write \"disk\" or \"flash\"";

/// What the deserializer expects, by how that begins, and what people write. Longer beginnings stand before those that they begin with.
const TYPES: [(&str, &str); 16] = [
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number from 0 on"),
    ("usize", "a whole number from 0 on"),
    ("u8", "a whole number from 0 to 255"),
    ("f64", "a number"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a string", "a text"),
    // One of several words.
    ("string or map", "a text"),
    ("map with a single key", "a text"),
    ("variant identifier", "a text"),
    ("a map", "a table"),
    ("map", "a table"),
    ("struct ", "a table"),
    ("internally tagged enum ", "a table"),
];

/// Reads a document, or says what is wrong with it.
pub(super) fn read<T: DeserializeOwned>(document: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(document).map_err(|error| {
        let place = place(document, error.path());
        let sentence = sentence(&error.into_inner().to_string());
        if place.is_empty() { sentence } else { format!("{place}: {sentence}") }
    })
}

/// Where it is: entries of lists by their names, as they are written after the `?` of a target, or by their numbers.
fn place(document: &Value, path: &serde_path_to_error::Path) -> String {
    let mut place = String::new();
    let mut value = Some(document);
    for step in path {
        let word = match step {
            Segment::Seq { index } => {
                value = value.and_then(|list| list.get(index));
                let name = value.and_then(|entry| entry.get("name")).and_then(Value::as_str);
                let Some(name) = name else {
                    place += &format!("[{index}]");
                    continue;
                };
                name
            }
            Segment::Map { key } => {
                value = value.and_then(|table| table.get(key));
                key
            }
            Segment::Enum { variant } => variant,
            Segment::Unknown => continue,
        };
        let dot = if place.is_empty() { "" } else { "." };
        place += &format!("{dot}{word}");
    }
    place
}

/// Reads the models of devices, each as what its `kind` says.
pub(super) fn check_models(document: &Value) -> Result<(), String> {
    let sets = document.get("devices").and_then(Value::as_array);
    for (number, set) in sets.into_iter().flatten().enumerate() {
        let Some(model) = set.get("model").and_then(Value::as_object) else { continue };
        let name = set.get("name").and_then(Value::as_str).map_or_else(|| number.to_string(), str::to_owned);
        let mut values = model.clone();
        let kind = values.remove("kind");
        let values = Value::Object(values);
        match kind.as_ref().and_then(Value::as_str) {
            Some("disk") => read::<DiskSpec>(&values).map(drop),
            Some("flash") => read::<FlashSpec>(&values).map(drop),
            Some(other) => Err(format!("kind: `{other}` is no kind of device; {KINDS}")),
            None => Err(format!("kind: the key is missing, or is no text; {KINDS}")),
        }
        .map_err(|problem| format!("devices.{name}.model.{problem}"))?;
    }
    Ok(())
}

fn sentence(said: &str) -> String {
    if let Some(field) = said.strip_prefix("missing field ") {
        return format!("the key {field} is missing; give it a value");
    }
    if let Some(rest) = said.strip_prefix("unknown field `") {
        return unknown(rest, "key", "there are", |name| format!("`{name}`"));
    }
    if let Some(rest) = said.strip_prefix("unknown variant `") {
        return unknown(rest, "value of this key", "write one of", |name| format!("\"{name}\""));
    }
    let Some((found, expected)) = said.rsplit_once(", expected ") else { return said.to_owned() };
    let Some((_, wanted)) = TYPES.iter().find(|(name, _)| expected.starts_with(name)) else { return said.to_owned() };
    let found = match found.split_once(": ").map_or(found, |(_, found)| found) {
        "map" => "a table",
        // Of a list that stands for a table, its length is told.
        found if found == "sequence" || found.starts_with("invalid length") => "a list",
        found => found,
    };
    format!("{found} is given; write {wanted}")
}

/// Of a word that nothing is called, and the words that there are: `coers`, expected one of `mode`, `cores`.
fn unknown(rest: &str, noun: &str, before: &str, shown: impl Fn(&str) -> String) -> String {
    let (word, known) = rest.split_once('`').unwrap_or((rest, ""));
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let hint = did_you_mean(word, known.iter().copied());
    let known: Vec<String> = known.into_iter().map(shown).collect();
    format!("`{word}` is no {noun}{hint}; {before} {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_of_the_program_become_sentences() {
        for (said, told) in [
            ("invalid type: string \"many\", expected u64", "string \"many\" is given; write a whole number from 0 on"),
            (
                "invalid value: integer `-1`, expected u16",
                "integer `-1` is given; write a whole number from 0 to 65535",
            ),
            ("invalid type: map, expected a string", "a table is given; write a text"),
            ("invalid type: boolean `true`, expected struct CacheSpec", "boolean `true` is given; write a table"),
            ("invalid length 0, expected struct CacheSpec with 12 elements", "a list is given; write a table"),
            ("invalid type: integer `1`, expected string or map", "integer `1` is given; write a text"),
            ("missing field `name`", "the key `name` is missing; give it a value"),
            (
                "unknown field `coers`, expected one of `mode`, `cores`",
                "`coers` is no key (did you mean `cores`?); there are `mode`, `cores`",
            ),
            (
                "unknown variant `bufered`, expected `direct` or `buffered`",
                "`bufered` is no value of this key (did you mean `buffered`?); write one of \"direct\", \"buffered\"",
            ),
        ] {
            assert_eq!(sentence(said), told);
        }
    }

    #[test]
    fn what_is_wrong_with_a_model_is_told_with_its_key() {
        let told =
            |model: Value| check_models(&json!({ "devices": [{ "name": "disk", "model": model }] })).unwrap_err();
        assert_eq!(
            told(json!({})),
            "devices.disk.model.kind: the key is missing, or is no text; write \"disk\" or \"flash\""
        );
        assert_eq!(
            told(json!({ "kind": "dsk" })),
            "devices.disk.model.kind: `dsk` is no kind of device; write \"disk\" or \"flash\""
        );
        let much = told(json!({ "kind": "disk", "capacity_bytes": "much" }));
        assert_eq!(much, "devices.disk.model.capacity_bytes: string \"much\" is given; write a whole number from 0 on");
        let channel = told(json!({ "kind": "flash", "channel": 1 }));
        assert!(
            channel
                .starts_with("devices.disk.model.channel: `channel` is no key (did you mean `channels`?); there are ")
        );
    }
}
