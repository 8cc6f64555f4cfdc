//! The external sort: against the sort of the standard library, whatever the memory; stable; exact in what it moves.

#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::path::Path;

use plimsoll_analytics::{Disk, Meter, Shape, Silent, Sorter, Spill};
use proptest::prelude::*;

const RECORD: usize = 24;
const KEY: std::ops::Range<usize> = 4..16;

fn with_disk<T>(folder: &Path, buffer_bytes: usize, work: impl FnOnce(Disk<'_>) -> T) -> (T, (u64, u64)) {
    let mut silent = Silent;
    let meter = Meter::new(&mut silent);
    let found = work(Disk { folder, buffer_bytes, direct: false, flush_at_close: false, meter: &meter });
    (found, meter.totals())
}

fn sorted(records: &[[u8; RECORD]], memory: usize, folder: &Path) -> (Vec<[u8; RECORD]>, (u64, u64), Spill) {
    let ((found, spill), moved) = with_disk(folder, 4096, |disk| {
        let mut sorter = Sorter::new(Shape { record: RECORD, key: KEY }, memory, disk, "t");
        let spill = sorter.spill();
        for record in records {
            sorter.push(record).unwrap();
        }
        let found = RefCell::new(Vec::new());
        sorter
            .finish(|record| {
                found.borrow_mut().push(record.try_into().unwrap());
                Ok(())
            })
            .unwrap();
        (found.into_inner(), spill)
    });
    (found, moved, spill)
}

fn expected(records: &[[u8; RECORD]]) -> Vec<[u8; RECORD]> {
    let mut sorted = records.to_vec();
    sorted.sort_by(|left, right| left[KEY].cmp(&right[KEY]));
    sorted
}

/// Records whose keys are few, so that many compare alike; what follows the key says where each came from.
fn records(keys: &[u16]) -> Vec<[u8; RECORD]> {
    let one = |(place, key): (usize, &u16)| {
        let mut record = [0; RECORD];
        record[KEY.start + 2..KEY.start + 4].copy_from_slice(&(key % 3).to_be_bytes());
        record[KEY.end - 2..KEY.end].copy_from_slice(&key.to_be_bytes());
        record[KEY.end..].copy_from_slice(&(place as u64).to_le_bytes());
        record
    };
    keys.iter().enumerate().map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_records_come_back_in_order_and_those_alike_in_the_order_they_came(
        keys in prop::collection::vec(0..200_u16, 0..3000), held in 16..600_usize
    ) {
        let folder = tempfile::tempdir().unwrap();
        let records = records(&keys);
        let memory = 4096 + held * (RECORD + 16);
        let (found, moved, spill) = sorted(&records, memory, folder.path());
        prop_assert_eq!(&found, &expected(&records));
        let spilled = spill.bytes(records.len() as u64, RECORD);
        prop_assert_eq!(moved, (spilled, spilled));
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn what_fits_into_memory_is_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let records = records(&[3, 1, 2, 1]);
    let (found, moved, spill) = sorted(&records, 1 << 20, folder.path());
    assert_eq!(found, expected(&records));
    assert_eq!((moved, spill.passes(4)), ((0, 0), 0));
}

#[test]
fn more_runs_than_buffers_are_merged_in_several_passes() {
    let folder = tempfile::tempdir().unwrap();
    let keys: Vec<u16> = (0..2000).map(|place| (place * 7919 % 1999) as u16).collect();
    let records = records(&keys);
    // 4 KiB of memory beside the buffer hold 102 records: 20 runs; two buffers merge two at a time.
    let (found, moved, spill) = sorted(&records, 4096 + 102 * (RECORD + 16), folder.path());
    assert_eq!((spill.held, spill.fan_in), (102, 2));
    assert_eq!(found, expected(&records));
    // 20 runs become 10, 5, 3 and 2: five passes write all of them, but for the run that is alone: of the third pass that of 16
    // runs' 102 records each to the end, 2000 - 16 × 102 = 368; so it stays in the fourth, where three runs are two.
    assert_eq!(spill.passes(2000), 5);
    assert_eq!(moved.0, RECORD as u64 * (4 * 2000 + (2000 - 368) + (2000 - 368) - 2000));
    assert_eq!(moved.0, moved.1);
}
