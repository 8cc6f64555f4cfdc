//! Zipf-distributed ranks without a table: rank k of n has probability proportional to 1 / k^θ.
//!
//! Rejection-inversion after W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone
//! discrete distributions", ACM TOMACS 6 (1996): exact for every θ > 0 and every n, constant memory, about 1.1 tries.
//! The approximation of Gray et al. (SIGMOD 1994) that other tools use needs ζ(n) summed over n terms and θ < 1.
//!
//! Logarithms and exponentials come from the `libm` crate, not from the platform: equal seeds must give equal ranks on
//! every machine.

use crate::rng::{again, unit};

/// A Zipf distribution over `0..count`; rank 0 is the most popular.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Zipf {
    count: f64,
    theta: f64,
    /// Integral of the hat up to 3/2, less the mass of rank 1.
    from: f64,
    /// Length of the interval that is inverted (negative: from the tail to the head).
    span: f64,
    /// Closer than this to the rank, a try is accepted without evaluating the hat.
    close: f64,
}

impl Zipf {
    pub(crate) fn new(count: u64, theta: f64) -> Self {
        assert!(count > 0 && theta > 0.0, "Zipf needs blocks and a positive exponent");
        let count = count as f64;
        let mut zipf = Self { count, theta, from: 0.0, span: 0.0, close: 0.0 };
        let head = zipf.hat_integral(1.5) - 1.0;
        zipf.from = zipf.hat_integral(count + 0.5);
        zipf.span = head - zipf.from;
        zipf.close = 2.0 - zipf.hat_inverse(zipf.hat_integral(2.5) - zipf.hat(2.0));
        zipf
    }

    /// The rank (from 0) that a draw chooses; later tries derive their own draws from it.
    #[inline]
    pub(crate) fn rank(&self, mut draw: u64) -> u64 {
        loop {
            let area = self.from + unit(draw) * self.span;
            let x = self.hat_inverse(area);
            let rank = (x + 0.5).floor().clamp(1.0, self.count);
            if rank - x <= self.close || area >= self.hat_integral(rank + 0.5) - self.hat(rank) {
                return rank as u64 - 1;
            }
            draw = again(draw);
        }
    }

    /// x^−θ.
    fn hat(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// (x^(1−θ) − 1) / (1−θ), continuous at θ = 1, where it is ln x.
    fn hat_integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        log * grown(log * (1.0 - self.theta))
    }

    /// The inverse of [`Self::hat_integral`].
    #[inline]
    fn hat_inverse(&self, area: f64) -> f64 {
        let scaled = (area * (1.0 - self.theta)).max(-1.0);
        libm::exp(area * shrunk(scaled))
    }
}

/// (e^x − 1) / x.
#[inline]
fn grown(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::expm1(x) / x } else { 1.0 + x / 2.0 }
}

/// ln(1 + x) / x.
#[inline]
fn shrunk(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::log1p(x) / x } else { 1.0 - x / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::Zipf;
    use crate::rng::Draws;

    /// χ² of the sampler against the true probabilities.
    fn chi_square(count: u64, theta: f64, samples: u64) -> f64 {
        let zipf = Zipf::new(count, theta);
        let draws = Draws::new(11, &[count]);
        let mut observed = vec![0_u64; count as usize];
        for index in 0..samples {
            observed[zipf.rank(draws.at(index)) as usize] += 1;
        }
        let mass: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-theta)).collect();
        let total: f64 = mass.iter().sum();
        let difference = |(&seen, share): (&u64, &f64)| {
            let expected = share / total * samples as f64;
            (seen as f64 - expected).powi(2) / expected
        };
        observed.iter().zip(&mass).map(difference).sum()
    }

    #[test]
    fn ranks_have_the_true_probabilities() {
        for theta in [0.2, 0.5, 0.99, 1.0, 1.0 + 1e-10, 1.1, 1.5, 2.5] {
            for count in [2_u64, 3, 10, 100] {
                let freedom = count as f64 - 1.0;
                // The 99.9 % point of χ², Wilson–Hilferty.
                let limit = freedom * (1.0 - 2.0 / (9.0 * freedom) + 3.09 * (2.0 / (9.0 * freedom)).sqrt()).powi(3);
                let value = chi_square(count, theta, 400_000);
                assert!(value < limit, "theta {theta}, {count} ranks: χ² {value} ≥ {limit}");
            }
        }
    }

    #[test]
    fn one_block_and_very_many_blocks_work() {
        let draws = Draws::new(3, &[]);
        let one = Zipf::new(1, 1.2);
        let many = Zipf::new(1 << 52, 0.8);
        for index in 0..10_000 {
            assert_eq!(one.rank(draws.at(index)), 0);
            assert!(many.rank(draws.at(index)) < 1 << 52);
        }
        assert_eq!(one.rank(0), 0);
        assert_eq!(one.rank(u64::MAX), 0);
        assert!(many.rank(0) < 1 << 52);
        assert!(many.rank(u64::MAX) < 1 << 52);
    }
}
