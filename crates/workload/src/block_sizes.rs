//! How long requests are, as typed: one size, a range, or a table of sizes with their shares.

use serde_json::Value;

use crate::error::{Problem, WorkloadError};
use crate::option::{Kind, Range};
use crate::sizes::{Grammar, Sizes};
use crate::units;

const GRAMMAR: Grammar = Grammar {
    noun: BlockSizes::NOUN,
    advice: "write a size (4KiB), a range (4KiB-64KiB) or shares in percent (4KiB=60,8KiB=40)",
};

/// The sizes of one operation's requests.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockSizes {
    /// Always this many bytes.
    Fixed(u32),
    /// Uniform from the smallest to the largest in steps of the alignment.
    Range {
        /// Smallest size in bytes.
        min: u32,
        /// Largest size in bytes.
        max: u32,
    },
    /// (bytes, percent of the requests), by ascending size; the shares sum to 100.
    Table(Vec<(u32, f64)>),
}

impl BlockSizes {
    /// The sizes that are named: one, both ends of a range, or all of a table.
    pub fn named(&self) -> Vec<u32> {
        match self {
            Self::Fixed(bytes) => vec![*bytes],
            Self::Range { min, max } => vec![*min, *max],
            Self::Table(shares) => shares.iter().map(|(bytes, _)| *bytes).collect(),
        }
    }

    /// The largest size in bytes.
    pub fn largest(&self) -> u32 {
        self.named().into_iter().max().unwrap_or(0)
    }

    pub(crate) fn sizes(&self) -> Sizes {
        match self {
            Self::Fixed(bytes) => Sizes::Fixed((*bytes).into()),
            Self::Range { min, max } => Sizes::Range { min: (*min).into(), max: (*max).into() },
            Self::Table(shares) => {
                Sizes::Table(shares.iter().map(|(bytes, share)| ((*bytes).into(), *share)).collect())
            }
        }
    }
}

/// The range check decides whether a size is sensible; what does not fit 32 bits is refused here.
fn narrow(bytes: u64) -> Result<u32, WorkloadError> {
    let out_of_range =
        || Problem::OutOfRange { found: units::bytes_to_text(bytes), least: "1B".into(), most: "1GiB".into() };
    Ok(u32::try_from(bytes).map_err(|_| out_of_range())?)
}

impl Kind for BlockSizes {
    const NOUN: &'static str = "a block size";
    const FORM: &'static str = "a size; a range `\"4KiB-64KiB\"`, uniform in steps of the alignment; or a table of \
        sizes with their shares in percent, `{ \"4KiB\" = 60, \"8KiB\" = 40 }`, on the command line \
        `4KiB=60,8KiB=40`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        Ok(match Sizes::read(value, GRAMMAR)? {
            Sizes::Fixed(bytes) => Self::Fixed(narrow(bytes)?),
            Sizes::Range { min, max } => Self::Range { min: narrow(min)?, max: narrow(max)? },
            Sizes::Table(shares) => {
                let entry = |(bytes, share): (u64, f64)| Ok((narrow(bytes)?, share));
                Self::Table(shares.into_iter().map(entry).collect::<Result<_, WorkloadError>>()?)
            }
        })
    }

    fn write(&self) -> Value {
        self.sizes().write()
    }

    fn show(&self) -> String {
        self.sizes().show()
    }

    fn schema(range: Option<Range>) -> Value {
        Sizes::schema(range)
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        self.sizes().extremes()
    }

    fn show_bound(bound: f64) -> String {
        units::bytes_to_text(bound as u64)
    }
}
