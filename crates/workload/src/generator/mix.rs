//! Which operation a request is.

use crate::request::Op;
use crate::rng::Chance;

/// The operations of an access line by probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OpMix {
    /// Cumulative probabilities of read, write and trim; flush is what is left.
    until: [Chance; 3],
    /// The only operation, when there is just one: saves the draw.
    pub(crate) only: Option<Op>,
}

impl OpMix {
    /// From percentages in table order; rounding errors of their sum go to the last operation that occurs.
    pub(crate) fn new(percent: &[f64; 4]) -> Self {
        let total: f64 = percent.iter().sum();
        let last = percent.iter().rposition(|&share| share > 0.0).expect("some operation occurs");
        let mut covered = 0.0;
        let until = std::array::from_fn(|index| {
            covered += percent[index];
            if index >= last { Chance::new(1.0) } else { Chance::new(covered / total) }
        });
        let occurs = percent.iter().filter(|&&share| share > 0.0).count();
        Self { until, only: (occurs == 1).then(|| Op::ALL[last]) }
    }

    /// The operation that a draw chooses; free of branches, because no predictor learns a random mix.
    #[inline]
    pub(crate) fn pick(&self, draw: u64) -> Op {
        let [read, write, trim] = self.until;
        let index = usize::from(!read.hit(draw)) + usize::from(!write.hit(draw)) + usize::from(!trim.hit(draw));
        Op::ALL[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_with_zero_percent_never_occurs() {
        // Sums to 99.999… in binary: the rest must not become a flush.
        let mix = OpMix::new(&[33.3, 0.0, 66.7, 0.0]);
        for draw in [0, 1 << 62, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            assert!(matches!(mix.pick(draw), Op::Read | Op::Trim));
        }
        assert_eq!(mix.pick(u64::MAX), Op::Trim);
    }

    #[test]
    fn a_single_operation_needs_no_draw() {
        assert_eq!(OpMix::new(&[0.0, 100.0, 0.0, 0.0]).only, Some(Op::Write));
        assert_eq!(OpMix::new(&[50.0, 50.0, 0.0, 0.0]).only, None);
    }
}
