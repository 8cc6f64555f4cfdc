//! RAID as arithmetic: which devices a request of a group goes to, in which phases, and what must not overlap with it.
//!
//! Model: a group stripes its data over *parity groups* (RAID 50 and 60), over *mirror sets* (1 and 10), or over single
//! devices (0); RAID 5 and 6 are one parity group. RAIDZ spreads *records* over the members instead, each with parity of its own; dRAID
//! spreads groups of records and spare space over more members than a group has (`declustered.rs`). Every member holds *strips*; the strips at one height are a *row*. A
//! [`Geometry`] is built once from a [`GroupSpec`] and turns data addresses into [`Piece`]s: of a read with
//! [`Geometry::read`], of a write with [`Geometry::write`], of several stretches of a row with [`Geometry::write_together`],
//! into a [`WritePlan`] of reads, then (after a barrier and the exclusive-or) writes. [`RowLocks`] serialises writes of the
//! same rows; [`Members`] says who has failed or is being rebuilt; [`Rebuild`] walks a replaced member chunk by chunk.
//!
//! Limits: only positions are computed, no data. Degraded reads take no row lock, so the model does not delay one behind a
//! write of its row. A member that has lost single sectors is not modelled: it is present, failed or being rebuilt.
//!
//! ```
//! use plimsoll_array::raid::{Extent, Geometry, GroupSpec, Level, WritePlan};
//!
//! let geometry = Geometry::new(&GroupSpec::new(Level::Raid5, 5, 128), 1_000_000).unwrap();
//! let members = geometry.members();
//!
//! let mut pieces = Vec::new();
//! geometry.read(Extent { lba: 0, sectors: 8 }, &members, |_, _| 0, &mut pieces).unwrap();
//! assert_eq!((pieces[0].device, pieces[0].lba), (0, 0));
//!
//! // A small write reads old data and old parity, then writes both: four disk operations.
//! let mut plan = WritePlan::default();
//! geometry.write(Extent { lba: 0, sectors: 8 }, &members, &mut plan).unwrap();
//! assert_eq!((plan.reads.len(), plan.writes.len()), (2, 2));
//! ```

mod declustered;
mod declustered_holders;
mod declustered_rebuild;
mod failures;
mod geometry;
mod locks;
mod loss;
mod members;
mod mttdl;
mod parity;
mod permutation;
mod piece;
mod positions;
mod read;
mod rebuild;
mod rebuild_chunk;
mod rebuild_order;
mod record_pieces;
mod records;
mod rotation;
mod row_stretches;
mod spares;
mod spec;
mod striping;
mod throttle;
mod trim;
mod write;
mod write_plan;

pub use failures::{Failure, FailureRate, FailureSpec, Replacement, Scheduled, failures, replacements};
pub use geometry::Geometry;
pub use locks::{RowLocks, RowSpan};
pub use loss::Lost;
pub use members::{MemberState, Members};
pub use mttdl::{Reliability, Repair};
pub use piece::{Extent, Piece};
pub use rebuild::Rebuild;
pub use rebuild_chunk::RebuildChunk;
pub use records::RecordShape;
pub use row_stretches::Gaps;
pub use spares::{SpareSpec, Spares};
pub use spec::{GroupSpec, Layout, Level, ReadChoice, SpecError, WriteChoice};
pub use throttle::{RebuildSpec, Spell, Throttle};
pub use write_plan::{RowChoices, WritePlan};
