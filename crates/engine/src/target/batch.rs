//! Scratch files that are made, resized and filled together, so that hundreds of small ones cost hardly more than one.
//!
//! Model: all files of a batch and their markers are there, and durable, before the first byte of data is written; the data
//! of all is durable before the first marker says that a file is full. A file that is made gets its marker at once, so that
//! a run that is killed in between leaves at most one file that nothing speaks for, and that one is empty. The marker
//! of a file that was there is replaced, so that it speaks for the file at any time, also after a power failure.
//!
//! Limits: a power failure while a batch begins can leave empty files without a marker.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::claim::{Claims, Purpose};
use super::error::TargetError;
use super::fill::{Region, fill, open_for_fill};
use super::marker::{DOING, Marker, State};
use super::place::{Handle, Place};
use crate::durable;
use crate::owner::Run;
use crate::safety::Refusal;
use crate::safety::loops::Base;

/// What is to be done for one scratch file.
pub(super) struct Step {
    pub(super) path: PathBuf,
    /// The file, claimed; none where there is none yet.
    pub(super) existing: Option<Place>,
    /// Size it shall have.
    pub(super) size_bytes: u64,
    /// Bytes that are filled already.
    pub(super) filled_bytes: u64,
    /// Nothing is to be done.
    pub(super) ready: bool,
    /// Bytes the file system has yet to allocate.
    pub(super) needed_bytes: u64,
}

/// A file that is being made or filled.
struct Filling<'a> {
    step: &'a Step,
    file: File,
    marker: Marker,
}

/// Carries out a batch of steps. A file that existed keeps at least what was filled before, whatever happens; one that was
/// made stays until [`discard`].
///
/// # Errors
/// A [`TargetError`]; [`TargetError::Stopped`] when not all could be filled.
pub(super) fn carry_out(
    steps: &[Step],
    claims: &Claims,
    advance: &mut dyn FnMut(u64),
    stop: &AtomicBool,
) -> Result<(), TargetError> {
    let mut batch = begin(steps, claims)?;
    let result = fill_all(&batch, advance, stop);
    match result {
        Ok(filled) => {
            for (one, filled_bytes) in batch.iter_mut().zip(filled) {
                one.end(filled_bytes);
            }
        }
        Err((number, error)) => {
            let failure = failure(error, batch[number].step);
            batch.retain_mut(Filling::take_back);
            save(&batch)?;
            return Err(failure);
        }
    }
    save(&batch)?;
    if batch.iter().all(|one| one.marker.full) { Ok(()) } else { Err(TargetError::Stopped) }
}

/// Makes and opens the files, with markers that say what is to become of them.
fn begin<'a>(steps: &'a [Step], claims: &Claims) -> Result<Vec<Filling<'a>>, TargetError> {
    let (mut batch, mut ready, mut made) = (Vec::new(), Vec::new(), Vec::new());
    for step in steps {
        match &step.existing {
            None => {
                let (one, written) = create(step, claims)?;
                batch.push(one);
                made.push((step.path.as_path(), written));
            }
            Some(_) if step.ready => {
                let Some(mut marker) = Marker::read(&step.path) else { continue };
                marker.run = Some(Run::this());
                ready.push((step.path.as_path(), marker));
            }
            Some(place) => batch.push(take_up(step, place)?),
        }
    }
    let paths: Vec<_> = made.iter().map(|(path, _)| *path).collect();
    let unsaved = |(number, error): (usize, io::Error)| TargetError::io(paths[number], DOING)(error);
    durable::sync(&made.iter().map(|(_, written)| written).collect::<Vec<_>>()).map_err(unsaved)?;
    durable::sync_folders(&paths).map_err(unsaved)?;
    let there =
        batch.iter().filter(|one| one.step.existing.is_some()).map(|one| (one.step.path.as_path(), &one.marker));
    Marker::write_all(there.chain(ready.iter().map(|(path, marker)| (*path, marker))))?;
    Ok(batch)
}

/// Gives every file its size and fills it.
fn fill_all(
    batch: &[Filling<'_>],
    advance: &mut dyn FnMut(u64),
    stop: &AtomicBool,
) -> Result<Vec<u64>, (usize, io::Error)> {
    for (number, one) in batch.iter().enumerate() {
        resize(&one.file, one.step.size_bytes).map_err(|error| (number, error))?;
    }
    let regions: Vec<_> = batch
        .iter()
        .map(|Filling { step, file, marker }| Region {
            file,
            range: step.filled_bytes..step.size_bytes,
            seed: marker.seed(),
        })
        .collect();
    fill(&regions, advance, stop)
}

fn save(batch: &[Filling<'_>]) -> Result<(), TargetError> {
    Marker::write_all(batch.iter().map(|one| (one.step.path.as_path(), &one.marker)))
}

impl<'a> Filling<'a> {
    fn new(step: &'a Step, file: &File, mut marker: Marker) -> io::Result<Self> {
        (marker.size_bytes, marker.filled_bytes, marker.full) = (step.size_bytes, step.filled_bytes, false);
        (marker.run, marker.wrote_ns) = (Some(Run::this()), None);
        if marker.state == State::InUse {
            marker.state = State::Filling;
        }
        let file = open_for_fill(&Handle::of(file)?)?;
        Ok(Self { step, file, marker })
    }

    /// Notes up to where the file is filled, now that this is durable.
    fn end(&mut self, filled_bytes: u64) {
        let marker = &mut self.marker;
        marker.filled_bytes = filled_bytes;
        marker.full = marker.filled_bytes == marker.size_bytes;
        if marker.full && marker.state == State::Filling {
            marker.state = State::InUse;
        }
        marker.allocated_bytes = self.file.metadata().map_or(0, |metadata| metadata.blocks() * 512);
        marker.settle(&self.file);
    }

    /// Gives a file that existed the size up to which it was filled before; whether there is such a file.
    fn take_back(&mut self) -> bool {
        let (step, marker) = (self.step, &mut self.marker);
        if step.existing.is_none() || step.filled_bytes == 0 || self.file.set_len(step.filled_bytes).is_err() {
            return false;
        }
        (marker.size_bytes, marker.full) = (step.filled_bytes, true);
        marker.settle(&self.file);
        true
    }
}

/// Makes a file, and its marker, which is not durable yet.
fn create<'a>(step: &'a Step, claims: &Claims) -> Result<(Filling<'a>, File), TargetError> {
    let path = &step.path;
    if fs::symlink_metadata(Marker::path_for(path)).is_ok() && Marker::read(path).is_none() {
        return Err(TargetError::MarkerInTheWay { path: Marker::path_for(path) });
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let file = options.open(path).map_err(|error| match error.kind() {
        // It was not there a moment ago.
        io::ErrorKind::AlreadyExists => made_meanwhile(path),
        _ => TargetError::io(path, "make it")(error),
    })?;
    let marked = Place::of_file(path, &file).and_then(|place| {
        claims.take(&place, Purpose::Write)?;
        let look = TargetError::io(path, "look at it");
        let metadata = file.metadata().map_err(look)?;
        let written = Marker::new(&metadata, step.size_bytes);
        let one = Filling::new(step, &file, written).map_err(TargetError::io(path, "open it for writing"))?;
        let written = one.marker.put(path).map_err(TargetError::io(path, DOING))?;
        Ok((one, written))
    });
    if marked.is_err() {
        // Made an instant ago by this very function, and empty.
        let _ = fs::remove_file(path);
        let _ = Marker::remove(path);
    }
    marked
}

/// Two runs wanted to make one file, and the other was quicker.
fn made_meanwhile(path: &Path) -> TargetError {
    let by = match Marker::read(path).and_then(|marker| marker.run) {
        Some(run) => format!("another run of Plimsoll (pid {})", run.pid),
        None => "another program, which has just made it".to_owned(),
    };
    TargetError::Busy { path: path.to_owned(), by }
}

/// Opens a scratch file that exists and is claimed.
fn take_up<'a>(step: &'a Step, place: &Place) -> Result<Filling<'a>, TargetError> {
    let path = place.path();
    let foreign = || TargetError::from(Refusal::ForeignFile { path: path.to_owned() });
    let handle = place.handle().ok_or_else(foreign)?;
    let opened = handle.open(OpenOptions::new().read(true).write(true));
    let file = opened.map_err(TargetError::io(path, "open it for writing"))?;
    let metadata = file.metadata().map_err(TargetError::io(path, "look at it"))?;
    let marker = Marker::of(path, &metadata).ok_or_else(foreign)?;
    Filling::new(step, &file, marker).map_err(TargetError::io(path, "open it for writing"))
}

/// Gives the file its size and, where the file system can, its blocks.
fn resize(file: &File, size_bytes: u64) -> io::Result<()> {
    file.set_len(size_bytes)?;
    let length = i64::try_from(size_bytes).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    // SAFETY: a plain system call on an open descriptor.
    if unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, length) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => Ok(()),
        error => Err(error),
    }
}

/// The sentence for a failed fill.
fn failure(error: io::Error, step: &Step) -> TargetError {
    let path = step.path.clone();
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => TargetError::BecameFull { path },
        Some(libc::EFBIG) => TargetError::TooLarge { path, size_bytes: step.size_bytes },
        _ => TargetError::Io { path, doing: "write it", source: error },
    }
}

/// Removes what a batch made. Best effort: the error that led here matters more.
pub(super) fn discard(path: &Path, claims: &Claims) {
    // Another run may have made a file of that name just before.
    let ours = |metadata: &fs::Metadata| claims.owns(Base::of(metadata)) && Marker::of(path, metadata).is_some();
    if let Some(metadata) = fs::symlink_metadata(path).ok().filter(ours) {
        let _ = fs::remove_file(path);
        let _ = Marker::remove(path);
        claims.release(Base::of(&metadata));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::durable::{STEPS, Step as Done};
    use crate::target::{TargetSpec, prepare};

    const FILES: usize = 100;

    fn target(directory: &Path) -> TargetSpec {
        let names: Vec<_> = (0..FILES).map(|number| directory.join(number.to_string()).display().to_string()).collect();
        format!("concat:{}?sizes=16KiB", names.join(",")).parse().unwrap()
    }

    #[test]
    fn many_files_wait_for_their_device_a_few_times_together_and_not_each_for_itself() {
        let directory = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
        let target = target(directory.path());
        STEPS.take();
        prepare(&target, None, &Default::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap();
        let steps = STEPS.take();
        let runs: Vec<_> = steps.chunk_by(|one, next| one == next).map(|run| (run[0], run.len())).collect();
        let renamed = [durable::TOGETHER, FILES - durable::TOGETHER];
        // Elsewhere each file is flushed alone.
        if durable::is_local(&File::open(directory.path()).unwrap()) {
            // Markers, waits for them and their names; data and markers beside, a wait for each; markers anew, a wait.
            let batch = |files| [(Done::Rename, files), (Done::Flush, 2 + 2), (Done::Rename, files), (Done::Flush, 1)];
            assert_eq!(runs, renamed.map(batch).concat(), "nothing is told before it is durable");
        }
    }

    #[test]
    fn a_stop_among_many_files_leaves_none_of_them() {
        let directory = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
        let stop = AtomicBool::new(false);
        let mut progress = |done, _| stop.store(done > 80 * 16_384, Ordering::Relaxed);
        let result = prepare(&target(directory.path()), None, &Default::default(), &mut progress, &stop);
        assert!(matches!(result, Err(TargetError::Stopped)), "{result:?}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
