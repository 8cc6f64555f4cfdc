//! What holds for every array: requests are conserved, Little's law, monotony, reproducibility, bounded memory.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::bounds::{Load, demands, expected, limit};
use plimsoll_array::{Array, ArraySpec, Completion, ComponentUse, Request};
use plimsoll_workload::Op;
use plimsoll_workload::rng::Draws;
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_request_ends_once_and_not_before_it_began(
        steps in prop::collection::vec((0_u64..4, 0_u64..60_000, 1_u32..300, 0_u64..3_000_000), 1..150),
        kind in 0_usize..5,
    ) {
        let mut array = built(&kinds()[kind], 3);
        let mut began = Vec::new();
        let mut ended = vec![0; steps.len()];
        let mut done: Vec<Completion> = Vec::new();
        let mut now_ns = 0;
        for (token, (op, lba, sectors, pause_ns)) in steps.into_iter().enumerate() {
            let op = [Op::Read, Op::Write, Op::Trim, Op::Flush][op as usize];
            let sectors = if op == Op::Flush { 0 } else { sectors };
            // A quarter of the addresses repeat, so that caches hit and rows conflict.
            let lba = if lba % 4 == 0 { lba % 512 } else { lba * 1000 };
            array.submit(now_ns, token as u32, Request { op, lba, sectors });
            began.push(now_ns);
            now_ns += pause_ns;
            while array.next_ns().is_some_and(|next_ns| next_ns <= now_ns) {
                array.run_until(now_ns, &mut done);
            }
        }
        while !done.is_empty() || array.next_ns().is_some() {
            array.run_until(u64::MAX, &mut done);
            for finished in done.drain(..) {
                prop_assert!(!finished.failed);
                prop_assert!(finished.completed_ns >= began[finished.token as usize]);
                ended[finished.token as usize] += 1;
            }
        }
        prop_assert!(ended.iter().all(|&times| times == 1), "{:?}", ended);
        prop_assert_eq!(array.under_way(), 0);
    }
}

#[test]
fn littles_law_holds_of_what_comes_out() {
    for document in kinds() {
        let mut array = built(&document, 1);
        let span = array.sectors();
        let seen = closed(&mut array, 16, (0, 4000), random(7, 16, 70, span));
        let present = seen.per_s() * seen.mean_ns() / 1e9;
        // At the ends fewer than 16 are present, for a mean response at each.
        assert!((present - 16.0).abs() < 0.2, "{present} in {}", document["name"]);
    }
}

#[test]
fn more_requests_at_once_give_no_less() {
    for document in [array("raid0", 8), array("raid5", 8), cached("raid10", 8, 1024)] {
        let mut before = 0.0;
        for population in [1, 2, 4, 8, 16, 32, 64] {
            let mut array = built(&document, 1);
            let span = array.sectors();
            let per_s = closed(&mut array, population, (0, 6000), random(7, 16, 100, span)).per_s();
            assert!(per_s > before, "{per_s} with {population}, {before} before");
            before = per_s;
        }
    }
}

#[test]
fn more_requests_than_the_drives_take_give_no_less() {
    let sptf = |mut document: Value| {
        document["devices"][0]["model"]["queue"] = json!({ "policy": "sptf" });
        document
    };
    for (document, reads_percent) in [(array("raid0", 8), 100), (array("raid10", 8), 70), (array("raid5", 8), 70)] {
        let mut before = 0.0;
        for population in [64, 256, 1024] {
            let mut array = built(&sptf(document.clone()), 1);
            let span = array.sectors();
            let per_s = closed(&mut array, population, (4000, 16_000), random(7, 16, reads_percent, span)).per_s();
            assert!(per_s > before * 0.98, "{per_s} with {population}, {before} before");
            before = per_s;
        }
    }
}

#[test]
fn a_single_request_takes_the_sum_of_its_parts() {
    // Overhead + mean seek + half a turn + 16 sectors at the mean rate, on the datasheet of the disk.
    let mut array = built(&array("raid0", 1), 5);
    let span = array.sectors();
    let seen = closed(&mut array, 1, (0, 20_000), random(7, 16, 100, span));
    let expected_ns = 200e3 + 4000e3 + 3000e3 + 8192.0 / 75e6 * 1e9;
    let off = seen.mean_ns() / expected_ns - 1.0;
    assert!(off.abs() < 0.01, "{} ns, {:.2} % off", seen.mean_ns(), off * 100.0);
}

#[test]
fn what_a_buffer_has_passes_interface_and_link_at_once() {
    // A hit: overhead, then 64 KiB at the slower of interface (300 MB/s) and link.
    for (link_mb_per_s, slower_mb_per_s) in [(300_u64, 300.0), (600, 300.0), (150, 150.0)] {
        let mut document = array("raid0", 1);
        document["link"] = json!([{ "name": "phy", "rate_bytes_per_s": link_mb_per_s * 1_000_000, "overhead_ns": 0 }]);
        document["devices"][0]["links"] = json!(["phy"]);
        document["devices"][0]["model"]["buffer"]["hit_overhead_us"] = json!(30);
        let mut array = built(&document, 1);
        closed(&mut array, 1, (0, 4), sequential(Op::Read, 128, vec![0]));
        array.run_until(array.now_ns() + 100 * MS, &mut Vec::new());
        let seen = closed(&mut array, 1, (4, 4), sequential(Op::Read, 128, vec![0]));
        let expected_ns = 30e3 + 65_536.0 / slower_mb_per_s * 1e3;
        assert!((seen.mean_ns() - expected_ns).abs() < 10.0, "{link_mb_per_s} MB/s: {} ns", seen.mean_ns());
    }
}

#[test]
fn mean_values_agree_within_three_percent_where_only_means_matter() {
    let load = Load { name: "reads", read_share: 1.0, bytes: 8192, sequential: false };
    let mut document = array("raid0", 8);
    document["controller"][0]["request_ns"] = json!(40_000);
    let spec = ArraySpec::read(&document).unwrap().spec;
    let demands = demands(&spec, &load, 1);
    assert_eq!(limit(&demands).unwrap().0.component, "disk");
    for population in [1, 512] {
        let mut array = built(&document, 1);
        let span = array.sectors();
        let seen = closed(&mut array, population, (0, 40_000), random(7, 16, 100, span));
        let analysed = expected(&demands, population).throughput_per_s;
        let off = seen.per_s() / analysed - 1.0;
        assert!(off.abs() < 0.03, "{population}: simulated {}, analysed {analysed}", seen.per_s());
    }
}

#[test]
fn a_saturated_processor_is_the_bound() {
    let mut document = array("raid0", 40);
    document["controller"][0]["request_ns"] = json!(1_000_000);
    let mut array = built(&document, 1);
    let span = array.sectors();
    let per_s = closed(&mut array, 64, (0, 5000), random(7, 16, 100, span)).per_s();
    assert!((per_s - 1000.0).abs() < 5.0, "{per_s}");
}

#[test]
fn equal_seeds_give_equal_instants_and_others_do_not() {
    for document in kinds() {
        let run = |seed| {
            let mut array = built(&document, seed);
            let span = array.sectors();
            closed(&mut array, 8, (0, 2000), random(7, 16, 60, span)).times
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2), "the platters of another seed stand elsewhere");
    }
}

#[test]
fn memory_does_not_grow_with_the_number_of_requests() {
    for document in kinds() {
        let mut array = built(&document, 1);
        let span = array.sectors();
        closed(&mut array, 32, (0, 5_000), random(7, 16, 60, span));
        let after_some = array.places();
        closed(&mut array, 32, (5_000, 60_000), random(7, 16, 60, span));
        // The most that were ever outstanding at once is seen a little later, too; places double.
        assert!(array.places() <= after_some * 2 + 64, "{after_some} places became {}", array.places());
    }
}

#[test]
fn utilisation_is_what_the_components_did() {
    let mut document = array("raid0", 4);
    document["link"] = json!([{ "name": "bus", "rate_bytes_per_s": 100_000_000 }]);
    document["volumes"][0]["links"] = json!(["bus"]);
    let mut array = built(&document, 1);
    let span = array.sectors();
    let before = array.readings();
    let seen = closed(&mut array, 32, (0, 5000), random(7, 16, 100, span));
    let elapsed_ns = seen.end_ns - seen.begin_ns;
    let after = array.readings();
    let uses: Vec<ComponentUse> = (array.components().iter().zip(before.iter().zip(&after)))
        .map(|(component, (before, after))| ComponentUse::between(component, before, after, elapsed_ns))
        .collect();
    let found = |name: &str| uses.iter().find(|found| found.component.name == name).unwrap();
    assert_eq!(found("bus").bytes, 5000 * 8192);
    let expected = 5000.0 * 8192.0 / 100e6 / (elapsed_ns as f64 / 1e9);
    assert!((found("bus").utilisation - expected).abs() < 1e-3);
    let disks: Vec<_> = uses.iter().filter(|found| found.component.kind == "disk").collect();
    assert_eq!(disks.iter().map(|found| found.operations).sum::<u64>(), 5000);
    let service_ns = |found: &ComponentUse| found.utilisation * elapsed_ns as f64 / found.operations as f64;
    assert!(disks.iter().all(|found| (service_ns(found) - 7.3e6).abs() < 0.3e6), "{disks:?}");
    let present: f64 = uses.iter().map(|found| found.mean_queue).sum();
    assert!((present - 32.0).abs() < 0.5, "{present} are somewhere");
}

#[test]
fn a_full_duplex_link_is_as_busy_as_its_busier_direction() {
    // It was the mean of both directions, so a link that only read was half busy at its rate, and nothing was saturated.
    for (reads, down_share) in [(100, 0.0), (0, 1.0), (70, 0.3)] {
        let mut document = array("raid0", 8);
        document["link"] = json!([{ "name": "bus", "rate_bytes_per_s": 1_000_000 }]);
        document["volumes"][0]["links"] = json!(["bus"]);
        let mut array = built(&document, 1);
        let span = array.sectors();
        let before = array.readings();
        let seen = closed(&mut array, 32, (0, 2000), random(7, 16, reads, span));
        let elapsed_ns = seen.end_ns - seen.begin_ns;
        let place = array.components().iter().position(|found| found.name == "bus").unwrap();
        let (component, after) = (&array.components()[place], &array.readings()[place]);
        let found = ComponentUse::between(component, &before[place], after, elapsed_ns);
        let (bytes, busier) = (found.bytes as f64, f64::max(down_share, 1.0 - down_share));
        assert_eq!((found.bytes, found.operations), (2000 * 8192, 2000), "what it carried is that of both");
        let expected = bytes * busier / 1e6 / (elapsed_ns as f64 / 1e9);
        assert!(
            (found.utilisation - expected).abs() < 0.04,
            "{reads} % reads: {} busy, not {expected}",
            found.utilisation
        );
        assert!(found.utilisation > 0.9, "{reads} % reads: {found:?}");
    }
}

#[test]
fn requests_wait_for_nobody_who_comes_later() {
    // A request submitted at an instant ends at the same one whatever is submitted afterwards, first come first served.
    let alone = {
        let mut array = built(&array("raid0", 1), 1);
        let mut done = Vec::new();
        array.submit(0, 0, Request { op: Op::Read, lba: 1_000_000, sectors: 8 });
        array.run_until(u64::MAX, &mut done);
        done[0].completed_ns
    };
    let mut array: Array = built(&array("raid0", 1), 1);
    let mut done = Vec::new();
    array.submit(0, 0, Request { op: Op::Read, lba: 1_000_000, sectors: 8 });
    let draws = Draws::new(1, &[2]);
    for token in 1..20 {
        array.submit(0, token, Request { op: Op::Read, lba: draws.at(token.into()) % 1_000_000, sectors: 8 });
    }
    array.run_until(u64::MAX, &mut done);
    assert_eq!((done[0].token, done[0].completed_ns), (0, alone));
}
