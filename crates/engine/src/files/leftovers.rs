//! What becomes of trees when a run has ended: they are kept, or a killed run has left them behind.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use plimsoll_workload::files::TreePlan;

use super::beneath::{Mounts, Root};
use super::calls::Kind;
use super::listing::each_entry;
use super::marker::Marker;
use super::ownership::owned_bytes;
use super::place::{Held, opened};
use crate::target::{State, TargetError};

/// Notes in the marker of a directory that no run uses its trees any more, and that they stay.
///
/// # Errors
/// When the marker cannot be written, or another run uses the directory.
pub fn release(target: &Path) -> Result<(), TargetError> {
    let Some(mut held) = Held::again(target)? else { return Ok(()) };
    (held.marker.run, held.marker.state) = (None, State::Kept);
    held.mark()
}

/// The directory itself and those in it whose trees a run left behind when it was killed, with the bytes that were laid
/// out; in order. Other file systems mounted there are not looked at.
pub fn left_behind(directory: &Path) -> Vec<(PathBuf, u64)> {
    let Ok(root) = opened(directory, 0).map(Root::of) else { return Vec::new() };
    let mut names = Vec::new();
    // What cannot be listed may still be a directory of ours.
    let _ = root.listing(c".", Mounts::Refused).and_then(|opened: OwnedFd| {
        each_entry(opened, |_, name, kind| {
            if kind == Kind::Directory {
                names.push(name.to_owned());
            }
            Ok(())
        })
    });
    let below = names.iter().filter_map(|name| {
        let found = Root::of(root.listing(name, Mounts::Refused).ok()?);
        let name = Path::new(std::str::from_utf8(name.to_bytes()).ok()?);
        left_bytes(&found).map(|bytes| (directory.join(name), bytes))
    });
    let mut found: Vec<_> = below.collect();
    found.extend(left_bytes(&root).map(|bytes| (directory.to_owned(), bytes)));
    found.sort();
    found
}

fn left_bytes(directory: &Root) -> Option<u64> {
    let marker = Marker::read(directory).filter(Marker::is_left_behind)?;
    let trees = marker.trees.iter().filter_map(|definition| TreePlan::of_definition(definition).ok());
    let owned: u64 = marker.owned.iter().map(|name| owned_bytes(directory, name)).sum();
    Some(owned + trees.map(|tree| tree.shape.first_bytes().0).sum::<u64>())
}
