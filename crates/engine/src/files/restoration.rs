//! Brings one directory of a tree to what its definition says: files that are missing are made, those that should not
//! be there are removed, those of another size and those that have another name elsewhere (a hard link) are made anew.
//!
//! Only names that the tree gives are touched, and only where they are files; whatever else lies in the directory is left
//! alone. No file is ever opened to be overwritten: what is not in order loses its name, and a new file gets it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use plimsoll_workload::Content;
use plimsoll_workload::files::TreePlan;
use plimsoll_workload::plan::{ContentKind, ContentPlan};

use super::beneath::{Mounts, Root};
use super::calls::{self, Errno, Kind, PathText, name_of};
use super::listing::each_entry;
use super::state::RENAMED;

/// How much is written at once.
const CHUNK_BYTES: usize = 1 << 20;
/// What a file or directory takes of a file system beside its content, roughly.
pub(crate) const ENTRY_BYTES: u64 = 4096;
/// What a file's content repeats in.
const GRANULE_BYTES: u32 = 4096;

/// One worker of a layout, with its buffer.
pub(crate) struct Restorer<'a> {
    tree: &'a TreePlan,
    anchor: &'a Root,
    content: Content,
    buffer: Vec<u8>,
    path: PathText,
    other: PathText,
    /// Which files of the directory were found: (number, renamed).
    found: Vec<(u64, bool)>,
}

impl<'a> Restorer<'a> {
    pub(crate) fn new(tree: &'a TreePlan, anchor: &'a Root, number: u64) -> Self {
        let plan = ContentPlan { kind: ContentKind::Random, compress_ratio: 1.0, duplicate_ratio: 1.0 };
        let content = Content::of(&plan, GRANULE_BYTES, 0x0066_696c_6573);
        let mut buffer = vec![0; CHUNK_BYTES];
        content.prepare(&mut buffer, number);
        let (path, other) = (PathText::default(), PathText::default());
        Self { tree, anchor, content, buffer, path, other, found: Vec::new() }
    }

    /// Where the last call failed, below the anchor.
    pub(crate) fn place(&self) -> String {
        self.path.shown()
    }

    /// Brings `directory` to its state. `advance` gets the bytes of each file that is in order, and says whether to go on.
    pub(crate) fn restore(&mut self, directory: u64, advance: &dyn Fn(u64) -> bool) -> Result<(), Errno> {
        let opened = self.list(directory)?;
        let shape = &self.tree.shape;
        let mut found = std::mem::take(&mut self.found);
        found.sort_unstable();
        let mut at = 0;
        for file in shape.files_in(directory) {
            let names = found[at..].partition_point(|(other, _)| *other == file);
            let here = &found[at..at + names];
            at += names;
            self.file(opened.as_fd(), file, here)?;
            if !advance(if shape.exists_first(file) { shape.size_bytes(file) + ENTRY_BYTES } else { 0 }) {
                break;
            }
        }
        self.found = found;
        Ok(())
    }

    /// Which of the tree's files lie in `directory`, which is opened.
    fn list(&mut self, directory: u64) -> Result<OwnedFd, Errno> {
        self.found.clear();
        let shape = &self.tree.shape;
        let path = self.path.put(|text| shape.directory_path(directory, text));
        let opened = self.anchor.listing(path, Mounts::Refused)?;
        let expected = shape.files_in(directory);
        let at = opened.try_clone().map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
        let (found, path) = (&mut self.found, &mut self.path);
        each_entry(opened, |_, name, kind| {
            let Some((number, renamed)) = name.to_str().ok().and_then(file_of_name) else { return Ok(()) };
            if !expected.contains(&number) {
                return Ok(());
            }
            found.push((number, renamed));
            let refused = match kind {
                Kind::File => return Ok(()),
                Kind::Link => libc::ELOOP,
                Kind::Directory | Kind::Other => libc::EEXIST,
            };
            path.put(|text| {
                shape.file_path(number, text);
                text.extend_from_slice(if renamed { RENAMED } else { b"" });
            });
            Err(refused)
        })?;
        Ok(at)
    }

    /// One file, of which these names were found in its directory.
    fn file(&mut self, at: BorrowedFd<'_>, file: u64, names: &[(u64, bool)]) -> Result<(), Errno> {
        let shape = &self.tree.shape;
        let wanted = shape.exists_first(file);
        let plain = names.iter().any(|(_, renamed)| !renamed);
        let name = name_of(self.path.put(|text| shape.file_path(file, text)));
        if names.iter().any(|(_, renamed)| *renamed) {
            let other = name_of(self.other.put(|text| {
                shape.file_path(file, text);
                text.extend_from_slice(RENAMED);
            }));
            // A link that was put there meanwhile loses its name only.
            if plain || !wanted {
                calls::unlink(at, other)?;
            } else {
                calls::replace((at, other), (at, name))?;
            }
        }
        match (wanted, names.is_empty()) {
            (false, _) if plain => calls::unlink(at, name),
            (false, _) => Ok(()),
            (true, true) => self.make(at, file),
            (true, false) => {
                let seen = calls::stat(at, name)?;
                if seen.is_plain() && seen.size_bytes == shape.size_bytes(file) {
                    return Ok(());
                }
                calls::unlink(at, name)?;
                self.make(at, file)
            }
        }
    }

    /// Makes a file where none is, and writes it to its size.
    fn make(&mut self, at: BorrowedFd<'_>, file: u64) -> Result<(), Errno> {
        let shape = &self.tree.shape;
        let name = name_of(self.path.put(|text| shape.file_path(file, text)));
        let size_bytes = shape.size_bytes(file);
        let out = calls::open(at, name, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL)?;
        let mut done_bytes = 0;
        while done_bytes < size_bytes {
            let len = (size_bytes - done_bytes).min(CHUNK_BYTES as u64) as usize;
            self.content.refresh(&mut self.buffer[..len], done_bytes, file);
            let done = calls::write(out.as_fd(), &self.buffer[..len], done_bytes)?;
            if done == 0 {
                return Err(libc::ENOSPC);
            }
            done_bytes += done as u64;
        }
        calls::close(out)
    }
}

/// The number of the file with this name, and whether the name is its other one.
pub(crate) fn file_of_name(name: &str) -> Option<(u64, bool)> {
    let (stem, renamed) = name.strip_suffix(".r").map_or((name, false), |stem| (stem, true));
    let digits = stem.strip_prefix('f')?;
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some((number, renamed))
}

#[cfg(test)]
mod tests {
    use super::file_of_name;

    #[test]
    fn only_names_that_a_tree_gives_are_files_of_it() {
        assert_eq!(file_of_name("f12"), Some((12, false)));
        assert_eq!(file_of_name("f12.r"), Some((12, true)));
        for other in ["f", "f012", "f12.txt", "F12", "f-1", "f+1", "g1", "f1.r.r", ".r"] {
            assert_eq!(file_of_name(other), None, "{other}");
        }
    }
}
