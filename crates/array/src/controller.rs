//! A controller: its processor, its cache, who waits for room in it, and when it destages.
//!
//! Model: the processor first takes a request in (`request_ns + KiB × kib_ns`, of a write `write_ns` more). The time that it spends on commands to devices
//! passes while the devices work and delays only what comes later. Limits: nothing is lost when it fails.

use crate::cache::{Cache, Shape, Space};
use crate::link::Direction;
use crate::slab::NONE;
use crate::spec::{CacheSpec, ControllerSpec};
use crate::station::Station;

/// When a cache writes its dirty pages to the devices.
#[derive(Clone, Debug)]
pub(crate) struct Destager {
    /// Dirty pages from which it begins and at which it ends.
    pub(crate) high: u32,
    pub(crate) low: u32,
    pub(crate) active: bool,
    /// Whether it has ever begun because of what was dirty.
    pub(crate) begun: bool,
    /// Nobody asks for anything: everything goes.
    pub(crate) draining: bool,
    pub(crate) idle_ns: u64,
    pub(crate) last_used_ns: u64,
    pub(crate) timed: bool,
    /// Commands of destages under way, and how many there are before no other begins, by space.
    pub(crate) under_way: Vec<u32>,
    pub(crate) most: Vec<u32>,
    pub(crate) sectors_max: u32,
    /// Those who wait for room: first and last.
    pub(crate) waiting: (u32, u32),
}

impl Destager {
    pub(crate) fn new((high, low): (u32, u32), idle_ns: u64, most: Vec<u32>, sectors_max: u32) -> Self {
        Self {
            high,
            low,
            active: false,
            begun: false,
            draining: false,
            idle_ns,
            last_used_ns: 0,
            timed: false,
            under_way: vec![0; most.len()],
            most,
            sectors_max,
            waiting: (NONE, NONE),
        }
    }

    /// Decides whether it works on, by what is dirty now.
    pub(crate) const fn consider(&mut self, dirty: u32) {
        if dirty > self.high || self.waiting.0 != NONE {
            (self.active, self.begun) = (true, true);
        } else if dirty <= self.low {
            self.active = false;
        }
    }

    pub(crate) const fn works(&self) -> bool {
        self.active || self.draining
    }

    /// Somebody asked for something at `now_ns`; the instant for which a timer is to be set, if any.
    pub(crate) fn used(&mut self, now_ns: u64, dirty: u32) -> Option<u64> {
        self.last_used_ns = now_ns;
        self.draining = false;
        if self.idle_ns == 0 || self.timed || dirty == 0 {
            return None;
        }
        self.timed = true;
        Some(now_ns + self.idle_ns)
    }

    /// Its timer has come; the instant of the next one, or nothing if it has been idle for long enough.
    pub(crate) fn rested(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.last_used_ns + self.idle_ns;
        self.timed = due_ns > now_ns;
        self.draining = !self.timed;
        self.timed.then_some(due_ns)
    }
}

/// The way to the controller that has a copy of every write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mirror {
    pub(crate) link: u16,
    /// Two controllers that share a link copy to each other: each has a direction of its own.
    pub(crate) direction: Direction,
}

/// The links that a cache names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CacheLinks {
    pub(crate) mirror: Option<Mirror>,
    pub(crate) memory: Option<u16>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Controller {
    pub(crate) name: String,
    pub(crate) cpu: Station,
    request_ns: u64,
    write_ns: u64,
    kib_ns: u64,
    pub(crate) command_ns: u64,
    /// Nanoseconds per byte of exclusive-or, 32 bits after the point.
    xor_byte_ns: u64,
    pub(crate) cache: Option<Cache>,
    pub(crate) writes_back: bool,
    pub(crate) destager: Destager,
    destage_per_device: u32,
    pub(crate) cache_links: CacheLinks,
    /// Its groups, by space of the cache.
    pub(crate) groups: Vec<u16>,
}

impl Controller {
    /// Whether it takes requests in in their order, keeps nothing, and does nothing beside.
    pub(crate) fn foresees(&self) -> bool {
        self.cache.is_none() && self.command_ns == 0 && (self.cpu.servers() == 1 || self.kib_ns == 0)
    }

    /// `spaces` and `devices` are those of its groups.
    pub(crate) fn new(
        spec: &ControllerSpec,
        groups: Vec<u16>,
        spaces: &[Space],
        devices: &[u32],
        cache_links: CacheLinks,
    ) -> Self {
        let writes_back = spec.cache.as_ref().is_some_and(CacheSpec::writes_back);
        let shape = spec.cache.as_ref().map(shape);
        let per_device = spec.cache.as_ref().map_or(1, |cache| cache.destage_per_device.max(1));
        let sectors_max = spec.cache.as_ref().map_or(0, |cache| cache.destage_bytes_max / 512);
        let watermark = |percent: fn(&CacheSpec) -> u32| {
            let dirty_max = shape.map_or(0, |shape| shape.dirty_max);
            spec.cache.as_ref().map_or(0, |cache| (u64::from(dirty_max) * u64::from(percent(cache)) / 100) as u32)
        };
        let marks = (watermark(|cache| cache.high_percent), watermark(|cache| cache.low_percent));
        let idle_ns = spec.cache.as_ref().map_or(0, |cache| cache.idle_ns);
        let most = devices.iter().map(|devices| devices * per_device).collect();
        Self {
            name: spec.name.clone(),
            cpu: Station::new(spec.cores),
            request_ns: spec.request_ns,
            write_ns: spec.write_ns,
            kib_ns: spec.kib_ns,
            command_ns: spec.command_ns,
            xor_byte_ns: (1_000_000_000_u64 << 32).checked_div(spec.xor_bytes_per_s).unwrap_or(0),
            cache: shape.map(|shape| Cache::new(shape, spaces)),
            writes_back,
            destager: Destager::new(marks, idle_ns, most, sectors_max),
            destage_per_device: per_device,
            cache_links,
            groups,
        }
    }

    /// Time that the processor needs to take a request in.
    #[inline]
    pub(crate) const fn intake_ns(&self, sectors: u32, is_write: bool) -> u64 {
        self.request_ns + if is_write { self.write_ns } else { 0 } + sectors as u64 * self.kib_ns / 2
    }

    /// Whether somebody waits for room although more could be dirty, so that fetches or the length of a write are what holds it up.
    #[inline]
    pub(crate) fn lacks_pages(&self) -> bool {
        let may_be_dirty = |cache: &Cache| cache.dirty_pages() < cache.shape().dirty_max;
        self.destager.waiting.0 != NONE && self.cache.as_ref().is_some_and(may_be_dirty)
    }

    /// How many commands of destages a drive may have while it serves requests, by how full the cache is (equations in
    /// `array/operations/precedence.rs`).
    pub(crate) fn destages_beside_requests(&self) -> u32 {
        let Some(cache) = &self.cache else { return u32::MAX };
        let (dirty, high, full) = (cache.dirty_pages(), self.destager.high, cache.shape().dirty_max);
        if self.destager.waiting.0 != NONE || dirty >= full {
            return u32::MAX;
        }
        let more = u64::from(self.destage_per_device - 1) * u64::from(dirty.saturating_sub(high));
        1 + more.checked_div(u64::from(full - high)).unwrap_or(0) as u32
    }

    /// Time that parity over so many bytes takes.
    #[inline]
    pub(crate) fn xor_ns(&self, bytes: u64) -> u64 {
        ((u128::from(bytes) * u128::from(self.xor_byte_ns)) >> 32) as u64
    }
}

fn shape(cache: &CacheSpec) -> Shape {
    let pages = (cache.size_bytes / u64::from(cache.page_bytes)) as u32;
    let share = |percent: u32| (u64::from(pages) * u64::from(percent.min(100)) / 100) as u32;
    let write = if cache.writes_back() { share(cache.write_percent) } else { 0 };
    Shape {
        page_sectors: cache.page_bytes / 512,
        pages,
        clean_max: share(cache.read_percent),
        dirty_max: if cache.mirror_link.is_some() { write / 2 } else { write },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::raid::Extent;

    #[test]
    fn the_fuller_the_cache_the_more_destages_a_drive_has_beside_requests() {
        // 100 pages, all for writes; the high watermark is 60.
        let spec = serde_json::json!({
            "name": "a",
            "cache": { "size_bytes": 100 << 14, "high_percent": 60, "low_percent": 20, "destage_per_device": 5 },
        });
        let spec: ControllerSpec = serde_json::from_value(spec).unwrap();
        let spaces = [Space { row_sectors: 128, rows: 1000, undivided: false }];
        let mut controller = Controller::new(&spec, vec![0], &spaces, &[4], CacheLinks::default());
        let mut with_dirty = |pages: u64| {
            let cache = controller.cache.as_mut().unwrap();
            for page in 0..pages {
                cache.write(0, Extent { lba: page * 32, sectors: 32 });
            }
            controller.destages_beside_requests()
        };
        // 1 + 4 (D - 60) / 40
        let found: Vec<u32> = [0, 30, 60, 69, 70, 80, 99, 100].into_iter().map(&mut with_dirty).collect();
        assert_eq!(found, [1, 1, 1, 1, 2, 3, 4, u32::MAX]);

        let mut asked = Controller::new(&spec, vec![0], &spaces, &[4], CacheLinks::default());
        asked.destager.waiting = (0, 0);
        assert_eq!(asked.destages_beside_requests(), u32::MAX);
    }
}
