//! The same instants on every machine, optimised or not: a change of these numbers is a change of the model, to be meant.

#![allow(clippy::unwrap_used)]

use crate::closed_loop::{Ended, random, run};
use crate::drives;
use crate::speed_goals;
use crate::support;
use plimsoll_array::station::Account;
use plimsoll_array::{Device, DeviceSpec, Request};
use plimsoll_workload::Op;
use serde_json::{Value, json};

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
        "531c938bbf81a75c",
        "094609f4c71455e2",
        "ec9b099e54afcf94",
        "238a080ef6c6e38c",
        "97f8af5dc02c1c79",
    ];
    assert_eq!(found, expected);
}

/// Members fail, spares are rebuilt and copied back, and writes go through a cache, past one and into the host's pages.
fn stories() -> Vec<Value> {
    let mut copied_back = support::failing("raid5", 4, 1);
    copied_back["controller"][0]["copy_back"] = json!(true);
    copied_back["group"][0]["failures"]["replaced_at"] = json!([{ "time_s": 2.0, "member": 1 }]);
    copied_back["devices"][0]["model"]["buffer"]["write_bytes"] = json!(1 << 19);
    let mut destaged = support::with_failure(support::cached("raid10", 4, 256), 1);
    destaged["group"][0]["rebuild"] = json!({ "priority_percent": 40 });
    destaged["devices"][0]["model"]["capacity_bytes"] = json!(support::DISK_BYTES);
    let mut gathered = support::cached("raid6", 6, 512);
    gathered["controller"][0]["cache"]["write_cache"] = json!("off");
    gathered["controller"][0]["command_ns"] = json!(3000);
    let mut in_pieces = support::kinds().remove(4);
    in_pieces["host"]["page_cache"]["first_fetch_bytes"] = json!(16_384);
    vec![copied_back, destaged, gathered, in_pieces]
}

/// Random requests of several lengths, some of which trim or flush.
fn of_all_kinds(span: u64) -> support::Next<'static> {
    let mut drawn = support::random(11, 16, 60, span);
    Box::new(move |number| {
        let asked = drawn(number);
        match number % 29 {
            0 => Request { op: Op::Flush, lba: 0, sectors: 0 },
            1 => Request { op: Op::Trim, ..asked },
            2 => Request { lba: asked.lba.min(span - 600), sectors: 600, ..asked },
            _ => asked,
        }
    })
}

#[test]
fn arrays_with_faults_caches_and_trims_do_what_they_have_always_done() {
    let of_story = |document: &Value| {
        let mut array = support::built(document, 3);
        let span = array.sectors() / 40;
        let seen = support::closed(&mut array, 12, (0, 4000), of_all_kinds(span));
        array.run_until(array.now_ns() + 200 * support::SECOND, &mut Vec::new());
        let told = array.incidents().iter().flat_map(|one| [one.time_ns, u64::from(one.member), one.what as u64]);
        let moved = array.readings().into_iter().map(|reading| reading.account.bytes);
        let instants = seen.times.iter().flat_map(|&(begin_ns, end_ns)| [begin_ns, end_ns]);
        (array.incidents().len(), format!("{:016x}", fingerprint(instants.chain(told).chain(moved))))
    };
    let found: Vec<(usize, String)> = stories().iter().map(of_story).collect();
    let expected = [(6, "ae70a536117d3859"), (3, "1c794daa337df0c5"), (0, "bd74cff1558bf83e"), (0, "87dae9214f617627")];
    assert_eq!(found, expected.map(|(told, print)| (told, print.to_string())));
}
