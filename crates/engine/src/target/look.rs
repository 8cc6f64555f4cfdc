//! The facts of a target's parts, as the safety rules want them: one survey of the host for all parts together.

use super::claim::{Claims, Contested, is_claimed};
use super::marker::Marker;
use super::place::Place;
use super::spec::PartSpec;
use crate::safety::gather::{Subject, forget};
use crate::safety::{Facts, Survey, System};

/// What becomes of the pages of files that were read for their facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    /// They serve whoever reads the file next, who is to drop them.
    Kept,
    /// They are dropped.
    Forgotten,
}

/// A part as asked for, and what is there.
pub(super) type Found<'a> = (&'a PartSpec, &'a Place);

/// The facts of all parts, which were claimed for writing; `contested` is what claiming each of them found. The host is
/// looked at here, after the last claim, so that nobody comes in between unseen.
pub(super) fn facts_of_claimed(parts: &[Found<'_>], contested: Vec<Contested>) -> Vec<Facts> {
    assert_eq!(contested.len(), parts.len(), "all parts are claimed before one is looked at");
    let claimed: Vec<_> = contested.iter().map(|contested| contested.claimed).collect();
    let found = facts(parts, Pages::Forgotten, |number| claimed[number]).into_iter().zip(contested);
    let amended = found.filter_map(|(facts, contested)| {
        let mut facts = facts?;
        if let Facts::Device(device) = &mut facts {
            device.shared.extend(contested.below);
            device.stored_at = device.stored_at.filter(|_| !contested.allowed);
        }
        Some(facts)
    });
    amended.collect()
}

/// The facts of parts that are only looked at, a claim being tried for a moment; none for what does not exist.
pub(super) fn facts_in_passing(parts: &[Found<'_>], pages: Pages) -> Vec<Option<Facts>> {
    let claims = Claims::current();
    facts(parts, pages, |number| {
        let place = parts[number].1;
        let ours = place.base().is_some_and(|base| claims.holds(base));
        matches!(place, Place::Device { handle, .. } if !ours && is_claimed(handle))
    })
}

/// The facts of each part; `claimed` says of a part whether somebody else holds it exclusively.
fn facts(parts: &[Found<'_>], pages: Pages, claimed: impl Fn(usize) -> bool) -> Vec<Option<Facts>> {
    if parts.iter().all(|(_, place)| place.handle().is_none()) {
        return vec![None; parts.len()];
    }
    let claimed: Vec<_> = (0..parts.len()).map(claimed).collect();
    let survey = Survey::of(System::host());
    parts.iter().zip(claimed).map(|(part, claimed)| facts_by(&survey, *part, claimed, pages)).collect()
}

fn facts_by(survey: &Survey, (part, place): Found<'_>, claimed: bool, pages: Pages) -> Option<Facts> {
    let (path, asked) = (place.path(), part.path.as_path());
    let subject = Subject { path, asked, opened: place.handle()?.open_for_reading() };
    let facts = match place {
        Place::Missing { .. } => return None,
        Place::File { metadata, .. } => Facts::File(survey.file(&subject, Marker::ownership(path, metadata))),
        Place::Device { number, .. } => Facts::Device(survey.device(&subject, *number, claimed)),
    };
    if let (Pages::Forgotten, Ok(file)) = (pages, &subject.opened) {
        forget(file);
    }
    Some(facts)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use crate::safety::Permission;
    use crate::safety::openers::WALKS;
    use crate::target::{OpenMode, TargetSpec, inspect, open, prepare};

    /// How often `work` goes through all processes.
    fn walks<T>(work: impl FnOnce() -> T) -> (u32, T) {
        WALKS.set(0);
        let done = work();
        (WALKS.get(), done)
    }

    #[test]
    fn a_target_of_many_files_costs_one_walk_over_all_processes_at_every_step() {
        let directory = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
        let names: Vec<_> =
            (0..40).map(|number| directory.path().join(number.to_string()).display().to_string()).collect();
        let target: TargetSpec = format!("concat:{}", names.join(",")).parse().unwrap();
        let (never, permission) = (AtomicBool::new(false), Permission::default());
        let made = |size| prepare(&target, Some(size), &permission, &mut |_, _| (), &never).unwrap();
        assert_eq!(walks(|| inspect(&target).unwrap()).0, 0);
        assert_eq!(walks(|| made(40 << 14)).0, 0, "nothing is there to be looked at");
        assert_eq!(walks(|| made(40 << 15)).0, 1, "files that are filled further");
        assert_eq!(walks(|| inspect(&target).unwrap()).0, 1);
        let mode = OpenMode { writes: true, ..OpenMode::default() };
        assert_eq!(walks(|| open(&target, mode, &permission).unwrap()).0, 1);
    }
}
