//! Which of many reads belong together: the streams that are followed, and who gives way to whom.
//!
//! Model: a read that begins where another ended (or a little later, since outstanding requests overtake each other) goes on with its
//! stream. Where reads end is remembered in [`PLACES`] places, one for every read, whose number is drawn from the address: the
//! newer read has it. A stream that has been read on from often enough is followed: it gets one of few entries, and is read ahead
//! for as long as it has that. If all are taken it gets the one that was idle for longest, of those that were not read for
//! [`PATIENCE`] times as long as they lately were between two reads, and whoever had that is remembered as before. So streams that
//! take turns do not take each other's entries just before their turn, as they would by age alone.
//!
//! Sources: a table of where streams go on, apart from what is read ahead, is how M. Li et al. find streams among random reads (TaP,
//! FAST 2008). `OpenZFS` protects streams in use by a time: where all entries are taken it begins no stream until one was idle
//! for some seconds (`dmu_zfetch.c`).
//!
//! Limits: time is counted in reads of the volume. The more reads there are between two of a stream, the rarer it is found: of
//! m, with (1 − 1/[`PLACES`])^m.

use plimsoll_workload::rng::drawn;

use super::window::Window;
use crate::raid::Extent;

/// How many ends of reads are remembered.
const PLACES: usize = 128;

/// How many times its longest pause of late a stream may pause until its entry can be taken.
const PATIENCE: u64 = 4;

/// Reads that follow on each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// The sector after its last read.
    pub(super) next: u64,
    pub(super) window: Window,
    /// Reads that followed on others.
    reads: u32,
    /// When it was last read, and its longest pause of late, both in reads of the volume.
    seen: u64,
    pause: u64,
}

impl Stream {
    const NONE: Self = Self { next: u64::MAX, window: Window::NONE, reads: 0, seen: 0, pause: 0 };

    /// Whether a read goes on with it.
    const fn meets(&self, read: Extent, slack: u64) -> bool {
        self.next <= read.lba && read.lba - self.next <= slack
    }

    /// It ends behind a read from now on.
    fn go_on(&mut self, read: Extent, now: u64) {
        // A long pause is forgotten by an eighth with every read.
        self.pause = (now - self.seen).max(self.pause - self.pause / 8);
        (self.next, self.seen) = (read.lba + u64::from(read.sectors), now);
        self.reads = self.reads.saturating_add(1);
    }

    /// For how long it has been idle, if so long that its entry can be taken.
    fn idle(&self, now: u64) -> Option<u64> {
        Some(now - self.seen).filter(|&idle| idle > PATIENCE * self.pause)
    }
}

/// The streams of one volume.
#[derive(Clone, Debug)]
pub(super) struct Table {
    followed: Vec<Stream>,
    entries: usize,
    remembered: Vec<Stream>,
    /// Reads on from others until a stream is followed.
    reads: u32,
    /// How far behind the end of a stream a read of it may begin.
    slack: u64,
    /// Reads so far.
    now: u64,
}

impl Table {
    pub(super) fn new(entries: u32, reads: u32, slack: u64) -> Self {
        let entries = entries.max(1) as usize;
        let followed = Vec::with_capacity(entries);
        Self { followed, entries, remembered: vec![Stream::NONE; PLACES], reads, slack, now: 0 }
    }

    /// The followed stream that a read goes on with, which ends behind it from now on.
    #[inline]
    pub(super) fn follow(&mut self, read: Extent) -> Option<&mut Stream> {
        self.now += 1;
        let number = match self.followed.iter().position(|stream| stream.meets(read, self.slack)) {
            Some(number) => {
                self.followed[number].go_on(read, self.now);
                number
            }
            None => self.find(read)?,
        };
        self.followed.get_mut(number)
    }

    /// Goes on with a stream that was not followed, or begins one; where it is followed from now on.
    fn find(&mut self, read: Extent) -> Option<usize> {
        let unit = read.lba / self.slack;
        let met = [unit, unit.saturating_sub(1)].map(Self::place).into_iter().find_map(|place| {
            let met = self.remembered[place].meets(read, self.slack);
            met.then(|| std::mem::replace(&mut self.remembered[place], Stream::NONE))
        });
        let mut stream = met.unwrap_or(Stream { next: read.lba, seen: self.now, ..Stream::NONE });
        stream.go_on(read, self.now);
        if met.is_none() {
            stream.reads = 0;
        } else if stream.reads >= self.reads {
            return self.enter(stream);
        }
        self.remember(stream);
        None
    }

    /// Gives a stream an entry, if one is free or can be taken.
    fn enter(&mut self, stream: Stream) -> Option<usize> {
        if self.followed.len() < self.entries {
            self.followed.push(stream);
            return Some(self.followed.len() - 1);
        }
        let idle = self.followed.iter().map(|other| other.idle(self.now)).zip(0..);
        let (_, number) = idle.filter_map(|(idle, number)| Some((idle?, number))).max().or_else(|| {
            self.remember(stream);
            None
        })?;
        let other = std::mem::replace(&mut self.followed[number], stream);
        self.remember(other);
        Some(number)
    }

    fn remember(&mut self, stream: Stream) {
        self.remembered[Self::place(stream.next / self.slack)] = stream;
    }

    /// Where streams are remembered that end in a stretch of as many sectors as a read may be off.
    fn place(unit: u64) -> usize {
        (drawn(0, unit) % PLACES as u64) as usize
    }
}
