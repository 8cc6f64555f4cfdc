//! What a flash cache says against contents that are kept sector by sector.

#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

const EXTENT: u32 = 4;
const EXTENTS: u64 = 24;
const PLACES: u32 = 6;

/// The version of what was last written to each sector, and of what the group and the flash hold.
struct Contents {
    cache: FlashCache,
    latest: Vec<u64>,
    group: Vec<u64>,
    flash: Vec<u64>,
    version: u64,
    number: u32,
    /// Fetches that have not ended, with what they have read of the group.
    fetches: VecDeque<(u32, Extent, Vec<u64>)>,
    /// Extents on their way to their places.
    fills: VecDeque<(u32, Vec<u64>)>,
    leaving: VecDeque<Leaving>,
}

impl Contents {
    fn new(writes: FlashWrites, promote_on_miss: u32) -> Self {
        let dirty_max = if writes == FlashWrites::Back { 4 } else { 0 };
        let shape = FlashShape {
            extent_sectors: EXTENT,
            places: PLACES,
            dirty_max,
            extents: EXTENTS,
            promote_on_miss,
            fills_max: 3,
            read_sectors_max: 12,
            warm: false,
        };
        // Two sectors are behind the last whole extent.
        let sectors = EXTENTS as usize * EXTENT as usize + 2;
        Self {
            cache: FlashCache::new(1, writes, shape, Destager::new((3, 1), 0, vec![2], EXTENT)),
            latest: vec![0; sectors],
            group: vec![0; sectors],
            flash: vec![u64::MAX; (PLACES * EXTENT) as usize],
            version: 0,
            number: 0,
            fetches: VecDeque::new(),
            fills: VecDeque::new(),
            leaving: VecDeque::new(),
        }
    }

    fn read(&mut self, extent: Extent) {
        let mut runs = Vec::new();
        self.number += 1;
        self.cache.read(extent, self.number, &mut runs);
        for lba in extent.lba..extent.lba + u64::from(extent.sectors) {
            let has = |run: &&Run| (run.extent.lba..run.extent.lba + u64::from(run.extent.sectors)).contains(&lba);
            let (on_flash, of_group): (Vec<&Run>, Vec<&Run>) =
                runs.iter().filter(has).partition(|run| run.flash_lba.is_some());
            let latest = self.latest[lba as usize];
            let is_in_group = self.group[lba as usize] == latest;
            match on_flash[..] {
                [run] => {
                    let place = run.flash_lba.unwrap() + lba - run.extent.lba;
                    assert_eq!(self.flash[place as usize], latest, "sector {lba}");
                    assert!(run.only_here || is_in_group, "sector {lba} is here only");
                }
                _ => assert!(on_flash.is_empty() && of_group.len() == 1 && is_in_group, "sector {lba}: {runs:?}"),
            }
        }
        self.fetches.push_back((self.number, extent, self.group.clone()));
    }

    fn write(&mut self, extent: Extent) {
        self.version += 1;
        let of = extent.lba as usize..(extent.lba + u64::from(extent.sectors)) as usize;
        let mut on_flash = Vec::new();
        let keeps = self.cache.writes == FlashWrites::Back && self.cache.has_room(&[extent]);
        if keeps {
            self.cache.keep(extent, &mut on_flash);
            assert_eq!(on_flash.iter().map(|one| one.sectors).sum::<u32>(), extent.sectors);
        } else {
            self.cache.pass(extent, &mut on_flash);
            self.group[of.clone()].fill(self.version);
        }
        self.latest[of].fill(self.version);
        for extent in on_flash {
            self.flash[extent.lba as usize..(extent.lba + u64::from(extent.sectors)) as usize].fill(self.version);
        }
        // What lies between two writes of an extent counts as written.
        for (number, place) in
            self.cache.places.all().iter().enumerate().filter(|(_, place)| place.state != State::Free)
        {
            for sector in place.valid.from..place.valid.to {
                let lba = (place.extent * u64::from(EXTENT) + u64::from(sector)) as usize;
                self.flash[number * EXTENT as usize + sector as usize] = self.latest[lba];
            }
        }
    }

    fn arrive(&mut self) {
        let Some((number, extent, read)) = self.fetches.pop_front() else { return };
        let mut places = Vec::new();
        self.cache.arrived(extent, number, &mut places);
        self.fills.extend(places.into_iter().map(|place| (place, read.clone())));
    }

    fn settle(&mut self, is_written: bool) {
        let Some((place, read)) = self.fills.pop_front() else { return };
        let first = (self.cache.places[place].extent * u64::from(EXTENT)) as usize;
        let at = (place * EXTENT) as usize;
        self.flash[at..at + EXTENT as usize].copy_from_slice(&read[first..first + EXTENT as usize]);
        self.cache.settled(place, is_written);
    }

    /// The rows of what leaves are locked from here on, so that writes of the group come later.
    fn drain(&mut self) {
        let Some(leaving) = self.cache.next_leaving() else { return };
        let from = self.cache.located(leaving.place, leaving.extent);
        for sector in 0..u64::from(leaving.extent.sectors) {
            self.group[(leaving.extent.lba + sector) as usize] = self.flash[(from.lba + sector) as usize];
        }
        self.leaving.push_back(leaving);
    }

    fn leave(&mut self) {
        if let Some(Leaving { place, .. }) = self.leaving.pop_front() {
            self.cache.left(place, true);
        }
    }

    fn check(&self) {
        let cache = &self.cache;
        let counted = |of: fn(State) -> bool| cache.places.all().iter().filter(|place| of(place.state)).count() as u32;
        assert_eq!(counted(|state| state == State::Clean), cache.places.clean());
        assert_eq!(counted(|state| matches!(state, State::Coming { .. })), cache.places.coming());
        assert!(cache.places.coming() <= cache.shape.fills_max);
        let dirty = counted(|state| matches!(state, State::Dirty | State::Leaving | State::Rewritten));
        assert_eq!(dirty, cache.dirty);
        assert!(dirty <= cache.shape.dirty_max && cache.places.all().len() <= PLACES as usize);
        assert_eq!(cache.waiting.len() as u32, counted(|state| state == State::Dirty));
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Read(u64, u32),
    Write(u64, u32),
    Trim(u64, u32),
    Arrive,
    Settle(bool),
    Drain,
    Leave,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let last = EXTENTS * u64::from(EXTENT);
    let step = prop_oneof![
        4 => (0..last - 12, 1..14_u32).prop_map(|(lba, sectors)| Step::Read(lba, sectors)),
        3 => (0..last - 12, 1..14_u32).prop_map(|(lba, sectors)| Step::Write(lba, sectors)),
        1 => (0..last - 12, 1..14_u32).prop_map(|(lba, sectors)| Step::Trim(lba, sectors)),
        3 => Just(Step::Arrive),
        3 => any::<bool>().prop_map(Step::Settle),
        2 => Just(Step::Drain),
        2 => Just(Step::Leave),
    ];
    prop::collection::vec(step, 1..300)
}

proptest! {
    #[test]
    fn every_read_is_of_what_was_written_last_and_nothing_dirty_is_lost(
        steps in steps(),
        writes in prop_oneof![Just(FlashWrites::Around), Just(FlashWrites::Through), Just(FlashWrites::Back)],
        promote_on_miss in 1..3_u32,
    ) {
        let mut contents = Contents::new(writes, promote_on_miss);
        for step in steps {
            match step {
                Step::Read(lba, sectors) => contents.read(Extent { lba, sectors }),
                Step::Write(lba, sectors) => contents.write(Extent { lba, sectors }),
                Step::Trim(lba, sectors) => contents.cache.forget(Extent { lba, sectors }),
                Step::Arrive => contents.arrive(),
                Step::Settle(is_written) => contents.settle(is_written),
                Step::Drain => contents.drain(),
                Step::Leave => contents.leave(),
            }
            contents.check();
        }
        while contents.cache.dirty_extents() > 0 {
            contents.drain();
            contents.leave();
        }
        prop_assert_eq!(contents.group, contents.latest);
    }
}

#[test]
fn the_extent_that_was_used_longest_ago_leaves_first() {
    let mut contents = Contents::new(FlashWrites::Through, 1);
    let each = u64::from(EXTENT);
    let one = |number: u64| Extent { lba: number * each, sectors: 1 };
    for number in [0, 1, 2, 3, 4, 5, 0, 6, 2, 7] {
        contents.read(one(number));
        contents.arrive();
        contents.settle(true);
    }
    // 1 left for 6 and 3 for 7: 0 and 2 had been used since.
    let mut held: Vec<u64> = contents.cache.places.all().iter().map(|place| place.extent).collect();
    held.sort_unstable();
    assert_eq!(held, [0, 2, 4, 5, 6, 7]);
}
