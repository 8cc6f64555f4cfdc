//! From typed mix, sizes and alignment to the lines of an access specification; needs no target yet.
//!
//! A stream without an access list is an access list of one line. Percentages that are not given become the rest,
//! alignments that are not given follow from the sizes, and ranges get their step.

use crate::block_sizes::BlockSizes;
use crate::error::WorkloadError;
use crate::plan::{AccessEntryPlan, SizePlan};
use crate::request::Op;
use crate::stream::{AccessEntry, StreamOptions};
use crate::units::{bytes_to_text, number_to_text};

const BLOCK_BYTES: u32 = 4096;

/// Greatest common divisor; that of zero and n is n.
pub(crate) const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The lines of a stream.
pub(crate) fn entries(stream: &StreamOptions) -> Result<Vec<AccessEntryPlan>, WorkloadError> {
    match &stream.access {
        Some(list) => Ok(list.iter().map(listed).collect()),
        None => plain(stream).map(|entry| vec![entry]),
    }
}

/// A line as Iometer has it: one size, reads and writes.
fn listed(entry: &AccessEntry) -> AccessEntryPlan {
    let size = entry.size.0 as u32;
    let sizes = [size, size, size, 0].map(SizePlan::Fixed);
    AccessEntryPlan {
        weight: entry.weight,
        op_percent: [entry.read_percent.0, 100.0 - entry.read_percent.0, 0.0, 0.0],
        sizes,
        random_percent: entry.random_percent.0,
        align: entry.align.map_or(size, |align| align.0 as u32),
        burst: entry.burst,
        delay_ns: entry.delay.0,
    }
}

/// The one line of a stream without an access list.
fn plain(stream: &StreamOptions) -> Result<AccessEntryPlan, WorkloadError> {
    let op_percent = mix(stream)?;
    let typed = typed_sizes(stream);
    let occurring = || Op::ALL[..3].iter().map(|op| *op as usize).filter(|op| op_percent[*op] > 0.0);
    let common = occurring().flat_map(|op| typed[op].named()).fold(0, |divisor, size| gcd(divisor, size.into()));
    let align = match (stream.align, common) {
        (Some(align), _) => align.0 as u32,
        (None, 0) => typed[0].largest(),
        (None, common) => common as u32,
    };
    let mut sizes = [const { SizePlan::Fixed(0) }; 4];
    for op in occurring() {
        sizes[op] = size_plan(&typed[op], align)?;
    }
    Ok(AccessEntryPlan {
        weight: 1.0,
        op_percent,
        sizes,
        random_percent: stream.random_percent.map_or(100.0, |percent| percent.0),
        align,
        burst: 1,
        delay_ns: 0,
    })
}

/// Typed sizes of read, write and trim.
fn typed_sizes(stream: &StreamOptions) -> [BlockSizes; 3] {
    let common = stream.block_size.clone().unwrap_or(BlockSizes::Fixed(BLOCK_BYTES));
    let own = [&stream.read_block_size, &stream.write_block_size, &stream.trim_block_size];
    own.map(|sizes| sizes.clone().unwrap_or_else(|| common.clone()))
}

fn size_plan(sizes: &BlockSizes, align: u32) -> Result<SizePlan, WorkloadError> {
    match sizes {
        BlockSizes::Fixed(bytes) => Ok(SizePlan::Fixed(*bytes)),
        BlockSizes::Table(shares) => Ok(SizePlan::Weighted(shares.clone())),
        BlockSizes::Range { min, max } if (max - min) % align == 0 => {
            Ok(SizePlan::Range { min: *min, max: *max, step: align })
        }
        BlockSizes::Range { min, max } => {
            let [min, max, align] = [*min, *max, align].map(|bytes| bytes_to_text(bytes.into()));
            Err(WorkloadError::impossible(format!(
                "a range of sizes goes in steps of align, and {min} to {max} is not a whole number of steps of \
                 {align}; choose an align that divides their difference"
            )))
        }
    }
}

/// Percent of each operation: what is given, and the rest where nothing is.
fn mix(stream: &StreamOptions) -> Result<[f64; 4], WorkloadError> {
    let (trim, flush) = (stream.trim_percent.0, stream.flush_percent.0);
    let given = stream.read_percent.map(|percent| percent.0);
    let written = stream.write_percent.map(|percent| percent.0);
    // Percentages such as 33.3 have no exact sum in binary: the rest is rounded to a billionth.
    let rest = |others: f64| ((100.0 - trim - flush - others) * 1e9).round() / 1e9;
    let (read, write) = match (given, written) {
        (None, None) => (rest(0.0), 0.0),
        (Some(read), None) => (read, rest(read)),
        (None, Some(write)) => (rest(write), write),
        (Some(read), Some(write)) => (read, write),
    };
    let sum = read + write + trim + flush;
    if read < 0.0 || write < 0.0 || (sum - 100.0).abs() > 1e-6 {
        let sum = given.unwrap_or(0.0) + written.unwrap_or(0.0) + trim + flush;
        return Err(WorkloadError::impossible(format!(
            "read_percent, write_percent, trim_percent and flush_percent sum to {}; they must sum to 100, where \
             read_percent or write_percent left out is the rest",
            number_to_text((sum * 1e6).round() / 1e6)
        )));
    }
    Ok([read, write, trim, flush])
}

/// The sizes in bytes that bound and divide all others: a fixed size, a range's start and step, or a table's entries.
pub(crate) fn generating_sizes(size: &SizePlan) -> Vec<u32> {
    match size {
        SizePlan::Fixed(bytes) => vec![*bytes],
        SizePlan::Range { min, step, .. } => vec![*min, *step],
        SizePlan::Weighted(shares) => shares.iter().map(|(bytes, _)| *bytes).collect(),
    }
}

/// The longest request of one line, in bytes.
pub(crate) fn longest(entry: &AccessEntryPlan) -> u32 {
    let largest = |size: &SizePlan| match size {
        SizePlan::Range { max, .. } => *max,
        other => generating_sizes(other).into_iter().max().unwrap_or(0),
    };
    let occurring = entry.sizes.iter().zip(entry.op_percent).filter(|(_, percent)| *percent > 0.0);
    occurring.map(|(size, _)| largest(size)).max().unwrap_or(0)
}

/// The greatest common divisor of all sizes and alignments of the lines, in bytes.
pub(crate) fn granule(entries: &[AccessEntryPlan]) -> u64 {
    let sizes = |entry: &AccessEntryPlan| {
        let occurring = entry.sizes.iter().zip(entry.op_percent).filter(|(_, percent)| *percent > 0.0);
        occurring.flat_map(|(size, _)| generating_sizes(size)).fold(u64::from(entry.align), |a, b| gcd(a, b.into()))
    };
    entries.iter().map(sizes).fold(0, gcd)
}
