//! From options as typed to plans of plain numbers for one target.
//!
//! Regions are rounded inward: their start up to a common multiple of all alignments, their end down to a common
//! divisor, so that neighbouring regions never overlap. Limit: regions of different streams may overlap on purpose;
//! nothing is checked across streams.

use std::ops::Range;

use crate::access;
use crate::error::WorkloadError;
use crate::option::Kind;
use crate::parts::{Placed, placed};
use crate::plan::{
    AccessEntryPlan, AccessPlan, ArrivalPlan, Budget, ContentKind, ContentPlan, HoldPlan, OpenPlan, RunPlan,
    Sequential, StreamPlan, TargetShape, Verify, ZonePlan,
};
use crate::request::Op;
use crate::rng::mix;
use crate::stream::{Arrival, ContentWord, Direction, Pointer, StreamOptions, ThinkDistribution, VerifyWord};
use crate::trace::Recorded;
use crate::units::{bytes_to_text, bytes_to_words};
use crate::workload::Workload;

impl Workload {
    /// Turns every stream into a plan for a target. Equal options, shape and `seed` (the job's) give equal plans.
    ///
    /// # Errors
    /// If options cannot hold together, or not on this target; the sentence begins with the workload's name.
    pub fn resolve(&self, shape: TargetShape, seed: u64) -> Result<Vec<StreamPlan>, WorkloadError> {
        self.resolve_recorded(shape, seed, &Recorded::default())
    }

    /// [`Workload::resolve`] with the traces that its streams replay.
    ///
    /// # Errors
    /// As [`Workload::resolve`], and if a stream's trace is not among them or does not fit the target.
    pub fn resolve_recorded(
        &self,
        shape: TargetShape,
        seed: u64,
        recorded: &Recorded,
    ) -> Result<Vec<StreamPlan>, WorkloadError> {
        let plans = self.check_all().and_then(|()| {
            let plan = |(index, stream): (usize, &StreamOptions)| {
                let seed = stream_seed(seed, stream.seed, index as u64);
                let plan = match &stream.trace {
                    None => stream.resolve_placed(shape, seed, &recorded.part_ends),
                    Some(path) => stream.resolve_trace(shape, seed, (path, recorded.of(index))),
                };
                plan.map_err(|error| error.within(stream.place()))
            };
            self.streams.iter().enumerate().map(plan).collect()
        });
        plans.map_err(|error: WorkloadError| error.within(format!("workload \"{}\"", self.name)))
    }

    /// Whether direct I/O can carry every size and alignment to a target with this logical block; what else a target may lack is
    /// not looked at, and a trace brings sizes of its own.
    ///
    /// # Errors
    /// The first that it cannot carry.
    pub fn check_blocks(&self, block_bytes: u32) -> Result<(), WorkloadError> {
        for stream in self.streams.iter().filter(|stream| stream.direct && stream.trace.is_none()) {
            access::entries(stream)
                .and_then(|entries| fits_blocks(&entries, block_bytes))
                .map_err(|error| error.within(stream.place()).within(format!("workload \"{}\"", self.name)))?;
        }
        Ok(())
    }
}

/// One seed out of three, so that changing any of them changes the stream.
pub(crate) const fn stream_seed(job: u64, stream: u64, index: u64) -> u64 {
    // Adding an odd constant keeps mix(0) = 0 from swallowing a part.
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    mix(mix(mix(job.wrapping_add(ODD)) ^ stream).wrapping_add(ODD) ^ index)
}

impl StreamOptions {
    /// The plan on the parts that the stream asks for.
    pub(crate) fn resolve_placed(
        &self,
        shape: TargetShape,
        seed: u64,
        part_ends: &[u64],
    ) -> Result<StreamPlan, WorkloadError> {
        let Some(list) = &self.parts else { return self.resolve(shape, seed) };
        let (placed, size_bytes) = placed(list, self.parts_unit, part_ends)?;
        let mut plan = self.resolve(TargetShape { size_bytes, ..shape }, seed)?;
        plan.granule = access::gcd(plan.granule.into(), placed.base) as u32;
        plan.placed = placed;
        Ok(plan)
    }

    fn resolve(&self, shape: TargetShape, seed: u64) -> Result<StreamPlan, WorkloadError> {
        self.resolve_entries(access::entries(self)?, shape, seed)
    }

    /// The plan of a stream with these access lines.
    pub(crate) fn resolve_entries(
        &self,
        entries: Vec<AccessEntryPlan>,
        shape: TargetShape,
        seed: u64,
    ) -> Result<StreamPlan, WorkloadError> {
        let longest = entries.iter().map(access::longest).max().unwrap_or(0);
        if self.direct {
            fits_blocks(&entries, shape.block_bytes)?;
        }
        let region = self.region(&entries, longest, shape.size_bytes)?;
        let zones = self.zones(&region, longest)?;
        let begins = self.begins(&region)?;
        let granule = access::gcd(access::granule(&entries), region.start);
        let mut ops = [false; 4];
        for op in Op::ALL {
            ops[op as usize] = entries.iter().any(|entry| entry.op_percent[op as usize] > 0.0);
        }
        ops[Op::Trim as usize] |= self.trim_first;
        ops[Op::Flush as usize] |= self.flush_every > 0 && ops[Op::Write as usize] || self.flush_at_end;
        if self.verify == VerifyWord::JournalCheck {
            // A check looks at what is there and issues nothing of the mix.
            ops = Op::ALL.map(|op| op == Op::Read);
        }
        Ok(StreamPlan {
            name: self.name.clone(),
            threads: self.threads,
            queue_depth: self.queue_depth,
            region,
            placed: Placed::default(),
            max_len: longest,
            granule: granule as u32,
            ops,
            access: AccessPlan { zones, begins, ..self.access_plan(entries) },
            trace: None,
            arrival: self.arrival_plan(),
            hold: self.hold_plan(),
            start_ns: self.start_after.0,
            end_ns: self.end_after.map_or(u64::MAX, |end| end.0),
            flush_at_end: self.flush_at_end,
            budget: Budget {
                bytes: self.amount.map_or(u64::MAX, |amount| amount.bytes(shape.size_bytes).max(1)),
                requests: self.requests.unwrap_or(u64::MAX),
            },
            direct: self.direct,
            read_ahead: self.read_ahead,
            dsync: self.dsync,
            flush_every: self.flush_every,
            merge_depth: self.merge_depth,
            content: self.content_plan(),
            verify: match self.verify {
                VerifyWord::Off => Verify::Off,
                VerifyWord::Reads => Verify::Reads,
                VerifyWord::All => Verify::All,
                VerifyWord::Found => Verify::Found,
                VerifyWord::Journal => Verify::Journal,
                VerifyWord::JournalCheck => Verify::JournalCheck,
            },
            seed,
        })
    }

    /// The region in bytes, rounded inward.
    fn region(&self, entries: &[AccessEntryPlan], longest: u32, size_bytes: u64) -> Result<Range<u64>, WorkloadError> {
        let aligns = || entries.iter().map(|entry| u64::from(entry.align));
        let asked_start = self.region_start.bytes(size_bytes);
        let asked_end = match self.region_length {
            None => size_bytes.max(asked_start),
            Some(length) => asked_start.saturating_add(length.bytes(size_bytes)),
        };
        let text = bytes_to_words;
        if asked_start > size_bytes || asked_end > size_bytes {
            return Err(WorkloadError::impossible(format!(
                "the region from {} to {} reaches beyond the target's end at {}; lower region_start or region_length",
                text(asked_start),
                text(asked_end),
                text(size_bytes)
            )));
        }
        let common =
            aligns().try_fold(1u64, |multiple, align| multiple.checked_mul(align / access::gcd(multiple, align)));
        let start = match common {
            _ if asked_start == 0 => Some(0),
            Some(common) => asked_start.checked_next_multiple_of(common),
            None => None,
        };
        let unit = aligns().fold(0, access::gcd).max(1);
        let end = asked_end - asked_end % unit;
        let needed = u64::from(longest).max(aligns().max().unwrap_or(0));
        match start {
            Some(start) if start.saturating_add(needed) <= end => Ok(start..end),
            _ => Err(WorkloadError::impossible(format!(
                "the region from {} to {} has no room for one request of {} at its alignment; enlarge the region or \
                 the target, or choose a smaller block_size",
                text(asked_start),
                text(asked_end),
                text(needed)
            ))),
        }
    }

    fn access_plan(&self, entries: Vec<AccessEntryPlan>) -> AccessPlan {
        AccessPlan {
            entries,
            distribution: self.distribution.0.clone(),
            sequential: match self.sequential {
                Pointer::Shared => Sequential::Shared,
                Pointer::PerThread => Sequential::PerThread,
                Pointer::PerOperation => Sequential::PerOperation,
                Pointer::SameStart => Sequential::SameStart,
            },
            begins: 0,
            backward: self.direction == Direction::Backward,
            stride: self.stride.map_or(0, |stride| stride.0),
            zones: None,
            run: RunPlan { length: self.run_length, repeats: self.run_repeats },
            trims_first: self.trim_first,
        }
    }

    /// How far into the region sequential requests begin.
    fn begins(&self, region: &Range<u64>) -> Result<u64, WorkloadError> {
        let length = region.end - region.start;
        let begins = self.sequential_start.bytes(length);
        if begins >= length && begins > 0 {
            return Err(WorkloadError::impossible(format!(
                "sequential_start {} lies beyond the region of {}; choose less than 100%",
                self.sequential_start.show(),
                bytes_to_words(length)
            )));
        }
        Ok(begins)
    }

    /// The zones of a region, of which the first has to lie in it.
    fn zones(&self, region: &Range<u64>, longest: u32) -> Result<Option<ZonePlan>, WorkloadError> {
        let Some(length) = self.zone_length.map(|length| length.0) else { return Ok(None) };
        let amount = self.zone_amount.map_or(length, |amount| amount.0);
        if length < u64::from(longest) || length > region.end - region.start {
            return Err(WorkloadError::impossible(format!(
                "zone_length {} has to be at least one request of {} and at most the region of {}; change one of them",
                bytes_to_text(length),
                bytes_to_text(longest.into()),
                bytes_to_words(region.end - region.start)
            )));
        }
        Ok(Some(ZonePlan { length, amount, skip: self.zone_skip.0 }))
    }

    fn hold_plan(&self) -> HoldPlan {
        HoldPlan {
            refill_depth: self.refill_depth,
            pause_ns: self.pause.0,
            pause_requests: self.pause_requests.unwrap_or(u64::MAX),
            pause_interval_ns: self.pause_interval.map_or(u64::MAX, |interval| interval.0),
            share: self.share.map(|weight| (self.share_group, weight)),
            serializes: self.serialize_overlap,
            flush_holds: self.flush_holds,
        }
    }

    pub(crate) fn arrival_plan(&self) -> ArrivalPlan {
        let rate_per_s = self.rate.map_or(0.0, |rate| rate.0);
        let steps = || self.schedule.iter().flatten().map(|step| (step.at.0, step.rate.0)).collect();
        match self.arrival {
            Arrival::Closed => ArrivalPlan::Closed {
                think_ns: self.think_time.0,
                exponential: self.think_distribution == ThinkDistribution::Exponential,
            },
            Arrival::Constant => ArrivalPlan::Open(OpenPlan::Constant { rate_per_s }),
            Arrival::Poisson => ArrivalPlan::Open(OpenPlan::Poisson { rate_per_s }),
            Arrival::Burst => ArrivalPlan::Open(OpenPlan::Burst { rate_per_s, size: self.burst_size.unwrap_or(1) }),
            Arrival::Schedule => ArrivalPlan::Open(OpenPlan::Schedule(steps())),
            Arrival::Trace => ArrivalPlan::Open(OpenPlan::Recorded),
        }
    }

    pub(crate) fn content_plan(&self) -> ContentPlan {
        let kind = match self.content_word() {
            ContentWord::Incompressible => ContentKind::Random,
            ContentWord::Zeros => ContentKind::Zeros,
            ContentWord::Stamps => ContentKind::Stamps,
            ContentWord::Pattern => {
                ContentKind::Pattern(self.pattern.as_ref().map_or_else(Vec::new, |pattern| pattern.0.clone()))
            }
        };
        ContentPlan { kind, compress_ratio: self.compress_ratio, duplicate_ratio: self.duplicate_ratio }
    }
}

/// Refuses sizes and alignments that direct I/O cannot carry.
fn fits_blocks(entries: &[AccessEntryPlan], block_bytes: u32) -> Result<(), WorkloadError> {
    let granules = entries.iter().map(|entry| (entry, access::granule(std::slice::from_ref(entry))));
    for (entry, granule) in granules {
        if !granule.is_multiple_of(block_bytes.max(1).into()) {
            let size = crate::kind::Bytes(access::longest(entry).into()).show();
            return Err(WorkloadError::impossible(format!(
                "direct I/O needs multiples of the target's logical block of {}, and requests of up to {size} \
                 aligned to {} are multiples of {granule} bytes only; choose other sizes and alignments, or set \
                 direct to false",
                bytes_to_text(block_bytes.into()),
                bytes_to_text(entry.align.into()),
            )));
        }
    }
    Ok(())
}
