//! Which reads are sequential, and what to read before it is asked for.
//!
//! Model: each volume follows a few streams (`table.rs`). Of a stream that is followed a window is read ahead, twice as large
//! each time, and the next one when half of it has been used. A read that does not find what was read ahead for it says that the
//! cache had no room to keep it until then: the window is halved, reading ahead begins anew behind that read, and from then on
//! windows grow by their first length only. So those of all streams come to fit into the cache together, as in B. Gill & L. Bathen,
//! AMP: Adaptive Multi-stream Prefetching in a Shared Cache (FAST 2007), where streams read less ahead when pages are evicted
//! before they are used.
//!
//! Limits: forward only.

mod table;
mod window;

use self::table::Table;
use self::window::Window;
use crate::raid::Extent;
use crate::spec::ReadAheadSpec;

/// The streams of one volume.
#[derive(Clone, Debug)]
pub(crate) struct ReadAhead {
    initial: u64,
    max: u64,
    table: Table,
}

/// A read that was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) extent: Extent,
    /// Whether a page of it was neither there nor on its way.
    pub(crate) missed: bool,
}

impl ReadAhead {
    pub(crate) fn new(spec: &ReadAheadSpec) -> Self {
        let max = u64::from(spec.max_bytes / 512).max(1);
        Self {
            initial: u64::from(spec.initial_bytes / 512).clamp(1, max),
            max,
            table: Table::new(
                spec.streams_per_volume,
                spec.sequential_reads,
                u64::from(spec.initial_bytes / 512).max(1),
            ),
        }
    }

    /// A read was asked for; what to read ahead, if anything. `end` is the volume's.
    #[inline]
    pub(crate) fn observe(&mut self, asked: Asked, end: u64) -> Option<Extent> {
        let stream = self.table.follow(asked.extent)?;
        let (after, window) = (stream.next, &mut stream.window);
        if window.sectors == 0 {
            window.sectors = self.initial;
        }
        if asked.missed && window.ahead >= after {
            *window = Window { ahead: after, sectors: (window.sectors / 2).max(self.initial), lost: true };
        }
        window.ahead = window.ahead.max(after);
        let unused = window.ahead - after;
        if unused > 0 && unused >= window.sectors.div_ceil(2) || window.ahead >= end {
            return None;
        }
        let sectors = window.sectors.min(end - window.ahead);
        let found = Extent { lba: window.ahead, sectors: sectors as u32 };
        window.ahead += sectors;
        window.sectors = (window.sectors + if window.lost { self.initial } else { window.sectors }).min(self.max);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::rng::Draws;

    use super::*;

    /// Initial window, largest window, and a read, in sectors.
    const INITIAL: u32 = 64;
    const MAX: u32 = 256;
    const READ: u32 = 16;

    fn detector(streams: u32) -> ReadAhead {
        ReadAhead::new(&ReadAheadSpec {
            sequential_reads: 2,
            streams_per_volume: streams,
            initial_bytes: INITIAL * 512,
            max_bytes: MAX * 512,
        })
    }

    fn read(lba: u64) -> Asked {
        Asked { extent: Extent { lba, sectors: READ }, missed: false }
    }

    /// Streams that take turns for so many rounds; for each what was read ahead in the last quarter of them.
    fn turns(detector: &mut ReadAhead, streams: std::ops::Range<u64>, rounds: u64) -> Vec<u64> {
        let first = streams.start;
        let mut ahead = vec![0; (streams.end - first) as usize];
        for round in 0..rounds {
            for stream in streams.clone() {
                let found = detector.observe(read((stream << 30) + round * u64::from(READ)), 1 << 50);
                if round >= rounds * 3 / 4 {
                    ahead[(stream - first) as usize] += found.map_or(0, |window| u64::from(window.sectors));
                }
            }
        }
        ahead
    }

    /// How many streams were read ahead all the time; the others were not at all.
    fn followed(ahead: &[u64], rounds: u64) -> usize {
        let all = rounds / 4 * u64::from(READ);
        let is_followed = |&&sectors: &&u64| sectors > 0;
        let followed: Vec<&u64> = ahead.iter().filter(is_followed).collect();
        assert!(followed.iter().all(|&&sectors| sectors.abs_diff(all) <= u64::from(MAX)), "{ahead:?} of {all}");
        followed.len()
    }

    #[test]
    fn windows_follow_each_other_without_gaps_and_double() {
        let mut detector = detector(4);
        let found: Vec<Extent> = (0..60).filter_map(|round| detector.observe(read(round * 16), 1 << 40)).collect();
        assert_eq!(found[0], Extent { lba: 48, sectors: 64 });
        assert_eq!(found[1].sectors, 128);
        assert!(found[2..].iter().all(|window| window.sectors == 256));
        assert!(found.windows(2).all(|pair| pair[0].lba + u64::from(pair[0].sectors) == pair[1].lba));
    }

    #[test]
    fn of_more_streams_than_are_followed_as_many_as_are_go_on_being_read_ahead() {
        // By age alone, none would be: each comes back just after its entry was taken.
        for (entries, streams) in [(4, 4), (4, 5), (8, 12), (16, 64), (1, 3), (4, 200)] {
            let ahead = turns(&mut detector(entries), 0..streams, 4000);
            assert_eq!(followed(&ahead, 4000), entries as usize, "{entries} of {streams}");
        }
    }

    #[test]
    fn streams_that_have_ended_give_way() {
        let mut detector = detector(8);
        turns(&mut detector, 0..8, 400);
        let ahead = turns(&mut detector, 8..16, 80);
        assert_eq!(followed(&ahead, 80), 8);
    }

    #[test]
    fn a_stream_is_found_among_many_random_reads_and_kept() {
        let mut detector = detector(4);
        let draws = Draws::new(1, &[]);
        let mut ahead = 0;
        for round in 0..2000 {
            for other in 0..20 {
                let random = detector.observe(read((1 << 40) + draws.at(round * 20 + other) % (1 << 38)), 1 << 50);
                assert_eq!(random, None);
            }
            ahead += detector.observe(read(round * 16), 1 << 50).map_or(0, |window| window.sectors);
        }
        assert!(ahead > 2000 * READ * 9 / 10, "{ahead} sectors");
    }

    #[test]
    fn random_reads_are_not_foreseen() {
        let mut detector = detector(4);
        let places = (0..1000).map(|number: u64| number.wrapping_mul(0x9e37_79b9) % (1 << 30));
        assert_eq!(places.filter_map(|lba| detector.observe(read(lba), 1 << 40)).count(), 0);
    }

    #[test]
    fn nothing_beyond_the_end_is_read() {
        let mut detector = detector(1);
        let found: Vec<_> = (0..8).filter_map(|round| detector.observe(read(round * 16), 128)).collect();
        assert_eq!(found.iter().map(|window| window.lba + u64::from(window.sectors)).max(), Some(128));
    }

    #[test]
    fn a_window_that_was_lost_is_read_again_at_half_the_length_and_grows_slowly() {
        let mut detector = detector(1);
        let mut next = 0;
        let mut step = |detector: &mut ReadAhead, missed: bool| {
            next += u64::from(READ);
            let asked = Asked { missed, ..read(next - u64::from(READ)) };
            (next, detector.observe(asked, 1 << 40).map(|window| (window.lba, window.sectors)))
        };
        while step(&mut detector, false).1.is_none_or(|(_, sectors)| sectors < MAX) {}
        let (after, again) = step(&mut detector, true);
        assert_eq!(again, Some((after, MAX / 2)));
        let mut sizes = (0..40).filter_map(|_| step(&mut detector, false).1);
        assert_eq!(sizes.next().map(|(_, sectors)| sectors), Some(MAX / 2 + INITIAL));
        assert_eq!(sizes.next().map(|(_, sectors)| sectors), Some(MAX));
    }
}
