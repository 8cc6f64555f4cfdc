//! Several hosts on one target: slices are disjoint and their union is the whole, starts are spread, and what would be
//! verified wrongly is refused.

use std::ops::Range;

use plimsoll_workload::share::{Part, Share, touched};
use plimsoll_workload::{Generator, Op, StreamPlan, TargetShape, Workload};
use proptest::prelude::*;
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

fn shape(size_bytes: u64) -> TargetShape {
    TargetShape { size_bytes, block_bytes: 512 }
}

fn workload(streams: &Value) -> Workload {
    Workload::from_json(&json!({ "name": "x", "stream": streams }), "x").expect("a workload")
}

fn parts(count: u32) -> impl Iterator<Item = Part> {
    (0..count).map(move |number| Part { number, count })
}

/// The plans of every host.
fn shared(share: &Share, workload: &Workload, count: u32, size_bytes: u64) -> Vec<Vec<StreamPlan>> {
    let own = |part| share.of(workload, part, shape(size_bytes), &[]).expect("shared");
    parts(count).map(|part| own(part).resolve(shape(size_bytes), 1).expect("resolved")).collect()
}

fn refusal(share: &Share, streams: &Value, count: u32) -> String {
    let last = Part { number: count - 1, count };
    share.of(&workload(streams), last, shape(MIB), &[]).expect_err("refused").to_string()
}

fn region(plans: &[StreamPlan]) -> Range<u64> {
    plans[0].region.clone()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn slices_are_disjoint_aligned_and_together_the_whole(
        count in 1u32..9,
        sectors in 1u64..40,
        other in 1u64..40,
        blocks in 700u64..9000,
        tail in 0u64..512,
        from in 0u32..30,
        length in 50u32..70,
        random in 0u32..=100,
    ) {
        let stream = |name: &str, sectors: u64| json!({
            "name": name, "block_size": sectors * 512, "read_percent": 50, "random_percent": random,
            "region_start": format!("{from}%"), "region_length": format!("{length}%"),
        });
        let size_bytes = blocks * 40 * 512 + tail;
        let workload = workload(&json!([stream("a", sectors), stream("b", other)]));
        let alone = workload.resolve(shape(size_bytes), 1).expect("alone");
        let hosts = shared(&Share::Slices, &workload, count, size_bytes);
        for (number, whole) in alone.iter().enumerate() {
            prop_assert_eq!(hosts[0][number].region.start, whole.region.start);
            prop_assert_eq!(hosts[count as usize - 1][number].region.end, whole.region.end);
            for pair in hosts.windows(2) {
                prop_assert_eq!(pair[0][number].region.end, pair[1][number].region.start, "nothing between, nothing twice");
            }
        }
        // Nothing that any stream of a host touches is touched by any stream of another.
        for (at, one) in hosts.iter().enumerate() {
            for other in &hosts[at + 1..] {
                prop_assert!(touched(one).last().expect("a range").end <= touched(other)[0].start);
            }
        }
        let lengths: Vec<u64> = hosts.iter().map(|host| host[0].region.end - host[0].region.start).collect();
        let grain = sectors * other * 512;
        prop_assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 2 * grain);
    }
}

#[test]
fn a_pass_over_all_slices_is_one_pass_over_the_target() {
    let sequential = json!([{ "block_size": "64KiB", "read_percent": 0, "random_percent": 0, "amount": "100%" }]);
    let size_bytes = 10 * MIB + 512;
    let hosts = shared(&Share::Slices, &workload(&sequential), 3, size_bytes);
    let mut places = Vec::new();
    for plans in &hosts {
        let mut generator = Generator::new(&plans[0], 0);
        let mut left = plans[0].budget.bytes;
        while left > 0 {
            let request = generator.next();
            places.push(request.offset);
            left = left.saturating_sub(request.len.into());
        }
    }
    assert_eq!(
        hosts.iter().map(|plans| plans[0].budget.bytes).sum::<u64>(),
        size_bytes,
        "the amounts are the whole, exactly"
    );
    places.sort_unstable();
    // The last host's share ends in a part of a block, which the pass of one host alone begins anew with, too.
    let expected: Vec<u64> = (0..160).map(|block| block * 65536).collect();
    places.dedup();
    assert_eq!(places, expected);
}

#[test]
fn with_full_every_host_begins_elsewhere_and_touches_everything() {
    let size_bytes = 12 * MIB;
    let backward = json!([{ "block_size": "64KiB", "random_percent": 0, "direction": "backward" }]);
    for (streams, expected) in [
        (json!([{ "block_size": "64KiB", "random_percent": 0 }]), [0, 4 * MIB, 8 * MIB]),
        (
            json!([{ "block_size": "64KiB", "random_percent": 0, "sequential": "per_thread", "threads": 2 }]),
            [0, 2 * MIB, 4 * MIB],
        ),
        (json!([{ "block_size": "64KiB", "random_percent": 0, "sequential": "same_start" }]), [0, 0, 0]),
        (backward, [12 * MIB - 65536, 8 * MIB - 65536, 4 * MIB - 65536]),
    ] {
        let hosts = shared(&Share::Full, &workload(&streams), 3, size_bytes);
        for (plans, begins) in hosts.iter().zip(expected) {
            assert_eq!(region(plans), 0..size_bytes);
            let mut generator = Generator::new(&plans[0], 0);
            let mut seen: Vec<u64> = (0..192).map(|_| generator.next().offset).collect();
            assert_eq!(seen[0], begins, "{streams}");
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 192, "a lap is the whole target, wherever it began");
        }
    }
}

#[test]
fn a_sequential_course_that_begins_elsewhere_can_be_sought() {
    let streams = json!([{ "block_size": "64KiB", "random_percent": 0, "sequential_start": "30%" }]);
    let plans = workload(&streams).resolve(shape(3 * MIB), 1).expect("resolved");
    let (mut walked, mut sought) = (Generator::new(&plans[0], 0), Generator::new(&plans[0], 0));
    for index in 0..200 {
        let request = walked.next();
        sought.seek(index);
        assert_eq!(sought.next().offset, request.offset, "request {index}");
    }
    let beyond = json!([{ "random_percent": 0, "sequential_start": "100%" }]);
    let sentence = workload(&beyond).resolve(shape(MIB), 1).expect_err("refused").to_string();
    assert!(sentence.contains("sequential_start 100% lies beyond the region of 1MiB"), "{sentence}");
}

#[test]
fn regions_are_the_users_and_streams_stay_inside_of_both() {
    let regions = Share::from_text("0..50%, 25%..768KiB").expect("regions");
    let streams = json!([{ "name": "a" }, { "name": "b", "region_start": "128KiB", "region_length": "50%" }]);
    let hosts = shared(&regions, &workload(&streams), 2, MIB);
    let own: Vec<Vec<Range<u64>>> =
        hosts.iter().map(|plans| plans.iter().map(|plan| plan.region.clone()).collect()).collect();
    const KIB: u64 = 1024;
    assert_eq!(own[0], [0..512 * KIB, 128 * KIB..512 * KIB]);
    assert_eq!(own[1], [256 * KIB..768 * KIB, 256 * KIB..640 * KIB]);
}

#[test]
fn what_cannot_be_shared_is_one_sentence() {
    let verified = json!([{ "read_percent": 0, "verify": "all" }]);
    let reads = json!([{ "verify": "found" }]);
    assert!(refusal(&Share::Full, &verified, 2).contains("hosts that write the same bytes cannot verify them"));
    let overlapping = Share::from_text("0..60%,40%..100%").expect("regions");
    assert!(refusal(&overlapping, &verified, 2).contains("hosts that write the same bytes cannot verify them"));
    let apart = Share::from_text("50%..100%,0..50%").expect("regions");
    for (share, streams, count) in [
        (&apart, &verified, 2),
        (&Share::Full, &reads, 3),
        (&Share::Full, &verified, 1),
        (&Share::Slices, &verified, 3),
    ] {
        let part = Part { number: 0, count };
        assert!(share.of(&workload(streams), part, shape(MIB), &[]).is_ok(), "{share:?} {streams}");
    }
    assert!(refusal(&Share::Slices, &json!([{ "block_size": "512KiB" }]), 3).contains("3 slices of 1MiB have no room"));
    assert!(refusal(&apart, &json!([{}]), 3).contains("2 regions are not enough for 3 hosts"));
    let clash = json!([{ "name": "a", "read_percent": 0 }, { "name": "b", "region_length": "60%" }]);
    assert!(refusal(&Share::Slices, &clash, 2).contains("the regions of streams \"a\" and \"b\" overlap in part"));
    for wrong in ["", "halves", "0..", "50%", "0..50%,", "9..x"] {
        let sentence = Share::from_text(wrong).expect_err("refused").to_string();
        assert!(sentence.contains("write slices, full, or a region for each host"), "{sentence}");
    }
    let backward = Share::from_text("50%..10%").expect("regions");
    assert!(refusal(&backward, &json!([{}]), 1).contains("the region 50%..10% is none of a target of 1MiB"));
}

#[test]
fn streams_on_separate_regions_are_each_divided() {
    let streams = json!([
        { "name": "log", "region_length": "25%", "read_percent": 0, "random_percent": 0 },
        { "name": "data", "region_start": "25%", "read_percent": 50 },
    ]);
    let hosts = shared(&Share::Slices, &workload(&streams), 2, 4 * MIB);
    assert_eq!(hosts[0][0].region, 0..MIB / 2);
    assert_eq!(hosts[1][0].region, MIB / 2..MIB);
    assert_eq!(hosts[0][1].region, MIB..MIB * 5 / 2);
    assert_eq!(hosts[1][1].region, MIB * 5 / 2..4 * MIB);
    assert!(hosts.iter().flatten().all(|plan| plan.issues(Op::Read) || plan.issues(Op::Write)));
}
