//! The cache against a naive one, and what is destaged in which order.

use std::collections::BTreeSet;

use plimsoll_workload::rng::Draws;
use proptest::prelude::*;

use super::*;

const PAGE: u32 = 8;

fn cache(pages: u32, clean_max: u32, dirty_max: u32) -> Cache {
    let shape = Shape { page_sectors: PAGE, pages, clean_max, dirty_max };
    Cache::new(shape, &[Space { row_sectors: 32, rows: 1000, undivided: false }; 2])
}

fn extent(lba: u64, sectors: u32) -> Extent {
    Extent { lba, sectors }
}

/// Reads and brings at once what is missing; whether nothing was.
fn reads(cache: &mut Cache, extent: Extent) -> bool {
    let missing = cache.read(0, extent, &mut Vec::new());
    if let Some(missing) = missing {
        cache.fetch(0, missing, 1);
        cache.fetched(0, missing, 1, NONE);
    }
    missing.is_none()
}

/// The pages that are being held, newest first, by a list that is searched from end to end.
struct Naive {
    pages: Vec<u64>,
    max: usize,
    /// Whether a page that is read again stays where it is: first in, first out.
    keeps_order: bool,
}

impl Naive {
    fn read(&mut self, page: u64) -> bool {
        let found = self.pages.iter().position(|&held| held == page);
        if let Some(found) = found {
            if self.keeps_order {
                return true;
            }
            self.pages.remove(found);
        }
        self.pages.insert(0, page);
        self.pages.truncate(self.max);
        found.is_some()
    }
}

proptest! {
    #[test]
    fn hits_are_those_of_a_naive_lru(reads_of in prop::collection::vec(0_u64..40, 1..500), max in 1_u32..30) {
        let mut cache = cache(64, max, 0);
        let mut naive = Naive { pages: Vec::new(), max: max as usize, keeps_order: false };
        for page in reads_of {
            prop_assert_eq!(reads(&mut cache, extent(page * u64::from(PAGE), PAGE)), naive.read(page));
        }
    }

    #[test]
    fn what_is_read_ahead_is_used_wasted_or_still_there(
        steps in prop::collection::vec((0_u8..5, 0_u64..600, 1_u32..60), 1..300),
    ) {
        let mut cache = cache(48, 24, 32);
        let mut under_way: Vec<Extent> = Vec::new();
        for (number, (kind, lba, sectors)) in (0..).zip(steps) {
            let extent = extent(lba, sectors);
            match kind {
                0 if cache.has_room(0, extent) => cache.write(0, extent),
                0 => { cache.destage(0, 32, &mut under_way); },
                1 => { reads(&mut cache, extent); }
                2 => cache.forget(0, extent),
                3 => under_way.drain(..).for_each(|done| cache.destaged(0, done)),
                _ => if let Some(ahead) = cache.ahead(0, extent) {
                    cache.fetch_ahead(0, ahead, number);
                    cache.fetched(0, ahead, number, NONE);
                }
            }
            let there: u64 = cache.pages.iter().map(|page| u64::from(page.ahead)).sum();
            let Ahead { read, used, wasted } = cache.tally.ahead;
            prop_assert_eq!(read, used + wasted + there);
        }
    }

    #[test]
    fn every_written_sector_is_destaged_and_pages_are_never_lost(
        steps in prop::collection::vec((0_u8..3, 0_u64..2000, 1_u32..60), 1..300),
    ) {
        let mut cache = cache(48, 24, 32);
        let mut dirty = BTreeSet::new();
        let mut under_way: Vec<Extent> = Vec::new();
        for (kind, lba, sectors) in steps {
            let extent = extent(lba, sectors);
            match kind {
                0 if cache.has_room(0, extent) => {
                    cache.write(0, extent);
                    dirty.extend(lba..lba + u64::from(sectors));
                }
                1 => { reads(&mut cache, extent); }
                _ => {
                    for done in under_way.drain(..) {
                        cache.destaged(0, done);
                    }
                    cache.destage(0, 64, &mut under_way);
                    for extent in &under_way {
                        (extent.lba..extent.lba + u64::from(extent.sectors)).for_each(|lba| { dirty.remove(&lba); });
                    }
                }
            }
            prop_assert!(cache.dirty_pages() <= 32 && cache.clean <= 24);
            prop_assert_eq!(cache.pages.free_count() + cache.clean + cache.dirty, 48);
        }
        loop {
            under_way.drain(..).for_each(|done| cache.destaged(0, done));
            if !cache.destage(0, 64, &mut under_way) {
                break;
            }
            for extent in &under_way {
                (extent.lba..extent.lba + u64::from(extent.sectors)).for_each(|lba| { dirty.remove(&lba); });
            }
        }
        prop_assert_eq!(dirty, BTreeSet::new());
        prop_assert_eq!(cache.dirty_pages(), 0);
    }
}

#[test]
fn a_cache_that_gave_up_the_first_in_would_be_caught() {
    let (mut cache, mut planted) = (cache(64, 10, 0), Naive { pages: Vec::new(), max: 10, keeps_order: true });
    let mut pages = (0..2000).map(|number| Draws::new(1, &[2]).at(number) % 16);
    let differs = pages.any(|page| reads(&mut cache, extent(page * u64::from(PAGE), PAGE)) != planted.read(page));
    assert!(differs, "the comparison with a naive cache tells LRU from FIFO");
}

#[test]
fn what_is_on_its_way_is_waited_for_and_not_fetched_twice() {
    let mut cache = cache(16, 16, 0);
    let mut waits = Vec::new();
    assert_eq!(cache.read(0, extent(0, 8), &mut waits), Some(extent(0, 8)));
    cache.fetch(0, extent(0, 16), 7);
    assert_eq!(cache.read(0, extent(4, 20), &mut waits), Some(extent(16, 8)));
    assert_eq!(waits, [7]);
    cache.fetched(0, extent(0, 16), 7, NONE);
    waits.clear();
    assert_eq!((cache.read(0, extent(4, 12), &mut waits), waits.len()), (None, 0));
    assert_eq!((cache.tally.reads, cache.tally.hits), (3, 1));
}

#[test]
fn equal_addresses_of_two_spaces_are_two_pages() {
    let mut cache = cache(16, 16, 16);
    cache.write(0, extent(0, 8));
    assert_eq!(cache.read(1, extent(0, 8), &mut Vec::new()), Some(extent(0, 8)));
    assert!(cache.has_dirty_rows(0) && !cache.has_dirty_rows(1));
}

#[test]
fn rows_are_destaged_upwards_full_ones_first_and_neighbours_as_one() {
    let mut cache = cache(64, 0, 64);
    for lba in [320, 640, 64, 72, 80, 88, 96, 104, 112, 120, 8, 0] {
        cache.write(0, extent(lba, 8));
    }
    let mut order = Vec::new();
    while cache.destage(0, 64, &mut order) {}
    assert_eq!(order, [extent(64, 64), extent(320, 8), extent(640, 8), extent(0, 16)]);
}

#[test]
fn a_full_cache_has_room_again_when_something_was_destaged() {
    let mut cache = cache(4, 4, 2);
    cache.write(0, extent(0, 16));
    assert!(!cache.has_room(0, extent(64, 8)) && cache.has_room(0, extent(0, 16)), "what is dirty takes no more room");
    assert!(!cache.fits(extent(0, 24)));
    let mut out = Vec::new();
    cache.destage(0, 1000, &mut out);
    assert!(!cache.has_room(0, extent(64, 8)), "under way is not there");
    cache.destaged(0, out[0]);
    assert!(cache.has_room(0, extent(64, 8)));
    assert!(reads(&mut cache, extent(0, 16)), "what was destaged is still there to be read");
}

#[test]
fn what_is_written_while_it_is_destaged_is_destaged_again() {
    let mut cache = cache(4, 4, 4);
    cache.write(0, extent(0, 8));
    let mut out = Vec::new();
    cache.destage(0, 1000, &mut out);
    cache.write(0, extent(2, 4));
    assert!(!cache.has_dirty_rows(0));
    cache.destaged(0, out[0]);
    out.clear();
    assert!(cache.destage(0, 1000, &mut out));
    assert_eq!(out, [extent(2, 4)]);
}
