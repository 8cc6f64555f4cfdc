//! What a deserializer says of a document, as a sentence: where, what is wrong, what would be right.
//!
//! Model: the deserializer names types of the program; people write numbers, texts and tables. What a device is depends on its
//! `kind`, and the deserializer loses the key while it looks for it: so models of devices are read once by themselves.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::disk::DiskSpec;
use crate::flash::FlashSpec;

const KINDS: &str = "write \"disk\" or \"flash\"";

/// Types of the program, and what people call their values. Longer names stand before those that they begin with.
const TYPES: [(&str, &str); 9] = [
    ("u16", "a whole number up to 65535"),
    ("u32", "a whole number up to 4294967295"),
    ("u64", "a whole number"),
    ("usize", "a whole number"),
    ("u8", "a whole number up to 255"),
    ("f64", "a number"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a string", "a text"),
];

/// Reads a document, or says what is wrong with it.
pub(super) fn read<T: DeserializeOwned>(document: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(document).map_err(|error| {
        let path = error.path().to_string();
        let sentence = sentence(&error.into_inner().to_string());
        if path == "." { sentence } else { format!("{path}: {sentence}") }
    })
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
            Some("disk") => read::<DiskSpec>(values).map(drop),
            Some("flash") => read::<FlashSpec>(values).map(drop),
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
    let Some((found, expected)) = said.rsplit_once(", expected ") else { return said.to_owned() };
    let Some((_, wanted)) = TYPES.iter().find(|(name, _)| expected == *name) else { return said.to_owned() };
    let found = found.split_once(": ").map_or(found, |(_, found)| found);
    format!("{found} is given; write {wanted}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_of_the_program_become_words() {
        assert_eq!(
            sentence("invalid type: string \"many\", expected u64"),
            "string \"many\" is given; write a whole number"
        );
        assert_eq!(sentence("missing field `name`"), "the key `name` is missing; give it a value");
        let unknown = "unknown field `coers`, expected one of `mode`, `cores`";
        assert_eq!(sentence(unknown), unknown);
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
        assert_eq!(much, "devices.disk.model.capacity_bytes: string \"much\" is given; write a whole number");
        assert!(
            told(json!({ "kind": "flash", "channel": 1 })).starts_with("devices.disk.model.channel: unknown field")
        );
    }
}
