//! A disk at queue depth 1 without buffer, added up the long way: overhead + movement + wait + transfer.
//!
//! Nothing of the model's arithmetic is used but its list of zones and its seek curve: places by division, angles as
//! exact fractions of a turn in nanoseconds, transfers track by track.

use plimsoll_array::disk::{Disk, DiskModel, DiskSpec, Geometry, SeekCurve};

pub struct ByHand {
    geometry: Geometry,
    curves: [SeekCurve; 2],
    turn_ns: f64,
    track_skew_ns: f64,
    cylinder_skew_ns: f64,
    overhead_ns: f64,
    head_switch_ns: [f64; 2],
    phase: f64,
    place: (u64, u64),
}

/// The end of a command, and how near its first sector was missed, or nearly missed.
pub struct Sum {
    pub end_ns: f64,
    pub margin_ns: f64,
}

impl ByHand {
    pub fn new(spec: &DiskSpec, seed: u64, number: u32) -> Self {
        let model = DiskModel::new(spec).expect("the specification is right");
        let turn_ns = (60e9 / f64::from(spec.rotation_rpm)).round();
        let [track_us, cylinder_us] = spec.skew_us();
        // Skews are laid out in 2^-28 turns, rounded up.
        let laid_out = |us: u32| (f64::from(us) * 1e3 / turn_ns * 2_f64.powi(28)).ceil() / 2_f64.powi(28) * turn_ns;
        Self {
            geometry: model.geometry().clone(),
            curves: *model.seek_curves(),
            turn_ns,
            track_skew_ns: laid_out(track_us),
            cylinder_skew_ns: laid_out(cylinder_us),
            overhead_ns: f64::from(spec.command_overhead_us) * 1e3,
            head_switch_ns: spec.head_switch_us().map(|us| f64::from(us) * 1e3),
            phase: f64::from(Disk::phase(seed, number)) / 2_f64.powi(28),
            place: (0, 0),
        }
    }

    /// Carries out one command that arrives while the disk is idle.
    pub fn carry_out(&mut self, now_ns: u64, write: bool, lba: u64, sectors: u64) -> Sum {
        let (cylinder, head, _, _) = self.place_of(lba);
        let distance = cylinder.abs_diff(self.place.0);
        let movement_ns = match (distance, self.place.1 == head) {
            (0, true) => 0.0,
            (0, false) => self.head_switch_ns[usize::from(write)],
            _ => self.curves[usize::from(write)].at_ms(distance as f64) * 1e6,
        };
        let there_ns = now_ns as f64 + self.overhead_ns + movement_ns;
        let wait_ns = (self.angle_ns(lba) - self.platter_ns(there_ns)).rem_euclid(self.turn_ns);
        let last = self.place_of(lba + sectors - 1);
        self.place = (last.0, last.1);
        Sum {
            end_ns: there_ns + wait_ns + self.transfer_ns(lba, sectors),
            margin_ns: wait_ns.min(self.turn_ns - wait_ns),
        }
    }

    /// Cylinder, head, sector, and sectors of the track.
    fn place_of(&self, lba: u64) -> (u64, u64, u64, u64) {
        let zone = self.geometry.zones().iter().find(|zone| lba < zone.end_lba()).expect("the address is on the disk");
        let per_track = u64::from(zone.sectors_per_track());
        let track = (lba - zone.first_lba()) / per_track;
        let heads = u64::from(self.geometry.heads());
        let cylinder = u64::from(zone.first_cylinder()) + track / heads;
        (cylinder, track % heads, (lba - zone.first_lba()) % per_track, per_track)
    }

    /// Where a sector begins, as time from the angle 0.
    fn angle_ns(&self, lba: u64) -> f64 {
        let (cylinder, head, sector, per_track) = self.place_of(lba);
        let before = self.track_skew_ns * (self.geometry.heads() - 1) as f64 + self.cylinder_skew_ns;
        let skew_ns = cylinder as f64 * before + head as f64 * self.track_skew_ns;
        (skew_ns + sector as f64 / per_track as f64 * self.turn_ns).rem_euclid(self.turn_ns)
    }

    /// What is under the heads, as time from the angle 0.
    fn platter_ns(&self, now_ns: f64) -> f64 {
        (now_ns + self.phase * self.turn_ns).rem_euclid(self.turn_ns)
    }

    /// Track by track.
    fn transfer_ns(&self, mut lba: u64, mut sectors: u64) -> f64 {
        let mut sum_ns = 0.0;
        loop {
            let (_, head, sector, per_track) = self.place_of(lba);
            let here = sectors.min(per_track - sector);
            sum_ns += here as f64 / per_track as f64 * self.turn_ns;
            (lba, sectors) = (lba + here, sectors - here);
            if sectors == 0 {
                return sum_ns;
            }
            let last_head = head + 1 == u64::from(self.geometry.heads());
            sum_ns += if last_head { self.cylinder_skew_ns } else { self.track_skew_ns };
        }
    }
}
