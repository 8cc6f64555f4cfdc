//! The layouts against tables written by hand, in the way of the manual page of Linux md: rows down, members across.

use plimsoll_array::raid::{Extent, Geometry, GroupSpec, Layout, Level, WritePlan};

const STRIP: u32 = 8;

/// The first rows of a group as words: the number of the data strip, P or Q.
fn table(spec: &GroupSpec, rows: u64) -> Vec<String> {
    let geometry = Geometry::new(spec, u64::from(STRIP) * 100).unwrap();
    let mut words = vec![vec!["-".to_owned(); usize::from(spec.devices)]; rows as usize];
    let data = geometry.row_sectors() / u64::from(STRIP);
    for strip in 0..data * rows {
        let (device, lba) = geometry.locate(strip * u64::from(STRIP));
        words[(lba / u64::from(STRIP)) as usize][usize::from(device)] = strip.to_string();
    }
    let (members, mut plan) = (geometry.members(), WritePlan::default());
    for row in 0..rows {
        let extent = Extent { lba: row * geometry.row_sectors(), sectors: geometry.row_sectors() as u32 };
        geometry.write(extent, &members, &mut plan).unwrap();
        for (piece, name) in plan.writes[data as usize..].iter().zip(["P", "Q"]) {
            name.clone_into(&mut words[row as usize][usize::from(piece.device)]);
        }
    }
    words.into_iter().map(|row| row.join(" ")).collect()
}

fn of(level: Level, layout: Layout) -> Vec<String> {
    table(&GroupSpec { layout: Some(layout), ..GroupSpec::new(level, 5, STRIP) }, 6)
}

#[test]
fn raid_5_layouts_are_those_of_md() {
    assert_eq!(
        of(Level::Raid5, Layout::LeftSymmetric),
        ["0 1 2 3 P", "5 6 7 P 4", "10 11 P 8 9", "15 P 12 13 14", "P 16 17 18 19", "20 21 22 23 P"]
    );
    assert_eq!(
        of(Level::Raid5, Layout::LeftAsymmetric),
        ["0 1 2 3 P", "4 5 6 P 7", "8 9 P 10 11", "12 P 13 14 15", "P 16 17 18 19", "20 21 22 23 P"]
    );
    assert_eq!(
        of(Level::Raid5, Layout::RightSymmetric),
        ["P 0 1 2 3", "7 P 4 5 6", "10 11 P 8 9", "13 14 15 P 12", "16 17 18 19 P", "P 20 21 22 23"]
    );
    assert_eq!(
        of(Level::Raid5, Layout::RightAsymmetric),
        ["P 0 1 2 3", "4 P 5 6 7", "8 9 P 10 11", "12 13 14 P 15", "16 17 18 19 P", "P 20 21 22 23"]
    );
}

#[test]
fn raid_6_layouts_are_those_of_md() {
    assert_eq!(
        of(Level::Raid6, Layout::LeftSymmetric),
        ["Q 0 1 2 P", "3 4 5 P Q", "7 8 P Q 6", "11 P Q 9 10", "P Q 12 13 14", "Q 15 16 17 P"]
    );
    assert_eq!(
        of(Level::Raid6, Layout::LeftAsymmetric),
        ["Q 0 1 2 P", "3 4 5 P Q", "6 7 P Q 8", "9 P Q 10 11", "P Q 12 13 14", "Q 15 16 17 P"]
    );
    assert_eq!(
        of(Level::Raid6, Layout::RightSymmetric),
        ["P Q 0 1 2", "5 P Q 3 4", "7 8 P Q 6", "9 10 11 P Q", "Q 12 13 14 P", "P Q 15 16 17"]
    );
    assert_eq!(
        of(Level::Raid6, Layout::RightAsymmetric),
        ["P Q 0 1 2", "3 P Q 4 5", "6 7 P Q 8", "9 10 11 P Q", "Q 12 13 14 P", "P Q 15 16 17"]
    );
}

/// Members of the first data strips, in order.
fn members(spec: &GroupSpec, strips: u64) -> Vec<(u16, u64)> {
    let geometry = Geometry::new(spec, u64::from(STRIP) * 100).unwrap();
    let row = |(device, lba): (u16, u64)| (device, lba / u64::from(STRIP));
    (0..strips).map(|strip| row(geometry.locate(strip * u64::from(STRIP)))).collect()
}

#[test]
fn stripes_take_members_in_turn() {
    let raid0 = GroupSpec::new(Level::Raid0, 3, STRIP);
    assert_eq!(members(&raid0, 5), [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)]);
    let raid10 = GroupSpec::new(Level::Raid10, 4, STRIP);
    assert_eq!(members(&raid10, 5), [(0, 0), (2, 0), (0, 1), (2, 1), (0, 2)]);
}

#[test]
fn nested_groups_take_rows_in_turn_or_what_the_outer_strip_says() {
    let raid50 = GroupSpec { groups: Some(2), ..GroupSpec::new(Level::Raid50, 6, STRIP) };
    assert_eq!(members(&raid50, 6), [(0, 0), (1, 0), (3, 0), (4, 0), (2, 1), (0, 1)]);
    let narrow = GroupSpec { outer_strip_sectors: Some(STRIP), ..raid50.clone() };
    assert_eq!(members(&narrow, 6), [(0, 0), (3, 0), (1, 0), (4, 0), (2, 1), (5, 1)]);
    let wide = GroupSpec { outer_strip_sectors: Some(4 * STRIP), ..raid50 };
    assert_eq!(members(&wide, 6), [(0, 0), (1, 0), (2, 1), (0, 1), (3, 0), (4, 0)]);
}
