//! What queueing theory knows, measured through the whole engine on the modelled server in virtual time.
//!
//! Sources: L. Kleinrock, Queueing Systems I (1975): M/M/1 response 1/(μ − λ), exponentially distributed (3.2);
//! M/G/1 by Pollaczek and Khinchine (5.6); M/M/c by Erlang's C formula (3.5). J. D. C. Little (1961): L = λ W.
//! Service takes 1 ms on average everywhere, so μ = 1,000/s per server.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_workload::Op;
use serde_json::{Value, json};
use support::*;

/// Poisson arrivals at `rate_per_s` for `requests` requests on average.
fn poisson(target: &str, rate_per_s: u64, requests: u64) -> Finished {
    let stream = json!({ "arrival": "poisson", "rate": rate_per_s, "queue_depth": 8192 });
    let duration_s = requests / rate_per_s;
    let times = json!({ "duration": format!("{duration_s}s"), "warmup": "10s", "interval": format!("{}s", duration_s / 10), "seed": 1 });
    finish(&job(target, stream, times))
}

/// Standard error of the mean waiting time of M/M/1 over n requests, as a share of the response: D. J. Daley, The serial correlation
/// coefficients of waiting times in a stationary single server queue (1968): variance of the sum → ρ (2 + 5ρ − 4ρ² + ρ³)
/// / (1 − ρ)⁴ per request (in units of 1/μ²). The numbers of requests below keep it at or below 0.5 %.
fn standard_error(rho: f64, requests: u64) -> f64 {
    let variance = rho * (2.0 + 5.0 * rho - 4.0 * rho.powi(2) + rho.powi(3)) / (1.0 - rho).powi(4);
    (variance / requests as f64).sqrt() * (1.0 - rho)
}

#[test]
fn mm1_at_half_load_responds_in_two_service_times() {
    let finished = poisson("queue:?service=exp:1ms", 500, 1_000_000);
    let reads = cell(&finished.measured, 0, Op::Read);
    assert!(standard_error(0.5, 1_000_000) < 0.005);
    assert_near("mean response", mean_ns(reads), 2e6, 0.01); // 1 / (1000 − 500) s
    assert_near("throughput", reads.count() as f64, 1e6, 0.01);
    assert_eq!(finished.outcome.unissued, 0);
}

#[test]
fn mm1_at_four_fifths_responds_in_five_service_times() {
    let finished = poisson("queue:?service=exp:1ms", 800, 4_000_000);
    assert!(standard_error(0.8, 4_000_000) < 0.005);
    assert_near("mean response", mean_ns(cell(&finished.measured, 0, Op::Read)), 5e6, 0.01); // 1 / (1000 − 800) s
}

#[test]
fn mm1_at_nine_tenths_responds_in_ten_service_times() {
    let finished = poisson("queue:?service=exp:1ms", 900, 14_400_000);
    assert!(standard_error(0.9, 14_400_000) < 0.005);
    assert_near("mean response", mean_ns(cell(&finished.measured, 0, Op::Read)), 10e6, 0.01); // 1 / (1000 − 900) s
}

#[test]
fn mm1_response_is_exponential_at_every_percentile() {
    let finished = poisson("queue:?service=exp:1ms", 500, 2_000_000);
    let latency = &cell(&finished.measured, 0, Op::Read).latency;
    for quantile in [0.1, 0.5, 0.9, 0.99] {
        let expected = -(1.0_f64 - quantile).ln() * 2e6; // inverse of 1 − exp(−t (μ − λ))
        assert_near(&format!("p{}", quantile * 100.0), latency.value_at_quantile(quantile) as f64, expected, 0.015);
    }
}

#[test]
fn with_slots_to_spare_requests_wait_in_the_server_and_never_lag() {
    let finished = poisson("queue:?service=const:1ms", 500, 100_000);
    let reads = cell(&finished.measured, 0, Op::Read);
    // Slots are never short here, so a request is handed over when it is due and waits inside the server.
    assert_eq!(reads.service_sum_ns, reads.latency_sum_ns);
    assert_eq!(finished.measured.lag.as_ref().unwrap().max(), 0, "virtual time has no lag");
    assert_eq!(finished.measured.late, 0);
}

#[test]
fn md1_waits_half_as_long_as_mm1() {
    let finished = poisson("queue:?service=const:1ms", 800, 2_000_000);
    // Pollaczek–Khinchine without variance: s + ρ s / (2 (1 − ρ)) = 1 + 0.8 / 0.4 ms.
    assert_near("mean response", mean_ns(cell(&finished.measured, 0, Op::Read)), 3e6, 0.01);
}

#[test]
fn mg1_with_uniform_service_follows_pollaczek_and_khinchine() {
    let finished = poisson("queue:?service=uniform:500us-1500us", 800, 2_000_000);
    // E[S²] = 1 + 1/12 ms²; s + λ E[S²] / (2 (1 − ρ)) = 1 + 0.8 · 1.08333 / 0.4 ms.
    assert_near("mean response", mean_ns(cell(&finished.measured, 0, Op::Read)), 3.166_667e6, 0.01);
}

#[test]
fn mm2_waits_as_erlang_says() {
    let finished = poisson("queue:?service=exp:1ms&servers=2", 1600, 4_000_000);
    // a = 1.6, ρ = 0.8: C = (a²/2 / (1 − ρ)) / (1 + a + a²/2 / (1 − ρ)) = 6.4 / 9; 1/μ + C / (2μ − λ) = 1 + 0.7111 / 0.4 ms.
    assert_near("mean response", mean_ns(cell(&finished.measured, 0, Op::Read)), 2.777_778e6, 0.01);
}

#[test]
fn a_poisson_stream_of_many_threads_is_one_poisson_process() {
    let stream = json!({ "arrival": "poisson", "rate": 500, "threads": 16, "queue_depth": 512 });
    let times = json!({ "duration": "2000s", "warmup": "10s", "interval": "200s" });
    let finished = finish(&job("queue:?service=exp:1ms", stream, times));
    assert_near("mean response", mean_ns(cell(&finished.measured, 0, Op::Read)), 2e6, 0.01); // as with one thread
}

#[test]
fn the_number_outstanding_obeys_littles_law() {
    let finished = poisson("queue:?service=exp:1ms", 800, 800_000);
    let reads = cell(&finished.measured, 0, Op::Read);
    let arrivals_per_ns = reads.count() as f64 / 1000e9;
    // Both sides are measured over the same time; they differ by the requests at its two ends only.
    assert_near("L = λ W", finished.in_flight_mean(), arrivals_per_ns * mean_ns(reads), 0.001);
    assert_near("L = ρ / (1 − ρ)", finished.in_flight_mean(), 4.0, 0.05);
}

fn closed(stream: Value, service: &str) -> Finished {
    let times = json!({ "duration": "20s", "warmup": "1s" });
    finish(&job(&format!("queue:?service={service}"), stream, times))
}

#[test]
fn a_closed_loop_keeps_a_constant_server_busy_and_waits_its_turn() {
    let finished = closed(json!({ "queue_depth": 8, "threads": 4 }), "const:1ms");
    let reads = cell(&finished.measured, 0, Op::Read);
    assert_eq!(reads.count(), 20_000, "one per millisecond of 20 s");
    assert_eq!(mean_ns(reads), 32e6, "32 requests take turns of 1 ms");
    assert_eq!((reads.latency.min() / MS, reads.latency.max() / MS), (31, 32), "all alike, within 1/1024");
    assert_eq!(finished.in_flight_mean(), 32.0, "always 4 × 8");
    assert_eq!(reads.bytes, 20_000 * 4096);
}

#[test]
fn a_closed_loop_of_equal_exponential_servers_completes_n_per_mean() {
    let finished = closed(json!({ "queue_depth": 8 }), "exp:1ms&servers=8");
    let reads = cell(&finished.measured, 0, Op::Read);
    assert_near("throughput = n / mean", reads.count() as f64 / 20.0, 8.0 / (mean_ns(reads) / 1e9), 0.001);
    assert_near("nobody waits", mean_ns(reads), 1e6, 0.01);
}

#[test]
fn think_time_follows_the_interactive_response_time_law() {
    let finished = closed(json!({ "queue_depth": 10, "think_time": "5ms" }), "exp:1ms");
    let reads = cell(&finished.measured, 0, Op::Read);
    // P. J. Denning, J. P. Buzen (1978): X = N / (R + Z).
    let expected_per_s = 10.0 / ((mean_ns(reads) + 5e6) / 1e9);
    assert_near("throughput", reads.count() as f64 / 20.0, expected_per_s, 0.001);
}

#[test]
fn bursts_of_an_access_list_pause_before_each_burst() {
    let access = json!([{ "size": "4KiB", "burst": 4, "delay": "6ms" }]);
    let finished = closed(json!({ "access": access }), "const:1ms");
    // 6 ms of pause and 4 requests of 1 ms: 4 requests per 10 ms.
    assert_eq!(cell(&finished.measured, 0, Op::Read).count(), 8_000);
    assert_eq!(mean_ns(cell(&finished.measured, 0, Op::Read)), 1e6, "the pause is no latency");
}

fn mixed(seed: u64) -> Vec<Value> {
    let stream = json!({ "read_percent": 70, "arrival": "poisson", "rate": 5000, "queue_depth": 64, "threads": 3 });
    let times = json!({ "duration": "3s", "warmup": "1s", "seed": seed });
    finish(&job("queue:?service=exp:1ms&servers=8&error_percent=0", stream, times)).stored
}

#[test]
fn equal_seeds_give_equal_intervals_and_others_differ() {
    assert_eq!(mixed(7), mixed(7));
    assert_ne!(mixed(7), mixed(8));
}

#[test]
fn the_target_can_name_a_seed_of_its_own() {
    let counts = |seed: u64| {
        let times = json!({ "duration": "2s", "warmup": "0s", "seed": seed });
        let finished = finish(&job("queue:?service=exp:1ms&seed=5", json!({}), times));
        cell(&finished.measured, 0, Op::Read).latency_sum_ns
    };
    assert_eq!(counts(1), counts(2), "a closed loop of one kind of request depends on the service times only");
}

#[test]
fn the_warm_up_is_no_part_of_the_result() {
    let stream = json!({ "arrival": "constant", "rate": 1000, "queue_depth": 4096 });
    let times = json!({ "duration": "3s", "warmup": "2s", "interval": "500ms" });
    let finished = finish(&job("queue:?service=const:100us&stall=0s+1s", stream, times));
    let reads = cell(&finished.measured, 0, Op::Read);
    assert_eq!(reads.count(), 3_000, "1,000/s in 3 s");
    assert_eq!(reads.latency_sum_ns, 3_000 * 100_000, "nothing of the stall in the warm-up");
    assert_eq!(cell(&finished.everything, 0, Op::Read).count(), 5_000);
    assert!(cell(&finished.everything, 0, Op::Read).latency.max() > 990 * MS);
    finished.assert_continuous();
    let phases: Vec<_> = finished.spans.iter().map(|span| span.phase.name()).collect();
    assert_eq!(phases, [&["warmup"; 4][..], &["measure"; 6], &["drain"]].concat());
}
