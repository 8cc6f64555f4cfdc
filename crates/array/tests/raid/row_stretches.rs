//! Several extents of one row as one write: against stored bytes, against a plain write, and counted by hand.

use plimsoll_array::raid::{Extent, Gaps, Geometry, GroupSpec, Level, Rebuild, RebuildChunk, RowChoices, WritePlan};

use super::oracle::Oracle;
use super::reference::Reference;
use super::scenario::{DEVICE_SECTORS, Dice, geometry, groups};

/// One or more extents of a random row, ascending and apart.
fn extents(geometry: &Geometry, dice: &mut Dice) -> Vec<Extent> {
    let row = geometry.row_sectors();
    let first = dice.below(geometry.data_sectors() / row) * row;
    let one_of = 2 + dice.below(4);
    let mut wanted: Vec<bool> = (0..row).map(|_| dice.below(one_of) == 0).collect();
    wanted[dice.below(row) as usize] = true;
    let mut found: Vec<Extent> = Vec::new();
    for lba in (first..).zip(wanted).filter_map(|(lba, is_wanted)| is_wanted.then_some(lba)) {
        match found.last_mut() {
            Some(last) if last.lba + u64::from(last.sectors) == lba => last.sectors += 1,
            _ => found.push(Extent { lba, sectors: 1 }),
        }
    }
    found
}

/// The parts of extents that are one write each.
fn writes<'a>(geometry: &Geometry, extents: &'a [Extent]) -> Vec<&'a [Extent]> {
    let mut writes = Vec::new();
    let mut left = extents;
    while !left.is_empty() {
        let (together, behind) = left.split_at(geometry.together(left));
        writes.push(together);
        left = behind;
    }
    writes
}

fn with_parity() -> impl Iterator<Item = GroupSpec> {
    groups().into_iter().filter(|spec| spec.parities() > 0)
}

#[test]
fn what_is_written_together_keeps_every_row_right_whoever_is_missing() {
    for (spec, gaps) in with_parity().flat_map(|spec| [Gaps::Written, Gaps::Left].map(|gaps| (spec.clone(), gaps))) {
        let geometry = geometry(&spec);
        let mut dice = Dice::new(u64::from(spec.devices));
        for missing in 0..=spec.parities() {
            let mut oracle = Oracle::new(&geometry, Reference::new(&spec, DEVICE_SECTORS));
            oracle.write(Extent { lba: 0, sectors: geometry.data_sectors() as u32 }).unwrap();
            (0..missing).for_each(|_| oracle.fail(dice.below(u64::from(oracle.reference.members)) as u16));
            for _ in 0..100 {
                let extents = extents(&geometry, &mut dice);
                for together in writes(&geometry, &extents) {
                    let place = |sentence| panic!("{spec:?}, {gaps:?}, {missing} missing, {together:?}: {sentence}");
                    oracle.write_together(together, gaps).unwrap_or_else(place);
                }
            }
            oracle.check_all().unwrap();
        }
    }
}

#[test]
fn rows_are_right_however_far_a_rebuild_has_come() {
    for (spec, gaps) in with_parity().flat_map(|spec| [Gaps::Written, Gaps::Left].map(|gaps| (spec.clone(), gaps))) {
        let geometry = geometry(&spec);
        let mut dice = Dice::new(u64::from(spec.devices));
        let mut oracle = Oracle::new(&geometry, Reference::new(&spec, DEVICE_SECTORS));
        let device = dice.below(u64::from(spec.devices)) as u16;
        oracle.fail(device);
        oracle.replace(device);
        let (mut rebuild, mut chunk) = (Rebuild::new(device, 5, &geometry), RebuildChunk::default());
        while oracle.rebuild(&mut rebuild, &mut chunk).unwrap() {
            for _ in 0..5 {
                let extents = extents(&geometry, &mut dice);
                for together in writes(&geometry, &extents) {
                    oracle.write_together(together, gaps).unwrap_or_else(|sentence| panic!("{spec:?}: {sentence}"));
                }
            }
        }
        assert!(oracle.members.is_whole());
        oracle.check_all().unwrap();
    }
}

#[test]
fn a_row_of_which_more_is_missing_than_it_bears_is_lost_and_its_plan_is_empty() {
    for spec in with_parity() {
        let geometry = geometry(&spec);
        let mut members = geometry.members();
        (0..=spec.parities()).for_each(|device| members.fail(device as u16));
        let mut plan = WritePlan::default();
        assert!(geometry.write_together(&[Extent { lba: 0, sectors: 1 }], Gaps::Written, &members, &mut plan).is_err());
        assert_eq!(plan, WritePlan::default());
    }
}

#[test]
fn an_extent_in_two_halves_is_planned_as_by_a_plain_write() {
    for spec in with_parity() {
        let geometry = geometry(&spec);
        let (mut dice, members) = (Dice::new(3), geometry.members());
        let (mut plain, mut together) = (WritePlan::default(), WritePlan::default());
        for _ in 0..200 {
            let extent = extents(&geometry, &mut dice)[0];
            if extent.sectors == 1 || geometry.together(&[extent, extent]) < 2 {
                continue;
            }
            let first = 1 + dice.below(u64::from(extent.sectors) - 1) as u32;
            let behind = Extent { lba: extent.lba + u64::from(first), sectors: extent.sectors - first };
            let halves = [Extent { sectors: first, ..extent }, behind];
            geometry.write(extent, &members, &mut plain).unwrap();
            geometry.write_together(&halves, Gaps::Written, &members, &mut together).unwrap();
            assert_eq!(plain, together, "{spec:?} {extent:?}");
        }
    }
}

/// Five members, strips of 128 sectors; pages of 32 are written.
fn planned(pages: &[u64], gaps: Gaps) -> WritePlan {
    let geometry = Geometry::new(&GroupSpec::new(Level::Raid5, 5, 128), 1_000_000).unwrap();
    let extents: Vec<Extent> = pages.iter().map(|page| Extent { lba: page * 32, sectors: 32 }).collect();
    let mut plan = WritePlan::default();
    geometry.write_together(&extents, gaps, &geometry.members(), &mut plan).unwrap();
    plan
}

#[test]
fn the_commands_of_a_write_together_are_those_of_one_update() {
    let counted = |pages: &[u64], gaps| {
        let plan = planned(pages, gaps);
        (plan.reads.len(), plan.writes.len(), plan.choices)
    };
    let modified = RowChoices { modified: 1, ..RowChoices::default() };
    let reconstructed = RowChoices { reconstructed: 1, ..RowChoices::default() };
    // Two pages of one strip: one read of both and one of the parity, as for a small write.
    assert_eq!(counted(&[0, 2], Gaps::Written), (2, 2, modified));
    assert_eq!(counted(&[0, 2], Gaps::Left), (2, 4, modified));
    // The same page of two strips: the other two are fewer than two old ones and the parity.
    assert_eq!(counted(&[0, 4], Gaps::Written), (2, 3, reconstructed));
    assert_eq!(counted(&[0, 4], Gaps::Left), (2, 3, reconstructed));
    // Every second page of the row: all four strips have gaps.
    let every_second = [0, 2, 4, 6, 8, 10, 12, 14];
    assert_eq!(counted(&every_second, Gaps::Written), (4, 5, reconstructed));
    assert_eq!(counted(&every_second, Gaps::Left), (4, 10, reconstructed));
    // Pages at the ends of two strips change the parity at both ends.
    assert_eq!(counted(&[0, 7], Gaps::Written), (3, 3, modified));
    assert_eq!(counted(&[0, 7], Gaps::Left), (3, 4, modified));
}

#[test]
fn no_more_is_read_of_a_strip_than_is_needed_and_gaps_that_are_left_are_not_written() {
    let sectors = |pieces: &[plimsoll_array::raid::Piece]| pieces.iter().map(|piece| piece.sectors).sum::<u32>();
    // Pages 0 and 2 of the first strip, all of the other three: only page 1 is read of the first, and all of its fourth.
    let nearly_all: Vec<u64> = [0, 2].into_iter().chain(4..16).collect();
    let written = planned(&nearly_all, Gaps::Written);
    assert_eq!((sectors(&written.reads), sectors(&written.writes)), (96, 96 + 4 * 128));
    let left = planned(&nearly_all, Gaps::Left);
    assert_eq!((sectors(&left.reads), sectors(&left.writes)), (96, 64 + 4 * 128));
    // Pages of two heights: the parity is written at both, and nothing else.
    assert_eq!(sectors(&planned(&[0, 7], Gaps::Left).writes), 4 * 32);
    assert_eq!(sectors(&planned(&[0, 7], Gaps::Written).writes), 2 * 32 + 128);
}

#[test]
fn only_extents_of_one_row_of_one_parity_group_are_written_together() {
    let five = Geometry::new(&GroupSpec::new(Level::Raid5, 5, 128), 1_000_000).unwrap();
    let at = |lba: u64| Extent { lba, sectors: 8 };
    assert_eq!(five.together(&[at(0), at(504), at(512)]), 2);
    assert_eq!(five.together(&[at(508), at(600)]), 1);
    let mirrored = Geometry::new(&GroupSpec::new(Level::Raid10, 4, 128), 1_000_000).unwrap();
    assert_eq!(mirrored.together(&[at(0), at(16)]), 1);
    // Of RAID 50 the rows of two groups lie side by side.
    let spec = GroupSpec { groups: Some(2), ..GroupSpec::new(Level::Raid50, 6, 128) };
    let nested = Geometry::new(&spec, 1_000_000).unwrap();
    assert_eq!(nested.together(&[at(0), at(248), at(256), at(504)]), 2);
    assert_eq!(nested.together(&[at(256), at(504)]), 2);
}
