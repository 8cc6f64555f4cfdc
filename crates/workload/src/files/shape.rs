//! The shape of a tree: names, places and sizes of millions of files from their index alone.
//!
//! Model: directories are numbered level by level like a heap, the anchor being 0: the directories in directory `n` of
//! a tree of width `w` are `n·w + 1` to `n·w + w`. Files are numbered through the directories that hold them. Directory
//! `d<place>` and file `f<index>`: a name says where it belongs. Sizes are drawn by the tree's seed; which files exist
//! at the beginning are the first places of a permutation of all of them, so that their number is exact.
//!
//! Limits: at most [`DIRECTORIES_MAX`] directories and [`FILES_MAX`] files, so that what exists fits into memory at a
//! few bits each.
//!
//! ```
//! use plimsoll_workload::files::FileWorkload;
//! # use serde_json::json;
//! # let file = json!({ "driver": "files", "tree": [{ "depth": 1, "width": 2, "files": 3 }], "stream": [{ "operation": "stat" }] });
//! # let plan = FileWorkload::from_json(&file, "x.toml").unwrap().resolve(1).unwrap();
//! let shape = &plan.trees[0].shape; // depth 1, width 2, 3 files each
//! assert_eq!(shape.holder(4), 2);
//! assert_eq!(shape.files_in(2), 3..6);
//! assert_eq!(shape.children(0), 1..3);
//! ```

use std::io::Write;
use std::ops::Range;

use crate::files::draw::SizeDraw;
use crate::files::tree::{LayOut, Placed, TreeOptions};
use crate::permutation::Permutation;
use crate::rng::{Draws, Purpose};

/// The most directories of a tree.
pub const DIRECTORIES_MAX: u64 = 1 << 26;
/// The most files of a tree.
pub const FILES_MAX: u64 = 1 << 32;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeShape {
    width: u64,
    files_each: u64,
    /// First directory of the deepest level.
    bottom: u64,
    directories: u64,
    /// First directory that holds files.
    first_holder: u64,
    files: u64,
    /// Files that streams work on.
    worked: u64,
    sizes: SizeDraw,
    size_draws: Draws,
    /// The order in which files, or the deepest directories of a tree without files, come into being.
    fill_order: Permutation,
    /// How many of them exist when a measurement begins.
    filled: u64,
}

impl TreeShape {
    /// The shape of valid options; `None` if it is too large.
    pub(crate) fn new(options: &TreeOptions) -> Option<Self> {
        let (width, files_each) = (u64::from(options.width), u64::from(options.files));
        let (mut bottom, mut level) = (0u64, 1u64);
        for _ in 0..options.depth {
            bottom += level;
            level = level.checked_mul(width)?;
            if bottom + level > DIRECTORIES_MAX {
                return None;
            }
        }
        let directories = bottom + level;
        let first_holder = match options.placed {
            Placed::Bottom => bottom,
            Placed::All => u64::from(options.depth > 0),
        };
        let files = (directories - first_holder).checked_mul(files_each).filter(|files| *files <= FILES_MAX)?;
        let draws = |purpose: Purpose| Draws::new(options.seed, &[purpose as u64]);
        let filled = match options.lay_out {
            LayOut::Files => options.filled.0,
            // Of a tree without files, all directories.
            LayOut::Directories if options.files == 0 => 100.0,
            LayOut::Directories | LayOut::Nothing => 0.0,
        };
        let mut shape = Self {
            width,
            files_each,
            bottom,
            directories,
            first_holder,
            files,
            worked: files,
            sizes: SizeDraw::new(&options.sizes.0),
            size_draws: draws(Purpose::FileSize),
            fill_order: Permutation::new(1, draws(Purpose::FileFilled)),
            filled: 0,
        };
        if let Some(total) = options.total_size {
            shape.files = shape.first_adding_up_to(total.0);
        }
        let filling = if files_each > 0 { shape.files } else { directories - bottom };
        shape.fill_order = Permutation::new(filling.max(1), draws(Purpose::FileFilled));
        shape.filled = (filling as f64 * filled / 100.0).round() as u64;
        let worked =
            options.working_set.map_or(f64::MAX, |set| (set.0 as f64 / options.sizes.0.mean().max(1.0)).ceil());
        shape.worked = (worked as u64).clamp(shape.files.min(1), shape.files);
        Some(shape)
    }

    /// How many files, in order, it takes to reach a size; all if they do not.
    fn first_adding_up_to(&self, total_bytes: u64) -> u64 {
        if let Some(bytes) = self.sizes.fixed() {
            return total_bytes.div_ceil(bytes.max(1)).min(self.files);
        }
        let mut sum = 0;
        for index in 0..self.files {
            sum += self.size_bytes(index);
            if sum >= total_bytes {
                return index + 1;
            }
        }
        self.files
    }

    /// Directories, the anchor included.
    pub const fn directories(&self) -> u64 {
        self.directories
    }

    /// Files the tree can have.
    pub const fn files(&self) -> u64 {
        self.files
    }

    /// Files that streams work on: the working set.
    pub const fn worked(&self) -> u64 {
        self.worked
    }

    /// The file at a place of the working set.
    pub const fn worked_file(&self, place: u64) -> u64 {
        if self.worked == self.files {
            place
        } else {
            (place as u128 * self.files as u128 / self.worked as u128) as u64
        }
    }

    /// The size of a file when it has its whole content.
    #[inline]
    pub fn size_bytes(&self, file: u64) -> u64 {
        self.sizes.at(self.size_draws.at(file))
    }

    /// Whether a file exists when a measurement begins.
    pub fn exists_first(&self, file: u64) -> bool {
        self.filled == self.files || self.is_filled(file)
    }

    #[inline]
    fn is_filled(&self, place: u64) -> bool {
        self.filled > 0 && self.fill_order.at(place) < self.filled
    }

    /// Whether a directory exists when a measurement begins, in a tree whose directories do.
    pub fn directory_exists_first(&self, directory: u64) -> bool {
        self.files_each > 0 || directory < self.bottom || directory == 0 || self.is_filled(directory - self.bottom)
    }

    /// Whether no file exists when a measurement begins.
    pub const fn begins_empty(&self) -> bool {
        self.filled == 0 || self.files == 0
    }

    /// The directory that holds a file.
    pub const fn holder(&self, file: u64) -> u64 {
        self.first_holder + file / self.files_each
    }

    /// The files that a directory can hold.
    pub fn files_in(&self, directory: u64) -> Range<u64> {
        if directory < self.first_holder {
            return 0..0;
        }
        let first = ((directory - self.first_holder) * self.files_each).min(self.files);
        first..(first + self.files_each).min(self.files)
    }

    /// The directory that a directory is in; the anchor's is itself.
    pub const fn parent(&self, directory: u64) -> u64 {
        directory.saturating_sub(1) / self.width
    }

    /// The directories that a directory can hold.
    pub const fn children(&self, directory: u64) -> Range<u64> {
        if directory >= self.bottom {
            return 0..0;
        }
        directory * self.width + 1..directory * self.width + 1 + self.width
    }

    /// Puts a directory's path, relative to the anchor, into `path`; that of the anchor is `.`.
    pub fn directory_path(&self, directory: u64, path: &mut Vec<u8>) {
        path.clear();
        if directory == 0 {
            path.push(b'.');
            return;
        }
        let mut places = [0u64; 64];
        let (mut at, mut levels) = (directory, 0);
        while at > 0 {
            places[levels] = (at - 1) % self.width;
            at = self.parent(at);
            levels += 1;
        }
        for (level, place) in places[..levels].iter().rev().enumerate() {
            // Writing to a vector cannot fail.
            let _ = write!(path, "{}d{place}", if level > 0 { "/" } else { "" });
        }
    }

    /// Puts a file's path, relative to the anchor, into `path`.
    pub fn file_path(&self, file: u64, path: &mut Vec<u8>) {
        match self.holder(file) {
            0 => path.clear(),
            holder => {
                self.directory_path(holder, path);
                path.push(b'/');
            }
        }
        let _ = write!(path, "f{file}");
    }

    /// Bytes of all files that exist when a measurement begins, and how many those are.
    pub fn first_bytes(&self) -> (u64, u64) {
        if self.begins_empty() {
            return (0, 0);
        }
        let existing = (0..self.files).filter(|file| self.exists_first(*file));
        existing.fold((0, 0), |(bytes, files), file| (bytes + self.size_bytes(file), files + 1))
    }
}
