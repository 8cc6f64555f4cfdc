//! The seam for planted bugs: what the oracle asks of a geometry.

use plimsoll_array::raid::{Extent, Geometry, Lost, Members, Piece, Rebuild, RebuildChunk, WritePlan};
use plimsoll_workload::rng::Draws;

/// What is asked of a geometry.
pub trait Mapping {
    fn geometry(&self) -> &Geometry;

    fn read(&self, extent: Extent, members: &Members, out: &mut Vec<Piece>) -> Result<u64, Lost> {
        // Any copy may win; the same one for the same place.
        let cost = |device: u16, lba: u64| Draws::new(lba, &[u64::from(device)]).at(0);
        self.geometry().read(extent, members, cost, out)
    }

    fn write(&self, extent: Extent, members: &Members, plan: &mut WritePlan) -> Result<(), Lost> {
        self.geometry().write(extent, members, plan)
    }

    fn chunk(&self, rebuild: &mut Rebuild, members: &Members, chunk: &mut RebuildChunk) -> Result<bool, Lost> {
        rebuild.next(self.geometry(), members, chunk)
    }
}

impl Mapping for Geometry {
    fn geometry(&self) -> &Geometry {
        self
    }
}
