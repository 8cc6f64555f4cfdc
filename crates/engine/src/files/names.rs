//! Operations that change or look at names: create, delete, rename, move, the attributes, and directories.

use plimsoll_workload::files::{FileAccess, FileOp, Passage, StopAfter};

use super::actor::{Act, Actor, Step};
use super::calls;
use super::candidate::{Taken, Wanted};
use super::claims::Use;
use super::open_file::OpenFile;

impl Actor<'_> {
    /// Makes a file, writes it where that is asked for, and closes it.
    pub(crate) fn create(&mut self, due_ns: Option<u64>) -> Step<u64> {
        let taken = self.find(Wanted::NoFile, Use::Alone, None)?;
        // Another file may be open meanwhile.
        let before = self.open.take();
        let made = self.make(taken, due_ns);
        self.open = before;
        made
    }

    fn make(&mut self, taken: Taken, due_ns: Option<u64>) -> Step<u64> {
        let flags = self.flags(true);
        let called = self.call(FileOp::Create, due_ns, taken, |state, path| state.make_file(taken.number, path, flags));
        let file = called.inspect_err(|_| self.give(taken))?;
        let state = self.state(taken);
        state.made(taken.number, false);
        let passage = Passage::new(FileAccess::Sequential, StopAfter::End, state.shape.size_bytes(taken.number));
        self.open = Some(OpenFile { file, taken, passage, reads: false, writes: true, wrote: false });
        let written = if self.plan.write_created { self.write_whole() } else { Ok(0) };
        let closed = self.close_open();
        written.and_then(|bytes| closed.map(|()| bytes))
    }

    /// Writes the open file from its start to its end, unless the run ends meanwhile.
    fn write_whole(&mut self) -> Step<u64> {
        let mut bytes = 0;
        while !self.is_stopped() {
            let len = self.script.transfer_bytes();
            let Some((offset, len)) = self.open.as_mut().and_then(|open| open.passage.next(len, |_| 0)) else { break };
            bytes += self.write(offset, len, None)?;
        }
        Ok(bytes)
    }

    /// `access`, `stat` and `setattr`.
    pub(crate) fn look_at(&mut self, op: FileOp, due_ns: Option<u64>) -> Step<u64> {
        let taken = self.find(Wanted::File, self.sharing(), None)?;
        let called = self.call(op, due_ns, taken, |state, path| {
            state.beside(taken.number, path, |at, name| match op {
                FileOp::Access => calls::access(at, name),
                FileOp::Stat => calls::stat(at, name).map(drop),
                _ => calls::touch(at, name),
            })
        });
        self.give(taken);
        called.map(|()| 0)
    }

    pub(crate) fn delete(&mut self, due_ns: Option<u64>) -> Step<u64> {
        let taken = self.find(Wanted::File, Use::Alone, None)?;
        let called =
            self.call(FileOp::Delete, due_ns, taken, |state, path| state.beside(taken.number, path, calls::unlink));
        if called.is_ok() {
            self.state(taken).gone(taken.number);
        }
        self.give(taken);
        called.map(|()| 0)
    }

    /// Gives a file its other name.
    pub(crate) fn rename(&mut self, due_ns: Option<u64>) -> Step<u64> {
        let taken = self.find(Wanted::File, Use::Alone, None)?;
        let state = self.state(taken);
        let mut other = std::mem::take(&mut self.other);
        let to = other.put(|text| state.other_path(taken.number, text));
        let number = taken.number;
        let free = state.looked_free(number, to);
        let called = self.call(FileOp::Rename, due_ns, taken, |state, path| {
            free.and_then(|()| state.rename((number, path), state, (number, to)))
        });
        self.other = other;
        if called.is_ok() {
            state.renamed.set(taken.number, !state.renamed.get(taken.number));
        }
        self.give(taken);
        called.map(|()| 0)
    }

    /// Moves a file to the place of one that does not exist.
    pub(crate) fn move_file(&mut self, due_ns: Option<u64>) -> Step<u64> {
        let (from, to) = self.pair(Use::Alone)?;
        let (source, target) = (self.state(from), self.state(to));
        let mut other = std::mem::take(&mut self.other);
        let path = other.put(|text| target.shape.file_path(to.number, text));
        let free = target.looked_free(to.number, path);
        let called = self.call(FileOp::Move, due_ns, from, |source, name| {
            free.and_then(|()| source.rename((from.number, name), target, (to.number, path)))
        });
        self.other = other;
        if called.is_ok() {
            target.made(to.number, source.content.get(from.number));
            source.gone(from.number);
        }
        self.give(to);
        self.give(from);
        called.map(|()| 0)
    }

    /// A file that exists, in the stream's first tree, and one that does not, in its second.
    pub(crate) fn pair(&mut self, how: Use) -> Step<(Taken, Taken)> {
        let trees = &self.plan.trees;
        let (first, second) = (trees[0], trees[trees.len() - 1]);
        if self.picker.is_full(second) {
            return Err(Act::Nothing);
        }
        let from = self.find(Wanted::File, how, Some(first))?;
        match self.picker.room(second, from.number) {
            Some(to) => Ok((from, to)),
            None => {
                // Nothing has changed for the others.
                self.picker.give(from);
                Err(Act::Nothing)
            }
        }
    }

    pub(crate) fn make_directory(&mut self, due_ns: Option<u64>) -> Step<u64> {
        let taken = self.find(Wanted::NoDirectory, Use::Alone, None)?;
        let called =
            self.call(FileOp::Mkdir, due_ns, taken, |state, path| state.above(taken.number, path, calls::mkdir));
        if called.is_ok() {
            self.state(taken).directories.set(taken.number, true);
        }
        self.give(taken);
        called.map(|()| 0)
    }

    pub(crate) fn remove_directory(&mut self, due_ns: Option<u64>) -> Step<u64> {
        let taken = self.find(Wanted::EmptyDirectory, Use::Alone, None)?;
        // Held open it would be removed only in part, and the rest when it is closed.
        self.state(taken).forget(taken.number);
        let called =
            self.call(FileOp::Rmdir, due_ns, taken, |state, path| state.above(taken.number, path, calls::rmdir));
        if called.is_ok() {
            self.state(taken).directories.set(taken.number, false);
        }
        self.give(taken);
        called.map(|()| 0)
    }
}
