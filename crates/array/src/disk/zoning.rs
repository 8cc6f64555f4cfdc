//! How many sectors the tracks of each zone have, so that capacity and rates come out as the datasheet says.
//!
//! Model: zones of equal width; sectors per track fall from the outer to the inner edge as `outer − (outer −
//! inner)·x^p`. The two ends follow from the two rates, with the switches of a sequential transfer taken off; `p` is
//! found by bisection so that the sum is the capacity (1 is a straight line, which real drives are near). Limit: what
//! the whole numbers of sectors leave over, less than a thousandth, stays unused at the inner edge, as spare sectors
//! do.

use crate::device::command::SECTOR_BYTES;
use crate::device::error::SpecError;
use crate::disk::spec::DiskSpec;

/// Sectors per track of every zone, and the cylinders they share.
pub(crate) struct Zoning {
    pub(crate) cylinders: u32,
    pub(crate) sectors_per_track: Vec<u32>,
}

/// How far the fall may be from a straight line.
const BEND: f64 = 64.0;

impl Zoning {
    /// The zones of a disk whose cylinder takes `cylinder_ns` to read from its first sector to the next cylinder's.
    pub(crate) fn solve(spec: &DiskSpec, cylinder_ns: u64) -> Result<Self, SpecError> {
        let ends = Ends {
            outer: sectors_per_track(spec, spec.outer_rate_bytes_per_s, cylinder_ns),
            inner: sectors_per_track(spec, spec.inner_rate_bytes_per_s, cylinder_ns),
            zones: spec.zones,
        };
        if ends.inner < 8.0 {
            let problem = "a track would have fewer than 8 sectors; write a higher rate".to_owned();
            return Err(SpecError::new("inner_rate_bytes_per_s", problem));
        }
        let capacity = spec.capacity_bytes / SECTOR_BYTES;
        let cylinders = spec.cylinders.unwrap_or_else(|| ends.cylinders_for(capacity, spec.heads));
        let sum = |bend: f64| ends.sum(bend, cylinders, spec.heads);
        let (mut low, mut high) = (1.0 / BEND, BEND);
        // Half a percent of slack: the numbers of a datasheet are rounded.
        if sum(high) < capacity || sum(low) > capacity + capacity / 200 {
            let problem = format!(
                "{} does not fit: with these rates, {} heads and {cylinders} cylinders the disk holds {} to {}; correct one",
                spec.capacity_bytes,
                spec.heads,
                sum(low) * SECTOR_BYTES,
                sum(high) * SECTOR_BYTES
            );
            return Err(SpecError::new("capacity_bytes", problem));
        }
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if sum(middle) < capacity {
                low = middle;
            } else {
                high = middle;
            }
        }
        let sectors_per_track = (0..spec.zones).map(|zone| ends.at(zone, high)).collect();
        Ok(Self { cylinders, sectors_per_track })
    }
}

/// Sectors that fit into a track if a whole cylinder, switches included, moves at a rate.
fn sectors_per_track(spec: &DiskSpec, rate_bytes_per_s: u64, cylinder_ns: u64) -> f64 {
    let bytes = rate_bytes_per_s as f64 * cylinder_ns as f64 / 1e9;
    bytes / f64::from(spec.heads) / SECTOR_BYTES as f64
}

struct Ends {
    outer: f64,
    inner: f64,
    zones: u32,
}

impl Ends {
    fn at(&self, zone: u32, bend: f64) -> u32 {
        let part = if self.zones == 1 { 0.0 } else { f64::from(zone) / f64::from(self.zones - 1) };
        libm::round(self.outer - (self.outer - self.inner) * libm::pow(part, bend)) as u32
    }

    fn sum(&self, bend: f64, cylinders: u32, heads: u32) -> u64 {
        let tracks = |zone| u64::from(zone_cylinders(zone, self.zones, cylinders)) * u64::from(heads);
        (0..self.zones).map(|zone| tracks(zone) * u64::from(self.at(zone, bend))).sum()
    }

    fn cylinders_for(&self, capacity: u64, heads: u32) -> u32 {
        let per_cylinder = f64::midpoint(self.outer, self.inner) * f64::from(heads);
        libm::ceil(capacity as f64 / per_cylinder) as u32
    }
}

/// Cylinders of a zone; the first ones take what does not divide.
pub(crate) const fn zone_cylinders(zone: u32, zones: u32, cylinders: u32) -> u32 {
    cylinders / zones + (zone < cylinders % zones) as u32
}
