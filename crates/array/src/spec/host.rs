//! The host: what a request costs there, its page cache, and how it puts volumes together.

use serde::{Deserialize, Serialize};

use super::controller::ReadAheadSpec;

/// Whether requests go through the host's page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostMode {
    /// Past it.
    #[default]
    Direct,
    /// Through it.
    Buffered,
}

/// The host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostSpec {
    /// Through the page cache or past it.
    pub mode: HostMode,
    /// Processors that share the work below.
    pub cores: u32,
    /// Time of one processor per request.
    pub request_ns: u64,
    /// Time of one processor per page of `page_bytes` of a request, wherever the page is.
    pub page_ns: u64,
    /// The page that `page_ns` is for.
    pub page_bytes: u32,
    /// Longest request that leaves the host; longer ones are divided.
    pub request_bytes_max: u32,
    /// Past the page cache, what is under way of one request at a time: the next chunk begins when all of this one has
    /// ended; 0 for all of it at once.
    pub chunk_bytes: u32,
    /// The page cache; needed when buffered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCacheSpec>,
    /// The volumes that make up the target, in order; all if empty.
    pub volumes: Vec<String>,
    /// Bytes on one volume before the next follows; 0 puts them one after the other.
    pub stripe_bytes: u32,
}

impl Default for HostSpec {
    fn default() -> Self {
        Self {
            mode: HostMode::Direct,
            cores: 1,
            request_ns: 0,
            page_ns: 0,
            page_bytes: 4096,
            request_bytes_max: 16 << 20,
            chunk_bytes: 0,
            page_cache: None,
            volumes: Vec::new(),
            stripe_bytes: 0,
        }
    }
}

/// The host's page cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageCacheSpec {
    /// Bytes it holds.
    pub size_bytes: u64,
    /// Share of dirty pages from which they are written out.
    #[serde(default = "background")]
    pub dirty_background_percent: u32,
    /// Share of dirty pages at which writers wait.
    #[serde(default = "dirty")]
    pub dirty_percent: u32,
    /// Time without requests after which everything is written out; 0 is never.
    #[serde(default = "idle_ns")]
    pub idle_ns: u64,
    /// Write-outs under way at most.
    #[serde(default = "writes_max")]
    pub writes_max: u32,
    /// Time of one of the host's processors per page that is fetched or written out.
    #[serde(default)]
    pub moved_page_ns: u64,
    /// What is fetched first of what a read misses; each further fetch waits for the one before. 0 fetches all at once.
    #[serde(default)]
    pub first_fetch_bytes: u32,
    /// How many times as long a further fetch is as the one before.
    #[serde(default = "fetch_growth")]
    pub fetch_growth: u32,
    /// How it reads ahead, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<ReadAheadSpec>,
    /// Bytes at the target's beginning from all over which it is filled at first; 0 leaves it empty.
    #[serde(default)]
    pub warm_range_bytes: u64,
    /// The blocks, whole pages, with which it is filled.
    #[serde(default = "warm_block_bytes")]
    pub warm_block_bytes: u32,
}

const fn fetch_growth() -> u32 {
    2
}

const fn warm_block_bytes() -> u32 {
    65_536
}

const fn background() -> u32 {
    10
}

const fn dirty() -> u32 {
    20
}

const fn idle_ns() -> u64 {
    5_000_000_000
}

const fn writes_max() -> u32 {
    32
}
