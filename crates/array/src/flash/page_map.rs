//! Where every unit of data is, and greedy collection of garbage.
//!
//! Model: units are written in order into the open row; a full row is programmed and the next one opened on the next
//! die. What is written again leaves an invalid unit behind. When a die is short of free blocks, its full block with
//! the fewest valid units is emptied: for every row of the host as many units are moved as it takes to be done when the
//! blocks run out, all of them at once only if there is no other way. A die without anything to collect is passed over.
//!
//! Limits: data stay on the die they were written to when they are moved; old and new data are not kept apart beyond
//! the collection's own block. Memory: four bytes per unit of the capacity and four per unit of flash.

use super::blocks::{DieBlocks, Filling, Shape, Victim};
use crate::flash::spec::FlashSpec;

/// No unit, or no place.
const NONE: u32 = u32::MAX;

/// With as many free blocks or fewer a die collects.
const FREE_LOW: usize = 2;

/// What a collection has done on a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Collected {
    pub(crate) rows_read: u64,
    pub(crate) units_moved: u64,
    pub(crate) rows_programmed: u64,
    pub(crate) erases: u64,
}

/// The row that is being filled.
#[derive(Clone, Copy, Debug)]
struct OpenRow {
    die: usize,
    first: u32,
    filled: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct PageMap {
    /// Per unit of the capacity, where it is.
    place: Vec<u32>,
    /// Per place, what is there.
    unit: Vec<u32>,
    /// Per block of all dies, how many valid units it has.
    valid: Vec<u32>,
    dies: Vec<DieBlocks>,
    /// What was collected while a row was opened, per die.
    unpaid: Vec<Collected>,
    shape: Shape,
    open: Option<OpenRow>,
    next_die: usize,
}

impl PageMap {
    pub(crate) fn new(spec: &FlashSpec, filled_percent: u32) -> Self {
        let dies = spec.dies() as usize;
        let shape = Shape {
            row_units: (spec.row_bytes() / u64::from(spec.unit_bytes)) as u32,
            block_rows: spec.pages_per_block,
            die_blocks: spec.blocks_per_die() as u32,
        };
        let mut map = Self {
            place: vec![NONE; spec.units() as usize],
            unit: vec![NONE; spec.raw_units() as usize],
            valid: vec![0; dies * shape.die_blocks as usize],
            dies: vec![DieBlocks::new(shape.die_blocks); dies],
            unpaid: vec![Collected::default(); dies],
            shape,
            open: None,
            next_die: 0,
        };
        for unit in 0..spec.units() * u64::from(filled_percent) / 100 {
            map.write(unit as u32);
        }
        map.close();
        map
    }

    /// The row and the die a unit is on; `None` if it was never written, or is still in the open row.
    #[inline]
    pub(crate) fn find(&self, unit: u32) -> Option<(u32, usize)> {
        let place = self.place[unit as usize];
        let is_open = self.open.is_some_and(|open| place.wrapping_sub(open.first) < self.shape.row_units);
        (place != NONE && !is_open).then(|| (place / self.shape.row_units, self.die_of(place)))
    }

    /// Puts a unit into the open row; returns the die if that row is full now.
    pub(crate) fn write(&mut self, unit: u32) -> Option<usize> {
        let mut open = self.open.unwrap_or_else(|| self.open_row());
        self.forget(unit);
        self.put(unit, open.first + open.filled);
        open.filled += 1;
        let is_full = open.filled == self.shape.row_units;
        self.open = if is_full { None } else { Some(open) };
        is_full.then_some(open.die)
    }

    /// Gives the open row up for programming as it is; returns its die.
    pub(crate) fn close(&mut self) -> Option<usize> {
        self.open.take().map(|open| open.die)
    }

    /// A unit has no contents any more.
    pub(crate) fn forget(&mut self, unit: u32) {
        let place = std::mem::replace(&mut self.place[unit as usize], NONE);
        if place != NONE {
            self.unit[place as usize] = NONE;
            self.valid[(place / self.shape.block_units()) as usize] -= 1;
        }
    }

    /// Collects as much as one row of the host calls for.
    pub(crate) fn collect(&mut self, die: usize) -> Collected {
        let mut done = std::mem::take(&mut self.unpaid[die]);
        if self.dies[die].victim.is_none() && self.dies[die].free.len() <= FREE_LOW {
            self.choose_victim(die);
        }
        if let Some(victim) = self.dies[die].victim {
            self.move_units(die, victim, victim.pace, &mut done);
        }
        done
    }

    fn die_of(&self, place: u32) -> usize {
        (place / self.shape.die_units()) as usize
    }

    fn first_place(&self, die: usize, block: u32) -> u32 {
        die as u32 * self.shape.die_units() + block * self.shape.block_units()
    }

    fn put(&mut self, unit: u32, place: u32) {
        self.place[unit as usize] = place;
        self.unit[place as usize] = unit;
        self.valid[(place / self.shape.block_units()) as usize] += 1;
    }

    /// The next row, on the next die that has one.
    fn open_row(&mut self) -> OpenRow {
        for _ in 0..self.dies.len() {
            let die = self.next_die;
            self.next_die = (die + 1) % self.dies.len();
            if let Some(first) = self.next_row(die) {
                return OpenRow { die, first, filled: 0 };
            }
        }
        unreachable!("checked specifications leave {} spare blocks on every die", super::spec::SPARE_BLOCKS_MIN)
    }

    fn next_row(&mut self, die: usize) -> Option<u32> {
        let filling = match self.dies[die].host {
            Some(filling) if filling.next < self.shape.block_rows => filling,
            full => {
                // The last free block belongs to the collection.
                while self.dies[die].free.len() < FREE_LOW {
                    self.collect_block(die)?;
                }
                let blocks = &mut self.dies[die];
                if let Some(full) = full {
                    blocks.seal(full.block);
                }
                Filling { block: blocks.free.pop_front()?, next: 0 }
            }
        };
        self.dies[die].host = Some(Filling { next: filling.next + 1, ..filling });
        Some(self.first_place(die, filling.block) + filling.next * self.shape.row_units)
    }

    /// Empties a whole block at once; `None` if there is none worth it.
    fn collect_block(&mut self, die: usize) -> Option<()> {
        if self.dies[die].victim.is_none() && !self.choose_victim(die) {
            return None;
        }
        let victim = self.dies[die].victim?;
        let mut done = std::mem::take(&mut self.unpaid[die]);
        self.move_units(die, victim, u32::MAX, &mut done);
        self.unpaid[die] = done;
        Some(())
    }

    fn choose_victim(&mut self, die: usize) -> bool {
        let blocks = self.shape.die_blocks as usize;
        self.dies[die].choose_victim(&self.valid[die * blocks..][..blocks], self.shape)
    }

    /// Moves valid units out of a victim; erases it when it has been looked through.
    fn move_units(&mut self, die: usize, mut victim: Victim, most: u32, done: &mut Collected) {
        let first = self.first_place(die, victim.block);
        let (mut moved, mut row_read) = (0, NONE);
        while victim.next < self.shape.block_units() {
            let place = first + victim.next;
            let unit = self.unit[place as usize];
            if unit != NONE {
                if moved == most {
                    self.dies[die].victim = Some(victim);
                    return;
                }
                moved += 1;
                done.rows_read += u64::from(place / self.shape.row_units != row_read);
                row_read = place / self.shape.row_units;
                self.forget(unit);
                let to = self.collection_place(die, done);
                self.put(unit, to);
            }
            victim.next += 1;
        }
        self.dies[die].victim = None;
        self.dies[die].free.push_back(victim.block);
        done.erases += 1;
    }

    /// The next place in the block of the collection.
    fn collection_place(&mut self, die: usize, done: &mut Collected) -> u32 {
        let block_units = self.shape.block_units();
        let blocks = &mut self.dies[die];
        let filling = match blocks.collection {
            Some(filling) if filling.next < block_units => filling,
            full => {
                if let Some(full) = full {
                    blocks.seal(full.block);
                }
                let block = blocks.free.pop_front();
                Filling { block: block.expect("the last free block is kept for the collection"), next: 0 }
            }
        };
        blocks.collection = Some(Filling { next: filling.next + 1, ..filling });
        done.units_moved += 1;
        done.rows_programmed += u64::from((filling.next + 1) % self.shape.row_units == 0);
        self.first_place(die, filling.block) + filling.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::spec::Translation;
    use plimsoll_workload::rng::Draws;

    fn spec(over_provisioning_percent: f64) -> FlashSpec {
        FlashSpec {
            capacity_bytes: 64 << 20,
            over_provisioning_percent,
            channels: 2,
            dies_per_channel: 2,
            planes_per_die: 2,
            page_bytes: 8192,
            pages_per_block: 16,
            unit_bytes: 4096,
            page_read_us: 50,
            page_program_us: 500,
            block_erase_us: 3_000,
            suspend_us: None,
            channel_rate_bytes_per_s: 400_000_000,
            interface_rate_bytes_per_s: 3_000_000_000,
            read_overhead_us: 5,
            write_overhead_us: 5,
            commands: 256,
            write_buffer_bytes: 1 << 20,
            power_loss_protection: true,
            translation: Translation::page_map(100),
            ..FlashSpec::default()
        }
    }

    /// Every unit is where the map says, and every block counts what it holds.
    fn check(map: &PageMap, written: u32) {
        let mapped = map.place.iter().filter(|&&place| place != NONE).count();
        assert_eq!(mapped, written as usize);
        for (unit, &place) in (0..).zip(&map.place) {
            assert!(place == NONE || map.unit[place as usize] == unit, "unit {unit}");
        }
        let block_units = map.shape.block_units() as usize;
        for (block, &valid) in map.valid.iter().enumerate() {
            let held = map.unit[block * block_units..][..block_units].iter().filter(|&&unit| unit != NONE).count();
            assert_eq!(valid as usize, held, "block {block}");
        }
    }

    #[test]
    fn the_map_stays_whole_under_random_writes_and_trims() {
        let units = spec(20.0).units() as u32;
        let mut map = PageMap::new(&spec(20.0), 100);
        check(&map, units);
        let draws = Draws::new(7, &[0]);
        let mut erases = 0;
        for index in 0..200_000 {
            let unit = (draws.at(index) >> 32) as u32 % units;
            if let Some(die) = map.write(unit) {
                erases += map.collect(die).erases;
            }
        }
        assert!(erases > 1_000, "{erases}");
        check(&map, units);
        (0..units / 2).for_each(|unit| map.forget(unit));
        check(&map, units - units / 2);
    }

    #[test]
    fn the_smallest_spare_that_is_accepted_is_enough_for_any_order_of_writes() {
        let mut tight = spec(0.1);
        while tight.check().is_err() {
            tight.over_provisioning_percent += 0.5;
        }
        let units = tight.units() as u32;
        let mut map = PageMap::new(&tight, 100);
        // Sequential, always the same few, and strided writes, after another.
        for index in 0..300_000_u32 {
            let unit = match index / 50_000 % 3 {
                0 => index % units,
                1 => index % 7,
                _ => (index % units).wrapping_mul(97) % units,
            };
            if let Some(die) = map.write(unit) {
                map.collect(die);
            }
        }
        check(&map, units);
    }

    #[test]
    fn sequential_overwrites_move_nothing() {
        let mut map = PageMap::new(&spec(20.0), 100);
        let units = spec(20.0).units() as u32;
        let moved: u64 =
            (0..4 * units).filter_map(|index| map.write(index % units).map(|die| map.collect(die).units_moved)).sum();
        assert_eq!(moved, 0);
    }
}
