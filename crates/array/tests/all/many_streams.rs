//! Several sequential streams on the same disks, against what a seek per segment costs.
//!
//! A disk that serves several streams in turns reads a segment of each and goes to the next: its rate is a segment over the time of
//! seek, half a turn, overhead and transfer. Streams run on their own here, each with one read outstanding, as threads do.

#![allow(clippy::unwrap_used)]

use crate::support::{SECOND, built, cached};
use plimsoll_array::disk::DiskModel;
use plimsoll_array::{Array, ArraySpec, ComponentUse, DeviceSpec, Request};
use plimsoll_workload::Op;
use plimsoll_workload::rng::Draws;
use serde_json::{Value, json};

/// Reads of so many sectors by streams from these addresses on, each with one outstanding, after a second; bytes per second of
/// each.
fn rates(array: &mut Array, starts: &[u64], sectors: u32) -> Vec<f64> {
    let mut next: Vec<u64> = starts.to_vec();
    let mut bytes = vec![0; starts.len()];
    let (begin_ns, end_ns) = (SECOND, 3 * SECOND);
    let mut issue = |array: &mut Array, stream: usize| {
        let now_ns = array.now_ns();
        array.submit(now_ns, stream as u32, Request { op: Op::Read, lba: next[stream], sectors });
        next[stream] += u64::from(sectors);
    };
    (0..starts.len()).for_each(|stream| issue(array, stream));
    let mut done = Vec::new();
    while array.now_ns() < end_ns {
        done.clear();
        array.run_until(end_ns, &mut done);
        for finished in &done {
            if finished.completed_ns > begin_ns {
                bytes[finished.token as usize] += u64::from(sectors) * 512;
            }
            issue(array, finished.token as usize);
        }
    }
    bytes.iter().map(|&bytes| bytes as f64 * 1e9 / (end_ns - begin_ns) as f64).collect()
}

/// An array with so much read ahead for each of so many streams; a cache of 64 MiB.
fn array(level: &str, disks: u16, streams: u32, ahead_bytes: u32) -> Value {
    let mut document = cached(level, disks, 4096);
    document["controller"][0]["read_ahead"] =
        json!({ "streams_per_volume": streams, "initial_bytes": 65_536, "max_bytes": ahead_bytes });
    // What a drive reads of its own accord would lengthen segments.
    document["devices"][0]["model"]["buffer"]["prefetch_bytes"] = json!(0);
    document
}

/// Beginnings of streams, drawn from a range in steps of a strip.
fn places(seed: u64, streams: u64, range: u64) -> Vec<u64> {
    let draws = Draws::new(seed, &[9]);
    (0..streams).map(|stream| draws.at(stream) % (range / 128) * 128).collect()
}

/// What a disk of an array takes for one segment of so many sectors, with a seek between any two of these places: overhead, seek,
/// half a turn, transfer.
fn segment_ns(document: &Value, places: &[u64], sectors: u32) -> f64 {
    let DeviceSpec::Disk(spec) = ArraySpec::read(document).unwrap().spec.devices[0].model.clone() else {
        panic!("the devices are disks")
    };
    let model = DiskModel::new(&spec).unwrap();
    let geometry = model.geometry();
    let found: Vec<_> = places.iter().map(|&lba| (geometry.locate(lba), lba)).collect();
    let mut seeks_ms = Vec::new();
    for (number, (from, _)) in found.iter().enumerate() {
        let others = found.iter().enumerate().filter(|&(other, _)| other != number);
        let far = others.map(|(_, (to, _))| f64::from(to.cylinder.abs_diff(from.cylinder)));
        seeks_ms.extend(far.map(|cylinders| model.seek_curves()[0].at_ms(cylinders)));
    }
    let seek_ms = seeks_ms.iter().sum::<f64>() / seeks_ms.len() as f64;
    let transfers_ns = found.iter().map(|&(place, lba)| geometry.transfer(place, lba, sectors).0 as f64);
    let transfer_ns = transfers_ns.sum::<f64>() / found.len() as f64;
    let half_turn_ns = 30e9 / f64::from(spec.rotation_rpm);
    f64::from(spec.command_overhead_us) * 1e3 + seek_ms * 1e6 + half_turn_ns + transfer_ns
}

/// By how many percent an array is slower than its closed form, over many places of the streams: whoever returns to the same
/// places finds the platter at angles that depend on each other, and only the mean over places is half a turn.
fn slower(document: &Value, streams: u64, (range, disk_share): (u64, u64), (ahead, segment): (u32, u32)) -> f64 {
    let (mut found_ns, mut expected_ns) = (0.0, 0.0);
    for seed in 0..40 {
        let starts = places(seed, streams, range);
        let rate: f64 = rates(&mut built(document, seed), &starts, 128).iter().sum();
        found_ns += f64::from(ahead) * 1e9 / rate;
        let on_disk: Vec<u64> = starts.iter().map(|lba| lba / disk_share).collect();
        expected_ns += segment_ns(document, &on_disk, segment);
    }
    let slower = (found_ns / expected_ns - 1.0) * 100.0;
    println!("{streams} streams, {ahead} bytes: {slower:+.1} % of {:.2} ms", expected_ns / 40e6);
    slower
}

#[test]
fn streams_on_one_disk_get_a_segment_per_seek() {
    for (streams, ahead) in [(2, 262_144), (2, 1 << 20), (4, 262_144), (8, 524_288), (12, 131_072)] {
        let document = array("raid0", 1, 16, ahead);
        let slower = slower(&document, streams, (60_000_000, 1), (ahead, ahead / 512));
        assert!(slower.abs() < 4.0, "{streams} streams, {ahead} bytes: {slower:+.1} %");
    }
}

#[test]
fn streams_on_raid_5_get_a_strip_of_every_row_per_seek() {
    for (streams, rows) in [(8, 2), (16, 2), (16, 4)] {
        let ahead = rows * 7 * 65_536;
        let mut document = array("raid5", 8, 32, ahead);
        document["group"][0]["raid"]["strip_sectors"] = json!(128);
        let slower = slower(&document, streams, (7 * 60_000_000, 7), (ahead, rows * 128));
        // Of every eight strips of a disk one is parity, over which the head passes.
        assert!(slower.abs() < 6.0, "{streams} streams, {rows} rows: {slower:+.1} %");
    }
}

#[test]
fn streams_beyond_those_that_are_followed_cost_no_cliff_and_none_starves() {
    let document = array("raid0", 4, 4, 1 << 20);
    let all = |streams: u64| rates(&mut built(&document, 1), &apart(streams), 16);
    let four: f64 = all(4).iter().sum();
    for (streams, share_min, least_min) in [(5, 0.8, 0.8), (8, 0.8, 0.8), (16, 0.7, 0.5), (32, 0.25, 0.01)] {
        let rates = all(streams);
        let (sum, least) = (rates.iter().sum::<f64>(), rates.iter().copied().fold(f64::MAX, f64::min));
        let (share, least) = (sum / four, least * streams as f64 / sum);
        println!("{streams} streams: {share:.2} of four, the least has {least:.2} of its share");
        assert!(share > share_min && least > least_min, "{streams}: {share} {least}");
    }
}

/// Beginnings that meet no common multiple of strips.
fn apart(streams: u64) -> Vec<u64> {
    (0..streams).map(|stream| stream * 7_777_792).collect()
}

#[test]
fn windows_shrink_until_they_fit_into_the_cache_and_what_was_lost_is_told() {
    let found = |cache_bytes: u64, ahead: bool| {
        let mut document = array("raid0", 4, 16, 1 << 20);
        document["controller"][0]["cache"]["size_bytes"] = json!(cache_bytes);
        if !ahead {
            document["controller"][0].as_object_mut().unwrap().remove("read_ahead");
        }
        let mut array = built(&document, 1);
        let before = array.readings();
        let rate: f64 = rates(&mut array, &apart(8), 128).iter().sum();
        let all = array.components().into_iter().zip(before.iter().zip(array.readings()));
        let mut caches = all.filter(|(component, _)| component.kind == "cache");
        let (component, (before, after)) = caches.next().unwrap();
        let used = ComponentUse::between(&component, before, &after, 1);
        let share = used.read_ahead_wasted_bytes.zip(used.read_ahead_bytes).map(|(lost, all)| lost as f64 / all as f64);
        println!("{} KiB, {ahead}: {rate:.0} B/s, {share:?} of {:?} wasted", cache_bytes >> 10, used.read_ahead_bytes);
        (rate, share)
    };
    let ((plenty, none_lost), (alone, _)) = (found(64 << 20, true), found(64 << 20, false));
    assert!(none_lost == Some(0.0) && plenty > 2.0 * alone, "{none_lost:?}, {plenty} {alone}");
    // Eight windows of 1 MiB fit in no more.
    for (cache_bytes, lost_max, share) in [(8 << 20, 0.05, 1.5), (4 << 20, 0.15, 1.0), (2 << 20, 0.3, 0.7)] {
        let (rate, lost) = found(cache_bytes, true);
        assert!(lost.is_some_and(|lost| lost > 0.0 && lost < lost_max), "{cache_bytes}: {lost:?}");
        assert!(rate > share * alone, "{cache_bytes}: {rate} {alone}");
    }
}
