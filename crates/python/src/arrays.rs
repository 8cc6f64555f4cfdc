//! Modelled arrays without running them.

use plimsoll_array::outline::outline;
use plimsoll_array::{ArraySpec, Sourced};
use plimsoll_engine::target::TargetSpec;
use pyo3::prelude::*;

use crate::errors;

/// JSON Schema of an array file.
#[pyfunction]
pub fn array_schema() -> String {
    plimsoll_array::schema().to_string()
}

/// The reference page of array files, in Markdown.
#[pyfunction]
pub fn array_reference() -> String {
    plimsoll_array::reference_markdown()
}

/// What a target that is an array consists of, where its values come from, and what limits it; with what a short simulation gives
/// if it is asked for.
#[pyfunction]
#[pyo3(signature = (target, *, simulate = false))]
pub fn describe_array(py: Python<'_>, target: &str, simulate: bool) -> PyResult<String> {
    let TargetSpec::Array(found) = target.parse::<TargetSpec>().map_err(|error| errors::spec(py, &error))? else {
        return Err(errors::input(py, format!("target `{target}`: it is not an array; write `array:` and a name")));
    };
    let sourced: Sourced<ArraySpec> = Sourced { spec: found.spec, sources: found.sources };
    let described = py.detach(|| outline(&sourced, simulate)).map_err(|error| errors::input(py, error.to_string()))?;
    serde_json::to_string(&described).map_err(|error| errors::json(py, &error))
}
