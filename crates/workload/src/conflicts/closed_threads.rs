//! What holds closed threads back, and the time at which a stream ends.

use super::refuse;
use crate::error::WorkloadError;
use crate::option::Kind;
use crate::stream::{Arrival, StreamOptions};

impl StreamOptions {
    /// The first option that holds its threads back.
    fn holder(&self) -> Option<&'static str> {
        let holders = [
            ("refill_depth", self.refill_depth.is_some()),
            ("pause", self.pause.0 > 0),
            ("share", self.share.is_some()),
            ("serialize_overlap", self.serialize_overlap),
        ];
        holders.into_iter().find(|holder| holder.1).map(|holder| holder.0)
    }
}

pub(super) fn a_closed_thread_is_held(stream: &StreamOptions) -> Result<(), WorkloadError> {
    refuse(stream.share.is_none() && stream.share_group != 0, || {
        "share_group needs a share; write for example share = 2".to_owned()
    })?;
    let Some(holder) = stream.holder() else { return Ok(()) };
    refuse(stream.arrival != Arrival::Closed, || {
        format!(
            "{holder} has no effect with {} arrival, whose requests wait for nobody; drop it, or set arrival to closed",
            stream.arrival.name()
        )
    })?;
    refuse(stream.think_time.0 > 0, || {
        format!("{holder} and think_time exclude each other; write pause with pause_requests in place of think_time")
    })?;
    let depth = stream.queue_depth;
    match stream.refill_depth {
        Some(refill) if refill >= depth => {
            refuse(true, || format!("refill_depth {refill} is not below queue_depth {depth}; lower it, or drop it"))
        }
        _ => Ok(()),
    }
}

pub(super) fn a_flush_is_there_to_hold(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let flushes = stream.flush_every > 0 || stream.flush_percent.0 > 0.0 || stream.trace.is_some();
    refuse(stream.flush_holds && !flushes, || {
        "flush_holds needs flushes; write for example flush_every = 64, or drop it".to_owned()
    })?;
    refuse(stream.flush_holds && stream.think_time.0 > 0, || {
        "flush_holds and think_time exclude each other; write pause with pause_requests in place of think_time"
            .to_owned()
    })
}

pub(super) fn a_pause_has_its_turn(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let turns = stream.pause_requests.is_some() || stream.pause_interval.is_some();
    refuse(stream.pause.0 > 0 && !turns, || {
        "pause needs pause_requests or pause_interval, after which it comes; write for example pause_requests = 64"
            .to_owned()
    })?;
    refuse(stream.pause.0 == 0 && turns, || {
        "pause_requests and pause_interval need a pause; write for example pause = \"10ms\"".to_owned()
    })
}

pub(super) fn the_end_follows_the_start(stream: &StreamOptions) -> Result<(), WorkloadError> {
    match stream.end_after {
        Some(end) if end <= stream.start_after => refuse(true, || {
            format!(
                "end_after {} is not later than start_after {}; raise it, or lower start_after",
                end.show(),
                stream.start_after.show()
            )
        }),
        _ => Ok(()),
    }
}
