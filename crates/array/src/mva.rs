//! Exact mean value analysis of a closed network: throughput and response without simulating.
//!
//! Model: requests go round, visiting stations with mean demands; between two rounds they think. By the arrival theorem
//! (Reiser & Lavenberg 1980) a request finds at each station the queue of the same network with one request less, which
//! gives the answers for 1, 2, … N requests one after the other. A station of several servers is taken for one that is so
//! many times faster, and a delay that makes up the response (Seidmann 1987).
//!
//! Limits: exact for exponential service or processor sharing. Service that varies less, as that of disks, queues less, so
//! between one request and saturation the real network answers a little sooner; at both ends only means matter.
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
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// Requests per second.
    pub throughput_per_s: f64,
    /// Time of a round without thinking.
    pub response_ns: f64,
    /// Mean number of requests at each station.
    pub present: Vec<f64>,
}

/// Solves a network of `population` requests.
pub fn solve(stations: &[Station], think_ns: f64, population: u32) -> Solved {
    let servers = |station: &Station| f64::from(station.servers.max(1));
    let delay_ns: f64 =
        stations.iter().map(|station| station.demand_ns * (servers(station) - 1.0) / servers(station)).sum();
    let demands: Vec<f64> = stations.iter().map(|station| station.demand_ns / servers(station)).collect();
    let mut queues = vec![0.0; demands.len()];
    let (mut throughput, mut response_ns) = (0.0, delay_ns);
    for requests in 1..=population {
        let residence: Vec<f64> = demands.iter().zip(&queues).map(|(demand, queue)| demand * (1.0 + queue)).collect();
        response_ns = residence.iter().sum::<f64>() + delay_ns;
        throughput = f64::from(requests) / (response_ns + think_ns);
        queues = residence.iter().map(|time| throughput * time).collect();
    }
    let waits = stations
        .iter()
        .zip(&queues)
        .map(|(station, queue)| queue + throughput * station.demand_ns * (servers(station) - 1.0) / servers(station));
    Solved { throughput_per_s: throughput * 1e9, response_ns, present: waits.collect() }
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
    fn many_requests_reach_the_slowest_station_and_obey_littles_law() {
        let stations = [Station::new(1e6, 1), Station::new(4e6, 2), Station::new(0.5e6, 1)];
        let solved = solve(&stations, 0.0, 500);
        assert!((solved.throughput_per_s - 500.0).abs() < 1.0);
        assert!((solved.present.iter().sum::<f64>() - 500.0).abs() < 1e-6);
    }
}
