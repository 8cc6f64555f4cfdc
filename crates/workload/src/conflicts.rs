//! Options that are fine by themselves and cannot hold together: one function per subject, all named in one list.
//!
//! Nothing here knows a target; what depends on its size or blocks is checked when a workload is resolved.

use std::collections::BTreeSet;

mod closed_threads;
mod course;

use crate::access;
use crate::error::WorkloadError;
use crate::option::{Kind, Record};
use crate::plan::{AccessEntryPlan, Distribution, SizePlan};
use crate::stream::{Arrival, ContentWord, Direction, StreamOptions, ThinkDistribution, VerifyWord};
use crate::trace::a_trace_stands_alone;
use crate::units::{bytes_to_text, ns_to_text};
use crate::workload::Workload;

/// The most requests that the threads of one stream may have outstanding together.
const MOST_OUTSTANDING: u64 = 1 << 20;

type Check = fn(&StreamOptions) -> Result<(), WorkloadError>;

/// Every kind of contradiction within a stream.
const CHECKS: [Check; 24] = [
    a_trace_stands_alone,
    access_list_stands_alone,
    mix_and_sizes_add_up,
    arrival_has_its_rate,
    burst_has_its_size,
    schedule_rises,
    thinking_is_for_closed_arrival,
    sequential_shape_is_asked_for,
    stride_is_aligned,
    permutation_covers_blocks,
    content_has_what_it_needs,
    verification_can_see,
    a_journal_has_promises,
    parts_can_be_spread,
    concurrency_is_bounded,
    an_end_is_there_to_flush_at,
    course::zones_are_aligned,
    course::runs_are_random_and_alike,
    course::trims_come_before_writes,
    course::pointers_of_operations_need_one_line,
    closed_threads::a_closed_thread_is_held,
    closed_threads::a_flush_is_there_to_hold,
    closed_threads::a_pause_has_its_turn,
    closed_threads::the_end_follows_the_start,
];

pub(crate) fn refuse(condition: bool, sentence: impl FnOnce() -> String) -> Result<(), WorkloadError> {
    if condition { Err(WorkloadError::impossible(sentence())) } else { Ok(()) }
}

impl StreamOptions {
    /// What the entries of an access list say in place of the stream.
    pub(crate) const ACCESS_DECIDES: [&'static str; 10] = [
        "read_percent",
        "write_percent",
        "trim_percent",
        "flush_percent",
        "block_size",
        "read_block_size",
        "write_block_size",
        "trim_block_size",
        "align",
        "random_percent",
    ];

    /// Refuses options that cannot hold together on any target.
    pub(crate) fn check(&self) -> Result<(), WorkloadError> {
        CHECKS.iter().try_for_each(|check| check(self))
    }

    /// What is written, with the default decided.
    pub(crate) fn content_word(&self) -> ContentWord {
        match (self.content, self.verify, &self.pattern) {
            (Some(content), _, _) => content,
            (None, verify, _) if verify != VerifyWord::Off => ContentWord::Stamps,
            (None, _, Some(_)) => ContentWord::Pattern,
            (None, _, None) => ContentWord::Incompressible,
        }
    }
}

impl Workload {
    /// Refuses options that cannot hold together on any target.
    ///
    /// # Errors
    /// On the first contradiction; the sentence begins with `source`.
    pub fn check(&self, source: &str) -> Result<(), WorkloadError> {
        self.check_all().map_err(|error| error.within(source))
    }

    /// [`Workload::check`] without the source.
    pub(crate) fn check_all(&self) -> Result<(), WorkloadError> {
        well_named("a workload", &self.name)?;
        let count = self.streams.len();
        refuse(count == 0, || "no stream; write at least one [[stream]]".to_owned())?;
        let mut names = BTreeSet::new();
        for stream in &self.streams {
            well_named("a stream", &stream.name)?;
            let name = &stream.name;
            refuse(!names.insert(name), || format!("two streams are called \"{name}\"; give each a name of its own"))?;
            stream.check().map_err(|error| error.within(stream.place()))?;
        }
        let checks = |stream: &&StreamOptions| stream.verify == VerifyWord::JournalCheck;
        let others = self.streams.iter().filter(|stream| !checks(stream)).count();
        refuse(others > 0 && others < count, || {
            "verify = \"journal-check\" issues nothing, so it is for all streams of a workload or for none".to_owned()
        })?;
        Ok(())
    }
}

impl StreamOptions {
    /// What errors call the stream.
    pub(crate) fn place(&self) -> String {
        format!("stream \"{}\"", self.name)
    }
}

pub(crate) fn well_named(what: &str, name: &str) -> Result<(), WorkloadError> {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    refuse(name.is_empty() || name.len() > 64 || !name.chars().all(letters), || {
        format!("'{name}' cannot name {what}; write 1 to 64 letters, digits, - and _")
    })
}

fn access_list_stands_alone(stream: &StreamOptions) -> Result<(), WorkloadError> {
    if stream.access.is_none() {
        return Ok(());
    }
    let untouched = StreamOptions::default().fields();
    let differs = |key: &str| stream.fields().iter().zip(&untouched).any(|(is, was)| is.0 == key && is.1 != was.1);
    match StreamOptions::ACCESS_DECIDES.into_iter().find(|key| differs(key)) {
        Some(key) => Err(WorkloadError::impossible(format!(
            "access and {key} exclude each other, because every access entry decides it; drop one of the two"
        ))),
        None => Ok(()),
    }
}

fn an_end_is_there_to_flush_at(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let ends = stream.amount.is_some() || stream.requests.is_some() || stream.trace.is_some();
    refuse(stream.flush_at_end && !ends, || {
        "flush_at_end needs amount or requests, because only they make a thread end by itself; give one of them"
            .to_owned()
    })
}

fn mix_and_sizes_add_up(stream: &StreamOptions) -> Result<(), WorkloadError> {
    access::entries(stream).map(drop)
}

fn arrival_has_its_rate(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let word = stream.arrival.name();
    match (stream.arrival, stream.rate) {
        (Arrival::Closed | Arrival::Trace, Some(rate)) => refuse(true, || {
            format!(
                "rate {} has no effect with {word} arrival; set arrival to constant, poisson or burst, or drop rate",
                rate.show()
            )
        }),
        (Arrival::Schedule, Some(_)) => refuse(true, || {
            "rate and arrival = \"schedule\" exclude each other, because each step of the schedule has a rate; drop \
             rate"
                .to_owned()
        }),
        (Arrival::Constant | Arrival::Poisson | Arrival::Burst, None) => {
            refuse(true, || format!("arrival = \"{word}\" needs a rate; write for example rate = \"20k\""))
        }
        _ => Ok(()),
    }
}

fn burst_has_its_size(stream: &StreamOptions) -> Result<(), WorkloadError> {
    match (stream.arrival, stream.burst_size) {
        (Arrival::Burst, None) => {
            refuse(true, || "arrival = \"burst\" needs a burst_size; write for example burst_size = 16".to_owned())
        }
        (Arrival::Burst, Some(_)) | (_, None) => Ok(()),
        (other, Some(_)) => refuse(true, || {
            format!("burst_size has no effect with {} arrival; set arrival to burst, or drop burst_size", other.name())
        }),
    }
}

fn schedule_rises(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let Some(steps) = &stream.schedule else {
        return refuse(stream.arrival == Arrival::Schedule, || {
            "arrival = \"schedule\" needs a schedule; write for example schedule = [{ at = 0, rate = 500 }]".to_owned()
        });
    };
    refuse(stream.arrival != Arrival::Schedule, || {
        format!(
            "schedule has no effect with {} arrival; set arrival to schedule, or drop schedule",
            stream.arrival.name()
        )
    })?;
    refuse(steps.first().is_none_or(|step| step.at.0 != 0), || {
        "the first step of schedule must start at 0; write rate = 0 there for silence".to_owned()
    })?;
    if let Some(pair) = steps.windows(2).find(|pair| pair[0].at >= pair[1].at) {
        return refuse(true, || {
            format!(
                "the steps of schedule must start one after the other, and {} follows {}",
                ns_to_text(pair[1].at.0),
                ns_to_text(pair[0].at.0)
            )
        });
    }
    refuse(steps.iter().all(|step| step.rate.0 == 0.0), || {
        "every rate of schedule is 0, so nothing would happen; give at least one step a rate".to_owned()
    })
}

fn thinking_is_for_closed_arrival(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let thinks = stream.think_time.0 > 0;
    let open = stream.arrival != Arrival::Closed;
    let pauses = stream.access.iter().flatten().any(|entry| entry.delay.0 > 0);
    refuse(thinks && open, || {
        format!("think_time has no effect with {} arrival; drop it, or set arrival to closed", stream.arrival.name())
    })?;
    refuse(pauses && open, || {
        format!(
            "delay of an access entry has no effect with {} arrival; drop it, or set arrival to closed",
            stream.arrival.name()
        )
    })?;
    refuse(stream.think_distribution != ThinkDistribution::Constant && !thinks, || {
        "think_distribution needs a think_time; write for example think_time = \"5ms\"".to_owned()
    })
}

/// Catches a forgotten `random_percent = 0`; one that is stated may be swept through 100.
fn sequential_shape_is_asked_for(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let key = match (stream.stride, stream.direction) {
        (Some(_), _) => "stride",
        (None, Direction::Backward) => "direction",
        (None, Direction::Forward) => return Ok(()),
    };
    refuse(stream.access.is_none() && stream.random_percent.is_none(), || {
        format!(
            "{key} shapes sequential requests, and every request is random unless random_percent says otherwise; write \
             random_percent = 0"
        )
    })
}

fn stride_is_aligned(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let Some(stride) = stream.stride else { return Ok(()) };
    for entry in access::entries(stream)? {
        refuse(!stride.0.is_multiple_of(entry.align.into()), || {
            format!(
                "stride {} is not a multiple of the alignment {}; change one of the two",
                stride.show(),
                bytes_to_text(entry.align.into())
            )
        })?;
    }
    Ok(())
}

fn permutation_covers_blocks(stream: &StreamOptions) -> Result<(), WorkloadError> {
    if stream.distribution.0 != Distribution::Permutation {
        return Ok(());
    }
    refuse(stream.access.is_some(), || {
        "distribution = \"permutation\" and access exclude each other; give the stream a block_size instead of access"
            .to_owned()
    })?;
    for entry in access::entries(stream)? {
        refuse(entry.random_percent < 100.0, || {
            "distribution = \"permutation\" visits every block once and leaves no sequential requests; set \
             random_percent to 100"
                .to_owned()
        })?;
        refuse(!is_one_aligned_size(&entry), || {
            "distribution = \"permutation\" visits blocks of one size; give all operations the same fixed \
             block_size, and the same align or none"
                .to_owned()
        })?;
    }
    Ok(())
}

fn is_one_aligned_size(entry: &AccessEntryPlan) -> bool {
    let mut moving = entry.sizes[..3].iter().zip(entry.op_percent).filter(|(_, percent)| *percent > 0.0);
    moving.all(|(size, _)| *size == SizePlan::Fixed(entry.align))
}

fn content_has_what_it_needs(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let content = stream.content_word();
    let word = content.name();
    refuse(content == ContentWord::Pattern && stream.pattern.is_none(), || {
        "content = \"pattern\" needs a pattern; write for example pattern = \"0xdeadbeef\"".to_owned()
    })?;
    refuse(content != ContentWord::Pattern && stream.pattern.is_some(), || {
        format!("pattern has no effect with content {word}; set content to pattern, or drop pattern")
    })?;
    for (key, ratio) in [("compress_ratio", stream.compress_ratio), ("duplicate_ratio", stream.duplicate_ratio)] {
        refuse(ratio > 1.0 && content != ContentWord::Incompressible, || {
            format!("{key} cannot shape content {word}; drop it, or set content to incompressible")
        })?;
    }
    Ok(())
}

fn verification_can_see(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let content = stream.content_word();
    let verify = stream.verify.name();
    refuse(stream.verify != VerifyWord::Off && content != ContentWord::Stamps, || {
        format!(
            "verify = \"{verify}\" needs content stamps, not {}; drop content, which then is stamps, or set verify \
             to off",
            content.name()
        )
    })?;
    if content != ContentWord::Stamps {
        return Ok(());
    }
    refuse(stream.verify != VerifyWord::Off && stream.trim_percent.0 > 0.0, || {
        format!("verify = \"{verify}\" cannot tell what a trimmed block holds; drop trim_percent, or set verify to off")
    })?;
    let granule = access::granule(&access::entries(stream)?);
    refuse(!granule.is_multiple_of(512), || {
        format!(
            "stamps stand in sectors of 512 bytes, and sizes and alignments here are multiples of {granule} bytes; \
             make them multiples of 512, or drop verify and stamps"
        )
    })
}

/// Without a flush or `dsync` a target promises nothing, and a journal would have nothing to check.
fn a_journal_has_promises(stream: &StreamOptions) -> Result<(), WorkloadError> {
    if stream.verify != VerifyWord::Journal {
        return Ok(());
    }
    let flushes = stream.flush_every > 0 || stream.flush_percent.0 > 0.0 || stream.flush_at_end;
    refuse(!stream.dsync && !flushes && stream.trace.is_none(), || {
        "verify = \"journal\" holds the target to what it acknowledges as durable, and nothing here asks it for that; set \
         dsync = true, or flush_every to a number of writes"
            .to_owned()
    })
}

fn parts_can_be_spread(stream: &StreamOptions) -> Result<(), WorkloadError> {
    refuse(stream.parts.is_some() && stream.trace.is_some(), || {
        "parts and trace exclude each other, because a trace says itself which device a request is for; drop parts"
            .to_owned()
    })?;
    refuse(stream.parts.is_none() && stream.parts_unit.is_some(), || {
        "parts_unit has no effect without parts; write for example parts = \"0,1\", or drop parts_unit".to_owned()
    })?;
    refuse(stream.parts_unit.is_some_and(|unit| !unit.0.is_multiple_of(512)), || {
        "parts_unit is not a multiple of 512 bytes; round it".to_owned()
    })
}

fn concurrency_is_bounded(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let outstanding = u64::from(stream.threads) * u64::from(stream.queue_depth);
    refuse(outstanding > MOST_OUTSTANDING, || {
        format!(
            "threads {} × queue_depth {} is {outstanding} requests outstanding; keep the product at \
             {MOST_OUTSTANDING} or below",
            stream.threads, stream.queue_depth
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_access_list_decides_are_options_of_a_stream() {
        let declared = StreamOptions::declarations();
        for key in StreamOptions::ACCESS_DECIDES {
            assert!(declared.iter().any(|declaration| declaration.key == key), "{key}");
        }
    }
}
