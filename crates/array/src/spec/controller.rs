//! Controllers: a processor, a cache, read-ahead.

use plimsoll_workload::unit::{BYTES, BYTES_MAX, BYTES_PER_S, NS, PERCENT};
use plimsoll_workload::{options, words};

use crate::notation::{ARRAYS, CORES_MAX, GIB, PAGE_MAX, PART_NS_MAX, PAUSE_NS_MAX, REQUEST_NS_MAX, SECTOR};
use crate::raid::RebuildSpec;

options! {
    /// A controller.
    pub struct ControllerSpec: "controller" in ARRAYS {
        "Controller" {
            /// What it is called.
            name: String = String::new(), required "groups refer to a controller by its name", example "raid";
            /// Processors that share its work.
            cores: u32 = 1, range 1.0 => CORES_MAX, example "2";
            /// Processor time per request.
            request_ns: u64 = 0, range 0.0 => REQUEST_NS_MAX, unit NS, example "20000";
            /// Further processor time per write: the log and the database of a store, what it tells other nodes.
            write_ns: u64 = 0, range 0.0 => REQUEST_NS_MAX, unit NS, example "500000";
            /// Processor time per command to a device.
            command_ns: u64 = 0, range 0.0 => PART_NS_MAX, unit NS, example "5000";
            /// Processor time per KiB of a request.
            kib_ns: u64 = 0, range 0.0 => PART_NS_MAX, unit NS, example "100";
            /// How fast parity is computed; 0 costs nothing.
            xor_bytes_per_s: u64 = 0, unit BYTES_PER_S, example "1000000000";
            /// Its cache, if it has one.
            cache: Option<CacheSpec> = None, unset "none", example "{\"size_bytes\": 536870912}";
            /// How it reads ahead, if it does; needs a cache.
            read_ahead: Option<ReadAheadSpec> = None, unset "none",
                example "{\"initial_bytes\": 65536, \"max_bytes\": 1048576}";
            /// The step, pace and priority of rebuilds of its groups.
            rebuild: Option<RebuildSpec> = None, unset "none", example "{\"priority_percent\": 0}";
            /// Whether what a spare holds is copied back to the new drive that comes for the failed one, so that the spare waits
            /// again; if not, the spare stays, and the new drive waits in its stead.
            copy_back: bool = false, example "true";
        }
    }
}

words! {
    /// Whether writes are answered from the cache.
    pub enum WriteCache: "a way to answer writes", default On {
        /// Never.
        Off = "off",
        /// As long as the battery is there.
        On = "on",
        /// Whatever anybody says.
        ForcedOn = "forced_on",
    }
}

options! {
    /// A cache of pages: exact LRU over clean ones, dirty ones until they are destaged.
    pub struct CacheSpec: "cache" in ARRAYS {
        "Cache" {
            /// Bytes of data it holds.
            size_bytes: u64 = 0, required "say how much it holds", unit BYTES, example "536870912";
            /// A page: 512 bytes to 64 KiB, a power of two.
            page_bytes: u32 = 16_384, range SECTOR => PAGE_MAX, unit BYTES, example "4096";
            /// Share that clean pages can have.
            read_percent: u32 = 100, range 0.0 => 100.0, unit PERCENT, example "25";
            /// Share that dirty pages can have.
            write_percent: u32 = 100, range 0.0 => 100.0, unit PERCENT, example "75";
            /// Whether writes are answered from it.
            write_cache: WriteCache = WriteCache::On, example "off";
            /// Whether a battery (or flash) keeps it through a power failure.
            battery: bool = true, example "false";
            /// Part of the dirty pages' share from which destaging begins.
            high_percent: u32 = 75, range 0.0 => 100.0, unit PERCENT, example "80";
            /// Part of the dirty pages' share at which destaging ends.
            low_percent: u32 = 50, range 0.0 => 100.0, unit PERCENT, example "20";
            /// Time without requests after which everything is destaged; 0 is never.
            idle_ns: u64 = 0, range 0.0 => PAUSE_NS_MAX, unit NS, example "5000000000";
            /// Commands that destages have at most, per device of the group: a write of a mirror or of parity is as many as it
            /// has at once. A device at which requests have commands takes one at a time up to the high watermark, and up to so many as
            /// the cache fills from there.
            destage_per_device: u32 = 2, range 1.0 => 1024.0, example "4";
            /// Longest stretch of a group that is destaged at once; a row of parity is not divided, however long.
            destage_bytes_max: u32 = 1 << 20, range SECTOR => GIB, unit BYTES_MAX, example "262144";
            /// The link over which a second controller gets a copy of every write; halves the room for dirty pages. Controllers
            /// that name the same link copy in opposite directions, in turn in the order in which they are listed.
            mirror_link: Option<String> = None, unset "none", example "mirror";
            /// The link that stands for the controller's memory: what is written into the cache passes it once, and once more for every
            /// device that it goes to.
            memory_link: Option<String> = None, unset "none", example "memory";
        }
    }
}

impl CacheSpec {
    /// Whether writes are answered from it.
    pub const fn writes_back(&self) -> bool {
        match self.write_cache {
            WriteCache::Off => false,
            WriteCache::On => self.battery,
            WriteCache::ForcedOn => true,
        }
    }
}

options! {
    /// How sequential reads are foreseen.
    pub struct ReadAheadSpec: "read-ahead" in ARRAYS {
        "Read-ahead" {
            /// Reads that follow one another before anything is read ahead.
            sequential_reads: u32 = 2, example "3";
            /// Streams that are followed on one volume. A stream in use keeps its place: with more streams than this, so many go on
            /// being followed, and the others are read as they are asked for.
            streams_per_volume: u32 = 4, range 1.0 => 65_536.0, example "8";
            /// What is read ahead at first.
            initial_bytes: u32 = 0, required "say how much is read ahead at first", range SECTOR => GIB, unit BYTES,
                example "65536";
            /// What it doubles up to, if the cache has room to keep it until it is asked for.
            max_bytes: u32 = 0, required "say how much is read ahead at most", range SECTOR => GIB, unit BYTES,
                example "1048576";
        }
    }
}
