//! The document of `array:`: a modelled array as JSON.
//!
//! Model: whoever types `array:msa2000-raid5` means a document of the catalog or a file; Python finds it and hands the
//! document itself on, so that nothing here opens a file. The size of the target follows from building the array once.

use plimsoll_array::spec::sources::Source;
use plimsoll_array::{Array, ArraySpec, Sourced};
use serde_json::Value;

use super::SpecProblem;

/// A modelled array.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayTarget {
    /// What it is.
    pub spec: ArraySpec,
    /// Where its values come from.
    pub sources: Vec<Source>,
    /// Size of the volumes that make up the target.
    pub size_bytes: u64,
}

pub(super) fn parse(text: &str) -> Result<ArrayTarget, SpecProblem> {
    let document: Value = serde_json::from_str(text).map_err(|_| SpecProblem::NoDocument)?;
    let refused = |error: plimsoll_array::SpecError| SpecProblem::Array(error.problem);
    let Sourced { spec, sources } = ArraySpec::read(&document).map_err(refused)?;
    spec.check_takes_time().map_err(refused)?;
    let size_bytes = Array::new(&spec, 0).map_err(refused)?.sectors() * 512;
    Ok(ArrayTarget { spec, sources, size_bytes })
}

/// How a target with a document is called in messages.
pub(super) fn shown(text: &str) -> Option<String> {
    let document: Value = serde_json::from_str(text.strip_prefix("array:")?).ok()?;
    Some(format!("array:{}", document.get("name").and_then(Value::as_str).unwrap_or("unnamed")))
}
