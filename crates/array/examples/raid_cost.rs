//! What RAID costs per request, in nanoseconds: `cargo run --release --package plimsoll-array --example raid_cost`.
//!
//! Each line is the best of many short rounds, so that a busy machine disturbs it little. Addresses come from a table of random
//! ones, so that no branch is foreseen better than in a run.

use std::hint::black_box;
use std::time::Instant;

use plimsoll_array::raid::{Extent, Geometry, GroupSpec, Level, RowLocks, WritePlan};
use plimsoll_workload::rng::Draws;

const ROUNDS: u32 = 60;
const CALLS: usize = 32 * ADDRESSES;
const DEVICE_SECTORS: u64 = 286_749_488;
const ADDRESSES: usize = 4096;

/// Prints the least time of one call in nanoseconds.
fn measure(what: &str, mut call: impl FnMut(usize) -> u64) {
    let mut round = || {
        let begin = Instant::now();
        let sum = (0..CALLS).fold(0_u64, |sum, index| sum.wrapping_add(call(index % ADDRESSES)));
        black_box(sum);
        begin.elapsed().as_secs_f64() * 1e9 / CALLS as f64
    };
    let best = (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min);
    println!("{what:<58} {best:>8.2} ns");
}

/// Random extents of one length, aligned to 4 KiB.
fn extents(geometry: &Geometry, sectors: u32) -> Vec<Extent> {
    let draws = Draws::new(1, &[]);
    let places = (geometry.data_sectors() - u64::from(sectors)) / 8;
    (0..ADDRESSES as u64).map(|index| Extent { lba: draws.at(index) % places * 8, sectors }).collect()
}

fn spec(level: Level, devices: u16, groups: Option<u16>) -> GroupSpec {
    GroupSpec { groups, ..GroupSpec::new(level, devices, 128) }
}

fn reads(what: &str, spec: &GroupSpec, failed: Option<u16>, sectors: u32) {
    let geometry = Geometry::new(spec, DEVICE_SECTORS).expect("a group that can be");
    let extents = extents(&geometry, sectors);
    let mut members = geometry.members();
    failed.into_iter().for_each(|device| members.fail(device));
    let mut pieces = Vec::with_capacity(256);
    measure(&format!("read {} KiB, {what}", sectors / 2), |index| {
        pieces.clear();
        let geometry = black_box(&geometry);
        let xor_bytes = geometry.read(extents[index], &members, |device, lba| lba ^ u64::from(device), &mut pieces);
        xor_bytes.unwrap_or(0) + pieces.len() as u64 + pieces[0].lba
    });
}

fn writes(what: &str, spec: &GroupSpec, failed: Option<u16>, sectors: u32) {
    let geometry = Geometry::new(spec, DEVICE_SECTORS).expect("a group that can be");
    let extents = extents(&geometry, sectors);
    let mut members = geometry.members();
    failed.into_iter().for_each(|device| members.fail(device));
    let mut plan = WritePlan::default();
    measure(&format!("write {} KiB, {what}", sectors / 2), |index| {
        let lost = black_box(&geometry).write(extents[index], &members, &mut plan).is_err();
        u64::from(lost) + plan.reads.len() as u64 + plan.writes[0].lba
    });
}

/// A writer takes its rows while `outstanding` others hold theirs, and the oldest gives them up.
fn locks(outstanding: usize) {
    let geometry = Geometry::new(&spec(Level::Raid5, 48, None), DEVICE_SECTORS).expect("a group that can be");
    let (extents, members) = (extents(&geometry, 8), geometry.members());
    let rows: Vec<_> = extents
        .iter()
        .map(|&extent| {
            let mut plan = WritePlan::default();
            geometry.write(extent, &members, &mut plan).map(|()| plan.rows[0]).unwrap_or_default()
        })
        .collect();
    let (mut locks, mut granted) = (RowLocks::new(outstanding), Vec::new());
    let mut next = 0;
    for index in 0..outstanding {
        locks.acquire(index as u32, &rows[index..=index]);
    }
    measure(&format!("lock and release a row, {outstanding} outstanding"), |_| {
        let newest = (next + outstanding) % ADDRESSES;
        let held = locks.acquire(newest as u32, &rows[newest..=newest]);
        granted.clear();
        locks.release(next as u32, &mut granted);
        next = (next + 1) % ADDRESSES;
        u64::from(held) + granted.len() as u64
    });
}

fn main() {
    let (raid5, raid6) = (spec(Level::Raid5, 10, None), spec(Level::Raid6, 12, None));
    let raid50 = spec(Level::Raid50, 48, Some(4));
    reads("RAID 0 of 10", &spec(Level::Raid0, 10, None), None, 8);
    reads("RAID 10 of 8, two copies asked", &spec(Level::Raid10, 8, None), None, 8);
    reads("RAID 5 of 10", &raid5, None, 8);
    reads("RAID 6 of 12", &raid6, None, 8);
    reads("RAID 50 of 4 x 12", &raid50, None, 8);
    reads("RAID 5 of 10, one missing", &raid5, Some(3), 8);
    reads("RAID 0 of 10", &spec(Level::Raid0, 10, None), None, 2048);
    reads("RAID 5 of 10", &raid5, None, 2048);
    writes("RAID 0 of 10", &spec(Level::Raid0, 10, None), None, 8);
    writes("RAID 10 of 8", &spec(Level::Raid10, 8, None), None, 8);
    writes("RAID 5 of 10", &raid5, None, 8);
    writes("RAID 5 of 48", &spec(Level::Raid5, 48, None), None, 8);
    writes("RAID 6 of 12", &raid6, None, 8);
    writes("RAID 50 of 4 x 12", &raid50, None, 8);
    writes("RAID 5 of 10, one missing", &raid5, Some(3), 8);
    writes("RAID 5 of 10", &raid5, None, 2048);
    locks(32);
    locks(256);
}
