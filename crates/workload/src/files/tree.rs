//! The options of a tree: the directories and files that streams work on. Everything about each is declared here, once.

use crate::bounds::PEBIBYTE;
use crate::files::sizes::FileSizes;
use crate::kind::{Bytes, Percent};
use crate::options;
use crate::sizes::Sizes;
use crate::words;

words! {
    /// Which directories hold files.
    pub enum Placed: "a placement" {
        /// Those of the deepest level.
        Bottom = "bottom",
        /// All below the anchor, and the anchor itself when there are no others.
        All = "all",
    }
}

words! {
    /// What exists when a measurement begins.
    pub enum LayOut: "a layout" {
        /// Directories and files.
        Files = "files",
        /// Directories without files.
        Directories = "directories",
        /// Only the anchor.
        Nothing = "nothing",
    }
}

options! {
    /// The options of one tree, as typed.
    pub struct TreeOptions: "tree" {
        "Tree" {
            /// Name in streams, messages and `--set NAME.key=value`: letters, digits, `-` and `_`, unique
            /// in its workload.
            name: String = String::new(), unset "`tree-1`, `tree-2` … by position", example "inbox";
            /// Which directory of a target `concat:A,B,C` the tree lies in, counted from 0.
            part: u32 = 0, range 0.0 => 4095.0, example "1";
            /// The directory below the target, or below its part of the target, that is the tree's anchor.
            path: Option<String> = None, unset "the directory itself with one tree in it, otherwise the tree's name",
                example "spool/inbox";
        }
        "Shape" {
            /// Levels of directories below the anchor; 0 puts the files into the anchor itself.
            depth: u32 = 0, range 0.0 => 64.0, example "3";
            /// Directories in each directory, down to the deepest level.
            width: u32 = 1, range 1.0 => 1_000_000.0, example "10";
            /// Files in each directory that holds files.
            files: u32 = 100, range 0.0 => 100_000_000.0, example "1000";
            /// Which directories hold files.
            placed: Placed = Placed::Bottom, example "all";
        }
        "Files" {
            /// How large files are; the size of each is drawn by the tree's seed.
            sizes: FileSizes = FileSizes(Sizes::Fixed(65_536)), range 0.0 => PEBIBYTE, example "4KiB-64KiB";
            /// Use files, in order, until their sizes add up to this; the others are never made.
            total_size: Option<Bytes> = None, unset "all files", range 1.0 => PEBIBYTE, example "10GiB";
            /// Work on a part of the files, spread over the whole tree, that adds up to this; the others exist and
            /// are left alone.
            working_set: Option<Bytes> = None, unset "all files", range 1.0 => PEBIBYTE, example "1GiB";
        }
        "Beginning" {
            /// What exists when a measurement begins. The tree is brought back to that before every point.
            lay_out: LayOut = LayOut::Files, example "directories";
            /// Percentage of the files that exist then (in a tree without files: of its deepest directories); the
            /// tree's seed decides which.
            filled: Percent = Percent(100.0), range 0.0 => 100.0, example "50";
            /// Seed of sizes and of which files exist; not mixed with the seed of the job, so that repeats need
            /// no new layout.
            seed: u64 = 0, example "7";
        }
    }
}
