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
//! assert_eq!(error, "array \"two\": key 'controler' is not known; did you mean 'controller'?");
//! ```

mod check;
mod controller;
mod flash_cache;
mod host;
mod layout;
mod members;
mod numbering;
pub mod sources;
mod times;

use plimsoll_workload::option::Record;
use plimsoll_workload::options;
use serde_json::Value;

pub use controller::{CacheSpec, ControllerSpec, ReadAheadSpec, WriteCache};
pub use flash_cache::{FlashCacheSpec, FlashWrites};
pub use host::{HostMode, HostSpec, PageCacheSpec};
pub use layout::{DeviceSet, Duplex, GroupEntry, LimitSpec, LinkSpec, Sharing, Spread, VolumeSet};
pub use members::Members;
pub use sources::Sourced;

use crate::notation::ARRAYS;

/// Why an array cannot be built: one sentence that names the array and the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("array \"{array}\": {problem}")]
pub struct SpecError {
    /// The array.
    pub array: String,
    /// Where, what is wrong, what would be right.
    pub problem: String,
}

options! {
    /// A whole array.
    pub struct ArraySpec: "array" in ARRAYS {
        "Array" {
            /// What it is called.
            name: String = String::new(), required "give the array a name", example "msa2040";
            /// Its name for people.
            title: String = String::new(), example "HP MSA 2040";
            /// What it is good for.
            purpose: String = String::new(), example "An entry array with 24 disks";
            /// Where the configuration as a whole comes from.
            source: String = String::new(), example "HP MSA 2040 QuickSpecs";
            /// Why it is as it is, and what is not known.
            rationale: String = String::new(), example "The size of the cache's pages is assumed";
            /// Words to find it by.
            tags: Vec<String> = Vec::new(), unset "none", example "[\"disk\"]";
            /// Who drives it.
            host: HostSpec = HostSpec::default(), example "{\"cores\": 8}";
            /// Buses, ports and cables.
            link: Vec<LinkSpec> = Vec::new(), unset "none", example "[{\"name\": \"fc\", \"rate_bytes_per_s\": 400000000}]";
            /// Controllers.
            controller: Vec<ControllerSpec> = Vec::new(), required "write at least one [[controller]]",
                example "[{\"name\": \"raid\"}]";
            /// Devices, in sets of equal ones.
            devices: Vec<DeviceSet> = Vec::new(), required "write at least one [[devices]]",
                example "[{\"name\": \"disk\", \"count\": 12}]";
            /// RAID groups.
            group: Vec<GroupEntry> = Vec::new(), required "write at least one [[group]]",
                example "[{\"name\": \"vd0\", \"controller\": \"raid\", \"members\": [\"disk\"]}]";
            /// Volumes, in sets carved alike.
            volumes: Vec<VolumeSet> = Vec::new(), required "write at least one [[volumes]]",
                example "[{\"name\": \"lun\", \"groups\": [\"vd0\"]}]";
            /// Devices that take the place of a failed one in any group.
            spares: Members = Members(Vec::new()), unset "none", example "[\"disk[11]\"]";
        }
    }
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
        let spec = Self::read_record(&plain).map_err(|error| refused(error.with_path()))?;
        check::check(&spec).map_err(refused)?;
        Ok(Sourced { spec, sources })
    }

    pub(crate) fn refusal(&self, problem: impl Into<String>) -> SpecError {
        SpecError { array: self.name.clone(), problem: problem.into() }
    }
}
