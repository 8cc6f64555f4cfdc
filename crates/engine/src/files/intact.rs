//! Whether trees that a marker calls ready are still there, as the file system shows it.
//!
//! Model: every directory that can exist is listed and the names in it are compared with those that the tree's definition
//! gives; nothing is opened or read beside directories, so that a look takes a small part of what a layout takes. Only
//! where a plan changes files in place, each is looked at: one that has another name elsewhere is not the tree's alone.
//!
//! Limits: sizes and content are not looked at.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_workload::files::{FileOp, FilePlan, LayOut, TreePlan};

use super::beneath::{Mounts, Root};
use super::calls::{self, Kind, PathText};
use super::listing::each_entry;
use super::restoration::file_of_name;

/// Whether all trees of `plan` in the part `number`, which is `target`, have exactly the names they begin with. Setting
/// `stop` ends it soon, with "yes".
pub(crate) fn is_intact(target: &Root, plan: &FilePlan, number: usize, stop: &AtomicBool) -> bool {
    let changes = |op: FileOp| plan.streams.iter().any(|stream| stream.issues(op));
    let in_place = changes(FileOp::Write) || changes(FileOp::Setattr) || changes(FileOp::Deliver);
    plan.trees.iter().filter(|tree| tree.part == number).all(|tree| {
        let Ok(anchor) = target.below(Path::new(&tree.path), false) else { return false };
        let there = if tree.lay_out == LayOut::Nothing { 1 } else { tree.shape.directories() };
        let look = Look { anchor: &anchor, tree, in_place };
        (0..there).all(|directory| stop.load(Ordering::Relaxed) || look.is_intact(directory))
    })
}

struct Look<'a> {
    anchor: &'a Root,
    tree: &'a TreePlan,
    /// Whether files are going to be changed in place.
    in_place: bool,
}

impl Look<'_> {
    fn is_intact(&self, directory: u64) -> bool {
        let shape = &self.tree.shape;
        let mut text = PathText::default();
        let path = text.put(|text| shape.directory_path(directory, text));
        let opened = self.anchor.listing(path, Mounts::Refused);
        if !shape.directory_exists_first(directory) {
            return opened.is_err_and(|errno| errno == libc::ENOENT);
        }
        let Ok(opened) = opened else { return false };
        let (expected, empty) = (shape.files_in(directory), self.tree.lay_out == LayOut::Nothing);
        let mut found = 0;
        let listed = each_entry(opened, |at, name, kind| {
            let name_text = name.to_str().unwrap_or_default();
            if empty && name_text == "d0" {
                return Err(libc::EEXIST);
            }
            match file_of_name(name_text) {
                Some((file, renamed)) if expected.contains(&file) => {
                    if renamed || kind != Kind::File || !shape.exists_first(file) {
                        return Err(libc::EEXIST);
                    }
                    if self.in_place && !calls::stat(at, name)?.is_plain() {
                        return Err(libc::EMLINK);
                    }
                    found += 1;
                }
                _ => {}
            }
            Ok(())
        });
        listed.is_ok() && found == expected.filter(|file| shape.exists_first(*file)).count()
    }
}
