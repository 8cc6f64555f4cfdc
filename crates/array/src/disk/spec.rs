//! What is known of a disk: mostly the numbers of its datasheet.
//!
//! Times are whole microseconds, rates bytes per second, and every default is said beside its key. Limit: what a
//! datasheet does not say (skews, buffer segments, window) is an assumption, and the file that makes it should say so.

use serde::{Deserialize, Serialize};

use super::spindle::TURNS_MAX;
use crate::device::error::{SpecError, in_range};

/// A rotating disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskSpec {
    /// What the host may use.
    pub capacity_bytes: u64,
    /// Turns per minute.
    pub rotation_rpm: u32,
    /// Recording surfaces.
    pub heads: u32,
    /// Tracks per surface; if it is not known, as many as the capacity needs at the mean of the two rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinders: Option<u32>,
    /// Zones of equal width (default 16).
    #[serde(default = "default_zones")]
    pub zones: u32,
    /// What a long sequential read reaches at the outer edge, switches included.
    pub outer_rate_bytes_per_s: u64,
    /// The same at the inner edge.
    pub inner_rate_bytes_per_s: u64,
    /// Arm movement before a read.
    pub read_seek: SeekSpec,
    /// Arm movement before a write, settling included.
    pub write_seek: SeekSpec,
    /// Change of surface before a read (default: as a seek to the next track).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_head_switch_us: Option<u32>,
    /// Change of surface before a write (default: as a seek to the next track).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_head_switch_us: Option<u32>,
    /// By how much tracks of a cylinder are turned against each other (default: the longer head switch).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track_skew_us: Option<u32>,
    /// By how much cylinders are turned against each other (default: the longer seek to the next track).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinder_skew_us: Option<u32>,
    /// From the arrival of a command until the mechanics are told.
    pub command_overhead_us: u32,
    /// Whether commands that wait in the queue spend that time while they wait (default), or each after the one before.
    #[serde(default = "yes")]
    pub overlapped_overhead: bool,
    /// What the drive remembers.
    pub buffer: BufferSpec,
    /// In which order commands are carried out.
    #[serde(default)]
    pub queue: QueueSpec,
}

/// Three points of a seek curve, without command overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeekSpec {
    /// To the next cylinder.
    pub single_track_us: u32,
    /// Mean over all pairs of cylinders.
    pub average_us: u32,
    /// From edge to edge.
    pub full_stroke_us: u32,
}

/// The buffer of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferSpec {
    /// How many runs of sectors it remembers; 0 for none.
    pub segments: u32,
    /// How long such a run may be.
    pub segment_bytes: u64,
    /// How far the drive reads on after a read while it has nothing else to do.
    pub prefetch_bytes: u64,
    /// From the arrival of a command to its first byte if the buffer has it (default: the command overhead).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_overhead_us: Option<u32>,
    /// How fast data pass between buffer and host.
    pub interface_rate_bytes_per_s: u64,
    /// How much written data may wait after they were reported as written; 0, the default, reports what is on the
    /// platter.
    #[serde(default)]
    pub write_bytes: u64,
}

/// The command queue of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    /// What is chosen next.
    pub policy: Policy,
    /// Among how many of the oldest commands it is chosen (default 16).
    #[serde(default = "default_window")]
    pub window: u32,
    /// After how long a command is taken before all younger ones (default 500); 0 for never.
    #[serde(default = "default_age_limit_ms")]
    pub age_limit_ms: u32,
}

/// Which command of the window is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// First come, first served.
    Fcfs,
    /// The next address upwards, then from the lowest again.
    CLook,
    /// Shortest positioning time first: seek and rotation together.
    Sptf,
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self { policy: Policy::Sptf, window: default_window(), age_limit_ms: default_age_limit_ms() }
    }
}

const fn default_zones() -> u32 {
    16
}

const fn default_window() -> u32 {
    16
}

const fn default_age_limit_ms() -> u32 {
    500
}

const fn yes() -> bool {
    true
}

impl DiskSpec {
    /// The longest window; a scan over more would say nothing about any drive that was built.
    pub const WINDOW_MAX: u32 = 4096;

    /// Change of surface before a read and before a write.
    pub fn head_switch_us(&self) -> [u32; 2] {
        [
            self.read_head_switch_us.unwrap_or(self.read_seek.single_track_us),
            self.write_head_switch_us.unwrap_or(self.write_seek.single_track_us),
        ]
    }

    /// Skew between tracks of a cylinder, and between cylinders.
    pub fn skew_us(&self) -> [u32; 2] {
        let [read, write] = self.head_switch_us();
        let next = self.read_seek.single_track_us.max(self.write_seek.single_track_us);
        [self.track_skew_us.unwrap_or(read.max(write)), self.cylinder_skew_us.unwrap_or(next)]
    }

    /// Refuses values that no disk can have.
    ///
    /// # Errors
    /// One sentence that names the key.
    pub fn check(&self) -> Result<(), SpecError> {
        in_range("capacity_bytes", self.capacity_bytes, 1 << 20, 1 << 50)?;
        in_range("rotation_rpm", self.rotation_rpm, 1_000, 30_000)?;
        in_range("heads", self.heads, 1, 64)?;
        in_range("cylinders", self.cylinders.unwrap_or(16), 16, 4_000_000)?;
        in_range("zones", self.zones, 1, self.cylinders.unwrap_or(u32::MAX).min(200))?;
        in_range("outer_rate_bytes_per_s", self.outer_rate_bytes_per_s, 100_000, 2_000_000_000)?;
        in_range("inner_rate_bytes_per_s", self.inner_rate_bytes_per_s, 100_000, self.outer_rate_bytes_per_s)?;
        in_range("command_overhead_us", self.command_overhead_us, 0, 1_000_000)?;
        let longest_us = TURNS_MAX * (60_000_000 / self.rotation_rpm);
        self.read_seek.check(longest_us).map_err(|error| error.within("read_seek"))?;
        self.write_seek.check(longest_us).map_err(|error| error.within("write_seek"))?;
        self.check_skew()?;
        self.buffer.check().map_err(|error| error.within("buffer"))?;
        in_range("window", self.queue.window, 1, Self::WINDOW_MAX).map_err(|error| error.within("queue"))
    }

    /// A skew that is shorter than the movement it covers would cost a turn at every boundary.
    fn check_skew(&self) -> Result<(), SpecError> {
        let turn_us = 60_000_000 / self.rotation_rpm;
        let [read, write] = self.head_switch_us();
        let [track, cylinder] = self.skew_us();
        let next = self.read_seek.single_track_us.max(self.write_seek.single_track_us);
        in_range("track_skew_us", track, read.max(write), turn_us)?;
        in_range("cylinder_skew_us", cylinder, next, turn_us)
    }
}

impl SeekSpec {
    fn check(&self, longest_us: u32) -> Result<(), SpecError> {
        in_range("single_track_us", self.single_track_us, 1, longest_us)?;
        in_range("average_us", self.average_us, self.single_track_us, longest_us)?;
        in_range("full_stroke_us", self.full_stroke_us, self.average_us, longest_us)
    }
}

impl BufferSpec {
    fn check(&self) -> Result<(), SpecError> {
        in_range("segments", self.segments, 0, 250)?;
        in_range("interface_rate_bytes_per_s", self.interface_rate_bytes_per_s, 1_000_000, 100_000_000_000)?;
        if self.segments > 0 {
            in_range("segment_bytes", self.segment_bytes, 512, 1 << 32)?;
            in_range("prefetch_bytes", self.prefetch_bytes, 0, self.segment_bytes)?;
        }
        Ok(())
    }
}
