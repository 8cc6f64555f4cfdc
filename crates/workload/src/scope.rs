//! Which record an option belongs to: one `--set` serves streams and jobs, and the refusal of a misplaced key says
//! where it belongs.
//!
//! `queue_depth` and `log.queue_depth` are stream options, `duration` is a job option. `seed` is both: alone it is the
//! job's, `log.seed` is the stream's.

use serde_json::Value;

use crate::error::{Problem, WorkloadError};
use crate::job::JobOptions;
use crate::nearest::hint;
use crate::option::{Record, WORKLOADS, keys, suggestion, unknown_key};
use crate::stream::{AccessEntry, ScheduleStep, StreamOptions};
use crate::workload::{Workload, stem};

/// What an option describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A stream of the workload: [`Workload::set`].
    Stream,
    /// The job: [`JobOptions::set`].
    Job,
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
    Err(Problem::UnknownKey {
        key: key.to_owned(),
        record: "option",
        advice: suggestion(key, &option_names(), WORKLOADS),
    }
    .into())
}

/// Sets one option where it belongs.
///
/// # Errors
/// As [`scope_of`], [`Workload::set`] and [`JobOptions::set`].
pub fn set_option(
    workload: &mut Workload,
    job: &mut JobOptions,
    key: &str,
    value: &Value,
) -> Result<(), WorkloadError> {
    match scope_of(key)? {
        Scope::Stream => workload.set(key, value),
        Scope::Job => job.set(key, value),
    }
}

/// Names a workload that has no name after its file, and streams without one by their number.
pub(crate) fn give_names<'a>(workload: &mut String, streams: impl Iterator<Item = &'a mut String>, source: &str) {
    if workload.is_empty() {
        *workload = stem(source);
    }
    for (index, stream) in streams.enumerate().filter(|(_, stream)| stream.is_empty()) {
        *stream = format!("stream-{}", index + 1);
    }
}

impl Workload {
    /// Reads a workload from JSON; `source` is the file it came from, named in errors and giving the name if
    /// there is none.
    ///
    /// # Errors
    /// On the first unknown key, bad value or missing stream.
    pub fn from_json(value: &Value, source: &str) -> Result<Self, WorkloadError> {
        let mut workload = Self::read_record(value).map_err(|error| sent_home(error).within(source))?;
        give_names(&mut workload.name, workload.streams.iter_mut().map(|stream| &mut stream.name), source);
        Ok(workload)
    }

    /// Sets a stream option from a JSON value or from text: `key` on every stream, `NAME.key` on the stream called
    /// NAME. A refused value changes no stream.
    ///
    /// # Errors
    /// If there is no such stream or option, if the value is not valid, or if an access list decides what is being set.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<(), WorkloadError> {
        let (stream, key) = key.split_once('.').map_or((None, key), |(stream, key)| (Some(stream), key));
        let names: Vec<String> = self.streams.iter().map(|stream| stream.name.clone()).collect();
        if let Some(stream) = stream
            && !names.iter().any(|name| name == stream)
        {
            return Err(no_stream(stream, &names));
        }
        let meant = |target: &StreamOptions| stream.is_none_or(|name| name == target.name);
        if !value.is_null() && StreamOptions::ACCESS_DECIDES.contains(&key) {
            let decided = self.streams.iter().find(|target| meant(target) && target.access.is_some());
            decided.map_or(Ok(()), |target| Err(access_decides(key, &target.name)))?;
        }
        for target in self.streams.iter_mut().filter(|target| meant(target)) {
            let assigned = target.assign(key, value).unwrap_or_else(|| Err(unknown_key::<StreamOptions>(key)));
            assigned.map_err(sent_home)?;
        }
        Ok(())
    }
}

impl JobOptions {
    /// Reads options from a JSON object; `source` is named in errors.
    ///
    /// # Errors
    /// On the first unknown key or bad value.
    pub fn from_json(value: &Value, source: &str) -> Result<Self, WorkloadError> {
        Self::read_record(value).map_err(|error| sent_home(error).within(source))
    }

    /// Sets one option from a JSON value or from text.
    ///
    /// # Errors
    /// If the key is not known or the value is not valid for it.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<(), WorkloadError> {
        self.assign(key, value).unwrap_or_else(|| Err(unknown_key::<Self>(key))).map_err(sent_home)
    }
}

/// Lets the refusal of an unknown key say where it belongs, if another record has it.
pub(crate) fn sent_home(error: WorkloadError) -> WorkloadError {
    let Problem::UnknownKey { key, record, .. } = error.problem() else { return error };
    let (key, record) = (key.clone(), *record);
    match home(&key, record) {
        Some(advice) => error.because(Problem::UnknownKey { key, record, advice }),
        None => error,
    }
}

/// Where a key belongs that `record` does not have.
fn home(key: &str, record: &str) -> Option<String> {
    if record != JobOptions::NOUN && keys::<JobOptions>().contains(&key) {
        return Some(format!("it is an option of the job: give it on the command line, --set {key}=…"));
    }
    if record != StreamOptions::NOUN && keys::<StreamOptions>().contains(&key) {
        return Some(format!("it is an option of a stream: write it under [[{}]]", StreamOptions::NOUN));
    }
    if keys::<AccessEntry>().contains(&key) {
        return Some("it belongs in an entry of access".to_owned());
    }
    if keys::<ScheduleStep>().contains(&key) {
        return Some("it belongs in a step of schedule".to_owned());
    }
    (record == StreamOptions::NOUN && keys::<Workload>().contains(&key))
        .then(|| "it is said once for the workload: write it above the first [[stream]]".to_owned())
}

fn no_stream(name: &str, names: &[String]) -> WorkloadError {
    let listed = || format!("this workload has {}", names.join(", "));
    let advice = hint(name, names.iter().map(String::as_str)).unwrap_or_else(listed);
    WorkloadError::impossible(format!("no stream is called '{name}'; {advice}"))
}

fn access_decides(key: &str, stream: &str) -> WorkloadError {
    WorkloadError::impossible(format!(
        "{key} cannot be set: stream \"{stream}\" has an access list, whose entries decide it; set access itself, or \
         take a workload without an access list"
    ))
}
