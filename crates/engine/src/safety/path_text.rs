//! Paths in JSON: as text that may be shown, since serde refuses bytes that are not UTF-8.

use std::path::{Path, PathBuf};

use serde::Serializer;

use crate::display::shown;

/// For `#[serde(serialize_with)]` on a path.
pub(crate) fn one<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&shown(path))
}

/// The same on a list of paths.
pub(crate) fn many<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| shown(path).to_string()))
}

/// The same on a path that may be missing.
pub(crate) fn maybe<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => one(path, serializer),
        None => serializer.serialize_none(),
    }
}
