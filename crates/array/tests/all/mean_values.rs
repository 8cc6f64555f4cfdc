//! Mean values between one request and saturation, against a network that is simulated: exponential service, in order of arrival.

#![allow(clippy::unwrap_used)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_array::mva::{Station, solve};
use plimsoll_array::station::Station as Server;
use plimsoll_workload::rng::{Draws, unit};

/// Sets of equal stations, of which a request visits one each: (how many, servers, mean service).
type Sets = [(u32, u32, f64)];

/// Rounds per second of `population` requests that go from set to set.
fn simulated(sets: &Sets, population: u32, rounds: u64) -> f64 {
    let mut servers: Vec<Vec<Server>> =
        sets.iter().map(|&(count, servers, _)| (0..count).map(|_| Server::new(servers)).collect()).collect();
    let draws = Draws::new(3, &[5]);
    let mut drawn = 0;
    let mut draw = || {
        drawn += 1;
        draws.at(drawn)
    };
    let mut arriving: BinaryHeap<_> = (0..population).map(|request| Reverse((0_u64, request, 0_usize))).collect();
    let (mut completed, mut now_ns) = (0, 0);
    while completed < rounds {
        let Reverse((arrived_ns, request, set)) = arriving.pop().unwrap();
        now_ns = arrived_ns;
        let (count, _, mean_ns) = sets[set];
        let place = (draw() % u64::from(count)) as usize;
        let service_ns = (-(1.0 - unit(draw())).ln() * mean_ns) as u64;
        let end_ns = servers[set][place].visit(now_ns, service_ns);
        let next = (set + 1) % sets.len();
        completed += u64::from(next == 0);
        arriving.push(Reverse((end_ns, request, next)));
    }
    rounds as f64 * 1e9 / now_ns as f64
}

#[test]
fn mean_values_agree_with_a_simulated_network_at_every_number_of_requests() {
    // A host of two cores, a bus and eight disks; then a processor and 16 dies behind four channels. Stations of several servers
    // were taken for a faster one and a delay, which was 8 % off in the middle of the second.
    let networks: [&Sets; 3] = [
        &[(1, 2, 0.4e6), (1, 1, 0.5e6), (8, 1, 6e6)],
        &[(1, 1, 0.02e6), (1, 4, 0.09e6), (1, 16, 0.4e6)],
        &[(1, 1, 1e6), (1, 1, 0.8e6)],
    ];
    for sets in networks {
        let stations: Vec<Station> = sets
            .iter()
            .flat_map(|&(count, servers, mean_ns)| {
                std::iter::repeat_n(Station::new(mean_ns / f64::from(count), servers), count as usize)
            })
            .collect();
        for population in [1, 2, 3, 5, 8, 12, 16, 24, 32, 64] {
            let analysed = solve(&stations, 0.0, population).throughput_per_s;
            let found = simulated(sets, population, 200_000);
            let off = found / analysed - 1.0;
            assert!(
                off.abs() < 0.03,
                "{sets:?} with {population}: simulated {found}, analysed {analysed}, {:.1} % off",
                off * 100.0
            );
        }
    }
}
