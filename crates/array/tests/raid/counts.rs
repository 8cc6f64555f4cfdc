//! How many disk operations a write costs.

use plimsoll_array::raid::{Extent, Geometry, GroupSpec, Level, RowChoices, WriteChoice, WritePlan};

const STRIP: u32 = 16;

fn plan(spec: &GroupSpec, failed: &[u16], lba: u64, sectors: u32) -> WritePlan {
    let geometry = Geometry::new(spec, 1600).unwrap();
    let (mut members, mut plan) = (geometry.members(), WritePlan::default());
    failed.iter().for_each(|&device| members.fail(device));
    geometry.write(Extent { lba, sectors }, &members, &mut plan).unwrap();
    plan
}

/// Reads and writes of a write somewhere.
fn counts(spec: &GroupSpec, lba: u64, sectors: u32) -> (usize, usize) {
    let plan = plan(spec, &[], lba, sectors);
    (plan.reads.len(), plan.writes.len())
}

fn spec(level: Level, devices: u16, groups: Option<u16>) -> GroupSpec {
    GroupSpec { groups, ..GroupSpec::new(level, devices, STRIP) }
}

#[test]
fn a_small_write_costs_what_the_books_say_at_every_level() {
    for (level, devices, groups, reads, writes) in [
        (Level::Raid0, 8, None, 0, 1),
        (Level::Raid1, 2, None, 0, 2),
        (Level::Raid1, 3, None, 0, 3),
        (Level::Raid10, 8, None, 0, 2),
        (Level::Raid5, 8, None, 2, 2),
        (Level::Raid6, 8, None, 3, 3),
        (Level::Raid50, 16, Some(2), 2, 2),
        (Level::Raid60, 16, Some(2), 3, 3),
    ] {
        let spec = spec(level, devices, groups);
        for lba in [0, 4, 16 * 5 + 8, 16 * 77] {
            assert_eq!(counts(&spec, lba, 8), (reads, writes), "{level:?} at {lba}");
        }
    }
}

#[test]
fn a_full_stripe_writes_one_and_parity_over_data() {
    for (level, devices, groups) in
        [(Level::Raid5, 5, None), (Level::Raid6, 8, None), (Level::Raid50, 12, Some(3)), (Level::Raid60, 16, Some(2))]
    {
        let spec = spec(level, devices, groups);
        let members = u64::from(devices / groups.unwrap_or(1));
        let parities = u64::from(spec.parities());
        let data = members - parities;
        for rows in [1, 2, 7] {
            let sectors = rows * data * u64::from(STRIP);
            let plan = plan(&spec, &[], 3 * data * u64::from(STRIP), sectors as u32);
            let written: u64 = plan.writes.iter().map(|piece| u64::from(piece.sectors)).sum();
            assert_eq!((plan.reads.len(), written * data), (0, sectors * members), "{level:?}, {rows} rows");
            assert_eq!(plan.choices, RowChoices { full: rows as u32, ..RowChoices::default() });
            assert_eq!(plan.xor_bytes, parities * sectors * 512);
            // Rows of one parity group follow each other on its members: one command each.
            assert_eq!(plan.writes.len() as u64, members * rows.min(u64::from(groups.unwrap_or(1))));
        }
    }
}

#[test]
fn the_way_with_fewer_operations_is_taken() {
    let wide = spec(Level::Raid5, 9, None);
    // Of 8 data strips, modifying w costs 2 (w + 1) and reconstructing (8 − w) + (w + 1) = 9.
    for (strips, reads) in [(1, 2), (2, 3), (3, 4), (4, 4), (5, 3), (7, 1), (8, 0)] {
        let cost = counts(&wide, 0, strips * STRIP);
        assert_eq!(cost, (reads as usize, strips as usize + 1), "{strips} strips");
    }
    // RAID 5 of three: the other data strip is one read, the old data and parity are two.
    assert_eq!(counts(&spec(Level::Raid5, 3, None), 0, 8), (1, 2));
}

#[test]
fn a_bias_or_a_fixed_choice_moves_the_switch() {
    // Four members: both ways cost four.
    let tie = spec(Level::Raid5, 4, None);
    assert_eq!(plan(&tie, &[], 0, 8).choices.modified, 1);
    let biased = GroupSpec { reconstruct_bias_ios: 1, ..tie.clone() };
    assert_eq!(plan(&biased, &[], 0, 8).choices.reconstructed, 1);
    let against = GroupSpec { reconstruct_bias_ios: -1, ..spec(Level::Raid5, 3, None) };
    assert_eq!(plan(&against, &[], 0, 8).choices.modified, 1);
    let always = GroupSpec { write_choice: Some(WriteChoice::Reconstruct), ..spec(Level::Raid5, 9, None) };
    assert_eq!(counts(&always, 0, 8), (7, 2));
    let never = GroupSpec { write_choice: Some(WriteChoice::ReadModifyWrite), ..spec(Level::Raid5, 9, None) };
    assert_eq!(counts(&never, 0, 7 * STRIP), (8, 8));
    assert_eq!(counts(&never, 0, 8 * STRIP), (0, 9), "a full row needs no read, whatever is chosen");
}

#[test]
fn an_unaligned_write_over_two_rows_chooses_for_each() {
    // Four data strips a row: the last strip of row 0, all of row 1, half a strip of row 2.
    let plan = plan(&spec(Level::Raid5, 5, None), &[], u64::from(3 * STRIP), 5 * STRIP + 8);
    assert_eq!(plan.choices, RowChoices { full: 1, modified: 2, ..RowChoices::default() });
    assert_eq!((plan.rows[0].first, plan.rows[0].count, plan.rows.len()), (0, 3, 1));
    assert_eq!(plan.reads.len(), 4);
}

#[test]
fn the_exclusive_or_passes_new_data_old_data_and_old_parity_of_a_small_write() {
    assert_eq!(plan(&spec(Level::Raid5, 8, None), &[], 0, 8).xor_bytes, 3 * 4096);
    assert_eq!(plan(&spec(Level::Raid6, 8, None), &[], 0, 8).xor_bytes, 6 * 4096);
}

#[test]
fn degraded_writes_cost_what_is_left() {
    // Left-symmetric, five members: row 0 has data on 0 to 3 and parity on 4.
    let raid5 = spec(Level::Raid5, 5, None);
    let cost = |failed: &[u16], lba, sectors| {
        let plan = plan(&raid5, failed, lba, sectors);
        (plan.reads.len(), plan.writes.len())
    };
    assert_eq!(cost(&[4], 0, 8), (0, 1), "without parity the data are simply written");
    assert_eq!(cost(&[0], 0, 8), (3, 1), "on a missing strip, new parity from the other three");
    assert_eq!(cost(&[1], 0, 8), (2, 2), "beside a missing strip, modifying as ever");
    assert_eq!(cost(&[0], 0, 4 * STRIP), (0, 4), "a full row needs no read");
    assert_eq!(cost(&[0], 8, STRIP), (4, 2), "the rest of a missing strip has to be recovered first");
}

#[test]
fn degraded_reads_read_each_survivor_once() {
    let geometry = Geometry::new(&spec(Level::Raid5, 5, None), 1600).unwrap();
    let mut members = geometry.members();
    members.fail(1);
    let read = |lba, sectors| {
        let mut out = Vec::new();
        let xor_bytes = geometry.read(Extent { lba, sectors }, &members, |_, _| 0, &mut out).unwrap();
        (out.len(), out.iter().map(|piece| piece.sectors).sum::<u32>(), xor_bytes)
    };
    assert_eq!(read(0, 8), (1, 8, 0), "a present strip");
    assert_eq!(read(u64::from(STRIP), 8), (4, 32, 4 * 4096), "a missing one from the other four");
    assert_eq!(read(0, 4 * STRIP), (4, 4 * STRIP, 4 * 8192), "a whole row with parity in place of what is missing");
}

/// k data strips and m of redundancy in a row of erasure coding.
fn coded(data: u16, parities: u16) -> GroupSpec {
    GroupSpec { parities: Some(parities), ..GroupSpec::new(Level::Erasure, data + parities, STRIP) }
}

#[test]
fn a_small_write_of_erasure_coding_reads_old_data_and_parities_or_the_rest_of_the_row() {
    // Modifying reads 1 + m strips, reconstructing k - 1; both write 1 + m.
    for (data, parities, reads, modified) in [(4, 2, 3, 1), (8, 3, 4, 1), (10, 4, 5, 1), (4, 3, 3, 0), (2, 4, 1, 0)] {
        let plan = plan(&coded(data, parities), &[], 3, 8);
        assert_eq!((plan.reads.len(), plan.writes.len()), (reads, 1 + usize::from(parities)), "{data}+{parities}");
        assert_eq!(plan.choices.modified, modified);
    }
    let whole = plan(&coded(8, 3), &[], 0, 8 * STRIP);
    assert_eq!((whole.reads.len(), whole.writes.len(), whole.choices.full), (0, 11, 1));
    assert_eq!(whole.xor_bytes, 3 * 8 * u64::from(STRIP) * 512);
}

#[test]
fn erasure_coding_reads_only_the_strips_that_are_asked_for_and_of_missing_ones_k_others() {
    let geometry = Geometry::new(&coded(8, 3), 1600).unwrap();
    let mut members = geometry.members();
    let read = |members: &_, lba: u64, sectors| {
        let mut out = Vec::new();
        let xor_bytes = geometry.read(Extent { lba, sectors }, members, |_, _| 0, &mut out).unwrap();
        (out.len(), xor_bytes)
    };
    assert_eq!(read(&members, 0, 8), (1, 0));
    assert_eq!(read(&members, 0, 3 * STRIP), (3, 0));
    // Row 0 is data 0 on member 2, since the first of three parities is on the last member.
    [2, 5, 6].into_iter().for_each(|device| members.fail(device));
    assert_eq!(read(&members, 0, 8), (8, 8 * 8 * 512));
    assert_eq!(read(&members, u64::from(STRIP), 8), (1, 0));
    members.fail(0);
    let mut out = Vec::new();
    assert!(geometry.read(Extent { lba: 0, sectors: 8 }, &members, |_, _| 0, &mut out).is_err() && out.is_empty());
}
