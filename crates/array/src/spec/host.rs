//! The host: what a request costs there, its page cache, and how it puts volumes together.

use plimsoll_workload::unit::{BYTES, BYTES_MAX, NS, PERCENT};
use plimsoll_workload::{options, words};

use super::controller::ReadAheadSpec;
use crate::notation::{ARRAYS, CORES_MAX, GIB, PAGE_MAX, PART_NS_MAX, PAUSE_NS_MAX, REQUEST_NS_MAX, SECTOR};

words! {
    /// Whether requests go through the host's page cache.
    pub enum HostMode: "a mode of the host", default Direct {
        /// Past it.
        Direct = "direct",
        /// Through it.
        Buffered = "buffered",
    }
}

options! {
    /// The host.
    pub struct HostSpec: "host" in ARRAYS {
        "Host" {
            /// Through the page cache or past it.
            mode: HostMode = HostMode::Direct, example "buffered";
            /// Processors that share the work below.
            cores: u32 = 1, range 1.0 => CORES_MAX, example "8";
            /// Time of one processor per request.
            request_ns: u64 = 0, range 0.0 => REQUEST_NS_MAX, unit NS, example "4000";
            /// Time of one processor per page of `page_bytes` of a request, wherever the page is.
            page_ns: u64 = 0, range 0.0 => PART_NS_MAX, unit NS, example "500";
            /// The page that `page_ns` is for.
            page_bytes: u32 = 4096, range SECTOR => PAGE_MAX, unit BYTES, example "16384";
            /// Longest request that leaves the host; longer ones are divided.
            request_bytes_max: u32 = 16 << 20, range SECTOR => GIB, unit BYTES_MAX, example "1048576";
            /// Past the page cache, what is under way of one request at a time: the next chunk begins when all of this one has
            /// ended; 0 for all of it at once.
            chunk_bytes: u32 = 0, range 0.0 => GIB, unit BYTES, example "131072";
            /// The page cache; needed when buffered.
            page_cache: Option<PageCacheSpec> = None, unset "none", example "{\"size_bytes\": 1073741824}";
            /// The volumes that make up the target, in order; all if empty.
            volumes: Vec<String> = Vec::new(), unset "none", example "[\"lun[0]\"]";
            /// Bytes on one volume before the next follows; 0 puts them one after the other.
            stripe_bytes: u32 = 0, unit BYTES, example "1048576";
        }
    }
}

options! {
    /// The host's page cache.
    pub struct PageCacheSpec: "page cache" in ARRAYS {
        "Page cache" {
            /// Bytes it holds.
            size_bytes: u64 = 0, required "say how much it holds", unit BYTES, example "1073741824";
            /// Share of dirty pages from which they are written out.
            dirty_background_percent: u32 = 10, unit PERCENT, example "5";
            /// Share of dirty pages at which writers wait.
            dirty_percent: u32 = 20, range 0.0 => 100.0, unit PERCENT, example "40";
            /// Time without requests after which everything is written out; 0 is never.
            idle_ns: u64 = 5_000_000_000, range 0.0 => PAUSE_NS_MAX, unit NS, example "30000000000";
            /// Write-outs under way at most.
            writes_max: u32 = 32, range 1.0 => 65_536.0, example "8";
            /// Time of one of the host's processors per page that is fetched or written out.
            moved_page_ns: u64 = 0, range 0.0 => PART_NS_MAX, unit NS, example "300";
            /// What is fetched first of what a read misses; each further fetch waits for the one before. 0 fetches all at once.
            first_fetch_bytes: u32 = 0, unit BYTES, example "131072";
            /// How many times as long a further fetch is as the one before.
            fetch_growth: u32 = 2, range 1.0 => 64.0, example "4";
            /// How it reads ahead, if it does.
            read_ahead: Option<ReadAheadSpec> = None, unset "none",
                example "{\"initial_bytes\": 65536, \"max_bytes\": 131072}";
            /// Bytes at the target's beginning from all over which it is filled at first; 0 leaves it empty.
            warm_range_bytes: u64 = 0, unit BYTES, example "1073741824";
            /// The blocks, whole pages, with which it is filled.
            warm_block_bytes: u32 = 65_536, range SECTOR => GIB, unit BYTES, example "8192";
        }
    }
}
