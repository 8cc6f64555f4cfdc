//! Whether trees that a marker calls ready are still there, as the file system shows it.
//!
//! Model: every directory that can exist is listed and the names in it are compared with those that the tree's definition
//! gives; nothing is opened or read beside directories, so that a look takes a small part of what a layout takes.
//!
//! Limits: sizes and content are not looked at.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_workload::files::{FilePlan, LayOut, TreePlan};

use super::restoring::file_of_name;

/// Whether all trees of `plan` below `target` have exactly the names they begin with. Setting `stop` ends it soon, with
/// "yes".
pub(crate) fn is_intact(target: &Path, plan: &FilePlan, stop: &AtomicBool) -> bool {
    plan.trees.iter().all(|tree| {
        let anchor = target.join(&tree.path);
        let there = if tree.lay_out == LayOut::Nothing { 1 } else { tree.shape.directories() };
        (0..there).all(|directory| stop.load(Ordering::Relaxed) || directory_is_intact(&anchor, tree, directory))
    })
}

fn directory_is_intact(anchor: &Path, tree: &TreePlan, directory: u64) -> bool {
    let shape = &tree.shape;
    let path = path_of(anchor, tree, directory);
    if !shape.directory_exists_first(directory) {
        return fs::symlink_metadata(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    }
    let Ok(entries) = fs::read_dir(&path) else { return false };
    let (expected, empty) = (shape.files_in(directory), tree.lay_out == LayOut::Nothing);
    let mut found = 0;
    for entry in entries {
        let Ok(entry) = entry else { return false };
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if empty && name == "d0" {
            return false;
        }
        match file_of_name(name) {
            Some((file, renamed)) if expected.contains(&file) => {
                if renamed || !shape.exists_first(file) {
                    return false;
                }
                found += 1;
            }
            _ => {}
        }
    }
    found == expected.filter(|file| shape.exists_first(*file)).count()
}

fn path_of(anchor: &Path, tree: &TreePlan, directory: u64) -> PathBuf {
    let mut text = Vec::new();
    tree.shape.directory_path(directory, &mut text);
    anchor.join(String::from_utf8_lossy(&text).as_ref())
}
