//! How fast a rebuild may go: chunk after chunk, within a share of the time, a rate, or only while nothing else is asked.
//!
//! ```
//! use plimsoll_array::raid::{RebuildSpec, Throttle};
//!
//! let spec: RebuildSpec = toml::from_str("share_percent = 25").unwrap();
//! let throttle = Throttle::new(&spec).unwrap();
//! // A chunk took 10 ms: the next one may begin 30 ms after its end, so that the rebuild has a quarter of the time.
//! assert_eq!(throttle.next_ns(0, 10_000_000), 40_000_000);
//! ```

use serde::{Deserialize, Serialize};

use super::spec::SpecError;

/// The size and pace of rebuilding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RebuildSpec {
    /// Sectors rebuilt in one step; made whole strips where there is parity.
    #[serde(default = "default_chunk_sectors")]
    pub chunk_sectors: u32,
    /// The part of the time that rebuilding may take.
    #[serde(default = "default_share_percent")]
    pub share_percent: u32,
    /// The most that may be rebuilt in a second; without it no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bytes_per_s: Option<u64>,
    /// A chunk begins only when the group has had no request for so long; without it requests do not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ns: Option<u64>,
}

/// 512 KiB.
const fn default_chunk_sectors() -> u32 {
    1024
}

const fn default_share_percent() -> u32 {
    100
}

impl Default for RebuildSpec {
    fn default() -> Self {
        Self {
            chunk_sectors: default_chunk_sectors(),
            share_percent: default_share_percent(),
            rate_bytes_per_s: None,
            idle_ns: None,
        }
    }
}

/// When the next chunk may begin.
#[derive(Clone, Copy, Debug)]
pub struct Throttle {
    share_percent: u64,
    /// The least time from the beginning of a chunk to that of the next.
    period_ns: u64,
    chunk_bytes: u64,
    idle_ns: u64,
}

impl Throttle {
    /// Checks a spec.
    pub fn new(spec: &RebuildSpec) -> Result<Self, SpecError> {
        if spec.chunk_sectors == 0 {
            return Err(SpecError::new("chunk_sectors", "0 is too small; give at least 1, usually 1024 (512 KiB)"));
        }
        if !(1..=100).contains(&spec.share_percent) {
            let problem = format!("{} is no share; give a whole number from 1 to 100", spec.share_percent);
            return Err(SpecError::new("share_percent", problem));
        }
        if spec.rate_bytes_per_s == Some(0) {
            return Err(SpecError::new(
                "rate_bytes_per_s",
                "0 never ends; give at least 1, or leave it out for no limit",
            ));
        }
        let chunk_bytes = u64::from(spec.chunk_sectors) * 512;
        Ok(Self {
            share_percent: u64::from(spec.share_percent),
            period_ns: spec.rate_bytes_per_s.map_or(0, |rate| duration_ns(chunk_bytes, rate)),
            chunk_bytes,
            idle_ns: spec.idle_ns.unwrap_or(0),
        })
    }

    /// The earliest beginning of the chunk after one that began and ended then.
    pub const fn next_ns(&self, began_ns: u64, ended_ns: u64) -> u64 {
        let pause = (ended_ns - began_ns).saturating_mul(100 - self.share_percent) / self.share_percent;
        let (shared, paced) = (ended_ns.saturating_add(pause), self.paced_ns(began_ns));
        if shared > paced { shared } else { paced }
    }

    /// The earliest beginning of a chunk after the last one began then, whether that has ended or not.
    pub const fn paced_ns(&self, last_began_ns: u64) -> u64 {
        last_began_ns.saturating_add(self.period_ns)
    }

    /// The earliest beginning of a chunk after the last request to the group ended then.
    pub const fn idle_from_ns(&self, last_request_ns: u64) -> u64 {
        last_request_ns.saturating_add(self.idle_ns)
    }

    /// Whether requests hold the rebuild up.
    pub const fn waits_for_idle(&self) -> bool {
        self.idle_ns > 0
    }

    /// A bound from below for rebuilding a member whose medium gives and takes so much: nothing else is asked.
    pub fn shortest_ns(&self, member_sectors: u64, medium_bytes_per_s: u64) -> u64 {
        let chunk_ns = duration_ns(self.chunk_bytes, medium_bytes_per_s);
        let period_ns = self.next_ns(0, chunk_ns);
        let (chunks, rest) = (member_sectors * 512 / self.chunk_bytes, member_sectors * 512 % self.chunk_bytes);
        let pause_after_last = if rest == 0 && chunks > 0 { period_ns - chunk_ns } else { 0 };
        chunks.saturating_mul(period_ns) - pause_after_last + duration_ns(rest, medium_bytes_per_s)
    }
}

/// The time that so many bytes need, rounded up.
fn duration_ns(bytes: u64, bytes_per_s: u64) -> u64 {
    let exact = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_s));
    u64::try_from(exact).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttle(text: &str) -> Throttle {
        Throttle::new(&toml::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn without_limits_chunks_follow_each_other() {
        assert_eq!(throttle("").next_ns(5, 12), 12);
    }

    #[test]
    fn the_slower_of_share_and_rate_counts() {
        // 1 MiB at 1 MiB/s is one chunk a second.
        let both = throttle("chunk_sectors = 2048\nshare_percent = 50\nrate_bytes_per_s = 1048576");
        assert_eq!(both.next_ns(0, 100_000_000), 1_000_000_000);
        assert_eq!(both.next_ns(0, 700_000_000), 1_400_000_000);
    }

    #[test]
    fn the_shortest_rebuild_is_capacity_over_the_allowed_rate() {
        // 1 GB at 100 MB/s is 10 s; with half of the time, 20 s less the pause after the last chunk.
        let chunk = "chunk_sectors = 3125\n";
        assert_eq!(throttle(chunk).shortest_ns(1_953_125, 100_000_000), 10_000_000_000);
        let half = throttle(&format!("{chunk}share_percent = 50"));
        assert_eq!(half.shortest_ns(1_953_125, 100_000_000), 20_000_000_000 - 16_000_000);
    }

    #[test]
    fn a_wrong_key_is_named() {
        for (text, key) in [("chunk_sectors = 0", "chunk_sectors"), ("share_percent = 0", "share_percent")] {
            let error = Throttle::new(&toml::from_str(text).unwrap()).unwrap_err();
            assert_eq!(error.key, key);
        }
        assert!(toml::from_str::<RebuildSpec>("chunk = 3").unwrap_err().to_string().contains("unknown field `chunk`"));
    }
}
