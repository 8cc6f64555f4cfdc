//! The reference page of all options, derived from the declarations.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::job::JobOptions;
use crate::option::{Declaration, Fallback, Record};
use crate::stream::{AccessEntry, ScheduleStep, StreamOptions};
use crate::workload::Workload;

const INTRODUCTION: &str = "# Options\n\n\
    <!-- Generated from crates/workload; bless with PLIMSOLL_BLESS=1 cargo test -p plimsoll-workload. -->\n\n\
    A workload file is TOML: what the workload is, then one `[[stream]]` per flow of requests, which run at the same \
    time.\n\n\
    ```toml\n\
    title = \"OLTP with its log\"\n\n\
    [[stream]]\n\
    name = \"data\"\n\
    block_size = \"8KiB\"\n\
    read_percent = 70\n\
    queue_depth = 32\n\n\
    [[stream]]\n\
    name = \"log\"\n\
    block_size = \"64KiB\"\n\
    read_percent = 0\n\
    random_percent = 0\n\
    region_length = \"1GiB\"\n\
    ```\n\n\
    `--set key=value` changes an option of every stream, `--set log.key=value` of the stream called `log`; options \
    of the job\n\
    are given in the same way (`--set duration=60s`). `--set seed=…` is the job's seed, `--set log.seed=…` the \
    stream's.\n";

/// The reference page of all options, in Markdown (`docs/reference/options.md`).
pub fn reference_markdown() -> String {
    let parts: [Part; 5] = [
        ("Options of a stream", "Written under `[[stream]]`, or given with `--set`.", StreamOptions::declarations()),
        ("Access entries", "The tables in the list `access` of a stream.", AccessEntry::declarations()),
        ("Schedule steps", "The tables in the list `schedule` of a stream.", ScheduleStep::declarations()),
        ("Options of a job", "Given with `--set`, or in a job's definition.", JobOptions::declarations()),
        ("Keys of a workload", "Written at the top of a file.", Workload::declarations()),
    ];
    page(INTRODUCTION, &parts)
}

/// A record's title, its introduction and its options.
pub type Part = (&'static str, &'static str, Vec<Declaration>);

/// A page of options.
pub fn page(introduction: &str, parts: &[Part]) -> String {
    let mut page = introduction.to_owned();
    write_values(&mut page, parts.iter().flat_map(|(_, _, declarations)| declarations));
    for (title, about, declarations) in parts {
        let _ = write!(page, "\n## {title}\n\n{about}\n");
        write_sections(&mut page, declarations);
    }
    page
}

/// How the values of each kind are written.
fn write_values<'a>(page: &mut String, declarations: impl Iterator<Item = &'a Declaration>) {
    let forms: BTreeMap<&str, &str> = declarations
        .filter(|declaration| declaration.words.is_empty())
        .map(|declaration| (bare(declaration.noun), declaration.form))
        .collect();
    page.push_str("\n## How values are written\n\n| value | form |\n|---|---|\n");
    for (noun, form) in forms {
        let _ = writeln!(page, "| {noun} | {form} |");
    }
}

fn write_sections(page: &mut String, declarations: &[Declaration]) {
    let mut section = "";
    let several = declarations.iter().any(|declaration| declaration.section != declarations[0].section);
    for declaration in declarations {
        if declaration.section != section {
            section = declaration.section;
            if several {
                let _ = write!(page, "\n### {section}\n");
            }
            page.push_str("\n| key | value | default | meaning | example |\n|---|---|---|---|---|\n");
        }
        write_row(page, declaration);
    }
}

fn write_row(page: &mut String, declaration: &Declaration) {
    let value = match &declaration.range {
        _ if !declaration.words.is_empty() => {
            declaration.words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        Some((least, most)) => format!("{}, {least} to {most}", bare(declaration.noun)),
        None => bare(declaration.noun).to_owned(),
    };
    let default = match &declaration.default {
        Fallback::Required(_) => "must be given".to_owned(),
        Fallback::Unset(consequence) => (*consequence).to_owned(),
        Fallback::Is { shown, .. } if shown.is_empty() => "empty".to_owned(),
        Fallback::Is { shown, .. } => format!("`{shown}`"),
    };
    let mut meaning = declaration.help.clone();
    for (word, help) in &declaration.words {
        let _ = write!(meaning, "<br>`{word}`: {help}");
    }
    let Declaration { key, example, .. } = declaration;
    let _ = writeln!(page, "| `{key}` | {value} | {default} | {meaning} | `{example}` |");
}

/// A noun without its article.
fn bare(noun: &str) -> &str {
    noun.strip_prefix("a ").or_else(|| noun.strip_prefix("an ")).unwrap_or(noun)
}
