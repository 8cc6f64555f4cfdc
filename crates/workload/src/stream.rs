//! The options of a stream: one homogeneous flow of requests. Everything about each option is declared here, once.

use crate::block_sizes::BlockSizes;
use crate::bounds::{DAY_NS, MOST_PER_S, PEBIBYTE};
use crate::extent::Extent;
use crate::kind::{Bytes, Nanos, PerSecond, Percent};
use crate::options;
use crate::parts::PartList;
use crate::pattern::Pattern;
use crate::plan::{Distribution, ReadAhead};
use crate::spread::Spread;
use crate::words;

const LARGEST_BLOCK: f64 = 1_073_741_824.0;

words! {
    /// Whose sequential pointer a sequential request follows.
    pub enum Pointer: "a sequential mode" {
        /// All threads of the stream move one pointer through the region.
        Shared = "shared",
        /// Each thread has a pointer of its own; thread k of n starts at k/n of the region.
        PerThread = "per_thread",
        /// As `per_thread`, and reads, writes and trims have one each.
        PerOperation = "per_operation",
        /// Each thread has a pointer of its own, and all start at the region's start, as copies of one program would.
        SameStart = "same_start",
    }
}

words! {
    /// Which way sequential requests go.
    pub enum Direction: "a direction" {
        /// Towards higher addresses.
        Forward = "forward",
        /// Towards lower addresses.
        Backward = "backward",
    }
}

words! {
    /// When requests are due.
    pub enum Arrival: "an arrival process" {
        /// Each slot issues its next request when its last one has completed, after its think time.
        Closed = "closed",
        /// At equal gaps, whatever the target does.
        Constant = "constant",
        /// At exponential gaps, as many independent users produce them.
        Poisson = "poisson",
        /// In groups of `burst_size` at once, the groups at equal gaps.
        Burst = "burst",
        /// At exponential gaps whose rate follows `schedule`.
        Schedule = "schedule",
        /// When `trace` says, sped up by `trace_speed`.
        Trace = "trace",
    }
}

words! {
    /// What becomes of addresses of a trace that the target does not have.
    pub enum TraceMap: "a mapping of a trace" {
        /// A trace that reaches beyond the target is refused.
        Refuse = "refuse",
        /// They are taken modulo the target; the others stay.
        Wrap = "wrap",
        /// All are spread over the target in proportion, in places of 1 MiB.
        Scale = "scale",
        /// The places that the trace touches are put side by side, in their order.
        Squeeze = "squeeze",
    }
}

words! {
    /// How think times vary.
    pub enum ThinkDistribution: "a think time distribution" {
        /// Always the same.
        Constant = "constant",
        /// Exponential around the mean.
        Exponential = "exponential",
    }
}

words! {
    /// What is written.
    pub enum ContentWord: "a kind of content" {
        /// Random bytes, different in every write; `compress_ratio` and `duplicate_ratio` shape them.
        Incompressible = "incompressible",
        /// Zeros. Many arrays store none of it, so results flatter.
        Zeros = "zeros",
        /// `pattern`, over and over.
        Pattern = "pattern",
        /// Random bytes with address, generation and checksum in every 512-byte sector.
        Stamps = "stamps",
    }
}

words! {
    /// What is checked when it is read back.
    pub enum VerifyWord: "a verification" {
        /// Nothing.
        Off = "off",
        /// Every read of the mix.
        Reads = "reads",
        /// Every read of the mix, and after the run everything that was written.
        All = "all",
        /// Every read of the mix; what an earlier run has written with stamps counts as right.
        Found = "found",
        /// Every read of the mix. The job's `journal` also records each write before it is acknowledged, so that
        /// `journal-check` can say after a power cut what the target kept.
        Journal = "journal",
        /// Nothing is issued: the target is searched for every write that `journal` names as durable.
        JournalCheck = "journal-check",
    }
}

options! {
    /// One line of an access specification, as in Iometer. A line is drawn per burst, by weight; whether a
    /// request reads and whether it is random are drawn independently for each request.
    pub struct AccessEntry: "access entry" {
        "Access entry" {
            /// Relative probability of this line. Iometer's lines sum to 100; any sum will do.
            weight: f64 = 1.0, range 0.000_001 => 1e9, example "60";
            /// Length of the line's requests.
            size: Bytes = Bytes(4096), required "every access entry says how long its requests are, for example 8KiB",
                range 1.0 => LARGEST_BLOCK, example "8KiB";
            /// Percentage of the line's requests that read; the others write.
            read_percent: Percent = Percent(100.0), range 0.0 => 100.0, example "67";
            /// Percentage of the line's requests that go to a random address; the others follow the
            /// request before them.
            random_percent: Percent = Percent(100.0), range 0.0 => 100.0, example "75";
            /// Requests start at multiples of this; a sequential one that would not moves on to the next multiple.
            align: Option<Bytes> = None, unset "the entry's size", range 1.0 => LARGEST_BLOCK, example "4KiB";
            /// Requests in a row that one draw of this line lasts.
            burst: u32 = 1, range 1.0 => 1_000_000.0, example "8";
            /// Pause before each burst. Closed arrival only.
            delay: Nanos = Nanos(0), range 0.0 => DAY_NS, example "10ms";
        }
    }
}

options! {
    /// One step of a schedule of rates.
    pub struct ScheduleStep: "schedule step" {
        "Schedule step" {
            /// Instant since the start of the job. The first step starts at 0, later ones later.
            at: Nanos = Nanos(0), required "every schedule step says when it starts, for example 30s",
                range 0.0 => 1000.0 * DAY_NS, example "30s";
            /// Requests per second of the whole stream from then on; 0 is silence.
            rate: PerSecond = PerSecond(0.0), required "every schedule step says its rate, for example 20k",
                range 0.0 => MOST_PER_S, example "20k";
        }
    }
}

options! {
    /// The options of one stream, as typed.
    pub struct StreamOptions: "stream" {
        "Stream" {
            /// Name in results, messages and `--set NAME.key=value`: letters, digits, `-` and `_`, unique
            /// in its workload.
            name: String = String::new(), unset "`stream-1`, `stream-2` … by position", example "log";
            /// Seed of this stream; mixed with the seed of the job and the position of the stream.
            seed: u64 = 0, example "7";
        }
        "Mix of operations" {
            /// Percentage of requests that read.
            read_percent: Option<Percent> = None, unset "the rest to 100", range 0.0 => 100.0, example "70";
            /// Percentage of requests that write.
            write_percent: Option<Percent> = None, unset "the rest to 100 if `read_percent` is given, otherwise 0",
                range 0.0 => 100.0, example "30";
            /// Percentage of requests that discard blocks (trim, punch hole).
            trim_percent: Percent = Percent(0.0), range 0.0 => 100.0, example "5";
            /// Whether every write is preceded by a trim of its blocks. Writes only.
            trim_first: bool = false, example "true";
            /// Percentage of requests that flush, that is, make earlier writes durable.
            flush_percent: Percent = Percent(0.0), range 0.0 => 100.0, example "1";
            /// Lines of an access specification; they replace the stream's options for mix, sizes, randomness
            /// and alignment.
            access: Option<Vec<AccessEntry>> = None, unset "the stream's own options hold",
                example "[{\"size\": \"8KiB\", \"read_percent\": 67}]";
        }
        "Sizes" {
            /// How long requests are.
            block_size: Option<BlockSizes> = None, unset "4KiB", range 1.0 => LARGEST_BLOCK, example "4KiB";
            /// How long reads are.
            read_block_size: Option<BlockSizes> = None, unset "`block_size`", range 1.0 => LARGEST_BLOCK,
                example "4KiB-64KiB";
            /// How long writes are.
            write_block_size: Option<BlockSizes> = None, unset "`block_size`", range 1.0 => LARGEST_BLOCK,
                example "4KiB=60,8KiB=40";
            /// How long trims are.
            trim_block_size: Option<BlockSizes> = None, unset "`block_size`", range 1.0 => LARGEST_BLOCK,
                example "1MiB";
            /// Requests start at multiples of this; also the step of a range of sizes.
            align: Option<Bytes> = None, unset "the block size, or the greatest common divisor of all sizes",
                range 1.0 => LARGEST_BLOCK, example "4KiB";
        }
        "Addresses" {
            /// Percentage of requests that go to a random address; the others follow the request before them.
            random_percent: Option<Percent> = None, unset "100", range 0.0 => 100.0, example "75";
            /// How random addresses spread over the region.
            distribution: Spread = Spread(Distribution::Uniform), example "zipf:1.1";
            /// How many requests in a row follow from each random address. Only for random requests of one size.
            run_length: u32 = 1, range 1.0 => 1_000_000.0, example "8";
            /// Whether the requests of a run go to the same blocks; otherwise each follows the one before it.
            run_repeats: bool = false, example "true";
            /// Whose pointer sequential requests follow.
            sequential: Pointer = Pointer::Shared, example "per_thread";
            /// How far into the region sequential requests begin, in bytes or percent of the region; from its end they go
            /// on at its start. Streams with zones or runs begin where those do.
            sequential_start: Extent = Extent::Bytes(0), example "50%";
            /// Which way sequential requests go.
            direction: Direction = Direction::Forward, example "backward";
            /// Distance between the starts of consecutive sequential requests; a multiple of the alignment.
            stride: Option<Bytes> = None, unset "each follows the last one's end", range 1.0 => PEBIBYTE,
                example "1MiB";
            /// Which parts of a target `concat:A,B,C` the stream uses, counted from 0; the stream sees them as its
            /// whole target. Streams of one workload can use different ones at the same time.
            parts: Option<PartList> = None, unset "all of the target", example "0,2";
            /// Bytes that go to one of `parts` before the next, in turn.
            parts_unit: Option<Bytes> = None, unset "one part after the other", range 512.0 => LARGEST_BLOCK, example "64KiB";
            /// Where the region starts; rounded up to the alignment.
            region_start: Extent = Extent::Bytes(0), example "50%";
            /// How long the region is; its end is rounded down to the alignment.
            region_length: Option<Extent> = None, unset "to the end of the target", example "10GiB";
            /// How long a zone is. Each thread works in one zone of the region at a time, from the first one on; after
            /// the last whole one it starts over.
            zone_length: Option<Bytes> = None, unset "the region is not divided", range 1.0 => PEBIBYTE, example "256MiB";
            /// How much is transferred in a zone before the next.
            zone_amount: Option<Bytes> = None, unset "`zone_length`", range 1.0 => PEBIBYTE, example "64MiB";
            /// How much is skipped between zones.
            zone_skip: Bytes = Bytes(0), range 0.0 => PEBIBYTE, example "1GiB";
        }
        "Concurrency and arrival" {
            /// Threads, each a sequence of requests of its own.
            threads: u32 = 1, range 1.0 => 4096.0, example "4";
            /// Requests that each thread keeps outstanding (closed arrival), or may have outstanding (open arrival).
            queue_depth: u32 = 1, range 1.0 => 65536.0, example "32";
            /// When requests are due.
            arrival: Arrival = Arrival::Closed, example "poisson";
            /// Requests per second of the whole stream. Open arrival only.
            rate: Option<PerSecond> = None, unset "must be given for constant, poisson and burst arrival",
                range 0.001 => MOST_PER_S, example "20k";
            /// Requests that are due at once. Burst arrival only.
            burst_size: Option<u32> = None, unset "must be given for burst arrival", range 1.0 => 65536.0, example "16";
            /// Rates over time. Schedule arrival only.
            schedule: Option<Vec<ScheduleStep>> = None, unset "must be given for schedule arrival",
                example "[{\"at\": 0, \"rate\": 500}, {\"at\": \"30s\", \"rate\": \"2k\"}]";
            /// Pause of a slot between completion and next request. Closed arrival only.
            think_time: Nanos = Nanos(0), range 0.0 => DAY_NS, example "5ms";
            /// How think times vary around `think_time`.
            think_distribution: ThinkDistribution = ThinkDistribution::Constant, example "exponential";
            /// A thread whose queue was full issues nothing until only this many requests are outstanding, then fills
            /// its queue at once. Closed arrival only.
            refill_depth: Option<u32> = None, unset "each completion is followed by the next request",
                range 0.0 => 65535.0, example "0";
            /// Pause of a thread after every `pause_requests` requests, or every `pause_interval`; it begins when all
            /// it has issued has completed. Closed arrival only.
            pause: Nanos = Nanos(0), range 0.0 => DAY_NS, example "10ms";
            /// Requests of a thread between two pauses.
            pause_requests: Option<u64> = None, unset "`pause_interval` decides", range 1.0 => 1e15, example "64";
            /// Time of a thread between two pauses.
            pause_interval: Option<Nanos> = None, unset "`pause_requests` decides", range 1.0 => DAY_NS, example "500ms";
            /// Weight of each thread among all threads that have a weight: they issue in the ratio of their weights,
            /// and those that are ahead wait. Closed arrival only.
            share: Option<f64> = None, unset "it waits for nobody", range 0.001 => 1e6, example "8";
            /// Threads keep their ratio with those of the same group.
            share_group: u64 = 0, example "1";
            /// Whether a request waits for those of its thread that it overlaps. Closed arrival only.
            serialize_overlap: bool = false, example "true";
            /// How many requests that touch each other are handed over at once. From 3 on the kernel merges them,
            /// so the device sees fewer and longer ones; up to 2, and by default, it sees the requests as issued.
            /// Backend `uring` only.
            merge_depth: u32 = 1, range 1.0 => 65536.0, example "16";
        }
        "Trace" {
            /// File of recorded requests, issued in their order instead of drawn ones: a trace of a format
            /// in docs/traces.md, or what `plimsoll replay --convert` made of one. The stream ends with it.
            trace: Option<String> = None, unset "requests are drawn", example "hm_0.csv";
            /// Recorded time over replayed time: 2 is twice as fast. Trace arrival only.
            trace_speed: f64 = 1.0, range 0.001 => 1_000_000.0, example "2";
            /// What becomes of addresses that the target does not have.
            trace_map: TraceMap = TraceMap::Refuse, example "scale";
            /// Operations of the trace that are left out.
            trace_skip: Vec<String> = Vec::new(), example "[\"trim\", \"flush\"]";
        }
        "Start and end" {
            /// How long after the job's start the stream starts.
            start_after: Nanos = Nanos(0), range 0.0 => DAY_NS, example "30s";
            /// How long after the job's start the stream issues its last request.
            end_after: Option<Nanos> = None, unset "it goes on until the job ends", range 1.0 => 1000.0 * DAY_NS,
                example "60s";
            /// How much each thread transfers before it ends; a percentage is of the target. A job ends when all its
            /// streams have ended, or when its duration is over.
            amount: Option<Extent> = None, unset "threads go on until the job ends", range 1.0 => PEBIBYTE,
                example "1GiB";
            /// How many requests each thread issues before it ends.
            requests: Option<u64> = None, unset "threads go on until the job ends", range 1.0 => 1e15, example "100000";
            /// Whether each thread flushes once when all of its amount has completed.
            flush_at_end: bool = false, example "true";
        }
        "Durability" {
            /// Bypass the page cache (`O_DIRECT`). Without it, the numbers mostly show the speed of memory.
            direct: bool = true, example "false";
            /// How far the page cache reads ahead: the advice that the kernel gets (posix_fadvise, madvise). No effect
            /// on direct I/O.
            read_ahead: ReadAhead = ReadAhead::Usual, example "off";
            /// Each write is durable before it completes (`O_DSYNC`; with backend `mmap` an `msync` of its
            /// bytes follows it).
            dsync: bool = false, example "true";
            /// A thread flushes each time it has issued this many writes; 0 is never.
            flush_every: u64 = 0, range 0.0 => 1e12, example "64";
            /// Whether a thread issues nothing while one of its flushes is outstanding. The flush does not wait for
            /// what was issued before.
            flush_holds: bool = false, example "true";
        }
        "Content" {
            /// What is written.
            content: Option<ContentWord> = None,
                unset "`stamps` when `verify` is on, `pattern` when `pattern` is given, otherwise `incompressible`",
                    example "zeros";
            /// The bytes that are written over and over. Pattern content only.
            pattern: Option<Pattern> = None, unset "must be given for pattern content", example "0xdeadbeef";
            /// Uncompressed over compressed size of what is written. Incompressible content only.
            compress_ratio: f64 = 1.0, range 1.0 => 1000.0, example "2.5";
            /// Written over unique blocks. Incompressible content only.
            duplicate_ratio: f64 = 1.0, range 1.0 => 1000.0, example "3";
            /// What is checked when it is read back; needs stamps.
            verify: VerifyWord = VerifyWord::Off, example "reads";
        }
    }
}
