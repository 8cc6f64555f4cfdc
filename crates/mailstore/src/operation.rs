//! What a thread does next: which operation, on which page, and whether its commit waits.

use plimsoll_workload::address::Popularity;
use plimsoll_workload::plan::Distribution;
use plimsoll_workload::rng::{Draws, unit};

use crate::options::MailstoreWorkload;

/// Bytes of a log record beside those of the record of the table; all of one that deletes.
pub(crate) const RECORD_HEADER_BYTES: u32 = 64;

/// An operation of a thread; each is a transaction of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A record more.
    Insert,
    /// A record less.
    Delete,
    /// A part of a record changes.
    Replace,
    /// A record is looked up.
    Seek,
}

impl Kind {
    /// All, in the order of their options.
    pub const ALL: [Self; 4] = [Self::Insert, Self::Delete, Self::Replace, Self::Seek];

    /// The word used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::Replace => "replace",
            Self::Seek => "seek",
        }
    }
}

/// Shares of operations and what they log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mix {
    /// Fractions of all operations up to and with each kind.
    until: [f64; 4],
    lazy: f64,
    recent: f64,
    /// Bytes of the log record of each kind; nothing is logged of one that changes nothing.
    pub(crate) record_bytes: [u32; 4],
    distribution: Distribution,
}

impl Mix {
    pub(crate) fn new(options: &MailstoreWorkload) -> Self {
        let percent = [options.insert_percent, options.delete_percent, options.replace_percent, options.seek_percent]
            .map(|p| p.0);
        let mut sum = 0.0;
        let until = percent.map(|percent| {
            sum += percent / 100.0;
            sum
        });
        let record = options.record_size.0 as u32;
        let replaced = (f64::from(record) * options.replaced_percent.0 / 100.0) as u32;
        let header = RECORD_HEADER_BYTES;
        Self {
            until,
            lazy: options.lazy_commit_percent.0 / 100.0,
            recent: options.recent_percent.0 / 100.0,
            record_bytes: [header + record, header, header + replaced, 0],
            distribution: options.distribution.0.clone(),
        }
    }
}

/// An operation that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub(crate) kind: Kind,
    /// Whether its commit does not wait.
    pub(crate) lazy: bool,
    pub(crate) leaf: u32,
    /// Its place among the newest pages, if it is one of them.
    pub(crate) recent: Option<u32>,
}

/// Draws the operations of a database's threads; equal seeds give equal operations, whatever the target does.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    draws: Vec<(Draws, u64)>,
    popularity: Popularity,
    leaves: u32,
}

/// Draws that one operation takes.
const DRAWS_PER_OPERATION: u64 = 4;

impl Dice {
    pub(crate) fn new(mix: &Mix, threads: u32, leaves: u32, seed: u64) -> Self {
        let draws = (0..threads).map(|thread| (Draws::new(seed, &[u64::from(thread)]), 0)).collect();
        Self { draws, popularity: Popularity::new(&mix.distribution, leaves.into(), seed), leaves }
    }

    /// The next operation of a thread; `recent` holds the newest pages of all mailboxes, and `leaves` exist.
    pub(crate) fn next(&mut self, mix: &Mix, thread: u32, recent: &[u32], leaves: u32) -> Drawn {
        let (draws, number) = &mut self.draws[thread as usize];
        let first = *number * DRAWS_PER_OPERATION;
        *number += 1;
        let kind = unit(draws.at(first));
        let kind = mix.until.iter().position(|until| kind < *until).map_or(Kind::Seek, |place| Kind::ALL[place]);
        let lazy = unit(draws.at(first + 1)) < mix.lazy;
        let (where_to, draw) = (unit(draws.at(first + 2)), draws.at(first + 3));
        if where_to < mix.recent {
            let place = below(draw, recent.len() as u64) as u32;
            return Drawn { kind, lazy, leaf: recent[place as usize], recent: Some(place) };
        }
        // Leaves that splits added are as popular as the others are in the mean.
        let leaf = match below(draw, leaves.into()) {
            added if added >= u64::from(self.leaves) => added,
            _ => self.popularity.pick(plimsoll_workload::rng::drawn(draw, 0)),
        };
        Drawn { kind, lazy, leaf: leaf as u32, recent: None }
    }
}

/// A draw scaled to `0..bound`.
const fn below(draw: u64, bound: u64) -> u64 {
    ((draw as u128 * bound as u128) >> 64) as u64
}
