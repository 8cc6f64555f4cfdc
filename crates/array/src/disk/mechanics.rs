//! What all disks of one specification share: layout, seek tables, overheads.

use std::sync::Arc;

use super::geometry::{Geometry, Place};
use super::seek::{SeekCurve, SeekTables};
use super::spindle::Spindle;
use crate::device::command::SECTOR_BYTES;
use crate::device::error::SpecError;
use crate::disk::spec::{DiskSpec, Policy};

/// A checked disk with its tables; copies share them.
#[derive(Clone, Debug)]
pub struct DiskModel {
    shared: Arc<Mechanics>,
}

impl DiskModel {
    /// Checks a specification and makes its tables.
    ///
    /// # Errors
    /// One sentence that names the key.
    pub fn new(spec: &DiskSpec) -> Result<Self, SpecError> {
        Ok(Self { shared: Arc::new(Mechanics::new(spec)?) })
    }

    /// The layout of its sectors.
    pub fn geometry(&self) -> &Geometry {
        &self.shared.geometry
    }

    /// The curves before reads and before writes.
    pub fn seek_curves(&self) -> &[SeekCurve; 2] {
        &self.shared.curves
    }

    pub(crate) fn shared(&self) -> Arc<Mechanics> {
        Arc::clone(&self.shared)
    }
}

/// Tables and numbers of one kind of disk, in nanoseconds.
#[derive(Debug)]
pub(crate) struct Mechanics {
    pub(crate) geometry: Geometry,
    pub(crate) spindle: Spindle,
    pub(crate) seeks: SeekTables,
    curves: [SeekCurve; 2],
    /// Before reads, and before writes, in ticks.
    head_switch: [u32; 2],
    pub(crate) overhead_ns: u64,
    /// What of it passes while a command waits, and what after it was chosen.
    pub(crate) waiting_overhead_ns: u64,
    pub(crate) serial_overhead_ns: u64,
    pub(crate) hit_overhead_ns: u64,
    /// Interface time of a sector, in 2^-32 ns.
    interface_sector_ns: u64,
    pub(crate) segments: u32,
    pub(crate) segment_sectors: u64,
    pub(crate) prefetch_sectors: u64,
    pub(crate) write_buffer_sectors: u64,
    /// Whether reported writes survive a loss of power.
    pub(crate) writes_protected: bool,
    pub(crate) policy: Policy,
    pub(crate) window: usize,
    /// Among how many reported writes it chooses, if those wait in a line of their own.
    pub(crate) held_window: Option<usize>,
    pub(crate) age_limit_ns: u64,
}

impl Mechanics {
    fn new(spec: &DiskSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let spindle = Spindle::new(spec.rotation_rpm);
        let geometry = Geometry::new(spec, spindle)?;
        let cylinders = geometry.cylinders();
        let read = SeekCurve::fit(&spec.read_seek, cylinders).map_err(|error| error.within("read_seek"))?;
        let write = SeekCurve::fit(&spec.write_seek, cylinders).map_err(|error| error.within("write_seek"))?;
        let [read_switch_us, write_switch_us] = spec.head_switch_us();
        let switch = |us: u32| spindle.ticks(u64::from(us) * 1_000);
        let buffer = &spec.buffer;
        let overhead_ns = u64::from(spec.command_overhead_us) * 1_000;
        let choice = |window: u32| if spec.queue.policy == Policy::Fcfs { 1 } else { window as usize };
        let sectors = |bytes: u64| if buffer.segments == 0 { 0 } else { bytes / SECTOR_BYTES };
        Ok(Self {
            seeks: SeekTables::new([&read, &write], cylinders, spindle),
            head_switch: [switch(read_switch_us), switch(write_switch_us)],
            curves: [read, write],
            geometry,
            spindle,
            overhead_ns,
            waiting_overhead_ns: if spec.overlapped_overhead { overhead_ns } else { 0 },
            serial_overhead_ns: if spec.overlapped_overhead { 0 } else { overhead_ns },
            hit_overhead_ns: u64::from(buffer.hit_overhead_us.unwrap_or(spec.command_overhead_us)) * 1_000,
            interface_sector_ns: (((SECTOR_BYTES * 1_000_000_000) as u128) << 32)
                .div_ceil(u128::from(buffer.interface_rate_bytes_per_s)) as u64,
            segments: buffer.segments,
            segment_sectors: sectors(buffer.segment_bytes),
            prefetch_sectors: sectors(buffer.prefetch_bytes),
            write_buffer_sectors: buffer.write_bytes / SECTOR_BYTES,
            writes_protected: buffer.write_protected,
            policy: spec.queue.policy,
            window: choice(spec.queue.window),
            held_window: spec.queue.write_window.map(choice),
            age_limit_ns: match spec.queue.age_limit_ms {
                0 => u64::MAX,
                limit_ms => u64::from(limit_ms) * 1_000_000,
            },
        })
    }

    /// Time of sectors on the interface.
    #[inline]
    pub(crate) fn interface_ns(&self, sectors: u32) -> u64 {
        ((u128::from(sectors) * u128::from(self.interface_sector_ns)) >> 32) as u64
    }

    /// Ticks until the heads are on a track.
    #[inline]
    pub(crate) fn movement(&self, from: Place, to: Place, write: bool) -> u32 {
        if from.cylinder != to.cylinder {
            return self.seeks.ticks(from.cylinder.abs_diff(to.cylinder), u32::from(write) * SeekTables::WRITE);
        }
        if from.head == to.head { 0 } else { self.head_switch[usize::from(write)] }
    }

    /// Ticks until a sector is under its head, from an angle on.
    #[inline]
    pub(crate) fn positioning(&self, from: Place, angle: u32, to: Place, write: bool) -> u32 {
        let movement = self.movement(from, to, write);
        movement + Spindle::wait(angle.wrapping_add(movement), self.geometry.angle(to))
    }
}
