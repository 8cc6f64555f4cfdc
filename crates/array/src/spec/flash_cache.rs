//! Flash before a group of disks.

use plimsoll_workload::unit::{BYTES, PERCENT};
use plimsoll_workload::{options, words};

use crate::notation::{ARRAYS, GIB, SECTOR};

words! {
    /// What a flash cache does with writes.
    pub enum FlashWrites: "a way to treat writes", default Through {
        /// They go past it to the group; what it has of them it gives up.
        Around = "around",
        /// They go to the group, and to the cache where it has what they change.
        Through = "through",
        /// They are over when the cache has them, and go to the group later; only on a group of mirrors.
        Back = "back",
    }
}

options! {
    /// A cache of extents on flash drives before a group: exact LRU over those that the group has as well, the others until they are
    /// written there.
    pub struct FlashCacheSpec: "flash cache" in ARRAYS {
        "Flash cache" {
            /// The group of flash drives that it lies on, of the same controller: RAID 0, 1 or 10, without volumes.
            group: String = String::new(), required "name the group of flash drives that it lies on", example "flash";
            /// Bytes of data it holds.
            size_bytes: Option<u64> = None, unset "all of its group", unit BYTES, example "107374182400";
            /// An extent: what is brought in at once and leaves at once.
            extent_bytes: u32 = 65_536, range SECTOR => GIB, unit BYTES, example "262144";
            /// What it does with writes.
            writes: FlashWrites = FlashWrites::Through, example "back";
            /// With which miss an extent is brought in: with the first, or with the second since as many other extents were missed as
            /// the cache holds.
            promote_on_miss: u32 = 1, range 1.0 => 2.0, example "2";
            /// Extents that are on their way in at a time; while there are so many, misses bring nothing in.
            fills_max: u32 = 64, range 1.0 => 65_536.0, example "16";
            /// Longer reads bring nothing in.
            read_bytes_max: Option<u32> = None, unset "no limit", range SECTOR => GIB, unit BYTES, example "1048576";
            /// `back`: share of the extents that may be dirty; beyond it writes go past the cache.
            write_percent: u32 = 100, range 0.0 => 100.0, unit PERCENT, example "70";
            /// `back`: part of the dirty extents' share from which they are written to the group.
            high_percent: u32 = 75, range 0.0 => 100.0, unit PERCENT, example "20";
            /// `back`: part of the dirty extents' share at which that ends.
            low_percent: u32 = 50, range 0.0 => 100.0, unit PERCENT, example "10";
            /// `back`: extents that are written to the group at a time, per device of it.
            destage_per_device: u32 = 1, range 1.0 => 1024.0, example "2";
            /// Whether it begins as a load that has gone on for long leaves it: filled from all over what is addressed. If not, it begins
            /// empty.
            warm: bool = true, example "false";
        }
    }
}
