//! Which copy serves a read.

use plimsoll_array::raid::{Extent, Geometry, GroupSpec, Level, Piece, ReadChoice};

fn pair(read_choice: ReadChoice) -> Geometry {
    Geometry::new(&GroupSpec { read_choice: Some(read_choice), ..GroupSpec::new(Level::Raid10, 6, 8) }, 800).unwrap()
}

fn device(geometry: &Geometry, lba: u64, cost: impl FnMut(u16, u64) -> u64) -> u16 {
    let mut out: Vec<Piece> = Vec::new();
    geometry.read(Extent { lba, sectors: 4 }, &geometry.members(), cost, &mut out).unwrap();
    assert_eq!(out.len(), 1);
    out[0].device
}

#[test]
fn the_copy_with_the_lowest_cost_is_taken() {
    let geometry = pair(ReadChoice::ShorterPositioning);
    // The second pair; the closure is told the member and the sector on it.
    let chosen = device(&geometry, 8, |device, lba| {
        assert_eq!(lba, 0);
        u64::from(device == 2)
    });
    assert_eq!(chosen, 3);
}

#[test]
fn copies_of_equal_cost_take_turns_by_address() {
    for choice in [ReadChoice::ShorterPositioning, ReadChoice::LeastQueued] {
        let geometry = pair(choice);
        // The second pair, strip after strip; the strips of a pair lie 24 sectors apart.
        let chosen: Vec<_> = (0..4).map(|row| device(&geometry, 8 + 24 * row, |_, _| 7)).collect();
        assert_eq!(chosen, [2, 3, 2, 3]);
        assert_eq!(device(&geometry, 32, |device, _| u64::from(device)), 2, "a turn is for equals only");
    }
}

#[test]
fn least_queued_asks_the_same_closure() {
    let waiting = [4, 4, 9, 3, 0, 0];
    let chosen = device(&pair(ReadChoice::LeastQueued), 8, |device, _| waiting[usize::from(device)]);
    assert_eq!(chosen, 3);
}

#[test]
fn primary_only_asks_nobody_and_falls_back_to_the_next_copy() {
    let geometry = pair(ReadChoice::PrimaryOnly);
    let nobody = |_: u16, _: u64| -> u64 { panic!("not asked") };
    assert_eq!(device(&geometry, 16, nobody), 4);
    let mut members = geometry.members();
    members.fail(4);
    let mut out = Vec::new();
    geometry.read(Extent { lba: 16, sectors: 4 }, &members, nobody, &mut out).unwrap();
    assert_eq!(out[0].device, 5);
}

#[test]
fn a_long_read_chooses_for_each_pair() {
    let geometry = pair(ReadChoice::ShorterPositioning);
    let mut out = Vec::new();
    let extent = Extent { lba: 0, sectors: 48 };
    geometry.read(extent, &geometry.members(), |device, _| u64::from(device % 2 == 0), &mut out).unwrap();
    let pieces: Vec<_> = out.iter().map(|piece| (piece.device, piece.lba, piece.sectors)).collect();
    assert_eq!(pieces, [(1, 0, 16), (3, 0, 16), (5, 0, 16)]);
}
