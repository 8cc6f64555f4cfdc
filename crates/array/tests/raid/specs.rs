//! Documents that describe groups: what they mean, and the sentence for what cannot be.

use plimsoll_array::raid::{Geometry, GroupSpec, Layout, Level, ReadChoice, Reliability, Repair};

fn sentence(text: &str) -> String {
    toml::from_str::<GroupSpec>(text).unwrap().check().unwrap_err().to_string()
}

#[test]
fn what_cannot_be_is_one_sentence_that_names_the_key() {
    for (text, expected) in [
        ("level = 'raid5'\ndevices = 2", "key 'devices': 2 is too few for raid5; give at least 3"),
        ("level = 'raid60'\ngroups = 2\ndevices = 7", "key 'devices': 7 is too few for raid60; give at least 8"),
        ("level = 'raid10'\ndevices = 5", "key 'devices': 5 are no pairs; give an even number, or say 'groups'"),
        (
            "level = 'raid50'\ngroups = 2\ndevices = 7",
            "key 'devices': 7 cannot be dealt out evenly to 2 groups; give a multiple of 2",
        ),
        ("level = 'raid50'\ndevices = 6", "key 'groups': is missing; say how many parity groups this raid50 has"),
        (
            "level = 'raid6'\ndevices = 65",
            "key 'devices': 65 members in one redundancy group are too many; give at most 64",
        ),
        (
            "level = 'raid50'\ndevices = 6\ngroups = 2\nouter_strip_sectors = 200",
            "key 'outer_strip_sectors': 200 is no multiple of strip_sectors; give a multiple of 128",
        ),
        (
            "level = 'raid10'\ndevices = 4\nlayout = 'left_symmetric'",
            "key 'layout': has no meaning for raid10; leave it out",
        ),
        (
            "level = 'erasure'\ndevices = 6",
            "key 'parities': is missing; say how many strips of redundancy a row of this erasure has",
        ),
        (
            "level = 'erasure'\nparities = 3\ndevices = 7\ngroups = 2",
            "key 'devices': 7 is too few for erasure; give at least 8",
        ),
        ("level = 'raid6'\nparities = 3\ndevices = 7", "key 'parities': has no meaning for raid6; leave it out"),
        ("level = 'raid5'\ndevices = 4\ngroups = 2", "key 'groups': has no meaning for raid5; leave it out"),
        (
            "level = 'raid6'\ndevices = 4\nread_choice = 'primary_only'",
            "key 'read_choice': has no meaning for raid6; leave it out",
        ),
    ] {
        assert_eq!(sentence(text), expected);
    }
}

#[test]
fn an_unknown_key_or_word_is_refused() {
    for (text, expected) in [
        (
            "level = 'raid5'\ndevices = 4\nstripe = 3",
            "key 'stripe' is not known; docs/reference/arrays.md lists all keys",
        ),
        ("level = 'raid4'\ndevices = 4", "level: 'raid4' is not a RAID level; did you mean 'raid0'?"),
    ] {
        let error = toml::from_str::<GroupSpec>(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn what_is_out_of_range_is_refused_whether_it_was_read_or_not() {
    for (text, built, expected) in [
        (
            "level = 'raid50'\ndevices = 6\ngroups = 0",
            GroupSpec { groups: Some(0), ..GroupSpec::new(Level::Raid50, 6, 128) },
            ("groups", "0 is too small; write 1 or more"),
        ),
        (
            "level = 'raid0'\ndevices = 2\nstrip_sectors = 0",
            GroupSpec::new(Level::Raid0, 2, 0),
            ("strip_sectors", "0 is too small; write 1 or more"),
        ),
    ] {
        let (key, problem) = expected;
        assert_eq!(built.check().unwrap_err().to_string(), format!("key '{key}': {problem}"));
        let error = toml::from_str::<GroupSpec>(text).unwrap_err().to_string();
        assert_eq!(error.trim_end(), format!("{key}: {problem}"));
    }
}

#[test]
fn a_document_reads_back_as_it_was_written() {
    let spec = GroupSpec {
        layout: Some(Layout::RightAsymmetric),
        groups: Some(3),
        outer_strip_sectors: Some(512),
        ..GroupSpec::new(Level::Raid50, 12, 128)
    };
    let text = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<GroupSpec>(&text).unwrap(), spec);
    let short: GroupSpec = serde_json::from_str("{\"level\":\"raid1\",\"devices\":2}").unwrap();
    assert_eq!((short.strip_sectors, short.read_choice), (128, None));
    assert_eq!(Geometry::new(&short, 100).unwrap().read_choice(), ReadChoice::ShorterPositioning);
}

#[test]
fn members_smaller_than_a_strip_are_refused() {
    let error = Geometry::new(&GroupSpec::new(Level::Raid5, 3, 128), 100).unwrap_err();
    assert_eq!(error.key, "strip_sectors");
}

#[test]
fn capacity_is_that_of_the_data_members() {
    let sectors = |level, devices, groups| {
        let spec = GroupSpec { groups, ..GroupSpec::new(level, devices, 128) };
        Geometry::new(&spec, 1_280_000 + 5).unwrap().data_sectors()
    };
    assert_eq!(sectors(Level::Raid0, 4, None), 4 * 1_280_000);
    assert_eq!(sectors(Level::Raid1, 2, None), 1_280_005);
    assert_eq!(sectors(Level::Raid10, 8, None), 4 * 1_280_000);
    assert_eq!(sectors(Level::Raid5, 12, None), 11 * 1_280_000);
    assert_eq!(sectors(Level::Raid60, 48, Some(4)), 40 * 1_280_000);
    let coded = GroupSpec { parities: Some(3), groups: Some(2), ..GroupSpec::new(Level::Erasure, 22, 128) };
    assert_eq!(Geometry::new(&coded, 1_280_000 + 5).unwrap().data_sectors(), 16 * 1_280_000);
}

#[test]
fn reliability_takes_its_shape_from_the_group() {
    let spec = GroupSpec { groups: Some(4), ..GroupSpec::new(Level::Raid60, 48, 128) };
    let reliability = Reliability::of(&Geometry::new(&spec, 1 << 20).unwrap(), 1e6, 24.0);
    assert_eq!((reliability.members, reliability.redundancy, reliability.groups), (12, 2, 4));
    assert_eq!(reliability.repair, Repair::OneAtATime);
    assert!(reliability.mttdl_hours() > 1e9);
}
