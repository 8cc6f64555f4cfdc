//! Controllers: a processor, a cache, read-ahead.

use serde::{Deserialize, Serialize};

use crate::raid::RebuildSpec;

/// A controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerSpec {
    /// What it is called.
    pub name: String,
    /// Processors that share its work.
    #[serde(default = "one")]
    pub cores: u32,
    /// Processor time per request.
    #[serde(default)]
    pub request_ns: u64,
    /// Processor time per command to a device.
    #[serde(default)]
    pub command_ns: u64,
    /// Processor time per KiB of a request.
    #[serde(default)]
    pub kib_ns: u64,
    /// How fast parity is computed; 0 costs nothing.
    #[serde(default)]
    pub xor_bytes_per_s: u64,
    /// Its cache, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheSpec>,
    /// How it reads ahead, if it does; needs a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<ReadAheadSpec>,
    /// The step, pace and priority of rebuilds of its groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildSpec>,
    /// Whether what a spare holds is copied back to the new drive that comes for the failed one, so that the spare waits
    /// again; if not, the spare stays, and the new drive waits in its stead.
    #[serde(default)]
    pub copy_back: bool,
}

/// Whether writes are answered from the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteCache {
    /// Never.
    Off,
    /// As long as the battery is there.
    #[default]
    On,
    /// Whatever anybody says.
    ForcedOn,
}

/// A cache of pages: exact LRU over clean ones, dirty ones until they are destaged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Bytes of data it holds.
    pub size_bytes: u64,
    /// A page: 512 bytes to 64 KiB, a power of two.
    #[serde(default = "page_bytes")]
    pub page_bytes: u32,
    /// Share that clean pages can have.
    #[serde(default = "all")]
    pub read_percent: u32,
    /// Share that dirty pages can have.
    #[serde(default = "all")]
    pub write_percent: u32,
    /// Whether writes are answered from it.
    #[serde(default)]
    pub write_cache: WriteCache,
    /// Whether a battery (or flash) keeps it through a power failure.
    #[serde(default = "yes")]
    pub battery: bool,
    /// Part of the dirty pages' share from which destaging begins.
    #[serde(default = "high")]
    pub high_percent: u32,
    /// Part of the dirty pages' share at which destaging ends.
    #[serde(default = "low")]
    pub low_percent: u32,
    /// Time without requests after which everything is destaged; 0 is never.
    #[serde(default)]
    pub idle_ns: u64,
    /// Writes to its group that a destage keeps going, per device of the group. A device at which requests have commands takes
    /// one at a time up to the high watermark, and up to so many as the cache fills from there.
    #[serde(default = "two")]
    pub destage_per_device: u32,
    /// Longest stretch of a group that is destaged at once; a row of parity is not divided, however long.
    #[serde(default = "destage_bytes_max")]
    pub destage_bytes_max: u32,
    /// The link over which a second controller gets a copy of every write; halves the room for dirty pages. Controllers
    /// that name the same link copy in opposite directions, in turn in the order in which they are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror_link: Option<String>,
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

/// How sequential reads are foreseen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadAheadSpec {
    /// Reads that follow one another before anything is read ahead.
    #[serde(default = "two")]
    pub sequential_reads: u32,
    /// Streams that are followed on one volume; the one not read for longest gives way.
    #[serde(default = "four")]
    pub streams_per_volume: u32,
    /// What is read ahead at first.
    pub initial_bytes: u32,
    /// What it doubles up to.
    pub max_bytes: u32,
}

const fn one() -> u32 {
    1
}

const fn two() -> u32 {
    2
}

const fn four() -> u32 {
    4
}

const fn all() -> u32 {
    100
}

const fn high() -> u32 {
    75
}

const fn low() -> u32 {
    50
}

const fn yes() -> bool {
    true
}

const fn page_bytes() -> u32 {
    16_384
}

const fn destage_bytes_max() -> u32 {
    1 << 20
}
