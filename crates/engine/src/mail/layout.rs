//! Mailboxes as they are before anything is measured, written as Maildir++: a directory for each folder, a file for each message.
//!
//! Model: user n has the directory `uN`; the inbox is the directory itself, other folders are `.NAME` in it, each with `cur`, `new` and `tmp`.
//! Messages lie in `cur` as seen; names carry the sizes that Dovecot would have to count otherwise. Lines end as on this system, which is
//! how Dovecot writes them. Files are made by as many threads as there are processors, and made durable together at the end.
//!
//! A mailbox that is there already stays as it is; one is there when all of it is, because it gets its name last.
//!
//! Limits: for a directory that nothing else works in.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_workload::mail::{Letters, MailPlan, MailStreamPlan, MailTask};

/// What the letters of a layout name as their run.
pub const RUN: &str = "laid-out";
/// The Date header of all of them.
const DATE: &str = "Thu, 01 Jan 2026 08:00:00 +0000";
/// The instant that file names begin with.
const SECONDS: u64 = 1_767_254_400;
/// Letters that a user's mailbox can hold in the beginning: bits of their numbers.
const NUMBER_BITS: u32 = 28;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Laid {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Writes the mailboxes of all users below `root`, for the user and group of the server; `progress` is told of bytes done and of about how many there will be.
///
/// # Errors
/// When something cannot be written, or when `stop` was raised.
pub fn lay_out(
    plan: &MailPlan,
    root: &Path,
    owner: Option<(u32, u32)>,
    progress: &mut dyn FnMut(u64, u64),
    stop: &AtomicBool,
) -> io::Result<Laid> {
    let (messages, bytes, failed) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let total: u64 = plan.streams.iter().map(|stream| in_all(stream, root)).sum();
    let tell = |progress: &mut dyn FnMut(u64, u64)| {
        let (messages, bytes) = (messages.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed));
        // The others are as large on average.
        progress(bytes, (bytes as f64 * total as f64 / messages.max(1) as f64) as u64);
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for thread in 0..threads {
            let (messages, bytes, failed) = (&messages, &bytes, &failed);
            let work = move || -> io::Result<()> {
                for stream in &plan.streams {
                    let mut writer =
                        Writer { root, owner, stream, letters: Letters::new(stream, RUN, "plimsoll.invalid") };
                    for user in (thread..stream.users).step_by(threads as usize) {
                        if stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                            return Err(io::ErrorKind::Interrupted.into());
                        }
                        writer.mailbox(stream.first_user + user, messages, bytes)?;
                    }
                }
                Ok(())
            };
            workers.push(scope.spawn(move || work().inspect_err(|_| failed.store(true, Ordering::Relaxed))));
        }
        while workers.iter().any(|worker| !worker.is_finished()) {
            tell(progress);
            std::thread::sleep(Duration::from_millis(20));
        }
        let ended =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())));
        let failures: Vec<io::Error> = ended.filter_map(Result::err).collect();
        // The cause, not the others that ended because of it.
        let cause = failures.into_iter().min_by_key(|problem| problem.kind() == io::ErrorKind::Interrupted);
        cause.map_or(Ok(()), Err)
    })?;
    let anchor = File::open(root)?;
    // SAFETY: the file is open during the call.
    if unsafe { libc::syncfs(anchor.as_raw_fd()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    tell(progress);
    Ok(Laid { messages: messages.into_inner(), bytes: bytes.into_inner() })
}

/// A letter that `user` has in the beginning, as it travels: its number is `place` in their mailbox.
pub fn letter(plan: &MailPlan, user: u32, place: u64) -> Vec<u8> {
    let mut text = Vec::new();
    let of = |stream: &&MailStreamPlan| (stream.first_user..stream.first_user + stream.users).contains(&user);
    if let Some(stream) = plan.streams.iter().find(of) {
        received(&Letters::new(stream, RUN, "plimsoll.invalid"), user, first_of(user) + place, &mut text);
    }
    text
}

/// The number of the first letter that a user has.
fn first_of(user: u32) -> u64 {
    u64::from(user) << NUMBER_BITS | 1 << 62
}

/// A letter to `user`: somebody wrote it to them, and perhaps to others.
fn received(letters: &Letters<'_>, user: u32, number: u64, text: &mut Vec<u8>) {
    let mut letter = letters.compose(number, user, MailTask::Send, &[]);
    let sender = letter.to.remove(0);
    letter.to.insert(0, user);
    letter.from = sender;
    text.clear();
    letters.write(&letter, DATE, text);
}

/// Messages of those users of a group who have no mailbox yet.
fn in_all(stream: &MailStreamPlan, root: &Path) -> u64 {
    let each = u64::from(stream.inbox_messages) + u64::from(stream.folders) * u64::from(stream.folder_messages);
    let new = (0..stream.users).filter(|user| !root.join(format!("u{}", stream.first_user + user)).exists()).count();
    new as u64 * (each + u64::from(stream.appointments))
}

/// Writes the mailboxes of one group.
struct Writer<'a> {
    root: &'a Path,
    owner: Option<(u32, u32)>,
    stream: &'a MailStreamPlan,
    letters: Letters<'a>,
}

impl Writer<'_> {
    fn mailbox(&mut self, user: u32, messages: &AtomicU64, bytes: &AtomicU64) -> io::Result<()> {
        let (whole, home) = (self.root.join(format!("u{user}")), self.root.join(format!(".making-u{user}")));
        if whole.exists() {
            return Ok(());
        }
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        self.directory(&home)?;
        let mut number = first_of(user);
        let own = (0..self.stream.folders).map(|folder| (format!(".Folder{folder}"), self.stream.folder_messages));
        let fixed =
            [(".Sent".to_owned(), 0), (".Trash".to_owned(), 0), (".Calendar".to_owned(), self.stream.appointments)];
        let inbox = (String::new(), self.stream.inbox_messages);
        let mut text = Vec::new();
        for (name, count) in std::iter::once(inbox).chain(fixed).chain(own) {
            let folder = if name.is_empty() { home.clone() } else { home.join(&name) };
            for part in ["", "cur", "new", "tmp"] {
                if !(name.is_empty() && part.is_empty()) {
                    self.directory(&folder.join(part))?;
                }
            }
            if !name.is_empty() {
                self.file(&folder.join("maildirfolder"), b"")?;
            }
            for place in 0..u64::from(count) {
                self.letter(user, number, &mut text);
                let lines = text.iter().filter(|byte| **byte == b'\n').count();
                let name = format!(
                    "{}.P{user}Q{number}.plimsoll,S={},W={}:2,S",
                    SECONDS + place,
                    text.len(),
                    text.len() + lines
                );
                self.file(&folder.join("cur").join(name), &text)?;
                number += 1;
                messages.fetch_add(1, Ordering::Relaxed);
                bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
            }
        }
        fs::rename(&home, &whole)
    }

    /// A letter to `user`, its lines ended as on this system.
    fn letter(&self, user: u32, number: u64, text: &mut Vec<u8>) {
        received(&self.letters, user, number, text);
        text.retain(|byte| *byte != b'\r');
    }

    fn directory(&self, path: &Path) -> io::Result<()> {
        match fs::create_dir(path) {
            Err(problem) if problem.kind() != io::ErrorKind::AlreadyExists => Err(problem),
            _ => {
                fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
                self.give(path)
            }
        }
    }

    fn file(&self, path: &PathBuf, content: &[u8]) -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(content)?;
        if let Some((user, group)) = self.owner {
            fchown(&file, Some(user), Some(group))?;
        }
        Ok(())
    }

    /// To the server's user.
    fn give(&self, path: &Path) -> io::Result<()> {
        let Some((user, group)) = self.owner else { return Ok(()) };
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: the path lives during the call.
        if unsafe { libc::lchown(path.as_ptr(), user, group) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
