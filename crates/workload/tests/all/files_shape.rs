//! The shape of a tree: every file has a name, a place and a size of its own, and all of them follow from options and
//! seed alone.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use plimsoll_workload::files::{FilePlan, FileWorkload, TreePlan};
use proptest::prelude::*;
use serde_json::{Value, json};

fn plan(tree: Value) -> FilePlan {
    let operation = if tree["files"] == 0 { "mkdir" } else { "stat" };
    let file = json!({ "driver": "files", "tree": [tree], "stream": [{ "operation": operation }] });
    FileWorkload::from_json(&file, "shape.toml").unwrap().resolve(1).unwrap()
}

fn tree(tree: Value) -> TreePlan {
    plan(tree).trees.remove(0)
}

fn file_path(tree: &TreePlan, file: u64) -> String {
    let mut path = Vec::new();
    tree.shape.file_path(file, &mut path);
    String::from_utf8(path).unwrap()
}

#[test]
fn directories_and_files_are_as_many_as_vdbench_counts_them() {
    // depth 2, width 2, 2 files: 2 + 4 directories; 8 files at the bottom, 12 everywhere below the anchor.
    let counts = |placed: &str| {
        let shape = tree(json!({ "depth": 2, "width": 2, "files": 2, "placed": placed })).shape;
        (shape.directories() - 1, shape.files())
    };
    assert_eq!((counts("bottom"), counts("all")), ((6, 8), (6, 12)));
    let flat = tree(json!({ "files": 7, "placed": "all" })).shape;
    assert_eq!((flat.directories(), flat.files(), flat.holder(6)), (1, 7, 0));
}

#[test]
fn paths_lead_through_the_directories_that_hold_them() {
    let tree = tree(json!({ "depth": 2, "width": 3, "files": 2 }));
    let names: Vec<String> = (0..6).map(|file| file_path(&tree, file)).collect();
    assert_eq!(names, ["d0/d0/f0", "d0/d0/f1", "d0/d1/f2", "d0/d1/f3", "d0/d2/f4", "d0/d2/f5"]);
    assert_eq!(file_path(&tree, 17), "d2/d2/f17");
    let mut path = Vec::new();
    tree.shape.directory_path(0, &mut path);
    assert_eq!(path, b".");
}

proptest! {
    #[test]
    fn numbers_names_and_places_agree(depth in 0_u32..5, width in 1_u32..5, files in 1_u32..6, all: bool) {
        let placed = if all { "all" } else { "bottom" };
        let tree = tree(json!({ "depth": depth, "width": width, "files": files, "placed": placed }));
        let shape = &tree.shape;
        let mut names = BTreeSet::new();
        let mut held = 0;
        for directory in 0..shape.directories() {
            for child in shape.children(directory) {
                prop_assert_eq!(shape.parent(child), directory);
                prop_assert!(child < shape.directories());
            }
            for file in shape.files_in(directory) {
                prop_assert_eq!(shape.holder(file), directory);
                held += 1;
            }
        }
        prop_assert_eq!(held, shape.files());
        for file in 0..shape.files() {
            let name = file_path(&tree, file);
            prop_assert_eq!(name.matches('/').count() as u32 <= depth, true);
            prop_assert!(names.insert(name));
        }
    }

    #[test]
    fn sizes_stay_in_their_range_and_depend_on_the_tree_s_seed_only(seed: u32, job: u64) {
        let file = json!({
            "driver": "files", "tree": [{ "files": 50, "sizes": "4KiB-64KiB", "seed": seed }],
            "stream": [{ "operation": "stat" }],
        });
        let workload = FileWorkload::from_json(&file, "x.toml").unwrap();
        let (one, other) = (workload.resolve(1).unwrap(), workload.resolve(job).unwrap());
        for number in 0..50 {
            let size = one.trees[0].shape.size_bytes(number);
            prop_assert!((4096..=65_536).contains(&size) && size % 4096 == 0);
            prop_assert_eq!(size, other.trees[0].shape.size_bytes(number));
        }
    }
}

#[test]
fn a_table_of_sizes_is_kept_within_sampling_error() {
    let shape = tree(json!({ "files": 20_000, "sizes": { "4KiB": 60, "1MiB": 40 } })).shape;
    let small = (0..20_000).filter(|file| shape.size_bytes(*file) == 4096).count();
    // Standard deviation 69.
    assert!(small.abs_diff(12_000) < 350, "{small}");
}

#[test]
fn a_total_size_takes_the_first_files_that_reach_it() {
    let options = json!({ "files": 1000, "sizes": "1KiB-9KiB", "total_size": "1MiB" });
    let shape = tree(options).shape;
    let sum = |files: u64| (0..files).map(|file| shape.size_bytes(file)).sum::<u64>();
    assert!(sum(shape.files()) >= 1 << 20 && sum(shape.files() - 1) < 1 << 20);
    let even = tree(json!({ "files": 1000, "sizes": "4KiB", "total_size": "10000B" })).shape;
    assert_eq!(even.files(), 3);
}

#[test]
fn a_working_set_is_spread_over_the_whole_tree() {
    let shape = tree(json!({ "depth": 1, "width": 10, "files": 100, "sizes": "4KiB", "working_set": "400KiB" })).shape;
    let worked: Vec<u64> = (0..shape.worked()).map(|place| shape.worked_file(place)).collect();
    assert_eq!((shape.files(), worked.len()), (1000, 100));
    let holders: BTreeSet<u64> = worked.iter().map(|file| shape.holder(*file)).collect();
    assert_eq!(holders.len(), 10);
    assert!(worked.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn a_part_of_the_files_exists_at_the_beginning() {
    let shape = tree(json!({ "files": 10_000, "filled": 30 })).shape;
    let existing = (0..10_000).filter(|file| shape.exists_first(*file)).count();
    assert_eq!(existing, 3000);
    assert_eq!(shape.first_bytes(), (existing as u64 * 65_536, existing as u64));
    let empty = tree(json!({ "files": 100, "lay_out": "directories" })).shape;
    assert!(empty.begins_empty() && !empty.exists_first(5));
}

#[test]
fn the_part_that_exists_is_exactly_as_large_as_asked_for() {
    for (files, percent, expected) in [(60, 50, 30), (60, 1, 1), (7, 50, 4), (1000, 37, 370), (10, 100, 10), (10, 0, 0)]
    {
        for seed in 0..5 {
            let shape = tree(json!({ "files": files, "filled": percent, "seed": seed })).shape;
            assert_eq!(shape.first_bytes().1, expected, "{percent} % of {files}, seed {seed}");
            let bare = json!({ "depth": 1, "width": files, "files": 0, "filled": percent, "seed": seed });
            let shape = tree(bare).shape;
            let there = (1..shape.directories()).filter(|directory| shape.directory_exists_first(*directory)).count();
            assert_eq!(there as u64, expected, "{percent} % of {files} directories, seed {seed}");
        }
    }
}

#[test]
fn without_files_a_part_of_the_deepest_directories_exists() {
    let shape = tree(json!({ "depth": 2, "width": 50, "files": 0, "filled": 40 }));
    let exists = |directory: &u64| shape.shape.directory_exists_first(*directory);
    assert!((0..51).all(|directory| exists(&directory)), "all above the deepest");
    let deepest = (51..2551).filter(exists).count();
    assert_eq!(deepest, 1000);
}

#[test]
fn a_tree_of_millions_of_files_needs_no_memory_for_their_names() {
    let tree = tree(json!({ "depth": 3, "width": 100, "files": 1000 }));
    assert_eq!((tree.shape.directories(), tree.shape.files()), (1_010_101, 1_000_000_000));
    assert_eq!(file_path(&tree, 999_999_999), "d99/d99/d99/f999999999");
}

#[test]
fn a_definition_gives_the_tree_back() {
    let first = tree(json!({ "depth": 2, "width": 3, "files": 4, "sizes": { "1KiB": 50, "3KiB": 50 }, "filled": 70 }));
    let again = TreePlan::of_definition(&first.definition).unwrap();
    assert_eq!((&again.shape, &again.path), (&first.shape, &first.path));
    assert!(TreePlan::of_definition("{}").is_ok() && TreePlan::of_definition("no json").is_err());
}
