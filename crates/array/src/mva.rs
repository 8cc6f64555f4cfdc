//! Exact mean values of a closed network: throughput and response without simulating.
//!
//! Model: requests go round, visiting stations with mean demands; between two rounds they think. The probability of a state
//! is a product of one factor per station (Baskett et al. 1975), `Dⁿ / Π min(k, servers)` over its `n` requests; the sums over all
//! states of 0, 1, … N requests are convolved station by station (Buzen 1973), and the throughput is the ratio of the last
//! two. It is what mean value analysis (Reiser & Lavenberg 1980) gives, exactly so for stations of several servers too, where
//! its recursion is unstable.
//!
//! Limits: exact for exponential service in order of arrival, or processor sharing. Service that varies less, as that of disks,
//! queues less, so between one request and saturation the real network answers a little sooner, and sooner still where a
//! queue is reordered; at both ends only means matter.
//!
//! ```
//! use plimsoll_array::mva::{Station, solve};
//! // Two equal stations of 1 ms: with N requests the throughput is N / (N + 1) per ms.
//! let solved = solve(&[Station::new(1e6, 1), Station::new(1e6, 1)], 0.0, 3);
//! assert!((solved.throughput_per_s - 750.0).abs() < 1e-9);
//! ```

/// A station of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// Service that a request needs there in all its visits.
    pub demand_ns: f64,
    /// Servers that share it.
    pub servers: u32,
}

impl Station {
    /// A station where a request needs `demand_ns`.
    pub const fn new(demand_ns: f64, servers: u32) -> Self {
        Self { demand_ns, servers }
    }
}

/// What the network does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Requests per second.
    pub throughput_per_s: f64,
    /// Time of a round without thinking.
    pub response_ns: f64,
}

/// Solves a network of `population` requests.
pub fn solve(stations: &[Station], think_ns: f64, population: u32) -> Solved {
    let most = population as usize;
    let each = stations.iter().map(|station| station.demand_ns / f64::from(station.servers.max(1)));
    // The slowest is the unit, so that no power of it grows.
    let unit_ns = each.fold(0.0, f64::max).max(1e-9);
    let mut sums = factors(think_ns / unit_ns, u32::MAX, most);
    for station in stations {
        let demand = station.demand_ns / unit_ns;
        if station.servers <= 1 {
            for requests in 1..=most {
                sums[requests] += demand * sums[requests - 1];
            }
        } else {
            sums = convolved(&sums, &factors(demand, station.servers, most));
        }
        let largest = sums.iter().copied().fold(0.0, f64::max);
        sums.iter_mut().for_each(|sum| *sum /= largest);
    }
    let throughput = if most == 0 { 0.0 } else { sums[most - 1] / sums[most] / unit_ns };
    let round_ns = if most == 0 { 0.0 } else { f64::from(population) / throughput };
    Solved { throughput_per_s: throughput * 1e9, response_ns: round_ns - think_ns }
}

/// The factors of a station for 0 to `most` requests, the largest being 1.
fn factors(demand: f64, servers: u32, most: usize) -> Vec<f64> {
    let mut logarithms = vec![0.0; most + 1];
    for requests in 1..=most {
        let served = (requests as u64).min(u64::from(servers)) as f64;
        logarithms[requests] = logarithms[requests - 1] + libm::log(demand / served);
    }
    let largest = logarithms.iter().copied().fold(0.0, f64::max);
    logarithms.into_iter().map(|logarithm| libm::exp(logarithm - largest)).collect()
}

fn convolved(sums: &[f64], factors: &[f64]) -> Vec<f64> {
    let of = |requests: usize| (0..=requests).map(|here| factors[here] * sums[requests - here]).sum();
    (0..sums.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_meets_nobody() {
        let solved = solve(&[Station::new(2e6, 1), Station::new(5e6, 4)], 3e6, 1);
        assert!((solved.response_ns - 7e6).abs() < 1e-3);
        assert!((solved.throughput_per_s - 100.0).abs() < 1e-9);
    }

    #[test]
    fn the_machine_repairman_is_answered_exactly() {
        // M/M/1//N with N = 3, service 1 ms, thinking 2 ms: p0 = 1 / Σ N!/(N-n)! (1/2)^n = 1 / (1 + 1.5 + 1.5 + 0.75).
        let solved = solve(&[Station::new(1e6, 1)], 2e6, 3);
        let busy = 1.0 - 1.0 / (1.0 + 1.5 + 1.5 + 0.75);
        assert!((solved.throughput_per_s - busy * 1000.0).abs() < 1e-6, "{solved:?}");
    }

    #[test]
    fn repairmen_are_answered_exactly_too() {
        // M/M/c//N: the birth-death chain itself, machine rate 1/5 per ms, c repairs of 1 ms.
        for (crew, machines) in [(2, 5), (3, 12), (8, 40), (64, 256)] {
            let mut weight = 1.0;
            let (mut all, mut repaired) = (1.0, 0.0);
            for broken in 1..=machines {
                let under_repair = f64::from(broken.min(crew));
                weight *= f64::from(machines - broken + 1) / 5.0 / under_repair;
                all += weight;
                repaired += weight * under_repair;
            }
            let solved = solve(&[Station::new(1e6, crew)], 5e6, machines);
            let expected = repaired / all * 1000.0;
            assert!(
                (solved.throughput_per_s / expected - 1.0).abs() < 1e-9,
                "{crew} of {machines}: {solved:?}, {expected}"
            );
        }
    }

    #[test]
    fn many_requests_reach_the_slowest_station() {
        let stations = [Station::new(1e6, 1), Station::new(4e6, 2), Station::new(0.5e6, 1)];
        let solved = solve(&stations, 0.0, 500);
        assert!((solved.throughput_per_s - 500.0).abs() < 1.0);
        assert!((solved.throughput_per_s * solved.response_ns / 1e9 - 500.0).abs() < 1e-6);
        assert!(solve(&stations, 0.0, 0).throughput_per_s.abs() < 1e-12);
    }
}
