//! Paths in JSON: as text, with � for bytes that are not UTF-8, since serde refuses such paths altogether.

use std::path::{Path, PathBuf};

use serde::Serializer;

/// For `#[serde(serialize_with)]` on a path.
pub(crate) fn one<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// The same on a list of paths.
pub(crate) fn many<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// The same on a path that may be missing.
pub(crate) fn maybe<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => one(path, serializer),
        None => serializer.serialize_none(),
    }
}
