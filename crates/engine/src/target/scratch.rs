//! Scratch files: made, filled, used again, deleted.
//!
//! Model: before anything is written, every part gets a [`Step`] (keep, or fill from an offset on) and the free space
//! is checked for all of them together; then the steps are carried out, several at once ([`super::batch`]). A [`Marker`] beside each file says that it is
//! ours and how far it is filled, so a killed fill goes on where it was. A marked file is refilled when it has become
//! compressible or has holes (an earlier workload wrote zeros or trimmed it), since reads of such data say nothing.
//!
//! Limits: only regular files are prepared; devices and files of others are left exactly as they are.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use plimsoll_engine::{safety::Permission, target::{prepare, remove}};
//! let spec = "/data/scratch".parse().unwrap();
//! let mut progress = |done, total| eprintln!("{done} of {total}");
//! let made = prepare(&spec, Some(1 << 30), &Permission::default(), &mut progress, &AtomicBool::new(false)).unwrap();
//! if made.created {
//!     remove(&spec).unwrap();
//! }
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::batch::{Step, carry_out, discard};
use super::claim::{Claims, Purpose};
use super::error::TargetError;
use super::fill::CHUNK_BYTES;
use super::look::{Found, Pages, facts_in_passing};
use super::marker::{Marker, State};
use super::place::{Place, places};
use super::sample::{COMPRESSIBLE_BELOW_BITS, Sample};
use super::space::Space;
use super::spec::{PartSpec, TargetSpec};
use crate::durable::TOGETHER;
use crate::safety::loops::Base;
use crate::safety::{Permission, judge, path_text};

/// Default size of a scratch target unless a quarter of the free space is less.
pub const DEFAULT_SIZE_BYTES: u64 = 4 << 30;
/// Sizes are multiples of this.
const STEP_BYTES: u64 = 4096;

/// What [`prepare`] did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prepared {
    /// Every file of the target was made by this call (and is the caller's to [`remove`]).
    pub created: bool,
    /// Something was written, resized or made by this call: what was known of the target before no longer holds.
    pub changed: bool,
    /// Bytes written by this call.
    pub filled_bytes: u64,
    /// Resolved paths of the scratch files of this target, whenever they were made.
    #[serde(serialize_with = "path_text::many")]
    pub scratch: Vec<PathBuf>,
}

/// Makes and fills the scratch files of a target; whatever else the target consists of is left alone. `size_bytes` is
/// the whole target's size, unless the specification has sizes of parts; without either, new files share
/// [`DEFAULT_SIZE_BYTES`] or a quarter of the free space, and existing scratch files keep theirs. `progress` gets (bytes written, bytes to write); setting `stop` ends it soon.
///
/// # Errors
/// A [`TargetError`]. What this call made is removed again, also on [`TargetError::Stopped`].
pub fn prepare(
    spec: &TargetSpec,
    size_bytes: Option<u64>,
    permission: &Permission,
    progress: &mut dyn FnMut(u64, u64),
    stop: &AtomicBool,
) -> Result<Prepared, TargetError> {
    let parts = spec.parts();
    let places = places(parts)?;
    let share_bytes = size_bytes.map(|size| share(spec, size)).transpose()?;
    let claims = Claims::current();
    let found: Vec<_> = parts.iter().zip(&places).collect();
    let steps = plan_all(&found, share_bytes, permission, &claims)?;
    check_space(&steps)?;

    let total: u64 = steps.iter().map(|step| step.size_bytes - step.filled_bytes).sum();
    let mut done = 0;
    let mut made = Vec::new();
    for batch in steps.chunks(TOGETHER) {
        let mut advance = |bytes| {
            done += bytes;
            progress(done, total);
        };
        made.extend(batch.iter().filter(|step| step.existing.is_none()).map(|step| step.path.as_path()));
        if let Err(error) = carry_out(batch, &claims, &mut advance, stop) {
            made.iter().for_each(|path| discard(path, &claims));
            return Err(error);
        }
    }
    Ok(Prepared {
        changed: steps.iter().any(|step| !step.ready),
        created: !parts.is_empty() && made.len() == parts.len(),
        filled_bytes: done,
        scratch: steps.iter().map(|step| step.path.clone()).collect(),
    })
}

/// Each part's share of the target's size.
fn share(spec: &TargetSpec, size_bytes: u64) -> Result<u64, TargetError> {
    if spec.parts().iter().any(|part| part.size_bytes.is_some()) {
        return Err(TargetError::SizeTwice { asked_bytes: size_bytes });
    }
    let parts = (spec.parts().len() as u64).max(1);
    let unit = if let TargetSpec::Stripe { unit_bytes, .. } = spec { u64::from(*unit_bytes) } else { STEP_BYTES };
    let step_bytes = parts * unit.max(STEP_BYTES).next_multiple_of(STEP_BYTES);
    if size_bytes == 0 || !size_bytes.is_multiple_of(step_bytes) {
        let right_bytes = (size_bytes / step_bytes).max(1) * step_bytes;
        return Err(TargetError::SizeOdd { asked_bytes: size_bytes, step_bytes, right_bytes });
    }
    Ok(size_bytes / parts)
}

/// What the parts need, each of which shall have its own size or this one; nothing for devices and somebody's files.
fn plan_all(
    found: &[Found<'_>],
    share_bytes: Option<u64>,
    permission: &Permission,
    claims: &Claims,
) -> Result<Vec<Step>, TargetError> {
    let size = |part: &PartSpec| part.size_bytes.or(share_bytes);
    let planned = found.iter().map(|&part| plan(part, size(part.0), found.len() as u64, claims));
    let mut steps = planned.collect::<Result<Vec<_>, _>>()?;
    let written = |step: &Step| step.existing.is_some() && !step.ready;
    let again: Vec<_> = (0..found.len()).filter(|&number| steps[number].as_ref().is_some_and(written)).collect();
    let again_found: Vec<_> = again.iter().map(|&number| found[number]).collect();
    let facts = facts_in_passing(&again_found, Pages::Forgotten);
    for (number, facts) in again.into_iter().zip(facts) {
        // A scratch file that somebody put a file system in, or a loop device on, has become theirs.
        if facts.is_some_and(|facts| judge(&[facts], permission).is_err()) {
            let (part, Place::File { path, metadata, .. }) = found[number] else { continue };
            steps[number] = foreign(part, path, metadata.len(), size(part))?;
        }
    }
    Ok(steps.into_iter().flatten().collect())
}

/// What one part needs, judged by its marker alone; `None` for a device or somebody's file.
fn plan(
    (part, place): Found<'_>,
    size_bytes: Option<u64>,
    parts: u64,
    claims: &Claims,
) -> Result<Option<Step>, TargetError> {
    match place {
        Place::Missing { path } => {
            let size_bytes = match size_bytes {
                Some(size_bytes) => size_bytes,
                None => default_size(path, parts)?,
            };
            let (path, needed_bytes) = (path.clone(), size_bytes);
            Ok(Some(Step { path, existing: None, size_bytes, filled_bytes: 0, ready: false, needed_bytes }))
        }
        Place::File { path, metadata, .. } => {
            if Marker::of(path, metadata).is_none() {
                // A run that is making it has the lock, but no marker yet.
                if size_bytes.is_some_and(|asked_bytes| asked_bytes != metadata.len()) {
                    claims.take(place, Purpose::Read)?;
                }
                return foreign(part, path, metadata.len(), size_bytes);
            }
            claims.take(place, Purpose::Write)?;
            // Another run may have ended just before this one got the file.
            let Some(marker) = Marker::of(path, metadata) else {
                return foreign(part, path, metadata.len(), size_bytes);
            };
            plan_again(place, metadata, &marker, size_bytes).map(Some)
        }
        Place::Device { path, handle, .. } => match size_bytes {
            None => Ok(None),
            Some(asked_bytes) => {
                let mut device = handle.open_for_reading().map_err(TargetError::io(path, "open it for reading"))?;
                let end = io::Seek::seek(&mut device, io::SeekFrom::End(0));
                foreign(part, path, end.map_err(TargetError::io(path, "ask for its size"))?, Some(asked_bytes))
            }
        },
    }
}

/// What a scratch file of ours needs to have this size, or the one it has.
fn plan_again(
    place: &Place,
    metadata: &fs::Metadata,
    marker: &Marker,
    size_bytes: Option<u64>,
) -> Result<Step, TargetError> {
    let size_bytes = size_bytes.unwrap_or(marker.size_bytes);
    let filled_bytes = still_filled(place, marker)?.min(size_bytes);
    Ok(Step {
        path: place.path().to_owned(),
        existing: Some(place.clone()),
        size_bytes,
        filled_bytes,
        ready: marker.full && filled_bytes == size_bytes && marker.size_bytes == size_bytes,
        needed_bytes: size_bytes.saturating_sub(metadata.blocks() * 512),
    })
}

/// Something that is not ours to resize.
fn foreign(part: &PartSpec, path: &Path, found_bytes: u64, asked: Option<u64>) -> Result<Option<Step>, TargetError> {
    match asked {
        Some(asked_bytes) if asked_bytes != found_bytes => {
            let advice = if part.size_bytes.is_some() { "write `-` for it in `sizes`" } else { "leave `size` out" };
            Err(TargetError::SizeNotOurs { path: path.to_owned(), found_bytes, asked_bytes, advice })
        }
        _ => Ok(None),
    }
}

/// How much of a scratch file still holds incompressible data: what its marker says, or nothing if a sample says
/// otherwise.
fn still_filled(place: &Place, marker: &Marker) -> Result<u64, TargetError> {
    let (path, Some(handle)) = (place.path(), place.handle().filter(|_| marker.full)) else {
        return Ok(marker.filled_bytes);
    };
    let file = handle.open_for_reading().map_err(TargetError::io(path, "open it for reading"))?;
    let sample = Sample::of(&file).map_err(TargetError::io(path, "read it"))?;
    let holes = sample.allocated_bytes < marker.allocated_bytes - marker.allocated_bytes / 100;
    let spoilt = holes || sample.entropy_bits_per_byte < COMPRESSIBLE_BELOW_BITS;
    Ok(if spoilt { 0 } else { marker.filled_bytes })
}

fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// What is free where a file is, or shall be.
fn space_for(path: &Path) -> Result<Space, TargetError> {
    Space::of(directory_of(path)).map_err(TargetError::io(path, "ask for free space"))
}

/// Size of a new file when none is asked for: its share of 4 GiB or of a quarter of the free space, in whole MiB.
pub(super) fn default_size(path: &Path, parts: u64) -> Result<u64, TargetError> {
    let Space { free_bytes, .. } = space_for(path)?;
    let size_bytes = DEFAULT_SIZE_BYTES.min(free_bytes / 4) / parts / CHUNK_BYTES * CHUNK_BYTES;
    if size_bytes == 0 {
        let (needed_bytes, reserve_bytes) = (4 * parts * CHUNK_BYTES, 0);
        return Err(TargetError::NoSpace { path: path.to_owned(), needed_bytes, free_bytes, reserve_bytes });
    }
    Ok(size_bytes)
}

/// Whether every file system has room for all that is to be allocated on it.
fn check_space(steps: &[Step]) -> Result<(), TargetError> {
    let mut needed: BTreeMap<u64, (u64, &Path)> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.needed_bytes > 0) {
        let metadata =
            fs::metadata(directory_of(&step.path)).map_err(TargetError::io(&step.path, "look at its directory"))?;
        needed.entry(metadata.dev()).or_insert((0, &step.path)).0 += step.needed_bytes;
    }
    for (needed_bytes, path) in needed.into_values() {
        let Space { free_bytes, reserve_bytes, .. } = space_for(path)?;
        if needed_bytes > free_bytes.saturating_sub(reserve_bytes) {
            return Err(TargetError::NoSpace { path: path.to_owned(), needed_bytes, free_bytes, reserve_bytes });
        }
    }
    Ok(())
}

/// Deletes the target's scratch files with their markers, and says which. Files that Plimsoll did not make stay, and so do
/// those that somebody else has written to since.
///
/// # Errors
/// When a file of ours cannot be deleted, or another run uses it.
pub fn remove(spec: &TargetSpec) -> Result<Vec<PathBuf>, TargetError> {
    let claims = Claims::current();
    let mut removed = Vec::new();
    for place in places(spec.parts())? {
        let path = place.path();
        match &place {
            Place::File { metadata, .. } if Marker::of(path, metadata).is_some() => {
                claims.take(&place, Purpose::Write)?;
                // What is deleted by name is what was claimed, as far as a name allows.
                let now = fs::symlink_metadata(path).map_err(TargetError::io(path, "look at it"))?;
                if Some(Base::of(&now)) != place.base() {
                    continue;
                }
                fs::remove_file(path).map_err(TargetError::io(path, "delete it"))?;
                Marker::remove(path).map_err(TargetError::io(path, "delete its marker"))?;
                claims.release(Base::of(metadata));
                removed.push(path.to_owned());
            }
            Place::Missing { .. } if Marker::read(path).is_some() => {
                Marker::remove(path).map_err(TargetError::io(path, "delete its marker"))?;
            }
            Place::Missing { .. } => Marker::remove_leftover(path),
            _ => {}
        }
    }
    Ok(removed)
}

/// Notes in the markers of the target's scratch files that no run uses them any more, and that they stay.
///
/// # Errors
/// When a marker cannot be written.
pub fn release(spec: &TargetSpec) -> Result<(), TargetError> {
    let claims = Claims::current();
    let mut markers = Vec::new();
    for place in places(spec.parts())? {
        let Place::File { path, metadata, .. } = place else { continue };
        if let Some(mut marker) = Marker::of(&path, &metadata) {
            (marker.run, marker.state) = (None, State::Kept);
            if claims.shared(Base::of(&metadata)) == Some(true)
                && let Ok(file) = fs::File::open(&path)
            {
                marker.settle(&file);
            }
            markers.push((path, marker));
        }
    }
    Marker::write_all(markers.iter().map(|(path, marker)| (path.as_path(), marker)))
}

/// The scratch files in a directory, with their sizes, that runs left behind when they were killed; in order.
pub fn left_behind(directory: &Path) -> Vec<(PathBuf, u64)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == "plimsoll"));
    let found = files.map(|marker| marker.with_extension("")).filter_map(|path| {
        let metadata = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let left = Marker::of(&path, &metadata)?.is_left_behind();
        left.then_some((path, metadata.len()))
    });
    let mut found: Vec<_> = found.collect();
    found.sort();
    found
}
