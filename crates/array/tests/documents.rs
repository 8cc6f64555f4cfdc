//! The reference page and the JSON Schema of array files are derived from the declarations; these tests fail when the stored
//! ones drift, and when a declaration says what its parser does not.
//! `PLIMSOLL_BLESS=1 cargo test -p plimsoll-array --test documents` writes them anew.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::{env, fs};

use plimsoll_array::disk::{BufferSpec, DiskSpec, QueueSpec, SeekSpec};
use plimsoll_array::flash::{AnalyticSpec, FlashSpec, PageMapSpec, PageTypeSpec, SlcCacheSpec};
use plimsoll_array::raid::{FailureRate, FailureSpec, GroupSpec, RebuildSpec, Scheduled};
use plimsoll_array::spec::{
    ArraySpec, CacheSpec, ControllerSpec, DeviceSet, GroupEntry, HostSpec, LinkSpec, PageCacheSpec, ReadAheadSpec,
    VolumeSet,
};
use plimsoll_workload::option::{Fallback, Inside, Record};
use plimsoll_workload::unit;
use serde_json::{Value, json};

fn compare(file: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
    if env::var_os("PLIMSOLL_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "docs/reference/{file} has drifted; run make bless");
}

#[test]
fn the_reference_page_is_up_to_date() {
    compare("arrays.md", &plimsoll_array::reference_markdown());
}

#[test]
fn the_schema_is_up_to_date() {
    compare("array.schema.json", &(serde_json::to_string_pretty(&plimsoll_array::schema()).unwrap() + "\n"));
}

/// A value as it stands in a document: JSON, or text.
fn value(example: &str) -> Value {
    serde_json::from_str(example).unwrap_or_else(|_| json!(example))
}

/// Reads every example and every default through the parser of its own key.
fn declared_well<R: Record>() {
    for declaration in R::declarations() {
        let key = declaration.key;
        assert!(declaration.help.ends_with('.'), "{key}: {}", declaration.help);
        let mut record = R::default();
        if matches!(declaration.inside, Inside::Nothing) {
            record.assign(key, &value(declaration.example)).unwrap().unwrap();
            assert_ne!(record.fields(), R::default().fields(), "the example of {key} is its default");
        }
        if let Fallback::Is { json, .. } = declaration.default {
            record = R::default();
            record.assign(key, &json).unwrap().unwrap();
            assert_eq!(record.fields(), R::default().fields(), "the default of {key} is not what it says");
        }
        let is_number = declaration.noun.ends_with("number");
        let ending = unit::ALL.iter().find(|unit| key == unit.ending || key.ends_with(&format!("_{}", unit.ending)));
        let expected = ending.filter(|_| is_number).map(|unit| unit.name);
        assert_eq!(declaration.unit.map(|unit| unit.name), expected, "the last word of {key} is its unit");
    }
}

#[test]
fn every_example_and_every_default_reads_and_every_key_ends_with_its_unit() {
    declared_well::<ArraySpec>();
    declared_well::<HostSpec>();
    declared_well::<PageCacheSpec>();
    declared_well::<ReadAheadSpec>();
    declared_well::<LinkSpec>();
    declared_well::<ControllerSpec>();
    declared_well::<CacheSpec>();
    declared_well::<RebuildSpec>();
    declared_well::<DeviceSet>();
    declared_well::<DiskSpec>();
    declared_well::<SeekSpec>();
    declared_well::<BufferSpec>();
    declared_well::<QueueSpec>();
    declared_well::<FlashSpec>();
    declared_well::<PageMapSpec>();
    declared_well::<AnalyticSpec>();
    declared_well::<PageTypeSpec>();
    declared_well::<SlcCacheSpec>();
    declared_well::<GroupEntry>();
    declared_well::<GroupSpec>();
    declared_well::<FailureSpec>();
    declared_well::<FailureRate>();
    declared_well::<Scheduled>();
    declared_well::<VolumeSet>();
}
