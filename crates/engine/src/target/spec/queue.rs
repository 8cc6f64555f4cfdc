//! The options of `queue:`, a modelled server in virtual time.
//!
//! | key | value | default |
//! |---|---|---|
//! | `service` | `const:1ms`, `exp:1ms`, `uniform:1ms-2ms`: service time of a request | `exp:1ms` |
//! | `servers` | requests served at once | 1 |
//! | `size` | size it pretends to have | 1 GiB |
//! | `seed` | seed of service times and faults | the job's |
//! | `stall` | `at+length,…`: instants at which service stops, and for how long | none |
//! | `error_percent` | requests that fail with EIO | 0 |
//! | `lost_percent`, `torn_percent`, `misdirected_percent`, `stale_percent` | I/Os that are answered but wrong | 0 |

use std::fmt;
use std::ops::RangeInclusive;

use plimsoll_workload::nearest::did_you_mean;
use plimsoll_workload::units::{bytes_to_text, ns_from_text, ns_to_text, percent_from_text};

use super::SpecProblem;
use super::options::{self, Setter};

/// A modelled server.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSpec {
    /// Size it pretends to have, in bytes.
    pub size_bytes: u64,
    /// Service time of a request.
    pub service: Service,
    /// Requests served at once; at least 1.
    pub servers: u32,
    /// Seed of service times and faults; `None` = the job's.
    pub seed: Option<u64>,
    /// When service stops; ascending, not overlapping.
    pub stalls: Vec<Stall>,
    /// What goes wrong.
    pub faults: QueueFaults,
}

/// A service-time distribution, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Always the same.
    Constant {
        /// The time.
        ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean_ns: u64,
    },
    /// Anything between two bounds alike.
    Uniform {
        /// The lower bound.
        min_ns: u64,
        /// The upper bound.
        max_ns: u64,
    },
}

/// A time during which nothing is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Its start, from the job's start.
    pub at_ns: u64,
    /// Its length.
    pub length_ns: u64,
}

/// Shares of requests that go wrong, in percent (0 to 100).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueFaults {
    /// Any request: fails with EIO.
    pub error_percent: f64,
    /// Writes: acknowledged, never done.
    pub lost_percent: f64,
    /// Writes: acknowledged, done in part.
    pub torn_percent: f64,
    /// Writes: acknowledged, done elsewhere.
    pub misdirected_percent: f64,
    /// Reads: answered with older data.
    pub stale_percent: f64,
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self {
            size_bytes: 1 << 30,
            service: Service::Exponential { mean_ns: 1_000_000 },
            servers: 1,
            seed: None,
            stalls: Vec::new(),
            faults: QueueFaults::default(),
        }
    }
}

/// Service times from 1 ns to 1 h.
const SERVICE_RANGE_NS: RangeInclusive<u64> = 1..=3_600_000_000_000;

pub(super) fn parse(text: &str) -> Result<QueueSpec, SpecProblem> {
    let QueueSpec { mut size_bytes, mut service, mut servers, mut seed, mut stalls, mut faults } = QueueSpec::default();
    let mut setters: [Setter<'_>; 10] = [
        ("service", &mut |value| assign(&mut service, parse_service(value))),
        ("servers", &mut |value| assign(&mut servers, whole(value, 1..=1 << 20).map(|servers| servers as u32))),
        ("size", &mut |value| assign(&mut size_bytes, options::bytes(value, options::SIZE_RANGE))),
        ("seed", &mut |value| assign(&mut seed, whole(value, 0..=u64::MAX).map(Some))),
        ("stall", &mut |value| assign(&mut stalls, parse_stalls(value))),
        ("error_percent", &mut |value| assign(&mut faults.error_percent, percent(value))),
        ("lost_percent", &mut |value| assign(&mut faults.lost_percent, percent(value))),
        ("torn_percent", &mut |value| assign(&mut faults.torn_percent, percent(value))),
        ("misdirected_percent", &mut |value| assign(&mut faults.misdirected_percent, percent(value))),
        ("stale_percent", &mut |value| assign(&mut faults.stale_percent, percent(value))),
    ];
    options::read(text, &mut setters)?;
    Ok(QueueSpec { size_bytes, service, servers, seed, stalls, faults })
}

fn assign<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}

fn whole(value: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    value
        .parse()
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| format!("'{value}' is not a whole number from {} to {}", range.start(), range.end()))
}

fn percent(value: &str) -> Result<f64, String> {
    let percent = percent_from_text(value).map_err(|problem| problem.to_string())?;
    if percent <= 100.0 { Ok(percent) } else { Err(format!("'{value}' is out of range; write 0 to 100")) }
}

fn duration(value: &str) -> Result<u64, String> {
    ns_from_text(value).map_err(|problem| problem.to_string())
}

fn parse_service(value: &str) -> Result<Service, String> {
    const ADVICE: &str = "write for example const:1ms, exp:1ms or uniform:1ms-2ms";
    let (shape, times) = value.split_once(':').ok_or_else(|| format!("'{value}' is not a service time; {ADVICE}"))?;
    let time = |text: &str| {
        let ns = duration(text)?;
        let fits = SERVICE_RANGE_NS.contains(&ns);
        if fits { Ok(ns) } else { Err(format!("'{text}' is out of range; a service takes 1ns to 1h")) }
    };
    match shape {
        "const" => Ok(Service::Constant { ns: time(times)? }),
        "exp" => Ok(Service::Exponential { mean_ns: time(times)? }),
        "uniform" => {
            let (min, max) = times.split_once('-').ok_or_else(|| format!("'{times}' is not a range; {ADVICE}"))?;
            let (min_ns, max_ns) = (time(min)?, time(max)?);
            if min_ns > max_ns {
                return Err(format!("'{times}' runs backwards; write uniform:{max}-{min}"));
            }
            Ok(Service::Uniform { min_ns, max_ns })
        }
        _ => Err(format!(
            "'{shape}' is not a distribution{}; {ADVICE}",
            did_you_mean(shape, ["const", "exp", "uniform"])
        )),
    }
}

fn parse_stalls(value: &str) -> Result<Vec<Stall>, String> {
    let mut stalls = Vec::new();
    for text in value.split(',').filter(|text| !text.is_empty()) {
        let (at, length) = text
            .split_once('+')
            .ok_or_else(|| format!("'{text}' is not a stall; write when and how long, for example 2s+1s"))?;
        stalls.push(Stall { at_ns: duration(at)?, length_ns: duration(length)? });
    }
    stalls.sort_by_key(|stall| stall.at_ns);
    let overlap = stalls.windows(2).find(|pair| pair[0].at_ns.saturating_add(pair[0].length_ns) > pair[1].at_ns);
    match overlap {
        Some(pair) => Err(format!("the stalls {} and {} overlap; write one longer stall", pair[0], pair[1])),
        None => Ok(stalls),
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}+{}", ns_to_text(self.at_ns), ns_to_text(self.length_ns))
    }
}

impl fmt::Display for Service {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Constant { ns } => write!(out, "const:{}", ns_to_text(ns)),
            Self::Exponential { mean_ns } => write!(out, "exp:{}", ns_to_text(mean_ns)),
            Self::Uniform { min_ns, max_ns } => write!(out, "uniform:{}-{}", ns_to_text(min_ns), ns_to_text(max_ns)),
        }
    }
}

impl fmt::Display for QueueSpec {
    /// The options, without those that are absent by default.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "service={}&servers={}&size={}", self.service, self.servers, bytes_to_text(self.size_bytes))?;
        if let Some(seed) = self.seed {
            write!(out, "&seed={seed}")?;
        }
        if !self.stalls.is_empty() {
            let stalls: Vec<_> = self.stalls.iter().map(ToString::to_string).collect();
            write!(out, "&stall={}", stalls.join(","))?;
        }
        let faults = &self.faults;
        for (key, percent) in [
            ("error_percent", faults.error_percent),
            ("lost_percent", faults.lost_percent),
            ("torn_percent", faults.torn_percent),
            ("misdirected_percent", faults.misdirected_percent),
            ("stale_percent", faults.stale_percent),
        ] {
            if percent > 0.0 {
                write!(out, "&{key}={percent}")?;
            }
        }
        Ok(())
    }
}
