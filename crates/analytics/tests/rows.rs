//! Rows: the same for the same seed, each field of its kind, and no change of one goes unseen.

#![allow(clippy::unwrap_used)]

use plimsoll_analytics::row::{self, Row};
use plimsoll_analytics::{Rows, Tally};
use proptest::prelude::*;

fn made(seed: u64, workflow: u64, number: u64) -> Row {
    let mut row = row::EMPTY;
    Rows { seed, workflow }.make(number, &mut row);
    row
}

#[test]
fn the_first_row_of_seed_1_is_known() {
    // Known answer: whoever changes how rows are drawn changes every stored input, and has to raise their schema.
    assert_eq!(format!("{:08x}", row::seal_of(&made(1, 1, 0))), "294872e9");
    assert_eq!(format!("{:08x}", row::seal_of(&made(7, 3, 123_456_789))), "cab2aa74");
}

#[test]
fn months_are_those_of_the_calendar() {
    // Days from 1970: 2000-02-29 is 11,016; 2001-01-01 is 11,323; 2010-12-31 is 14,974.
    for (day, year, month) in
        [(0, 1970, 1), (11_016, 2000, 2), (11_017, 2000, 3), (11_323, 2001, 1), (14_974, 2010, 12), (-1, 1969, 12)]
    {
        assert_eq!(row::month_of(day), 12 * year + month - 1, "day {day}");
    }
}

#[test]
fn derived_columns_follow_from_others() {
    let mut row = made(1, 1, 5);
    row::derive(&mut row);
    let number = |place| row::number(&row, place);
    assert_eq!(number(8), (number(0) + number(1)) / 2.0);
    assert_eq!(number(9), number(2) * number(3));
    assert!((number(10) * number(10) - number(4)).abs() < 1e-12);
    assert_eq!(number(11), (number(5) - number(6)).abs());
}

#[test]
fn rows_hardly_compress() {
    use std::io::Write;
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    (0..5000).for_each(|number| packed.write_all(&made(1, 1, number)).unwrap());
    let packed = packed.finish().unwrap().len() as f64 / (5000.0 * 200.0);
    assert!(packed > 0.7, "{packed}");
}

proptest! {
    #[test]
    fn fields_of_any_row_are_of_their_kind(seed: u64, workflow: u64, number: u64) {
        let row = made(seed, workflow, number);
        prop_assert_eq!(row, made(seed, workflow, number));
        prop_assert!(row::is_sealed(&row));
        prop_assert_eq!(row::number_of(&row), number);
        prop_assert!(row[row::C1.start..row::C4.end].iter().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit()));
        for place in 0..row::NUMBERS {
            prop_assert!((0.0..1.0).contains(&row::number(&row, place)));
        }
        for place in 0..row::DATES {
            prop_assert!((11_323..14_975).contains(&row::date(&row, place)));
        }
    }

    #[test]
    fn any_byte_that_changes_breaks_the_checksum(number: u64, place in 0..200_usize, bits in 1..=255_u8) {
        let mut row = made(1, 1, number);
        row[place] ^= bits;
        prop_assert!(!row::is_sealed(&row));
    }

    #[test]
    fn sums_do_not_depend_on_order_and_tell_rows_that_are_missing_or_twice(number in 2..200_u64, lost in 0..200_u64, kept in 0..200_u64) {
        let tally = |numbers: &mut dyn Iterator<Item = u64>| {
            let mut tally = Tally::default();
            numbers.for_each(|number| tally.add(&made(1, 1, number)));
            tally
        };
        let (all, back) = (tally(&mut (0..number)), tally(&mut (0..number).rev()));
        prop_assert_eq!(&all, &back);
        let (lost, kept) = (lost % number, kept % number);
        let path = std::path::Path::new("t");
        prop_assert!(tally(&mut (0..number).filter(|&one| one != lost)).check(&all, path).is_err());
        if lost != kept {
            let swapped = tally(&mut (0..number).map(|one| if one == lost { kept } else { one }));
            prop_assert!(swapped.check(&all, path).is_err());
        }
    }
}
