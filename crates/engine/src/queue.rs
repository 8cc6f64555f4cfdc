//! The backend in virtual time: servers with a given service-time distribution, optional stalls and faults.
//!
//! Model: requests wait first come, first served for one of `servers` equal servers; service times are drawn from a seeded
//! stream, in order of arrival. The clock jumps to the next completion, so a run costs only the requests it makes and is
//! equal for equal seeds. During a stall nothing is served: service that a stall interrupts goes on after it. It is the
//! M/M/c and M/D/c queue of the textbooks, which is how the engine is checked against known answers.
//!
//! With verification on it keeps what was written (the last two versions of each sector) and can lose, tear, misdirect or
//! age it, so that every kind of finding can be provoked.
//!
//! Limits: no seek, no cache, no difference between reads and writes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;

use plimsoll_workload::Op;
use plimsoll_workload::rng::{Draws, unit};

use crate::backend::{Backend, Done, Io, done, full};
use crate::target::{QueueFaults, QueueSpec, Service, Stall};

const SECTOR_BYTES: usize = 512;

/// Separate seeded streams for separate purposes.
#[derive(Clone, Copy)]
enum Purpose {
    Service = 1,
    Fault = 2,
}

/// See the module.
#[derive(Debug)]
pub struct Queue {
    now_ns: u64,
    service: Service,
    stalls: Vec<Stall>,
    faults: QueueFaults,
    /// When each server is free again.
    free_ns: BinaryHeap<Reverse<u64>>,
    outstanding: BinaryHeap<Reverse<Outstanding>>,
    arrivals: u64,
    times: Draws,
    luck: Draws,
    memory: Option<Memory>,
    size_bytes: u64,
}

/// A request in service or waiting for it, ordered by completion, then by arrival.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Outstanding {
    completed_ns: u64,
    arrival: u64,
    submitted_ns: u64,
    result: i32,
    slot: u32,
    piece: u32,
}

/// What was written: the two last versions of each sector. Bounded by the region that is written.
#[derive(Debug, Default)]
struct Memory {
    sectors: BTreeMap<u64, [Option<Box<[u8]>>; 2]>,
}

impl Queue {
    /// A queue at time 0; `seed` is used unless the target names its own. `remembers`: keep what is written.
    pub fn new(spec: &QueueSpec, seed: u64, remembers: bool) -> Self {
        let seed = spec.seed.unwrap_or(seed);
        Self {
            now_ns: 0,
            service: spec.service,
            stalls: spec.stalls.clone(),
            faults: spec.faults,
            free_ns: (0..spec.servers).map(|_| Reverse(0)).collect(),
            outstanding: BinaryHeap::new(),
            arrivals: 0,
            times: Draws::new(seed, &[Purpose::Service as u64]),
            luck: Draws::new(seed, &[Purpose::Fault as u64]),
            memory: remembers.then(Memory::default),
            size_bytes: spec.size_bytes,
        }
    }

    fn service_ns(&self) -> u64 {
        let draw = unit(self.times.at(self.arrivals));
        match self.service {
            Service::Constant { ns } => ns,
            Service::Exponential { mean_ns } => (-libm::log(1.0 - draw) * mean_ns as f64) as u64,
            Service::Uniform { min_ns, max_ns } => min_ns + (draw * (max_ns - min_ns) as f64) as u64,
        }
    }

    /// When service that begins at `begin_ns` and takes `service_ns` ends, stalls included.
    fn end_of_service(&self, begin_ns: u64, service_ns: u64) -> u64 {
        let mut end_ns = begin_ns + service_ns;
        for stall in &self.stalls {
            let stall_end_ns = stall.at_ns + stall.length_ns;
            if end_ns > stall.at_ns && begin_ns < stall_end_ns {
                end_ns += stall_end_ns - stall.at_ns.max(begin_ns);
            }
        }
        end_ns
    }

    /// Whether fault number `kind` with this share hits the current request.
    fn strikes(&self, kind: u64, percent: f64) -> bool {
        percent > 0.0 && unit(self.luck.at(self.arrivals * 8 + kind)) * 100.0 < percent
    }

    /// Carries a request out on the memory, with whatever goes wrong.
    fn carry_out(&mut self, io: &Io) -> i32 {
        if self.strikes(0, self.faults.error_percent) {
            return -libc::EIO;
        }
        let len = io.len as usize;
        let (lost, torn) = (self.strikes(1, self.faults.lost_percent), self.strikes(2, self.faults.torn_percent));
        let astray = self.strikes(3, self.faults.misdirected_percent);
        let stale = self.strikes(4, self.faults.stale_percent);
        let size_bytes = self.size_bytes;
        let Some(memory) = &mut self.memory else { return full(io) };
        match io.op {
            Op::Read => {
                // SAFETY: the backend contract gives us `len` bytes at `buffer` until the completion.
                let buffer = unsafe { std::slice::from_raw_parts_mut(io.buffer, len) };
                memory.read(io.offset, buffer, stale);
            }
            Op::Write if !lost => {
                // SAFETY: as above.
                let buffer = unsafe { std::slice::from_raw_parts(io.buffer.cast_const(), len) };
                let arrives = if torn { len / 2 / SECTOR_BYTES * SECTOR_BYTES } else { len };
                let offset = if astray { (io.offset + 2 * len as u64) % (size_bytes - len as u64) } else { io.offset };
                memory.write(offset / SECTOR_BYTES as u64 * SECTOR_BYTES as u64, &buffer[..arrives]);
            }
            Op::Write | Op::Trim | Op::Flush => {}
        }
        full(io)
    }
}

impl Memory {
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        for (number, sector) in bytes.chunks_exact(SECTOR_BYTES).enumerate() {
            let versions = self.sectors.entry(offset / SECTOR_BYTES as u64 + number as u64).or_default();
            versions.swap(0, 1);
            versions[0] = Some(sector.into());
        }
    }

    fn read(&self, offset: u64, buffer: &mut [u8], stale: bool) {
        for (number, sector) in buffer.chunks_exact_mut(SECTOR_BYTES).enumerate() {
            let versions = self.sectors.get(&(offset / SECTOR_BYTES as u64 + number as u64));
            let version = versions
                .and_then(|[last, before]| if stale { before.as_ref().or(last.as_ref()) } else { last.as_ref() });
            match version {
                Some(bytes) => sector.copy_from_slice(bytes),
                None => sector.fill(0),
            }
        }
    }
}

impl Backend for Queue {
    fn now(&self) -> u64 {
        self.now_ns
    }

    fn submit(&mut self, io: Io) -> io::Result<()> {
        let Reverse(free_ns) = self.free_ns.pop().unwrap_or(Reverse(0));
        let begin_ns = free_ns.max(self.now_ns);
        let completed_ns = self.end_of_service(begin_ns, self.service_ns());
        self.free_ns.push(Reverse(completed_ns));
        let result = self.carry_out(&io);
        let finished = done(&io, result, self.now_ns, completed_ns);
        self.outstanding.push(Reverse(Outstanding {
            completed_ns,
            arrival: self.arrivals,
            submitted_ns: finished.submitted_ns,
            result,
            slot: finished.slot,
            piece: finished.piece,
        }));
        self.arrivals += 1;
        Ok(())
    }

    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        let next_ns = self.outstanding.peek().map_or(u64::MAX, |Reverse(next)| next.completed_ns);
        self.now_ns = self.now_ns.max(next_ns.min(until_ns));
        while let Some(Reverse(next)) = self.outstanding.peek() {
            if next.completed_ns > self.now_ns {
                break;
            }
            let Some(Reverse(next)) = self.outstanding.pop() else { break };
            let Outstanding { completed_ns, submitted_ns, result, slot, piece, .. } = next;
            finished.push(Done { slot, piece, result, submitted_ns, completed_ns });
        }
        Ok(())
    }
}
