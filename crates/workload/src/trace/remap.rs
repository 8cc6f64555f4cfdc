//! From a trace's extents and a target's to a [`Remap`], or a sentence why there is none.

use std::ops::Range;
use std::sync::Arc;

use super::file::TraceHeader;
use super::place::{DEVICE_SHIFT, Mode, Remap, SCALED_BYTES, Space};
use crate::error::WorkloadError;
use crate::stream::TraceMap;
use crate::units::bytes_to_words;

/// The traces that a workload's streams replay, opened by whoever can open files.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// By stream; `None` for streams that replay nothing.
    pub headers: Vec<Option<Arc<TraceHeader>>>,
    /// First byte after each part of a concatenation, ascending; empty for other targets.
    pub part_ends: Vec<u64>,
}

/// What one stream has to know to be resolved.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The trace it replays.
    pub header: Arc<TraceHeader>,
    /// As [`Recorded::part_ends`].
    pub part_ends: Vec<u64>,
}

impl Recorded {
    pub(crate) fn of(&self, stream: usize) -> Option<Traced> {
        let header = self.headers.get(stream)?.clone()?;
        Some(Traced { header, part_ends: self.part_ends.clone() })
    }
}

impl Remap {
    /// Where the requests of a trace go inside `region`, in units of `unit`, reads and writes of at most `longest`
    /// bytes. With `parts` as many as the trace has devices, each device goes to a part of its own.
    ///
    /// # Errors
    /// If the trace reaches further than the target, and the mode does not allow for that.
    pub(crate) fn new(
        header: &TraceHeader,
        region: &Range<u64>,
        parts: &[Range<u64>],
        (unit, longest): (u64, u64),
        map: TraceMap,
    ) -> Result<Self, WorkloadError> {
        let apart = parts.len() > 1 && parts.len() == header.devices.len();
        let (seats, extents) = if apart { one_each(header) } else { stacked(header) };
        let regions = if apart { parts } else { std::slice::from_ref(region) };
        let mut spaces = Vec::new();
        for (number, region) in regions.iter().enumerate() {
            let region = region.start.next_multiple_of(unit)..region.end - region.end % unit;
            let room = region.end.saturating_sub(region.start);
            let extent = if map == TraceMap::Squeeze {
                touched_bytes(header, apart.then_some(number))
            } else {
                extents[number].next_multiple_of(unit)
            };
            let mode = mode(map, extent, room).ok_or_else(|| beyond(extent, room, map))?;
            spaces.push(Space { region, mode });
        }
        let touched = if map == TraceMap::Squeeze { header.touched.clone() } else { Vec::new() };
        let longest = [longest, longest, u64::from(u32::MAX), 0];
        Ok(Self { unit, longest, seats, spaces, touched: (header.place_bytes, touched) })
    }
}

/// Every device in a space of its own.
fn one_each(header: &TraceHeader) -> (Vec<(usize, u64)>, Vec<u64>) {
    let seats = (0..header.devices.len()).map(|number| (number, 0)).collect();
    (seats, header.devices.iter().map(|device| device.end_bytes).collect())
}

/// All devices in one space, one above the other at multiples of 1 MiB.
fn stacked(header: &TraceHeader) -> (Vec<(usize, u64)>, Vec<u64>) {
    let mut end = 0u64;
    let mut seats = Vec::new();
    for device in &header.devices {
        let base = end.next_multiple_of(SCALED_BYTES);
        seats.push((0, base));
        end = base.saturating_add(device.end_bytes);
    }
    (seats, vec![end])
}

fn touched_bytes(header: &TraceHeader, device: Option<usize>) -> u64 {
    let counts = |place: &&u64| device.is_none_or(|number| **place >> DEVICE_SHIFT == number as u64);
    header.touched.iter().filter(counts).count() as u64 * header.place_bytes
}

fn mode(map: TraceMap, extent: u64, room: u64) -> Option<Mode> {
    match map {
        _ if room == 0 => None,
        TraceMap::Refuse | TraceMap::Wrap if extent <= room => Some(Mode::Stay),
        TraceMap::Refuse => None,
        TraceMap::Squeeze => (extent <= room).then_some(Mode::Squeeze),
        TraceMap::Wrap => Some(Mode::Wrap),
        TraceMap::Scale if room < SCALED_BYTES => Some(Mode::Wrap),
        TraceMap::Scale => Some(Mode::Scale(extent.div_ceil(SCALED_BYTES).max(1), room / SCALED_BYTES)),
    }
}

fn beyond(extent: u64, room: u64, map: TraceMap) -> WorkloadError {
    let (extent, room) = (bytes_to_words(extent), bytes_to_words(room));
    WorkloadError::impossible(if map == TraceMap::Squeeze {
        format!(
            "the places that the trace touches take {extent} side by side, and the target has {room} for them; set \
             trace_map to wrap or scale, or take a larger target"
        )
    } else {
        format!(
            "the trace reaches to {extent}, and the target has {room} for it; set trace_map to wrap, scale or squeeze, \
             or take a larger target"
        )
    })
}
