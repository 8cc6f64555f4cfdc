//! A short closed loop on an array: the simulated throughput of a load, to compare with its bounds.
//!
//! Model: requests come from a seeded stream over the whole target, the same every time; sequential ones start at its
//! beginning. Before anything is counted, caches and buffers are filled with writes if [`FILLING_MAX`] requests suffice for
//! that; then each depth has a moment to settle, the deepest first.
//!
//! Limits: some thousand requests, so figures are a few percent off those of a long run; where caches are too large to be
//! filled, they absorb writes, and where they are warm, they answer reads.

use std::collections::BTreeMap;

use plimsoll_workload::Op;
use plimsoll_workload::rng::Draws;
use serde::Serialize;

use crate::array::{Array, Completion, Request};
use crate::bounds::Load;
use crate::device::DeviceSpec;
use crate::spec::{ArraySpec, HostMode, SpecError};
use crate::utilisation::ComponentUse;

/// Requests that are counted at each depth, and those before.
const COUNTED: u64 = 2_000;
const SETTLING: u64 = 1_000;

/// Requests that each of those outstanding is followed by, at least: they complete in bursts, and caches swing.
const OF_EACH: u64 = 32;

/// Sequential requests are of many pieces each.
const LONG: u64 = 4;

/// How many times what caches and buffers keep is written, since devices take some meanwhile.
const FILLED: f64 = 4.0;

/// Requests that fill caches and buffers, at most.
const FILLING_MAX: u64 = 150_000;

const SEED: u64 = 1;

/// What was simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Simulated {
    /// Requests outstanding.
    pub population: u32,
    /// Requests per second.
    pub throughput_per_s: f64,
    /// Mean response.
    pub response_ns: f64,
    /// The busiest component, and how busy it was.
    pub busiest: String,
    /// Its kind.
    pub kind: &'static str,
    /// See there.
    pub utilisation: f64,
    /// Of every set of that kind, how busy its busiest component was.
    pub alike: BTreeMap<String, f64>,
    /// Share of reads that a cache answered, the largest of all caches.
    pub hit_share: f64,
    /// Whether caches had taken what they keep; else they absorb writes.
    pub filled: bool,
}

struct Loop {
    array: Array,
    draws: Draws,
    load: Load,
    sent: u64,
    began_ns: Vec<u64>,
    idle: Vec<u32>,
    done: Vec<Completion>,
}

/// Simulates a load at each of `populations`, in their order.
///
/// # Errors
/// When the array cannot be built.
pub fn simulated(spec: &ArraySpec, load: &Load, populations: &[u32]) -> Result<Vec<Simulated>, SpecError> {
    let deepest = populations.iter().copied().max().unwrap_or(1);
    let mut array = Array::new(spec, SEED)?;
    array.warm_all();
    let mut run = Loop {
        array,
        draws: Draws::new(SEED, &[0]),
        load: *load,
        sent: 0,
        began_ns: vec![0; deepest as usize],
        idle: (0..deepest).collect(),
        done: Vec::new(),
    };
    let mut found: Vec<Simulated> = Vec::new();
    let shorter = if load.sequential { LONG } else { 1 };
    let filling = filling(spec, load) + filling_of_flash(&run.array, load);
    run.complete(filling.min(FILLING_MAX), deepest);
    let mut order = populations.to_vec();
    order.sort_unstable_by(|one, other| other.cmp(one));
    for population in order {
        // Several times what is outstanding: a cache lets many go at once.
        run.complete((SETTLING / shorter).max(4 * u64::from(deepest)), population);
        let counted = run.counted(population, (COUNTED / shorter).max(OF_EACH * u64::from(population)));
        found.push(Simulated { filled: filling <= FILLING_MAX, ..counted });
    }
    found.sort_unstable_by_key(|found| found.population);
    Ok(found)
}

impl Loop {
    fn request(&self) -> Request {
        let sectors = self.load.bytes / 512;
        let places = (self.array.sectors() / u64::from(sectors)).max(1);
        let place = if self.load.sequential { self.sent } else { self.draws.at(self.sent) } % places;
        // Reads and writes are mixed evenly: drawn, so few would scatter by percents.
        let reads = |sent: u64| (sent as f64 * self.load.read_share) as u64;
        let read = reads(self.sent + 1) > reads(self.sent);
        Request { op: if read { Op::Read } else { Op::Write }, lba: place * u64::from(sectors), sectors }
    }

    /// Completes so many requests with `population` outstanding, or a few more that end with the last; how many, and the sum of
    /// their responses.
    fn complete(&mut self, count: u64, population: u32) -> (u64, u64) {
        let (mut completed, mut response_ns) = (0, 0);
        let outstanding = |run: &Self| run.began_ns.len() - run.idle.len();
        while completed < count {
            while outstanding(self) < population as usize
                && let Some(token) = self.idle.pop()
            {
                self.began_ns[token as usize] = self.array.now_ns();
                let request = self.request();
                self.array.submit(self.array.now_ns(), token, request);
                self.sent += 1;
            }
            self.done.clear();
            self.array.run_until(u64::MAX, &mut self.done);
            if self.done.is_empty() {
                break;
            }
            completed += self.done.len() as u64;
            for done in &self.done {
                response_ns += done.completed_ns - self.began_ns[done.token as usize];
                self.idle.push(done.token);
            }
        }
        (completed, response_ns)
    }

    fn counted(&mut self, population: u32, count: u64) -> Simulated {
        let (begin_ns, before) = (self.array.now_ns(), self.array.readings());
        let (completed, response_ns) = self.complete(count, population);
        let elapsed_ns = (self.array.now_ns() - begin_ns).max(1);
        let (components, after) = (self.array.components(), self.array.readings());
        let uses: Vec<ComponentUse> = (components.iter().zip(before.iter().zip(&after)))
            .map(|(component, (before, after))| ComponentUse::between(component, before, after, elapsed_ns))
            .collect();
        let working = uses.iter().filter(|found| found.component.kind != "cache");
        let busiest = working.max_by(|one, other| one.utilisation.total_cmp(&other.utilisation));
        let mut alike = BTreeMap::new();
        for found in uses.iter().filter(|found| busiest.is_some_and(|one| one.component.kind == found.component.kind)) {
            let most: &mut f64 = alike.entry(found.component.set.clone()).or_default();
            *most = most.max(found.utilisation);
        }
        Simulated {
            population,
            throughput_per_s: completed as f64 * 1e9 / elapsed_ns as f64,
            response_ns: response_ns as f64 / completed.max(1) as f64,
            busiest: busiest.map_or_else(String::new, |found| found.component.set.clone()),
            kind: busiest.map_or("", |found| found.component.kind),
            utilisation: busiest.map_or(0.0, |found| found.utilisation),
            alike,
            hit_share: uses.iter().filter_map(|found| found.hit_share).fold(0.0, f64::max),
            filled: true,
        }
    }
}

/// Requests after which flash caches have begun to write to their groups.
fn filling_of_flash(array: &Array, load: &Load) -> u64 {
    // A random write dirties an extent, sequential ones fill it.
    let each = |bytes: u64| if load.sequential { bytes as f64 / f64::from(load.bytes) } else { 1.0 };
    let extents: f64 = array.flash_marks().map(|(extents, bytes)| f64::from(extents) * each(bytes)).sum();
    if load.read_share < 1.0 { (extents / (1.0 - load.read_share)) as u64 } else { 0 }
}

/// Requests after which caches and buffers have taken what they keep of a load's writes.
fn filling(spec: &ArraySpec, load: &Load) -> u64 {
    let caches = spec.controller.iter().filter_map(|controller| controller.cache.as_ref());
    let kept = caches
        .filter(|cache| cache.writes_back())
        .map(|cache| cache.size_bytes * u64::from(cache.write_percent) / 100 * u64::from(cache.high_percent) / 100);
    let pages = spec.host.page_cache.as_ref().filter(|_| spec.host.mode == HostMode::Buffered);
    let dirty = pages.map_or(0, |pages| pages.size_bytes / 100 * u64::from(pages.dirty_background_percent));
    let buffers = spec.devices.iter().map(|set| {
        let each = match &set.model {
            DeviceSpec::Disk(disk) => disk.buffer.write_bytes,
            DeviceSpec::Flash(flash) => flash.write_buffer_bytes,
        };
        each * u64::from(set.count)
    });
    let bytes = kept.sum::<u64>() + dirty + buffers.sum::<u64>();
    let written = f64::from(load.bytes) * (1.0 - load.read_share);
    if written <= 0.0 { 0 } else { (FILLED * bytes as f64 / written) as u64 }
}
