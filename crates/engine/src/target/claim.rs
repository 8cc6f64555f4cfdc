//! Who may use a target: nobody else while it is written, other readers while it is only read.
//!
//! Model: a file or device in use carries a lock of flock(2), shared for readers and exclusive for writers and for scratch
//! files; a device that is written is also claimed from the kernel (`O_EXCL`), together with the device or file behind a
//! loop device. Claims are taken before anything is judged and kept until the [`Claims`] are dropped. A [`Session`] keeps
//! those of all points of a run, so that nobody comes in between two of them; within it the same storage is claimed once
//! and used again. The kernel releases everything when the process ends, however it ends.
//!
//! Several processes of one run share what one of them has claimed ([`loan`]).
//!
//! Limits: flock(2) is advisory, so it excludes runs of Plimsoll and the few tools that ask for it; file systems without
//! locks do without, as do network file systems whose locks want a file open for writing. A device that several machines
//! reach is claimed on each of them. One session per process at a time.

mod loan;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::error::TargetError;
use super::holder::locked as locked_by_others;
use super::place::{Handle, Place};
use crate::display::shown;
use crate::safety::System;
use crate::safety::loops::Base;
use crate::safety::{Refusal, Sharer};

pub use self::loan::{Carried, Elsewhere, Loan};

/// How long a lock or claim is tried for: udev and mount(8) take them for moments, and so does a program that this
/// process starts, until it runs.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// What a part is claimed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Others may read it, too.
    Read,
    /// Nobody else may use it.
    Write,
}

/// One claimed file or device.
#[derive(Debug)]
struct Claim {
    /// Open for reading; carries the lock.
    locked: File,
    exclusive: bool,
    /// The kernel's claim on a device that is written.
    kernels: Option<File>,
    /// A process that no open file reaches has that for all on this machine.
    kernels_there: bool,
    /// Writing was allowed under this claim.
    allowed: bool,
    /// Other processes of the run write there, too.
    lent: Lent,
}

/// Whether a claim is shared with other processes of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lent {
    /// It is this process's alone.
    No,
    /// This process has claimed it, and others use it.
    Out,
    /// Another process has claimed it.
    In,
}

/// What claiming for writing found in exclusive use by others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contested {
    /// The device itself.
    pub(crate) claimed: bool,
    /// What is behind it.
    pub(crate) below: Vec<Sharer>,
    /// Writing was allowed before, and the claim has been kept since: what is stored there now, this run has written.
    pub(crate) allowed: bool,
}

/// Everything that is claimed for one open target, or for a whole run.
#[derive(Debug, Default)]
pub struct Claims {
    parts: Mutex<BTreeMap<Base, Claim>>,
    below: Mutex<BTreeMap<Base, File>>,
    /// Directories with trees of files; each carries the lock.
    directories: Mutex<BTreeMap<Base, File>>,
}

/// The claims of a run, kept between its points.
#[derive(Debug)]
pub struct Session {
    claims: Arc<Claims>,
}

static SESSION: Mutex<Weak<Claims>> = Mutex::new(Weak::new());

impl Session {
    /// From now on every claim of this process is kept until the session is dropped.
    pub fn begin() -> Self {
        let claims = Claims::current();
        *locked(&SESSION) = Arc::downgrade(&claims);
        Self { claims }
    }
}

impl Claims {
    /// Those of the session; new ones outside of one.
    pub(crate) fn current() -> Arc<Self> {
        locked(&SESSION).upgrade().unwrap_or_default()
    }

    /// Claims what is at a place. Exclusive use by somebody else is for the judge to tell of; see [`Contested`].
    ///
    /// # Errors
    /// [`TargetError::Busy`] when another run has the lock, a refusal when another program has it, or that to open it.
    pub(crate) fn take(&self, place: &Place, purpose: Purpose) -> Result<Contested, TargetError> {
        let (Some(handle), Some(base)) = (place.handle(), place.base()) else { return Ok(Contested::default()) };
        let mut parts = locked(&self.parts);
        if let std::collections::btree_map::Entry::Vacant(entry) = parts.entry(base) {
            let file = handle.open_for_reading().map_err(TargetError::io(place.path(), "open it for reading"))?;
            locked_for(purpose, place, &file)?;
            entry.insert(Claim {
                locked: file,
                exclusive: purpose == Purpose::Write,
                kernels: None,
                kernels_there: false,
                allowed: false,
                lent: Lent::No,
            });
        }
        let Some(claim) = parts.get_mut(&base) else { return Ok(Contested::default()) };
        if purpose == Purpose::Read {
            return Ok(Contested::default());
        }
        if !claim.exclusive {
            locked_for(purpose, place, &claim.locked)?;
            claim.exclusive = true;
        }
        let Base::Device(number) = base else { return Ok(Contested::default()) };
        if claim.kernels_there {
            return Ok(Contested { allowed: claim.allowed, ..Contested::default() });
        }
        let claimed = claim.kernels.is_none() && {
            claim.kernels = claimed_from_kernel(|options| handle.open(options));
            claim.kernels.is_none()
        };
        let allowed = claim.allowed;
        drop(parts);
        let below = System::host().unclaimed_below(number);
        let below = below.iter().filter_map(|(base, path)| self.take_below(*base, path)).collect();
        Ok(Contested { claimed, below, allowed })
    }

    /// Claims what is at a place beside a process of this run that is elsewhere and has claimed it: by a shared lock, for either.
    fn join(&self, place: &Place, purpose: Purpose, kernels_there: bool) -> Result<(), TargetError> {
        let (Some(handle), Some(base)) = (place.handle(), place.base()) else { return Ok(()) };
        if let std::collections::btree_map::Entry::Vacant(entry) = locked(&self.parts).entry(base) {
            let locked = handle.open_for_reading().map_err(TargetError::io(place.path(), "open it for reading"))?;
            locked_for(Purpose::Read, place, &locked)?;
            let exclusive = purpose == Purpose::Write;
            entry.insert(Claim { locked, exclusive, kernels: None, kernels_there, allowed: false, lent: Lent::In });
        }
        Ok(())
    }

    /// Claims an open directory. What is given back bears the lock, too, and is to be worked in.
    ///
    /// # Errors
    /// [`TargetError::Busy`] when another run has the lock, a refusal when another program has it.
    pub(crate) fn take_directory(&self, path: &Path, directory: OwnedFd) -> Result<OwnedFd, TargetError> {
        let directory = File::from(directory);
        let look = || TargetError::io(path, "look at it");
        let base = Base::of(&directory.metadata().map_err(look())?);
        let mut directories = locked(&self.directories);
        if let Some(claimed) = directories.get(&base) {
            return Ok(claimed.try_clone().map_err(look())?.into());
        }
        lock(&directory, Purpose::Write).map_err(|()| locked_by_others(path, &directory))?;
        // A directory that is removed keeps its inode number as long as it is open, so nothing else passes for it.
        directories.insert(base, directory.try_clone().map_err(look())?);
        Ok(directory.into())
    }

    /// Notes that a claimed device may be written to.
    pub(crate) fn allow(&self, place: &Place) {
        let Some(base) = place.base() else { return };
        if let Some(claim) = locked(&self.parts).get_mut(&base) {
            claim.allowed = true;
        }
    }

    /// Claims what is behind a loop device; somebody else's use of it otherwise.
    fn take_below(&self, base: Base, path: &Path) -> Option<Sharer> {
        let mut below = locked(&self.below);
        if below.contains_key(&base) || locked(&self.parts).get(&base).is_some_and(|claim| claim.exclusive) {
            return None;
        }
        let open = |options: &OpenOptions| {
            let file = options.open(path)?;
            let found = Base::of(&file.metadata()?);
            if found == base { Ok(file) } else { Err(io::Error::from(io::ErrorKind::NotFound)) }
        };
        let file = match base {
            Base::Device(_) => claimed_from_kernel(open),
            // Under a name that leads elsewhere by now there is nothing to lock; the judge looks at inodes.
            Base::File(..) => Some(open(OpenOptions::new().read(true)).ok()?),
        };
        let name = shown(&path).to_string();
        match file {
            Some(file) if lock(&file, Purpose::Write).is_ok() => {
                below.insert(base, file);
                None
            }
            Some(file) => {
                let usage = match locked_by_others(path, &file) {
                    TargetError::Refused(Refusal::Locked { by, .. }) => format!("locked by {by}"),
                    TargetError::Busy { by, .. } => format!("in use by {by}"),
                    other => other.to_string(),
                };
                Some(Sharer { name, usage })
            }
            None => Some(Sharer { name, usage: "in exclusive use".to_owned() }),
        }
    }

    /// Whether this storage is claimed for writing here, so that finding it claimed means nothing.
    pub(crate) fn holds(&self, base: Base) -> bool {
        let parts = locked(&self.parts);
        parts.get(&base).is_some_and(|claim| claim.kernels.is_some() || claim.kernels_there)
            || locked(&self.below).contains_key(&base)
    }

    /// Whether nobody else may use this file meanwhile.
    pub(crate) fn owns(&self, base: Base) -> bool {
        locked(&self.parts).get(&base).is_some_and(|claim| claim.exclusive)
    }

    /// Whether other processes of the run write to this file, too, and whether this one has lent it to them.
    pub(crate) fn shared(&self, base: Base) -> Option<bool> {
        let parts = locked(&self.parts);
        parts.get(&base).filter(|claim| claim.lent != Lent::No).map(|claim| claim.lent == Lent::Out)
    }

    /// Gives up what was claimed of a file that is deleted.
    pub(crate) fn release(&self, base: Base) {
        locked(&self.parts).remove(&base);
    }
}

/// Whether somebody holds a device exclusively: tried for a moment, without keeping it.
pub(crate) fn is_claimed(handle: &Handle) -> bool {
    let busy = |error: io::Error| error.raw_os_error() == Some(libc::EBUSY);
    patiently(|| (!handle.open(&exclusive_options()).is_err_and(busy)).then_some(())).is_none()
}

fn exclusive_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_EXCL | libc::O_NONBLOCK);
    options
}

/// The kernel's exclusive claim on a block device; `None` when somebody else has it or it cannot be had. Nothing is
/// written by that. Source: open(2), `O_EXCL` on block devices.
fn claimed_from_kernel(open: impl Fn(&OpenOptions) -> io::Result<File>) -> Option<File> {
    patiently(|| match open(&exclusive_options()) {
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => None,
        result => Some(result.ok()),
    })
    .flatten()
}

/// Takes the lock of flock(2); what knows no locks does without.
fn lock(file: &File, purpose: Purpose) -> Result<(), ()> {
    let kind = if purpose == Purpose::Write { libc::LOCK_EX } else { libc::LOCK_SH };
    patiently(|| {
        // SAFETY: flock on an open descriptor; the lock ends with the descriptor.
        let result = unsafe { libc::flock(file.as_raw_fd(), kind | libc::LOCK_NB) };
        let busy = result != 0 && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock;
        (!busy).then_some(())
    })
    .ok_or(())
}

/// Locks what is at a place. Reading harms nothing, so a lock of another program does not keep from it, as none of fcntl(2) does.
fn locked_for(purpose: Purpose, place: &Place, file: &File) -> Result<(), TargetError> {
    match lock(file, purpose).map_err(|()| locked_by_others(place.path(), file)) {
        Err(TargetError::Refused(_)) if purpose == Purpose::Read => Ok(()),
        result => result,
    }
}

/// What `attempt` gives, tried again for a second.
fn patiently<T>(attempt: impl Fn() -> Option<T>) -> Option<T> {
    (0..TRIES).find_map(|tried| {
        if tried > 0 {
            std::thread::sleep(PAUSE);
        }
        attempt()
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
