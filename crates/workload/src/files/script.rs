//! What one thread does: an endless, seeded sequence of operations, files to try and places in files.
//!
//! Every kind of decision is drawn from a sequence of its own, so that one operation more or less does not change what
//! the others are. Which file an operation takes in the end depends on which exist at the moment; the draws do not.

use crate::alias::Alias;
use crate::files::draw::SizeDraw;
use crate::files::operation::FileOp;
use crate::files::plan::FileStreamPlan;
use crate::rng::{Draws, Purpose, below, unit};

/// The draws of one thread.
#[derive(Clone, Debug)]
pub struct Script {
    ops: Box<[FileOp]>,
    choice: Option<Alias>,
    skew: Option<f64>,
    transfer: SizeDraw,
    operations: Lane,
    files: Lane,
    transfers: Lane,
    places: Lane,
}

/// One kind of decision.
#[derive(Clone, Copy, Debug)]
struct Lane {
    draws: Draws,
    index: u64,
}

impl Lane {
    fn new(plan: &FileStreamPlan, purpose: Purpose, shard: u32) -> Self {
        Self { draws: Draws::new(plan.seed, &[purpose as u64, shard.into()]), index: 0 }
    }

    fn next(&mut self) -> u64 {
        let draw = self.draws.at(self.index);
        self.index += 1;
        draw
    }
}

impl Script {
    /// The script of thread `shard` of a stream.
    pub fn new(plan: &FileStreamPlan, shard: u32) -> Self {
        let ops: Box<[FileOp]> = plan.mix.occurring().collect();
        let weights: Vec<f64> = ops.iter().map(|op| plan.mix.percent(*op)).collect();
        Self {
            choice: (ops.len() > 1).then(|| Alias::new(&weights)),
            ops,
            skew: plan.skew,
            transfer: plan.transfer.clone(),
            operations: Lane::new(plan, Purpose::FileOperation, shard),
            files: Lane::new(plan, Purpose::FileSelection, shard),
            transfers: Lane::new(plan, Purpose::FileTransfer, shard),
            places: Lane::new(plan, Purpose::FilePlace, shard),
        }
    }

    /// The next operation.
    pub fn operation(&mut self) -> FileOp {
        match &self.choice {
            None => self.ops[0],
            Some(choice) => self.ops[choice.pick(self.operations.next())],
        }
    }

    /// Every operation that it can draw.
    pub fn operations(&self) -> &[FileOp] {
        &self.ops
    }

    /// Where among `count` candidates to look first.
    pub fn candidate(&mut self, count: u64) -> u64 {
        let draw = self.files.next();
        match self.skew {
            None => below(draw, count),
            // The product is finite: the draw is never 0, and options keep the skew above it.
            Some(skew) => (-libm::log(unit(draw)) * count as f64 / skew) as u64 % count,
        }
    }

    /// The length of the next request.
    pub fn transfer_bytes(&mut self) -> u32 {
        match self.transfer.fixed() {
            Some(bytes) => bytes as u32,
            None => self.transfer.at(self.transfers.next()) as u32,
        }
    }

    /// Which of `count` places of a file the next request goes to.
    pub fn place(&mut self, count: u64) -> u64 {
        below(self.places.next(), count)
    }
}
