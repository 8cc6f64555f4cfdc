//! Copies a file: read and write through a buffer, as one operation.
//!
//! `copy_file_range` is left out on purpose: a file system that shares blocks would copy nothing. A copy that the end of
//! the run interrupts is removed again and not counted.

use std::os::fd::{AsFd, OwnedFd};

use plimsoll_workload::files::FileOp;

use super::actor::{Act, Actor, Step, Trouble};
use super::calls;
use super::candidate::Taken;
use super::claims::Use;

impl Actor<'_> {
    /// Copies a file to the place of one that does not exist.
    pub(crate) fn copy(&mut self, due_ns: Option<u64>) -> Step<u64> {
        let (from, to) = self.pair(if self.plan.shared { Use::Together } else { Use::Alone })?;
        let copied = self.copy_between(from, to, due_ns);
        self.give(to);
        self.give(from);
        copied
    }

    fn copy_between(&mut self, from: Taken, to: Taken, due_ns: Option<u64>) -> Step<u64> {
        let (source, target, watch) = (self.state(from), self.state(to), self.watch);
        let in_flags = libc::O_RDONLY | self.flags(false);
        let out_flags = self.flags(true);
        let mut other = std::mem::take(&mut self.other);
        let to_path = other.put(|text| target.shape.file_path(to.number, text));
        let path = self.path.put(|text| source.file_path(from.number, text));
        let under = watch.begin(FileOp::Copy, due_ns);
        let opened = source
            .open_file(from.number, path, in_flags)
            .and_then(|input| Ok((input, target.make_file(to.number, to_path, out_flags)?)));
        let copied = match opened {
            Err(errno) => Err(Trouble::Refused(errno)),
            Ok((input, output)) => {
                let copied = self.pour(&input, &output).and_then(|bytes| Ok(calls::close(output).map(|()| bytes)?));
                if copied.is_err() {
                    let _ = target.beside(to.number, to_path, calls::unlink);
                }
                copied
            }
        };
        self.other = other;
        match copied {
            Ok(bytes) => {
                self.watch.succeed(under, bytes);
                target.made(to.number, bytes > 0);
                Ok(bytes)
            }
            Err(Trouble::Refused(errno)) => Err(self.failed(under, from, errno)),
            Err(Trouble::Stopped) => {
                self.watch.withdraw();
                Err(Act::Nothing)
            }
        }
    }

    /// All bytes of one file into another.
    fn pour(&mut self, input: &OwnedFd, output: &OwnedFd) -> Result<u64, Trouble> {
        let mut at = 0;
        loop {
            if self.is_stopped() {
                return Err(Trouble::Stopped);
            }
            let len = self.script.transfer_bytes() as usize;
            let buffer = &mut self.read_buffer.bytes()[..len];
            let got = calls::read(input.as_fd(), buffer, at)?;
            if got == 0 {
                break;
            }
            let mut written = 0;
            while written < got {
                let done = calls::write(output.as_fd(), &buffer[written..got], at + written as u64)?;
                if done == 0 {
                    return Err(Trouble::Refused(libc::ENOSPC));
                }
                written += done;
            }
            at += got as u64;
        }
        if self.plan.flush_at_close {
            calls::sync(output.as_fd())?;
        }
        Ok(at)
    }
}
