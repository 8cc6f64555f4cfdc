//! `--set` for a workload of a mail store: a key belongs to it, or to the job.

use plimsoll_workload::error::Problem;
use plimsoll_workload::nearest::hint;
use plimsoll_workload::option::{Record, keys};
use plimsoll_workload::{JobOptions, WorkloadError};
use serde_json::Value;

use crate::options::MailstoreWorkload;

/// Every key that `--set` takes: those of the workload, then those of the job.
pub fn option_names() -> Vec<&'static str> {
    let mut names = keys::<MailstoreWorkload>();
    for key in keys::<JobOptions>() {
        if !names.contains(&key) {
            names.push(key);
        }
    }
    names
}

/// Sets one option where it belongs, from a JSON value or from text. `seed` is the job's.
///
/// # Errors
/// If there is no such option, or if the value is not valid.
pub fn set_option(
    workload: &mut MailstoreWorkload,
    job: &mut JobOptions,
    key: &str,
    value: &Value,
) -> Result<(), WorkloadError> {
    if keys::<JobOptions>().contains(&key) {
        return job.set(key, value);
    }
    workload.assign(key, value).unwrap_or_else(|| {
        let listed = || "docs/reference/mailstore.md lists all keys of a mail store".to_owned();
        let advice = hint(key, option_names()).unwrap_or_else(listed);
        Err(Problem::UnknownKey { key: key.to_owned(), record: MailstoreWorkload::NOUN, advice }.into())
    })
}
