//! Finds a file or directory that an operation can be done to, and takes it.
//!
//! Model: at random, some candidates are drawn; if none of them will do, the next one in order from the last is taken, so
//! that a search ends. In sequence, the stream's pointer moves on until something will do. What was found is claimed and
//! then looked at once more, because another thread may have come first.
//!
//! Limit: where few files will do, the search in order prefers those that follow many that will not.

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_workload::files::{FileSelect, FileStreamPlan, Script};

use super::claims::Use;
use super::state::TreeState;

/// How many candidates are drawn before they are searched in order.
const DRAWS: u32 = 16;

/// What an operation wants to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A file that exists.
    File,
    /// A file that has content.
    Content,
    /// A file that exists and has not its whole content.
    Unwritten,
    /// A file that does not exist, where it could be made.
    NoFile,
    /// A directory that does not exist, where it could be made.
    NoDirectory,
    /// A directory with nothing in it.
    EmptyDirectory,
}

impl Wanted {
    const fn is_directory(self) -> bool {
        matches!(self, Self::NoDirectory | Self::EmptyDirectory)
    }
}

/// A file or directory that is ours for the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) tree: usize,
    pub(crate) number: u64,
    directory: bool,
    /// The directory that has to stay meanwhile, where directories come and go.
    keeps: Option<u64>,
}

/// Where a stream's threads stand.
#[derive(Default)]
pub(crate) struct Pointers {
    files: AtomicU64,
    directories: AtomicU64,
}

/// What came of a search.
pub(crate) enum Found {
    Taken(Taken),
    /// Nothing at the moment.
    Nothing,
    /// Nothing ever again: each was used once.
    Through,
}

/// The search of one stream.
pub(crate) struct Picker<'a> {
    pub(crate) plan: &'a FileStreamPlan,
    pub(crate) trees: &'a [TreeState],
    pub(crate) pointers: &'a Pointers,
}

impl Picker<'_> {
    /// Something of this kind, in all trees of the stream or in the one given.
    pub(crate) fn find(&self, script: &mut Script, wanted: Wanted, how: Use, only: Option<usize>) -> Found {
        let every = [only.unwrap_or(0)];
        let trees: &[usize] = if only.is_some() { &every } else { &self.plan.trees };
        let count: u64 = trees.iter().map(|tree| self.candidates(*tree, wanted)).sum();
        if count == 0 || self.is_hopeless(trees, wanted) {
            return Found::Nothing;
        }
        match self.plan.select {
            FileSelect::Random => self.at_random(script, (trees, count), wanted, how),
            FileSelect::Sequential | FileSelect::Once => self.in_sequence((trees, count), wanted, how),
        }
    }

    /// Whether every file of a tree exists.
    pub(crate) fn is_full(&self, tree: usize) -> bool {
        self.is_hopeless(&[tree], Wanted::NoFile)
    }

    /// A file of `tree` that does not exist: `number` if it will do, or the next one that does.
    pub(crate) fn room(&self, tree: usize, number: u64) -> Option<Taken> {
        let state = &self.trees[tree];
        let count = state.shape.files();
        if count == 0 {
            return None;
        }
        let first = number % count;
        let mut at = first;
        let mut wrapped = false;
        loop {
            match state.files.next(at, false) {
                Some(free) if !wrapped || free < first => {
                    if let Some(taken) = self.take((tree, free), Wanted::NoFile, Use::Alone) {
                        return Some(taken);
                    }
                    at = free + 1;
                }
                _ if wrapped => return None,
                _ => (at, wrapped) = (0, true),
            }
        }
    }

    /// Gives back what was taken.
    pub(crate) fn give(&self, taken: Taken) {
        let state = &self.trees[taken.tree];
        let claims = if taken.directory { &state.directory_claims } else { &state.file_claims };
        claims.give(taken.number);
        if let Some(directory) = taken.keeps {
            state.directory_claims.give(directory);
        }
    }

    fn at_random(&self, script: &mut Script, (trees, count): (&[usize], u64), wanted: Wanted, how: Use) -> Found {
        let mut place = 0;
        for _ in 0..DRAWS {
            place = script.candidate(count);
            if let Some(taken) = self.take(self.candidate(trees, wanted, place), wanted, how) {
                return Found::Taken(taken);
            }
        }
        let search = (0..count).map(|step| (place + step) % count);
        self.first_of(search, trees, wanted, how).map_or(Found::Nothing, Found::Taken)
    }

    fn in_sequence(&self, (trees, count): (&[usize], u64), wanted: Wanted, how: Use) -> Found {
        let pointer = if wanted.is_directory() { &self.pointers.directories } else { &self.pointers.files };
        let once = self.plan.select == FileSelect::Once;
        for _ in 0..count {
            let place = pointer.fetch_add(1, Ordering::Relaxed);
            if once && place >= count {
                return Found::Through;
            }
            // Directories are removed from the deepest on, so that each is empty when its turn comes.
            let place = place % count;
            let place = if wanted == Wanted::EmptyDirectory { count - 1 - place } else { place };
            if let Some(taken) = self.take(self.candidate(trees, wanted, place), wanted, how) {
                return Found::Taken(taken);
            }
        }
        Found::Nothing
    }

    fn first_of(
        &self,
        mut places: impl Iterator<Item = u64>,
        trees: &[usize],
        wanted: Wanted,
        how: Use,
    ) -> Option<Taken> {
        places.find_map(|place| self.take(self.candidate(trees, wanted, place), wanted, how))
    }

    /// How many candidates a tree has; the anchor is none.
    fn candidates(&self, tree: usize, wanted: Wanted) -> u64 {
        let shape = &self.trees[tree].shape;
        if wanted.is_directory() { shape.directories() - 1 } else { shape.worked() }
    }

    fn candidate(&self, trees: &[usize], wanted: Wanted, place: u64) -> (usize, u64) {
        let mut rest = place;
        for &tree in trees {
            let count = self.candidates(tree, wanted);
            if rest < count {
                let shape = &self.trees[tree].shape;
                return (tree, if wanted.is_directory() { rest + 1 } else { shape.worked_file(rest) });
            }
            rest -= count;
        }
        unreachable!("places are below the sum of candidates")
    }

    /// Whether counting alone tells that nothing will do.
    fn is_hopeless(&self, trees: &[usize], wanted: Wanted) -> bool {
        trees.iter().map(|tree| &self.trees[*tree]).all(|state| match wanted {
            Wanted::File => state.files.ones() == 0,
            Wanted::Content => state.content.ones() == 0,
            Wanted::Unwritten => state.content.ones() >= state.files.ones(),
            Wanted::NoFile => state.files.ones() == state.shape.files(),
            Wanted::NoDirectory => state.directories.ones() == state.shape.directories(),
            Wanted::EmptyDirectory => state.directories.ones() <= 1,
        })
    }

    /// Takes a candidate if it will do.
    pub(crate) fn take(&self, (tree, number): (usize, u64), wanted: Wanted, how: Use) -> Option<Taken> {
        let state = &self.trees[tree];
        if !self.will_do(state, number, wanted) {
            return None;
        }
        let directory = wanted.is_directory();
        let claims = if directory { &state.directory_claims } else { &state.file_claims };
        if !claims.take(number, how) {
            return None;
        }
        let above = match wanted {
            Wanted::NoFile => Some(state.shape.holder(number)),
            Wanted::NoDirectory => Some(state.shape.parent(number)),
            _ => None,
        };
        let keeps = above.filter(|above| state.moving && *above != 0);
        if keeps.is_some_and(|above| !state.directory_claims.take(above, Use::Together)) {
            claims.give(number);
            return None;
        }
        let taken = Taken { tree, number, directory, keeps };
        if self.will_do(state, number, wanted) {
            return Some(taken);
        }
        self.give(taken);
        None
    }

    fn will_do(&self, state: &TreeState, number: u64, wanted: Wanted) -> bool {
        let shape = &state.shape;
        match wanted {
            Wanted::File => state.files.get(number),
            Wanted::Content => state.content.get(number),
            Wanted::Unwritten => state.files.get(number) && !state.content.get(number),
            Wanted::NoFile => !state.files.get(number) && state.directories.get(shape.holder(number)),
            Wanted::NoDirectory => !state.directories.get(number) && state.directories.get(shape.parent(number)),
            Wanted::EmptyDirectory => {
                state.directories.get(number)
                    && !state.directories.any(shape.children(number))
                    && !state.files.any(shape.files_in(number))
            }
        }
    }
}
