//! The resolved stream: every option turned into plain numbers for one target.
//!
//! `StreamOptions` (as typed) are resolved once against the shape of a target; the generator, the arrival process,
//! the content and the engine read only what stands here. Nothing in a plan refers back to text, percentages of a
//! target or defaults.

use std::ops::Range;

use crate::parts::Placed;
use crate::request::Op;
use crate::trace::TracePlan;
use crate::words;

/// What resolving needs to know of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetShape {
    /// Usable size in bytes.
    pub size_bytes: u64,
    /// Logical block in bytes: offsets and lengths of direct I/O must be multiples of it.
    pub block_bytes: u32,
}

words! {
    /// How far the kernel reads ahead.
    pub enum ReadAhead: "a read-ahead" {
        /// As it sees fit.
        Usual = "usual",
        /// Not at all, as for addresses without order.
        Off = "off",
        /// Further than usual, as for sequential ones.
        Far = "far",
    }
}

/// One stream, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPlan {
    /// The stream's name, unique in its workload.
    pub name: String,
    /// Logical threads: each has its own generator and its own `queue_depth`.
    pub threads: u32,
    /// Requests a thread keeps (closed) or may keep (open) outstanding.
    pub queue_depth: u32,
    /// Bytes of the target that requests stay inside; both ends are multiples of the alignment.
    pub region: Range<u64>,
    /// Where the stream's addresses lie on the target.
    pub placed: Placed,
    /// The longest request, in bytes.
    pub max_len: u32,
    /// Greatest common divisor of all sizes, alignments and the region's start: the unit of verification.
    pub granule: u32,
    /// Which operations can occur, indexed by [`Op`]; flushes that the engine inserts are included.
    pub ops: [bool; 4],
    /// Where and how long the requests are; of a stream with a trace, what its mix is.
    pub access: AccessPlan,
    /// What is replayed in place of drawn requests.
    pub trace: Option<TracePlan>,
    /// When they are due.
    pub arrival: ArrivalPlan,
    /// What holds a thread back that could issue.
    pub hold: HoldPlan,
    /// When the stream starts, in nanoseconds from the job's start.
    pub start_ns: u64,
    /// When it ends; `u64::MAX` = with the job.
    pub end_ns: u64,
    /// After how much each thread ends.
    pub budget: Budget,
    /// Whether a thread that has ended flushes once.
    pub flush_at_end: bool,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// How far the page cache reads ahead.
    pub read_ahead: ReadAhead,
    /// Every write durable before it completes (`O_DSYNC`).
    pub dsync: bool,
    /// Insert a flush after every this many writes of a thread; 0 = never.
    pub flush_every: u64,
    /// How many requests that touch each other may be handed over at once, so that the kernel joins them.
    pub merge_depth: u32,
    /// What is written.
    pub content: ContentPlan,
    /// What is checked on reading back.
    pub verify: Verify,
    /// Seed of this stream; already mixed from the job's seed and the stream's own.
    pub seed: u64,
}

impl StreamPlan {
    /// Whether operation `op` can occur.
    pub const fn issues(&self, op: Op) -> bool {
        self.ops[op as usize]
    }

    /// The parts of the target that it uses, where they follow each other and are not all. What is read back after
    /// a run may lie on any part.
    pub fn row(&self) -> Option<Range<u32>> {
        self.placed.row.clone().filter(|_| self.verify != Verify::All)
    }

    /// The numbers of the parts that it uses, of a target of so many, in their order.
    pub fn parts(&self, of: usize) -> Vec<usize> {
        match (&self.placed.spread, self.row()) {
            (Some(spread), _) => spread.parts.iter().map(|(number, _)| *number as usize).collect(),
            (None, Some(row)) => (row.start as usize..row.end as usize).collect(),
            (None, None) => (0..of).collect(),
        }
    }

    /// The bytes of the target that its requests may touch.
    pub fn touched(&self) -> Vec<Range<u64>> {
        match &self.placed.spread {
            Some(spread) => spread.ranges.clone(),
            None => {
                let (start, end) = (self.region.start, self.region.end);
                [self.placed.base].map(|base| base + start..base + end).to_vec()
            }
        }
    }

    /// Whether requests outstanding at the same time are likely to touch each other. Those of a random stream do so by
    /// chance: with [`Self::ROOM`] blocks to choose from for each that may be outstanding, fewer than one in 500 does.
    pub fn may_touch(&self) -> bool {
        let access = &self.access;
        let follows = access.run.length > 1 || access.entries.iter().any(|entry| entry.random_percent < 100.0);
        let even = matches!(access.distribution, Distribution::Uniform | Distribution::Permutation);
        let range = access.zones.map_or(self.region.end - self.region.start, |zones| zones.length);
        let outstanding = u64::from(self.threads) * u64::from(self.queue_depth);
        let crowded = range / u64::from(self.max_len.max(1)) < outstanding.saturating_mul(Self::ROOM);
        self.trace.is_some() || follows || !even || crowded
    }

    const ROOM: u64 = 1000;

    /// The longest request of any operation, in bytes: trims of a trace need no memory and may be longer
    /// than all others.
    pub fn longest(&self) -> u32 {
        let trimmed = self.trace.as_ref().map_or(0, |trace| trace.header.longest_moving(&trace.skips).1);
        self.max_len.max(trimmed)
    }
}

/// What each thread may issue before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes; a thread ends with the request that reaches them.
    pub bytes: u64,
    /// Requests, those that `flush_every` inserts left out.
    pub requests: u64,
}

impl Budget {
    /// Without end.
    pub const ENDLESS: Self = Self { bytes: u64::MAX, requests: u64::MAX };
}

/// What holds a closed thread back besides its queue depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoldPlan {
    /// Once its queue was full, issue again when so many are outstanding; `None` = at once.
    pub refill_depth: Option<u32>,
    /// Pause in nanoseconds once everything that was issued has completed; 0 = none.
    pub pause_ns: u64,
    /// Requests between pauses; `u64::MAX` = time alone counts.
    pub pause_requests: u64,
    /// Nanoseconds between pauses; `u64::MAX` = requests alone count.
    pub pause_interval_ns: u64,
    /// Number of the group whose streams keep a ratio, and weight of each thread in it.
    pub share: Option<(u64, f64)>,
    /// A request waits for those of its thread that it overlaps.
    pub serializes: bool,
    /// Nothing is issued while a flush is outstanding; of open threads, too.
    pub flush_holds: bool,
}

impl HoldPlan {
    /// Nothing holds it back.
    pub const NONE: Self = Self {
        refill_depth: None,
        pause_ns: 0,
        pause_requests: u64::MAX,
        pause_interval_ns: u64::MAX,
        share: None,
        serializes: false,
        flush_holds: false,
    };
}

/// Zones in which a region is worked through, one after the other; after the last it starts over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonePlan {
    /// Bytes of a zone.
    pub length: u64,
    /// Bytes that are transferred in a zone before the next.
    pub amount: u64,
    /// Bytes between zones.
    pub skip: u64,
}

/// Runs: several requests from each random address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// How many; 1 = each has an address of its own.
    pub length: u32,
    /// They all go to the same address instead of following each other.
    pub repeats: bool,
}

impl RunPlan {
    /// Every request by itself.
    pub const NONE: Self = Self { length: 1, repeats: false };
}

/// The lines of an access specification; one is drawn per burst.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessPlan {
    /// The lines; never empty, weights all positive.
    pub entries: Vec<AccessEntryPlan>,
    /// How random addresses are chosen.
    pub distribution: Distribution,
    /// Whether sequential requests of all threads share one pointer.
    pub sequential: Sequential,
    /// Bytes into the region at which the first sequential request goes.
    pub begins: u64,
    /// Sequential requests go towards lower addresses.
    pub backward: bool,
    /// Distance in bytes between the starts of consecutive sequential requests; 0 = each follows the last one's end.
    pub stride: u64,
    /// Zones of the region, if it has any.
    pub zones: Option<ZonePlan>,
    /// How many requests follow from each random address.
    pub run: RunPlan,
    /// Every write is preceded by a trim of its blocks.
    pub trims_first: bool,
}

/// One line: what a burst looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessEntryPlan {
    /// Relative probability of this line.
    pub weight: f64,
    /// Probability of each operation in percent, indexed by [`Op`]; sums to 100.
    pub op_percent: [f64; 4],
    /// Sizes of each operation, indexed by [`Op`].
    pub sizes: [SizePlan; 4],
    /// Probability in percent that a request goes to a random address.
    pub random_percent: f64,
    /// Requests start at multiples of this many bytes.
    pub align: u32,
    /// Requests per burst.
    pub burst: u32,
    /// Pause before each burst in nanoseconds.
    pub delay_ns: u64,
}

/// How long the requests of one operation are.
#[derive(Clone, Debug, PartialEq)]
pub enum SizePlan {
    /// Always this many bytes.
    Fixed(u32),
    /// Uniform over `min, min + step, … max` bytes.
    Range {
        /// Smallest size in bytes.
        min: u32,
        /// Largest size in bytes.
        max: u32,
        /// Distance between sizes in bytes.
        step: u32,
    },
    /// (bytes, weight) pairs; weights positive.
    Weighted(Vec<(u32, f64)>),
}

/// How random addresses are distributed over the region's aligned blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Every block alike.
    Uniform,
    /// Zipf with exponent `theta` > 0; ranks are scattered over the region by a permutation.
    Zipf {
        /// Exponent.
        theta: f64,
    },
    /// Self-similar ("Pareto") with skew `h` in (0, 1): a fraction h of the blocks gets 1 − h of the requests.
    Pareto {
        /// Skew.
        h: f64,
    },
    /// Normal around the middle of the region.
    Normal {
        /// Standard deviation in percent of the region.
        deviation_percent: f64,
    },
    /// Zones from the region's start on: (percent of requests, percent of the region); both columns sum to 100.
    Hot(Vec<(f64, f64)>),
    /// Every block exactly once per pass, in a seeded order; sizes are fixed and equal to the alignment.
    Permutation,
}

/// Whose sequential pointer a sequential request follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequential {
    /// One pointer for all threads of the stream.
    Shared,
    /// One pointer per thread; thread k of n starts at k/n of the region.
    PerThread,
    /// Per thread one pointer for reads, one for writes and one for trims; they start as that of [`Self::PerThread`].
    PerOperation,
    /// One pointer per thread; every thread starts at the region's start.
    SameStart,
}

/// When requests are due.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalPlan {
    /// The next request follows a completion (after the think time).
    Closed {
        /// Mean pause in nanoseconds; 0 = none.
        think_ns: u64,
        /// Exponential instead of constant.
        exponential: bool,
    },
    /// Requests are due at instants of their own, whatever the target does.
    Open(OpenPlan),
}

/// An open arrival process of a whole stream.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenPlan {
    /// Equal gaps.
    Constant {
        /// Requests per second.
        rate_per_s: f64,
    },
    /// Exponential gaps.
    Poisson {
        /// Requests per second.
        rate_per_s: f64,
    },
    /// Groups of `size` at once, group starts equally spaced.
    Burst {
        /// Requests per second on average.
        rate_per_s: f64,
        /// Requests per group.
        size: u32,
    },
    /// Poisson with a rate that changes at given instants: (instant in ns, requests per second); the last rate stays.
    Schedule(Vec<(u64, f64)>),
    /// At the instants of the stream's trace.
    Recorded,
}

impl ArrivalPlan {
    /// Whether requests are due at instants of their own.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Offered requests per second of the whole stream between two instants; `None` for a closed stream
    /// and for a trace.
    pub fn offered_per_s(&self, window_ns: Range<u64>) -> Option<f64> {
        let Self::Open(open) = self else { return None };
        match open {
            OpenPlan::Constant { rate_per_s }
            | OpenPlan::Poisson { rate_per_s }
            | OpenPlan::Burst { rate_per_s, .. } => Some(*rate_per_s),
            OpenPlan::Schedule(steps) => Some(mean_rate(steps, window_ns)),
            OpenPlan::Recorded => None,
        }
    }
}

/// Time-weighted mean of a step function over a window, in requests per second.
fn mean_rate(steps: &[(u64, f64)], window_ns: Range<u64>) -> f64 {
    let length = window_ns.end.saturating_sub(window_ns.start);
    if length == 0 {
        return 0.0;
    }
    let mut requests = 0.0;
    for (index, &(from, rate_per_s)) in steps.iter().enumerate() {
        let until = steps.get(index + 1).map_or(u64::MAX, |next| next.0);
        let overlap = until.min(window_ns.end).saturating_sub(from.max(window_ns.start));
        requests += rate_per_s * overlap as f64;
    }
    requests / length as f64
}

/// What is written.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentPlan {
    /// The kind of bytes.
    pub kind: ContentKind,
    /// Uncompressed over compressed size, ≥ 1; 1 = incompressible.
    pub compress_ratio: f64,
    /// Logical over unique blocks, ≥ 1; 1 = no block written twice.
    pub duplicate_ratio: f64,
}

/// The kind of bytes written.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentKind {
    /// Random bytes, shaped by the ratios.
    Random,
    /// Zeros.
    Zeros,
    /// This pattern over and over, from the request's first byte on.
    Pattern(Vec<u8>),
    /// Random bytes with a verifiable stamp in every 512-byte sector.
    Stamps,
}

/// What is checked on reading back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Nothing.
    Off,
    /// Every read of the mix.
    Reads,
    /// Every read of the mix, and afterwards everything that was written.
    All,
    /// Every read of the mix has to find sound stamps of its address, whichever run wrote them.
    Found,
    /// Every read of the mix, and a journal is told of every write.
    Journal,
    /// What a journal names; nothing is issued.
    JournalCheck,
}
