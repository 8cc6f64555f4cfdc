//! Who uses which file or directory at the moment: one thread alone, or several together.
//!
//! Only what is in use takes memory, so a tree of millions of files costs a few entries per thread.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const SHARDS: u64 = 64;
const ALONE: u32 = u32::MAX;

/// How a file is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// By one thread.
    Alone,
    /// By any number of threads that do not change its name.
    Together,
}

/// See the module.
pub(crate) struct Claims {
    shards: Vec<Mutex<BTreeMap<u64, u32>>>,
}

impl Claims {
    pub(crate) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, number: u64) -> std::sync::MutexGuard<'_, BTreeMap<u64, u32>> {
        self.shards[(number % SHARDS) as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes it, unless somebody's use forbids.
    pub(crate) fn take(&self, number: u64, how: Use) -> bool {
        let mut shard = self.shard(number);
        match (shard.get_mut(&number), how) {
            (None, Use::Alone) => shard.insert(number, ALONE).is_none(),
            (None, Use::Together) => shard.insert(number, 1).is_none(),
            (Some(users), Use::Together) if *users != ALONE => {
                *users += 1;
                true
            }
            (Some(_), _) => false,
        }
    }

    /// Gives back what was taken.
    pub(crate) fn give(&self, number: u64) {
        let mut shard = self.shard(number);
        match shard.get_mut(&number) {
            Some(users) if *users != ALONE && *users > 1 => *users -= 1,
            _ => {
                shard.remove(&number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_excludes_everybody_and_together_excludes_only_who_wants_it_alone() {
        let claims = Claims::new();
        assert!(claims.take(7, Use::Alone));
        assert!(!claims.take(7, Use::Alone) && !claims.take(7, Use::Together));
        claims.give(7);
        assert!(claims.take(7, Use::Together) && claims.take(7, Use::Together));
        assert!(!claims.take(7, Use::Alone));
        claims.give(7);
        assert!(!claims.take(7, Use::Alone));
        claims.give(7);
        assert!(claims.take(7, Use::Alone));
    }
}
