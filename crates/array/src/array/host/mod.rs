//! The host's stage: what a request costs there, and the division over volumes.
//!
//! Model: behind the page cache (`pages.rs`) a request leaves at once, or in chunks, one after the other. Each part of it that
//! lies on one group is a job for the storage; a request ends with the last of its jobs.

mod pages;

use plimsoll_workload::Op;

use super::jobs::Job;
use super::request::{Completion, Request};
use super::storage::Storage;
use crate::cache::Cache;
use crate::calendar::Event;
use crate::controller::Destager;
use crate::raid::Extent;
use crate::slab::{NONE, Slab};
use crate::spec::{HostMode, HostSpec};
use crate::station::Station;
use crate::volume::{Share, Target};
use pages::{PageCache, Waiter};

/// Who wants a request done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The user.
    Asked,
    /// The page cache, to fetch.
    PageFetch,
    /// The page cache, to write out.
    PageWrite,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    token: u32,
    purpose: Purpose,
    request: Request,
    /// Jobs, or fetches of the page cache, that it waits for.
    left: u32,
    failed: bool,
    /// Requests that wait for it (of a page fetch), or the one behind it in a line.
    next: u32,
    /// Of the page cache's own: the piece that is under way.
    piece: Stretch,
}

/// A piece of a request: sectors before it, and its own.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    offset: u32,
    sectors: u32,
}

impl Pending {
    const BLANK: Self = Self {
        token: 0,
        purpose: Purpose::Asked,
        request: Request { op: Op::Flush, lba: 0, sectors: 0 },
        left: 0,
        failed: false,
        next: NONE,
        piece: Stretch { offset: 0, sectors: 0 },
    };
}

/// The host at work, with all requests that are under way.
#[derive(Debug)]
pub(super) struct Host {
    cpu: Station,
    request_ns: u64,
    page_ns: u64,
    page_sectors: u32,
    sectors_max: u32,
    /// Of one request past the page cache, what is under way at a time.
    chunk_sectors: u32,
    target: Target,
    pages: Option<PageCache>,
    /// Whether requests leave its processor in the order in which they came and nothing else does: it has no page cache.
    foreseen: bool,
    /// Events that say when something leaves its processor.
    pub(super) in_processor: u32,
    /// Requests under way that go in chunks.
    long: u32,
    requests: Slab<Pending>,
    /// Those who wait for page fetches.
    waiters: Slab<Waiter>,
    finished: Vec<Completion>,
    scratch: Scratch,
}

/// Memory that is used again.
#[derive(Debug, Default)]
struct Scratch {
    shares: Vec<Share>,
    waits: Vec<u32>,
    stretches: Vec<Extent>,
}

impl Host {
    pub(super) fn new(spec: &HostSpec, target: Target) -> Self {
        let pages = spec.page_cache.as_ref().filter(|_| spec.mode == HostMode::Buffered);
        Self {
            cpu: Station::new(spec.cores),
            request_ns: spec.request_ns,
            page_ns: spec.page_ns,
            page_sectors: (spec.page_bytes / 512).max(1),
            sectors_max: (spec.request_bytes_max / 512).max(1),
            chunk_sectors: if pages.is_none() && spec.chunk_bytes > 0 { spec.chunk_bytes / 512 } else { u32::MAX },
            pages: pages.map(|pages| PageCache::new(spec, pages, target.sectors)),
            foreseen: pages.is_none() && (spec.cores <= 1 || spec.page_ns == 0),
            in_processor: 0,
            long: 0,
            target,
            requests: Slab::new(Pending::BLANK),
            waiters: Slab::new(Waiter::BLANK),
            finished: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// What requests are addressed to.
    pub(super) const fn target(&self) -> &Target {
        &self.target
    }

    /// Its processors.
    pub(super) const fn cpu(&self) -> &Station {
        &self.cpu
    }

    /// Its page cache, if it has one, with what writes it out.
    pub(super) fn write_back(&self) -> Option<(&Cache, &Destager)> {
        self.pages.as_ref().map(PageCache::write_back)
    }

    /// Its page cache, if it has one.
    pub(super) fn page_cache(&self) -> Option<&Cache> {
        self.pages.as_ref().map(PageCache::cache)
    }

    /// Requests that are under way.
    pub(super) const fn under_way(&self) -> usize {
        self.requests.len()
    }

    /// Places for all that were ever needed at once.
    pub(super) const fn places(&self) -> usize {
        self.requests.most() + self.waiters.most()
    }

    /// Whether requests have ended that were not fetched.
    #[inline(always)]
    pub(super) const fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Appends the requests that have ended and were not fetched.
    #[inline]
    pub(super) fn fetch_finished(&mut self, done: &mut Vec<Completion>) {
        if done.is_empty() {
            std::mem::swap(done, &mut self.finished);
        } else {
            done.append(&mut self.finished);
        }
    }

    /// Takes a request.
    #[inline(always)]
    pub(super) fn submit(&mut self, storage: &mut Storage, token: u32, request: Request) {
        let number = self.requests.insert(Pending { token, request, ..Pending::BLANK });
        let moved_sectors = if request.op == Op::Trim { 0 } else { request.sectors };
        self.long += u32::from(moved_sectors > self.chunk_sectors);
        let topology = &mut storage.topology;
        let done_ns = self.take(topology.now_ns, moved_sectors);
        if done_ns <= topology.now_ns {
            self.enter(storage, number);
        } else if !self.passes_now(storage, number, done_ns) {
            self.leave_later(&mut storage.topology, done_ns, number);
        }
    }

    /// An event says when something leaves the processor.
    #[inline]
    fn leave_later(&mut self, topology: &mut super::topology::Topology, done_ns: u64, number: u32) {
        self.in_processor += 1;
        topology.calendar.add(done_ns, Event::HostDone, number);
    }

    /// Sends a read off before it has left the processor, which is at `done_ns`, if what comes of it is known already; whether it did.
    #[inline(always)]
    fn passes_now(&mut self, storage: &mut Storage, number: u32, done_ns: u64) -> bool {
        let Request { op, lba, sectors } = self.requests[number].request;
        if op != Op::Read || !self.foreseen || self.in_processor > 0 || self.long > 0 {
            return false;
        }
        let share = self.target.whole(&storage.topology.volumes, Extent { lba, sectors }, self.sectors_max);
        let sent = share.is_some_and(|share| storage.send_early(Job::new(number, op, share), done_ns));
        self.requests[number].left += u32::from(sent);
        sent
    }

    /// A request passes the processor, as far as its first chunk goes; when it has.
    #[inline]
    fn take(&mut self, now_ns: u64, sectors: u32) -> u64 {
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

    /// The host's processor has done what it had to for a request or a piece of one.
    #[inline(never)]
    pub(super) fn leave_processor(&mut self, storage: &mut Storage, number: u32) {
        self.in_processor -= 1;
        match self.requests[number].purpose {
            Purpose::Asked if self.requests[number].piece.sectors == 0 => self.enter(storage, number),
            Purpose::Asked | Purpose::PageFetch | Purpose::PageWrite => self.divide_piece(storage, number),
        }
    }

    /// A request has been taken in.
    #[inline]
    fn enter(&mut self, storage: &mut Storage, number: u32) {
        if self.pages.is_none() {
            self.divide(storage, number);
        } else {
            self.enter_page_cache(storage, number);
        }
    }

    /// Divides a request, or the first chunk of a long one, into jobs and sends them off.
    #[inline(always)]
    fn divide(&mut self, storage: &mut Storage, number: u32) {
        let Request { op, lba, sectors } = self.requests[number].request;
        if sectors > self.chunk_sectors && op != Op::Trim {
            self.requests[number].piece = Stretch { offset: 0, sectors: self.chunk_sectors };
            self.divide_piece(storage, number);
            return;
        }
        self.divide_stretch(storage, number, op, Extent { lba, sectors });
    }

    /// Sends the next chunk of a long request; `false` if there is none.
    fn next_chunk(&mut self, storage: &mut Storage, number: u32) -> bool {
        let Pending { request, piece, failed, .. } = self.requests[number];
        let offset = piece.offset + piece.sectors;
        if piece.sectors == 0 || failed || offset >= request.sectors {
            return false;
        }
        let sectors = self.chunk_sectors.min(request.sectors - offset);
        self.requests[number].piece = Stretch { offset, sectors };
        let done_ns = self.take_chunk(storage.topology.now_ns, sectors);
        if done_ns > storage.topology.now_ns {
            self.leave_later(&mut storage.topology, done_ns, number);
        } else {
            self.divide_piece(storage, number);
        }
        true
    }

    #[inline]
    fn divide_stretch(&mut self, storage: &mut Storage, number: u32, op: Op, extent: Extent) {
        if let Some(share) = self.target.whole(&storage.topology.volumes, extent, self.sectors_max) {
            self.requests[number].left = 1;
            storage.send(Job::new(number, op, share));
        } else {
            self.divide_among(storage, number, op, extent);
        }
    }

    /// Sends off a request that has several jobs, or no address.
    #[inline(never)]
    fn divide_among(&mut self, storage: &mut Storage, number: u32, op: Op, extent: Extent) {
        let mut shares = std::mem::take(&mut self.scratch.shares);
        shares.clear();
        // A flush concerns every controller. Only the first gets it, so a flush costs what it costs there.
        let extent = if op == Op::Flush { Extent { lba: 0, sectors: 1 } } else { extent };
        self.target.map(&storage.topology.volumes, extent, self.sectors_max, &mut shares);
        self.requests[number].left = shares.len() as u32;
        for &share in &shares {
            storage.send(Job::new(number, op, share));
        }
        self.scratch.shares = shares;
    }

    /// A job of a request has ended.
    #[inline]
    pub(super) fn job_done(&mut self, storage: &mut Storage, request: u32, failed: bool) {
        let pending = &mut self.requests[request];
        pending.left -= 1;
        pending.failed |= failed;
        if pending.left == 0 {
            self.finish_request(storage, request);
        }
    }

    #[inline]
    fn finish_request(&mut self, storage: &mut Storage, number: u32) {
        let Pending { token, purpose, piece, failed, .. } = self.requests[number];
        if purpose == Purpose::Asked && piece.sectors == 0 {
            self.requests.remove(number);
            self.finished.push(Completion { token, completed_ns: storage.topology.now_ns, failed });
        } else {
            self.finish_piece(storage, number);
        }
    }

    /// A piece of a request has ended.
    #[inline(never)]
    fn finish_piece(&mut self, storage: &mut Storage, number: u32) {
        let goes_on = match self.requests[number].purpose {
            Purpose::Asked => self.next_chunk(storage, number),
            Purpose::PageFetch => self.fetch_on(storage, number),
            Purpose::PageWrite => false,
        };
        if goes_on {
            return;
        }
        let purpose = self.requests[number].purpose;
        if purpose == Purpose::Asked {
            self.long -= 1;
            let Pending { token, failed, .. } = self.requests.remove(number);
            self.finished.push(Completion { token, completed_ns: storage.topology.now_ns, failed });
            return;
        }
        let pending = self.requests.remove(number);
        if purpose == Purpose::PageFetch {
            self.pages_fetched(storage, number, &pending);
        } else {
            self.pages_written(storage, &pending);
        }
    }

    fn divide_piece(&mut self, storage: &mut Storage, number: u32) {
        let Pending { request, piece, .. } = self.requests[number];
        let extent = Extent { lba: request.lba + u64::from(piece.offset), sectors: piece.sectors };
        self.divide_stretch(storage, number, request.op, extent);
    }
}
