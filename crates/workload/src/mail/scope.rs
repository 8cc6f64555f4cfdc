//! `--set` for a workload of mail users: a key belongs to its groups of users, to the server, or to the job.

use serde_json::Value;

use crate::error::{Problem, WorkloadError};
use crate::job::JobOptions;
use crate::mail::stream::MailStreamOptions;
use crate::mail::workload::MailWorkload;
use crate::nearest::hint;
use crate::option::{Record, keys};

/// Options of the server, which every group of users has in common.
const OF_SERVER: [&str; 4] = ["mail_fsync", "mailbox_format", "kill", "kill_every"];

/// Every key that `--set` takes: options of users, then those of the server, then those of the job.
pub fn option_names() -> Vec<&'static str> {
    let mut names = keys::<MailStreamOptions>();
    names.extend(OF_SERVER);
    names.extend(keys::<JobOptions>().into_iter().filter(|key| !keys::<MailStreamOptions>().contains(key)));
    names
}

/// Sets one option where it belongs, from a JSON value or from text: `key` on every group of users, `NAME.key` on the one called NAME.
///
/// # Errors
/// If there is no such option or group, or if the value is not valid.
pub fn set_option(
    workload: &mut MailWorkload,
    job: &mut JobOptions,
    key: &str,
    value: &Value,
) -> Result<(), WorkloadError> {
    let (name, key) = key.split_once('.').map_or((None, key), |(name, key)| (Some(name), key));
    if name.is_none() && keys::<JobOptions>().contains(&key) {
        return job.set(key, value);
    }
    if name.is_none() && OF_SERVER.contains(&key) {
        return workload.assign(key, value).unwrap_or_else(|| Err(unknown(key)));
    }
    if !keys::<MailStreamOptions>().contains(&key) {
        return Err(unknown(key));
    }
    let mut found = false;
    for stream in workload.streams.iter_mut().filter(|stream| name.is_none_or(|name| name == stream.name)) {
        found = true;
        stream.assign(key, value).unwrap_or_else(|| Err(unknown(key)))?;
    }
    if found { Ok(()) } else { Err(no_such_name(workload, name.unwrap_or_default())) }
}

fn unknown(key: &str) -> WorkloadError {
    let listed = || "docs/reference/mail.md lists all keys of mail users".to_owned();
    let advice = hint(key, option_names()).unwrap_or_else(listed);
    Problem::UnknownKey { key: key.to_owned(), record: MailStreamOptions::NOUN, advice }.into()
}

fn no_such_name(workload: &MailWorkload, name: &str) -> WorkloadError {
    let names: Vec<&str> = workload.streams.iter().map(|stream| stream.name.as_str()).collect();
    let listed = || format!("this workload has {}", names.join(", "));
    let advice = hint(name, names.iter().copied()).unwrap_or_else(listed);
    WorkloadError::impossible(format!("no stream is called '{name}'; {advice}"))
}
