//! JSON Schema and reference page of workloads of mail users, derived from the declarations.

use serde_json::{Value, json};

use crate::mail::stream::MailStreamOptions;
use crate::mail::workload::MailWorkload;
use crate::option::{Record, record_schema};
use crate::reference::{Part, page};

const INTRODUCTION: &str = "# Options of mail users\n\n\
    <!-- Generated from crates/workload; bless with PLIMSOLL_BLESS=1 cargo test -p plimsoll-workload. -->\n\n\
    A workload file with `driver = \"mail\"` is TOML: what it is, then one `[[stream]]` per group of users. The guide is \
    [mail.md](../mail.md).\n\n\
    ```toml\n\
    title = \"Mail users of an office\"\n\
    driver = \"mail\"\n\
    mail_fsync = \"always\"\n\n\
    [[stream]]\n\
    name = \"clerks\"\n\
    users = 1200\n\
    tasks = { read = 80, send = 15, check-inbox = 12 }\n\
    sizes = \"2KiB-200KiB\"\n\
    ```\n\n\
    `--set key=value` changes an option of every group, `--set NAME.key=value` of the group called NAME;\n\
    options of the job (`--set duration=60s`) are those of [block requests](options.md).\n";

/// The reference page, in Markdown (`docs/reference/mail.md`).
pub fn reference_markdown() -> String {
    let users = "Written under `[[stream]]`, or given with `--set`.";
    let parts: [Part; 2] = [
        ("Options of a group of users", users, MailStreamOptions::declarations()),
        ("Keys of a workload", "Written at the top of a file.", MailWorkload::declarations()),
    ];
    page(INTRODUCTION, &parts)
}

/// JSON Schema of a workload file of mail users.
pub fn schema() -> Value {
    let mut schema = record_schema::<MailWorkload>();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Plimsoll workload of mail users");
    schema
}
