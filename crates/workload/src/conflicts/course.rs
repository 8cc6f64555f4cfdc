//! Zones, runs and trims before writes: what they cannot be combined with.

use super::{is_one_aligned_size, refuse};
use crate::access;
use crate::error::WorkloadError;
use crate::option::Kind;
use crate::stream::{ContentWord, Direction, Pointer, StreamOptions};
use crate::units::bytes_to_text;

pub(super) fn zones_are_aligned(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let Some(length) = stream.zone_length else {
        return refuse(stream.zone_amount.is_some() || stream.zone_skip.0 > 0, || {
            "zone_amount and zone_skip need zones; write for example zone_length = \"256MiB\"".to_owned()
        });
    };
    refuse(stream.direction == Direction::Backward, || {
        "zone_length and direction = \"backward\" exclude each other, because zones follow each other forward; drop \
         one of the two"
            .to_owned()
    })?;
    for entry in access::entries(stream)? {
        for (key, bytes) in [("zone_length", length), ("zone_skip", stream.zone_skip)] {
            refuse(!bytes.0.is_multiple_of(entry.align.into()), || {
                format!(
                    "{key} {} is not a multiple of the alignment {}; change one of the two",
                    bytes.show(),
                    bytes_to_text(entry.align.into())
                )
            })?;
        }
    }
    Ok(())
}

pub(super) fn runs_are_random_and_alike(stream: &StreamOptions) -> Result<(), WorkloadError> {
    if stream.run_length == 1 {
        return refuse(stream.run_repeats, || "run_repeats needs runs; write for example run_length = 8".to_owned());
    }
    let entries = access::entries(stream)?;
    let alike = matches!(entries.as_slice(), [entry] if is_one_aligned_size(entry)
        && entry.random_percent >= 100.0 && entry.op_percent[3] <= 0.0 && entry.delay_ns == 0);
    refuse(!alike, || {
        "run_length needs random requests of one size, aligned to it, without flush_percent and delays; give the \
         stream one block_size and random_percent = 100, or drop run_length"
            .to_owned()
    })
}

pub(super) fn trims_come_before_writes(stream: &StreamOptions) -> Result<(), WorkloadError> {
    if !stream.trim_first {
        return Ok(());
    }
    let writes = |percent: &[f64; 4]| percent[1] > 0.0 && percent[0] + percent[2] + percent[3] <= 0.0;
    refuse(!access::entries(stream)?.iter().all(|entry| writes(&entry.op_percent)), || {
        "trim_first is for streams that only write; set write_percent to 100, or drop trim_first".to_owned()
    })?;
    refuse(stream.content_word() == ContentWord::Stamps, || {
        "trim_first and stamps exclude each other, because a trimmed block holds no stamp until it is written; drop \
         one of the two"
            .to_owned()
    })
}

pub(super) fn pointers_of_operations_need_one_line(stream: &StreamOptions) -> Result<(), WorkloadError> {
    refuse(stream.sequential == Pointer::PerOperation && stream.access.is_some(), || {
        "sequential = \"per_operation\" and access exclude each other, because an entry goes on where the request before \
         it ended; drop one of the two"
            .to_owned()
    })
}
