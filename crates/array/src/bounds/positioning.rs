//! The least mean positioning of a disk: what the order of its queue can reach.
//!
//! Model: addresses are uniform over the used sectors, which lie together at the outer edge, and the platters are at any angle
//! when a command is chosen. The positioning time of one command is uniform between its seek and a turn more. SPTF chooses the
//! least of `window` commands, whose mean is `∫ (1 − F)^window`, averaged over the arm's position. C-LOOK serves twice its
//! window in a sweep (half of that arrives during it), so its seek distances are exponential with that many to a stroke; it
//! does not shorten the rotation. First come, first served has a window of one. Of the copies of a mirror the nearest serves
//! a read. A cache destages in order of address, so its seeks count as zero.
//!
//! Limits: commands that were passed over count as good as fresh ones, so the mean is a lower bound for a run. Return strokes
//! and age limits are left out.

use crate::disk::{DiskModel, Policy, SeekCurve};

/// Steps in time, of places of the arm, and of places to go to.
const STEPS: u32 = 400;
const FROM: u32 = 12;
const TO: u32 = 64;

/// How commands to a disk lie, and how many there are to choose from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) policy: Policy,
    /// Commands of all copies.
    pub(super) window: u32,
    /// Arms of which the nearest is sent.
    pub(super) copies: u32,
    /// Whether some wait while others are carried out.
    pub(super) queued: bool,
    /// Part of the capacity that is used, at one place.
    pub(super) part: f64,
    /// In order of address, as destaged.
    pub(super) sorted: bool,
}

/// Mean positioning in milliseconds, no command's overhead included.
pub(super) fn least_ms(model: &DiskModel, write: bool, turn_ms: f64, order: Order) -> f64 {
    let window = f64::from(order.window.max(1));
    let chosen = if order.policy == Policy::Sptf { window } else { f64::from(order.copies) };
    if order.sorted {
        return turn_ms / (chosen + 1.0);
    }
    let curve = &model.seek_curves()[usize::from(write)];
    let stroke = stroke(model, order.part);
    let cylinders = f64::from(model.geometry().cylinders()) * stroke;
    if order.policy == Policy::CLook && order.window > 1 {
        let part = |step: u32| -f64::ln((f64::from(step) + 0.5) / f64::from(TO)) / (2.0 * window);
        let seeks: f64 = (0..TO).map(|step| curve.at_ms(cylinders * part(step).min(1.0))).sum();
        return seeks / f64::from(TO) + turn_ms / (chosen + 1.0);
    }
    let from = (0..FROM).map(|step| (f64::from(step) + 0.5) / f64::from(FROM));
    let (means, weights) = from.fold((0.0, 0.0), |(means, weights), from| {
        let weight = density(model, from * stroke);
        (means + weight * least_from(model, curve, from, (turn_ms, chosen, stroke)), weights + weight)
    });
    means / weights
}

/// The same for one position of the arm, as a part of the stroke.
fn least_from(model: &DiskModel, curve: &SeekCurve, from: f64, (turn_ms, window, stroke): (f64, f64, f64)) -> f64 {
    let cylinders = f64::from(model.geometry().cylinders()) * stroke;
    let to = (0..TO).map(|step| (f64::from(step) + 0.5) / f64::from(TO));
    let seeks: Vec<(f64, f64)> =
        to.map(|to| (curve.at_ms((to - from).abs() * cylinders), density(model, to * stroke))).collect();
    let all: f64 = seeks.iter().map(|(_, weight)| weight).sum();
    let longest_ms = seeks.iter().fold(0.0, |most: f64, &(seek_ms, _)| most.max(seek_ms)) + turn_ms;
    let step_ms = longest_ms / f64::from(STEPS);
    let later = |step: u32| {
        let time_ms = (f64::from(step) + 0.5) * step_ms;
        let within = |&(seek_ms, weight): &(f64, f64)| weight * ((time_ms - seek_ms) / turn_ms).clamp(0.0, 1.0);
        f64::powf(1.0 - (seeks.iter().map(within).sum::<f64>() / all).min(1.0), window)
    };
    (0..STEPS).map(later).sum::<f64>() * step_ms
}

/// The part of the stroke on which a part of the capacity lies.
fn stroke(model: &DiskModel, part: f64) -> f64 {
    let zones = model.geometry().zones();
    let all: f64 = zones.iter().map(|zone| f64::from(zone.sectors_per_track())).sum();
    let (mut left, mut stroke) = (part * all, 0.0);
    for zone in zones {
        let here = (left / f64::from(zone.sectors_per_track())).clamp(0.0, 1.0);
        stroke += here / zones.len() as f64;
        left -= here * f64::from(zone.sectors_per_track());
    }
    stroke
}

/// Sectors per track at a part of the stroke from the outer edge.
fn density(model: &DiskModel, part: f64) -> f64 {
    let zones = model.geometry().zones();
    let zone = (part * zones.len() as f64) as usize;
    zones.get(zone.min(zones.len() - 1)).map_or(1.0, |zone| f64::from(zone.sectors_per_track()))
}
