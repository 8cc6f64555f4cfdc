//! What to issue: Plimsoll's options, declared once, and the seeded streams of requests they describe.
//!
//! Model: a [`Workload`] (as typed) is read from JSON, changed by `--set`, and resolved against the shape of a target
//! into one [`StreamPlan`] per stream (plain numbers). From a plan come its [`Generator`]s (which requests),
//! [`Arrivals`] and [`Thinker`]s (when), and [`Content`] (what is written). [`JobOptions`] say how the workload is run.
//!
//! Everything is pure: no files, no clock, no hash-ordered maps; equal options and seeds give equal requests on every
//! machine. Every option is declared once, in [`mod@stream`], [`job`] or [`workload`]; parser, JSON Schema, reference
//! page and error texts follow from that.
//!
//! ```
//! use plimsoll_workload::{JobOptions, Scope, TargetShape, Workload, scope_of};
//! use serde_json::json;
//!
//! let file = json!({ "stream": [{ "name": "log", "block_size": "64KiB", "read_percent": 0, "random_percent": 0 }] });
//! let workload = Workload::from_json(&file, "log.toml").unwrap();
//! workload.check("log.toml").unwrap();
//! let plans = workload.resolve(TargetShape { size_bytes: 1 << 30, block_bytes: 4096 }, 1).unwrap();
//! assert_eq!(plans[0].region, 0..1 << 30);
//! assert_eq!(scope_of("duration").unwrap(), Scope::Job);
//!
//! let typo = json!({ "stream": [{ "name": "log", "quue_depth": 4 }] });
//! let sentence = Workload::from_json(&typo, "my.toml").unwrap_err().to_string();
//! assert_eq!(sentence, "my.toml: stream \"log\": key 'quue_depth' is not known; did you mean 'queue_depth'?");
//! ```

// What the macros' code needs wherever they are used.
#[doc(hidden)]
pub use {serde, serde_json};

mod access;
mod alias;
mod bounds;
mod conflicts;
mod divisor;
pub mod nearest;
pub mod parts;
mod permutation;
mod resolve;
pub mod rng;
mod scope;
pub mod share;

pub mod address;
pub mod arrival;
pub mod block_sizes;
pub mod choice;
pub mod content;
pub mod declare;
pub mod director;
pub mod error;
pub mod extent;
pub mod files;
pub mod fingerprint;
pub mod generator;
pub mod job;
pub mod journal;
pub mod kind;
pub mod mail;
pub mod option;
pub mod pattern;
pub mod plan;
pub mod provenance;
pub mod reference;
pub mod request;
pub mod schema;
pub mod sizes;
pub mod spread;
pub mod stamp;
pub mod stream;
pub mod trace;
pub mod unit;
pub mod units;
pub mod words;
pub mod workload;

pub use arrival::{Arrivals, Offer, Thinker};
pub use content::Content;
pub use divisor::Divisor;
pub use error::{Problem, WorkloadError};
pub use fingerprint::fingerprint;
pub use generator::Generator;
pub use job::JobOptions;
pub use plan::{ArrivalPlan, ContentPlan, StreamPlan, TargetShape, Verify};
pub use reference::reference_markdown;
pub use request::{Op, Request};
pub use schema::schema;
pub use scope::{Scope, option_names, scope_of, set_option};
pub use stream::StreamOptions;
pub use trace::{Recorded, TraceHeader, TracePlan, TraceRecord};
pub use workload::Workload;
