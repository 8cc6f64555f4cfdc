//! An array as it is shown without running anything: its volumes, components, sources, and what limits it.
//!
//! Limits: the loads are those of [`crate::bounds::LOADS`], simulated for some thousand requests.

use serde::Serialize;

use crate::array::Array;
use crate::bounds::{Demand, LOADS, Load, demands, expected, limit, most};
use crate::point::{Simulated, simulated};
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
    /// What a request needs of each component with the most requests outstanding.
    pub demands: Vec<Demand>,
    /// The component that is busy first, and its kind.
    pub limited_by: Option<String>,
    /// See there.
    pub kind: Option<&'static str>,
    /// Requests per second that it allows.
    pub limit_per_s: Option<f64>,
    /// What can be expected below that.
    pub expected: Vec<Expected>,
    /// What a short simulation gives; empty unless it was asked for.
    pub simulated: Vec<Simulated>,
}

/// Bound and mean values with so many requests outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expected {
    /// Requests outstanding.
    pub population: u32,
    /// Requests per second at most.
    pub most_per_s: f64,
    /// Requests per second by mean value analysis; of random loads.
    pub throughput_per_s: Option<f64>,
    /// Mean response.
    pub response_ns: Option<f64>,
}

/// Looks at an array, and simulates the loads if that is asked for.
///
/// # Errors
/// When it cannot be built.
pub fn outline(sourced: &Sourced<ArraySpec>, simulate: bool) -> Result<Outline, SpecError> {
    let array = Array::new(&sourced.spec, 0)?;
    let volume = |(name, sectors): (&str, u64)| VolumeOutline { name: name.to_owned(), size_bytes: sectors * 512 };
    Ok(Outline {
        name: sourced.spec.name.clone(),
        size_bytes: array.sectors() * 512,
        volumes: array.volumes().map(volume).collect(),
        components: array.components(),
        sources: sourced.sources.clone(),
        loads: LOADS.iter().map(|load| outlined(&sourced.spec, load, simulate)).collect::<Result<_, _>>()?,
    })
}

fn outlined(spec: &ArraySpec, load: &Load, simulate: bool) -> Result<LoadOutline, SpecError> {
    let deepest = POPULATIONS.iter().copied().max().unwrap_or(1);
    let demanded = demands(spec, load, deepest);
    let found = limit(&demanded).map(|(demand, per_s)| (demand.component.clone(), demand.kind, per_s));
    let expect = |&population: &u32| {
        let demanded = demands(spec, load, population);
        // Sequential loads are read ahead and written behind, so mean values do not say who waits for what.
        let solved = (!load.sequential).then(|| expected(&demanded, population));
        Expected {
            population,
            most_per_s: most(&demanded, population),
            throughput_per_s: solved.as_ref().map(|solved| solved.throughput_per_s),
            response_ns: solved.as_ref().map(|solved| solved.response_ns),
        }
    };
    Ok(LoadOutline {
        load: *load,
        expected: POPULATIONS.iter().map(expect).collect(),
        simulated: if simulate { simulated(spec, load, &POPULATIONS)? } else { Vec::new() },
        limited_by: found.as_ref().map(|(name, ..)| name.clone()),
        kind: found.as_ref().map(|(_, kind, _)| *kind),
        limit_per_s: found.map(|(.., per_s)| per_s),
        demands: demanded,
    })
}
