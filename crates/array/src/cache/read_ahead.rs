//! Which reads are sequential, and what to read before it is asked for.
//!
//! Model: each volume follows a few streams. A read that begins where a stream ends (or a little later, since outstanding
//! requests overtake each other) belongs to it; any other read replaces the stream that was idle for longest. After enough
//! reads in a row a window is read ahead, twice as large each time, and the next one when half of it has been used.
//!
//! Limits: forward only. If there are more streams than it follows, every read replaces one, and nothing is read ahead.

use crate::raid::Extent;
use crate::spec::ReadAheadSpec;

/// The streams of one volume.
#[derive(Clone, Debug)]
pub(crate) struct ReadAhead {
    reads: u32,
    initial: u64,
    max: u64,
    clock: u64,
    streams: Vec<Stream>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    next: u64,
    ahead: u64,
    window: u64,
    reads: u32,
    seen: u64,
}

impl ReadAhead {
    pub(crate) fn new(spec: &ReadAheadSpec) -> Self {
        Self {
            reads: spec.sequential_reads,
            initial: u64::from(spec.initial_bytes / 512).max(1),
            max: u64::from(spec.max_bytes / 512).max(1),
            clock: 0,
            streams: vec![Stream { next: u64::MAX, ..Stream::default() }; spec.streams_per_volume.max(1) as usize],
        }
    }

    /// A read was asked for; what to read ahead, if anything. `end` is the volume's.
    #[inline]
    pub(crate) fn observe(&mut self, read: Extent, end: u64) -> Option<Extent> {
        self.clock += 1;
        let slack = self.initial;
        let after = read.lba + u64::from(read.sectors);
        let follows = |stream: &&mut Stream| read.lba.checked_sub(stream.next).is_some_and(|gap| gap <= slack);
        let Some(stream) = self.streams.iter_mut().find(follows) else {
            self.begin(after);
            return None;
        };
        stream.next = after;
        stream.seen = self.clock;
        stream.reads += 1;
        if stream.reads < self.reads {
            return None;
        }
        stream.ahead = stream.ahead.max(after);
        if stream.ahead - after >= stream.window.div_ceil(2) && stream.ahead > after || stream.ahead >= end {
            return None;
        }
        let sectors = stream.window.min(end - stream.ahead);
        let found = Extent { lba: stream.ahead, sectors: sectors as u32 };
        stream.ahead += sectors;
        stream.window = (stream.window * 2).min(self.max);
        Some(found)
    }

    fn begin(&mut self, next: u64) {
        let stream = Stream { next, ahead: 0, window: self.initial.min(self.max), reads: 0, seen: self.clock };
        if let Some(oldest) = self.streams.iter_mut().min_by_key(|stream| stream.seen) {
            *oldest = stream;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(streams: u32) -> ReadAheadSpec {
        ReadAheadSpec {
            sequential_reads: 2,
            streams_per_volume: streams,
            initial_bytes: 64 * 512,
            max_bytes: 256 * 512,
        }
    }

    fn read(lba: u64) -> Extent {
        Extent { lba, sectors: 16 }
    }

    /// What is read ahead for `rounds` rounds over streams that begin at these addresses.
    fn ahead(streams_followed: u32, starts: &[u64], rounds: u64) -> Vec<Extent> {
        let mut detector = ReadAhead::new(&spec(streams_followed));
        let reads = (0..rounds).flat_map(|round| starts.iter().map(move |start| read(start + round * 16)));
        reads.filter_map(|read| detector.observe(read, 1 << 40)).collect()
    }

    #[test]
    fn windows_follow_each_other_without_gaps_and_double() {
        let found = ahead(4, &[0], 60);
        assert_eq!(found[0], Extent { lba: 48, sectors: 64 });
        assert_eq!(found[1].sectors, 128);
        assert!(found[2..].iter().all(|window| window.sectors == 256));
        assert!(found.windows(2).all(|pair| pair[0].lba + u64::from(pair[0].sectors) == pair[1].lba));
    }

    #[test]
    fn as_many_streams_as_are_followed_are_read_ahead_and_one_more_ends_it_for_all() {
        let starts: Vec<u64> = (0..4).map(|stream| stream << 30).collect();
        assert!(!ahead(4, &starts, 10).is_empty());
        assert_eq!(ahead(3, &starts, 10), []);
    }

    #[test]
    fn random_reads_are_not_foreseen() {
        let starts: Vec<u64> = (0..1000).map(|number: u64| number.wrapping_mul(0x9e37_79b9) % (1 << 30)).collect();
        assert_eq!(ahead(4, &starts, 1), []);
    }

    #[test]
    fn nothing_beyond_the_end_is_read() {
        let mut detector = ReadAhead::new(&spec(1));
        let found: Vec<_> = (0..8).filter_map(|round| detector.observe(read(round * 16), 128)).collect();
        assert_eq!(found.iter().map(|window| window.lba + u64::from(window.sectors)).max(), Some(128));
    }
}
