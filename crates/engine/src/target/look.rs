//! The facts of a target's parts, as the safety rules want them.

use super::claim::{Claims, Contested, is_claimed};
use super::marker::Marker;
use super::place::Place;
use super::spec::PartSpec;
use crate::safety::Facts;
use crate::safety::gather::{Subject, System};

/// The facts of an existing part that was claimed for writing.
pub(super) fn facts_of_claimed(part: &PartSpec, place: &Place, contested: Contested) -> Option<Facts> {
    let mut facts = facts(part, place, contested.claimed)?;
    if let Facts::Device(device) = &mut facts {
        device.shared.extend(contested.below);
        device.stored_at = device.stored_at.filter(|_| !contested.allowed);
    }
    Some(facts)
}

/// The facts of an existing part that is only looked at: a claim is tried for a moment.
pub(super) fn facts_in_passing(part: &PartSpec, place: &Place) -> Option<Facts> {
    let claims = Claims::current();
    let ours = place.base().is_some_and(|base| claims.holds(base));
    let claimed = matches!(place, Place::Device { handle, .. } if !ours && is_claimed(handle));
    facts(part, place, claimed)
}

fn facts(part: &PartSpec, place: &Place, claimed: bool) -> Option<Facts> {
    let system = System::host();
    let (path, asked) = (place.path(), part.path.as_path());
    let subject = Subject { path, asked, opened: place.handle()?.open_for_reading() };
    match place {
        Place::Missing { .. } => None,
        Place::File { metadata, .. } => Some(Facts::File(system.file(&subject, Marker::ownership(path, metadata)))),
        Place::Device { number, .. } => Some(Facts::Device(system.device(&subject, *number, claimed))),
    }
}
