//! What a chart of a distribution shows: percentiles, and the curve of latency against nines.
//!
//! Model: every request of a bucket is taken at the bucket's highest value; percentiles are by nearest rank. Nines are the negative
//! decimal logarithm of the share that took longer: 1 is the 90th percentile, 2 the 99th.

use super::Buckets;

impl Buckets {
    /// The latency that so many percent of the requests did not exceed, for each of `percents`; empty when there is no request.
    pub fn values_at(&self, percents: &[f64]) -> Vec<u64> {
        let mut running = 0u64;
        let sums: Vec<u64> = self.0.iter().map(|&(_, count)| add(&mut running, count)).collect();
        let at = |percent: &f64| {
            let place = sums.partition_point(|&sum| sum < rank(*percent, running));
            self.0.get(place).or(self.0.last()).map(|&(upper_ns, _)| upper_ns)
        };
        percents.iter().filter_map(at).collect()
    }

    /// (percent, ns) for each of `percents` that at least one request lies beyond, and the maximum at 100.
    pub fn levels(&self, percents: &[f64]) -> Vec<(f64, u64)> {
        let total = self.count() as f64;
        let held: Vec<f64> =
            percents.iter().copied().filter(|percent| total * (1.0 - percent / 100.0) >= 1.0).chain([100.0]).collect();
        held.iter().copied().zip(self.values_at(&held)).collect()
    }

    /// (nines, ns) from the minimum at 0 to the maximum, where the last single request stands; between them the points that are
    /// `step_nines` or a factor of `step_ratio` in latency from the one before. Nines have four digits behind the point.
    pub fn curve(&self, step_nines: f64, step_ratio: f64) -> Vec<(f64, u64)> {
        let (Some(&(lowest_ns, _)), Some((&(highest_ns, _), others))) = (self.0.first(), self.0.split_last()) else {
            return Vec::new();
        };
        let total = self.count() as f64;
        let mut last = (0.0, lowest_ns);
        let mut points = vec![last];
        let mut running = 0u64;
        for &(upper_ns, count) in others {
            let nines = -(1.0 - add(&mut running, count) as f64 / total).log10();
            if nines - last.0 >= step_nines || upper_ns as f64 >= last.1 as f64 * step_ratio {
                last = (rounded(nines), upper_ns);
                points.push(last);
            }
        }
        points.push((rounded(total.log10().max(last.0)), highest_ns));
        points
    }

    /// How many requests there are.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |total: u64, &(_, count)| total.saturating_add(count))
    }
}

/// The place of the request, counted from 1, that so many percent of `total` do not exceed.
pub(super) fn rank(percent: f64, total: u64) -> u64 {
    ((percent / 100.0 * total as f64 - 1e-9).ceil() as u64).max(1)
}

fn add(running: &mut u64, count: u64) -> u64 {
    *running = running.saturating_add(count);
    *running
}

fn rounded(nines: f64) -> f64 {
    (nines * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_at_several_percents_are_those_of_each() {
        let buckets = Buckets(vec![(10, 1), (20, 5), (40, 93), (80, 1)]);
        let percents = [0.0, 1.0, 1.1, 6.0, 50.0, 99.0, 99.5, 100.0];
        let each: Vec<u64> = percents.iter().filter_map(|&percent| buckets.value_at(percent)).collect();
        assert_eq!(buckets.values_at(&percents), each);
        assert_eq!(each, [10, 10, 20, 20, 40, 40, 80, 80]);
        assert_eq!(Buckets::default().values_at(&percents), [0u64; 0]);
    }

    #[test]
    fn levels_end_where_no_request_lies_beyond() {
        let buckets = Buckets(vec![(100, 90), (200, 9), (300, 1)]);
        assert_eq!(buckets.levels(&[50.0, 90.0, 99.0, 99.5]), [(50.0, 100), (90.0, 100), (99.0, 200), (100.0, 300)]);
        assert_eq!(Buckets::default().levels(&[0.0]), []);
    }

    #[test]
    fn a_curve_goes_from_the_minimum_to_the_last_single_request() {
        let buckets = Buckets(vec![(100, 900), (104, 50), (200, 49), (1_000, 1)]);
        // 104 ns is neither a step of nines nor of latency away when nines are wide.
        assert_eq!(buckets.curve(2.0, 1.5), [(0.0, 100), (3.0, 200), (3.0, 1_000)]);
        assert_eq!(buckets.curve(0.1, 1.5), [(0.0, 100), (1.0, 100), (1.301, 104), (3.0, 200), (3.0, 1_000)]);
        assert_eq!(Buckets(vec![(7, 1)]).curve(0.1, 1.5), [(0.0, 7), (0.0, 7)]);
        assert_eq!(Buckets::default().curve(0.1, 1.5), []);
    }
}
