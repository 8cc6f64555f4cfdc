//! JSON Schema and reference page of workloads of a mail store, derived from the declarations.

use plimsoll_workload::option::{Record, record_schema};
use plimsoll_workload::reference::{Part, page};
use serde_json::{Value, json};

use crate::options::MailstoreWorkload;

const INTRODUCTION: &str = "# Options of a mail store\n\n\
    <!-- Generated from crates/mailstore; bless with PLIMSOLL_BLESS=1 cargo test -p plimsoll-mailstore. -->\n\n\
    A workload file with `driver = \"mailstore\"` is TOML with the keys below. What a `generation` says holds for keys that the file\n\
    leaves out. The guide is [mailstore.md](../mailstore.md).\n\n\
    ```toml\n\
    title = \"Our mail store\"\n\
    driver = \"mailstore\"\n\
    generation = \"2003\"\n\
    databases = 2\n\
    threads = 8\n\
    ```\n\n\
    `--set key=value` changes an option; options of the job (`--set duration=60s`) are those of [block requests](options.md).\n";

/// The reference page, in Markdown (`docs/reference/mailstore.md`).
pub fn reference_markdown() -> String {
    let parts: [Part; 1] = [(
        "Keys of a workload",
        "Written at the top of a file, or given with `--set`.",
        MailstoreWorkload::declarations(),
    )];
    page(INTRODUCTION, &parts)
}

/// JSON Schema of a workload file of a mail store.
pub fn schema() -> Value {
    let mut schema = record_schema::<MailstoreWorkload>();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Plimsoll workload of a mail store");
    schema
}
