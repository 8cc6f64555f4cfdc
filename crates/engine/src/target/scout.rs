//! Whether storage answers at all, asked by a process of its own before this one touches it.
//!
//! Purpose: a server that hangs (NFS, FUSE, a disk that is gone) keeps whoever asks it in the kernel, where no signal is
//! served and from where not even a process that ends can leave. Model: a child of this process, the *scout*, asks
//! everything that the look at a target will ask, and says after each [`Question`] that it has come back; whoever waits
//! for that is told how long it has been and may give up, leaving the scout where it is. It holds nothing of ours: no
//! descriptor, no lock. Asked are the parts of a target, and what the safety rules compare them with: swap spaces, loop
//! devices and the files behind them, which may lie on a mount that is dead although the target's is not.
//!
//! Limits: storage that falls silent after it has answered the scout is not waited for here. Without room for a further
//! process nobody is sent.
//!
//! ```
//! use plimsoll_engine::target::{Question, await_answer};
//! await_answer(&[Question::about("/".as_ref())], &mut |name, waited| {
//!     println!("no answer from {name} for {waited:?}");
//!     waited.as_secs() < 60
//! })
//! .unwrap();
//! ```

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::TargetError;
use super::spec::TargetSpec;
use crate::display::shown;
use crate::safety::System;
use crate::safety::kernel_tables::{Mounts, swap_paths};
use crate::safety::loops::{self, backing_names};

/// How often whoever waits is asked whether to go on.
const LOOK: Duration = Duration::from_millis(50);

/// What is done with a path to hear whether it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// What everybody does who uses a target.
    Use,
    /// Its metadata are asked for.
    Look,
    /// A loop device is asked what is behind it, for which the kernel asks that.
    Status,
}

/// A path that is asked, and what it is called when it does not answer.
#[derive(Clone, Debug)]
pub struct Question {
    path: PathBuf,
    /// `/data/file`, `/mnt/disk.img (behind loop0)`.
    name: String,
    way: Way,
}

impl Question {
    /// What is at a path that will be used.
    pub fn about(path: &Path) -> Self {
        Self { path: path.to_owned(), name: shown(path).to_string(), way: Way::Use }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Everything that is asked when this target is looked at; nothing for a modelled one.
    pub fn of_target(spec: &TargetSpec) -> Vec<Self> {
        let parts: Vec<_> = spec.parts().iter().map(|part| Self::about(&part.path)).collect();
        let beside = if parts.is_empty() { Vec::new() } else { Self::beside(&System::host()) };
        parts.into_iter().chain(beside).collect()
    }

    /// What any target is compared with.
    fn beside(system: &System) -> Vec<Self> {
        let look = |path: PathBuf, role: &str| {
            let name = format!("{} ({role})", shown(&path));
            Self { path, name, way: Way::Look }
        };
        let mut questions: Vec<_> = swap_paths(system).into_iter().map(|path| look(path, "swap space")).collect();
        let sources = Mounts::of(system).unnumbered_sources();
        questions.extend(sources.into_iter().map(|path| look(path, "source of a mount")));
        for (device, names) in backing_names(system) {
            let role = format!("behind {}", shown(&device));
            questions.extend(names.into_iter().map(|path| look(path, &role)));
            let name = format!("{} (asked what is behind it)", shown(&device));
            questions.push(Self { path: device, name, way: Way::Status });
        }
        questions
    }
}

/// A path and the directory it is in, as system calls take them.
struct Asked {
    path: CString,
    directory: CString,
    way: Way,
}

impl Asked {
    /// `None` for what no path can be.
    fn of(question: &Question) -> Option<Self> {
        let path = question.path.as_path();
        let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let name = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
        Some(Self { path: name(path)?, directory: name(directory)?, way: question.way })
    }
}

/// Waits until everything has answered, whatever it says. `waiting` is told several times a second what has not, and for
/// how long; when it returns false the wait is given up.
///
/// # Errors
/// [`TargetError::Stopped`] when it was given up.
pub fn await_answer(
    questions: &[Question],
    waiting: &mut dyn FnMut(&str, Duration) -> bool,
) -> Result<(), TargetError> {
    answers_to(ask, questions, waiting)
}

/// The same with another way to ask. `ask` is called in the scout, where only system calls are safe.
fn answers_to(
    ask: fn(&Asked),
    questions: &[Question],
    waiting: &mut dyn FnMut(&str, Duration) -> bool,
) -> Result<(), TargetError> {
    let (named, asked): (Vec<_>, Vec<_>) =
        questions.iter().filter_map(|question| Some((question.name.as_str(), Asked::of(question)?))).unzip();
    if asked.is_empty() {
        return Ok(());
    }
    // Without a descriptor or a process to spare, what is slow is not told, which is no reason to refuse the target.
    let Ok((scout, mut said)) = send(ask, &asked) else { return Ok(()) };
    let (mut answered, mut since) = (0, Instant::now());
    let mut words = [0; 64];
    while let Some(name) = named.get(answered) {
        if !is_readable(&said) {
            if !waiting(name, since.elapsed()) {
                // SAFETY: the child of this process, which nobody else waits for; it is left where it is.
                unsafe {
                    libc::kill(scout, libc::SIGKILL);
                    libc::waitpid(scout, std::ptr::null_mut(), libc::WNOHANG);
                }
                return Err(TargetError::Stopped);
            }
            continue;
        }
        match said.read(&mut words) {
            Ok(0) => break,
            Ok(count) => (answered, since) = (answered + count, Instant::now()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    // SAFETY: as above; it has said its last word and ends.
    unsafe { libc::waitpid(scout, std::ptr::null_mut(), 0) };
    Ok(())
}

/// Waits a moment for a word.
fn is_readable(said: &File) -> bool {
    let mut poll = libc::pollfd { fd: said.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure, of an open descriptor.
    unsafe { libc::poll(&raw mut poll, 1, LOOK.as_millis() as libc::c_int) > 0 }
}

/// Sends the scout; its number, and what it says: a byte per path.
fn send(ask: fn(&Asked), asked: &[Asked]) -> io::Result<(libc::pid_t, File)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, and owned here alone.
    let (said, say) = unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) };
    // SAFETY: signal sets are plain data. The child serves no signal, as handlers are not for it, and makes nothing but
    // system calls until it ends, so that locks of threads that it does not have do not matter.
    let scout = unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let scout = libc::fork();
        if scout == 0 {
            go(ask, asked, say.as_raw_fd());
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        scout
    };
    if scout < 0 { Err(io::Error::last_os_error()) } else { Ok((scout, said)) }
}

/// What the scout does.
fn go(ask: fn(&Asked), asked: &[Asked], say: libc::c_int) -> ! {
    // Whatever else is open is the parent's: its locks, and pipes whose readers wait for their end.
    close_from_to(0, say as libc::c_uint);
    close_from_to(say as libc::c_uint + 1, libc::c_uint::MAX);
    for one in asked {
        ask(one);
        // SAFETY: one byte of a constant. Nobody hears it if the parent has ended.
        unsafe { libc::write(say, b".".as_ptr().cast(), 1) };
    }
    // SAFETY: ends this process without anything that was registered for its end.
    unsafe { libc::_exit(0) }
}

/// Closes the descriptors from `first` up to, but without, `end`.
fn close_from_to(first: libc::c_uint, end: libc::c_uint) {
    const OLD_KERNELS_CLOSE: libc::c_uint = 4096;
    if first >= end {
        return;
    }
    // SAFETY: nothing in this process uses them any more.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, end - 1, 0) != 0 {
            (first..end.min(OLD_KERNELS_CLOSE)).for_each(|fd| {
                libc::close(fd as libc::c_int);
            });
        }
    }
}

/// Asks, with system calls alone.
fn ask(asked: &Asked) {
    match asked.way {
        Way::Use => touch(asked),
        // SAFETY: a C string that outlives the call, and a structure of the right kind.
        Way::Look => unsafe {
            let mut found: libc::stat = std::mem::zeroed();
            libc::stat(asked.path.as_ptr(), &raw mut found);
        },
        Way::Status => loops::ask_status(&asked.path),
    }
}

/// Does what everybody will do who looks at a target: finds it, asks for its size and its file system, opens and reads it.
fn touch(asked: &Asked) {
    const HELD: libc::c_int = libc::O_PATH | libc::O_CLOEXEC;
    const READ: libc::c_int = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: C strings that outlive the calls, structures of the right kind, and a buffer of the size given.
    unsafe {
        let mut at = asked.path.as_ptr();
        let mut held = libc::open(at, HELD);
        if held < 0 {
            at = asked.directory.as_ptr();
            held = libc::open(at, HELD);
        }
        let (mut file, mut system): (libc::stat, libc::statfs) = (std::mem::zeroed(), std::mem::zeroed());
        if held < 0 || libc::fstat(held, &raw mut file) != 0 {
            return;
        }
        libc::fstatfs(held, &raw mut system);
        libc::close(held);
        let kind = file.st_mode & libc::S_IFMT;
        if !matches!(kind, libc::S_IFREG | libc::S_IFBLK | libc::S_IFDIR) {
            return;
        }
        let opened = libc::open(at, READ);
        if opened < 0 {
            return;
        }
        let mut bytes = [0_u8; 4096];
        if kind == libc::S_IFDIR {
            libc::syscall(libc::SYS_getdents64, opened, bytes.as_mut_ptr(), bytes.len());
        } else {
            libc::pread(opened, bytes.as_mut_ptr().cast(), bytes.len(), 0);
            libc::posix_fadvise(opened, 0, 0, libc::POSIX_FADV_DONTNEED);
        }
        libc::close(opened);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_and_what_is_not_answers_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, vec![1; 9000]).unwrap();
        let none = directory.path().join("none/none");
        let paths = [file, directory.path().to_owned(), none, "/dev/null".into(), "\0".into(), "".into()];
        await_answer(&paths.map(|path| Question::about(&path)), &mut |_, waited| waited < Duration::from_secs(60))
            .unwrap();
    }

    #[test]
    fn whatever_a_target_is_compared_with_is_asked_as_well_and_named_by_its_role() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/swaps", "Filename Type\n/mnt/dead/swap file 1 0 -2\n");
        write("proc/self/mountinfo", "1 1 0:40 / /b rw - btrfs /dev/sdz rw\n2 1 0:41 / /n rw - nfs host:/x rw\n");
        write("sys/devices/loop3/dev", "7:3\n");
        write("sys/devices/loop3/loop/backing_file", "/mnt/dead/disk.img (deleted)\n");
        std::fs::create_dir_all(root.join("sys/block")).unwrap();
        symlink(root.join("sys/devices/loop3"), root.join("sys/block/loop3")).unwrap();
        let of = |name: &str| root.join(name);
        let system = System { proc: of("proc"), sys: of("sys"), dev: "/dev".into(), udev: of("udev") };
        let asked: Vec<_> = Question::beside(&system).into_iter().map(|one| (one.name, one.way)).collect();
        let expected = [
            ("/mnt/dead/swap (swap space)", Way::Look),
            ("/dev/sdz (source of a mount)", Way::Look),
            ("/mnt/dead/disk.img (deleted) (behind /dev/loop3)", Way::Look),
            ("/mnt/dead/disk.img (behind /dev/loop3)", Way::Look),
            ("/dev/loop3 (asked what is behind it)", Way::Status),
        ];
        assert_eq!(asked, expected.map(|(name, way)| (name.to_owned(), way)));
        assert!(Question::of_target(&"null:".parse().unwrap()).is_empty(), "nothing is compared with nothing");
    }

    #[test]
    fn who_waits_hears_of_the_path_that_gives_no_answer_and_may_leave() {
        fn hangs(asked: &Asked) {
            // SAFETY: waits for a signal, none of which is served here.
            while asked.path.as_bytes().starts_with(b"/hangs") && unsafe { libc::pause() } == -1 {}
        }
        let (mut heard, mut waits) = (Vec::new(), Vec::new());
        let asked = ["/tmp", "/hangs/x", "/etc"].map(|path| Question::about(path.as_ref()));
        let given_up = answers_to(hangs, &asked, &mut |path, waited| {
            heard.push(path.to_owned());
            waits.push(waited);
            heard.len() < 60 && (heard.len() < 3 || path != "/hangs/x")
        });
        assert!(matches!(given_up, Err(TargetError::Stopped)));
        assert_eq!(heard.last().unwrap(), "/hangs/x");
        assert!(waits.last().unwrap() > &Duration::ZERO);
    }

    #[test]
    fn the_scout_holds_nothing_that_is_open_here() {
        fn hangs(_: &Asked) {
            // SAFETY: as above.
            while unsafe { libc::pause() } == -1 {}
        }
        let file = tempfile::tempfile().unwrap();
        let lock = |file: &File| {
            // SAFETY: an open descriptor.
            unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }
        };
        assert_eq!(lock(&file), 0);
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        let other = std::fs::OpenOptions::new().read(true).write(true).open(link).unwrap();
        let mut file = Some(file);
        let mut got = false;
        let ended = answers_to(hangs, &[Question::about("/tmp".as_ref())], &mut |_, waited| {
            file.take();
            got = got || lock(&other) == 0;
            !got && waited < Duration::from_secs(60)
        });
        assert!(ended.is_err() && got, "the scout has kept the lock");
    }
}
