//! The load of a file system: trees of directories and files, and streams of operations on them.
//!
//! Model (Vdbench's file system workloads, generalised): a [`FileWorkload`] names trees, which are laid out below the
//! target directory before anything is measured, and streams, whose threads each perform one operation after the other.
//! A [`TreeShape`] says from an index alone what a file or directory is called, where it lies and how large it is, so
//! a tree of millions of names needs no memory for them. A [`Script`] draws what a thread does: which operation, which
//! file to try first, where in a file. Only the engine knows whether that file exists at the moment.
//!
//! Everything is pure and seeded, as in the rest of this crate: equal options give equal trees and equal draws.
//!
//! ```
//! use plimsoll_workload::files::{FileOp, FileWorkload, Script};
//! use serde_json::json;
//!
//! let file = json!({
//!     "driver": "files",
//!     "tree": [{ "depth": 2, "width": 3, "files": 10, "sizes": "4KiB-64KiB" }],
//!     "stream": [{ "operation": { "read": 80, "stat": 20 }, "threads": 4 }],
//! });
//! let plan = FileWorkload::from_json(&file, "web.toml").unwrap().resolve(1).unwrap();
//! let shape = &plan.trees[0].shape;
//! assert_eq!((shape.directories(), shape.files()), (13, 90));
//! let mut path = Vec::new();
//! shape.file_path(11, &mut path);
//! assert_eq!(path, b"d0/d1/f11");
//! assert!(matches!(Script::new(&plan.streams[0], 0).operation(), FileOp::Read | FileOp::Stat));
//! ```

mod check;
mod draw;
mod fingerprint;
mod mix;
mod names;
mod operation;
mod page;
mod passage;
mod plan;
mod resolve;
mod scope;
mod script;
mod shape;
mod sizes;
mod stop;
mod stream;
mod tree;
mod workload;

pub(crate) use draw::SizeDraw;
pub use fingerprint::fingerprint;
pub use mix::OperationMix;
pub use names::Names;
pub use operation::FileOp;
pub use page::{reference_markdown, schema};
pub use passage::Passage;
pub use plan::{FilePlan, FileStreamPlan, TreePlan};
pub use scope::{option_names, set_option};
pub use script::Script;
pub use shape::TreeShape;
pub use sizes::FileSizes;
pub use stop::{StopAfter, StopAfterOption};
pub use stream::{FileAccess, FileSelect, FileState, FileStreamOptions};
pub use tree::{LayOut, Placed, TreeOptions};
pub use workload::{Driver, FileWorkload};
