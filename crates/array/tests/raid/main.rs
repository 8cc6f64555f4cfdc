//! RAID against stored bytes: every piece and plan is carried out on members that really hold data, P and Q.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod counts;
mod declustered;
mod degraded;
mod healthy;
mod layouts;
mod locks;
mod loss;
mod mapping;
mod mirrors;
mod oracle;
mod planted;
mod rebuilds;
mod records;
mod redundancy;
mod reference;
mod row_stretches;
mod scenario;
mod specs;
mod together;
