//! The steps of an analytics workflow on files.
//!
//! Model: a workflow is a process that makes or reads rows of 200 bytes and takes them through six steps, each of which writes a file
//! that the next one reads: DATA step, iterate (processor only), format, index, sort, summary. Rows follow from a seed; they are checked
//! whenever they are read (each row by a checksum of its own, all of them by sums that do not depend on their order), so that wrong data
//! are found in the step that meets them. Memory stays below a cap: what has to be sorted and does not fit is spilled to run files.
//! Limits: a row has one form. One thread. Linux.
//!
//! ```
//! # use plimsoll_analytics::{row, Rows};
//! let mut row = row::EMPTY;
//! Rows { seed: 1, workflow: 1 }.make(7, &mut row);
//! assert!(row::is_sealed(&row));
//! ```

mod counters;
mod disk;
mod error;
mod format;
mod index;
mod input;
mod iterate;
mod meter;
mod plan;
pub mod row;
mod sort;
mod step;
mod summary;
mod tally;
mod teller;
mod workflow;

pub use counters::{monotonic_ns, resident_bytes};
pub use disk::{Disk, Reader, Writer};
pub use error::Trouble;
pub use index::{Index, IndexBuilder, PAGE_BYTES};
pub use input::{Made, write_csv, write_input};
pub use iterate::iterate;
pub use meter::{Listener, Meter, Moved, Silent};
pub use plan::{Merges, Spill};
pub use row::{ROW_BYTES, Rows};
pub use sort::{Shape, Sorter};
pub use step::{Step, StepRecord};
pub use tally::Tally;
pub use teller::Teller;
pub use workflow::{Spec, run, work_files};
