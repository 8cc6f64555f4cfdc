//! Lays trees out in their directories, and brings them back to their beginning after a run has changed them.
//!
//! Model: each directory's marker is written first and says that the trees there are changed; then trees of an earlier layout go, directories
//! are made level by level, files are put in order by several threads, everything is written to the device (`syncfs`,
//! so that the layout's own writing does not disturb the measurement), and the marker says that they are ready. Ready
//! trees of the same definition are left as they are, once the file system has shown that they are ([`super::intact`]).
//!
//! Limits: content of files that exist with the right size is not looked at.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plimsoll_workload::files::{FilePlan, LayOut, TreePlan};
use serde::Serialize;

use super::beneath::{Mounts, Root};
use super::calls::{self, Errno, Kind, PathText};
use super::intact::is_intact;
use super::listing::each_entry;
use super::marker::Condition;
use super::parts;
use super::place::Held;
use super::removal;
use super::restoration::{ENTRY_BYTES, Restorer, file_of_name};
use crate::safety::{Permission, Refusal, path_text};
use crate::target::{Space, TargetError};

/// Threads that lay files out: enough to keep a device busy.
const THREADS: usize = 8;
const POLL: Duration = Duration::from_millis(50);

/// What [`prepare`] did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FilesPrepared {
    /// The directory was made by this call.
    pub created: bool,
    /// Whether anything had to be laid out or brought back.
    pub laid_out: bool,
    /// The directory.
    #[serde(serialize_with = "path_text::many")]
    pub scratch: Vec<PathBuf>,
    /// Files that exist at the beginning, over all trees.
    pub files: u64,
    /// Their bytes.
    pub file_bytes: u64,
    /// Directories that exist at the beginning, anchors included.
    pub directories: u64,
}

/// Brings the trees of `plan` below `directories`, the parts of the target, to their beginning. `progress` gets (bytes in
/// order, bytes in all), a file's name counting as a block; setting `stop` ends it soon.
///
/// # Errors
/// A [`TargetError`]. What a stopped layout made stays and is marked as unfinished, unless the directory was made by
/// this call: then it is removed.
pub fn prepare(
    plan: &FilePlan,
    directories: &[PathBuf],
    permission: &Permission,
    progress: &mut dyn FnMut(u64, u64),
    stop: &AtomicBool,
) -> Result<FilesPrepared, TargetError> {
    let mut held = parts::take(plan, directories, permission)?;
    for (number, held) in held.iter_mut().enumerate() {
        if held.marker.condition == Condition::Ready && !is_intact(&held.root, plan, number, stop) {
            // Somebody else has been at them.
            held.marker.condition = Condition::Changed;
        }
    }
    let laid_out = lay_out(&mut held, plan, progress, stop)?;
    let sums: Vec<(u64, u64)> = plan.trees.iter().map(|tree| tree.shape.first_bytes()).collect();
    let directories = |tree: &TreePlan| {
        let there = if tree.lay_out == LayOut::Nothing { 1 } else { tree.shape.directories() };
        (0..there).filter(|directory| tree.shape.directory_exists_first(*directory)).count() as u64
    };
    Ok(FilesPrepared {
        created: held.iter().any(|held| held.created),
        laid_out,
        scratch: held.iter().map(|held| held.path.clone()).collect(),
        files: sums.iter().map(|sum| sum.1).sum(),
        file_bytes: sums.iter().map(|sum| sum.0).sum(),
        directories: plan.trees.iter().map(directories).sum(),
    })
}

/// Lays out what is not in order in directories that are held; whether there was anything to do. A directory that this
/// process made, or has nothing of ours in, is left as it was when that fails.
pub(crate) fn lay_out(
    held: &mut [Held],
    plan: &FilePlan,
    progress: &mut dyn FnMut(u64, u64),
    stop: &AtomicBool,
) -> Result<bool, TargetError> {
    let laid_out = order(held, plan, progress, stop);
    if laid_out.is_err() {
        for held in held.iter().filter(|held| held.created || held.marker.trees.is_empty()) {
            let _ = removal::remove_held(held);
        }
    }
    laid_out
}

fn order(
    held: &mut [Held],
    plan: &FilePlan,
    progress: &mut dyn FnMut(u64, u64),
    stop: &AtomicBool,
) -> Result<bool, TargetError> {
    let every = held.iter_mut().enumerate().map(|(number, held)| Part::of(held, plan, number));
    let mut parts: Vec<Part<'_>> = every.filter(|part| !part.is_ready()).collect();
    parts.iter_mut().try_for_each(Part::clear)?;
    check_space(&parts)?;
    let trees = parts.iter().flat_map(|part| &part.trees);
    let total: u64 = trees.map(|tree| tree.shape.first_bytes()).map(|(bytes, files)| bytes + files * ENTRY_BYTES).sum();
    let done = AtomicU64::new(0);
    let mut report = |done_bytes| {
        if total > 0 {
            progress(done_bytes, total);
        }
    };
    parts.iter_mut().try_for_each(|part| part.fill(&done, &mut report, stop))?;
    Ok(!parts.is_empty())
}

/// One directory of the target, and the trees that belong there.
struct Part<'a> {
    held: &'a mut Held,
    trees: Vec<&'a TreePlan>,
    wanted: Vec<String>,
}

impl<'a> Part<'a> {
    fn of(held: &'a mut Held, plan: &'a FilePlan, number: usize) -> Self {
        let trees: Vec<&TreePlan> = plan.trees.iter().filter(|tree| tree.part == number).collect();
        let wanted = trees.iter().map(|tree| tree.definition.clone()).collect();
        Self { held, trees, wanted }
    }

    fn is_ready(&self) -> bool {
        let marker = &self.held.marker;
        marker.condition == Condition::Ready && marker.trees == self.wanted && self.anchors_exist()
    }

    fn anchors_exist(&self) -> bool {
        self.trees.iter().all(|tree| self.held.root.below(Path::new(&tree.path), false).is_ok())
    }

    fn new_trees(&self) -> impl Iterator<Item = &&'a TreePlan> {
        self.trees.iter().filter(|tree| !self.held.marker.trees.contains(&tree.definition))
    }

    /// Removes trees of an earlier layout, and makes sure that nothing is in the way of new ones.
    fn clear(&mut self) -> Result<(), TargetError> {
        self.held.marker.condition = Condition::Changed;
        self.held.mark()?;
        let is_old = |definition: &&String| !self.wanted.contains(definition);
        let old = self.held.marker.trees.iter().filter(is_old);
        for tree in old.filter_map(|text| TreePlan::of_definition(text).ok()) {
            removal::remove_tree(self.held, &tree)?;
        }
        self.new_trees().try_for_each(|tree| vacant(self.held, tree))
    }

    fn fill(&mut self, done: &AtomicU64, report: &mut dyn FnMut(u64), stop: &AtomicBool) -> Result<(), TargetError> {
        self.held.marker.trees.clone_from(&self.wanted);
        self.held.mark()?;
        for &tree in &self.trees {
            let anchor = anchor(self.held, tree, true)?;
            let shown = self.held.path.join(&tree.path);
            Layout { tree, anchor, shown, done, stop }.carry_out(report)?;
        }
        self.held.marker.condition = Condition::Ready;
        self.held.mark()
    }
}

/// Refuses an anchor in which something already has a name that a tree would give.
fn vacant(held: &Held, tree: &TreePlan) -> Result<(), TargetError> {
    let shown = held.path.join(&tree.path);
    let opened = match held.root.below(Path::new(&tree.path), false) {
        Err(libc::ENOENT) => return Ok(()),
        opened => opened.and_then(|anchor| anchor.listing(c".", Mounts::Crossed)),
    };
    let mut taken = None;
    let listed = opened.and_then(|directory| {
        each_entry(directory, |_, name, _| {
            if taken.is_none() && name.to_str().is_ok_and(gives) {
                taken = Some(name.to_string_lossy().into_owned());
            }
            Ok(())
        })
    });
    listed.map_err(|errno| refused(&held.path, Path::new(&tree.path), errno))?;
    match taken {
        Some(name) => Err(Refusal::InTheWay { path: shown.join(name) }.into()),
        None => Ok(()),
    }
}

/// Whether trees give names like this.
fn gives(name: &str) -> bool {
    let is_directory = name.strip_prefix('d').is_some_and(|rest| rest.parse::<u64>().is_ok());
    is_directory || file_of_name(name).is_some()
}

/// Opens the anchor of a tree, made before if `make` says so.
pub(crate) fn anchor(held: &Held, tree: &TreePlan, make: bool) -> Result<Root, TargetError> {
    let path = Path::new(&tree.path);
    held.root.below(path, make).map_err(|errno| refused(&held.path, path, errno))
}

/// Refuses what file systems have no room for; parts on one file system share its room.
fn check_space(parts: &[Part<'_>]) -> Result<(), TargetError> {
    let mut needed: BTreeMap<u64, (&Path, u64, u64)> = BTreeMap::new();
    for part in parts.iter().filter(|part| part.new_trees().next().is_some()) {
        let seen = calls::seen(part.held.root.fd());
        let device = seen.map_err(|errno| refused(&part.held.path, Path::new(""), errno))?.identity.0;
        let sum = needed.entry(device).or_insert((&part.held.path, 0, 0));
        for tree in &part.trees {
            let (bytes, files) = tree.shape.first_bytes();
            sum.1 += bytes;
            sum.2 += files + tree.shape.directories();
        }
    }
    needed.into_values().try_for_each(|(path, bytes, entries)| has_room(path, bytes, entries))
}

fn has_room(target: &Path, bytes: u64, entries: u64) -> Result<(), TargetError> {
    let asked = Space::of(target).map_err(TargetError::io(target, "ask for free space"));
    let Space { free_bytes, reserve_bytes, free_entries } = asked?;
    let needed_bytes = bytes + entries * ENTRY_BYTES;
    let path = target.to_owned();
    if needed_bytes + reserve_bytes > free_bytes {
        return Err(TargetError::NoSpaceForTrees { path, needed_bytes, free_bytes, reserve_bytes });
    }
    match free_entries.filter(|free| entries > *free) {
        Some(free) => Err(TargetError::TooManyFiles { path, needed: entries, free }),
        None => Ok(()),
    }
}

/// One tree being laid out.
struct Layout<'a> {
    tree: &'a TreePlan,
    anchor: Root,
    /// The anchor's path, for messages.
    shown: PathBuf,
    done: &'a AtomicU64,
    stop: &'a AtomicBool,
}

impl Layout<'_> {
    fn carry_out(&self, report: &mut dyn FnMut(u64)) -> Result<(), TargetError> {
        if self.tree.lay_out == LayOut::Nothing {
            removal::empty_tree(&self.anchor, &self.shown, self.tree)?;
            return Ok(());
        }
        self.make_directories()?;
        self.order_files(report)?;
        report(self.done.load(Ordering::Relaxed));
        calls::sync_file_system(self.anchor.fd()).map_err(|errno| self.refused(Path::new(""), errno))
    }

    fn make_directories(&self) -> Result<(), TargetError> {
        let shape = &self.tree.shape;
        let mut path = PathText::default();
        // Directories come parent by parent.
        let mut above: Option<(u64, OwnedFd)> = None;
        for directory in 1..shape.directories() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(TargetError::Stopped);
            }
            let text = path.put(|text| shape.directory_path(directory, text));
            let parent = shape.parent(directory);
            if above.as_ref().is_none_or(|(number, _)| *number != parent) {
                above = match self.above(text) {
                    Ok(opened) => Some((parent, opened)),
                    // What does not exist has nothing in it.
                    Err(libc::ENOENT) if !shape.directory_exists_first(directory) => continue,
                    Err(errno) => return Err(self.refused(Path::new(&path.shown()), errno)),
                };
            }
            let Some((_, at)) = &above else { continue };
            let name = calls::name_of(text);
            let made = if shape.directory_exists_first(directory) {
                match calls::mkdir(at.as_fd(), name) {
                    Err(libc::EEXIST) => is_directory(calls::stat(at.as_fd(), name)),
                    made => made,
                }
            } else {
                match calls::rmdir(at.as_fd(), name) {
                    Err(libc::ENOENT) => Ok(()),
                    removed => removed,
                }
            };
            made.map_err(|errno| self.refused(Path::new(&path.shown()), errno))?;
        }
        Ok(())
    }

    /// The directory that `path` is in.
    fn above(&self, path: &CStr) -> Result<OwnedFd, Errno> {
        let folder = calls::folder_of(path);
        self.anchor.directory(folder.as_deref().unwrap_or(c"."), Mounts::Refused)
    }

    /// Puts the files of all directories in order, several directories at once.
    fn order_files(&self, report: &mut dyn FnMut(u64)) -> Result<(), TargetError> {
        let next = AtomicU64::new(0);
        let failed = Mutex::new(None);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..THREADS)
                .map(|number| {
                    let (next, failed) = (&next, &failed);
                    scope.spawn(move || self.work(Restorer::new(self.tree, &self.anchor, number as u64), next, failed))
                })
                .collect();
            while workers.iter().any(|worker| !worker.is_finished()) {
                report(self.done.load(Ordering::Relaxed));
                std::thread::park_timeout(POLL.min(Duration::from_millis(10)));
            }
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None if self.stop.load(Ordering::Relaxed) => Err(TargetError::Stopped),
            None => Ok(()),
        }
    }

    fn work(&self, mut restorer: Restorer<'_>, next: &AtomicU64, failed: &Mutex<Option<TargetError>>) {
        let stopped = || self.stop.load(Ordering::Relaxed);
        let advance = |bytes| {
            self.done.fetch_add(bytes, Ordering::Relaxed);
            !stopped()
        };
        loop {
            let directory = next.fetch_add(1, Ordering::Relaxed);
            if directory >= self.tree.shape.directories() || stopped() {
                return;
            }
            if self.tree.shape.files_in(directory).is_empty() {
                continue;
            }
            if let Err(errno) = restorer.restore(directory, &advance) {
                let error = self.refused(Path::new(&restorer.place()), errno);
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                // The others need not go on.
                next.store(u64::MAX / 2, Ordering::Relaxed);
                return;
            }
        }
    }

    fn refused(&self, path: &Path, errno: Errno) -> TargetError {
        refused(&self.shown, path, errno)
    }
}

fn is_directory(seen: Result<calls::Seen, Errno>) -> Result<(), Errno> {
    match seen?.kind {
        Kind::Directory => Ok(()),
        Kind::Link => Err(libc::ELOOP),
        Kind::File | Kind::Other => Err(libc::ENOTDIR),
    }
}

/// Why the layout could not go on at `path` below `shown`.
fn refused(shown: &Path, path: &Path, errno: Errno) -> TargetError {
    let whole = shown.join(path);
    match errno {
        libc::ENOSPC | libc::EDQUOT => TargetError::BecameFullOfTrees { path: whole },
        libc::ELOOP => Refusal::LinkInTree { path: first(shown, path, Path::is_symlink) }.into(),
        libc::ENOTDIR => Refusal::InTheWay { path: first(shown, path, |at| at.exists() && !at.is_dir()) }.into(),
        libc::EEXIST | libc::ENOTEMPTY => Refusal::InTheWay { path: whole }.into(),
        libc::EXDEV => Refusal::MountInTree { path: first(shown, path, is_mount_point) }.into(),
        other => TargetError::io(&whole, "lay it out")(io::Error::from_raw_os_error(other)),
    }
}

/// The first directory on the way from `shown` to `path` of which this is true, or the end. For messages only: paths are
/// looked at anew.
fn first(shown: &Path, path: &Path, is: impl Fn(&Path) -> bool) -> PathBuf {
    let mut at = shown.to_owned();
    for name in path.components() {
        at.push(name);
        if is(&at) {
            break;
        }
    }
    at
}

fn is_mount_point(path: &Path) -> bool {
    // Its own name among the mounts; a path with blanks is told by the end of the way.
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.lines().any(|line| line.split(' ').nth(4) == path.to_str())
}
