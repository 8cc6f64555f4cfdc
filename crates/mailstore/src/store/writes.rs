//! The log's blocks, the pages' writes and the checkpoint.
//!
//! Model: a page is written when its oldest change lies further back than the checkpoint depth, when it stands in the way of one that
//! has to be read, or when too many are dirty; never before the log holds its last change. Its dirty neighbours go along, up to the
//! longest write. The checkpoint is the oldest change that no page write has saved; it is written from time to time, because what a
//! recovery begins with decides which log files may be used again.

use crate::map::NONE;
use crate::plan::CHECKPOINT_ROOM;
use crate::store::{Store, Token};

/// Dirty pages that cannot be written yet which a look passes over.
const PASSED_MAX: u32 = 64;
/// The checkpoint is written when it has moved by this part of the depth.
const CHECKPOINT_PART: u64 = 8;
/// No more than so much of the cache is dirty, in quarters.
const DIRTY_QUARTERS: u32 = 3;

/// Pages on their way to the target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) first_page: u32,
    pub(crate) pages: u32,
    pub(crate) evicts: bool,
}

/// Everything that is on its way to the target.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    writes: Vec<Written>,
    free: Vec<u32>,
    /// Writes of pages on their way.
    count: u32,
    /// Dirty pages that stand in the way of a read; kept for its memory.
    pub(crate) passed: Vec<u32>,
    /// The checkpoint that a recovery would find.
    pub(crate) persisted_lsn: u64,
    /// The one on its way, if any.
    persisting_lsn: Option<u64>,
    /// Checkpoints so far; they take two places in turn.
    checkpoints: u64,
}

impl Flight {
    /// A write of pages that is on its way.
    pub(crate) fn write(&self, place: u32) -> Written {
        self.writes[place as usize]
    }

    /// The checkpoint on its way: how manieth it is, and its position.
    pub(crate) fn persisting(&self) -> (u64, u64) {
        (self.checkpoints, self.persisting_lsn.unwrap_or(self.persisted_lsn))
    }
}

impl Store {
    /// Writes what has gathered in the log if somebody waits for it, or if much has, unless a block is on its way.
    pub(crate) fn flush(&mut self) {
        let wanted = !self.committing[1].is_empty() || !self.wait_for_log.is_empty() || self.log.is_half_full();
        if wanted {
            self.flush_now();
        }
    }

    /// Writes what has gathered in the log, unless a block is on its way.
    pub(crate) fn flush_now(&mut self) {
        if self.log.is_flying() || self.log.pending() == 0 {
            return;
        }
        let block = self.log.seal();
        if let Some(life) = &mut self.life {
            life.sealed();
        }
        debug_assert!(self.committing[0].is_empty(), "nobody waits for a block that has landed");
        self.committing.swap(0, 1);
        self.outstanding += 1;
        let offset = self.plan.log_start + CHECKPOINT_ROOM + self.log.offset_of(block.lsn);
        self.ask(Token::Block, offset, block.len);
    }

    /// A block is on the target: its commits are over, and the next goes if somebody waits for it.
    pub(crate) fn block_landed(&mut self) {
        self.outstanding -= 1;
        let (block, closed) = self.log.landed();
        if self.life.as_mut().is_some_and(|life| !life.landed()) {
            return self.ended();
        }
        self.counts.log_blocks += 1;
        self.counts.log_bytes += u64::from(block.len);
        self.counts.log_records += u64::from(block.records);
        self.counts.log_record_bytes += u64::from(block.record_bytes);
        if let Some(file) = closed {
            self.counts.log_files += 1;
            self.replicate(file);
        }
        let committed = std::mem::take(&mut self.committing[0]);
        self.flush();
        self.write_due_pages();
        for &thread in &committed {
            if self.end_operation(thread) {
                self.ready.push_back(thread);
            }
        }
        self.room_in_log();
        self.room_in_cache();
    }

    fn room_in_log(&mut self) {
        self.ready.extend(self.wait_for_log.drain(..));
    }

    /// Writes the pages that are due, oldest first.
    pub(crate) fn write_due_pages(&mut self) {
        let due_lsn = self.log.head_lsn().saturating_sub(self.plan.depth_bytes);
        let dirty_max = self.plan.frames / 4 * DIRTY_QUARTERS;
        let is_due =
            |store: &Self, frame: u32| store.cache.frame(frame).first_lsn < due_lsn || store.cache.dirty > dirty_max;
        self.write_oldest(is_due);
    }

    /// Writes the oldest pages although they are not due, because somebody waits.
    pub(crate) fn write_pages_early(&mut self) {
        self.write_oldest(|store, _| store.flight.count == 0);
        self.write_checkpoint(true);
    }

    fn write_oldest(&mut self, is_due: impl Fn(&Self, u32) -> bool) {
        let (mut frame, mut passed) = (self.cache.first_dirty(), 0);
        while frame != NONE && passed < PASSED_MAX && self.flight.count < self.plan.writes_max && is_due(self, frame) {
            if self.is_writable(frame) {
                self.write_from(frame, false);
                // Neighbours went along, perhaps the next as well.
                frame = self.cache.first_dirty();
                (0..passed).for_each(|_| frame = if frame == NONE { NONE } else { self.cache.next_dirty(frame) });
            } else {
                passed += 1;
                frame = self.cache.next_dirty(frame);
            }
        }
    }

    /// Whether a page may be written now: it is dirty and rests, and the log holds its last change.
    fn is_writable(&self, frame: u32) -> bool {
        let found = self.cache.frame(frame);
        found.dirty && !found.writing && !found.reading && self.log.is_durable(found.last_lsn)
    }

    /// Writes a page with its neighbours, if it may be.
    pub(crate) fn write_from(&mut self, frame: u32, evicts: bool) {
        if self.flight.count >= self.plan.writes_max || !self.is_writable(frame) {
            return;
        }
        let page = self.cache.frame(frame).page;
        let joins = |store: &Self, page: u32| {
            let frame = store.cache.find(page);
            frame != NONE && store.is_writable(frame)
        };
        let (mut first, mut end) = (page, page + 1);
        while end - first < self.plan.coalesce_pages && joins(self, end) {
            end += 1;
        }
        while end - first < self.plan.coalesce_pages && first > 0 && joins(self, first - 1) {
            first -= 1;
        }
        for page in first..end {
            self.cache.begin_write(self.cache.find(page));
        }
        let written = Written { first_page: first, pages: end - first, evicts };
        let place = self.flight.free.pop().unwrap_or_else(|| {
            self.flight.writes.push(Written::NOTHING);
            self.flight.writes.len() as u32 - 1
        });
        self.flight.writes[place as usize] = written;
        self.flight.count += 1;
        self.outstanding += 1;
        let page_bytes = u64::from(self.plan.page_bytes);
        let offset = self.plan.database_start + u64::from(first) * page_bytes;
        let len = written.pages * self.plan.page_bytes;
        self.ask(Token::Write(place), offset, len);
    }

    /// Pages are on the target.
    pub(crate) fn pages_written(&mut self, place: u32) {
        let written = std::mem::replace(&mut self.flight.writes[place as usize], Written::NOTHING);
        self.flight.free.push(place);
        self.flight.count -= 1;
        self.outstanding -= 1;
        self.counts.page_writes += 1;
        self.counts.pages_written += u64::from(written.pages);
        self.counts.evictions += u64::from(written.evicts);
        for page in written.first_page..written.first_page + written.pages {
            let frame = self.cache.find(page);
            self.cache.frame_mut(frame).writing = false;
        }
        (0..written.pages).for_each(|_| self.room_in_cache());
        self.write_due_pages();
        self.write_checkpoint(!self.wait_for_log.is_empty());
    }

    /// The oldest change that no page write has saved.
    pub(crate) fn checkpoint_lsn(&self) -> u64 {
        let dirty = match self.cache.first_dirty() {
            NONE => self.log.head_lsn(),
            frame => self.cache.frame(frame).first_lsn,
        };
        let flying = self.flight.writes.iter().filter(|written| written.pages > 0);
        let pages = flying.flat_map(|written| written.first_page..written.first_page + written.pages);
        pages.map(|page| self.cache.frame(self.cache.find(page)).writing_lsn).fold(dirty, u64::min)
    }

    /// The oldest position of the log that is still needed.
    pub(crate) fn needed_lsn(&self) -> u64 {
        self.flight.persisted_lsn.min(self.replication.needed_lsn(u64::from(self.plan.log.file_bytes)))
    }

    /// Writes the checkpoint when it has moved far enough, or at all if somebody waits for room in the log.
    pub(crate) fn write_checkpoint(&mut self, waits: bool) {
        if self.flight.persisting_lsn.is_some() {
            return;
        }
        let persisted_lsn = self.flight.persisted_lsn;
        let least = if waits { 1 } else { self.plan.depth_bytes / CHECKPOINT_PART };
        if self.log.head_lsn() < persisted_lsn + least {
            return;
        }
        let lsn = self.checkpoint_lsn();
        if lsn < persisted_lsn + least {
            return;
        }
        self.persist(lsn);
    }

    /// Writes a checkpoint.
    pub(crate) fn persist(&mut self, lsn: u64) {
        self.flight.persisting_lsn = Some(lsn);
        self.flight.checkpoints += 1;
        self.outstanding += 1;
        let sector_bytes = self.plan.log.sector_bytes;
        let place = self.flight.checkpoints % 2 * (CHECKPOINT_ROOM / 2);
        self.ask(Token::Checkpoint, self.plan.log_start + place, sector_bytes);
    }

    /// The checkpoint is on the target.
    pub(crate) fn checkpoint_written(&mut self) {
        self.outstanding -= 1;
        self.counts.checkpoints += 1;
        if let Some(lsn) = self.flight.persisting_lsn.take() {
            self.flight.persisted_lsn = lsn;
        }
        if std::mem::take(&mut self.is_unborn) {
            self.begin_threads();
        }
        self.room_in_log();
    }
}
