//! The same instants on every machine, optimised or not: a change of these numbers is a change of the model, to be meant.

#![allow(clippy::unwrap_used)]

mod closed_loop;
mod drives;
mod speed_goals;
mod support;

use closed_loop::{Ended, random, run};
use plimsoll_array::station::Account;
use plimsoll_array::{Device, DeviceSpec};
use serde_json::Value;

/// FNV-1a.
fn fingerprint(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0xcbf2_9ce4_8422_2325, |hash, number| (hash ^ number).wrapping_mul(0x0000_0100_0000_01b3))
}

fn of(spec: DeviceSpec) -> String {
    let mut device = Device::new(&spec, 20, 3).expect("the specification is right");
    let span = device.sectors() / 7;
    let ended: Vec<Ended> = run(&mut device, 12, 20_000, random(1, span, 16, 30));
    format!("{:016x}", fingerprint(ended.iter().flat_map(|one| [u64::from(one.handle), one.ended_ns])))
}

#[test]
fn devices_do_what_they_have_always_done() {
    let found = [
        of(DeviceSpec::Disk(drives::savvio_10k1())),
        of(DeviceSpec::Disk(drives::cheetah_15k4())),
        of(DeviceSpec::Disk(drives::savvio_10k4())),
        of(DeviceSpec::Flash(drives::flash())),
    ];
    assert_eq!(found, ["f9f118cbffdd126f", "4511238505eb5fe0", "47dadd07dd93a135", "7cbaa7d21fbd6c59"]);
}

/// Of the instants of so many random requests, half of them near one another.
fn of_array(document: &Value, (population, count, read_percent): (u32, u64, u64)) -> String {
    let mut array = support::built(document, 3);
    let (near, far) = (array.sectors() / 400, array.sectors());
    let mut draws = [support::random(7, 16, read_percent, near), support::random(8, 16, read_percent, far)];
    let next = move |number: u64| draws[(number % 2) as usize](number);
    let seen = support::closed(&mut array, population, (0, count), Box::new(next));
    let readings = array.readings().into_iter().flat_map(|reading| {
        let both = |read: fn(&Account) -> u64| read(&reading.account) + read(&reading.opposite);
        let [busy_ns, resident_ns] = [both(|one| one.busy_ns), both(|one| one.resident_ns)];
        [busy_ns, resident_ns, both(|one| one.operations), both(|one| one.bytes), reading.hits, reading.dirty.0]
    });
    let instants = seen.times.into_iter().flat_map(|(begin_ns, end_ns)| [begin_ns, end_ns]);
    format!("{:016x}", fingerprint(instants.chain(readings)))
}

#[test]
fn arrays_do_what_they_have_always_done() {
    let mut documents = support::kinds();
    documents.extend([speed_goals::raid0(), speed_goals::raid5()]);
    let found: Vec<String> = documents.iter().map(|document| of_array(document, (24, 6000, 60))).collect();
    let expected = [
        "d306efbb01f9ffae",
        "45b3968ae3515236",
        "35914b01664b0823",
        "999511878f648af6",
        "ec9b099e54afcf94",
        "238a080ef6c6e38c",
        "97f8af5dc02c1c79",
    ];
    assert_eq!(found, expected);
}
