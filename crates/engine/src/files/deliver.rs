//! Delivers a message as Dovecot does to a Maildir: made in one directory and made durable, then renamed into another that is flushed, then
//! told in the mailbox's list.
//!
//! Model: the calls that change storage, in Dovecot's order with `mail_fsync=optimized`: the message is created, written, flushed (`fsync`) and
//! closed; the list is locked by a file beside it; the message is renamed; its new directory is flushed, then the line that was appended
//! to the list (`fdatasync` both); the lock is removed. One operation, which ends when all that is durable. One message at a time goes to a
//! mailbox, as its lock has it. `tests/mail/test_mail_spool.py` holds the order against an `strace` of Dovecot.
//!
//! Limits: Dovecot's indexes, which it writes without flushing them, are left out, and so are the files that it only looks at. A
//! delivery that the end of the run interrupts is taken back and not counted.

use std::ffi::CStr;
use std::os::fd::AsFd;

use plimsoll_workload::files::FileOp;

use super::actor::{Act, Actor, Step, Trouble};
use super::calls::{self, Errno, PathText};
use super::candidate::{Taken, Wanted};
use super::claims::Use;
use super::state::{RENAMED, TreeState};

/// How often a place is looked for whose mailbox nobody delivers to.
const TRIES: u32 = 16;
/// What Dovecot's list has for a message: its number and its name with sizes.
const LINE: &[u8] = b"12345 :1795448109.M404064P27079.vm,S=4490,W=4560\n";
/// What its lock file says: whose it is.
const LOCK: &[u8] = b"27079:vm";

/// Where a message goes: the place it is made at, its own, and the list of its mailbox.
struct Delivery {
    made: Taken,
    message: Taken,
    list: Option<Taken>,
}

impl Actor<'_> {
    /// Delivers one message.
    pub(crate) fn deliver(&mut self, due_ns: Option<u64>) -> Step<u64> {
        let delivery = self.free_place()?;
        let delivered = self.deliver_to(&delivery, due_ns);
        for taken in delivery.list.into_iter().chain([delivery.made, delivery.message]) {
            self.give(taken);
        }
        delivered
    }

    /// A place for a message in a mailbox that nobody delivers to at the moment.
    fn free_place(&mut self) -> Step<Delivery> {
        let Some(made_in) = self.plan.made_in else { return Err(Act::Nothing) };
        for _ in 0..TRIES {
            let message = self.find(Wanted::NoFile, Use::Alone, None)?;
            let list = self.plan.listed_in.map(|tree| self.list_of(tree, message));
            if let Some(None) = list {
                self.picker.give(message);
                continue;
            }
            let list = list.flatten();
            match self.picker.room(made_in, message.number) {
                Some(made) => return Ok(Delivery { made, message, list }),
                None => list.into_iter().chain([message]).for_each(|taken| self.picker.give(taken)),
            }
        }
        Err(Act::Nothing)
    }

    /// The list of the mailbox that a message goes to, if nobody else has it.
    fn list_of(&self, tree: usize, message: Taken) -> Option<Taken> {
        let shape = &self.state(message).shape;
        let mailbox = shape.holder(message.number) % self.picker.trees[tree].shape.files();
        self.picker.take((tree, mailbox), Wanted::File, Use::Alone)
    }

    fn deliver_to(&mut self, delivery: &Delivery, due_ns: Option<u64>) -> Step<u64> {
        let (made, message) = (self.state(delivery.made), self.state(delivery.message));
        let mut other = std::mem::take(&mut self.other);
        let to = other.put(|text| message.shape.file_path(delivery.message.number, text));
        let mut path = std::mem::take(&mut self.path);
        let from = path.put(|text| made.shape.file_path(delivery.made.number, text));
        let under = self.watch.begin(FileOp::Deliver, due_ns);
        let delivered = self.make_durable(delivery, from).and_then(|bytes| {
            let listed = match delivery.list {
                Some(list) => self.list(delivery, list, from, to),
                None => self.name(delivery, from, to),
            };
            listed.map(|()| bytes).map_err(Trouble::from)
        });
        if delivered.is_err() {
            // What has its name already stays.
            let _ = made.beside(delivery.made.number, from, calls::unlink);
        }
        (self.other, self.path) = (other, path);
        match delivered {
            Ok(bytes) => {
                self.watch.succeed(under, bytes);
                Ok(bytes)
            }
            Err(Trouble::Refused(errno)) => Err(self.failed(under, delivery.made, errno)),
            Err(Trouble::Stopped) => {
                self.watch.withdraw();
                Err(Act::Nothing)
            }
        }
    }

    /// Makes the message, writes it and flushes it; its bytes.
    fn make_durable(&mut self, delivery: &Delivery, path: &CStr) -> Result<u64, Trouble> {
        let made = self.state(delivery.made);
        let size_bytes = self.state(delivery.message).shape.size_bytes(delivery.message.number);
        let file = made.make_file(delivery.made.number, path, self.flags(true))?;
        let mut at = 0;
        while at < size_bytes {
            if self.is_stopped() {
                return Err(Trouble::Stopped);
            }
            let len = u64::from(self.script.transfer_bytes()).min(size_bytes - at) as usize;
            let bytes = &mut self.write_buffer.bytes()[..len];
            self.content.refresh(bytes, at, self.sequence);
            self.sequence += 1;
            let done = calls::write(file.as_fd(), bytes, at)?;
            if done == 0 {
                return Err(Trouble::Refused(libc::ENOSPC));
            }
            at += done as u64;
        }
        calls::sync(file.as_fd())?;
        calls::close(file)?;
        Ok(size_bytes)
    }

    /// Gives the message its name, and tells it in the list of its mailbox, which is locked meanwhile.
    fn list(&self, delivery: &Delivery, list: Taken, from: &CStr, to: &CStr) -> Result<(), Errno> {
        let state = self.state(list);
        let (mut path, mut lock) = (PathText::default(), PathText::default());
        let path = path.put(|text| state.file_path(list.number, text));
        let lock = lock.put(|text| {
            state.file_path(list.number, text);
            text.extend_from_slice(RENAMED);
        });
        let file = state.open_file(list.number, path, libc::O_WRONLY | libc::O_APPEND)?;
        if !calls::seen(file.as_fd())?.is_plain() {
            return Err(libc::EMLINK);
        }
        locked(state, list.number, lock)?;
        let told = self.name(delivery, from, to).and_then(|()| {
            // It goes to the end, whatever the offset.
            calls::write(file.as_fd(), LINE, 0)?;
            calls::sync_data(file.as_fd())
        });
        let unlocked = state.beside(list.number, lock, calls::unlink);
        told.and(unlocked)
    }

    /// Renames the message into its mailbox and flushes the directory.
    fn name(&self, delivery: &Delivery, from: &CStr, to: &CStr) -> Result<(), Errno> {
        let (made, message) = (self.state(delivery.made), self.state(delivery.message));
        let number = delivery.message.number;
        message.looked_free(number, to)?;
        made.rename((delivery.made.number, from), message, (number, to))?;
        message.made(number, false);
        message.wrote_whole(number, message.shape.size_bytes(number) > 0);
        message.sync_directory(number, to)
    }
}

/// Makes the lock of a list.
fn locked(state: &TreeState, list: u64, lock: &CStr) -> Result<(), Errno> {
    let file = state.make_file(list, lock, 0)?;
    calls::write(file.as_fd(), LOCK, 0)?;
    calls::close(file)
}
