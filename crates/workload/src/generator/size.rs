//! How long a request is, and at how many places of the region a request of that length fits.

use crate::address::Blocks;
use crate::alias::Alias;
use crate::plan::SizePlan;
use crate::rng::below;

/// A length and the number of aligned starts it fits at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) len: u32,
    pub(crate) starts: u64,
}

impl Extent {
    fn new(len: u32, blocks: &Blocks) -> Self {
        Self { len, starts: blocks.starts(len) }
    }
}

/// The sizes of one operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sizes {
    Fixed(Extent),
    Range { min: u32, step: u32, count: u64 },
    Weighted(Alias, Box<[Extent]>),
}

impl Sizes {
    pub(crate) fn new(plan: &SizePlan, blocks: &Blocks) -> Self {
        match plan {
            SizePlan::Fixed(len) => Self::Fixed(Extent::new(*len, blocks)),
            SizePlan::Range { min, max, step } if min == max || *step == 0 => Self::Fixed(Extent::new(*min, blocks)),
            SizePlan::Range { min, max, step } => {
                Self::Range { min: *min, step: *step, count: u64::from((max - min) / step) + 1 }
            }
            SizePlan::Weighted(pairs) => {
                let weights: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
                Self::Weighted(Alias::new(&weights), pairs.iter().map(|pair| Extent::new(pair.0, blocks)).collect())
            }
        }
    }

    /// The only size, when there is just one.
    pub(crate) fn fixed(&self) -> Option<Extent> {
        match self {
            Self::Fixed(extent) => Some(*extent),
            Self::Range { .. } => None,
            Self::Weighted(_, extents) => (extents.len() == 1).then(|| extents[0]),
        }
    }

    /// The size that a draw chooses; the draw is only made when it is needed.
    #[inline]
    pub(crate) fn pick(&self, draw: impl FnOnce() -> u64, blocks: &Blocks) -> Extent {
        match self {
            Self::Fixed(extent) => *extent,
            Self::Range { min, step, count } => Extent::new(min + step * below(draw(), *count) as u32, blocks),
            Self::Weighted(choice, extents) => extents[choice.pick(draw())],
        }
    }
}
