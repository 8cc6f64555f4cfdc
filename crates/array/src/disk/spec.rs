//! What is known of a disk: mostly the numbers of its datasheet.
//!
//! Times are whole microseconds, rates bytes per second, and every default is said beside its key. Limit: what a
//! datasheet does not say (skews, buffer segments, window) is an assumption, and the file that makes it should say so.

use plimsoll_workload::option::Record;
use plimsoll_workload::unit::{BYTES, BYTES_PER_S, MS, US};
use plimsoll_workload::{options, words};

use super::spindle::TURNS_MAX;
use crate::device::error::{SpecError, in_range};
use crate::notation::{ARRAYS, COMMAND_US_MAX, MIB, PIB};

options! {
    /// A rotating disk.
    pub struct DiskSpec: "disk" in ARRAYS {
        "Disk" {
            /// What the host may use.
            capacity_bytes: u64 = 0, required "say what the host may use", range MIB => PIB, unit BYTES,
                example "73407868928";
            /// Turns per minute.
            rotation_rpm: u32 = 10_000, required "say how fast it turns", range 1000.0 => 30_000.0, example "15000";
            /// Recording surfaces.
            heads: u32 = 1, required "say how many surfaces it has", range 1.0 => 64.0, example "4";
            /// Tracks per surface; if it is not known, as many as the capacity needs at the mean of the two rates.
            cylinders: Option<u32> = None, unset "none", range 16.0 => 4_000_000.0, example "51052";
            /// Zones of equal width.
            zones: u32 = 16, range 1.0 => 200.0, example "20";
            /// What a long sequential read reaches at the outer edge, switches included.
            outer_rate_bytes_per_s: u64 = 0, required "say how fast it reads at the outer edge",
                range 1e5 => 2e9, unit BYTES_PER_S, example "125000000";
            /// The same at the inner edge.
            inner_rate_bytes_per_s: u64 = 0, required "say how fast it reads at the inner edge",
                range 1e5 => 2e9, unit BYTES_PER_S, example "75000000";
            /// Arm movement before a read.
            read_seek: SeekSpec = SeekSpec::default(), required "say how long the arm moves before a read",
                example "{\"single_track_us\": 200, \"average_us\": 4000, \"full_stroke_us\": 8100}";
            /// Arm movement before a write, settling included.
            write_seek: SeekSpec = SeekSpec::default(), required "say how long the arm moves before a write",
                example "{\"single_track_us\": 600, \"average_us\": 4400, \"full_stroke_us\": 8600}";
            /// Change of surface before a read.
            read_head_switch_us: Option<u32> = None, unset "as a seek to the next track", unit US, example "200";
            /// Change of surface before a write.
            write_head_switch_us: Option<u32> = None, unset "as a seek to the next track", unit US, example "600";
            /// By how much tracks of a cylinder are turned against each other.
            track_skew_us: Option<u32> = None, unset "the longer head switch", unit US, example "600";
            /// By how much cylinders are turned against each other.
            cylinder_skew_us: Option<u32> = None, unset "the longer seek to the next track", unit US, example "700";
            /// From the arrival of a command until the mechanics are told.
            command_overhead_us: u32 = 0, required "say what a command costs", range 0.0 => COMMAND_US_MAX, unit US,
                example "200";
            /// Whether commands that wait in the queue spend that time while they wait, or each after the one before.
            overlapped_overhead: bool = true, example "false";
            /// What the drive remembers.
            buffer: BufferSpec = BufferSpec::default(), required "say what the drive remembers",
                example "{\"segments\": 0}";
            /// In which order commands are carried out.
            queue: QueueSpec = QueueSpec::default(), example "{\"policy\": \"c_look\"}";
        }
    }
}

options! {
    /// Three points of a seek curve, without command overhead.
    #[derive(Copy, Eq)]
    pub struct SeekSpec: "seek curve" in ARRAYS {
        "Seek" {
            /// To the next cylinder.
            single_track_us: u32 = 1, required "say how long the next cylinder takes", unit US, example "200";
            /// Mean over all pairs of cylinders.
            average_us: u32 = 1, required "say how long a seek takes on average", unit US, example "4000";
            /// From edge to edge.
            full_stroke_us: u32 = 1, required "say how long the longest seek takes", unit US, example "8100";
        }
    }
}

options! {
    /// The buffer of a disk.
    #[derive(Eq)]
    pub struct BufferSpec: "buffer" in ARRAYS {
        "Buffer" {
            /// How many runs of sectors it remembers; 0 for none.
            segments: u32 = 0, required "say how many runs of sectors it remembers", range 0.0 => 250.0, example "16";
            /// How long such a run may be.
            segment_bytes: u64 = 0, required "say how long such a run may be", unit BYTES, example "524288";
            /// How far the drive reads on after a read while it has nothing else to do.
            prefetch_bytes: u64 = 0, required "say how far the drive reads on", unit BYTES, example "262144";
            /// From the arrival of a command to its first byte if the buffer has it.
            hit_overhead_us: Option<u32> = None, unset "the command overhead", unit US, example "100";
            /// How fast data pass between buffer and host.
            interface_rate_bytes_per_s: u64 = 0, required "say how fast data pass to the host", range 1e6 => 1e11,
                unit BYTES_PER_S, example "300000000";
            /// How much written data may wait after they were reported as written; 0 reports what is on the platter.
            write_bytes: u64 = 0, unit BYTES, example "4194304";
            /// Whether such data survive a loss of power, so that a flush need not wait for them.
            write_protected: bool = false, example "true";
        }
    }
}

options! {
    /// The command queue of a disk.
    #[derive(Eq)]
    pub struct QueueSpec: "queue" in ARRAYS {
        "Queue" {
            /// What is chosen next.
            policy: Policy = Policy::Sptf, required "say what is chosen next", example "c_look";
            // A scan over more than 4096 would say nothing about any drive that was built.
            /// Among how many of the oldest commands it is chosen.
            window: u32 = 16, range 1.0 => 4096.0, example "32";
            /// Among how many writes it is chosen that were reported before they are on the platter; what a host waits for comes
            /// before them while there is room for more.
            write_window: Option<u32> = None, unset "they wait among all other commands", range 1.0 => 4096.0, example "256";
            /// After how long a command is taken before all younger ones; 0 for never.
            age_limit_ms: u32 = 500, unit MS, example "200";
        }
    }
}

words! {
    /// Which command of the window is next.
    pub enum Policy: "an order of commands" {
        /// First come, first served.
        Fcfs = "fcfs",
        /// The next address upwards, then from the lowest again.
        CLook = "c_look",
        /// Shortest positioning time first: seek and rotation together.
        Sptf = "sptf",
    }
}

impl DiskSpec {
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
        self.check_ranges()?;
        in_range("zones", self.zones, 1, self.cylinders.unwrap_or(u32::MAX).min(200))?;
        in_range("inner_rate_bytes_per_s", self.inner_rate_bytes_per_s, 100_000, self.outer_rate_bytes_per_s)?;
        let longest_us = TURNS_MAX * (60_000_000 / self.rotation_rpm);
        self.read_seek.check(longest_us).map_err(|error| error.within("read_seek"))?;
        self.write_seek.check(longest_us).map_err(|error| error.within("write_seek"))?;
        self.check_skew()?;
        self.buffer.check().map_err(|error| error.within("buffer"))
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
        if self.segments > 0 {
            in_range("segment_bytes", self.segment_bytes, 512, 1 << 32)?;
            in_range("prefetch_bytes", self.prefetch_bytes, 0, self.segment_bytes)?;
        }
        Ok(())
    }
}
