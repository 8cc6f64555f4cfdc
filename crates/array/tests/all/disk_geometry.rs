//! Where sectors lie: capacities, zones, places, and the time a run of them takes.

use crate::drives;
use crate::drives::small;
use plimsoll_array::disk::{DiskModel, DiskSpec, Place};
use plimsoll_workload::rng::Draws;

fn model(spec: &DiskSpec) -> DiskModel {
    DiskModel::new(spec).expect("the specification is right")
}

#[test]
fn the_capacity_is_that_of_the_datasheet_to_the_sector() {
    for (name, spec) in drives::all() {
        let geometry = model(&spec).geometry().clone();
        assert_eq!(geometry.sectors() * 512, spec.capacity_bytes, "{name}");
        let zones = geometry.zones();
        assert_eq!(zones.len(), 16, "{name}");
        assert_eq!((zones[0].first_lba(), zones[15].end_lba()), (0, geometry.sectors()), "{name}");
        assert!(zones.windows(2).all(|pair| pair[0].end_lba() == pair[1].first_lba()));
        assert!(zones.windows(2).all(|pair| pair[0].sectors_per_track() > pair[1].sectors_per_track()));
        // What is left over at the inner edge is less than a thousandth.
        let last = &zones[15];
        let cylinders = u64::from(geometry.cylinders() - last.first_cylinder());
        let room = cylinders * u64::from(last.sectors_per_track() * geometry.heads());
        let unused = room - (last.end_lba() - last.first_lba());
        assert!(unused * 1_000 < geometry.sectors(), "{name}: {unused}");
    }
}

#[test]
fn tracks_have_the_mean_that_the_manuals_give() {
    for (spec, mean_bytes) in [(drives::savvio_10k1(), 360_000.0), (drives::savvio_10k4(), 677_557.0)] {
        let geometry = model(&spec).geometry().clone();
        let tracks = f64::from(geometry.cylinders()) * f64::from(geometry.heads());
        let found = spec.capacity_bytes as f64 / tracks;
        assert!((found / mean_bytes - 1.0).abs() < 0.002, "{found} {mean_bytes}");
    }
}

#[test]
fn cylinders_that_are_not_given_follow_from_the_capacity() {
    let given = drives::savvio_10k1();
    let found = model(&DiskSpec { cylinders: None, ..given.clone() }).geometry().cylinders();
    assert!((f64::from(found) / 51_052.0 - 1.0).abs() < 0.01, "{found}");
}

#[test]
fn places_follow_one_another_over_the_whole_disk() {
    let geometry = model(&small()).geometry().clone();
    let mut before = geometry.locate(0);
    assert_eq!(before, Place::default());
    for lba in 1..geometry.sectors() {
        let place = geometry.locate(lba);
        let zone = &geometry.zones()[usize::from(before.zone)];
        let last_sector = before.sector + 1 == zone.sectors_per_track();
        let last_head = u32::from(before.head) + 1 == geometry.heads();
        let expected = match (last_sector, last_head) {
            (false, _) => (before.cylinder, before.head, before.sector + 1),
            (true, false) => (before.cylinder, before.head + 1, 0),
            (true, true) => (before.cylinder + 1, 0, 0),
        };
        assert_eq!((place.cylinder, place.head, place.sector), expected, "{lba}");
        assert_eq!(place.zone != before.zone, lba == zone.end_lba(), "{lba}");
        before = place;
    }
}

#[test]
fn what_passes_in_the_time_of_a_transfer_is_the_transfer() {
    for (name, spec) in drives::all().into_iter().chain([("small", small())]) {
        let geometry = model(&spec).geometry().clone();
        let draws = Draws::new(2, &[0]);
        for index in 0..20_000 {
            let sectors = (draws.at(2 * index) % 20_000 + 1) as u32;
            let lba = draws.at(2 * index + 1) % (geometry.sectors() - u64::from(sectors));
            let (ns, last) = geometry.transfer(geometry.locate(lba), lba, sectors);
            assert_eq!(last, geometry.locate(lba + u64::from(sectors) - 1), "{name}: {lba} + {sectors}");
            assert_eq!(geometry.sectors_within(lba, ns), u64::from(sectors), "{name}: {lba} + {sectors}");
            let short_ns = ns.saturating_sub(2_000);
            assert_eq!(geometry.sectors_within(lba, short_ns), u64::from(sectors) - 1, "{name}: {lba} + {sectors}");
        }
    }
}

#[test]
fn a_run_ends_with_the_disk() {
    let geometry = model(&small()).geometry().clone();
    let last = geometry.sectors() - 5;
    assert_eq!(geometry.sectors_within(last, u64::from(u32::MAX)), 5);
    assert_eq!(geometry.sectors_within(0, 3_600_000_000_000), geometry.sectors());
}

#[test]
fn zones_may_be_one_or_many_and_a_terabyte_disk_fits() {
    let flat = DiskSpec { zones: 1, inner_rate_bytes_per_s: 45_000_000, capacity_bytes: 2_560_000_000, ..small() };
    assert_eq!(model(&flat).geometry().zones().len(), 1);
    let nearline = DiskSpec {
        capacity_bytes: 16_000_900_661_248,
        heads: 18,
        cylinders: None,
        zones: 32,
        outer_rate_bytes_per_s: 261_000_000,
        inner_rate_bytes_per_s: 125_000_000,
        ..small()
    };
    let geometry = model(&nearline).geometry().clone();
    assert!(geometry.cylinders() > 400_000, "{}", geometry.cylinders());
    assert_eq!(geometry.locate(geometry.sectors() - 1).zone, 31);
}

/// Makes a specification wrong.
type Spoil = fn(&mut DiskSpec);

#[test]
fn a_wrong_value_is_refused_in_one_sentence_that_names_its_key() {
    let wrong: [(Spoil, &str); 9] = [
        (|spec| spec.heads = 0, "heads: 0 is out of range; write 1 to 64"),
        (|spec| spec.queue.window = 0, "queue.window: 0 is out of range; write 1 to 4096"),
        (|spec| spec.track_skew_us = Some(100), "track_skew_us: 100 is out of range; write 900 to 8333"),
        (|spec| spec.write_seek.average_us = 9, "write_seek.average_us: 9 is out of range; write 1300 to 116662"),
        (|spec| spec.read_seek.average_us = 1_000, "read_seek.average_us: 1000 us is the mean of no smooth curve"),
        (
            |spec| spec.capacity_bytes *= 2,
            "capacity_bytes: 4000000000 does not fit: with these rates, 3 heads and 2000",
        ),
        (|spec| spec.inner_rate_bytes_per_s *= 2, "inner_rate_bytes_per_s: 54000000 is out of range; write 100000 to"),
        (
            |spec| spec.read_seek.full_stroke_us = 200_000,
            "read_seek.full_stroke_us: 200000 is out of range; write 6000",
        ),
        (
            |spec| {
                spec.buffer.segments = 4;
                spec.buffer.segment_bytes = 4_096;
                spec.buffer.prefetch_bytes = 8_192;
            },
            "buffer.prefetch_bytes: 8192 is out of range; write 0 to 4096",
        ),
    ];
    for (spoil, beginning) in wrong {
        let mut spec = small();
        spoil(&mut spec);
        let sentence = DiskModel::new(&spec).expect_err(beginning).to_string();
        assert!(sentence.starts_with(beginning) || sentence.contains(beginning), "{sentence}");
    }
}

#[test]
fn an_unknown_key_of_a_file_is_named() {
    let text = include_str!("../drives/savvio_10k1.toml").replace("heads = 4", "heads = 4\nhaeds = 4");
    let sentence = toml::from_str::<plimsoll_array::DeviceSpec>(&text).expect_err("haeds").to_string();
    assert_eq!(sentence.trim_end(), "key 'haeds' is not known; did you mean 'heads'?");
}

#[test]
fn a_specification_survives_being_written_and_read() {
    let spec = plimsoll_array::DeviceSpec::Disk(drives::savvio_10k1());
    let text = toml::to_string(&spec).expect("it can be written");
    assert_eq!(toml::from_str::<plimsoll_array::DeviceSpec>(&text).expect(&text), spec);
}
