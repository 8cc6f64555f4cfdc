//! One flash drive.
//!
//! Model: channels with dies behind them. A read senses a page and moves it over its channel; a write fills rows (one
//! page on every plane of a die), which go to the dies in turn. Every die and channel is a timeline: a command is
//! placed on them when it starts, and its end follows; there are no events inside. Where units of data lie is either
//! kept in a page map with greedy garbage collection ([`Translation::PageMap`]), or not at all, with the work of the
//! collection added to every row by a formula, the less the longer the run that is written ([`Translation::Analytic`]).
//!
//! Reads go before programs: one that meets a busy die waits for the operation under way, or suspends it. With
//! power-loss protection a write is reported when the buffer has it, otherwise when its rows are programmed.
//!
//! A drive that is described page by page has queues at its dies instead ([`die`], [`dies`]): types of page, senses that are repeated,
//! whole erases, limits to suspending, a processor, and an SLC cache ([`slc_cache`]). Without such keys nothing of that is done.
//!
//! Limits: a die senses one row at a time (no independent planes); no wear, failures or temperature;
//! no mapping-table reads; a read of data that is being programmed waits for its die like any other; a transfer may
//! pass others on its channel that were placed earlier and are ready later, which keeps the channel's rate but not its
//! order; idle time is not used for collecting.

pub(crate) mod amplification;
mod analytic;
mod blocks;
mod die;
mod dies;
mod drive;
mod formulas;
mod page_map;
mod runs;
mod slc_cache;
mod spec;
mod timeline;
mod write_buffer;

pub use drive::{Flash, FlashModel, Written};
pub use formulas::{agarwal_marrow, greedy, xiang_kurkoski};
pub use spec::{AnalyticSpec, FlashSpec, PageMapSpec, PageTypeSpec, SlcCacheSpec, Translation};
