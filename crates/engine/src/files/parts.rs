//! The directories that trees lie in: one, or several with `concat:A,B,C`. Each is judged, claimed and marked by itself.
//!
//! Model: a tree names its part by number, and every part has a tree. All parts are looked at before anything is made,
//! and looked at again once they are held: no part may be another one or lie in it, because trees there could take and
//! remove each other's files. A refusal of one leaves the others as they were.
//!
//! Limits: part of one directory that is mounted elsewhere a second time (`mount --bind`) passes for another directory;
//! what a tree meets there is in its way, so that nothing is laid out.
//!
//! ```
//! use plimsoll_engine::files::directories_of;
//! let parts = directories_of("concat:/mnt/a,/srv/b%2Cc").unwrap();
//! assert_eq!(parts[1].to_str(), Some("/srv/b,c"));
//! assert_eq!(directories_of("/mnt/a").unwrap().len(), 1);
//! ```

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plimsoll_workload::files::FilePlan;

use super::calls;
use super::place::{FilesInspection, Held, absolute, inspect_directory};
use super::removal::remove_held;
use crate::safety::Permission;
use crate::target::{TargetError, TargetSpec};

/// Where one part is: its path as asked for, the path without links, and device and inode if it exists.
struct Real {
    asked: PathBuf,
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

/// The directories of a target, in order; a text that begins with `concat:` names several.
///
/// # Errors
/// If what stands after `concat:` is no list of paths.
pub fn directories_of(spec: &str) -> Result<Vec<PathBuf>, TargetError> {
    if !spec.starts_with("concat:") {
        return Ok(vec![PathBuf::from(spec)]);
    }
    let parsed: TargetSpec = spec.parse()?;
    Ok(parsed.parts().iter().map(|part| part.path.clone()).collect())
}

/// Looks at a target without changing it.
///
/// # Errors
/// If a part is something else than a directory, has not even a directory to be made in, or lies in another part.
pub fn inspect(spec: &str) -> Result<FilesInspection, TargetError> {
    let directories = directories_of(spec)?;
    if let [directory] = directories.as_slice() {
        return inspect_directory(spec, directory);
    }
    let look = |directory: &PathBuf| inspect_directory(&directory.to_string_lossy(), directory);
    let parts = directories.iter().map(look).collect::<Result<Vec<_>, _>>()?;
    check_apart(&before(&directories)?)?;
    Ok(FilesInspection {
        kind: "directories",
        spec: spec.to_owned(),
        path: None,
        exists: parts.iter().all(|part| part.exists),
        modelled: false,
        made_by_plimsoll: parts.iter().all(|part| part.made_by_plimsoll),
        left_behind: parts.iter().all(|part| part.left_behind),
        write_refusal: parts.iter().find_map(|part| part.write_refusal.clone()),
        parts,
    })
}

/// Makes the directories of a plan that are missing, and takes all of them.
pub(crate) fn take(
    plan: &FilePlan,
    directories: &[PathBuf],
    permission: &Permission,
) -> Result<Vec<Held>, TargetError> {
    check_used(plan, directories)?;
    if directories.len() > 1 {
        check_apart(&before(directories)?)?;
    }
    let mut held = Vec::with_capacity(directories.len());
    let taken = directories.iter().try_for_each(|directory| {
        held.push(Held::take(directory, permission)?);
        Ok(())
    });
    match taken.and_then(|()| check_apart(&now(&held)?)) {
        Ok(()) => Ok(held),
        Err(error) => {
            // Nothing has been laid out yet: what was there is as it was, and what was made goes.
            held.iter().filter(|held| held.created).for_each(|held| drop(remove_held(held)));
            Err(error)
        }
    }
}

/// Refuses trees without a part and parts without a tree.
///
/// # Errors
/// [`TargetError::NoPart`] and [`TargetError::NoTreeInPart`].
pub fn check_used(plan: &FilePlan, directories: &[PathBuf]) -> Result<(), TargetError> {
    if let Some(tree) = plan.trees.iter().find(|tree| tree.part >= directories.len()) {
        return Err(TargetError::NoPart { tree: tree.name.clone(), part: tree.part, parts: directories.len() });
    }
    let unused = |number: &usize| plan.trees.iter().all(|tree| tree.part != *number);
    match (0..directories.len()).find(unused) {
        Some(part) => Err(TargetError::NoTreeInPart { path: directories[part].clone(), part }),
        None => Ok(()),
    }
}

/// Where parts are, or will be made.
fn before(directories: &[PathBuf]) -> Result<Vec<Real>, TargetError> {
    let real = |directory: &PathBuf| {
        let asked = absolute(directory)?;
        let look = || TargetError::io(directory, "find out where it is");
        let path = match (fs::canonicalize(&asked), asked.parent(), asked.file_name()) {
            (Ok(path), _, _) => path,
            (Err(_), Some(above), Some(name)) => fs::canonicalize(above).map_err(look())?.join(name),
            (Err(error), _, _) => return Err(look()(error)),
        };
        let identity = fs::metadata(&path).ok().map(|found| (found.dev(), found.ino()));
        Ok(Real { asked, path, identity })
    };
    directories.iter().map(real).collect()
}

/// Where the parts are that are held.
fn now(held: &[Held]) -> Result<Vec<Real>, TargetError> {
    let real = |held: &Held| {
        let link = format!("/proc/self/fd/{}", held.root.fd().as_raw_fd());
        let path = fs::read_link(link).map_err(TargetError::io(&held.path, "find out where it is"))?;
        let identity = calls::seen(held.root.fd()).ok().map(|seen| seen.identity);
        Ok(Real { asked: held.path.clone(), path, identity })
    };
    held.iter().map(real).collect()
}

fn check_apart(parts: &[Real]) -> Result<(), TargetError> {
    for (number, part) in parts.iter().enumerate() {
        for other in &parts[..number] {
            let same = part.identity.is_some() && part.identity == other.identity;
            let holds = |outer: &Path, inner: &Path| inner.starts_with(outer);
            if same || part.path == other.path {
                return Err(TargetError::OneDirectory { path: part.asked.clone(), other: other.asked.clone() });
            }
            if holds(&other.path, &part.path) {
                return Err(TargetError::DirectoryInPart { path: part.asked.clone(), outer: other.asked.clone() });
            }
            if holds(&part.path, &other.path) {
                return Err(TargetError::DirectoryInPart { path: other.asked.clone(), outer: part.asked.clone() });
            }
        }
    }
    Ok(())
}
