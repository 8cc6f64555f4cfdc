//! Several extents of one row as one write: against stored bytes, against a plain write, and counted by hand.

use plimsoll_array::raid::{Extent, Geometry, GroupSpec, Level, RowChoices, WritePlan};

use super::oracle::Oracle;
use super::reference::Reference;
use super::scenario::{DEVICE_SECTORS, Dice, geometry, groups};

/// One or more extents of a random row, ascending and apart.
fn extents(geometry: &Geometry, dice: &mut Dice) -> Vec<Extent> {
    let row = geometry.row_sectors();
    loop {
        let first = dice.below(geometry.data_sectors() / row) * row;
        let mut wanted: Vec<bool> = (0..row).map(|_| dice.below(3) == 0).collect();
        wanted[dice.below(row) as usize] = true;
        let mut found: Vec<Extent> = Vec::new();
        for lba in (first..).zip(wanted).filter_map(|(lba, is_wanted)| is_wanted.then_some(lba)) {
            match found.last_mut() {
                Some(last) if last.lba + u64::from(last.sectors) == lba => last.sectors += 1,
                _ => found.push(Extent { lba, sectors: 1 }),
            }
        }
        if geometry.share_row(&found) {
            return found;
        }
    }
}

#[test]
fn what_is_written_together_keeps_every_row_right_whoever_is_missing() {
    for spec in groups().into_iter().filter(|spec| spec.level.parities() > 0) {
        let geometry = geometry(&spec);
        let mut dice = Dice::new(u64::from(spec.devices));
        for missing in 0..=spec.level.parities() {
            let mut oracle = Oracle::new(&geometry, Reference::new(&spec, DEVICE_SECTORS));
            oracle.write(Extent { lba: 0, sectors: geometry.data_sectors() as u32 }).unwrap();
            (0..missing).for_each(|_| oracle.fail(dice.below(u64::from(oracle.reference.members)) as u16));
            for _ in 0..100 {
                let extents = extents(&geometry, &mut dice);
                let place = |sentence| panic!("{spec:?}, {missing} missing, {extents:?}: {sentence}");
                oracle.write_together(&extents).unwrap_or_else(place);
            }
            oracle.check_all().unwrap();
        }
    }
}

#[test]
fn one_extent_is_planned_as_by_a_plain_write() {
    for spec in groups().into_iter().filter(|spec| spec.level.parities() > 0) {
        let geometry = geometry(&spec);
        let (mut dice, members) = (Dice::new(3), geometry.members());
        let (mut plain, mut together) = (WritePlan::default(), WritePlan::default());
        for _ in 0..50 {
            let extent = extents(&geometry, &mut dice)[0];
            geometry.write(extent, &members, &mut plain).unwrap();
            geometry.write_together(&[extent], &members, &mut together).unwrap();
            assert_eq!(plain, together, "{spec:?} {extent:?}");
        }
    }
}

#[test]
fn the_commands_of_writes_together_are_those_of_one_update() {
    // Five members, strips of 128 sectors, pages of 32.
    let geometry = Geometry::new(&GroupSpec::new(Level::Raid5, 5, 128), 1_000_000).unwrap();
    let counted = |pages: &[u64]| {
        let extents: Vec<Extent> = pages.iter().map(|page| Extent { lba: page * 32, sectors: 32 }).collect();
        let mut plan = WritePlan::default();
        geometry.write_together(&extents, &geometry.members(), &mut plan).unwrap();
        (plan.reads.len(), plan.writes.len(), plan.choices)
    };
    let modified = RowChoices { modified: 1, ..RowChoices::default() };
    let reconstructed = RowChoices { reconstructed: 1, ..RowChoices::default() };
    // Two pages of one strip, the gap between read and written: as one small write.
    assert_eq!(counted(&[0, 2]), (2, 2, modified));
    // The same page of two strips: the other two are fewer than two old ones and the parity.
    assert_eq!(counted(&[0, 4]), (2, 3, reconstructed));
    // Every second page of the row: all four strips have gaps.
    assert_eq!(counted(&[0, 2, 4, 6, 8, 10, 12, 14]), (4, 5, reconstructed));
}

#[test]
fn only_extents_of_one_row_of_one_parity_group_share_it() {
    let five = Geometry::new(&GroupSpec::new(Level::Raid5, 5, 128), 1_000_000).unwrap();
    let at = |lba: u64| Extent { lba, sectors: 8 };
    assert!(five.share_row(&[at(0), at(504)]) && !five.share_row(&[at(0), at(512)]) && !five.share_row(&[at(508)]));
    let mirrored = Geometry::new(&GroupSpec::new(Level::Raid10, 4, 128), 1_000_000).unwrap();
    assert!(!mirrored.share_row(&[at(0), at(16)]));
}
