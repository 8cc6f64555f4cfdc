//! Rebuilding: the spare ends up with exactly what the member held, from the fewest reads.

use plimsoll_array::raid::{Extent, Geometry, GroupSpec, Level, Rebuild, RebuildChunk, WritePlan};

use super::oracle::Oracle;
use super::reference::Reference;
use super::scenario::{DEVICE_SECTORS, geometry, groups};

#[test]
fn rebuilding_restores_every_member_exactly() {
    for spec in groups().into_iter().filter(|spec| spec.level != Level::Raid0) {
        let geometry = geometry(&spec);
        for device in 0..spec.devices {
            let mut oracle = Oracle::new(&geometry, Reference::new(&spec, DEVICE_SECTORS));
            oracle.write(Extent { lba: 0, sectors: geometry.data_sectors() as u32 }).unwrap();
            oracle.fail(device);
            oracle.replace(device);
            let (mut rebuild, mut chunk) = (Rebuild::new(device, 7, &geometry), RebuildChunk::default());
            while oracle.rebuild(&mut rebuild, &mut chunk).unwrap() {}
            assert!(oracle.members.is_whole());
            oracle.check_all().unwrap();
        }
    }
}

/// Reads of each member, in chunks, while one member is rebuilt.
fn reads(spec: &GroupSpec, device: u16, chunk_sectors: u32) -> Vec<u32> {
    let geometry = Geometry::new(spec, 1000 * u64::from(spec.strip_sectors)).unwrap();
    let mut members = geometry.members();
    members.fail(device);
    members.replace(device);
    let (mut rebuild, mut chunk) = (Rebuild::new(device, chunk_sectors, &geometry), RebuildChunk::default());
    let mut counts = vec![0; usize::from(spec.devices)];
    while rebuild.next(&geometry, &members, &mut chunk).unwrap() {
        chunk.reads.iter().for_each(|piece| counts[usize::from(piece.device)] += 1);
        assert!(chunk.write.device == device && chunk.write.sectors % spec.strip_sectors == 0);
    }
    counts
}

#[test]
fn one_mirror_is_copied_and_parity_groups_read_one_strip_for_each_data_column() {
    assert_eq!(reads(&GroupSpec::new(Level::Raid10, 8, 8), 5, 8), [0, 0, 0, 0, 1000, 0, 0, 0]);
    assert_eq!(reads(&GroupSpec::new(Level::Raid5, 5, 8), 1, 8), [1000, 0, 1000, 1000, 1000]);
    // Four data columns: four of the five survivors are enough, and another is left out each time.
    assert_eq!(reads(&GroupSpec::new(Level::Raid6, 6, 8), 1, 8), [800, 0, 800, 800, 800, 800]);
    // k of the survivors, in turn.
    let coded = GroupSpec { parities: Some(3), ..GroupSpec::new(Level::Erasure, 7, 8) };
    assert_eq!(reads(&coded, 1, 8).iter().sum::<u32>(), 4 * 1000);
    assert!(reads(&coded, 1, 8).iter().all(|&count| count == 0 || count.abs_diff(667) <= 1));
    let nested = GroupSpec { groups: Some(2), ..GroupSpec::new(Level::Raid50, 8, 8) };
    assert_eq!(reads(&nested, 6, 8), [0, 0, 0, 0, 1000, 1000, 0, 1000]);
}

#[test]
fn a_member_is_copied_from_itself_alone() {
    for spec in [GroupSpec::new(Level::Raid10, 4, 8), GroupSpec::new(Level::Raid5, 4, 8)] {
        let geometry = Geometry::new(&spec, 800).unwrap();
        let (mut copying, mut chunk) = (Rebuild::copying(2, 6, 16, &geometry), RebuildChunk::default());
        let mut next_lba = 0;
        while copying.next(&geometry, &geometry.members(), &mut chunk).unwrap() {
            let [read] = chunk.reads[..] else { panic!("{chunk:?}") };
            assert_eq!((read.device, read.lba, read.sectors, read.write), (2, next_lba, 16, false));
            assert_eq!((chunk.write.device, chunk.write.lba, chunk.write.write), (6, next_lba, true));
            assert_eq!((chunk.xor_bytes, chunk.rows.count), (0, 2));
            next_lba = chunk.write.end();
        }
        assert_eq!(next_lba, 800);
    }
}

#[test]
fn writes_of_a_mirror_take_the_rows_that_are_copied() {
    let geometry = Geometry::new(&GroupSpec::new(Level::Raid10, 4, 8), 800).unwrap();
    let mut members = geometry.members();
    let rows = |members: &_, lba| {
        let mut plan = WritePlan::default();
        geometry.write(Extent { lba, sectors: 8 }, members, &mut plan).unwrap();
        plan.rows.len()
    };
    assert_eq!([rows(&members, 0), rows(&members, 8)], [0, 0]);
    members.copy(2, true);
    assert_eq!([rows(&members, 0), rows(&members, 8)], [0, 1], "strips alternate between the two mirrors");
    members.copy(2, false);
    assert_eq!([rows(&members, 0), rows(&members, 8)], [0, 0]);
}

#[test]
fn chunks_are_made_whole_strips() {
    assert_eq!(reads(&GroupSpec::new(Level::Raid5, 3, 8), 0, 17), [0, 334, 334]);
}

#[test]
fn a_second_failure_during_the_rebuild_of_raid_5_stops_it() {
    let geometry = geometry(&GroupSpec::new(Level::Raid5, 4, 4));
    let mut members = geometry.members();
    members.fail(0);
    members.replace(0);
    let (mut rebuild, mut chunk) = (Rebuild::new(0, 4, &geometry), RebuildChunk::default());
    assert!(rebuild.next(&geometry, &members, &mut chunk).unwrap());
    members.fail(2);
    let lost = rebuild.next(&geometry, &members, &mut chunk).unwrap_err();
    assert_eq!((lost.group, lost.lba), (0, 12));
}

#[test]
#[should_panic(expected = "only a replaced member is rebuilt")]
fn a_member_that_has_not_been_replaced_cannot_be_rebuilt() {
    let geometry = geometry(&GroupSpec::new(Level::Raid5, 4, 4));
    let mut members = geometry.members();
    members.fail(0);
    let _ = Rebuild::new(0, 4, &geometry).next(&geometry, &members, &mut RebuildChunk::default());
}
