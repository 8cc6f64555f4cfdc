//! The resolved load: every option of trees and streams turned into plain numbers.

use crate::arrival::Offer;
use crate::files::draw::SizeDraw;
use crate::files::mix::OperationMix;
use crate::files::operation::FileOp;
use crate::files::shape::TreeShape;
use crate::files::stop::StopAfter;
use crate::files::stream::{FileAccess, FileSelect, FileState};
use crate::files::tree::LayOut;
use crate::plan::{ArrivalPlan, Budget, ContentPlan};

/// A whole load.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePlan {
    /// The trees.
    pub trees: Vec<TreePlan>,
    /// The streams.
    pub streams: Vec<FileStreamPlan>,
}

/// One tree.
#[derive(Clone, Debug, PartialEq)]
pub struct TreePlan {
    /// Its name, unique in its workload.
    pub name: String,
    /// Which directory of the target it lies in.
    pub part: usize,
    /// The anchor, relative to that directory; empty for the directory itself.
    pub path: String,
    /// Names, places and sizes.
    pub shape: TreeShape,
    /// What exists when a measurement begins.
    pub lay_out: LayOut,
    /// Everything that decides what is laid out, in canonical text: equal texts, equal trees.
    pub definition: String,
}

/// One stream.
#[derive(Clone, Debug, PartialEq)]
pub struct FileStreamPlan {
    /// Its name, unique in its workload.
    pub name: String,
    /// The trees it works on, by number.
    pub trees: Vec<usize>,
    /// The tree in which `deliver` makes files, by number.
    pub made_in: Option<usize>,
    /// The tree whose files are the lists of what was delivered, by number.
    pub listed_in: Option<usize>,
    /// Which operations it draws.
    pub mix: OperationMix,
    /// Which operations it records: those drawn, and those that come with them.
    pub ops: [bool; FileOp::COUNT],
    /// Threads, each with one operation at a time.
    pub threads: u32,
    /// Which file comes next.
    pub select: FileSelect,
    /// How much random selection prefers the first files, if it does.
    pub skew: Option<f64>,
    /// Which files are taken to be read, written or opened.
    pub state: FileState,
    /// Where in a file requests go.
    pub access: FileAccess,
    pub(crate) transfer: SizeDraw,
    /// The longest request in bytes.
    pub max_transfer: u32,
    /// When a thread leaves its open file.
    pub stop: StopAfter,
    /// Whether several threads may have one file open.
    pub shared: bool,
    /// Whether `create` also writes.
    pub write_created: bool,
    /// Bypass the page cache.
    pub direct: bool,
    /// Every write durable before it completes.
    pub dsync: bool,
    /// Flush before closing what was written.
    pub flush_at_close: bool,
    /// When operations are due.
    pub arrival: ArrivalPlan,
    /// When the stream starts, in nanoseconds from the job's start.
    pub start_ns: u64,
    /// After how much each thread ends.
    pub budget: Budget,
    /// What is written.
    pub content: ContentPlan,
    /// Seed of this stream, mixed from the job's and its own.
    pub seed: u64,
}

impl FileStreamPlan {
    /// Whether operation `op` can occur.
    pub const fn issues(&self, op: FileOp) -> bool {
        self.ops[op as usize]
    }

    /// Whether operation `op` is drawn.
    pub const fn draws(&self, op: FileOp) -> bool {
        self.mix.percent(op) > 0.0
    }

    /// The trees that it changes or looks at, by number.
    pub fn touched(&self) -> impl Iterator<Item = usize> + '_ {
        self.trees.iter().copied().chain(self.made_in).chain(self.listed_in)
    }

    /// Whether it changes which files and directories exist, or their names.
    pub fn changes_names(&self) -> bool {
        FileOp::ALL.into_iter().any(|op| self.issues(op) && op.changes_names())
    }
}

impl<'a> From<&'a FileStreamPlan> for Offer<'a> {
    fn from(plan: &'a FileStreamPlan) -> Self {
        Self { arrival: &plan.arrival, threads: plan.threads, start_ns: plan.start_ns, seed: plan.seed }
    }
}
