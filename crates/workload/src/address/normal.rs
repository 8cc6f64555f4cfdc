//! Normally distributed positions inside an interval, one draw each.
//!
//! The truncated distribution is inverted directly: a uniform number is scaled to the probabilities that lie inside the
//! interval and sent through the quantile function (M. J. Wichura, "Algorithm AS 241: The percentage points of the
//! normal distribution", Applied Statistics 37 (1988), PPND16, relative error about 1e-16). Nothing is redrawn or
//! reflected, so the shape inside is exactly normal however wide it is.

use crate::rng::unit;

/// A normal distribution around the middle of [0, 1), cut off at both ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Normal {
    deviation: f64,
    /// Probability below the interval.
    below: f64,
    /// Probability inside the interval.
    inside: f64,
}

impl Normal {
    /// With a standard deviation in units of the interval's length.
    pub(crate) fn new(deviation: f64) -> Self {
        assert!(deviation > 0.0, "a deviation is positive");
        let below = 0.5 * libm::erfc(0.5 / deviation / std::f64::consts::SQRT_2);
        Self { deviation, below, inside: 1.0 - 2.0 * below }
    }

    /// The position in [0, 1) that a draw chooses.
    #[inline]
    pub(crate) fn position(&self, draw: u64) -> f64 {
        let probability = self.below + unit(draw) * self.inside;
        let position = 0.5 + self.deviation * quantile(probability);
        position.clamp(0.0, 1.0 - f64::EPSILON)
    }
}

/// Ratio of two polynomials of degree 7, coefficients from the constant up.
#[inline]
fn ratio(x: f64, above: &[f64; 8], below: &[f64; 8]) -> f64 {
    let polynomial = |coefficients: &[f64; 8]| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
    polynomial(above) / polynomial(below)
}

/// The standard normal quantile of a probability in (0, 1).
#[inline]
fn quantile(probability: f64) -> f64 {
    let centred = probability - 0.5;
    if centred.abs() <= 0.425 {
        return centred * ratio(0.180_625 - centred * centred, &CENTRE.0, &CENTRE.1);
    }
    let tail = if centred < 0.0 { probability } else { 1.0 - probability };
    if tail <= 0.0 {
        return f64::INFINITY.copysign(centred);
    }
    let r = libm::sqrt(-libm::log(tail));
    let size = if r <= 5.0 { ratio(r - 1.6, &SHOULDER.0, &SHOULDER.1) } else { ratio(r - 5.0, &TAIL.0, &TAIL.1) };
    size.copysign(centred)
}

/// Coefficients above and below the fraction bar, as published.
type Fraction = ([f64; 8], [f64; 8]);

const CENTRE: Fraction = (
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_545,
    ],
);

const SHOULDER: Fraction = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const TAIL: Fraction = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_7e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Draws;

    #[test]
    fn quantiles_agree_with_tables() {
        // Standard normal quantiles to 15 digits (R: qnorm).
        let table = [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_082),
            (0.975, 1.959_963_984_540_05),
            (0.001, -3.090_232_306_167_81),
            (1e-20, -9.262_340_089_798_41),
        ];
        for (probability, expected) in table {
            let value = quantile(probability);
            assert!((value - expected).abs() < 1e-12, "{probability}: {value} instead of {expected}");
        }
    }

    #[test]
    fn quantile_inverts_the_error_function_everywhere() {
        for step in 1..2_000 {
            let probability = f64::from(step) / 2_000.0;
            let back = 0.5 * libm::erfc(-quantile(probability) / std::f64::consts::SQRT_2);
            assert!((back - probability).abs() < 1e-14, "{probability} comes back as {back}");
        }
    }

    #[test]
    fn positions_follow_the_truncated_normal() {
        for deviation in [0.05, 0.1, 0.5, 10.0] {
            let normal = Normal::new(deviation);
            let draws = Draws::new(5, &[]);
            let samples = 50_000;
            let mut positions: Vec<f64> = (0..samples).map(|index| normal.position(draws.at(index))).collect();
            positions.sort_by(f64::total_cmp);
            let cumulative = |x: f64| {
                let phi = 0.5 * libm::erfc(-(x - 0.5) / deviation / std::f64::consts::SQRT_2);
                (phi - normal.below) / normal.inside
            };
            let distance = positions
                .iter()
                .enumerate()
                .map(|(rank, &x)| (cumulative(x) - (rank as f64 + 0.5) / samples as f64).abs())
                .fold(0.0, f64::max);
            // Kolmogorov–Smirnov at 0.1 %: 1.95 / √n.
            assert!(distance < 1.95 / (samples as f64).sqrt(), "deviation {deviation}: D = {distance}");
        }
    }

    #[test]
    fn the_narrowest_normal_stays_finite() {
        let normal = Normal::new(1e-9);
        for draw in [0, u64::MAX / 2, u64::MAX] {
            assert!((0.0..1.0).contains(&normal.position(draw)));
        }
    }
}
