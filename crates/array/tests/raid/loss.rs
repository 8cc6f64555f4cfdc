//! What is lost when too many members are missing, and what is not.

use plimsoll_array::raid::{Extent, GroupSpec, Level, Members, WritePlan};

use super::reference::Reference;
use super::scenario::{DEVICE_SECTORS, Dice, geometry, groups};

/// Data sectors that no member serves and no row gives back, counted one by one.
fn counted(reference: &Reference, served: &[u64]) -> u64 {
    let lost = |&lba: &u64| {
        let home = reference.home(lba);
        let (base, end) = (home.group * reference.members, (home.row + 1) * reference.strip);
        let missing =
            |device: u16| served[usize::from(device)] < if reference.parities > 0 { end } else { home.lba + 1 };
        let missing_count = (base..base + reference.members).filter(|&device| missing(device)).count();
        reference.devices(home).into_iter().all(missing)
            && (reference.parities == 0 || missing_count > reference.parities as usize)
    };
    (0..reference.data_sectors).filter(lost).count() as u64
}

/// Some members fail, some of these are rebuilt in part; with what each serves.
fn injured(spec: &GroupSpec, dice: &mut Dice) -> (Members, Vec<u64>) {
    let geometry = geometry(spec);
    let (mut members, mut served) = (geometry.members(), vec![u64::MAX; usize::from(spec.devices)]);
    for _ in 0..1 + dice.below(4) {
        let device = dice.below(u64::from(spec.devices)) as u16;
        members.fail(device);
        served[usize::from(device)] = 0;
        if dice.below(2) == 0 {
            let strip = u64::from(spec.strip_sectors);
            let mark = dice.below(geometry.member_sectors() / strip) * strip;
            members.replace(device);
            members.rebuilt(device, mark, &geometry);
            served[usize::from(device)] = mark;
        }
    }
    (members, served)
}

#[test]
fn the_count_of_what_is_lost_is_exact_and_reads_refuse_just_that() {
    for spec in groups() {
        let (geometry, reference) = (geometry(&spec), Reference::new(&spec, DEVICE_SECTORS));
        let mut dice = Dice::new(u64::from(spec.devices));
        for _ in 0..20 {
            let (members, served) = injured(&spec, &mut dice);
            let expected = counted(&reference, &served);
            assert_eq!(geometry.lost_sectors(&members), expected, "{spec:?} {members:?}");
            assert_eq!(geometry.lost_group(&members).is_some(), expected > 0);
            let mut out = Vec::new();
            let refused = (0..geometry.data_sectors())
                .filter(|&lba| geometry.read(Extent { lba, sectors: 1 }, &members, |_, _| 0, &mut out).is_err())
                .count();
            assert_eq!(refused as u64, expected, "{spec:?} {members:?}");
        }
    }
}

#[test]
fn a_request_that_meets_a_loss_says_where_and_leaves_nothing_behind() {
    let spec = GroupSpec { groups: Some(2), ..GroupSpec::new(Level::Raid50, 6, 4) };
    let geometry = geometry(&spec);
    let mut members = geometry.members();
    members.fail(3);
    members.fail(4);
    let mut out = Vec::new();
    let extent = Extent { lba: 0, sectors: 16 };
    let lost = geometry.read(extent, &members, |_, _| 0, &mut out).unwrap_err();
    assert_eq!((lost.group, lost.lba, out.len()), (1, 8, 0));
    let mut plan = WritePlan::default();
    assert_eq!(geometry.write(extent, &members, &mut plan), Err(lost));
    assert_eq!(plan, WritePlan::default());
    assert!(lost.to_string().starts_with("redundancy group 1 has lost data at sector 8"));
    geometry.write(Extent { lba: 0, sectors: 8 }, &members, &mut plan).unwrap();
}
