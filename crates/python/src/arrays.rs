//! Modelled arrays without running them.

use plimsoll_array::bounds::{Load, demands};
use plimsoll_array::outline::outline;
use plimsoll_array::raid::{Reliability, Repair};
use plimsoll_array::{Array, ArraySpec, Sourced};
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

/// No more of a cache than this is set up where only the size of the target is asked for.
const CACHE_BYTES_MAX: u64 = 64 << 20;

/// What a request of each load (its share of reads, bytes, and whether it is sequential) needs of each component of a target that is an
/// array, with so many outstanding, and the size of the target: `{"size_bytes": …, "loads": [[…], …]}`.
#[pyfunction]
pub fn bound_array(py: Python<'_>, target: &str, loads: Vec<(f64, u32, bool)>, population: u32) -> PyResult<String> {
    let TargetSpec::Array(found) = target.parse::<TargetSpec>().map_err(|error| errors::spec(py, &error))? else {
        return Err(errors::input(py, format!("target `{target}`: it is not an array; write `array:` and a name")));
    };
    let of = |&(read_share, bytes, sequential): &(f64, u32, bool)| {
        demands(&found.spec, &Load { name: "demand", read_share, bytes, sequential }, population)
    };
    let bound = py.detach(|| {
        let mut spec = found.spec.clone();
        for cache in spec.controller.iter_mut().filter_map(|controller| controller.cache.as_mut()) {
            cache.size_bytes = cache.size_bytes.min(CACHE_BYTES_MAX);
        }
        let all: Vec<_> = loads.iter().map(of).collect();
        Array::new(&spec, 0).map(|array| serde_json::json!({ "size_bytes": array.sectors() * 512, "loads": all }))
    });
    serde_json::to_string(&bound.map_err(|error| errors::input(py, error.to_string()))?)
        .map_err(|error| errors::json(py, &error))
}

/// The chance to lose data within a year: `members` of each of `groups`, of which `redundancy` may be missing, by the mean time to
/// failure of one, until it is rebuilt, and the chance that the last rebuild meets a sector that cannot be read.
#[pyfunction]
#[pyo3(signature = (shape, *, mttf_hours, mttr_hours, unreadable))]
pub fn loss_per_year(shape: (u16, u16, u16), mttf_hours: f64, mttr_hours: f64, unreadable: f64) -> f64 {
    let (members, redundancy, groups) = shape;
    let repair = Repair::OneAtATime;
    let found = Reliability { members, redundancy, groups, mttf_hours, mttr_hours, unreadable, repair };
    found.loss_probability(365.25 * 24.0)
}

/// Makes the classes and functions of this file those of the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(describe_array, module)?)?;
    module.add_function(wrap_pyfunction!(bound_array, module)?)?;
    module.add_function(wrap_pyfunction!(loss_per_year, module)?)?;
    module.add_function(wrap_pyfunction!(array_schema, module)?)?;
    module.add_function(wrap_pyfunction!(array_reference, module)?)?;
    Ok(())
}
