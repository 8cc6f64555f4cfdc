//! Storage without hardware: a whole array in virtual time.
//!
//! Model: a document ([`spec`]) names hosts, links, controllers, devices, RAID groups and volumes; [`Array`] is what they
//! do with requests. Devices ([`device`], [`disk`], [`flash`]) and RAID ([`raid`]) are arithmetic of their own; [`bounds`]
//! and [`mva`] say without simulating what can be expected, [`point`] what a short simulation gives. Times are integer
//! nanoseconds, addresses sectors of 512 bytes; nothing here has a clock, a file, or an order that changes from run to run.
//!
//! Limits: timing only, no data.

pub mod array;
pub mod bounds;
mod cache;
pub mod calendar;
mod controller;
pub mod device;
pub mod disk;
pub mod flash;
mod flash_cache;
pub mod limit;
pub mod link;
pub mod mva;
mod notation;
pub mod outline;
pub mod point;
mod prefetch;
pub mod raid;
mod reference;
mod schema;
pub mod slab;
pub mod spec;
pub mod station;
pub mod utilisation;
mod volume;

pub use array::{Array, Completion, Incident, Rebuilt, Request, What};
pub use device::{Command, Device, DeviceModel, DeviceSpec, INTERNAL};
pub use reference::reference_markdown;
pub use schema::schema;
pub use spec::{ArraySpec, Sourced, SpecError};
pub use utilisation::{Component, ComponentUse, Reading, WriteCaches};
