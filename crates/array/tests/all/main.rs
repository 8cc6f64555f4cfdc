//! One program of all tests from outside: each of its own would compile and link the same libraries once more.

#[path = "../by_hand/mod.rs"]
mod by_hand;
#[path = "../closed_loop/mod.rs"]
mod closed_loop;
#[path = "../drives/mod.rs"]
mod drives;
#[path = "../speed_goals/mod.rs"]
mod speed_goals;
#[path = "../support/mod.rs"]
mod support;

mod bounds;
mod caching;
mod copies;
mod copies_over_a_network;
mod copying_back;
mod destaged_rows;
mod destaging;
mod disk_buffer;
mod disk_geometry;
mod disk_means;
mod disk_sums;
mod erasure_coding;
mod faults;
mod fingerprints;
mod flash_amplification;
mod flash_cache;
mod flash_tails;
mod flash_timing;
mod flushes;
mod laws;
mod limits;
mod many_streams;
mod mean_values;
mod planted;
mod raidz;
mod rebuilding;
mod streams;
mod trims;
mod volume_limits;
mod volumes;
