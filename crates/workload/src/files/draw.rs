//! A size drawn from typed sizes, in constant time.

use crate::access::gcd;
use crate::alias::Alias;
use crate::rng::below;
use crate::sizes::Sizes;

/// How large things are: each draw has one size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SizeDraw {
    Fixed(u64),
    Range { min: u64, step: u64, count: u64 },
    Table(Alias, Box<[u64]>),
}

impl SizeDraw {
    pub(crate) fn new(sizes: &Sizes) -> Self {
        match sizes {
            Sizes::Fixed(bytes) => Self::Fixed(*bytes),
            Sizes::Range { min, max } => {
                let step = gcd(*min, *max).max(1);
                Self::Range { min: *min, step, count: (max - min) / step + 1 }
            }
            Sizes::Table(shares) => {
                let weights: Vec<f64> = shares.iter().map(|share| share.1).collect();
                Self::Table(Alias::new(&weights), shares.iter().map(|share| share.0).collect())
            }
        }
    }

    /// The size of a draw.
    #[inline]
    pub(crate) fn at(&self, draw: u64) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Range { min, step, count } => min + step * below(draw, *count),
            Self::Table(choice, sizes) => sizes[choice.pick(draw)],
        }
    }

    /// The only size, if there is just one.
    pub(crate) const fn fixed(&self) -> Option<u64> {
        match self {
            Self::Fixed(bytes) => Some(*bytes),
            _ => None,
        }
    }
}
