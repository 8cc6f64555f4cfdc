//! The reference page and the JSON Schema are derived from the declarations; these tests fail when the stored ones
//! drift.
//! `PLIMSOLL_BLESS=1 cargo test -p plimsoll-workload` writes them anew.

use std::path::PathBuf;
use std::{env, fs};

use plimsoll_workload::job::JobOptions;
use plimsoll_workload::option::{Declaration, Fallback, Record};
use plimsoll_workload::stream::{AccessEntry, ScheduleStep, StreamOptions};
use plimsoll_workload::{Workload, option_names, reference_markdown, schema};
use serde_json::json;

fn compare(file: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
    if env::var_os("PLIMSOLL_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("has a parent")).expect("can make the folder");
        fs::write(&path, text).expect("can write");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "docs/reference/{file} has drifted; run PLIMSOLL_BLESS=1 cargo test -p plimsoll-workload");
}

fn declarations() -> Vec<Declaration> {
    let mut all = StreamOptions::declarations();
    all.extend(JobOptions::declarations());
    all.extend(AccessEntry::declarations());
    all.extend(ScheduleStep::declarations());
    all.extend(Workload::declarations());
    all
}

#[test]
fn the_reference_page_is_up_to_date() {
    compare("options.md", &reference_markdown());
}

#[test]
fn the_schema_is_up_to_date() {
    let text = serde_json::to_string_pretty(&schema()).expect("serialises") + "\n";
    compare("workload.schema.json", &text);
}

#[test]
fn every_option_stands_in_the_reference_page_with_a_sentence() {
    let page = reference_markdown();
    for declaration in declarations() {
        assert!(page.contains(&format!("| `{}` |", declaration.key)), "{}", declaration.key);
        assert!(declaration.help.ends_with('.'), "{}: {}", declaration.key, declaration.help);
        for (word, help) in declaration.words {
            assert!(help.ends_with('.'), "{word}: {help}");
        }
    }
}

/// Reads every example, and every default, through the parser of its own option.
fn examples_read<R: Record>() {
    for declaration in R::declarations() {
        let mut record = R::default();
        let example = json!(declaration.example);
        record.assign(declaration.key, &example).expect("its own key").expect("a valid example");
        assert_ne!(record.fields(), R::default().fields(), "the example of {} is its default", declaration.key);
        if let Fallback::Is { json, .. } = declaration.default {
            record.assign(declaration.key, &json).expect("its own key").expect("a valid default");
            assert_eq!(
                record.fields(),
                R::default().fields(),
                "the default of {} is not what it says",
                declaration.key
            );
        }
    }
}

#[test]
fn every_example_and_every_default_reads() {
    examples_read::<StreamOptions>();
    examples_read::<JobOptions>();
    examples_read::<AccessEntry>();
    examples_read::<ScheduleStep>();
    examples_read::<Workload>();
}

#[test]
fn option_names_are_unique() {
    let names = option_names();
    for (index, name) in names.iter().enumerate() {
        assert!(!names[..index].contains(name), "{name}");
    }
    assert!(names.contains(&"queue_depth") && names.contains(&"duration"));
}
