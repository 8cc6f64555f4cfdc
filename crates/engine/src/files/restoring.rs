//! Brings one directory of a tree to what its definition says: files that are missing are made, those that should not
//! be there are removed, those of another size are written anew.
//!
//! Only names that the tree gives are touched; whatever else lies in the directory is left alone.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use plimsoll_workload::Content;
use plimsoll_workload::files::TreePlan;
use plimsoll_workload::plan::{ContentKind, ContentPlan};

use super::calls::{self, Errno, PathText};
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
    anchor: BorrowedFd<'a>,
    root: &'a Path,
    content: Content,
    buffer: Vec<u8>,
    path: PathText,
    other: PathText,
    /// Which files of the directory were found: (number, renamed).
    found: Vec<(u64, bool)>,
}

impl<'a> Restorer<'a> {
    pub(crate) fn new(tree: &'a TreePlan, anchor: BorrowedFd<'a>, root: &'a Path, number: u64) -> Self {
        let plan = ContentPlan { kind: ContentKind::Random, compress_ratio: 1.0, duplicate_ratio: 1.0 };
        let content = Content::of(&plan, GRANULE_BYTES, 0x0066_696c_6573);
        let mut buffer = vec![0; CHUNK_BYTES];
        content.prepare(&mut buffer, number);
        let (path, other) = (PathText::default(), PathText::default());
        Self { tree, anchor, root, content, buffer, path, other, found: Vec::new() }
    }

    /// Where the last call failed.
    pub(crate) fn place(&self) -> std::path::PathBuf {
        self.root.join(self.path.shown())
    }

    /// Brings `directory` to its state. `advance` gets the bytes of each file that is in order, and says whether to go on.
    pub(crate) fn restore(&mut self, directory: u64, advance: &dyn Fn(u64) -> bool) -> Result<(), Errno> {
        self.list(directory)?;
        let shape = &self.tree.shape;
        let mut found = std::mem::take(&mut self.found);
        found.sort_unstable();
        let mut at = 0;
        for file in shape.files_in(directory) {
            let names = found[at..].partition_point(|(other, _)| *other == file);
            let here = &found[at..at + names];
            at += names;
            self.file(file, here)?;
            if !advance(if shape.exists_first(file) { shape.size_bytes(file) + ENTRY_BYTES } else { 0 }) {
                break;
            }
        }
        self.found = found;
        Ok(())
    }

    /// Which of the tree's files lie in `directory`.
    fn list(&mut self, directory: u64) -> Result<(), Errno> {
        self.found.clear();
        let mut path = Vec::new();
        self.tree.shape.directory_path(directory, &mut path);
        let expected = self.tree.shape.files_in(directory);
        let entries = fs::read_dir(self.root.join(String::from_utf8_lossy(&path).as_ref()))
            .map_err(|error: io::Error| error.raw_os_error().unwrap_or(libc::EIO))?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some((number, renamed)) = name.to_str().and_then(file_of_name) else { continue };
            if expected.contains(&number) {
                self.found.push((number, renamed));
            }
        }
        Ok(())
    }

    /// One file, of which these names were found.
    fn file(&mut self, file: u64, names: &[(u64, bool)]) -> Result<(), Errno> {
        let shape = &self.tree.shape;
        let wanted = shape.exists_first(file);
        let plain = names.iter().any(|(_, renamed)| !renamed);
        let path = self.path.put(|text| shape.file_path(file, text));
        if names.iter().any(|(_, renamed)| *renamed) {
            let other = self.other.put(|text| {
                shape.file_path(file, text);
                text.extend_from_slice(RENAMED);
            });
            if plain || !wanted {
                calls::unlink(self.anchor, other)?;
            } else {
                calls::rename((self.anchor, other), (self.anchor, path))?;
            }
        }
        match (wanted, names.is_empty()) {
            (false, _) if plain => calls::unlink(self.anchor, path),
            (false, _) => Ok(()),
            (true, true) => self.fill(file, libc::O_CREAT | libc::O_EXCL),
            (true, false) if calls::stat(self.anchor, path)? == shape.size_bytes(file) => Ok(()),
            (true, false) => self.fill(file, libc::O_TRUNC),
        }
    }

    /// Writes a file to its size.
    fn fill(&mut self, file: u64, flags: i32) -> Result<(), Errno> {
        let shape = &self.tree.shape;
        let path = self.path.put(|text| shape.file_path(file, text));
        let size_bytes = shape.size_bytes(file);
        let out = calls::open(self.anchor, path, libc::O_WRONLY | flags)?;
        let mut at = 0;
        while at < size_bytes {
            let len = (size_bytes - at).min(CHUNK_BYTES as u64) as usize;
            self.content.refresh(&mut self.buffer[..len], at, file);
            let done = calls::write(out.as_fd(), &self.buffer[..len], at)?;
            if done == 0 {
                return Err(libc::ENOSPC);
            }
            at += done as u64;
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
