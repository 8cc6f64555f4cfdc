//! Carries operations out: finds what they can be done to, makes the calls, records them, notes what exists then.
//!
//! Model: an operation that was drawn is due at an instant of its own on open streams; the calls that come with it (the
//! opening before a read, the closing after a write) are recorded by themselves and begin when they begin. A call that
//! fails is recorded as a failure and changes nothing in what is thought to exist.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use plimsoll_workload::Content;
use plimsoll_workload::files::{FileAccess, FileOp, FileState, FileStreamPlan, Passage, Script};

use super::calls::{self, Errno, Kind, PathText, Seen};
use super::candidate::{Found, Picker, Taken, Wanted};
use super::claims::Use;
use super::hunger::Hunger;
use super::open_file::{OpenFile, PageBuffer};
use super::state::TreeState;
use super::stopwatch::{Stopwatch, Under};
use crate::control::Control;
use crate::recorder::SHORT;

/// How often a request may meet a file that has nothing for it before it is given up.
const EMPTY_FILES: u32 = 4;

/// What came of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Done, with so many bytes read or written.
    Done(u64),
    /// A call failed.
    Failed,
    /// There is nothing at the moment that it can be done to.
    Nothing,
    /// Every file was used once.
    Through,
}

/// The first failure of a thread.
#[derive(Clone, Debug)]
pub(crate) struct FirstError {
    pub(crate) op: FileOp,
    pub(crate) tree: String,
    pub(crate) path: String,
    pub(crate) errno: Errno,
    pub(crate) at_ns: u64,
}

/// See the module.
pub(crate) struct Actor<'a> {
    pub(crate) plan: &'a FileStreamPlan,
    pub(crate) picker: Picker<'a>,
    pub(crate) script: Script,
    pub(crate) watch: Stopwatch<'a>,
    pub(crate) hunger: &'a Hunger,
    pub(crate) control: &'a Control,
    pub(crate) content: Content,
    pub(crate) first_error: Option<FirstError>,
    pub(crate) open: Option<OpenFile>,
    pub(crate) path: PathText,
    pub(crate) other: PathText,
    pub(crate) read_buffer: PageBuffer,
    pub(crate) write_buffer: PageBuffer,
    /// Number of the next write, unique among all threads.
    pub(crate) sequence: u64,
}

/// Why an operation of several calls came to nothing.
pub(crate) enum Trouble {
    Refused(Errno),
    /// The run ended meanwhile.
    Stopped,
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Self {
        Self::Refused(errno)
    }
}

/// How a search or call ends that gives nothing to go on with.
pub(crate) type Step<T> = Result<T, Act>;

impl<'a> Actor<'a> {
    /// Carries out one operation; `due_ns` is when it was due, on open streams.
    pub(crate) fn perform(&mut self, op: FileOp, due_ns: Option<u64>) -> Act {
        let done = match op {
            FileOp::Read | FileOp::Write | FileOp::Flush => self.request(op, due_ns),
            FileOp::Create => self.create(due_ns),
            FileOp::Open => self.open_another(due_ns),
            FileOp::Close => self.close_one(due_ns),
            FileOp::Access | FileOp::Stat | FileOp::Setattr => self.look_at(op, due_ns),
            FileOp::Rename => self.rename(due_ns),
            FileOp::Copy => self.copy(due_ns),
            FileOp::Move => self.move_file(due_ns),
            FileOp::Delete => self.delete(due_ns),
            FileOp::Mkdir => self.make_directory(due_ns),
            FileOp::Rmdir => self.remove_directory(due_ns),
            FileOp::Deliver => self.deliver(due_ns),
        };
        done.map_or_else(|act| act, Act::Done)
    }

    pub(crate) fn state(&self, taken: Taken) -> &'a TreeState {
        &self.picker.trees[taken.tree]
    }

    /// How files are used by operations that leave their names alone.
    pub(crate) const fn sharing(&self) -> Use {
        if self.plan.shared { Use::Together } else { Use::Alone }
    }

    pub(crate) fn find(&mut self, wanted: Wanted, how: Use, only: Option<usize>) -> Step<Taken> {
        match self.picker.find(&mut self.script, wanted, how, only) {
            Found::Taken(taken) => Ok(taken),
            Found::Nothing => Err(Act::Nothing),
            Found::Through => Err(Act::Through),
        }
    }

    /// Gives back what was taken, and lets the others know.
    pub(crate) fn give(&self, taken: Taken) {
        self.picker.give(taken);
        self.hunger.changed();
    }

    /// Records a failure.
    pub(crate) fn failed(&mut self, under: Under, taken: Taken, errno: Errno) -> Act {
        self.watch.fail(under, errno);
        if self.first_error.is_none() {
            let (tree, path) = (self.state(taken).name.clone(), self.path.shown());
            self.first_error = Some(FirstError { op: under.op(), tree, path, errno, at_ns: under.submitted_ns() });
        }
        Act::Failed
    }

    /// One call that succeeds or fails, on what was taken; the path stands in `self.path`.
    pub(crate) fn call<T>(
        &mut self,
        op: FileOp,
        due_ns: Option<u64>,
        taken: Taken,
        call: impl FnOnce(&TreeState, &CStr) -> Result<T, Errno>,
    ) -> Step<T> {
        let state = self.state(taken);
        let directory = matches!(op, FileOp::Mkdir | FileOp::Rmdir);
        let path = self.path.put(|text| {
            if directory {
                state.shape.directory_path(taken.number, text);
            } else {
                state.file_path(taken.number, text);
            }
        });
        let under = self.watch.begin(op, due_ns);
        match call(state, path) {
            Ok(found) => {
                self.watch.succeed(under, 0);
                Ok(found)
            }
            Err(errno) => Err(self.failed(under, taken, errno)),
        }
    }

    /// Reads, writes or flushes where the thread is, or in the next file.
    fn request(&mut self, op: FileOp, due_ns: Option<u64>) -> Step<u64> {
        for _ in 0..EMPTY_FILES {
            if self.open.is_some() {
                if let Some(done) = self.request_here(op, due_ns) {
                    return done;
                }
                self.close_open()?;
            }
            self.open_next(op, None)?;
        }
        Err(Act::Nothing)
    }

    /// The request in the file that is open; `None` if the file has nothing for it.
    fn request_here(&mut self, op: FileOp, due_ns: Option<u64>) -> Option<Step<u64>> {
        let open = self.open.as_mut()?;
        if op == FileOp::Flush {
            return open.writes.then(|| self.flush_open(due_ns));
        }
        let writes = match self.plan.access {
            FileAccess::Sequential => open.writes,
            FileAccess::Random => op == FileOp::Write,
        };
        if if writes { !open.writes } else { !open.reads } {
            return None;
        }
        let len = self.script.transfer_bytes();
        let script = &mut self.script;
        let (offset, len) = open.passage.next(len, |places| script.place(places))?;
        Some(if writes { self.write(offset, len, due_ns) } else { self.read(offset, len, due_ns) })
    }

    fn read(&mut self, offset: u64, len: u32, due_ns: Option<u64>) -> Step<u64> {
        let Some(open) = &self.open else { return Err(Act::Nothing) };
        let taken = open.taken;
        let under = self.watch.begin(FileOp::Read, due_ns);
        match calls::read(open.file.as_fd(), &mut self.read_buffer.bytes()[..len as usize], offset) {
            Ok(done) if done == len as usize => {
                self.watch.succeed(under, len.into());
                Ok(len.into())
            }
            Ok(_) => Err(self.failed(under, taken, SHORT)),
            Err(errno) => Err(self.failed(under, taken, errno)),
        }
    }

    pub(crate) fn write(&mut self, offset: u64, len: u32, due_ns: Option<u64>) -> Step<u64> {
        let Some(open) = &mut self.open else { return Err(Act::Nothing) };
        let taken = open.taken;
        let bytes = &mut self.write_buffer.bytes()[..len as usize];
        self.content.refresh(bytes, offset, self.sequence);
        self.sequence += 1;
        let under = self.watch.begin(FileOp::Write, due_ns);
        match calls::write(open.file.as_fd(), bytes, offset) {
            Ok(done) if done == bytes.len() => {
                self.watch.succeed(under, len.into());
                open.wrote = true;
                if open.passage.is_through() {
                    self.picker.trees[taken.tree].wrote_whole(taken.number, true);
                    self.hunger.changed();
                }
                Ok(len.into())
            }
            Ok(_) => Err(self.failed(under, taken, SHORT)),
            Err(errno) => Err(self.failed(under, taken, errno)),
        }
    }

    fn flush_open(&mut self, due_ns: Option<u64>) -> Step<u64> {
        let Some(open) = &self.open else { return Err(Act::Nothing) };
        let taken = open.taken;
        let under = self.watch.begin(FileOp::Flush, due_ns);
        match calls::sync(open.file.as_fd()) {
            Ok(()) => {
                self.watch.succeed(under, 0);
                Ok(0)
            }
            Err(errno) => Err(self.failed(under, taken, errno)),
        }
    }

    /// Opens the next file for `op`; nothing is open.
    pub(crate) fn open_next(&mut self, op: FileOp, due_ns: Option<u64>) -> Step<()> {
        let random = self.plan.access == FileAccess::Random;
        let wanted = match op {
            _ if self.plan.state == FileState::Unwritten => Wanted::Unwritten,
            FileOp::Read => Wanted::Content,
            FileOp::Write if random => Wanted::Content,
            _ => Wanted::File,
        };
        let taken = self.find(wanted, self.sharing(), None)?;
        let writes_here = matches!(op, FileOp::Write | FileOp::Flush);
        let draws_writes = self.plan.draws(FileOp::Write) || self.plan.draws(FileOp::Flush);
        let writes = if random { draws_writes } else { writes_here };
        let reads = if random { self.plan.draws(FileOp::Read) || !writes } else { !writes };
        let flags = match (reads, writes) {
            (true, true) => libc::O_RDWR,
            (false, true) => libc::O_WRONLY,
            _ => libc::O_RDONLY,
        };
        let flags = flags | self.flags(writes);
        let called = self.call(FileOp::Open, due_ns, taken, |state, path| state.open_file(taken.number, path, flags));
        let file = called.inspect_err(|_| self.give(taken))?;
        let seen = self.looked_at(op, taken, &file, writes).inspect_err(|_| self.give(taken))?;
        if (reads || random) && self.state(taken).is_cut_short(taken.number, seen.size_bytes) {
            let under = self.watch.begin(op, None);
            let failed = self.failed(under, taken, SHORT);
            self.give(taken);
            return Err(failed);
        }
        // What was moved here may have another size than the place is made for.
        let size_bytes =
            if writes && !random { self.state(taken).shape.size_bytes(taken.number) } else { seen.size_bytes };
        let passage = Passage::new(self.plan.access, self.plan.stop, size_bytes);
        self.open = Some(OpenFile { file, taken, passage, reads, writes, wrote: false });
        Ok(())
    }

    /// Looks at a file that was opened: what is no file fails `op`, and so does writing to one that has other names.
    fn looked_at(&mut self, op: FileOp, taken: Taken, file: &OwnedFd, writes: bool) -> Step<Seen> {
        let refused = match calls::seen(file.as_fd()) {
            Ok(seen) if seen.kind != Kind::File => libc::EEXIST,
            Ok(seen) if writes && seen.links > 1 => libc::EMLINK,
            Ok(seen) => return Ok(seen),
            Err(errno) => errno,
        };
        let under = self.watch.begin(op, None);
        Err(self.failed(under, taken, refused))
    }

    pub(crate) const fn flags(&self, writes: bool) -> i32 {
        let direct = if self.plan.direct { libc::O_DIRECT } else { 0 };
        direct | if self.plan.dsync && writes { libc::O_DSYNC } else { 0 }
    }

    /// Closes the file that is open, flushing it first where that is asked for.
    pub(crate) fn close_open(&mut self) -> Step<()> {
        self.close_due(None)
    }

    fn close_due(&mut self, due_ns: Option<u64>) -> Step<()> {
        let Some(wrote) = self.open.as_ref().map(|open| open.wrote) else { return Ok(()) };
        let flushed = if self.plan.flush_at_close && wrote { self.flush_open(None).map(drop) } else { Ok(()) };
        let Some(OpenFile { file, taken, .. }) = self.open.take() else { return flushed };
        let under = self.watch.begin(FileOp::Close, due_ns);
        let closed = match calls::close(file) {
            Ok(()) => {
                self.watch.succeed(under, 0);
                Ok(())
            }
            Err(errno) => Err(self.failed(under, taken, errno)),
        };
        self.give(taken);
        flushed.and(closed)
    }

    /// `open` as an operation of its own: leaves the open file, opens another and stays in it.
    fn open_another(&mut self, due_ns: Option<u64>) -> Step<u64> {
        self.close_open()?;
        self.open_next(FileOp::Open, due_ns).map(|()| 0)
    }

    /// `close` as an operation of its own: closes the open file; if none is, one that it opens first.
    fn close_one(&mut self, due_ns: Option<u64>) -> Step<u64> {
        if self.open.is_none() {
            self.open_next(FileOp::Open, None)?;
        }
        self.close_due(due_ns).map(|()| 0)
    }

    /// Whether the run is to end; looked at within long operations.
    pub(crate) fn is_stopped(&self) -> bool {
        self.control.is_stopped()
    }
}
