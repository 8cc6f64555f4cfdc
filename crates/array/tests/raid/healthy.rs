//! With every member present: reads give back what was written, parity is right, and no two sectors share a place.

use std::collections::BTreeSet;

use plimsoll_array::raid::{Extent, GroupSpec, Piece, WritePlan};
use proptest::prelude::*;

use super::mapping::Mapping;
use super::oracle::Oracle;
use super::reference::{Content, Reference};
use super::scenario::{DEVICE_SECTORS, Life, geometry, groups, live};

#[test]
fn reads_give_back_what_random_writes_wrote_and_parity_is_always_right() {
    for spec in groups() {
        for seed in 0..3 {
            live(&geometry(&spec), &spec, Life::Healthy, seed, 250).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_extents_of_any_group_are_written_and_read_back(
        which in 0..groups().len(),
        places in prop::collection::vec((0.0..1.0_f64, 1_u32..120), 1..8),
    ) {
        let spec = groups().swap_remove(which);
        let geometry = geometry(&spec);
        let mut oracle = Oracle::new(&geometry, Reference::new(&spec, DEVICE_SECTORS));
        for (place, sectors) in places {
            let lba = (place * geometry.data_sectors() as f64) as u64;
            let sectors = sectors.min((geometry.data_sectors() - lba) as u32);
            prop_assert_eq!(oracle.write(Extent { lba, sectors }), Ok(()));
            prop_assert_eq!(oracle.read(Extent { lba, sectors }), Ok(()));
        }
        prop_assert_eq!(oracle.check_all(), Ok(()));
    }
}

#[test]
fn every_data_sector_has_a_place_of_its_own_and_what_is_left_over_is_parity() {
    for spec in groups() {
        let (geometry, reference) = (geometry(&spec), Reference::new(&spec, DEVICE_SECTORS));
        assert_eq!(geometry.data_sectors(), reference.data_sectors, "{spec:?}");
        assert_eq!(geometry.devices(), spec.devices);
        let mut places = BTreeSet::new();
        for lba in 0..geometry.data_sectors() {
            let (device, sector) = geometry.locate(lba);
            let home = reference.home(lba);
            assert_eq!((Some(&device), sector), (reference.devices(home).first(), home.lba), "{spec:?}, sector {lba}");
            assert!(device < spec.devices && sector < geometry.member_sectors());
            assert!(places.insert((device, sector)), "{spec:?}: sector {lba} has the place of another");
        }
        for &(device, sector) in &places {
            let content = reference.row(sector / reference.strip)[usize::from(device % reference.members)];
            assert!(matches!(content, Content::Data { .. }), "{spec:?}: data on the place of parity");
        }
    }
}

/// Sectors of pieces, which neither overlap nor could be fewer commands.
fn merged(mut pieces: Vec<Piece>, spec: &GroupSpec) -> u64 {
    pieces.sort_unstable();
    for pair in pieces.windows(2).filter(|pair| pair[0].device == pair[1].device) {
        assert!(pair[0].end() < pair[1].lba, "{spec:?}: {pair:?} overlap or touch");
    }
    pieces.iter().map(|piece| u64::from(piece.sectors)).sum()
}

#[test]
fn pieces_that_touch_on_a_member_are_one_command() {
    for spec in groups() {
        let geometry = geometry(&spec);
        let (members, mut plan) = (geometry.members(), WritePlan::default());
        for lba in (0..geometry.data_sectors()).step_by(5) {
            for sectors in [1, 7, 30, 90, 1000] {
                let sectors = sectors.min((geometry.data_sectors() - lba) as u32);
                let mut pieces = Vec::new();
                Mapping::read(&geometry, Extent { lba, sectors }, &members, &mut pieces).unwrap();
                assert_eq!(merged(pieces, &spec), u64::from(sectors));
                geometry.write(Extent { lba, sectors }, &members, &mut plan).unwrap();
                merged(std::mem::take(&mut plan.reads), &spec);
                merged(std::mem::take(&mut plan.writes), &spec);
            }
        }
    }
}
