//! At queue depth 1 every response is the sum of its parts, to the nanosecond; and a model with a planted fault is not.

use crate::by_hand::ByHand;
use crate::drives;
use plimsoll_array::disk::DiskSpec;
use plimsoll_array::{Command, Device, DeviceSpec};
use plimsoll_workload::rng::Draws;

const SEED: u64 = 3;
const COMMANDS: u32 = 4_000;

/// Compares a model with a sum by hand of another specification; `Err` says how the first difference looks.
///
/// `seek_error_ns` is by how much the table of movements may be off: a sector that is reached more narrowly is not
/// compared.
fn compare(modelled: &DiskSpec, summed: &DiskSpec, seek_error_ns: f64) -> Result<u32, String> {
    let mut device = Device::new(&DeviceSpec::Disk(modelled.clone()), SEED, 1).map_err(|error| error.to_string())?;
    let mut by_hand = ByHand::new(summed, SEED, 1);
    let (draws, mut started) = (Draws::new(SEED, &[9]), Vec::new());
    let (mut now_ns, mut compared) = (0, 0);
    for handle in 0..COMMANDS {
        let draw = |purpose: u64| draws.at(u64::from(handle) * 8 + purpose) >> 8;
        let sectors = [1, 8, 16, 128, 700, 5_000][(draw(1) % 6) as usize];
        // One in four stays near, so that changes of head and short movements are seen too.
        let near = device.sectors() / 3 + draw(3) % 4_000;
        let lba = if draw(2) % 4 == 0 { near } else { draw(3) % (device.sectors() - 5_000) };
        let command = Command { handle, write: draw(4) % 2 == 0, lba, sectors };
        device.offer(command, now_ns);
        device.start(now_ns, &mut started);
        let (_, end_ns) = started.pop().ok_or("nothing started")?;
        let sum = by_hand.carry_out(now_ns, command.write, lba, u64::from(sectors));
        if sum.margin_ns > seek_error_ns {
            compared += 1;
            if (end_ns as f64 - sum.end_ns).abs() > 5.0 + f64::from(sectors) / 1e3 {
                return Err(format!("{command:?} ends at {end_ns}, by hand at {}", sum.end_ns));
            }
        }
        device.finish(handle, end_ns);
        now_ns = end_ns + draw(5) % 30_000_000;
    }
    Ok(compared)
}

/// Real drives have seek tables with steps; a small disk has a step per cylinder, whose only error is rounding.
fn without_buffer(spec: DiskSpec) -> DiskSpec {
    DiskSpec { buffer: drives::no_buffer(), ..spec }
}

#[test]
fn every_response_of_a_small_disk_is_the_sum_of_its_parts() {
    let compared = compare(&drives::small(), &drives::small(), 2.0).unwrap();
    assert!(compared > COMMANDS - 10, "{compared}");
}

#[test]
fn every_response_of_the_drives_is_the_sum_of_its_parts() {
    for (name, spec) in drives::all() {
        let spec = without_buffer(spec);
        // A step of 32 cylinders is worth 10 µs at most.
        let compared = compare(&spec, &spec, 10_000.0).unwrap_or_else(|difference| panic!("{name}: {difference}"));
        assert!(compared > COMMANDS * 98 / 100, "{name}: {compared}");
    }
}

#[test]
fn an_overhead_that_does_not_overlap_is_the_same_at_queue_depth_1() {
    let serial = DiskSpec { overlapped_overhead: false, ..drives::small() };
    compare(&serial, &drives::small(), 2.0).unwrap();
}

/// Makes a specification wrong.
type Plant = fn(&mut DiskSpec);

#[test]
fn planted_faults_are_caught() {
    let right = drives::small();
    let faults: [(&str, Plant); 14] = [
        ("the settle before writes is forgotten", |spec| spec.write_seek = spec.read_seek),
        ("reads settle too", |spec| spec.read_seek = spec.write_seek),
        ("the overhead is forgotten", |spec| spec.command_overhead_us = 0),
        ("the overhead is a tenth long", |spec| spec.command_overhead_us += 30),
        ("the platter turns a thousandth too fast", |spec| spec.rotation_rpm += 7),
        ("the average seek is 1 % long", |spec| spec.read_seek.average_us += 60),
        ("the full stroke is 1 % long", |spec| spec.read_seek.full_stroke_us += 123),
        ("a step to the next track is 0.1 ms long", |spec| spec.read_seek.single_track_us += 100),
        ("a change of head is free", |spec| spec.read_head_switch_us = Some(0)),
        ("a change of head before a write is free", |spec| spec.write_head_switch_us = Some(0)),
        ("tracks are skewed by 1 us more", |spec| spec.track_skew_us = Some(1_001)),
        ("cylinders are skewed by 1 us more", |spec| spec.cylinder_skew_us = Some(1_501)),
        ("the outer tracks hold 1 % less", |spec| spec.outer_rate_bytes_per_s -= 450_000),
        ("there is one zone less", |spec| spec.zones -= 1),
    ];
    for (fault, plant) in faults {
        let mut wrong = right.clone();
        plant(&mut wrong);
        assert!(compare(&wrong, &right, 2.0).is_err(), "not caught: {fault}");
    }
}
