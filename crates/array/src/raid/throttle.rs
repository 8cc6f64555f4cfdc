//! How fast a rebuild may go: chunk after chunk, within a share of the time, a rate, or after what else a group has to do.
//!
//! Model: a rebuild of less than full priority goes on freely once its group has had nothing else to do for as long as the
//! last chunk took. Until then one chunk is under way at most, and has its priority's share of the time: the next one begins
//! after a pause as long as it took, times the others' share over its own. Priority 0 has no share. Whatever the priority, a
//! chunk begins in time for the least pace. Share, rate and pause of a spec hold besides, whether anything is asked or not.
//! A share is kept in spells: when chunks have been under way for half a second, whatever lay between, the next one waits
//! until that half second and more is the share of all the time since the spell began. Within a spell chunks follow each
//! other as without a share, so that a rebuild alone takes as much longer as its share is less; pauses after every chunk
//! would cost it a turn of the platters each and the reading ahead of the next one, too.
//!
//! Limits: how long controllers work at a time is not in their manuals; half a second is assumed, after Linux md, which
//! sleeps that long when it has been too fast (from memory). A share is that of each rebuild, not of all of a group.
//! The least pace is not kept where two chunks under way at all times are too slow for it. What controllers take for idle
//! is not in their manuals; that a chunk's length decides is assumed, after Linux md, for which a member is idle that has
//! had no other request since the last look.
//!
//! ```
//! use plimsoll_array::raid::{Geometry, GroupSpec, Level, RebuildSpec, Spell, Throttle};
//!
//! let spec: RebuildSpec = toml::from_str("share_percent = 25").unwrap();
//! let geometry = Geometry::new(&GroupSpec::new(Level::Raid10, 4, 128), 2048).unwrap();
//! let (throttle, mut spell) = (Throttle::new(&spec, &geometry).unwrap(), Spell::default());
//! spell.begin_chunk(0);
//! spell.end_chunk(600_000_000);
//! // The rebuild went on for 600 ms: it may again after 1800 ms more, so that it has a quarter of the time.
//! assert_eq!(throttle.shared_ns(&spell, 600_000_000), 2_400_000_000);
//! ```

use plimsoll_workload::option::Record;
use plimsoll_workload::options;
use plimsoll_workload::unit::{BYTES_PER_S, NS, PERCENT, SECTORS};

use super::geometry::Geometry;
use super::rebuild::Rebuild;
use super::spec::SpecError;
use crate::notation::{ANY, ARRAYS};

/// How long a rebuild goes on before it pauses for the sake of its share.
const SPELL_NS: u64 = 500_000_000;

options! {
    /// The step, pace and priority of rebuilding.
    #[derive(Eq)]
    pub struct RebuildSpec: "rebuild pace" in ARRAYS {
        "Rebuild" {
            /// Sectors rebuilt in one step; made whole strips where there is parity.
            chunk_sectors: u32 = 1024, range 1.0 => 4_294_967_295.0, unit SECTORS, example "2048";
            /// The part of the time that rebuilding may take.
            share_percent: u32 = 100, range 1.0 => 100.0, unit PERCENT, example "25";
            /// The most that may be rebuilt in a second; without it no limit.
            rate_bytes_per_s: Option<u64> = None, unset "none", range 1.0 => ANY, unit BYTES_PER_S, example "50000000";
            /// A chunk begins only when the group has had no request for so long, but for the least pace.
            idle_ns: Option<u64> = None, unset "none", unit NS, example "100000000";
            /// The part of the time that rebuilding has while the group has other things to do, of which 0 waits for the last and
            /// 100 none: the rebuild priority of controllers, low 0, medium 50 and high 100. Source: Compaq Smart Array 431 user
            /// guide, p. 6-26 (low rebuilds only when the controller is idle, high takes precedence over requests); MegaRAID
            /// Enterprise 1600 hardware guide, p. 12 (0 to 100 %, of which 0 and 100 mean the same); Rorke Galaxy Aurora guide,
            /// p. 93 (10 is 10 % of the time while the array is used); that medium is half of the time: from memory.
            priority_percent: u32 = 50, range 0.0 => 100.0, unit PERCENT, example "0";
            /// The least that is rebuilt in a second, however much is asked; the rate, if that is less. Source: Linux md, 1000 KiB
            /// per second and device (`speed_limit_min`); assumed for controllers, whose manuals give none.
            least_bytes_per_s: u64 = 1_024_000, range 1.0 => ANY, unit BYTES_PER_S, example "2048000";
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
    priority_percent: u64,
    /// The most time from the beginning of a chunk to that of the next.
    longest_ns: u64,
}

impl Throttle {
    /// Checks a spec; a step is what it is made on this group.
    pub fn new(spec: &RebuildSpec, geometry: &Geometry) -> Result<Self, SpecError> {
        spec.check_ranges()?;
        let chunk_bytes = Rebuild::chunk_sectors(spec.chunk_sectors, geometry) * 512;
        Ok(Self {
            share_percent: u64::from(spec.share_percent),
            period_ns: spec.rate_bytes_per_s.map_or(0, |rate| duration_ns(chunk_bytes, rate)),
            chunk_bytes,
            idle_ns: spec.idle_ns.unwrap_or(0),
            priority_percent: u64::from(spec.priority_percent),
            longest_ns: duration_ns(chunk_bytes, spec.rate_bytes_per_s.unwrap_or(u64::MAX).min(spec.least_bytes_per_s)),
        })
    }

    /// The earliest beginning of the next chunk by the share; [`u64::MAX`] while a chunk is under way whose end decides.
    pub fn shared_ns(&self, spell: &Spell, now_ns: u64) -> u64 {
        if self.share_percent == 100 || !spell.is_over(now_ns) {
            return 0;
        }
        if spell.under_way > 0 {
            return u64::MAX;
        }
        spell.began_ns.saturating_add(spell.spent_ns.saturating_mul(100) / self.share_percent)
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

    /// Whether what else the group has to do holds the rebuild up.
    pub const fn yields(&self) -> bool {
        self.priority_percent < 100
    }

    /// The beginning of the chunk after one that began and ended then, if the group has had other things to do all the time.
    pub const fn turn_ns(&self, began_ns: u64, ended_ns: u64) -> u64 {
        if self.priority_percent == 0 { u64::MAX } else { after_pause_ns(began_ns, ended_ns, self.priority_percent) }
    }

    /// The latest beginning of a chunk after the last one began, or had to begin, then, whatever else the group has to do.
    pub const fn latest_ns(&self, last_ns: u64) -> u64 {
        last_ns.saturating_add(self.longest_ns)
    }

    /// A bound from below for rebuilding a member whose medium gives and takes so much: nothing else is asked.
    pub fn shortest_ns(&self, member_sectors: u64, medium_bytes_per_s: u64) -> u64 {
        let bytes = member_sectors * 512;
        let moved_ns = duration_ns(bytes, medium_bytes_per_s);
        let chunk_ns = duration_ns(self.chunk_bytes, medium_bytes_per_s);
        // A spell may be over by up to two chunks later, and no pause follows the last.
        let spells = moved_ns.saturating_sub(1) / (SPELL_NS + 2 * chunk_ns);
        let pauses_ns = spells.saturating_mul(SPELL_NS).saturating_mul(100 - self.share_percent) / self.share_percent;
        let periods = bytes.saturating_sub(1) / self.chunk_bytes;
        moved_ns.saturating_add(pauses_ns).max(periods.saturating_mul(self.period_ns))
    }
}

/// The time that a rebuild has had since it last paused for the sake of its share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spell {
    began_ns: u64,
    /// While any chunk was under way, but for those that are.
    spent_ns: u64,
    /// Chunks under way, and since when there are any.
    under_way: u32,
    since_ns: u64,
}

impl Spell {
    /// A chunk begins; the first after a spell that was over begins another.
    pub fn begin_chunk(&mut self, now_ns: u64) {
        if self.under_way == 0 {
            if self.spent_ns == 0 || self.is_over(now_ns) {
                (self.began_ns, self.spent_ns) = (now_ns, 0);
            }
            self.since_ns = now_ns;
        }
        self.under_way += 1;
    }

    /// A chunk ends.
    pub fn end_chunk(&mut self, now_ns: u64) {
        self.under_way -= 1;
        if self.under_way == 0 {
            self.spent_ns += now_ns - self.since_ns;
        }
    }

    const fn is_over(&self, now_ns: u64) -> bool {
        let going_on_ns = if self.under_way > 0 { now_ns - self.since_ns } else { 0 };
        self.spent_ns + going_on_ns >= SPELL_NS
    }
}

/// The end of the pause after something that began and ended then, if it may take so many percent of the time.
const fn after_pause_ns(began_ns: u64, ended_ns: u64, percent: u64) -> u64 {
    ended_ns.saturating_add((ended_ns - began_ns).saturating_mul(100 - percent) / percent)
}

/// The time that so many bytes need, rounded up.
fn duration_ns(bytes: u64, bytes_per_s: u64) -> u64 {
    let exact = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_s));
    u64::try_from(exact).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raid::{GroupSpec, Level};

    fn throttle(text: &str) -> Throttle {
        let mirrors = Geometry::new(&GroupSpec::new(Level::Raid10, 4, 128), 2048).unwrap();
        Throttle::new(&toml::from_str(text).unwrap(), &mirrors).unwrap()
    }

    #[test]
    fn a_spell_ends_with_its_time_and_the_pause_after_it_makes_up_for_all_of_it() {
        let (throttle, mut spell) = (throttle("share_percent = 20"), Spell::default());
        let ms = |number: u64| number * 1_000_000;
        // Two chunks at a time from 100 to 400 ms, one alone from 1000 ms on.
        spell.begin_chunk(ms(100));
        spell.begin_chunk(ms(150));
        spell.end_chunk(ms(250));
        spell.end_chunk(ms(400));
        assert_eq!(throttle.shared_ns(&spell, ms(1000)), 0, "300 ms of a spell are over");
        spell.begin_chunk(ms(1000));
        assert_eq!([1199, 1200].map(|now| throttle.shared_ns(&spell, ms(now))), [0, u64::MAX]);
        spell.end_chunk(ms(1210));
        // 510 ms are a fifth of 2550 ms, of which 1110 are over.
        assert_eq!(throttle.shared_ns(&spell, ms(1210)), ms(100 + 2550));
        spell.begin_chunk(ms(2650));
        spell.end_chunk(ms(2660));
        assert_eq!(throttle.shared_ns(&spell, ms(2660)), 0, "another spell");
    }

    #[test]
    fn all_of_the_time_needs_no_pause() {
        let mut spell = Spell::default();
        spell.begin_chunk(0);
        assert_eq!(throttle("").shared_ns(&spell, 10_000_000_000), 0);
    }

    #[test]
    fn a_priority_is_a_share_of_the_time_while_others_are_served_and_the_least_pace_ends_every_wait() {
        let begins = |priority: u32| throttle(&format!("priority_percent = {priority}")).turn_ns(1_000, 11_000);
        assert_eq!([begins(100), begins(50), begins(30), begins(0)], [11_000, 21_000, 34_333, u64::MAX]);
        assert!(throttle("priority_percent = 99").yields() && !throttle("priority_percent = 100").yields());
        // 512 KiB at 1000 KiB/s.
        assert_eq!(throttle("priority_percent = 0").latest_ns(7), 512_000_007);
    }

    #[test]
    fn the_shortest_rebuild_is_capacity_over_the_allowed_rate() {
        // 1 GB at 100 MB/s is 10 s; with half of the time, a pause of half a second after each spell of 532 ms or less.
        let chunk = "chunk_sectors = 3125\n";
        assert_eq!(throttle(chunk).shortest_ns(1_953_125, 100_000_000), 10_000_000_000);
        let half = throttle(&format!("{chunk}share_percent = 50"));
        assert_eq!(half.shortest_ns(1_953_125, 100_000_000), 19_000_000_000);
        // The slower counts: 625 chunks of 1.6 MB at 16 MB/s, the first at once.
        let both = throttle(&format!("{chunk}share_percent = 50\nrate_bytes_per_s = 16000000"));
        assert_eq!(both.shortest_ns(1_953_125, 100_000_000), 62_400_000_000);
    }

    #[test]
    fn a_wrong_key_is_named() {
        for (text, key) in [
            ("chunk_sectors = 0", "chunk_sectors"),
            ("share_percent = 0", "share_percent"),
            ("priority_percent = 101", "priority_percent"),
            ("least_bytes_per_s = 0", "least_bytes_per_s"),
        ] {
            let error = toml::from_str::<RebuildSpec>(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{key}: ")), "{error}");
        }
        let error = toml::from_str::<RebuildSpec>("chunk = 3").unwrap_err().to_string();
        assert!(error.contains("key 'chunk' is not known; known are chunk_sectors, "), "{error}");
    }

    #[test]
    fn a_pace_that_was_not_read_is_checked_too() {
        let mirrors = Geometry::new(&GroupSpec::new(Level::Raid10, 4, 128), 2048).unwrap();
        let never = RebuildSpec { share_percent: 0, ..RebuildSpec::default() };
        let error = Throttle::new(&never, &mirrors).unwrap_err();
        assert_eq!(error.to_string(), "key 'share_percent': 0 is out of range; write 1 to 100");
    }
}
