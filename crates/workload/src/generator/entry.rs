//! An access line made ready for drawing.

use super::mix::OpMix;
use super::size::{Extent, Sizes};
use crate::address::{Blocks, Placement};
use crate::plan::{AccessEntryPlan, StreamPlan};
use crate::request::Op;
use crate::rng::Chance;

/// One line, with everything precomputed that a request of it needs.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) mix: OpMix,
    pub(crate) sizes: [Sizes; 4],
    pub(crate) random: Chance,
    pub(crate) blocks: Blocks,
    pub(crate) placement: Placement,
    pub(crate) burst: u32,
    pub(crate) delay_ns: u64,
    ops: [bool; 4],
}

impl Entry {
    pub(crate) fn new(plan: &StreamPlan, line: &AccessEntryPlan) -> Self {
        let blocks = Blocks::new(&plan.region, line.align);
        let ops: [bool; 4] = std::array::from_fn(|index| line.op_percent[index] > 0.0);
        let sizes = std::array::from_fn(|index| match &line.sizes[index] {
            size if ops[index] && index != Op::Flush as usize => Sizes::new(size, &blocks),
            _ => Sizes::Fixed(Extent { len: 0, starts: 1 }),
        });
        Self {
            mix: OpMix::new(&line.op_percent),
            sizes,
            random: Chance::percent(line.random_percent),
            placement: Placement::new(&plan.access.distribution, blocks.count(), plan.seed),
            blocks,
            burst: line.burst.max(1),
            delay_ns: line.delay_ns,
            ops,
        }
    }

    /// Whether some of its requests have no address.
    pub(crate) fn flushes(&self) -> bool {
        self.ops[Op::Flush as usize]
    }

    /// The size of every request, if all have the same and none is a flush.
    pub(crate) fn fixed(&self) -> Option<Extent> {
        if self.flushes() {
            return None;
        }
        let mut sizes = (0..3).filter(|&index| self.ops[index]).map(|index| self.sizes[index].fixed());
        let first = sizes.next()??;
        sizes.all(|size| size == Some(first)).then_some(first)
    }
}
