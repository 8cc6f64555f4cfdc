//! JSON Schema and reference page of workloads of file operations, derived from the declarations.

use serde_json::{Value, json};

use crate::files::stream::FileStreamOptions;
use crate::files::tree::TreeOptions;
use crate::files::workload::FileWorkload;
use crate::option::{Record, record_schema};
use crate::reference::{Part, page};

const INTRODUCTION: &str = "# Options of file operations\n\n\
    <!-- Generated from crates/workload; bless with PLIMSOLL_BLESS=1 cargo test -p plimsoll-workload. -->\n\n\
    A workload file with `driver = \"files\"` is TOML: what it is, then one `[[tree]]` per tree of directories and \
    files, which\n\
    is laid out below the target directory, and one `[[stream]]` per flow of operations. The guide is \
    [files.md](../files.md).\n\n\
    ```toml\n\
    title = \"Mail spool\"\n\
    driver = \"files\"\n\n\
    [[tree]]\n\
    name = \"spool\"\n\
    depth = 2\n\
    width = 16\n\
    files = 100\n\
    sizes = \"1KiB-64KiB\"\n\n\
    [[stream]]\n\
    name = \"delivery\"\n\
    operation = { read = 70, create = 15, delete = 15 }\n\
    threads = 8\n\
    ```\n\n\
    `--set key=value` changes an option of every stream or every tree, `--set NAME.key=value` of the stream or tree \
    called NAME;\n\
    options of the job (`--set duration=60s`) are those of [block requests](options.md).\n";

/// The reference page, in Markdown (`docs/reference/files.md`).
pub fn reference_markdown() -> String {
    let trees = "Written under `[[tree]]`, or given with `--set`.";
    let streams = "Written under `[[stream]]`, or given with `--set`.";
    let parts: [Part; 3] = [
        ("Options of a tree", trees, TreeOptions::declarations()),
        ("Options of a stream", streams, FileStreamOptions::declarations()),
        ("Keys of a workload", "Written at the top of a file.", FileWorkload::declarations()),
    ];
    page(INTRODUCTION, &parts)
}

/// JSON Schema of a workload file of file operations.
pub fn schema() -> Value {
    let mut schema = record_schema::<FileWorkload>();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Plimsoll workload of file operations");
    schema
}
