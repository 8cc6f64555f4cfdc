//! Refresh sets: orders that come (RF1) and orders that go (RF2), 0.1 % of the orders each.
//!
//! Model: of every 32 order keys only 8 are loaded; set `n` fills gaps right behind the keys of the `n`-th thousandth of the
//! orders, and takes that thousandth away. New orders are those that the generator would draw if the table went on, under other keys.

use crate::error::DataError;
use crate::rows::{self, Place};
use crate::scale::{self, Scale};
use crate::source::{Source, Values};

/// There are so many sets: after them every order of the load is gone.
pub const REFRESH_SETS: u32 = 1000;

/// One pair of refresh functions, or a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RefreshSet {
    scale: Scale,
    number: u32,
    /// Which of its orders, counted from 0.
    taken: std::ops::Range<u64>,
}

impl RefreshSet {
    /// Set `number`, counted from 1.
    pub fn new(scale: Scale, number: u32) -> Result<Self, DataError> {
        if number == 0 || number > REFRESH_SETS {
            return Err(DataError::RefreshSet { number, sets: REFRESH_SETS });
        }
        Ok(Self { scale, number, taken: 0..Self::orders_at(scale) })
    }

    /// Part `part` of `parts` of it, counted from 1: whole orders with their items. A transaction each, say.
    pub fn part(self, part: u32, parts: u32) -> Result<Self, DataError> {
        if part == 0 || part > parts {
            return Err(DataError::Part { part, parts });
        }
        let orders = Self::orders_at(self.scale);
        let cut = |part: u32| orders * u64::from(part) / u64::from(parts);
        Ok(Self { taken: cut(part - 1)..cut(part), ..self })
    }

    /// How many orders a set has: 1500 at scale 1.
    fn orders_at(scale: Scale) -> u64 {
        scale.of(scale::ORDERS) / u64::from(REFRESH_SETS)
    }

    /// Orders that come.
    pub fn orders(&self, source: &Source, values: &mut impl Values) {
        for (at, mut row) in (0..self.taken.end).zip(rows::drawn_orders(source, self.place())) {
            if at >= self.taken.start {
                row.o_orderkey = self.key(at, self.gap());
                rows::order(&row, values);
            }
        }
    }

    /// Their items.
    pub fn line_items(&self, source: &Source, values: &mut impl Values) {
        let mut at = None;
        for mut row in rows::drawn_line_items(source, self.place()) {
            if row.l_linenumber == 1 {
                at = Some(at.map_or(0, |at| at + 1));
            }
            let Some(at) = at.filter(|at| *at < self.taken.end) else { break };
            if at >= self.taken.start {
                row.l_orderkey = self.key(at, self.gap());
                rows::line_item(&row, values);
            }
        }
    }

    /// Keys of the orders that go, with their items.
    #[must_use]
    pub fn deletes(&self) -> Vec<i64> {
        self.taken.clone().map(|at| self.key(at, 0)).collect()
    }

    /// Behind the last part of the table: a range that the crate does not check, which its pinned version allows.
    fn place(&self) -> Place {
        let sets = REFRESH_SETS as i32;
        Place { scale: self.scale.get(), part: sets + self.number as i32, parts: sets }
    }

    /// Which of the three gaps behind every eight keys that are loaded.
    const fn gap(&self) -> i64 {
        (1 + self.number / REFRESH_SETS) as i64
    }

    /// The key of order `at`: in gap 0 it was loaded, in others it comes by a refresh.
    fn key(&self, at: u64, gap: i64) -> i64 {
        let before = u64::from(self.number - 1) * Self::orders_at(self.scale);
        let order = (before + at + 1) as i64;
        ((order >> 3 << 2) + gap) * 8 + (order & 7)
    }
}
