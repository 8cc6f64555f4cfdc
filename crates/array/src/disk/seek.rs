//! How long the arm takes to move by a number of cylinders.
//!
//! Model: `t(0) = 0`; `t(d) = a + b√d` below a knee `k`; `t(k) + e(d − k)` beyond it. Three points of a datasheet and
//! two conditions determine the four numbers: `t(1)`, the mean over all pairs of cylinders, `t(C)`, and no corner at
//! the knee. For a given knee the mean is linear in `b`, which is solved exactly; the knee is then found by bisection
//! on the difference of slopes. The form is that of Ruemmler & Wilkes (1994), the fit is our own.
//!
//! The table has an entry per cylinder for short movements and one per 2^s cylinders for long ones; the index is the
//! smaller of two straight lines, so no branch is needed. Limit: a long movement is rounded to the middle of its 2^s
//! cylinders, which for 50,000 cylinders is at most 8 µs of a movement beyond 1 ms.

use super::spindle::Spindle;
use crate::device::error::SpecError;
use crate::disk::spec::SeekSpec;

/// Entries of one table.
const ENTRIES: u32 = 4096;

/// The fitted curve, in milliseconds and cylinders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeekCurve {
    /// Where the root begins.
    pub a_ms: f64,
    /// Its factor.
    pub b_ms: f64,
    /// From where on the curve is straight.
    pub knee_cylinders: f64,
    /// Slope of the straight part.
    pub e_ms: f64,
    cylinders: f64,
}

impl SeekCurve {
    /// The curve through three points.
    ///
    /// # Errors
    /// The average cannot belong to a smooth curve between the two others.
    pub fn fit(spec: &SeekSpec, cylinders: u32) -> Result<Self, SpecError> {
        let cylinders = f64::from(cylinders);
        let through = |average_us: u32| {
            let points = [spec.single_track_us, average_us, spec.full_stroke_us].map(|us| f64::from(us) / 1e3);
            Self::through(points, cylinders)
        };
        if spec.single_track_us == spec.full_stroke_us {
            let a_ms = f64::from(spec.single_track_us) / 1e3;
            return Ok(Self { a_ms, b_ms: 0.0, knee_cylinders: cylinders, e_ms: 0.0, cylinders });
        }
        through(spec.average_us).ok_or_else(|| {
            let SeekSpec { single_track_us, average_us, full_stroke_us } = *spec;
            let advice = means(single_track_us, full_stroke_us, |average_us| through(average_us).is_some());
            let problem = format!(
                "{average_us} us is the mean of no smooth curve from {single_track_us} to {full_stroke_us} us; write {advice}"
            );
            SpecError::new("average_us", problem)
        })
    }

    /// The smooth curve through the shortest, the mean and the longest movement, if there is one.
    fn through(points_ms: [f64; 3], cylinders: f64) -> Option<Self> {
        let with_knee = |knee: f64| Self::with_knee(points_ms, cylinders, knee);
        let corner = |knee: f64| with_knee(knee).corner();
        // Even steps of the root: the corner changes fastest at short knees.
        let steps = 1_000;
        let knee_at = |step: i32| {
            let root = 1.0 + (cylinders.sqrt() - 1.0) * f64::from(step) / f64::from(steps);
            root * root
        };
        let change = (1..steps - 1).find(|&step| corner(knee_at(step)) > 0.0 && corner(knee_at(step + 1)) <= 0.0);
        let curve = change.map(|step| with_knee(bisect(knee_at(step), knee_at(step + 1), corner)));
        curve.filter(Self::rises)
    }

    /// The curve with the right mean for a knee, with whatever corner there is.
    fn with_knee([single, mean, full]: [f64; 3], cylinders: f64, knee: f64) -> Self {
        let part = knee / cylinders;
        let beyond = (1.0 - part) * (1.0 - part);
        let root = knee.sqrt() - 1.0;
        let part_root = part.sqrt();
        // The mean of the curve is fixed + b·factor, by integrating 2(1 − x)·t(xC) over both parts.
        let fixed = single * (1.0 - beyond) + beyond * (2.0 * single + full) / 3.0;
        let factor =
            cylinders.sqrt() * part * part_root * (4.0 / 3.0 - 0.8 * part) - (1.0 - beyond) + 2.0 / 3.0 * beyond * root;
        let b_ms = (mean - fixed) / factor;
        let e_ms = (full - single - b_ms * root) / (cylinders - knee);
        Self { a_ms: single - b_ms, b_ms, knee_cylinders: knee, e_ms, cylinders }
    }

    /// By how much the slope falls at the knee.
    fn corner(&self) -> f64 {
        self.b_ms / (2.0 * self.knee_cylinders.sqrt()) - self.e_ms
    }

    fn rises(&self) -> bool {
        self.b_ms > 0.0 && self.e_ms >= 0.0
    }

    /// The time of a movement in milliseconds.
    pub fn at_ms(&self, distance: f64) -> f64 {
        if distance <= 0.0 {
            return 0.0;
        }
        let root = self.a_ms + self.b_ms * distance.min(self.knee_cylinders).sqrt();
        root + self.e_ms * (distance - self.knee_cylinders).max(0.0)
    }

    /// The mean over all pairs of cylinders in milliseconds.
    pub fn mean_ms(&self) -> f64 {
        let cylinders = self.cylinders as u32;
        let weighted = (1..cylinders).map(|distance| {
            let distance = f64::from(distance);
            2.0 * (self.cylinders - distance) * self.at_ms(distance)
        });
        weighted.sum::<f64>() / (self.cylinders * self.cylinders)
    }
}

/// Which means are possible, in words: whole microseconds, of which every one that is named is right.
fn means(single_us: u32, full_us: u32, is_possible: impl Fn(u32) -> bool) -> String {
    let part = |percent: u32| single_us + (u64::from(full_us - single_us) * u64::from(percent) / 100) as u32;
    let Some(middle) = (34..=54).map(part).find(|&us| is_possible(us)) else {
        return "a full_stroke_us that is further from single_track_us".to_owned();
    };
    // From a possible mean to the last one on its way to an end.
    let last = |end: u32| {
        let (mut good, mut bad) = (middle, end);
        while good.abs_diff(bad) > 1 {
            let between = good.midpoint(bad);
            *(if is_possible(between) { &mut good } else { &mut bad }) = between;
        }
        good
    };
    let (least, most) = (last(single_us), last(full_us));
    if least == most { format!("{least}") } else { format!("{least} to {most}") }
}

fn bisect(mut low: f64, mut high: f64, difference: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if difference(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The curves before a read and before a write, in ticks of one spindle.
#[derive(Clone, Debug)]
pub(crate) struct SeekTables {
    /// Read, then write.
    ticks: Box<[u32; 2 * ENTRIES as usize]>,
    shift: u32,
    /// Where the line of the long movements meets the axis.
    base: u32,
}

impl SeekTables {
    pub(crate) fn new(curves: [&SeekCurve; 2], cylinders: u32, spindle: Spindle) -> Self {
        let shift = (0..).find(|&shift| cylinders >> shift < ENTRIES * 3 / 4).unwrap_or(0);
        let base = ENTRIES - 1 - (cylinders >> shift);
        let mut tables = Self { ticks: Box::new([0; 2 * ENTRIES as usize]), shift, base };
        for (write, curve) in curves.into_iter().enumerate() {
            let table = &mut tables.ticks[write * ENTRIES as usize..][..ENTRIES as usize];
            let (mut filled, mut first) = (0, 0);
            while first < cylinders {
                let last = last_of_entry(first, shift, base).min(cylinders - 1);
                let middle_ms = curve.at_ms((f64::from(first) + f64::from(last)) / 2.0);
                table[filled] = spindle.ticks((middle_ms * 1e6 + 0.5) as u64);
                (filled, first) = (filled + 1, last + 1);
            }
            let longest = table[filled - 1];
            table[filled..].fill(longest);
        }
        tables
    }

    /// Ticks of a movement; `write` is 0 or [`SeekTables::WRITE`].
    #[inline]
    pub(crate) fn ticks(&self, distance: u32, write: u32) -> u32 {
        let entry = distance.min(self.base + (distance >> self.shift));
        self.ticks[((entry + write) % (2 * ENTRIES)) as usize]
    }

    /// What makes an entry one of writes.
    pub(crate) const WRITE: u32 = ENTRIES;
}

/// The last distance that shares its entry with `first`.
const fn last_of_entry(first: u32, shift: u32, base: u32) -> u32 {
    let long = base + (first >> shift);
    if first < long { first } else { (((first >> shift) + 1) << shift) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(points_us: [u32; 3], cylinders: u32) -> SeekCurve {
        let [single_track_us, average_us, full_stroke_us] = points_us;
        SeekCurve::fit(&SeekSpec { single_track_us, average_us, full_stroke_us }, cylinders).unwrap()
    }

    /// Coefficients found independently (numerical integration, search over knees) for drives of the reference.
    #[test]
    fn the_fit_gives_the_coefficients_that_were_found_by_search() {
        // single, average, full stroke in us; cylinders; a, b, knee, e in ms and cylinders (0: not known)
        let drives = [
            ([200, 4000, 8100], 51_052, 0.169, 0.03122, 19_017.0, 1.132e-4),
            ([600, 4400, 8600], 51_052, 0.569, 0.03106, 17_613.0, 0.0),
            ([300, 3800, 7810], 147_620, 0.283, 0.01660, 45_393.0, 3.90e-5),
            ([350, 4700, 9700], 50_000, 0.314, 0.03557, 15_375.0, 0.0),
            ([200, 3500, 7400], 50_000, 0.173, 0.02676, 14_125.0, 0.0),
            ([200, 2700, 5600], 85_000, 0.184, 0.01560, 25_288.0, 0.0),
        ];
        for (points, cylinders, a_ms, b_ms, knee, e_ms) in drives {
            let curve = fit(points, cylinders);
            assert!((curve.a_ms - a_ms).abs() < 0.0006, "{points:?}: {curve:?}");
            assert!((curve.b_ms / b_ms - 1.0).abs() < 0.002, "{points:?}: {curve:?}");
            assert!((curve.knee_cylinders / knee - 1.0).abs() < 0.01, "{points:?}: {curve:?}");
            assert!(e_ms == 0.0 || (curve.e_ms / e_ms - 1.0).abs() < 0.005, "{points:?}: {curve:?}");
        }
    }

    #[test]
    fn the_curve_meets_its_three_points_and_has_no_corner() {
        let curve = fit([200, 4000, 8100], 51_052);
        assert!((curve.at_ms(1.0) - 0.2).abs() < 1e-12);
        assert!((curve.at_ms(51_052.0) - 8.1).abs() < 1e-9);
        assert!((curve.mean_ms() / 4.0 - 1.0).abs() < 1e-4, "{}", curve.mean_ms());
        assert!(curve.corner().abs() < 1e-15);
    }

    #[test]
    fn a_table_follows_its_curve_and_rises() {
        for cylinders in [400, 4_095, 51_052, 147_620, 1_000_000] {
            let (read, write) = (fit([200, 4000, 8100], cylinders), fit([600, 4400, 8600], cylinders));
            let spindle = Spindle::new(10_000);
            let tables = SeekTables::new([&read, &write], cylinders, spindle);
            assert_eq!(tables.ticks(0, 0), 0);
            assert_eq!(spindle.ns(tables.ticks(1, SeekTables::WRITE)), 600_000);
            for distance in 0..cylinders {
                let found_ms = spindle.ns(tables.ticks(distance, 0)) as f64 / 1e6;
                // Half an entry; a short movement has one of its own.
                let is_long = tables.base + (distance >> tables.shift) <= distance;
                let half = if is_long { f64::from(1 << tables.shift) / 2.0 } else { 0.0 };
                let wanted_ms = read.at_ms(f64::from(distance));
                let step_ms = wanted_ms - read.at_ms(f64::from(distance) - half);
                assert!((found_ms - wanted_ms).abs() < step_ms * 1.01 + 2e-6, "{distance} of {cylinders}");
                assert!(distance == 0 || tables.ticks(distance, 0) >= tables.ticks(distance - 1, 0));
            }
        }
    }

    #[test]
    fn the_mean_of_the_table_is_that_of_the_datasheet() {
        let (cylinders, spindle) = (51_052_u32, Spindle::new(10_000));
        let (read, write) = (fit([200, 4000, 8100], cylinders), fit([600, 4400, 8600], cylinders));
        let tables = SeekTables::new([&read, &write], cylinders, spindle);
        for (kind, mean_ms) in [(0, 4.0), (SeekTables::WRITE, 4.4)] {
            let sum_ns: u128 = (1..cylinders)
                .map(|distance| {
                    2 * u128::from(cylinders - distance) * u128::from(spindle.ns(tables.ticks(distance, kind)))
                })
                .sum();
            let found_ms = sum_ns as f64 / f64::from(cylinders) / f64::from(cylinders) / 1e6;
            assert!((found_ms / mean_ms - 1.0).abs() < 2e-4, "{found_ms}");
        }
    }

    #[test]
    fn a_refusal_names_means_that_are_possible() {
        // Of the last two, one whole number and none is the mean of a smooth curve.
        for [single_track_us, average_us, full_stroke_us] in
            [[200, 900, 8_100], [200, 7_000, 8_100], [200, 230, 208], [200, 201, 201]]
        {
            let refused =
                |average_us| SeekCurve::fit(&SeekSpec { single_track_us, average_us, full_stroke_us }, 20_000).err();
            let sentence = refused(average_us).unwrap().to_string();
            let advice = sentence.rsplit("write ").next().unwrap();
            let named: Vec<u32> = advice.split(" to ").filter_map(|word| word.parse().ok()).collect();
            assert!(named.windows(2).all(|pair| pair[0] < pair[1]), "{sentence}");
            assert!(!named.is_empty() || advice.starts_with("a full_stroke_us"), "{sentence}");
            for average_us in named {
                assert!(refused(average_us).is_none(), "{sentence}");
            }
        }
    }

    #[test]
    fn an_average_that_no_smooth_curve_has_is_refused_by_name() {
        for average_us in [900, 7_000] {
            let spec = SeekSpec { single_track_us: 200, average_us, full_stroke_us: 8_100 };
            let sentence = SeekCurve::fit(&spec, 50_000).unwrap_err().to_string();
            assert!(sentence.starts_with(&format!("average_us: {average_us} us is the mean of no smooth curve")));
        }
    }
}
