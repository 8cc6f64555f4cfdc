//! With members missing: the same rules, after every failure that the redundancy bears.

use plimsoll_array::raid::{Extent, Level};

use super::oracle::Oracle;
use super::reference::Reference;
use super::scenario::{DEVICE_SECTORS, Dice, Life, geometry, groups, live};

#[test]
fn failures_replacements_and_rebuilds_in_any_order_lose_nothing() {
    for spec in groups().into_iter().filter(|spec| spec.level != Level::Raid0) {
        for seed in 0..3 {
            live(&geometry(&spec), &spec, Life::Failing, seed, 400).unwrap();
        }
    }
}

/// Every set of members that one redundancy group can miss.
fn failures(reference: &Reference) -> Vec<Vec<u16>> {
    let redundancy = if reference.parities > 0 { reference.parities } else { u32::from(reference.members) - 1 };
    (1_u32..1 << reference.members)
        .filter(|set| set.count_ones() <= redundancy)
        .map(|set| (0..reference.members).filter(|&position| set >> position & 1 == 1).collect())
        .collect()
}

#[test]
fn after_any_failure_reads_are_right_and_writes_keep_them_right() {
    for spec in groups().into_iter().filter(|spec| spec.level != Level::Raid0) {
        let geometry = geometry(&spec);
        for failed in failures(&Reference::new(&spec, DEVICE_SECTORS)) {
            let mut oracle = Oracle::new(&geometry, Reference::new(&spec, DEVICE_SECTORS));
            let mut dice = Dice::new(failed.iter().map(|&device| u64::from(device)).sum());
            let everything = Extent { lba: 0, sectors: geometry.data_sectors() as u32 };
            oracle.write(everything).unwrap();
            failed.iter().for_each(|&device| oracle.fail(device));
            let place = |sentence| panic!("{spec:?} without {failed:?}: {sentence}");
            oracle.read(everything).unwrap_or_else(place);
            for _ in 0..30 {
                oracle.write(dice.extent(&oracle.reference)).unwrap_or_else(place);
                oracle.read(dice.extent(&oracle.reference)).unwrap_or_else(place);
            }
            oracle.read(everything).unwrap_or_else(place);
        }
    }
}
