//! Think time: the pause of a closed-loop thread between a completion and its next request.

use super::{Offer, exponential};
use crate::plan::ArrivalPlan;
use crate::rng::{Draws, Purpose};

/// The pauses of one thread.
#[derive(Clone, Debug)]
pub struct Thinker {
    mean_ns: u64,
    exponential: bool,
    draws: Draws,
    index: u64,
    /// What rounding down to nanoseconds left behind, so that the mean is exact.
    fraction: f64,
}

impl Thinker {
    /// The thinker of one thread; open streams do not think.
    pub fn new<'a>(offer: impl Into<Offer<'a>>, shard: u32) -> Self {
        let plan = offer.into();
        let (mean_ns, exponential) = match *plan.arrival {
            ArrivalPlan::Closed { think_ns, exponential } => (think_ns, exponential && think_ns > 0),
            ArrivalPlan::Open(_) => (0, false),
        };
        let draws = Draws::new(plan.seed, &[Purpose::Think as u64, u64::from(shard)]);
        Self { mean_ns, exponential, draws, index: 0, fraction: 0.0 }
    }

    /// The next pause in nanoseconds; 0 when there is none.
    #[inline]
    pub fn next_ns(&mut self) -> u64 {
        if !self.exponential {
            return self.mean_ns;
        }
        let pause_ns = exponential(self.draws.at(self.index)) * self.mean_ns as f64 + self.fraction;
        self.index += 1;
        let whole = pause_ns as u64;
        self.fraction = pause_ns - whole as f64;
        whole
    }
}
