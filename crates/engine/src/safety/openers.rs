//! Programs that use a target without the kernel's exclusive claim: open for writing, or locked.
//!
//! Model: every descriptor of every process that may be looked at (`/proc/PID/fd`) is known by device and inode, never by
//! name; this process and its children do not count, since what they have open is ours, and neither do the other processes of
//! a run that several of them measure ([`accompanied_by`]). Locks are asked for on
//! the open file itself, which needs no rights over the other process.
//!
//! Limits: other users' processes are seen by root only; memory mapped after its descriptor was closed is not seen.
//! Descriptors on file systems that do not answer are skipped by asking for what the kernel remembers
//! (`AT_STATX_DONT_SYNC`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::Opener;
use super::loops::Base;
use super::system::{System, device_number};
use crate::owner::Run;

/// What other programs have open.
#[derive(Debug)]
pub(super) struct Descriptors {
    system: System,
    /// The process of each descriptor, and where the kernel tells more of it.
    of: BTreeMap<Base, Vec<(u32, PathBuf)>>,
}

/// The other processes of this run.
static COMPANIONS: Mutex<Vec<Run>> = Mutex::new(Vec::new());

/// From now on what these processes have open counts as this one's, as long as they live.
pub fn accompanied_by(companions: Vec<Run>) {
    *COMPANIONS.lock().unwrap_or_else(PoisonError::into_inner) = companions;
}

fn is_companion(pid: u32) -> bool {
    let companions = COMPANIONS.lock().unwrap_or_else(PoisonError::into_inner);
    companions.iter().any(|run| run.pid == pid && run.is_alive())
}

impl Descriptors {
    /// Those of every process but this one. Where a process comes from takes several files each, so that is asked of
    /// those that have the target open.
    pub(super) fn of_others(system: &System) -> Self {
        let own = std::process::id();
        let mut of: BTreeMap<Base, Vec<(u32, PathBuf)>> = BTreeMap::new();
        for pid in system.processes().filter(|pid| *pid != own && !is_companion(*pid)) {
            for (base, info) in system.descriptors(pid) {
                of.entry(base).or_default().push((pid, info));
            }
        }
        Self { system: system.clone(), of }
    }

    /// Who has one of `bases` open for writing, children of this process apart.
    pub(super) fn writers_of(&self, bases: &BTreeSet<Base>) -> Vec<Opener> {
        let own = std::process::id();
        let open = bases.iter().filter_map(|base| self.of.get(base)).flatten();
        // A child that ends in between has no descriptors any more, so it is looked at in this order.
        let others = open.filter(|(pid, _)| !self.system.descends(*pid, own));
        let writing: BTreeSet<u32> = others.filter(|(_, info)| for_writing(info)).map(|(pid, _)| *pid).collect();
        let opener =
            |pid| Opener { pid: Some(pid), program: self.system.program(pid), does: "has it open for writing" };
        writing.into_iter().map(opener).collect()
    }
}

impl System {
    fn processes(&self) -> impl Iterator<Item = u32> {
        note_walk();
        let entries = fs::read_dir(&self.proc).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    /// The files and devices that a process has open, each with the path of its `fdinfo`.
    fn descriptors(&self, pid: u32) -> impl Iterator<Item = (Base, PathBuf)> {
        let directory = self.proc.join(pid.to_string());
        let entries = fs::read_dir(directory.join("fd")).into_iter().flatten().flatten();
        entries.filter_map(move |entry| {
            let info = directory.join("fdinfo").join(entry.file_name());
            Some((base_remembered(&entry.path())?, info))
        })
    }

    /// Whether a process is `ancestor` or comes from it.
    fn descends(&self, pid: u32, ancestor: u32) -> bool {
        let mut pid = pid;
        while pid > 1 {
            if pid == ancestor {
                return true;
            }
            let Some(parent) = self.parent(pid) else { return false };
            pid = parent;
        }
        false
    }

    /// Format: proc(5), `/proc/PID/stat`; the name before the fields may itself contain brackets and blanks.
    fn parent(&self, pid: u32) -> Option<u32> {
        let text = String::from_utf8_lossy(&fs::read(self.proc.join(format!("{pid}/stat"))).ok()?).into_owned();
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    }

    /// The name of a process.
    pub(crate) fn program(&self, pid: u32) -> String {
        let name = fs::read(self.proc.join(format!("{pid}/comm"))).unwrap_or_default();
        let name = String::from_utf8_lossy(&name).trim().chars().filter(|character| !character.is_control()).collect();
        if name == String::new() { "a program".to_owned() } else { name }
    }

    /// Who holds a lock of flock(2) on a file. The table of all locks tells of all users' programs, but names who took
    /// the lock, who may have ended and left it to a child (flock(1)), and on btrfs a file system that stat(2) does not
    /// know. Then whoever has the descriptor counts, which is seen of one's own programs only.
    pub(crate) fn flock_holder(&self, file: &File) -> Option<u32> {
        let metadata = file.metadata().ok()?;
        let alive = |pid: &u32| self.proc.join(pid.to_string()).exists();
        self.flock_in_table(&metadata).filter(alive).or_else(|| {
            let base = Base::of(&metadata);
            self.processes().find(|pid| self.descriptors(*pid).any(|(open, info)| open == base && locks(&info)))
        })
    }

    /// Who took a lock of flock(2). Format: proc(5), `/proc/locks`.
    fn flock_in_table(&self, metadata: &fs::Metadata) -> Option<u32> {
        let (major, minor) = device_number(metadata.dev());
        let place = format!("{major:02x}:{minor:02x}:{}", metadata.ino());
        let text = fs::read_to_string(self.proc.join("locks")).ok()?;
        text.lines().find_map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            let held = words.get(1) == Some(&"FLOCK") && words.get(5) == Some(&place.as_str());
            words.get(4).filter(|_| held)?.parse::<u32>().ok()
        })
    }
}

/// Who holds a lock on the file's whole or parts by fcntl(2), this process apart from the descriptor's own locks.
pub(super) fn locker_of(system: &System, file: &File) -> Option<Opener> {
    // SAFETY: flock is plain data for which all zeros is valid.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: the descriptor is open, and the call reads and writes the one structure given.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    if asked != 0 || lock.l_type == libc::F_UNLCK as libc::c_short {
        return None;
    }
    let pid = u32::try_from(lock.l_pid).ok().filter(|pid| *pid != 0);
    let program = pid.map_or_else(|| "a program".to_owned(), |pid| system.program(pid));
    Some(Opener { pid, program, does: "has locked it" })
}

/// Without those that hold the lock of flock(2) on the open file, who are told when it is claimed.
pub(super) fn without_claims(system: &System, openers: Vec<Opener>, file: &File) -> Vec<Opener> {
    let holder = if openers.is_empty() { None } else { system.flock_holder(file) };
    openers.into_iter().filter(|opener| holder.is_none() || opener.pid != holder).collect()
}

#[cfg(test)]
thread_local! {
    /// How often this thread has gone through all processes.
    pub(crate) static WALKS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

#[cfg_attr(not(test), expect(clippy::missing_const_for_fn, reason = "it takes note in tests"))]
fn note_walk() {
    #[cfg(test)]
    WALKS.set(WALKS.get() + 1);
}

/// What a descriptor is of, from what the kernel remembers: no file system is asked.
fn base_remembered(link: &Path) -> Option<Base> {
    let path = CString::new(link.as_os_str().as_bytes()).ok()?;
    // SAFETY: statx is plain data for which all zeros is valid; the path is a C string.
    let facts = unsafe {
        let mut facts: libc::statx = std::mem::zeroed();
        let mask = libc::STATX_TYPE | libc::STATX_INO;
        let done = libc::statx(libc::AT_FDCWD, path.as_ptr(), libc::AT_STATX_DONT_SYNC, mask, &raw mut facts);
        (done == 0).then_some(facts)?
    };
    match u32::from(facts.stx_mode) & libc::S_IFMT {
        libc::S_IFBLK => Some(Base::Device((facts.stx_rdev_major, facts.stx_rdev_minor))),
        libc::S_IFREG => Some(Base::File((facts.stx_dev_major, facts.stx_dev_minor), facts.stx_ino)),
        _ => None,
    }
}

/// Format: proc(5), `/proc/PID/fdinfo`: a line `flags:` with the flags of open(2) in octal.
fn for_writing(info: &Path) -> bool {
    let text = fs::read_to_string(info).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| i32::from_str_radix(octal.trim(), 8).ok()).unwrap_or(libc::O_RDONLY);
    flags & libc::O_ACCMODE != libc::O_RDONLY && flags & libc::O_PATH == 0
}

/// Format: proc(5), `/proc/PID/fdinfo`: a line `lock:` for every lock that was taken through the descriptor.
fn locks(info: &Path) -> bool {
    let text = fs::read_to_string(info).unwrap_or_default();
    text.lines().any(|line| line.starts_with("lock:") && line.contains("FLOCK"))
}
