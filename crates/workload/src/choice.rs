//! Tables whose options follow from a word in them, as `kind = "disk"` says what else a model has.

use serde_json::{Value, json};

use crate::error::{Problem, WorkloadError};
use crate::option::{Record, not_a, record_schema};
use crate::words::{alternatives, not_a_word};

/// The word of a table, and the rest of it.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// One of the words.
    pub word: &'static str,
    /// The table without the word.
    pub rest: Value,
}

/// Finds out which of the `words` the key `tag` of a table says.
///
/// # Errors
/// If it is no table, or the key says none of them.
pub fn chosen(
    value: &Value,
    tag: &'static str,
    noun: &'static str,
    words: &[&'static str],
) -> Result<Chosen, WorkloadError> {
    let Value::Object(table) = value else {
        return Err(not_a(value, "a table", format!("its key '{tag}' says which options it has")).into());
    };
    let mut rest = table.clone();
    let Some(found) = rest.remove(tag) else {
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
        return Err(Problem::MissingWord { key: tag, advice: format!("write {}", alternatives(&quoted)) }.into());
    };
    match words.iter().find(|word| found.as_str() == Some(word)) {
        Some(word) => Ok(Chosen { word, rest: Value::Object(rest) }),
        None => Err(not_a_word(&found, noun, words).within(tag)),
    }
}

/// The canonical JSON of a record with its word.
pub fn written<R: Record>(record: &R, tag: &'static str, word: &'static str) -> Value {
    let mut table = record.write_record();
    table[tag] = json!(word);
    table
}

/// JSON Schema of a record with its word.
pub fn schema<R: Record>(tag: &'static str, word: &'static str) -> Value {
    let mut schema = record_schema::<R>();
    schema["properties"][tag] = json!({ "const": word });
    if let Some(required) = schema["required"].as_array_mut() {
        required.insert(0, json!(tag));
    }
    schema
}
