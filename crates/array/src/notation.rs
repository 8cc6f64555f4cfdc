//! How documents of arrays are written, and the bounds that several declarations of their keys share.

use plimsoll_workload::option::Dialect;

/// Documents of arrays: values are exact, since texts with units have become numbers when they are read.
pub(crate) const ARRAYS: Dialect = Dialect { page: "docs/reference/arrays.md", exact: true };

/// No bound but that of the type.
pub(crate) const ANY: f64 = f64::MAX;
/// A gibibyte: the longest request, and whatever is a part of one.
pub(crate) const GIB: f64 = 1_073_741_824.0;
/// The largest device.
pub(crate) const PIB: f64 = 1_125_899_906_842_624.0;
/// The smallest device.
pub(crate) const MIB: f64 = 1_048_576.0;
/// A sector.
pub(crate) const SECTOR: f64 = 512.0;
/// The largest page of a cache.
pub(crate) const PAGE_MAX: f64 = 65_536.0;
/// The most processors.
pub(crate) const CORES_MAX: f64 = 1024.0;

/// Most of what a request costs: one minute.
pub(crate) const REQUEST_NS_MAX: f64 = 60e9;
/// Most of what a part of a request costs: one second.
pub(crate) const PART_NS_MAX: f64 = 1e9;
/// The longest pause that is waited for: one day.
pub(crate) const PAUSE_NS_MAX: f64 = 86_400e9;
/// The same in microseconds: most of what a command costs.
pub(crate) const COMMAND_US_MAX: f64 = 1e6;
/// The highest limit of a volume, per second.
pub(crate) const LIMIT_MAX: f64 = 1e12;
/// The most credit of a volume: a pebibyte.
pub(crate) const CREDIT_MAX: f64 = PIB;
