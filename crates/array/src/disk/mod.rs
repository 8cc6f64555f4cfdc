//! One rotating disk.
//!
//! Model: a command costs its overhead, a movement of the arm ([`SeekCurve`]), the wait until its first sector comes
//! round, and its transfer across tracks, cylinders and zones ([`Geometry`]). The queue chooses among a window of the
//! oldest commands by first come, C-LOOK or shortest positioning time, and takes commands that are too old first. After
//! a read the head reads on into a segment of the buffer; reads find there all, or the beginning, of what they want.
//! Writes may be reported before they are on the platter.
//!
//! Limits: tracks of a cylinder come one after the other (no serpentine order); no remapped sectors; a read does not
//! begin in the middle of what it wants; queued commands are not merged; read-ahead stops as soon as another command
//! wants the arm; what was written is not kept for reading, nor are waiting writes searched by reads; a transfer of the
//! mechanics does not occupy the interface, whose rate bounds only what comes out of the buffer.

mod buffer;
mod divisor;
mod drive;
mod geometry;
mod mechanics;
mod queue;
mod seek;
mod spec;
mod spindle;
mod zoning;

pub use drive::Disk;
pub use geometry::{Geometry, Place, Zone};
pub use mechanics::DiskModel;
pub use seek::SeekCurve;
pub use spec::{BufferSpec, DiskSpec, Policy, QueueSpec, SeekSpec};
