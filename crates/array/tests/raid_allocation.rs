//! No memory is asked for per request: plans, pieces, locks and rebuild chunks use theirs again.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod counting;

use counting::allocations;
use plimsoll_array::raid::{Extent, Geometry, GroupSpec, Level, Rebuild, RebuildChunk, RowLocks, WritePlan};

/// What a group is asked: reads and writes of all lengths, rows locked and released, chunks of a rebuild.
struct Load {
    geometry: Geometry,
    failed: Option<u16>,
    pieces: Vec<plimsoll_array::raid::Piece>,
    plan: WritePlan,
    locks: RowLocks,
    granted: Vec<u32>,
    chunk: RebuildChunk,
}

impl Load {
    fn run(&mut self) {
        let mut members = self.geometry.members();
        let mut rebuild = None;
        if let Some(device) = self.failed {
            members.fail(device);
            members.replace(device);
            rebuild = Some(Rebuild::new(device, 64, &self.geometry));
        }
        let before = allocations();
        for step in 0..2000_u64 {
            let lba = step * 7919 % (self.geometry.data_sectors() - 3000);
            let extent = Extent { lba, sectors: [8, 100, 2048][step as usize % 3] };
            self.pieces.clear();
            self.geometry.read(extent, &members, |_, _| 0, &mut self.pieces).unwrap();
            self.geometry.write(extent, &members, &mut self.plan).unwrap();
            let holder = (step % 64) as u32;
            if step >= 64 {
                self.locks.release(holder, &mut self.granted);
            }
            self.plan.rows.iter_mut().for_each(|span| span.first = span.first * 2000 + step);
            self.plan.rows.iter_mut().for_each(|span| span.count = 1);
            assert!(self.locks.acquire(holder, &self.plan.rows));
            if let Some(rebuild) = &mut rebuild {
                rebuild.next(&self.geometry, &members, &mut self.chunk).unwrap();
            }
        }
        assert_eq!(allocations() - before, 0, "{:?}", self.geometry);
    }
}

#[test]
fn nothing_is_allocated_per_request() {
    for (level, devices, groups, failed) in [
        (Level::Raid0, 10, None, None),
        (Level::Raid10, 8, None, Some(2)),
        (Level::Raid5, 10, None, None),
        (Level::Raid5, 10, None, Some(3)),
        (Level::Raid6, 10, None, Some(3)),
        (Level::Raid60, 24, Some(2), Some(20)),
    ] {
        let geometry = Geometry::new(&GroupSpec { groups, ..GroupSpec::new(level, devices, 64) }, 1 << 20).unwrap();
        let mut load = Load {
            geometry,
            failed,
            pieces: Vec::with_capacity(256),
            plan: WritePlan {
                reads: Vec::with_capacity(256),
                writes: Vec::with_capacity(256),
                rows: Vec::with_capacity(8),
                ..WritePlan::default()
            },
            locks: RowLocks::new(1024),
            granted: Vec::new(),
            chunk: RebuildChunk { reads: Vec::with_capacity(32), ..RebuildChunk::default() },
        };
        // Holders are known after the first step; give that memory beforehand too.
        assert!(load.locks.acquire(63, &[]));
        load.locks.release(63, &mut load.granted);
        load.run();
    }
}
