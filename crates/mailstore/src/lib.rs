//! The I/O of a mail store's storage engine, as a pure state machine: which requests follow from which operation.
//!
//! Model: a database is a file of pages under a B+ tree's [shape](tree), a page [cache] with exact replacement and a [log] with
//! group commit. Threads carry operations out: a page that is not in memory is read, a change is logged and makes its page dirty, a
//! hard commit waits until its record is on the target. Pages whose oldest change lies further back than the checkpoint depth are
//! written, joined with dirty neighbours; maintenance and replication read beside that. A [`Store`] is a
//! [`Director`](plimsoll_workload::director::Director): it has no files and no clock, and equal options, seeds and answers give equal
//! requests.
//!
//! It begins warm: operations are carried out against nothing until the cache is full and the log has gone round, so that what is
//! measured is a store that has run for long.
//!
//! Limits: modelled on what is published of a storage engine's behaviour; no records are kept, only which pages they change.
//!
//! ```
//! use plimsoll_mailstore::MailstoreWorkload;
//! use plimsoll_workload::TargetShape;
//! use serde_json::json;
//!
//! let file = json!({ "driver": "mailstore", "threads": 4 });
//! let store = MailstoreWorkload::from_json(&file, "mail.toml").unwrap();
//! let plan = store.resolve(TargetShape { size_bytes: 4 << 30, block_bytes: 512 }, 1, &[]).unwrap();
//! assert_eq!((plan.databases.len(), plan.streams.streams.len()), (1, 5));
//! ```

mod cache;
mod counts;
mod image;
mod log;
mod map;
mod operation;
mod options;
mod page;
mod plan;
mod recovery;
mod scope;
mod store;
mod tree;

pub use counts::Counts;
pub use operation::Kind;
pub use options::{Driver, MailstoreWorkload, Test};
pub use page::{reference_markdown, schema};
pub use plan::{DatabasePlan, MailstorePlan, Role};
pub use recovery::Recovery;
pub use scope::{option_names, set_option};
pub use store::{Acknowledged, Store, Times};
