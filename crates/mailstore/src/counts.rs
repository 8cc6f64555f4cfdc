//! What a store has done, as numbers that only grow.

use serde::Serialize;

use crate::operation::Kind;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Operations that are over, by [`Kind`].
    pub operations: [u64; 4],
    /// Commits that waited for the log.
    pub hard_commits: u64,
    /// Commits that did not.
    pub lazy_commits: u64,
    /// Pages that were looked for.
    pub lookups: u64,
    /// Pages that were not in memory and were read.
    pub misses: u64,
    /// Leaves that were split.
    pub splits: u64,
    /// Blocks of the log that were written.
    pub log_blocks: u64,
    /// Bytes of those, padding included.
    pub log_bytes: u64,
    /// Records in them.
    pub log_records: u64,
    /// Bytes of the records.
    pub log_record_bytes: u64,
    /// Log files that were filled.
    pub log_files: u64,
    /// Checkpoints that were written.
    pub checkpoints: u64,
    /// Writes of pages.
    pub page_writes: u64,
    /// Pages in them.
    pub pages_written: u64,
    /// Of those writes, how many made room in the cache.
    pub evictions: u64,
    /// Times that a thread waited for room in the log.
    pub log_waits: u64,
    /// Times that a thread waited for room in the cache.
    pub cache_waits: u64,
}

impl Counts {
    /// What was added since an earlier state.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut operations = self.operations;
        operations.iter_mut().zip(earlier.operations).for_each(|(now, before)| *now -= before);
        Self {
            operations,
            hard_commits: self.hard_commits - earlier.hard_commits,
            lazy_commits: self.lazy_commits - earlier.lazy_commits,
            lookups: self.lookups - earlier.lookups,
            misses: self.misses - earlier.misses,
            splits: self.splits - earlier.splits,
            log_blocks: self.log_blocks - earlier.log_blocks,
            log_bytes: self.log_bytes - earlier.log_bytes,
            log_records: self.log_records - earlier.log_records,
            log_record_bytes: self.log_record_bytes - earlier.log_record_bytes,
            log_files: self.log_files - earlier.log_files,
            checkpoints: self.checkpoints - earlier.checkpoints,
            page_writes: self.page_writes - earlier.page_writes,
            pages_written: self.pages_written - earlier.pages_written,
            evictions: self.evictions - earlier.evictions,
            log_waits: self.log_waits - earlier.log_waits,
            cache_waits: self.cache_waits - earlier.cache_waits,
        }
    }

    /// All operations.
    pub fn all_operations(&self) -> u64 {
        self.operations.iter().sum()
    }

    /// Those that change something.
    pub fn modifying(&self) -> u64 {
        self.all_operations() - self.operations[Kind::Seek as usize]
    }
}
