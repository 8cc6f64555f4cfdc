//! Walking a permutation, pass after pass, one shard in `threads`.
//!
//! Shard k takes the places k, k + threads, k + 2·threads, … of the endless concatenation of all passes, so the shards
//! together visit every block exactly once per pass; each pass has an order of its own.

use crate::permutation::Permutation;
use crate::rng::{Draws, Purpose};

/// A shard's place in the walk.
#[derive(Clone, Debug)]
pub(crate) struct Coverage {
    seed: u64,
    blocks: u64,
    shard: u64,
    threads: u64,
    /// `threads` as whole passes and places, so that stepping needs no division.
    step: (u64, u64),
    pass: u64,
    place: u64,
    order: Permutation,
}

impl Coverage {
    pub(crate) fn new(seed: u64, blocks: u64, shard: u32, threads: u32) -> Self {
        let (shard, threads) = (u64::from(shard), u64::from(threads.max(1)));
        let step = (threads / blocks, threads % blocks);
        let order = Self::order(seed, blocks, 0);
        let mut coverage = Self { seed, blocks, shard, threads, step, pass: 0, place: 0, order };
        coverage.seek(0);
        coverage
    }

    fn order(seed: u64, blocks: u64, pass: u64) -> Permutation {
        Permutation::new(blocks, Draws::new(seed, &[Purpose::Pass as u64, pass]))
    }

    /// The next block.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let block = self.order.at(self.place);
        self.place += self.step.1;
        let carried = u64::from(self.place >= self.blocks);
        self.place -= carried * self.blocks;
        if carried + self.step.0 > 0 {
            self.enter(self.pass + carried + self.step.0);
        }
        block
    }

    /// Makes the block of this index the next one.
    pub(crate) fn seek(&mut self, index: u64) {
        let place = u128::from(index) * u128::from(self.threads) + u128::from(self.shard);
        self.place = (place % u128::from(self.blocks)) as u64;
        self.enter((place / u128::from(self.blocks)) as u64);
    }

    /// Makes the first block of a pass the next one, unless it is.
    pub(crate) fn restart(&mut self) {
        if self.place != 0 {
            self.place = 0;
            self.enter(self.pass + 1);
        }
    }

    #[cold]
    fn enter(&mut self, pass: u64) {
        self.pass = pass;
        self.order = Self::order(self.seed, self.blocks, pass);
    }
}
