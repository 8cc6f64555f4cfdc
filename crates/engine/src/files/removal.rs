//! Removes what Plimsoll laid out, and nothing else: files with names that the trees give, directories that are empty then.
//!
//! Everything is removed by a single name in a directory that was opened beneath the target: where a link or a mount
//! point stands in place of a directory or file, it stays, and so does what is behind it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use plimsoll_workload::files::TreePlan;

use super::beneath::{Mounts, Root, text};
use super::calls::{self, Errno, Kind, PathText};
use super::listing::each_entry;
use super::marker::{self, Marker};
use super::ownership::remove_owned;
use super::place::Held;
use super::restoration::file_of_name;
use crate::target::TargetError;

/// Removes the trees that Plimsoll laid out in a directory, and the directory if Plimsoll made it and nothing else is in
/// it; the paths that are gone.
///
/// # Errors
/// If something cannot be removed, the directory is in use by another run, or somebody else's files lie among ours: they
/// stay, and what is ours is gone then.
pub fn remove(target: &Path) -> Result<Vec<PathBuf>, TargetError> {
    match Held::again(target)? {
        Some(held) => remove_held(&held),
        None => Ok(Vec::new()),
    }
}

pub(crate) fn remove_held(held: &Held) -> Result<Vec<PathBuf>, TargetError> {
    let mut gone = Vec::new();
    for tree in held.marker.trees.iter().filter_map(|definition| TreePlan::of_definition(definition).ok()) {
        remove_tree(held, &tree)?;
        if !tree.path.is_empty() {
            gone.push(held.path.join(&tree.path));
        }
    }
    let mut foreign = Vec::new();
    for name in &held.marker.owned {
        foreign.extend(remove_owned(held, name)?);
        gone.push(held.path.join(name));
    }
    let name = text(marker::NAME.as_ref());
    match name.and_then(|name| calls::unlink(held.root.fd(), &name)) {
        Ok(()) | Err(libc::ENOENT) => {}
        Err(errno) => return Err(refused(Marker::path_in(&held.path), "remove the marker", errno)),
    }
    if held.marker.made_directory && held.remove_directory() {
        gone = vec![held.path.clone()];
    }
    match foreign.split_first() {
        Some((path, others)) => Err(TargetError::Foreign { path: path.clone(), others: others.len() }),
        None => Ok(gone),
    }
}

/// Removes a tree with its anchor and the directories on the way there, as far as they are empty.
pub(crate) fn remove_tree(held: &Held, tree: &TreePlan) -> Result<(), TargetError> {
    let Ok(anchor) = held.root.below(Path::new(&tree.path), false) else { return Ok(()) };
    empty_tree(&anchor, &held.path.join(&tree.path), tree)?;
    drop(anchor);
    let mut path = Path::new(&tree.path);
    while let (Some(above), Some(name)) = (path.parent(), path.file_name()) {
        let removed = held.root.below(above, false).and_then(|above| calls::rmdir(above.fd(), &text(name)?));
        if removed.is_err() {
            break;
        }
        path = above;
    }
    Ok(())
}

/// Removes the files and directories of a tree, the deepest first, but not its anchor. `shown` is the anchor's path.
pub(crate) fn empty_tree(anchor: &Root, shown: &Path, tree: &TreePlan) -> Result<(), TargetError> {
    let mut path = PathText::default();
    for directory in (0..tree.shape.directories()).rev() {
        let name = path.put(|text| tree.shape.directory_path(directory, text));
        match anchor.listing(name, Mounts::Refused).and_then(|opened| empty_directory(opened, tree, directory)) {
            Ok(()) => {}
            // Not there, or not ours: it stays, with what is in it.
            Err(libc::ENOENT | libc::ENOTDIR | libc::ELOOP | libc::EXDEV) => continue,
            Err(errno) => return Err(refused(shown.join(path.shown()), "remove its files", errno)),
        }
        if directory == 0 {
            continue;
        }
        let removed = match calls::folder_of(name) {
            Some(above) => anchor
                .directory(&above, Mounts::Refused)
                .and_then(|above| calls::rmdir(above.as_fd(), calls::name_of(name))),
            None => calls::rmdir(anchor.fd(), name),
        };
        match removed {
            // Somebody's files are in it, or it is no longer what it was: it stays.
            Ok(()) | Err(libc::ENOENT | libc::ENOTEMPTY | libc::EEXIST | libc::ENOTDIR | libc::ELOOP | libc::EXDEV) => {
            }
            Err(errno) => return Err(refused(shown.join(path.shown()), "remove it", errno)),
        }
    }
    Ok(())
}

/// Removes the tree's files in a directory of it; links, directories and devices with such names stay.
fn empty_directory(opened: OwnedFd, tree: &TreePlan, directory: u64) -> Result<(), Errno> {
    let ours = tree.shape.files_in(directory);
    let mut names = Vec::new();
    let at = opened.try_clone().map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
    each_entry(opened, |_, name, kind| {
        let number = name.to_str().ok().and_then(file_of_name).map(|(number, _)| number);
        if kind == Kind::File && number.is_some_and(|number| ours.contains(&number)) {
            names.push(name.to_owned());
        }
        Ok(())
    })?;
    names.iter().try_for_each(|name| match calls::unlink(at.as_fd(), name) {
        // Gone already, or something is mounted on it.
        Err(libc::ENOENT | libc::EBUSY) => Ok(()),
        removed => removed,
    })
}

fn refused(path: PathBuf, doing: &'static str, errno: Errno) -> TargetError {
    TargetError::io(&path, doing)(io::Error::from_raw_os_error(errno))
}
