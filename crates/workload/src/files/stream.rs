//! The options of a stream of file operations. Everything about each option is declared here, once.

use crate::block_sizes::BlockSizes;
use crate::bounds::{DAY_NS, MOST_PER_S, PEBIBYTE};
use crate::files::mix::OperationMix;
use crate::files::names::Names;
use crate::files::operation::FileOp;
use crate::files::stop::StopAfterOption;
use crate::kind::{Bytes, Nanos, PerSecond};
use crate::options;
use crate::stream::{Arrival, ScheduleStep, StreamOptions, ThinkDistribution};
use crate::words;

const LARGEST_TRANSFER: f64 = 1_073_741_824.0;

words! {
    /// Which file comes next.
    pub enum FileSelect: "a selection" {
        /// Any, all alike.
        Random = "random",
        /// One after the other; the threads of the stream move one pointer.
        Sequential = "sequential",
        /// One after the other, each once; then the stream ends.
        Once = "once",
    }
}

words! {
    /// Where in an open file requests go.
    pub enum FileAccess: "an access" {
        /// From its start to its end. Whether a file is read or written is drawn when it is opened.
        Sequential = "sequential",
        /// Anywhere, at multiples of the request's size. Reading or writing is drawn for each request.
        Random = "random",
    }
}

words! {
    /// Which files are taken to be read, written or opened.
    pub enum FileState: "a state" {
        /// All that exist; those that are read have content.
        Any = "any",
        /// Those that were made and not yet written to their end. Sequential writes only.
        Unwritten = "unwritten",
    }
}

options! {
    /// The options of one stream of file operations, as typed.
    pub struct FileStreamOptions: "stream" {
        "Stream" {
            /// Name in results, messages and `--set NAME.key=value`: letters, digits, `-` and `_`, unique
            /// in its workload.
            name: String = String::new(), unset "`stream-1`, `stream-2` … by position", example "readers";
            /// Seed of this stream; mixed with the seed of the job and the position of the stream.
            seed: u64 = 0, example "7";
        }
        "Operations" {
            /// The trees it works on. `copy` and `move` go from the first to the second one.
            tree: Option<Names> = None, unset "all trees", example "inbox";
            /// What each thread does, over and over; shares are of the operations drawn.
            operation: OperationMix = OperationMix::only(FileOp::Read),
                required "every stream says what it does, for example \"read\" or { read = 70, write = 30 }",
                example "stat";
            /// Whether `create` also writes the file to its size.
            write_created: bool = false, example "true";
            /// The tree in which `deliver` makes a file and makes it durable before it is renamed to its place in
            /// another tree. Both lie in the same part.
            made_in: Option<String> = None, unset "must be given for `deliver`", example "tmp";
            /// The tree whose files are lists that `deliver` appends a line to and flushes, locked meanwhile by a file
            /// beside; each directory of the other tree has one. It lies in the same part.
            listed_in: Option<String> = None, unset "nothing is listed", example "lists";
        }
        "Files" {
            /// Which file comes next.
            file_select: FileSelect = FileSelect::Random, example "sequential";
            /// How much random selection prefers the first files: the place is −ln(u) × files ÷ this, and beyond the
            /// last it goes on from the first.
            file_skew: Option<f64> = None, unset "all alike", range 0.01 => 1000.0, example "3";
            /// Which files are taken to be read, written or opened.
            file_state: FileState = FileState::Any, example "unwritten";
            /// Where in an open file requests go.
            file_access: FileAccess = FileAccess::Sequential, example "random";
            /// How long reads and writes are.
            transfer_size: BlockSizes = BlockSizes::Fixed(4096), range 1.0 => LARGEST_TRANSFER, example "64KiB";
            /// When a thread leaves the file it has open, in requests or in bytes.
            stop_after: Option<StopAfterOption> = None,
                unset "100 requests with random access, the file's end with sequential", example "16";
            /// Whether several threads may have one file open at once.
            shared: bool = false, example "true";
        }
        "Concurrency and arrival" {
            /// Threads, each with one operation at a time and at most one open file.
            threads: u32 = 1, range 1.0 => 4096.0, example "8";
            /// When operations are due.
            arrival: Arrival = Arrival::Closed, example "poisson";
            /// Operations per second of the whole stream; the opening and closing that reads and writes need come on
            /// top. Open arrival only.
            rate: Option<PerSecond> = None, unset "must be given for constant, poisson and burst arrival",
                range 0.001 => MOST_PER_S, example "20k";
            /// Operations that are due at once. Burst arrival only.
            burst_size: Option<u32> = None, unset "must be given for burst arrival", range 1.0 => 65536.0, example "16";
            /// Rates over time. Schedule arrival only.
            schedule: Option<Vec<ScheduleStep>> = None, unset "must be given for schedule arrival",
                example "[{\"at\": 0, \"rate\": 500}, {\"at\": \"30s\", \"rate\": \"2k\"}]";
            /// Pause of a thread between two operations. Closed arrival only.
            think_time: Nanos = Nanos(0), range 0.0 => DAY_NS, example "5ms";
            /// How think times vary around `think_time`.
            think_distribution: ThinkDistribution = ThinkDistribution::Constant, example "exponential";
        }
        "Start and end" {
            /// How long after the job's start the stream starts.
            start_after: Nanos = Nanos(0), range 0.0 => DAY_NS, example "30s";
            /// How much each thread reads and writes before it ends. A job ends when all its streams have ended, or
            /// when its duration is over.
            amount: Option<Bytes> = None, unset "threads go on until the job ends", range 1.0 => PEBIBYTE,
                example "1GiB";
            /// How many operations each thread performs before it ends, opening and closing left out.
            requests: Option<u64> = None, unset "threads go on until the job ends", range 1.0 => 1e15, example "100000";
        }
        "Durability" {
            /// Open files so that they bypass the page cache (`O_DIRECT`). Without it, most numbers show the
            /// speed of memory.
            direct: bool = false, example "true";
            /// Each write is durable before it completes (`O_DSYNC`).
            dsync: bool = false, example "true";
            /// Whether a file that was written is flushed (`fsync`) before it is closed.
            flush_at_close: bool = false, example "true";
        }
        "Content" {
            /// Uncompressed over compressed size of what is written.
            compress_ratio: f64 = 1.0, range 1.0 => 1000.0, example "2.5";
            /// Written over unique blocks.
            duplicate_ratio: f64 = 1.0, range 1.0 => 1000.0, example "3";
        }
    }
}

impl FileStreamOptions {
    /// The options shared with streams of block requests, whose rules and meaning apply.
    pub(crate) fn common(&self) -> StreamOptions {
        StreamOptions {
            name: self.name.clone(),
            seed: self.seed,
            threads: self.threads,
            arrival: self.arrival,
            rate: self.rate,
            burst_size: self.burst_size,
            schedule: self.schedule.clone(),
            think_time: self.think_time,
            think_distribution: self.think_distribution,
            start_after: self.start_after,
            compress_ratio: self.compress_ratio,
            duplicate_ratio: self.duplicate_ratio,
            ..StreamOptions::default()
        }
    }
}
