//! When a job is warmed up, measured and drained, and how that time is cut into intervals.
//!
//! Model: boundaries are fixed before the start, so every worker cuts at the same instants and their slices merge by
//! number. The warm-up and the measured time are cut separately: no interval holds both. What completes after the end is
//! the drain, one last interval.

/// What the intervals of a slice of time are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Load without counting.
    Warmup,
    /// Counted.
    Measure,
    /// After the end: waiting for what is outstanding.
    Drain,
}

impl Phase {
    /// The word used in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warmup => "warmup",
            Self::Measure => "measure",
            Self::Drain => "drain",
        }
    }
}

/// The times of a job, in nanoseconds from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Length of the warm-up.
    pub warmup_ns: u64,
    /// Length of the measured time, at least 1.
    pub duration_ns: u64,
    /// Longest interval, at least 1.
    pub interval_ns: u64,
}

impl Timeline {
    /// When issuing stops.
    pub const fn end_ns(&self) -> u64 {
        self.warmup_ns + self.duration_ns
    }

    /// Number of intervals before the drain; the drain has this number.
    pub const fn intervals(&self) -> u64 {
        self.warmup_ns.div_ceil(self.interval_ns) + self.duration_ns.div_ceil(self.interval_ns)
    }

    /// First instant of interval `index`.
    pub fn start_of(&self, index: u64) -> u64 {
        let warm = self.warmup_ns.div_ceil(self.interval_ns);
        if index < warm {
            index * self.interval_ns
        } else {
            (self.warmup_ns + (index - warm) * self.interval_ns).min(self.end_ns())
        }
    }

    /// First instant after interval `index`.
    pub fn end_of(&self, index: u64) -> u64 {
        let warm = self.warmup_ns.div_ceil(self.interval_ns);
        let end = self.start_of(index).saturating_add(self.interval_ns);
        if index < warm { end.min(self.warmup_ns) } else { end.min(self.end_ns()) }
    }

    /// What interval `index` is for.
    pub const fn phase_of(&self, index: u64) -> Phase {
        if index < self.warmup_ns.div_ceil(self.interval_ns) {
            Phase::Warmup
        } else if index < self.intervals() {
            Phase::Measure
        } else {
            Phase::Drain
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_cover_the_time_without_gap_and_never_mix_phases() {
        let timeline = Timeline { warmup_ns: 250, duration_ns: 1_030, interval_ns: 100 };
        assert_eq!(timeline.intervals(), 3 + 11);
        let mut at = 0;
        for index in 0..timeline.intervals() {
            assert_eq!(timeline.start_of(index), at, "interval {index}");
            at = timeline.end_of(index);
            assert_eq!(timeline.phase_of(index) == Phase::Warmup, at <= 250);
        }
        assert_eq!(at, timeline.end_ns());
        assert_eq!(timeline.phase_of(timeline.intervals()), Phase::Drain);
    }
}
