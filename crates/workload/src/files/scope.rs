//! `--set` for a workload of file operations: a key belongs to its streams, to its trees, or to the job.

use serde_json::Value;

use crate::error::{Problem, WorkloadError};
use crate::files::stream::FileStreamOptions;
use crate::files::tree::TreeOptions;
use crate::files::workload::FileWorkload;
use crate::job::JobOptions;
use crate::nearest::hint;
use crate::option::{Record, keys};

/// Every key that `--set` takes: stream options, then those of trees, then those of the job.
pub fn option_names() -> Vec<&'static str> {
    let mut names = keys::<FileStreamOptions>();
    for key in keys::<TreeOptions>().into_iter().chain(keys::<JobOptions>()) {
        if !names.contains(&key) {
            names.push(key);
        }
    }
    names
}

/// Sets one option where it belongs, from a JSON value or from text: `key` on every stream or every tree, `NAME.key` on
/// the one called NAME.
///
/// # Errors
/// If there is no such option, stream or tree, or if the value is not valid.
pub fn set_option(
    workload: &mut FileWorkload,
    job: &mut JobOptions,
    key: &str,
    value: &Value,
) -> Result<(), WorkloadError> {
    let (name, key) = key.split_once('.').map_or((None, key), |(name, key)| (Some(name), key));
    let meant = |other: &str| name.is_none_or(|name| name == other);
    if name.is_none() && keys::<JobOptions>().contains(&key) {
        return job.set(key, value);
    }
    let (of_streams, of_trees) = (keys::<FileStreamOptions>().contains(&key), keys::<TreeOptions>().contains(&key));
    if !of_streams && !of_trees {
        return Err(unknown(key));
    }
    let mut found = false;
    for stream in workload.streams.iter_mut().filter(|stream| of_streams && meant(&stream.name)) {
        found = true;
        stream.assign(key, value).unwrap_or_else(|| Err(unknown(key)))?;
    }
    // A key of both, such as `name`, is a stream's unless only a tree is called so.
    let trees = of_trees && !(found || of_streams && name.is_none());
    for tree in workload.trees.iter_mut().filter(|tree| trees && meant(&tree.name)) {
        found = true;
        tree.assign(key, value).unwrap_or_else(|| Err(unknown(key)))?;
    }
    if found { Ok(()) } else { Err(no_such_name(workload, name.unwrap_or_default(), of_streams)) }
}

fn unknown(key: &str) -> WorkloadError {
    let listed = || "docs/reference/files.md lists all keys of file operations".to_owned();
    let advice = hint(key, option_names()).unwrap_or_else(listed);
    Problem::UnknownKey { key: key.to_owned(), record: FileStreamOptions::NOUN, advice }.into()
}

fn no_such_name(workload: &FileWorkload, name: &str, of_streams: bool) -> WorkloadError {
    let names: Vec<&str> = if of_streams {
        workload.streams.iter().map(|stream| stream.name.as_str()).collect()
    } else {
        workload.trees.iter().map(|tree| tree.name.as_str()).collect()
    };
    let listed = || format!("this workload has {}", names.join(", "));
    let advice = hint(name, names.iter().copied()).unwrap_or_else(listed);
    let noun = if of_streams { "stream" } else { "tree" };
    WorkloadError::impossible(format!("no {noun} is called '{name}'; {advice}"))
}
