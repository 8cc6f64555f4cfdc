//! Targets: what is measured, from its specification to open descriptors.
//!
//! Purpose: everything about a target that is decided before the first request and after the last. Model, in the
//! order of a run: [`TargetSpec`] (the text parsed), [`inspect()`] (what is there; never writes), [`prepare`]
//! (scratch files made and filled), [`open()`] (judged by [`crate::safety`], then opened), [`remove`] (scratch files
//! deleted, if Plimsoll made them).
//!
//! Limits: regular files and block devices of Linux; remote and object storage are other drivers' matter.
//!
//! ```
//! use plimsoll_engine::safety::Permission;
//! use plimsoll_engine::target::{OpenMode, TargetSpec, open};
//! let spec: TargetSpec = "null:?size=1GiB".parse().unwrap();
//! let target = open(&spec, OpenMode::default(), &Permission::default()).unwrap();
//! assert_eq!(target.shape().size_bytes, 1 << 30);
//! ```

mod batch;
mod claim;
mod device;
mod error;
mod fill;
mod holder;
mod inspect;
mod look;
mod marker;
pub(crate) mod medium;
mod open;
mod place;
mod sample;
mod scout;
mod scratch;
mod space;
pub mod spec;

pub(crate) use claim::Claims;
pub use claim::{Carried, Elsewhere, Loan, Session};
pub use error::TargetError;
pub use inspect::{Inspection, PartInspection, inspect};
pub(crate) use marker::State;
pub use open::{OpenMode, Opened, Part, PartKind, open};
pub use sample::{COMPRESSIBLE_BELOW_BITS, Sample};
pub use scout::{Question, await_answer};
pub use scratch::{DEFAULT_SIZE_BYTES, Prepared, left_behind, prepare, release, remove};
pub(crate) use space::Space;
pub use spec::{ArrayTarget, PartSpec, QueueFaults, QueueSpec, Service, SpecError, Stall, TargetSpec};
