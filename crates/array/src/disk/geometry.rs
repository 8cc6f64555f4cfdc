//! Where a sector is, and how long it takes to pass over a run of them.
//!
//! Model: addresses run along a track, then through the heads of a cylinder, then to the next cylinder, zone after zone
//! from the outer edge. Each track begins later than the one before by its skew, each cylinder by the cylinder's skew,
//! so a run loses exactly the skew at every boundary. All of it is closed form: one table look-up and two
//! multiplications for a place, one product per zone for a transfer.
//!
//! Limit: a zone has less than 2^32 sectors.

use super::divisor::Divisor;
use super::spindle::{Spindle, TICK_BITS, TURN_MASK};
use super::zoning::{Zoning, zone_cylinders};
use crate::device::command::SECTOR_BYTES;
use crate::device::error::SpecError;
use crate::disk::spec::DiskSpec;

/// Entries of the table from addresses to zones.
const BUCKETS: u64 = 4096;

/// Fractional bits of the time of one sector.
const SECTOR_NS_BITS: u32 = 32;

/// Where a sector is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Counted from the outer edge.
    pub cylinder: u32,
    /// Counted from the beginning of its track.
    pub sector: u32,
    /// Surface.
    pub head: u16,
    /// Counted from the outer edge.
    pub zone: u16,
}

impl Place {
    /// Whether two sectors share a track.
    #[inline]
    pub const fn same_track(self, other: Self) -> bool {
        self.cylinder == other.cylinder && self.head == other.head
    }
}

/// A run of cylinders whose tracks are alike.
#[derive(Clone, Copy, Debug)]
pub struct Zone {
    first_lba: u64,
    end_lba: u64,
    first_cylinder: u32,
    per_track: Divisor,
    per_cylinder: Divisor,
    /// Turns of one sector, of 2^64, rounded up.
    sector_turns: u64,
    /// Time of one sector.
    sector_ns: u64,
}

impl Zone {
    /// The first sector.
    pub const fn first_lba(&self) -> u64 {
        self.first_lba
    }

    /// The sector after the last.
    pub const fn end_lba(&self) -> u64 {
        self.end_lba
    }

    /// The first cylinder.
    pub const fn first_cylinder(&self) -> u32 {
        self.first_cylinder
    }

    /// Sectors of a track.
    pub const fn sectors_per_track(&self) -> u32 {
        self.per_track.value()
    }
}

/// The layout of a disk.
#[derive(Clone, Debug)]
pub struct Geometry {
    zones: Vec<Zone>,
    /// Zone of the first sector of each bucket.
    buckets: Vec<u16>,
    bucket_shift: u32,
    heads: u32,
    cylinders: u32,
    sectors: u64,
    turn_ns: u64,
    /// What a run loses at a change of track, and of cylinder.
    skew_ns: [u64; 2],
    track_skew: u32,
    /// From the first track of a cylinder to that of the next.
    cylinder_turn: u32,
}

impl Geometry {
    pub(crate) fn new(spec: &DiskSpec, spindle: Spindle) -> Result<Self, SpecError> {
        let [track_ns, cylinder_ns] = spec.skew_us().map(|us| u64::from(us) * 1_000);
        let heads = spec.heads;
        let turning_ns = u64::from(heads) * spindle.turn_ns();
        let zoning = Zoning::solve(spec, turning_ns + u64::from(heads - 1) * track_ns + cylinder_ns)?;
        let sectors = spec.capacity_bytes / SECTOR_BYTES;
        let zones = lay_out(&zoning, heads, sectors, spindle)?;
        let bucket_shift = (0..).find(|&shift| sectors >> shift < BUCKETS).unwrap_or(0);
        let mut geometry = Self {
            buckets: Vec::new(),
            bucket_shift,
            heads,
            cylinders: zoning.cylinders,
            sectors,
            turn_ns: spindle.turn_ns(),
            skew_ns: [track_ns, cylinder_ns],
            track_skew: spindle.ticks(track_ns),
            cylinder_turn: 0,
            zones,
        };
        let cylinder_skew = spindle.ticks(cylinder_ns);
        geometry.cylinder_turn = geometry.track_skew.wrapping_mul(heads - 1).wrapping_add(cylinder_skew);
        let zone_of = |bucket: u64| geometry.zones.iter().position(|zone| bucket << bucket_shift < zone.end_lba);
        geometry.buckets =
            (0..BUCKETS).map(|bucket| zone_of(bucket).unwrap_or(geometry.zones.len() - 1) as u16).collect();
        Ok(geometry)
    }

    /// How many sectors the host may use.
    pub const fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Tracks per surface.
    pub const fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// Recording surfaces.
    pub const fn heads(&self) -> u32 {
        self.heads
    }

    /// From the outer edge inwards.
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// Where a sector is.
    #[inline]
    pub fn locate(&self, lba: u64) -> Place {
        let mut number = usize::from(self.buckets[(lba >> self.bucket_shift) as usize % BUCKETS as usize]);
        while lba >= self.zones[number].end_lba {
            number += 1;
        }
        let zone = &self.zones[number];
        let (cylinder, rest) = zone.per_cylinder.divide((lba - zone.first_lba) as u32);
        let (head, sector) = zone.per_track.divide(rest);
        Place { cylinder: zone.first_cylinder + cylinder, sector, head: head as u16, zone: number as u16 }
    }

    /// The angle at which a sector begins.
    #[inline]
    pub fn angle(&self, place: Place) -> u32 {
        let along = u64::from(place.sector).wrapping_mul(self.zones[usize::from(place.zone)].sector_turns);
        let skew = place.cylinder.wrapping_mul(self.cylinder_turn);
        let skew = skew.wrapping_add(u32::from(place.head).wrapping_mul(self.track_skew));
        ((along >> (64 - TICK_BITS)) as u32).wrapping_add(skew) & TURN_MASK
    }

    /// How long a run takes from the beginning of its first sector to the end of its last, and where that one is.
    #[inline]
    pub fn transfer(&self, place: Place, lba: u64, sectors: u32) -> (u64, Place) {
        let mut place = place;
        (self.pass_over(&mut place, lba, sectors), place)
    }

    /// The same; `place` becomes that of the last sector. Few runs leave their track, and those that do not only count its
    /// sectors on.
    #[inline]
    pub(crate) fn pass_over(&self, place: &mut Place, lba: u64, sectors: u32) -> u64 {
        let zone = &self.zones[usize::from(place.zone)];
        if u64::from(place.sector) + u64::from(sectors) <= u64::from(zone.sectors_per_track()) {
            place.sector += sectors - 1;
            return zone.turning_ns(sectors);
        }
        let (sum_ns, last) = self.long_transfer(*place, lba, sectors);
        *place = last;
        sum_ns
    }

    /// A run over more than one track.
    #[inline(never)]
    fn long_transfer(&self, mut place: Place, mut lba: u64, mut sectors: u32) -> (u64, Place) {
        let mut sum_ns = 0;
        loop {
            let zone = &self.zones[usize::from(place.zone)];
            let here = u64::from(sectors).min(zone.end_lba - lba) as u32;
            let last = self.locate(lba + u64::from(here) - 1);
            let cylinders = u64::from(last.cylinder - place.cylinder);
            let tracks = cylinders * u64::from(self.heads) + u64::from(last.head) - u64::from(place.head);
            sum_ns += zone.turning_ns(here) + (tracks - cylinders) * self.skew_ns[0] + cylinders * self.skew_ns[1];
            sectors -= here;
            if sectors == 0 {
                return (sum_ns, last);
            }
            sum_ns += self.skew_ns[1];
            lba += u64::from(here);
            place = self.locate(lba);
        }
    }

    /// How many whole sectors pass in a time, from the beginning of `lba` on; none beyond the end of the disk.
    pub fn sectors_within(&self, lba: u64, ns: u64) -> u64 {
        let (mut from, mut left_ns) = (lba, ns);
        while from < self.sectors {
            let place = self.locate(from);
            let zone = &self.zones[usize::from(place.zone)];
            let reached = self.pass(place, zone, left_ns).max(from);
            if reached < zone.end_lba {
                return reached - lba;
            }
            let (passing_ns, _) = self.transfer(place, from, (zone.end_lba - from) as u32);
            left_ns = left_ns.saturating_sub(passing_ns + self.skew_ns[1]);
            from = zone.end_lba;
        }
        self.sectors - lba
    }

    /// The sector a head comes to in a time if the zone had no end.
    #[inline]
    fn pass(&self, place: Place, zone: &Zone, ns: u64) -> u64 {
        let along_ns = zone.turning_ns(place.sector) + ns;
        let per_track = u64::from(zone.sectors_per_track());
        let (cylinder, head) = (place.cylinder - zone.first_cylinder, u64::from(place.head));
        let (cylinder, head, rest_ns) = if along_ns < self.turn_ns {
            (u64::from(cylinder), head, along_ns)
        } else {
            self.pass_tracks(u64::from(cylinder), head, along_ns)
        };
        // Two nanoseconds more, because the times to both sectors were rounded down.
        let sector = (((rest_ns + 2) << SECTOR_NS_BITS) / zone.sector_ns).min(per_track);
        zone.first_lba + cylinder * u64::from(zone.per_cylinder.value()) + head * per_track + sector
    }

    /// The cylinder and head to which a head comes in more than a turn, and for how long it has been on that track.
    fn pass_tracks(&self, cylinder: u64, head: u64, along_ns: u64) -> (u64, u64, u64) {
        let track_ns = self.turn_ns + self.skew_ns[0];
        let cylinder_ns = track_ns * u64::from(self.heads - 1) + self.turn_ns + self.skew_ns[1];
        let since_ns = head * track_ns + along_ns;
        let (cylinders, rest_ns) = (since_ns / cylinder_ns, since_ns % cylinder_ns);
        let head = (rest_ns / track_ns).min(u64::from(self.heads) - 1);
        (cylinder + cylinders, head, rest_ns - head * track_ns)
    }
}

impl Zone {
    /// The time of sectors of one track.
    #[inline]
    fn turning_ns(&self, sectors: u32) -> u64 {
        ((u128::from(sectors) * u128::from(self.sector_ns)) >> SECTOR_NS_BITS) as u64
    }
}

fn lay_out(zoning: &Zoning, heads: u32, sectors: u64, spindle: Spindle) -> Result<Vec<Zone>, SpecError> {
    let count = zoning.sectors_per_track.len() as u32;
    let (mut first_lba, mut first_cylinder) = (0, 0);
    let mut zones = Vec::new();
    for (number, &per_track) in (0..).zip(&zoning.sectors_per_track) {
        let cylinders = zone_cylinders(number, count, zoning.cylinders);
        let per_cylinder = per_track * heads;
        let size = u64::from(cylinders) * u64::from(per_cylinder);
        if u32::try_from(size).is_err() {
            return Err(SpecError::new("zones", format!("{count} make zones of over 2 TiB; write more")));
        }
        let end_lba = (first_lba + size).min(sectors);
        if first_lba < end_lba {
            zones.push(Zone {
                first_lba,
                end_lba,
                first_cylinder,
                per_track: Divisor::new(per_track),
                per_cylinder: Divisor::new(per_cylinder),
                sector_turns: u64::MAX / u64::from(per_track) + 1,
                sector_ns: (spindle.turn_ns() << SECTOR_NS_BITS) / u64::from(per_track),
            });
        }
        (first_lba, first_cylinder) = (end_lba, first_cylinder + cylinders);
    }
    Ok(zones)
}
