//! An array as it is shown without running anything: its volumes, components, sources, and what limits it.
//!
//! Limits: the loads are those of [`crate::bounds::LOADS`]; expected values are of mean value analysis, not simulated.

use serde::Serialize;

use crate::array::Array;
use crate::bounds::{Demand, LOADS, Load, demands, expected, limit};
use crate::spec::sources::Source;
use crate::spec::{ArraySpec, Sourced, SpecError};
use crate::utilisation::Component;

/// Requests outstanding for which throughput is expected.
const POPULATIONS: [u32; 5] = [1, 4, 16, 64, 256];

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outline {
    /// The array's name.
    pub name: String,
    /// Size of the target.
    pub size_bytes: u64,
    /// The volumes of the target.
    pub volumes: Vec<VolumeOutline>,
    /// All components.
    pub components: Vec<Component>,
    /// Where values come from.
    pub sources: Vec<Source>,
    /// What some loads ask for, and get.
    pub loads: Vec<LoadOutline>,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VolumeOutline {
    /// Its name.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
}

/// A load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadOutline {
    /// Which one.
    #[serde(flatten)]
    pub load: Load,
    /// What a request needs of each component.
    pub demands: Vec<Demand>,
    /// The component that is busy first.
    pub limited_by: Option<String>,
    /// Requests per second that it allows.
    pub limit_per_s: Option<f64>,
    /// What can be expected below that.
    pub expected: Vec<Expected>,
}

/// Mean values with so many requests outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expected {
    /// Requests outstanding.
    pub population: u32,
    /// Requests per second.
    pub throughput_per_s: f64,
    /// Mean response.
    pub response_ns: f64,
}

/// Looks at an array.
///
/// # Errors
/// When it cannot be built.
pub fn outline(sourced: &Sourced<ArraySpec>) -> Result<Outline, SpecError> {
    let array = Array::new(&sourced.spec, 0)?;
    let volume = |(name, sectors): (&str, u64)| VolumeOutline { name: name.to_owned(), size_bytes: sectors * 512 };
    Ok(Outline {
        name: sourced.spec.name.clone(),
        size_bytes: array.sectors() * 512,
        volumes: array.volumes().map(volume).collect(),
        components: array.components(),
        sources: sourced.sources.clone(),
        loads: LOADS.iter().map(|load| outlined(&sourced.spec, load)).collect(),
    })
}

fn outlined(spec: &ArraySpec, load: &Load) -> LoadOutline {
    let demands = demands(spec, load);
    let found = limit(&demands).map(|(demand, per_s)| (demand.component.clone(), per_s));
    // Sequential loads are read ahead and written behind: who waits for what is not told by means.
    let populations = if load.sequential { &[][..] } else { &POPULATIONS[..] };
    let expect = |&population: &u32| {
        let solved = expected(&demands, population);
        Expected { population, throughput_per_s: solved.throughput_per_s, response_ns: solved.response_ns }
    };
    LoadOutline {
        load: *load,
        expected: populations.iter().map(expect).collect(),
        limited_by: found.as_ref().map(|(name, _)| name.clone()),
        limit_per_s: found.map(|(_, per_s)| per_s),
        demands,
    }
}
