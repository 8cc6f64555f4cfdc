//! What every component did between two instants: how busy it was, and how many were there.
//!
//! Model: components count from the beginning and never stop; a measured phase is the difference of two readings.
//! Utilisation is busy time over elapsed time and servers; of a full-duplex link it is that of the busier direction, which
//! limits however idle the other is. Of flash, what was programmed over what was written is its write amplification. The
//! mean number present follows from the time that visitors spent there (Little's law).
//!
//! Limits: work is counted when it is given to a component, so what reaches over the end of a phase counts to it.

use serde::Serialize;

use crate::flash::Written;
use crate::station::Account;

/// What a component is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Component {
    /// Its name: `disk[3]`, `fc`, `a.cpu`.
    pub name: String,
    /// The set it belongs to: `disk`.
    pub set: String,
    /// `host`, `link`, `limit`, `cpu`, `cache`, `disk` or `flash`.
    pub kind: &'static str,
    /// How many it can serve at once.
    pub servers: u64,
}

/// What a component has done so far. Of caches, visits are reads, and busy time has no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Times, visits and bytes; of a full-duplex link those of one direction.
    pub account: Account,
    /// Those of the other.
    pub opposite: Account,
    /// Of a cache: reads that found everything there.
    pub hits: u64,
    /// Of a cache: bytes that were read ahead, and of these what gave way before it was asked for.
    pub ahead: (u64, u64),
    /// Of a cache: dirty pages, and pages that may be dirty.
    pub dirty: (u64, u64),
    /// Of a flash drive: what was written to it and to its cells.
    pub written: Option<Written>,
}

/// What the caches of an array hold that keep writes, and whether that is in balance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WriteCaches {
    /// What is yet to be written to drives.
    pub dirty_bytes: u64,
    /// What may be, until the caches begin to write it out.
    pub begins_bytes: u64,
    /// Each that holds anything has begun to write it out because there was so much: until then writes cost the drives nothing.
    pub destages: bool,
}

/// What a component did in a phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComponentUse {
    /// Which one.
    #[serde(flatten)]
    pub component: Component,
    /// Share of its time that it was busy, of a full-duplex link in its busier direction; of a cache, the share of its room
    /// for writes that is used at the end.
    pub utilisation: f64,
    /// Visits; of a cache, reads.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// How many were there in the mean, in service or waiting; of a cache, none.
    pub mean_queue: f64,
    /// Length of the phase.
    pub elapsed_ns: u64,
    /// Of a cache: share of reads that found everything there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_share: Option<f64>,
    /// Of a cache into which was read ahead: how much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// Of the same: what was given up or written over before it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_wasted_bytes: Option<u64>,
    /// Of a flash drive that was written to: the bytes of it, in whole units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Of the same: the bytes that its cells were programmed with, collection and padding included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programmed_bytes: Option<u64>,
    /// Of the same: `programmed_bytes` over `written_bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_amplification: Option<f64>,
}

impl ComponentUse {
    /// What a component did between two readings that are `elapsed_ns` apart.
    pub fn between(component: &Component, before: &Reading, after: &Reading, elapsed_ns: u64) -> Self {
        let elapsed = elapsed_ns.max(1) as f64;
        let difference = |read: fn(&Reading) -> u64| read(after).saturating_sub(read(before));
        let both = |read: fn(&Account) -> u64| {
            (read(&after.account) + read(&after.opposite))
                .saturating_sub(read(&before.account) + read(&before.opposite))
        };
        let operations = both(|account| account.operations);
        let is_cache = component.kind == "cache";
        let busy = match component.kind {
            "link" => {
                let opposite_ns = difference(|reading| reading.opposite.busy_ns);
                difference(|reading| reading.account.busy_ns).max(opposite_ns) as f64
            }
            _ => difference(|reading| reading.account.busy_ns) as f64 / component.servers.max(1) as f64,
        };
        let written = written_between(before, after);
        let ahead_bytes = difference(|reading| reading.ahead.0);
        let used = after.dirty.0 as f64 / after.dirty.1.max(1) as f64;
        Self {
            component: component.clone(),
            utilisation: if is_cache { used } else { (busy / elapsed).min(1.0) },
            operations,
            bytes: both(|account| account.bytes),
            mean_queue: both(|account| account.resident_ns) as f64 / elapsed,
            elapsed_ns,
            hit_share: is_cache.then(|| difference(|reading| reading.hits) as f64 / operations.max(1) as f64),
            read_ahead_bytes: (ahead_bytes > 0).then_some(ahead_bytes),
            read_ahead_wasted_bytes: (ahead_bytes > 0).then(|| difference(|reading| reading.ahead.1)),
            written_bytes: written.map(|written| written.host_bytes),
            programmed_bytes: written.map(|written| written.flash_bytes),
            write_amplification: written.map(|written| written.flash_bytes as f64 / written.host_bytes as f64),
        }
    }
}

/// What a flash drive wrote in a phase; none where nothing was written to it.
fn written_between(before: &Reading, after: &Reading) -> Option<Written> {
    let (before, after) = (before.written.unwrap_or_default(), after.written?);
    let written = Written {
        host_bytes: after.host_bytes.saturating_sub(before.host_bytes),
        flash_bytes: after.flash_bytes.saturating_sub(before.flash_bytes),
    };
    (written.host_bytes > 0).then_some(written)
}
