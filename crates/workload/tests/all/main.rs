//! One program of all tests from outside: each of its own would compile and link the same libraries once more.

#[path = "../plans/mod.rs"]
mod plans;

mod arrival_instants;
mod content_bytes;
mod files_options;
mod files_script;
mod files_shape;
mod generator_bounds;
mod generator_seek;
mod generator_sequence;
mod generator_shape;
mod generator_shaped;
mod journal_cuts;
mod mail_options;
mod options_catalog;
mod options_declared;
mod options_documents;
mod options_errors;
mod options_resolve;
mod options_round_trip;
mod options_workload;
mod shares;
mod stamp_bytes;
mod stamp_faults;
mod trace_remap;
