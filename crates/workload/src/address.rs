//! Random addresses: from one draw to an aligned offset inside the region.
//!
//! Model: the region's multiples of the alignment are its *blocks*. `Uniform` chooses among exactly those starts from
//! which the whole request fits, so mixed sizes stay inside without wrapping or piling up at an end. Every other
//! distribution chooses a block, the same for all sizes of one alignment, and a request that would stick out of the
//! region's end is moved down to the last start that fits. Zipf and Pareto rank the blocks and scatter the ranks over
//! the region by a seeded permutation that all threads share, so every thread has the same hot blocks.
//!
//! Limits: access lines of different alignments have different blocks, hence hot sets of their own.

mod normal;
mod zipf;

use std::ops::Range;

use crate::divisor::Divisor;
use normal::Normal;
use zipf::Zipf;

use crate::alias::Alias;
use crate::permutation::Permutation;
use crate::plan::Distribution;
use crate::rng::{Draws, Purpose, again, below, unit};

/// The aligned starts of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    first: u64,
    end: u64,
    pub(crate) align: Divisor,
}

impl Blocks {
    pub(crate) fn new(region: &Range<u64>, align: u32) -> Self {
        let align = Divisor::new(u64::from(align));
        Self { first: align.ceil(region.start), end: region.end, align }
    }

    /// How many starts a request of `len` bytes fits at; resolving made sure that there is one.
    #[inline]
    pub(crate) fn starts(&self, len: u32) -> u64 {
        debug_assert!(self.first + u64::from(len) <= self.end, "{len} bytes do not fit into {self:?}");
        self.align.quotient(self.end - u64::from(len) - self.first) + 1
    }

    /// Whole blocks of the region (at least one).
    pub(crate) fn count(&self) -> u64 {
        self.align.quotient(self.end.saturating_sub(self.first)).max(1)
    }

    /// The offset of a block.
    #[inline]
    pub(crate) fn offset(&self, block: u64) -> u64 {
        self.first + block * self.align.value()
    }
}

/// Which of so many things is used how often, for whoever draws by itself.
#[derive(Clone, Debug)]
pub struct Popularity {
    placement: Placement,
    count: u64,
}

impl Popularity {
    /// Over `count` things; equal seeds have equal favourites.
    pub fn new(distribution: &Distribution, count: u64, seed: u64) -> Self {
        Self { placement: Placement::new(distribution, count, seed), count }
    }

    /// The thing that a draw chooses.
    pub fn pick(&self, draw: u64) -> u64 {
        self.placement.block(draw, self.count)
    }
}

/// How a block is chosen.
#[derive(Clone, Debug)]
pub(crate) enum Placement {
    Uniform,
    Zipf(Zipf, Permutation),
    SelfSimilar {
        power: f64,
        count: f64,
        scatter: Permutation,
    },
    Normal {
        normal: Normal,
        count: f64,
    },
    Zones {
        choice: Alias,
        bounds: Box<[Range<u64>]>,
    },
    /// Needs a place in an order and not a draw: [`crate::generator`] keeps a `Coverage` for it.
    Coverage,
}

impl Placement {
    pub(crate) fn new(distribution: &Distribution, count: u64, seed: u64) -> Self {
        let scatter = || Permutation::new(count, Draws::new(seed, &[Purpose::Scatter as u64]));
        match distribution {
            Distribution::Uniform => Self::Uniform,
            Distribution::Zipf { theta } => Self::Zipf(Zipf::new(count, *theta), scatter()),
            Distribution::Pareto { h } => {
                assert!(*h > 0.0 && *h < 1.0, "the skew lies between 0 and 1");
                // Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994.
                let power = libm::log(*h) / libm::log(1.0 - *h);
                Self::SelfSimilar { power, count: count as f64, scatter: scatter() }
            }
            Distribution::Normal { deviation_percent } => {
                Self::Normal { normal: Normal::new(deviation_percent / 100.0), count: count as f64 }
            }
            Distribution::Hot(zones) => Self::zones(zones, count),
            Distribution::Permutation => Self::Coverage,
        }
    }

    /// Zones from the region's start on; each gets at least one block, also in a tiny region.
    fn zones(zones: &[(f64, f64)], count: u64) -> Self {
        let weights: Vec<f64> = zones.iter().map(|zone| zone.0).collect();
        let total: f64 = zones.iter().map(|zone| zone.1).sum();
        let mut covered = 0.0;
        let mut from = 0;
        let mut bounds = Vec::with_capacity(zones.len());
        for zone in zones {
            covered += zone.1;
            let until = ((covered / total * count as f64).round() as u64).min(count);
            let start = from.min(count - 1);
            bounds.push(start..until.max(start + 1));
            from = until;
        }
        Self::Zones { choice: Alias::new(&weights), bounds: bounds.into_boxed_slice() }
    }

    /// The block that a draw chooses among `starts` possible ones.
    #[inline]
    pub(crate) fn block(&self, draw: u64, starts: u64) -> u64 {
        match self {
            Self::Uniform => below(draw, starts),
            Self::Coverage => unreachable!("a permutation is walked, not drawn"),
            skewed => skewed.popular_block(draw).min(starts - 1),
        }
    }

    fn popular_block(&self, draw: u64) -> u64 {
        match self {
            Self::Uniform | Self::Coverage => unreachable!("decided by `block`"),
            Self::Zipf(zipf, scatter) => scatter.at(zipf.rank(draw)),
            Self::SelfSimilar { power, count, scatter } => {
                let rank = count * libm::exp(power * libm::log(unit(draw)));
                scatter.at((rank as u64).min(*count as u64 - 1))
            }
            Self::Normal { normal, count } => ((normal.position(draw) * count) as u64).min(*count as u64 - 1),
            Self::Zones { choice, bounds } => {
                let zone = &bounds[choice.pick(draw)];
                zone.start + below(again(draw), zone.end - zone.start)
            }
        }
    }
}
