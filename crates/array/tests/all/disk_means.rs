//! What a datasheet promises: mean access, rates at the edges, and what a queue brings.

use crate::closed_loop;
use crate::closed_loop::{mean_ns, per_s, random, random_reads, run, sequential, steady_per_s};
use crate::drives;
use plimsoll_array::disk::{BufferSpec, DiskModel, DiskSpec, Policy, QueueSpec};
use plimsoll_array::{Device, DeviceModel, DeviceSpec};
use plimsoll_workload::rng::Draws;

const SECTOR_BYTES: f64 = 512.0;

fn device(spec: &DiskSpec) -> Device {
    Device::new(&DeviceSpec::Disk(spec.clone()), 11, 0).expect("the specification is right")
}

fn with_queue(spec: &DiskSpec, policy: Policy, window: u32, age_limit_ms: u32) -> DiskSpec {
    DiskSpec { queue: QueueSpec { policy, window, age_limit_ms, write_window: None }, ..spec.clone() }
}

/// Overhead, a mean seek, half a turn and 8 KiB at the mean of both rates, whose skews a short transfer does not pay.
fn sum_ns(spec: &DiskSpec, seek_ms: f64) -> f64 {
    let turn_ns = 60e9 / f64::from(spec.rotation_rpm);
    let [track_us, cylinder_us] = spec.skew_us().map(f64::from);
    let heads = f64::from(spec.heads);
    let within_track = 1.0 + ((heads - 1.0) * track_us + cylinder_us) * 1e3 / (heads * turn_ns);
    let rate = f64::midpoint(spec.outer_rate_bytes_per_s as f64, spec.inner_rate_bytes_per_s as f64) * within_track;
    f64::from(spec.command_overhead_us) * 1e3 + seek_ms * 1e6 + turn_ns / 2.0 + 16.0 * SECTOR_BYTES / rate * 1e9
}

#[test]
fn a_read_of_a_random_cylinder_takes_overhead_mean_seek_half_a_turn_and_its_transfer() {
    for (name, spec) in drives::all() {
        let model = DiskModel::new(&spec).expect("the specification is right");
        let (geometry, draws) = (model.geometry(), Draws::new(5, &[0]));
        // As a datasheet means it: all cylinders alike, although the outer ones hold more.
        let want = |index: u32| {
            let draw = |purpose| draws.at(u64::from(index) * 2 + purpose) >> 20;
            let cylinder = draw(0) as u32 % geometry.cylinders();
            let zone = geometry.zones().iter().rev().find(|zone| zone.first_cylinder() <= cylinder).expect("a zone");
            let per_cylinder = u64::from(zone.sectors_per_track() * geometry.heads());
            let first = zone.first_lba() + u64::from(cylinder - zone.first_cylinder()) * per_cylinder;
            let lba = (first + draw(1) % per_cylinder).min(geometry.sectors() - 16);
            closed_loop::Want { write: false, lba, sectors: 16 }
        };
        let found_ns = mean_ns(&run(&mut device(&spec), 1, 100_000, want));
        let sum_ns = sum_ns(&spec, f64::from(spec.read_seek.average_us) / 1e3);
        println!(
            "{name}: {:.4} ms, sum {:.4} ms, {:+.2} %",
            found_ns / 1e6,
            sum_ns / 1e6,
            (found_ns / sum_ns - 1.0) * 100.0
        );
        assert!((found_ns / sum_ns - 1.0).abs() < 0.005, "{name}: {found_ns} for {sum_ns}");
    }
}

#[test]
fn a_read_of_a_random_address_seeks_less_because_outer_cylinders_hold_more() {
    for (name, spec) in drives::all() {
        let model = DiskModel::new(&spec).expect("the specification is right");
        let sectors = model.geometry().sectors();
        let draws = Draws::new(6, &[0]);
        let cylinder = |index| f64::from(model.geometry().locate(draws.at(index) % sectors).cylinder);
        let pairs = 400_000;
        let distances = (0..pairs).map(|pair| (cylinder(2 * pair) - cylinder(2 * pair + 1)).abs());
        let seek_ms = distances.map(|distance| model.seek_curves()[0].at_ms(distance)).sum::<f64>() / pairs as f64;
        let found_ns = mean_ns(&run(&mut device(&spec), 1, 100_000, random_reads(5, sectors, 16)));
        let [weighted_ns, datasheet_ns] =
            [seek_ms, f64::from(spec.read_seek.average_us) / 1e3].map(|ms| sum_ns(&spec, ms));
        println!("{name}: {:+.2} % of the datasheet's sum", (found_ns / datasheet_ns - 1.0) * 100.0);
        assert!((found_ns / weighted_ns - 1.0).abs() < 0.005, "{name}: {found_ns} for {weighted_ns}");
        assert!((0.985..1.0).contains(&(found_ns / datasheet_ns)), "{name}: {found_ns} for {datasheet_ns}");
    }
}

#[test]
fn a_long_read_reaches_the_rates_of_the_datasheet_at_both_edges() {
    for (name, spec) in drives::all() {
        // In order of arrival: shortest positioning may begin with the second of the first four and come back later.
        let spec = with_queue(&spec, Policy::Fcfs, 1, 0);
        for depth in [1, 4] {
            let (sectors, commands) = (512_u32, 1_000);
            let inner = device(&spec).sectors() - u64::from(sectors) * u64::from(commands);
            let rate_at =
                |from| steady_per_s(&run(&mut device(&spec), depth, commands, sequential(from, sectors, false)));
            for (edge, from, rate) in
                [("outer", 0, spec.outer_rate_bytes_per_s), ("inner", inner, spec.inner_rate_bytes_per_s)]
            {
                let found = rate_at(from) * f64::from(sectors) * SECTOR_BYTES;
                println!(
                    "{name}, {edge}, depth {depth}: {:.2} MB/s, {:+.2} %",
                    found / 1e6,
                    (found / rate as f64 - 1.0) * 100.0
                );
                assert!((found / rate as f64 - 1.0).abs() < 0.01, "{name}, {edge}, depth {depth}: {found}");
            }
        }
    }
}

#[test]
fn queued_sequential_writes_reach_the_same_rate_and_single_ones_lose_a_turn() {
    let spec = drives::savvio_10k1();
    let rate =
        |depth| steady_per_s(&run(&mut device(&spec), depth, 400, sequential(0, 512, true))) * 512.0 * SECTOR_BYTES;
    assert!((rate(4) / spec.outer_rate_bytes_per_s as f64 - 1.0).abs() < 0.01, "{}", rate(4));
    // 4.03 ms of transfer and, because the next command is known only afterwards, the rest of a turn or two.
    let turns = 512.0 * SECTOR_BYTES / rate(1) / 6e-3;
    assert!((1.6..1.8).contains(&turns), "{turns}");
    let buffer = BufferSpec { write_bytes: 4 << 20, ..spec.buffer.clone() };
    let reported = DiskSpec { buffer, ..spec.clone() };
    let early = steady_per_s(&run(&mut device(&reported), 1, 400, sequential(0, 512, true))) * 512.0 * SECTOR_BYTES;
    assert!(early > spec.outer_rate_bytes_per_s as f64 * 0.99, "{early}");
}

#[test]
fn shortest_positioning_beats_the_elevator_and_that_beats_order_of_arrival() {
    for (name, spec) in drives::all() {
        for depth in [4, 16, 32, 64] {
            let throughput = |policy| {
                let mut disk = device(&with_queue(&spec, policy, 64, 0));
                let sectors = disk.sectors();
                per_s(&run(&mut disk, depth, 20_000, random(7, sectors, 16, 30)))
            };
            let [sptf, look, fcfs] = [Policy::Sptf, Policy::CLook, Policy::Fcfs].map(throughput);
            println!("{name}, depth {depth}: sptf {sptf:.0}/s, c_look {look:.0}/s, fcfs {fcfs:.0}/s");
            assert!(sptf > look * 1.02 && look > fcfs * 1.02, "{name}, depth {depth}: {sptf} {look} {fcfs}");
        }
    }
}

#[test]
fn throughput_rises_with_queue_depth_and_ends_with_the_window() {
    for (name, spec) in drives::all() {
        let throughput = |depth, window| {
            let mut disk = device(&with_queue(&spec, Policy::Sptf, window, 0));
            let sectors = disk.sectors();
            per_s(&run(&mut disk, depth, 30_000, random_reads(7, sectors, 16)))
        };
        let rising: Vec<f64> = [1, 2, 4, 8, 16, 32, 64].into_iter().map(|depth| throughput(depth, 64)).collect();
        println!("{name}: {rising:.0?}");
        assert!(rising.windows(2).all(|pair| pair[1] > pair[0] * 1.02), "{name}: {rising:?}");
        // Beyond the window nothing is gained: 64 waiting with a window of 8 are as good as 9 waiting.
        let bounded = throughput(64, 8) / throughput(9, 8);
        assert!((bounded - 1.0).abs() < 0.02, "{name}: {bounded}");
    }
}

#[test]
fn a_queue_longer_than_the_drive_can_carry_out_within_the_age_limit_costs_nothing() {
    // Of 1,024 commands the last one waits for several seconds, most of them before the drive hears of it.
    for (name, spec) in drives::all() {
        let throughput = |depth| {
            let mut disk = device(&with_queue(&spec, Policy::Sptf, 32, 500));
            let sectors = disk.sectors();
            per_s(&run(&mut disk, depth, 10_000, random_reads(7, sectors, 16)))
        };
        let [usual, long, longest] = [32, 128, 1024].map(throughput);
        println!("{name}: {usual:.0} {long:.0} {longest:.0}");
        assert!(long > usual * 0.99 && longest > usual * 0.99, "{name}: {usual} {long} {longest}");
    }
}

#[test]
fn first_come_first_served_does_not_gain_from_a_queue_but_the_overhead() {
    let spec = with_queue(&drives::savvio_10k1(), Policy::Fcfs, 1, 0);
    let response_ns = |depth| {
        let mut disk = device(&spec);
        let sectors = disk.sectors();
        1e9 / per_s(&run(&mut disk, depth, 40_000, random_reads(7, sectors, 16)))
    };
    let gained_ns = response_ns(1) - response_ns(16);
    assert!((gained_ns / 200_000.0 - 1.0).abs() < 0.15, "{gained_ns}");
    let serial = DiskSpec { overlapped_overhead: false, ..spec.clone() };
    let mut disk = device(&serial);
    let sectors = disk.sectors();
    let serial_ns = 1e9 / per_s(&run(&mut disk, 16, 40_000, random_reads(7, sectors, 16)));
    assert!((serial_ns / response_ns(1) - 1.0).abs() < 0.01, "{serial_ns}");
}

#[test]
fn the_age_limit_bounds_the_wait_of_a_command_that_is_never_nearest() {
    // Everything happens at the outer edge but for one command at the inner edge now and then.
    let longest_ms = |age_limit_ms| {
        let mut disk = device(&with_queue(&drives::savvio_10k1(), Policy::Sptf, 32, age_limit_ms));
        let (edge, end) = (2_000_000, disk.sectors() - 16);
        let mut near = random_reads(7, edge, 16);
        let ended = run(&mut disk, 32, 20_000, |index| {
            let want = near(index);
            closed_loop::Want { lba: if index % 2_000 == 1_000 { end } else { want.lba }, ..want }
        });
        ended.iter().map(|one| one.response_ns()).max().unwrap_or(0) as f64 / 1e6
    };
    let (unbounded, bounded, tight) = (longest_ms(0), longest_ms(500), longest_ms(100));
    println!("longest response: {unbounded:.0} ms without, {bounded:.0} ms with 500, {tight:.0} ms with 100");
    // One command under way, those that are older (at most 31), and its own service, none longer than 15 ms.
    let service_ms = 15.0;
    assert!(unbounded > 1_000.0, "{unbounded}");
    assert!(bounded < 500.0 + 33.0 * service_ms, "{bounded}");
    assert!(tight < 100.0 + 33.0 * service_ms, "{tight}");
}

#[test]
fn ten_disks_of_one_model_do_what_ten_models_do() {
    let spec = DeviceSpec::Disk(drives::savvio_10k1());
    let model = DeviceModel::new(&spec).expect("the specification is right");
    for number in 0..10 {
        let mut shared = model.device(11, number);
        let mut own = Device::new(&spec, 11, number).expect("the specification is right");
        let sectors = own.sectors();
        let reads = || random_reads(u64::from(number), sectors, 16);
        assert_eq!(run(&mut shared, 4, 500, reads()), run(&mut own, 4, 500, reads()));
    }
}
