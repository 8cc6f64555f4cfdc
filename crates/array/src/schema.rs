//! JSON Schema (draft 2020-12) of an array file, derived from the declarations.
//!
//! Model: a file is a document of an array with some things more: it can follow from another (`like`), take parts, leave out
//! what it has from there, and say where its values come from. What it does not give may come from elsewhere, so nothing is
//! required but the names by which tables are merged. Limit: what is in enclosures and overlays is not looked into.

use plimsoll_workload::option::record_schema;
use serde_json::{Map, Value, json};

use crate::spec::ArraySpec;

/// JSON Schema of an array file.
pub fn schema() -> Value {
    let mut schema = record_schema::<ArraySpec>();
    open(&mut schema);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Plimsoll array");
    for (key, mut kind, description) in of_files() {
        kind["description"] = json!(description);
        schema["properties"][key] = kind;
    }
    schema["properties"]["devices"]["items"]["properties"]["in"] =
        json!({ "type": "string", "description": "The enclosure that they stand in." });
    schema
}

/// Keys of a file that are gone once the document is put together.
fn of_files() -> [(&'static str, Value, &'static str); 7] {
    let tables = json!({ "type": "array", "items": { "type": "object" } });
    let count = json!({ "type": "integer", "minimum": 1 });
    let variants = json!({
        "type": "object", "additionalProperties": false, "properties": { "name": { "type": "string" }, "left_out": tables },
    });
    let shared = json!({ "type": "object", "additionalProperties": count });
    [
        (
            "like",
            json!({ "type": "string" }),
            "The array that this one follows from: a name, or a file beside this one.",
        ),
        ("enclosure", tables.clone(), "Enclosures that devices stand in, each with a part."),
        ("copies", count, "How many such arrays stand behind the host."),
        ("shared", shared, "Links that the copies use together, each with how many there are."),
        ("variants", variants, "The pattern of the names of a family, and the combinations that do not exist."),
        (
            "axis",
            json!({ "type": "object" }),
            "What differs between the arrays of a family: an overlay for each value.",
        ),
        ("combined", tables, "Overlays where several values are chosen together."),
    ]
}

/// Lets every table take its values from elsewhere, and say where they come from.
fn open(schema: &mut Value) {
    if let Some(tables) = schema.get_mut("oneOf").and_then(Value::as_array_mut).map(std::mem::take) {
        let mut tables: Vec<Value> = tables;
        tables.iter_mut().for_each(open_table);
        // Where the word is not given, that of the part or of the array that this one is like counts.
        tables.push(json!({ "type": "object", "not": { "required": ["kind"] } }));
        let Some(map) = schema.as_object_mut() else { return };
        map.remove("oneOf");
        map.insert("anyOf".to_owned(), Value::Array(tables));
    } else if schema["type"] == "object" {
        open_table(schema);
    } else if let Some(items) = schema.get_mut("items") {
        open(items);
    }
}

fn open_table(schema: &mut Value) {
    let is_named = schema["properties"].get("name").is_some() && schema["properties"].get("tags").is_none();
    let kind = schema["properties"].get("kind").is_some();
    schema["required"] = if is_named {
        json!(["name"])
    } else if kind {
        json!(["kind"])
    } else {
        json!([])
    };
    let Some(properties) = schema["properties"].as_object_mut() else { return };
    properties.values_mut().for_each(open);
    properties.extend(extras());
}

/// What may stand in every table.
fn extras() -> Map<String, Value> {
    let text = json!({ "type": "string" });
    let sources = json!({
        "type": "object", "additionalProperties": text, "description": "Where the values beside it come from, by key.",
    });
    let part = json!({ "type": "string", "description": "The part that values not given here are taken from." });
    let absent = json!({ "type": "boolean", "description": "Leaves out what the array that this one is like has." });
    [("sources", sources), ("part", part), ("absent", absent)]
        .map(|(key, kind)| (key.to_owned(), kind))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::option::Record;

    use super::*;

    #[test]
    fn tables_require_their_names_only_and_take_sources() {
        let schema = schema();
        let link = &schema["properties"]["link"]["items"];
        assert_eq!((&link["required"], &schema["required"]), (&json!(["name"]), &json!([])));
        assert_eq!(link["properties"]["sources"]["type"], "object");
        assert_eq!(
            schema["properties"]["devices"]["items"]["properties"]["model"]["anyOf"].as_array().map(Vec::len),
            Some(3)
        );
        assert_eq!(ArraySpec::required().count(), 5);
    }
}
