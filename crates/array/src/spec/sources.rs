//! Where values come from: a table `sources` beside the values of a table, with the same keys.
//!
//! ```toml
//! [[link]]
//! name = "u320"
//! rate_bytes_per_s = 320_000_000
//! efficiency_percent = 87
//! sources = { rate_bytes_per_s = "HP SAS brief (2006)", efficiency_percent = "from memory" }
//! ```
//!
//! Model: before a document is read, every such table is taken out and kept as a list of (path, source), so that the
//! structures hold values only and no source is lost. A source whose key is not there is refused: it would be the source of
//! something else tomorrow. The path of a table in a list uses its name: `link.u320.rate_bytes_per_s`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A structure with the sources of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced<T> {
    /// The values.
    pub spec: T,
    /// Where each comes from, in the order of the document.
    pub sources: Vec<Source>,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The value's place: keys and names, joined by dots.
    pub path: String,
    /// A publication, or *from memory*, *assumed*, *derived*.
    pub source: String,
}

const KEY: &str = "sources";

/// The document without its tables of sources, and those as a list.
///
/// # Errors
/// A sentence when a source is no text or belongs to nothing.
pub(super) fn set_apart(document: &Value) -> Result<(Value, Vec<Source>), String> {
    let mut sources = Vec::new();
    let plain = walk(document, "", &mut sources)?;
    Ok((plain, sources))
}

fn walk(value: &Value, path: &str, sources: &mut Vec<Source>) -> Result<Value, String> {
    match value {
        Value::Object(table) => walk_table(table, path, sources).map(Value::Object),
        Value::Array(list) => {
            let step = |(number, item): (usize, &Value)| {
                let name = item.get("name").and_then(Value::as_str).map_or_else(|| number.to_string(), str::to_owned);
                walk(item, &joined(path, &name), sources)
            };
            list.iter().enumerate().map(step).collect::<Result<_, _>>().map(Value::Array)
        }
        other => Ok(other.clone()),
    }
}

fn walk_table(table: &Map<String, Value>, path: &str, out: &mut Vec<Source>) -> Result<Map<String, Value>, String> {
    if let Some(found) = table.get(KEY) {
        let found = found.as_object().ok_or_else(|| {
            format!("{}: a table with a text per key of its neighbours is expected", joined(path, KEY))
        })?;
        for (key, source) in found {
            let place = joined(path, key);
            if !table.contains_key(key) {
                return Err(format!("{}: there is no key `{key}` beside it", joined(&joined(path, KEY), key)));
            }
            let Some(source) = source.as_str() else {
                return Err(format!("{}: a text is expected", joined(&joined(path, KEY), key)));
            };
            out.push(Source { path: place, source: source.to_owned() });
        }
    }
    let rest = table.iter().filter(|(key, _)| *key != KEY);
    rest.map(|(key, value)| Ok((key.clone(), walk(value, &joined(path, key), out)?))).collect()
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sources_are_taken_out_with_the_path_of_their_value() {
        let document = json!({
            "host": { "request_ns": 4, "sources": { "request_ns": "assumed" } },
            "link": [{ "name": "fc", "rate_bytes_per_s": 1, "sources": { "rate_bytes_per_s": "datasheet" } }],
        });
        let (plain, sources) = set_apart(&document).unwrap();
        assert_eq!(plain, json!({ "host": { "request_ns": 4 }, "link": [{ "name": "fc", "rate_bytes_per_s": 1 }] }));
        let texts: Vec<_> = sources.iter().map(|found| format!("{} {}", found.path, found.source)).collect();
        assert_eq!(texts, ["host.request_ns assumed", "link.fc.rate_bytes_per_s datasheet"]);
    }

    #[test]
    fn a_source_of_nothing_is_refused() {
        let document = json!({ "host": { "sources": { "request_ns": "assumed" } } });
        assert_eq!(
            set_apart(&document).unwrap_err(),
            "host.sources.request_ns: there is no key `request_ns` beside it"
        );
    }
}
