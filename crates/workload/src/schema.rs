//! JSON Schema (draft 2020-12) of a workload file, derived from the declarations.
//!
//! Editors complete and check workload files with it. Limit: it knows each value by itself; what values may stand
//! together is checked when a workload is read.

use serde_json::{Value, json};

use crate::option::record_schema;
use crate::workload::Workload;

/// JSON Schema of a workload file.
pub fn schema() -> Value {
    let mut schema = record_schema::<Workload>();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Plimsoll workload");
    schema
}
