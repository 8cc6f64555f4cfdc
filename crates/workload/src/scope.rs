//! Which record an option belongs to, so that one `--set` serves streams and jobs and a misplaced key is sent home.
//!
//! `queue_depth` and `log.queue_depth` are stream options, `duration` is a job option. `seed` is both: alone it is the
//! job's, `log.seed` is the stream's.

use crate::error::{Problem, WorkloadError};
use crate::job::JobOptions;
use crate::nearest::nearest;
use crate::option::Record;
use crate::stream::{AccessEntry, ScheduleStep, StreamOptions};
use crate::workload::Workload;

/// What an option describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A stream of the workload: [`Workload::set`].
    Stream,
    /// The job: [`JobOptions::set`].
    Job,
}

fn keys<R: Record>() -> Vec<&'static str> {
    R::declarations().iter().map(|declaration| declaration.key).collect()
}

/// Every key that `--set` takes: stream options, then job options, in the order of declaration.
pub fn option_names() -> Vec<&'static str> {
    let mut names = keys::<StreamOptions>();
    names.extend(keys::<JobOptions>().into_iter().filter(|key| !keys::<StreamOptions>().contains(key)));
    names
}

/// Whether a `--set` key is a stream's or the job's.
///
/// # Errors
/// If it is neither; the sentence names the nearest key.
pub fn scope_of(key: &str) -> Result<Scope, WorkloadError> {
    if key.contains('.') {
        return Ok(Scope::Stream);
    }
    if keys::<JobOptions>().contains(&key) {
        return Ok(Scope::Job);
    }
    if keys::<StreamOptions>().contains(&key) {
        return Ok(Scope::Stream);
    }
    Err(Problem::UnknownKey { key: key.to_owned(), advice: suggestion(key, option_names()) }.into())
}

/// Sets one option where it belongs.
///
/// # Errors
/// As [`scope_of`], [`Workload::set`] and [`JobOptions::set`].
pub fn set_option(
    workload: &mut Workload,
    job: &mut JobOptions,
    key: &str,
    value: &serde_json::Value,
) -> Result<(), WorkloadError> {
    match scope_of(key)? {
        Scope::Stream => workload.set(key, value),
        Scope::Job => job.set(key, value),
    }
}

/// The refusal of a key that `R` does not have.
pub(crate) fn unknown_key<R: Record>(key: &str) -> WorkloadError {
    let advice = home::<R>(key).unwrap_or_else(|| suggestion(key, keys::<R>()));
    Problem::UnknownKey { key: key.to_owned(), advice }.into()
}

fn suggestion(key: &str, keys: Vec<&'static str>) -> String {
    match nearest(key, keys.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None if keys.len() > 12 => "docs/reference/options.md lists all keys".to_owned(),
        None => format!("known are {}", keys.join(", ")),
    }
}

/// Where a key belongs that does not belong here.
fn home<R: Record>(key: &str) -> Option<String> {
    if R::NOUN != JobOptions::NOUN && keys::<JobOptions>().contains(&key) {
        return Some(format!("it is an option of the job: give it on the command line, --set {key}=…"));
    }
    if R::NOUN != StreamOptions::NOUN && keys::<StreamOptions>().contains(&key) {
        return Some(format!("it is an option of a stream: write it under [[{}]]", StreamOptions::NOUN));
    }
    if keys::<AccessEntry>().contains(&key) {
        return Some("it belongs into an entry of access".to_owned());
    }
    if keys::<ScheduleStep>().contains(&key) {
        return Some("it belongs into a step of schedule".to_owned());
    }
    (R::NOUN == StreamOptions::NOUN && keys::<Workload>().contains(&key))
        .then(|| "it is said once for the workload: write it above the first [[stream]]".to_owned())
}
