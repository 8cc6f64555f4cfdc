//! The B-tree: finds every entry that was put in, no other, and notices a page that changed.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use plimsoll_analytics::{Disk, Index, IndexBuilder, Meter, PAGE_BYTES, Silent, Trouble};

const KEY: usize = 16;

fn entry(number: u64) -> [u8; KEY + 8] {
    let mut entry = [0; KEY + 8];
    entry[..8].copy_from_slice(&(number / 3).to_be_bytes());
    entry[KEY..].copy_from_slice(&number.to_be_bytes());
    entry
}

fn with_disk<T>(folder: &Path, work: impl FnOnce(Disk<'_>) -> T) -> T {
    let mut silent = Silent;
    let meter = Meter::new(&mut silent);
    work(Disk { folder, buffer_bytes: 4096, direct: false, flush_at_close: false, meter: &meter })
}

fn built(folder: &Path, entries: u64) -> u64 {
    with_disk(folder, |disk| {
        let mut tree = IndexBuilder::new(disk, "i", KEY).unwrap();
        // Every other number, so that there is something that is not in it.
        (0..entries).for_each(|number| tree.push(&entry(2 * number)).unwrap());
        tree.finish().unwrap()
    })
}

#[test]
fn every_entry_is_found_and_nothing_else_in_trees_of_one_to_three_levels() {
    // A leaf holds (8192 - 8) / 24 = 341 entries, an inner page (8192 - 8) / 32 = 255 children.
    for (entries, pages) in [(1, 1), (341, 1), (342, 3), (341 * 255, 256), (341 * 255 + 1, 256 + 3)] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(built(folder.path(), entries), pages, "{entries} entries");
        with_disk(folder.path(), |disk| {
            let mut tree = Index::open(disk, "i", KEY).unwrap();
            let step = (entries / 500).max(1);
            for number in (0..entries).step_by(step as usize).chain([entries - 1]) {
                assert!(tree.holds(&entry(2 * number)).unwrap(), "{number} of {entries}");
                assert!(!tree.holds(&entry(2 * number + 1)).unwrap(), "{number} of {entries}");
            }
        });
    }
}

#[test]
fn a_page_that_changed_is_wrong_data() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path(), 1000);
    let path = folder.path().join("i");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[PAGE_BYTES + 100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    with_disk(folder.path(), |disk| {
        let mut tree = Index::open(disk, "i", KEY).unwrap();
        assert!(tree.holds(&entry(0)).unwrap());
        assert!(matches!(tree.holds(&entry(2 * 400)), Err(Trouble::WrongData(said)) if said.contains("page 1 ")));
    });
}
