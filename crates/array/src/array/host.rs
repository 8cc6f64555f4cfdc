//! The host's stage: what a request costs there, the page cache, and the division over volumes.
//!
//! Model: past the page cache a request leaves at once, or in chunks of which each begins when the one before has ended.
//! Through it, a read waits for what is not there, which is fetched as one request or, as by a window of read-ahead that
//! begins small, in pieces one after the other, each longer than the last (with what is read ahead as another request);
//! a write is done when its pages are dirty, and waits when too many are. What is dirty is written out in order of
//! address. A flush waits for what is dirty or under way to the array when it comes, which is written out before all else,
//! and not for what becomes dirty later. Pages that are moved cost the processor time of their own.
//!
//! Limits: writes that wait for room or go past the page cache are not waited for by a flush; a page is fetched as far as it was
//! asked for; writes of parts of pages fetch nothing first. Who waits for a page of a fetch waits for all of its pieces.

use std::collections::VecDeque;

use plimsoll_workload::Op;

use super::{Array, Completion, Job, Pending, Purpose, Request, Stretch, Waiter};
use crate::cache::Cache;
use crate::cache::read_ahead::ReadAhead;
use crate::calendar::Event;
use crate::controller::Destager;
use crate::raid::Extent;
use crate::slab::NONE;
use crate::station::Station;
use crate::volume::Share;

/// The host at work.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) cpu: Station,
    pub(super) request_ns: u64,
    pub(super) page_ns: u64,
    pub(super) page_sectors: u32,
    pub(super) sectors_max: u32,
    /// Of one request past the page cache, what is under way at a time.
    pub(super) chunk_sectors: u32,
    pub(super) pages: Option<PageCache>,
}

/// The host's page cache at work.
#[derive(Debug)]
pub(super) struct PageCache {
    pub(super) cache: Cache,
    pub(super) destager: Destager,
    pub(super) moved_page_ns: u64,
    /// 0 fetches everything at once.
    pub(super) first_fetch_sectors: u32,
    pub(super) fetch_growth: u32,
    pub(super) read_ahead: Option<ReadAhead>,
    /// Flushes in the order in which they came, each with the epoch of dirty pages that it waits for.
    pub(super) flushes: VecDeque<(u32, u64)>,
}

impl Host {
    /// A request passes the host, as far as its first chunk goes; when it has.
    #[inline]
    pub(super) fn take(&mut self, now_ns: u64, sectors: u32) -> u64 {
        let sectors = sectors.min(self.chunk_sectors);
        let pages = u64::from(sectors.div_ceil(self.page_sectors));
        let service_ns = self.request_ns + pages * self.page_ns;
        self.cpu.account.bytes += u64::from(sectors) * 512;
        self.cpu.visit(now_ns, service_ns)
    }

    /// A further chunk passes it; when it has.
    fn take_chunk(&mut self, now_ns: u64, sectors: u32) -> u64 {
        self.cpu.account.bytes += u64::from(sectors) * 512;
        self.cpu.work(now_ns, u64::from(sectors.div_ceil(self.page_sectors)) * self.page_ns)
    }
}

impl Array {
    /// The host's processor has done what it had to for a request or a piece of one.
    #[inline(never)]
    pub(super) fn leave_processor(&mut self, number: u32) {
        match self.requests[number].purpose {
            Purpose::Asked if self.requests[number].piece.sectors == 0 => self.enter_host(number),
            Purpose::Asked | Purpose::PageFetch | Purpose::PageWrite => self.divide_piece(number),
        }
    }

    /// A request has been taken in.
    #[inline]
    pub(super) fn enter_host(&mut self, number: u32) {
        if self.host.pages.is_none() {
            self.divide(number);
        } else {
            self.enter_page_cache(number);
        }
    }

    #[inline(never)]
    fn enter_page_cache(&mut self, number: u32) {
        self.touch_page_cache();
        match self.requests[number].request.op {
            Op::Read => self.read_pages(number),
            Op::Write => self.write_pages(number),
            Op::Flush => self.flush_pages(number),
            Op::Trim => self.divide(number),
        }
    }

    /// Divides a request, or the first chunk of a long one, into jobs and sends them off.
    #[inline(always)]
    pub(super) fn divide(&mut self, number: u32) {
        let Request { op, lba, sectors } = self.requests[number].request;
        if sectors > self.host.chunk_sectors && op != Op::Trim {
            self.requests[number].piece = Stretch { offset: 0, sectors: self.host.chunk_sectors };
            self.divide_piece(number);
            return;
        }
        self.divide_stretch(number, op, Extent { lba, sectors });
    }

    /// Sends the next chunk of a long request; `false` if there is none.
    fn next_chunk(&mut self, number: u32) -> bool {
        let Pending { request, piece, failed, .. } = self.requests[number];
        let offset = piece.offset + piece.sectors;
        if piece.sectors == 0 || failed || offset >= request.sectors {
            return false;
        }
        let sectors = self.host.chunk_sectors.min(request.sectors - offset);
        self.requests[number].piece = Stretch { offset, sectors };
        let done_ns = self.host.take_chunk(self.now_ns, sectors);
        if done_ns > self.now_ns {
            self.calendar.add(done_ns, Event::HostDone, number);
        } else {
            self.divide_piece(number);
        }
        true
    }

    #[inline]
    fn divide_stretch(&mut self, number: u32, op: Op, extent: Extent) {
        if let Some(share) = self.target.whole(&self.volumes, extent, self.host.sectors_max) {
            self.requests[number].left = 1;
            self.send_share(number, op, share);
        } else {
            self.divide_among(number, op, extent);
        }
    }

    /// Sends off a request that has several jobs, or no address.
    #[inline(never)]
    fn divide_among(&mut self, number: u32, op: Op, extent: Extent) {
        let mut shares = std::mem::take(&mut self.scratch.shares);
        shares.clear();
        // A flush concerns every controller; it is told to the first, which costs what it costs.
        let extent = if op == Op::Flush { Extent { lba: 0, sectors: 1 } } else { extent };
        self.target.map(&self.volumes, extent, self.host.sectors_max, &mut shares);
        self.requests[number].left = shares.len() as u32;
        for &share in &shares {
            self.send_share(number, op, share);
        }
        self.scratch.shares = shares;
    }

    #[inline(always)] // a share that goes through memory would be read before its parts are written
    fn send_share(&mut self, request: u32, op: Op, share: Share) {
        self.send_job(Job { request, op, share, group: share.group, left: 0, failed: false, ready_ns: 0, next: NONE });
    }

    /// A job of a request has ended.
    #[inline]
    pub(super) fn job_done(&mut self, request: u32, failed: bool) {
        let pending = &mut self.requests[request];
        pending.left -= 1;
        pending.failed |= failed;
        if pending.left == 0 {
            self.finish_request(request);
        }
    }

    #[inline]
    fn finish_request(&mut self, number: u32) {
        let Pending { token, purpose, piece, failed, .. } = self.requests[number];
        if purpose == Purpose::Asked && piece.sectors == 0 {
            self.requests.remove(number);
            self.finished.push(Completion { token, completed_ns: self.now_ns, failed });
        } else {
            self.finish_piece(number);
        }
    }

    /// A piece of a request has ended.
    #[inline(never)]
    fn finish_piece(&mut self, number: u32) {
        let goes_on = match self.requests[number].purpose {
            Purpose::Asked => self.next_chunk(number),
            Purpose::PageFetch => self.fetch_on(number),
            Purpose::PageWrite => false,
        };
        if goes_on {
            return;
        }
        let purpose = self.requests[number].purpose;
        if purpose == Purpose::Asked {
            let Pending { token, failed, .. } = self.requests.remove(number);
            self.finished.push(Completion { token, completed_ns: self.now_ns, failed });
            return;
        }
        let pending = self.requests.remove(number);
        if purpose == Purpose::PageFetch {
            self.pages_fetched(number, &pending);
        } else {
            self.pages_written(&pending);
        }
    }

    /// The page cache asks for something itself.
    fn send_own(&mut self, purpose: Purpose, op: Op, extent: Extent) -> u32 {
        let request = Request { op, lba: extent.lba, sectors: extent.sectors };
        let first = self.host.pages.as_ref().map_or(0, |pages| pages.first_fetch_sectors);
        let sectors =
            if first == 0 || purpose == Purpose::PageWrite { extent.sectors } else { first.min(extent.sectors) };
        let piece = Stretch { offset: 0, sectors };
        let number = self.requests.insert(Pending { purpose, request, piece, ..Pending::BLANK });
        self.send_piece(number);
        number
    }

    /// The processor works on the pages of a piece, which then goes off.
    fn send_piece(&mut self, number: u32) {
        let moved_page_ns = self.host.pages.as_ref().map_or(0, |pages| pages.moved_page_ns);
        let pages = self.requests[number].piece.sectors.div_ceil(self.host.page_sectors);
        let done_ns = self.host.cpu.work(self.now_ns, u64::from(pages) * moved_page_ns);
        if moved_page_ns > 0 && done_ns > self.now_ns {
            self.calendar.add(done_ns, Event::HostDone, number);
        } else {
            self.divide_piece(number);
        }
    }

    fn divide_piece(&mut self, number: u32) {
        let Pending { request, piece, .. } = self.requests[number];
        let extent = Extent { lba: request.lba + u64::from(piece.offset), sectors: piece.sectors };
        self.divide_stretch(number, request.op, extent);
    }

    /// Sends the next piece of a fetch, longer than the one that has come; `false` if there is none.
    fn fetch_on(&mut self, number: u32) -> bool {
        let Pending { request, piece, failed, .. } = self.requests[number];
        let offset = piece.offset + piece.sectors;
        if failed || offset >= request.sectors {
            return false;
        }
        let growth = self.host.pages.as_ref().map_or(1, |pages| pages.fetch_growth);
        let sectors = piece.sectors.saturating_mul(growth).min(request.sectors - offset);
        self.requests[number].piece = Stretch { offset, sectors };
        self.send_piece(number);
        true
    }

    fn read_pages(&mut self, number: u32) {
        let Request { lba, sectors, .. } = self.requests[number].request;
        let extent = Extent { lba, sectors };
        let mut waits = std::mem::take(&mut self.scratch.page_waits);
        waits.clear();
        let Some(pages) = &mut self.host.pages else { return };
        let missing = pages.cache.read(0, extent, &mut waits);
        if let Some(missing) = missing {
            waits.push(self.fetch_pages(missing));
        }
        if let Some(ahead) = self.pages_ahead(extent) {
            self.fetch_pages(ahead);
        }
        self.requests[number].left = waits.len() as u32;
        for &fetch in &waits {
            let waiter = Waiter { who: number, next: self.requests[fetch].next };
            self.requests[fetch].next = self.waiters.insert(waiter);
        }
        if waits.is_empty() {
            self.finish_request(number);
        }
        self.scratch.page_waits = waits;
    }

    /// What the host reads ahead after this read: not there yet, and room for it.
    fn pages_ahead(&mut self, read: Extent) -> Option<Extent> {
        let pages = self.host.pages.as_mut()?;
        let ahead = pages.read_ahead.as_mut()?.observe(read, self.target.sectors)?;
        pages.cache.ahead(0, ahead)
    }

    fn fetch_pages(&mut self, extent: Extent) -> u32 {
        let number = self.send_own(Purpose::PageFetch, Op::Read, extent);
        if let Some(pages) = &mut self.host.pages {
            pages.cache.fetch(0, extent, number);
        }
        number
    }

    fn pages_fetched(&mut self, number: u32, fetch: &Pending) {
        let Request { lba, sectors, .. } = fetch.request;
        if let Some(pages) = &mut self.host.pages {
            pages.cache.fetched(0, Extent { lba, sectors }, number, NONE);
        }
        let mut next = fetch.next;
        while next != NONE {
            let waiter = self.waiters.remove(next);
            next = waiter.next;
            self.job_done(waiter.who, fetch.failed);
        }
    }

    fn write_pages(&mut self, number: u32) {
        let Request { lba, sectors, .. } = self.requests[number].request;
        let extent = Extent { lba, sectors };
        let Some(pages) = &mut self.host.pages else { return };
        if !pages.cache.fits(extent) {
            pages.cache.forget(0, extent);
            self.divide(number);
            return;
        }
        if pages.destager.waiting.0 == NONE && pages.cache.has_room(0, extent) {
            pages.cache.write(0, extent);
            self.finish_request(number);
        } else if pages.destager.waiting.0 == NONE {
            pages.destager.waiting = (number, number);
        } else {
            let last = pages.destager.waiting.1;
            pages.destager.waiting.1 = number;
            self.requests[last].next = number;
        }
        self.write_out();
    }

    /// Starts as many write-outs as there may be.
    fn write_out(&mut self) {
        let mut stretches = std::mem::take(&mut self.scratch.page_stretches);
        while let Some(pages) = &mut self.host.pages {
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
                self.send_own(Purpose::PageWrite, Op::Write, stretch);
            }
        }
        self.scratch.page_stretches = stretches;
    }

    fn pages_written(&mut self, written: &Pending) {
        let Request { lba, sectors, .. } = written.request;
        let Some(pages) = &mut self.host.pages else { return };
        pages.destager.under_way[0] -= 1;
        pages.cache.destaged(0, Extent { lba, sectors });
        self.admit_writers();
        self.finish_flushes();
        self.write_out();
    }

    /// Lets those in that wait for room, in their order, as far as there is some.
    fn admit_writers(&mut self) {
        while let Some(pages) = &mut self.host.pages {
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
            self.finish_request(number);
        }
    }

    fn flush_pages(&mut self, number: u32) {
        let Some(pages) = &mut self.host.pages else { return };
        let epoch = pages.cache.flush();
        pages.flushes.push_back((number, epoch));
        self.finish_flushes();
        self.write_out();
    }

    fn finish_flushes(&mut self) {
        while let Some(pages) = &mut self.host.pages {
            match pages.flushes.front() {
                Some(&(number, epoch)) if pages.cache.is_flushed(epoch) => {
                    pages.flushes.pop_front();
                    self.divide(number);
                }
                _ => return,
            }
        }
    }

    fn touch_page_cache(&mut self) {
        let now_ns = self.now_ns;
        let Some(pages) = &mut self.host.pages else { return };
        if let Some(due_ns) = pages.destager.used(now_ns, pages.cache.dirty_pages()) {
            self.calendar.add(due_ns, Event::PageCacheIdle, 0);
        }
    }

    pub(super) fn page_cache_idle(&mut self) {
        let Some(pages) = &mut self.host.pages else { return };
        match pages.destager.rested(self.now_ns) {
            Some(due_ns) => self.calendar.add(due_ns, Event::PageCacheIdle, 0),
            None => self.write_out(),
        }
    }
}
