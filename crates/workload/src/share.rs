//! One host's part of a target that several hosts reach.
//!
//! Model: what a host may touch is said by the region of each of its streams. *Slices* divide every region into
//! contiguous stretches, one for each host, cut at multiples of everything that requests are aligned to: no byte is in
//! two of them, and together they are what one host alone would touch. *Full* leaves regions as they are; only sequential
//! requests begin elsewhere on every host, evenly spread, so that no host follows another one's steps. *Regions* are the
//! user's, one for each host, and may overlap. What the hosts write and verify must not overlap: each knows its own writes
//! alone.
//!
//! Limits: traces say themselves where they go, and are not divided. An amount in percent of the target becomes the
//! slice's part of it, one in bytes is each host's own.
//!
//! ```
//! use plimsoll_workload::share::{Part, Share};
//! use plimsoll_workload::{TargetShape, Workload};
//! use serde_json::json;
//!
//! let file = json!({ "name": "x", "stream": [{ "block_size": "8KiB" }] });
//! let workload = Workload::from_json(&file, "x.toml").unwrap();
//! let shape = TargetShape { size_bytes: 3 << 20, block_bytes: 512 };
//! let own = Share::Slices.of(&workload, Part { number: 1, count: 3 }, shape, &[]).unwrap();
//! assert_eq!(own.resolve(shape, 1).unwrap()[0].region, 1 << 20..2 << 20);
//! ```

use std::ops::Range;

use serde_json::json;

use crate::access;
use crate::error::WorkloadError;
use crate::extent::Extent;
use crate::option::Kind;
use crate::parts::placed;
use crate::plan::{Sequential, StreamPlan, TargetShape, Verify};
use crate::request::Op;
use crate::stream::StreamOptions;
use crate::units::bytes_to_words;
use crate::workload::Workload;

/// Host `number` of `count`, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which host, from 0.
    pub number: u32,
    /// How many hosts.
    pub count: u32,
}

/// How hosts share a target.
#[derive(Clone, Debug, PartialEq)]
pub enum Share {
    /// Each has a slice of its own.
    Slices,
    /// Each has all of it.
    Full,
    /// Each has what the user says, from here to there.
    Regions(Vec<(Extent, Extent)>),
}

/// What is known of one stream on the whole target.
struct Whole {
    plan: StreamPlan,
    /// The region as it was asked for, before it was rounded, and the size that percentages count from.
    asked: Range<u64>,
    size_bytes: u64,
}

impl Share {
    /// Reads `slices`, `full` or `0..50%,50%..100%`.
    ///
    /// # Errors
    /// For anything else.
    pub fn from_text(text: &str) -> Result<Self, WorkloadError> {
        match text.trim() {
            "slices" => Ok(Self::Slices),
            "full" => Ok(Self::Full),
            regions => regions.split(',').map(region).collect::<Option<_>>().map(Self::Regions).ok_or_else(|| {
                WorkloadError::impossible(format!(
                    "'--share {text}' says no way to share a target; write slices, full, or a region for each host such as \
                     0..50%,50%..100%"
                ))
            }),
        }
    }

    /// The workload of one host, for a target of this shape whose parts end at `part_ends`.
    ///
    /// # Errors
    /// If a host's part has no room for a request, if hosts would write over what others verify, or if the workload does
    /// not fit the whole target.
    pub fn of(
        &self,
        workload: &Workload,
        part: Part,
        shape: TargetShape,
        part_ends: &[u64],
    ) -> Result<Workload, WorkloadError> {
        let shared = self.divided(workload, part, shape, part_ends);
        shared.map_err(|error| error.within(format!("workload \"{}\"", workload.name)))
    }

    fn divided(
        &self,
        workload: &Workload,
        part: Part,
        shape: TargetShape,
        part_ends: &[u64],
    ) -> Result<Workload, WorkloadError> {
        assert!(part.number < part.count, "host {} of {}", part.number, part.count);
        let wholes = workload
            .streams
            .iter()
            .map(|stream| Whole::of(stream, shape, part_ends).map_err(|error| error.within(stream.place())));
        let wholes = wholes.collect::<Result<Vec<_>, _>>()?;
        self.check_writes(&wholes, part, shape)?;
        let grain = wholes.iter().flat_map(Whole::aligns).fold(shape.block_bytes.max(1).into(), common_multiple);
        // What one host has no room for, no host does: all hear the same.
        let hosts = (0..part.count).map(|number| {
            let mut own = workload.clone();
            for (stream, whole) in own.streams.iter_mut().zip(&wholes) {
                let host = Part { number, ..part };
                self.divide(stream, whole, (host, grain), shape).map_err(|error| error.within(stream.place()))?;
                stream.resolve_placed(shape, 0, part_ends).map_err(|error| error.within(stream.place()))?;
            }
            Ok::<_, WorkloadError>(own)
        });
        Ok(hosts.collect::<Result<Vec<_>, _>>()?.swap_remove(part.number as usize))
    }

    fn divide(
        &self,
        stream: &mut StreamOptions,
        whole: &Whole,
        (part, grain): (Part, u64),
        shape: TargetShape,
    ) -> Result<(), WorkloadError> {
        match self {
            Self::Slices => slice(stream, whole, part, grain),
            Self::Full => spread_starts(stream, whole, part),
            Self::Regions(regions) => narrow(stream, whole, named(regions, part, shape.size_bytes)?),
        }
    }

    /// Refuses what would write over what others verify.
    fn check_writes(&self, wholes: &[Whole], part: Part, shape: TargetShape) -> Result<(), WorkloadError> {
        let written = wholes.iter().any(Whole::writes);
        if part.count < 2 || !written {
            return Ok(());
        }
        if *self == Self::Slices {
            return check_apart(wholes);
        }
        if !wholes.iter().any(|whole| whole.plan.verify != Verify::Off) {
            return Ok(());
        }
        let overlap = match self {
            Self::Regions(_) => {
                let parts = (0..part.count).map(|number| named_range(self, Part { number, ..part }, shape.size_bytes));
                let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
                parts.sort_by_key(|range| range.start);
                parts.windows(2).any(|pair| pair[1].start < pair[0].end)
            }
            _ => true,
        };
        if overlap {
            return Err(WorkloadError::impossible(
                "hosts that write the same bytes cannot verify them, since each knows its own writes alone; share slices, \
                 or set verify to off",
            ));
        }
        Ok(())
    }
}

impl Whole {
    fn of(stream: &StreamOptions, shape: TargetShape, part_ends: &[u64]) -> Result<Self, WorkloadError> {
        if stream.trace.is_some() {
            return Err(WorkloadError::impossible(
                "a trace says itself where its requests go, so hosts cannot share a target; give each its own",
            ));
        }
        let plan = stream.resolve_placed(shape, 0, part_ends)?;
        let size_bytes = match &stream.parts {
            None => shape.size_bytes,
            Some(list) => placed(list, stream.parts_unit, part_ends)?.1,
        };
        let start = stream.region_start.bytes(size_bytes);
        let end = stream.region_length.map_or(size_bytes, |length| start.saturating_add(length.bytes(size_bytes)));
        Ok(Self { plan, asked: start..end, size_bytes })
    }

    fn aligns(&self) -> impl Iterator<Item = u64> {
        self.plan.access.entries.iter().map(|entry| u64::from(entry.align))
    }

    fn writes(&self) -> bool {
        self.plan.issues(Op::Write) || self.plan.issues(Op::Trim)
    }
}

/// Slices of regions that overlap in part would not be disjoint.
fn check_apart(wholes: &[Whole]) -> Result<(), WorkloadError> {
    let overlaps = |one: &Whole, other: &Whole| {
        let alike = one.plan.placed == other.plan.placed && one.asked == other.asked;
        let touched = other.plan.touched();
        !alike && one.plan.touched().iter().any(|a| touched.iter().any(|b| a.start < b.end && b.start < a.end))
    };
    for (at, one) in wholes.iter().enumerate() {
        let clash = wholes[..at].iter().find(|other| (one.writes() || other.writes()) && overlaps(one, other));
        if let Some(other) = clash {
            return Err(WorkloadError::impossible(format!(
                "the regions of streams \"{}\" and \"{}\" overlap in part, so their slices would, too; give them the same \
                 region or separate ones",
                other.plan.name, one.plan.name
            )));
        }
    }
    Ok(())
}

/// Gives a stream its slice of its region.
fn slice(stream: &mut StreamOptions, whole: &Whole, part: Part, grain: u64) -> Result<(), WorkloadError> {
    let asked = &whole.asked;
    let cut = |number: u32| match number {
        0 => asked.start,
        number if number == part.count => asked.end,
        number => {
            let share = u128::from(asked.end - asked.start) * u128::from(number) / u128::from(part.count);
            let place = asked.start + share as u64;
            (place - place % grain).max(asked.start)
        }
    };
    narrow(stream, whole, cut(part.number)..cut(part.number + 1)).map_err(|_| {
        WorkloadError::impossible(format!(
            "{} slices of {} have no room for a request of {} each at its alignment; let fewer hosts share, or make the \
             target larger",
            part.count,
            bytes_to_words(asked.end - asked.start),
            bytes_to_words(whole.plan.max_len.into())
        ))
    })
}

/// Keeps a stream inside of `range`, with that part of an amount that was a share of the target.
fn narrow(stream: &mut StreamOptions, whole: &Whole, range: Range<u64>) -> Result<(), WorkloadError> {
    let asked = &whole.asked;
    let (start, end) = (range.start.max(asked.start), range.end.min(asked.end));
    let unit = whole.aligns().fold(1, common_multiple);
    let first = if start == 0 { 0 } else { start.next_multiple_of(unit) };
    if start >= end || first.saturating_add(whole.plan.max_len.into()) > end {
        return Err(WorkloadError::impossible(format!(
            "its region from {} to {} has no room for a request in the host's part from {} to {}; choose other regions",
            bytes_to_words(asked.start),
            bytes_to_words(asked.end),
            bytes_to_words(range.start),
            bytes_to_words(range.end)
        )));
    }
    if let Some(Extent::Percent(_)) = stream.amount {
        let amount = stream.amount.map_or(0, |amount| amount.bytes(whole.size_bytes));
        let until = |place: u64| {
            let length = u128::from(asked.end - asked.start);
            (u128::from(amount) * u128::from(place - asked.start) / length) as u64
        };
        stream.amount = Some(Extent::Bytes((until(end) - until(start)).max(1)));
    }
    stream.region_start = Extent::Bytes(start);
    stream.region_length = Some(Extent::Bytes(end - start));
    Ok(())
}

/// Lets the sequential requests of every host begin elsewhere.
fn spread_starts(stream: &mut StreamOptions, whole: &Whole, part: Part) -> Result<(), WorkloadError> {
    let length = whole.plan.region.end - whole.plan.region.start;
    let pointers = match whole.plan.access.sequential {
        Sequential::SameStart => return Ok(()),
        Sequential::Shared => 1,
        Sequential::PerThread | Sequential::PerOperation => whole.plan.threads.max(1),
    };
    let share = u128::from(length) * u128::from(part.number) / (u128::from(part.count) * u128::from(pointers));
    let begins = (whole.plan.access.begins + share as u64) % length;
    stream.sequential_start = Extent::Bytes(begins);
    Ok(())
}

/// The region of one host, in bytes.
fn named(regions: &[(Extent, Extent)], part: Part, size_bytes: u64) -> Result<Range<u64>, WorkloadError> {
    let Some((start, end)) = regions.get(part.number as usize) else {
        return Err(WorkloadError::impossible(format!(
            "{} regions are not enough for {} hosts; name one for each",
            regions.len(),
            part.count
        )));
    };
    let range = start.bytes(size_bytes)..end.bytes(size_bytes);
    if range.start >= range.end || range.end > size_bytes {
        return Err(WorkloadError::impossible(format!(
            "the region {}..{} is none of a target of {}; write where it starts and where it ends",
            start.show(),
            end.show(),
            bytes_to_words(size_bytes)
        )));
    }
    Ok(range)
}

fn named_range(share: &Share, part: Part, size_bytes: u64) -> Result<Range<u64>, WorkloadError> {
    match share {
        Share::Regions(regions) => named(regions, part, size_bytes),
        _ => Ok(0..size_bytes),
    }
}

fn region(text: &str) -> Option<(Extent, Extent)> {
    let (start, end) = text.split_once("..")?;
    let read = |text: &str| Extent::read(&json!(text.trim())).ok();
    Some((read(start)?, read(end)?))
}

fn common_multiple(one: u64, other: u64) -> u64 {
    let other = other.max(1);
    one.saturating_mul(other / access::gcd(one, other))
}

/// The bytes of a target that a host's streams may touch, in order, what touches joined.
pub fn touched(plans: &[StreamPlan]) -> Vec<Range<u64>> {
    let mut ranges: Vec<_> = plans.iter().flat_map(StreamPlan::touched).collect();
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
