//! Removes what Plimsoll laid out, and nothing else: names that the trees give, directories that are empty then.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use plimsoll_workload::files::TreePlan;

use super::calls::{self, PathText};
use super::marker::Marker;
use super::place::Held;
use super::restoring::file_of_name;
use crate::target::TargetError;

/// Removes the trees that Plimsoll laid out in a directory, and the directory if Plimsoll made it and nothing else is in
/// it; the paths that are gone.
///
/// # Errors
/// If something cannot be removed, or the directory is in use by another run.
pub fn remove(target: &Path) -> Result<Vec<PathBuf>, TargetError> {
    match Held::again(target)? {
        Some(held) => remove_held(&held),
        None => Ok(Vec::new()),
    }
}

pub(crate) fn remove_held(held: &Held) -> Result<Vec<PathBuf>, TargetError> {
    let mut gone = Vec::new();
    for tree in held.marker.trees.iter().filter_map(|definition| TreePlan::of_definition(definition).ok()) {
        remove_tree(&held.path, &tree)?;
        if !tree.path.is_empty() {
            gone.push(held.path.join(&tree.path));
        }
    }
    let marker = Marker::path_in(&held.path);
    match fs::remove_file(&marker) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(TargetError::io(&marker, "remove the marker")(error));
        }
        _ => {}
    }
    if held.marker.made_directory && fs::remove_dir(&held.path).is_ok() {
        gone = vec![held.path.clone()];
    }
    Ok(gone)
}

/// Removes a tree with its anchor and the directories on the way there, as far as they are empty.
pub(crate) fn remove_tree(target: &Path, tree: &TreePlan) -> Result<(), TargetError> {
    let root = target.join(&tree.path);
    if !root.is_dir() {
        return Ok(());
    }
    empty_tree(&root, tree)?;
    let mut path = Path::new(&tree.path);
    while !path.as_os_str().is_empty() && fs::remove_dir(target.join(path)).is_ok() {
        path = path.parent().unwrap_or(Path::new(""));
    }
    Ok(())
}

/// Removes the files and directories of a tree, the deepest first, but not its anchor.
pub(crate) fn empty_tree(root: &Path, tree: &TreePlan) -> Result<(), TargetError> {
    let anchor: OwnedFd = fs::File::open(root).map_err(TargetError::io(root, "open it"))?.into();
    let mut text = PathText::default();
    let mut path = Vec::new();
    for directory in (0..tree.shape.directories()).rev() {
        tree.shape.directory_path(directory, &mut path);
        let place = root.join(String::from_utf8_lossy(&path).as_ref());
        let Ok(entries) = fs::read_dir(&place) else { continue };
        let ours = tree.shape.files_in(directory);
        let names = entries.flatten().map(|entry| entry.file_name());
        let of_tree = |name: &std::ffi::OsString| {
            name.to_str().and_then(file_of_name).is_some_and(|(number, _)| ours.contains(&number))
        };
        for name in names.filter(of_tree) {
            let file = place.join(name);
            fs::remove_file(&file).map_err(TargetError::io(&file, "remove it"))?;
        }
        if directory > 0 {
            let name = text.put(|text| tree.shape.directory_path(directory, text));
            match calls::rmdir(anchor.as_fd(), name) {
                // Somebody's files are in it: they stay, and so does the directory.
                Ok(()) | Err(libc::ENOENT | libc::ENOTEMPTY | libc::EEXIST) => {}
                Err(errno) => {
                    return Err(TargetError::io(&place, "remove it")(io::Error::from_raw_os_error(errno)));
                }
            }
        }
    }
    Ok(())
}
