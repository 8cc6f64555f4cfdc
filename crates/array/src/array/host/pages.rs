//! The host's page cache.
//!
//! Model: a read waits for what is not there, which is fetched as one request or, as by a window of read-ahead that begins
//! small, in pieces one after the other, each longer than the last (with what is read ahead as another request); a write is
//! done when its pages are dirty, and waits when too many are. What is dirty is written out in order of address. A flush waits
//! for what is dirty or under way to the array when it comes, which is written out before all else, and not for what becomes
//! dirty later. Pages that are moved cost the processor time of their own.
//!
//! Limits: writes that wait for room or go past the page cache are not waited for by a flush; a page is fetched as far as it was
//! asked for; writes of parts of pages fetch nothing first. Who waits for a page of a fetch waits for all of its pieces.

use std::collections::VecDeque;

use plimsoll_workload::Op;

use super::{Host, Pending, Purpose, Request, Storage, Stretch};
use crate::array::warm::stride;
use crate::cache::read_ahead::{Asked, ReadAhead};
use crate::cache::{Cache, Shape, Space};
use crate::calendar::Event;
use crate::controller::Destager;
use crate::raid::Extent;
use crate::slab::NONE;
use crate::spec::{HostSpec, PageCacheSpec};

/// A request that waits for a page fetch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    request: u32,
    next: u32,
}

impl Waiter {
    pub(super) const BLANK: Self = Self { request: NONE, next: NONE };
}

/// See the module.
#[derive(Debug)]
pub(super) struct PageCache {
    cache: Cache,
    destager: Destager,
    moved_page_ns: u64,
    /// 0 fetches everything at once.
    first_fetch_sectors: u32,
    fetch_growth: u32,
    read_ahead: Option<ReadAhead>,
    /// Flushes in the order in which they came, each with the epoch of dirty pages that it waits for.
    flushes: VecDeque<(u32, u64)>,
}

impl PageCache {
    pub(super) fn new(host: &HostSpec, spec: &PageCacheSpec, sectors: u64) -> Self {
        let pages = (spec.size_bytes / u64::from(host.page_bytes)) as u32;
        let share = |percent: u32| (u64::from(pages) * u64::from(percent.min(100)) / 100) as u32;
        let row_sectors = u64::from(host.request_bytes_max.min(512 << 10) / 512).max(1);
        let shape = Shape {
            page_sectors: host.page_bytes / 512,
            pages,
            clean_max: pages,
            dirty_max: share(spec.dirty_percent),
        };
        let spaces = [Space { row_sectors, rows: sectors.div_ceil(row_sectors), undivided: false }];
        let background = share(spec.dirty_background_percent.min(spec.dirty_percent));
        let mut cache = Cache::new(shape, &spaces);
        warm(&mut cache, (spec.warm_range_bytes / 512).min(sectors), spec.warm_block_bytes / 512);
        Self {
            cache,
            destager: Destager::new((background, background), spec.idle_ns, vec![spec.writes_max], row_sectors as u32),
            moved_page_ns: spec.moved_page_ns,
            first_fetch_sectors: spec.first_fetch_bytes / 512,
            fetch_growth: spec.fetch_growth,
            read_ahead: spec.read_ahead.as_ref().map(ReadAhead::new),
            flushes: VecDeque::new(),
        }
    }

    pub(super) const fn cache(&self) -> &Cache {
        &self.cache
    }

    pub(super) const fn write_back(&self) -> (&Cache, &Destager) {
        (&self.cache, &self.destager)
    }
}

/// Fills a cache with blocks from all over a range, as uniform requests leave it: every part of the range has its share, and no
/// part was used later than another.
fn warm(cache: &mut Cache, range: u64, block: u32) {
    let blocks = range / u64::from(block);
    if blocks == 0 {
        return;
    }
    let room = u64::from(cache.shape().clean_max) * u64::from(cache.shape().page_sectors) / u64::from(block);
    let step = stride(blocks);
    for number in 0..room.min(blocks) {
        let place = (u128::from(number) * u128::from(step) % u128::from(blocks)) as u64;
        let extent = Extent { lba: place * u64::from(block), sectors: block };
        let page = cache.fetch(0, extent, 0);
        cache.fetched(0, extent, 0, page);
    }
}

impl Host {
    #[inline(never)]
    pub(super) fn enter_page_cache(&mut self, storage: &mut Storage, number: u32) {
        self.touch_page_cache(storage);
        match self.requests[number].request.op {
            Op::Read => self.read_pages(storage, number),
            Op::Write => self.write_pages(storage, number),
            Op::Flush => self.flush_pages(storage, number),
            Op::Trim => self.divide(storage, number),
        }
    }

    /// The page cache asks for something itself.
    fn send_own(&mut self, storage: &mut Storage, purpose: Purpose, op: Op, extent: Extent) -> u32 {
        let request = Request { op, lba: extent.lba, sectors: extent.sectors };
        let first = self.pages.as_ref().map_or(0, |pages| pages.first_fetch_sectors);
        let sectors =
            if first == 0 || purpose == Purpose::PageWrite { extent.sectors } else { first.min(extent.sectors) };
        let piece = Stretch { offset: 0, sectors };
        let number = self.requests.insert(Pending { purpose, request, piece, ..Pending::BLANK });
        self.send_piece(storage, number);
        number
    }

    /// The processor works on the pages of a piece, which then goes off.
    fn send_piece(&mut self, storage: &mut Storage, number: u32) {
        let moved_page_ns = self.pages.as_ref().map_or(0, |pages| pages.moved_page_ns);
        let pages = self.requests[number].piece.sectors.div_ceil(self.page_sectors);
        let done_ns = self.cpu.work(storage.topology.now_ns, u64::from(pages) * moved_page_ns);
        if moved_page_ns > 0 && done_ns > storage.topology.now_ns {
            self.leave_later(&mut storage.topology, done_ns, number);
        } else {
            self.divide_piece(storage, number);
        }
    }

    /// Sends the next piece of a fetch, longer than the one that has come; `false` if there is none.
    pub(super) fn fetch_on(&mut self, storage: &mut Storage, number: u32) -> bool {
        let Pending { request, piece, failed, .. } = self.requests[number];
        let offset = piece.offset + piece.sectors;
        if failed || offset >= request.sectors {
            return false;
        }
        let growth = self.pages.as_ref().map_or(1, |pages| pages.fetch_growth);
        let sectors = piece.sectors.saturating_mul(growth).min(request.sectors - offset);
        self.requests[number].piece = Stretch { offset, sectors };
        self.send_piece(storage, number);
        true
    }

    fn read_pages(&mut self, storage: &mut Storage, number: u32) {
        let Request { lba, sectors, .. } = self.requests[number].request;
        let extent = Extent { lba, sectors };
        let mut waits = std::mem::take(&mut self.scratch.waits);
        waits.clear();
        let Some(pages) = &mut self.pages else { return };
        let missing = pages.cache.read(0, extent, &mut waits);
        let missed = missing.is_some_and(|missing| pages.cache.lacks(0, missing));
        if let Some(missing) = missing {
            waits.push(self.fetch_pages(storage, missing, Cache::fetch));
        }
        if let Some(ahead) = self.pages_ahead(Asked { extent, missed }) {
            self.fetch_pages(storage, ahead, Cache::fetch_ahead);
        }
        self.requests[number].left = waits.len() as u32;
        for &fetch in &waits {
            let waiter = Waiter { request: number, next: self.requests[fetch].next };
            self.requests[fetch].next = self.waiters.insert(waiter);
        }
        if waits.is_empty() {
            self.finish_request(storage, number);
        }
        self.scratch.waits = waits;
    }

    /// What the host reads ahead after this read: not there yet, and room for it.
    fn pages_ahead(&mut self, read: Asked) -> Option<Extent> {
        let pages = self.pages.as_mut()?;
        let ahead = pages.read_ahead.as_mut()?.observe(read, self.target.sectors)?;
        pages.cache.ahead(0, ahead)
    }

    fn fetch_pages(
        &mut self,
        storage: &mut Storage,
        extent: Extent,
        notes: fn(&mut Cache, u32, Extent, u32) -> u32,
    ) -> u32 {
        let number = self.send_own(storage, Purpose::PageFetch, Op::Read, extent);
        if let Some(pages) = &mut self.pages {
            notes(&mut pages.cache, 0, extent, number);
        }
        number
    }

    pub(super) fn pages_fetched(&mut self, storage: &mut Storage, number: u32, fetch: &Pending) {
        let Request { lba, sectors, .. } = fetch.request;
        if let Some(pages) = &mut self.pages {
            pages.cache.fetched(0, Extent { lba, sectors }, number, NONE);
        }
        let mut next = fetch.next;
        while next != NONE {
            let waiter = self.waiters.remove(next);
            next = waiter.next;
            self.job_done(storage, waiter.request, fetch.failed);
        }
        // Its pages can be given up from now on: a write may have waited for nothing else.
        if self.pages.as_ref().is_some_and(|pages| pages.destager.waiting.0 != NONE) {
            self.admit_writers(storage);
            self.write_out(storage);
        }
    }

    fn write_pages(&mut self, storage: &mut Storage, number: u32) {
        let Request { lba, sectors, .. } = self.requests[number].request;
        let extent = Extent { lba, sectors };
        let Some(pages) = &mut self.pages else { return };
        if !pages.cache.fits(extent) {
            pages.cache.forget(0, extent);
            self.divide(storage, number);
            return;
        }
        if pages.destager.waiting.0 == NONE && pages.cache.has_room(0, extent) {
            pages.cache.write(0, extent);
            self.finish_request(storage, number);
        } else if pages.destager.waiting.0 == NONE {
            pages.destager.waiting = (number, number);
        } else {
            let last = pages.destager.waiting.1;
            pages.destager.waiting.1 = number;
            self.requests[last].next = number;
        }
        self.write_out(storage);
    }

    /// Starts as many write-outs as there may be.
    fn write_out(&mut self, storage: &mut Storage) {
        let mut stretches = std::mem::take(&mut self.scratch.stretches);
        while let Some(pages) = &mut self.pages {
            pages.destager.consider(pages.cache.dirty_pages());
            let works = pages.destager.works() || pages.cache.has_due_rows(0);
            if !works || pages.destager.under_way[0] >= pages.destager.most[0] {
                break;
            }
            stretches.clear();
            if !pages.cache.destage(0, pages.destager.sectors_max, &mut stretches) {
                break;
            }
            pages.destager.under_way[0] += stretches.len() as u32;
            for &stretch in &stretches {
                self.send_own(storage, Purpose::PageWrite, Op::Write, stretch);
            }
        }
        self.scratch.stretches = stretches;
    }

    pub(super) fn pages_written(&mut self, storage: &mut Storage, written: &Pending) {
        let Request { lba, sectors, .. } = written.request;
        let Some(pages) = &mut self.pages else { return };
        pages.destager.under_way[0] -= 1;
        pages.cache.destaged(0, Extent { lba, sectors });
        self.admit_writers(storage);
        self.finish_flushes(storage);
        self.write_out(storage);
    }

    /// Lets those in that wait for room, in their order, as far as there is some.
    fn admit_writers(&mut self, storage: &mut Storage) {
        while let Some(pages) = &mut self.pages {
            let number = pages.destager.waiting.0;
            if number == NONE {
                break;
            }
            let Request { lba, sectors, .. } = self.requests[number].request;
            let extent = Extent { lba, sectors };
            if !pages.cache.has_room(0, extent) {
                break;
            }
            pages.cache.write(0, extent);
            pages.destager.waiting.0 = self.requests[number].next;
            self.finish_request(storage, number);
        }
    }

    fn flush_pages(&mut self, storage: &mut Storage, number: u32) {
        let Some(pages) = &mut self.pages else { return };
        let epoch = pages.cache.flush();
        pages.flushes.push_back((number, epoch));
        self.finish_flushes(storage);
        self.write_out(storage);
    }

    fn finish_flushes(&mut self, storage: &mut Storage) {
        while let Some(pages) = &mut self.pages {
            match pages.flushes.front() {
                Some(&(number, epoch)) if pages.cache.is_flushed(epoch) => {
                    pages.flushes.pop_front();
                    self.divide(storage, number);
                }
                _ => return,
            }
        }
    }

    fn touch_page_cache(&mut self, storage: &mut Storage) {
        let now_ns = storage.topology.now_ns;
        let Some(pages) = &mut self.pages else { return };
        if let Some(due_ns) = pages.destager.used(now_ns, pages.cache.dirty_pages()) {
            storage.topology.calendar.add(due_ns, Event::PageCacheIdle, 0);
        }
    }

    /// It may have been left alone for long enough.
    pub(in crate::array) fn page_cache_idle(&mut self, storage: &mut Storage) {
        let Some(pages) = &mut self.pages else { return };
        match pages.destager.rested(storage.topology.now_ns) {
            Some(due_ns) => storage.topology.calendar.add(due_ns, Event::PageCacheIdle, 0),
            None => self.write_out(storage),
        }
    }
}
