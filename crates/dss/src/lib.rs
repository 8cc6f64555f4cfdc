//! The data of the decision-support load: eight tables of any size, refresh sets, and the values that queries ask for.
//!
//! Model: a [`Table`] at a [`Scale`] is a row of chunks, each drawn for itself from its number, so that parts of a table can be
//! made at the same time and nothing is kept. What a chunk becomes is decided by who takes its values ([`Values`]): text for
//! `COPY` ([`CopyText`]), or columns ([`Columns`]) for a [`ParquetFile`]. [`RefreshSet`] draws the orders that come and names those that go; [`parameters`] draws
//! what the 22 queries ask for, [`order_of`] in which order a stream asks.
//!
//! Everything is pure: no files, no clock, no threads; equal arguments give equal bytes on every machine. Rows come from the
//! crate `tpchgen`, pinned to one version, because refresh sets reach past the range of parts it documents.
//!
//! Limits: derived from TPC-H, not comparable with published results of it. Scales from 0.01 (below, or between 0.01 and 0.023 at some
//! values, a part would have one supplier twice) to 10,000, and 30,000 and 100,000.
//!
//! ```
//! use plimsoll_dss::{Scale, Source, Span, Table, copy_text};
//!
//! let scale = Scale::new(0.01).unwrap();
//! assert_eq!(Table::Orders.rows(scale), 15_000);
//! let source = Source::new();
//! let mut text = Vec::new();
//! for chunk in Span::whole(Table::Region, scale).chunks() {
//!     copy_text(&source, chunk, &mut text);
//! }
//! assert!(text.starts_with(b"0\tAFRICA\t"));
//! ```

mod chunk;
mod columns;
mod copy;
mod digits;
mod error;
mod order;
mod parameters;
mod parquet;
mod refresh;
mod rows;
mod scale;
mod schema;
mod source;

pub use chunk::{Chunk, Span};
pub use columns::{Cells, Columns, Texts};
pub use copy::{CopyText, copy_text};
pub use error::DataError;
pub use order::{ORDERS, order_of};
pub use parameters::{Parameter, Parameters, parameters};
pub use parquet::ParquetFile;
pub use refresh::{REFRESH_SETS, RefreshSet};
pub use scale::Scale;
pub use schema::{Column, ForeignKey, Kind, Table};
pub use source::{Source, Values};
