//! What an array is, as a document says it: one table per component, every value with its unit in the key.
//!
//! Model: host → links → controllers (processor, cache, read-ahead) → RAID groups → links → devices. Components are named
//! and refer to each other by name; a set of devices is `disk`, one of them `disk[3]`, several `disk[0-11]`. Beside the
//! values of a table may stand a table `sources` that says of each where it comes from; see [`sources`].
//!
//! Limits: what refers to what is checked in `check`, what a component can do where it is made.
//!
//! ```
//! use plimsoll_array::spec::ArraySpec;
//! let document = serde_json::json!({ "name": "two", "controler": [] });
//! let error = ArraySpec::read(&document).unwrap_err().to_string();
//! assert!(error.starts_with("array \"two\": controler: `controler` is no key (did you mean `controller`?)"), "{error}");
//! ```

mod check;
mod controller;
mod host;
mod layout;
mod members;
pub mod sources;
mod times;
mod wording;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use controller::{CacheSpec, ControllerSpec, ReadAheadSpec, WriteCache};
pub use host::{HostMode, HostSpec, PageCacheSpec};
pub use layout::{DeviceSet, Duplex, GroupEntry, LinkSpec, Sharing, Spread, VolumeSet};
pub use members::Members;
pub use sources::Sourced;

/// Why an array cannot be built: one sentence that names the array and the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("array \"{array}\": {problem}")]
pub struct SpecError {
    /// The array.
    pub array: String,
    /// Where, what is wrong, what would be right.
    pub problem: String,
}

/// A whole array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArraySpec {
    /// What it is called.
    pub name: String,
    /// Its name for people.
    #[serde(default)]
    pub title: String,
    /// What it is good for.
    #[serde(default)]
    pub purpose: String,
    /// Where the configuration as a whole comes from.
    #[serde(default)]
    pub source: String,
    /// Why it is as it is, and what is not known.
    #[serde(default)]
    pub rationale: String,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Who drives it.
    #[serde(default)]
    pub host: HostSpec,
    /// Buses, ports and cables.
    #[serde(default)]
    pub link: Vec<LinkSpec>,
    /// Controllers.
    pub controller: Vec<ControllerSpec>,
    /// Devices, in sets of equal ones.
    pub devices: Vec<DeviceSet>,
    /// RAID groups.
    pub group: Vec<GroupEntry>,
    /// Volumes, in sets carved alike.
    pub volumes: Vec<VolumeSet>,
    /// Devices that take the place of a failed one in any group.
    #[serde(default)]
    pub spares: Members,
}

impl ArraySpec {
    /// Reads a document, its sources set apart, and checks it.
    ///
    /// # Errors
    /// One sentence about the first thing that is wrong.
    pub fn read(document: &Value) -> Result<Sourced<Self>, SpecError> {
        let array = document.get("name").and_then(Value::as_str).unwrap_or("unnamed").to_owned();
        let refused = |problem: String| SpecError { array: array.clone(), problem };
        let (plain, sources) = sources::set_apart(document).map_err(refused)?;
        wording::check_models(&plain).map_err(refused)?;
        let spec: Self = wording::read(&plain).map_err(refused)?;
        check::check(&spec).map_err(refused)?;
        Ok(Sourced { spec, sources })
    }

    pub(crate) fn refusal(&self, problem: impl Into<String>) -> SpecError {
        SpecError { array: self.name.clone(), problem: problem.into() }
    }
}
