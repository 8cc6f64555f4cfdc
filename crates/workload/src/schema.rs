//! JSON Schema (draft 2020-12) of a workload file, derived from the declarations.
//!
//! Editors complete and check workload files with it. Limit: it knows each value by itself; what values may stand
//! together is checked when a workload is read.

use serde_json::{Map, Value, json};

use crate::option::{Fallback, Record};
use crate::workload::Workload;

/// JSON Schema of a workload file.
pub fn schema() -> Value {
    let mut schema = record_schema::<Workload>();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Plimsoll workload");
    schema
}

/// JSON Schema of a record: every option, and nothing else.
pub(crate) fn record_schema<R: Record>() -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for declaration in R::declarations() {
        let mut schema = declaration.schema;
        schema["description"] = json!(declaration.help);
        schema["examples"] = json!([example(declaration.example)]);
        match declaration.default {
            Fallback::Required(_) => required.push(declaration.key),
            Fallback::Is { json, .. } => schema["default"] = json,
            Fallback::Unset(_) => {}
        }
        properties.insert(declaration.key.to_owned(), schema);
    }
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

/// The example as it would stand in a file: JSON if it is JSON, otherwise text.
pub(crate) fn example(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}
