//! The plan of a stream that replays a trace.
//!
//! The unit of requests is `align`, and for direct I/O a multiple of the target's block at least; the longest request
//! is what the longest of the trace can become when both its ends are rounded.

use std::ops::Range;
use std::sync::Arc;

use super::options::{recorded_entry, skips};
use super::place::Remap;
use super::remap::Traced;
use super::{TraceHeader, TracePlan};
use crate::access::gcd;
use crate::error::WorkloadError;
use crate::plan::{StreamPlan, TargetShape};
use crate::stream::{Arrival, StreamOptions};

/// The largest power of two that stays a divisor of addresses however a trace is mapped: places are multiples of it.
const PLACE_BYTES: u64 = 1 << 20;

impl StreamOptions {
    /// The plan of a stream that replays the trace at `path`.
    pub(crate) fn resolve_trace(
        &self,
        shape: TargetShape,
        seed: u64,
        (path, traced): (&str, Option<Traced>),
    ) -> Result<StreamPlan, WorkloadError> {
        let Some(Traced { header, part_ends }) = traced else {
            return Err(WorkloadError::impossible(format!(
                "the trace {path} has not been opened; run the workload at a target"
            )));
        };
        let skips = skips(self)?;
        self.check_times(path, &header)?;
        let unit = self.unit(shape)?;
        let moving = u64::from(header.longest_moving(&skips).0).max(1);
        let fits = header.granule.is_multiple_of(unit);
        let longest = moving.next_multiple_of(unit) + if fits { 0 } else { unit };
        let entry = recorded_entry(&header, &skips, longest as u32, unit as u32);
        let mut plan = self.resolve_entries(vec![entry], shape, seed)?;
        let parts = self.parts(&part_ends);
        let remap = Remap::new(&header, &plan.region, &parts, (unit, longest), self.trace_map)?;
        let speed = (self.arrival == Arrival::Trace).then_some(self.trace_speed);
        let trace =
            TracePlan { path: path.to_owned(), speed, skips, remap: Arc::new(remap), header: Arc::clone(&header) };
        let requests = trace.requests();
        if requests == 0 {
            return Err(WorkloadError::impossible(format!(
                "the trace {path} has nothing else than what trace_skip leaves out; name fewer operations"
            )));
        }
        let ends = part_ends.iter().fold(gcd(plan.region.start, plan.region.end), |a, b| gcd(a, *b));
        plan.granule = if fits { gcd(gcd(header.granule, PLACE_BYTES), ends) } else { unit } as u32;
        plan.budget.requests = plan.budget.requests.min(requests);
        plan.trace = Some(trace);
        Ok(plan)
    }

    fn check_times(&self, path: &str, header: &TraceHeader) -> Result<(), WorkloadError> {
        if self.arrival == Arrival::Trace && !header.timed {
            return Err(WorkloadError::impossible(format!(
                "the trace {path} has no times, so nothing can be due when it says; set arrival to closed, which is as \
                 fast as possible"
            )));
        }
        Ok(())
    }

    /// What starts and lengths are multiples of.
    fn unit(&self, shape: TargetShape) -> Result<u64, WorkloadError> {
        let align = self.align.map_or(1, |align| align.0);
        let block = if self.direct { u64::from(shape.block_bytes.max(1)) } else { 1 };
        if align.is_multiple_of(block) || block.is_multiple_of(align) {
            return Ok(align.max(block));
        }
        Err(WorkloadError::impossible(format!(
            "align {align} is no multiple of the target's logical block of {block} bytes, which direct I/O needs; change \
             align, or set direct to false"
        )))
    }

    /// The parts of a concatenation, for devices of a trace to have one each; none where a region is asked for.
    fn parts(&self, part_ends: &[u64]) -> Vec<Range<u64>> {
        let untouched = Self::default();
        if self.region_start != untouched.region_start || self.region_length != untouched.region_length {
            return Vec::new();
        }
        let starts = std::iter::once(0).chain(part_ends.iter().copied());
        starts.zip(part_ends.iter().copied()).map(|(start, end)| start..end).collect()
    }
}
