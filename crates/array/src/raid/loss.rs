//! What cannot be served any more because too many members of one redundancy group are missing.
//!
//! Model: a row is lost where more of its strips are missing than it has parity; the strips of present members in it can
//! still be read, but no longer written; of a record that is lost nothing can be read. Real controllers take the whole group offline instead: a caller that wants this
//! asks [`Geometry::lost_sectors`] after every failure.

use thiserror::Error;

use super::geometry::{Geometry, Inner};
use super::members::Members;
use super::parity::Parity;
use super::positions::holds;

/// A request, or a chunk of a rebuild, that would need what is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "redundancy group {group} has lost data at sector {lba}: more members are missing than its redundancy makes up for"
)]
pub struct Lost {
    /// The redundancy group.
    pub group: u16,
    /// A data address in the row or strip that is lost.
    pub lba: u64,
}

impl Geometry {
    /// How many data sectors cannot be read.
    pub fn lost_sectors(&self, members: &Members) -> u64 {
        (0..self.groups()).filter(|&group| members.is_impaired(group)).map(|group| self.lost_in(group, members)).sum()
    }

    /// The first redundancy group that cannot serve everything any more.
    pub fn lost_group(&self, members: &Members) -> Option<u16> {
        (0..self.groups()).find(|&group| members.is_impaired(group) && self.lost_in(group, members) > 0)
    }

    fn lost_in(&self, group: u16, members: &Members) -> u64 {
        let base = group * self.members_per_group();
        let served = |position: u32| members.served_sectors(base + position as u16).min(self.member_sectors());
        match &self.inner {
            Inner::Copies => {
                let best = (0..u32::from(self.members_per_group())).map(served).max().unwrap_or(0);
                self.group_sectors.saturating_sub(best)
            }
            Inner::Parity(parity) => self.lost_in_rows(parity, group, members),
            Inner::Records(records) => self.lost_in_records(records, group, members),
            Inner::Declustered(declustered) => self.lost_declustered(declustered, group, members),
        }
    }

    /// Between the marks of two members the same ones are missing in every row, so whole turns of the rotation count alike.
    fn lost_in_rows(&self, parity: &Parity, group: u16, members: &Members) -> u64 {
        let strip = parity.strip.value();
        let rows = self.member_sectors() / strip;
        let base = group * self.members_per_group();
        let mut marks: Vec<u64> = (0..self.members_per_group())
            .map(|position| (members.served_sectors(base + position) / strip).min(rows))
            .chain([rows])
            .collect();
        marks.sort_unstable();
        let mut strips = 0;
        for pair in marks.windows(2).filter(|pair| pair[0] < pair[1]) {
            let missing = members.missing(group, (pair[0] + 1) * strip);
            if missing.count_ones() > parity.parities {
                strips += self.missing_strips(parity, missing, pair[0]..pair[1]);
            }
        }
        strips * strip
    }

    /// Data strips of missing members in some rows; rows that hold no data (the end of the members) are left out.
    fn missing_strips(&self, parity: &Parity, missing: u64, rows: std::ops::Range<u64>) -> u64 {
        let data_strips = self.group_sectors / parity.strip.value();
        let (whole_rows, in_last) = parity.data.split(data_strips);
        let turn = u64::from(parity.rotation.members());
        let in_row = |row: u64| u64::from((missing & parity.data_positions(parity.row(row))).count_ones());
        let end = rows.end.min(whole_rows);
        let begin = rows.start.min(end);
        let turns = (end - begin) / turn;
        let per_turn: u64 = (0..turn).map(in_row).sum();
        let partial = if rows.contains(&whole_rows) {
            let row = parity.row(whole_rows);
            (0..in_last as u32).filter(|&column| holds(missing, row.data(column))).count() as u64
        } else {
            0
        };
        turns * per_turn + (begin + turns * turn..end).map(in_row).sum::<u64>() + partial
    }
}
