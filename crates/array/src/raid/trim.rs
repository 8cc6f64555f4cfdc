//! The pieces of a trim: the data strips of it on every member that is present, of a mirror on every copy, of records the whole
//! ones.
//!
//! Limits: parity keeps its contents and is not computed again, though a controller that relies on zeros after a trim would
//! have to; of a member that is being rebuilt only what serves reads is trimmed.

use super::geometry::{Geometry, Inner};
use super::members::Members;
use super::parity::{Parity, Touched};
use super::piece::{Extent, Merging, Piece, Sink};
use super::positions::holds;
use super::record_pieces::RecordMap;
use super::striping::Share;

impl Geometry {
    /// Appends the pieces of a trim to `out`, as writes without data; what is missing is left out.
    pub fn trim(&self, extent: Extent, members: &Members, out: &mut Vec<Piece>) {
        debug_assert!(extent.sectors > 0 && extent.lba + u64::from(extent.sectors) <= self.data_sectors());
        for share in self.striping.shares(extent) {
            let base = self.base(share.group);
            match &self.inner {
                Inner::Copies => {
                    let missing = members.missing(share.group, share.end());
                    let copies = (0..self.members_per_group()).filter(|&position| !holds(missing, u32::from(position)));
                    out.extend(copies.map(|position| Piece::write(base + position, share.start, share.sectors)));
                }
                Inner::Parity(parity) => parity.trim(share, members, base, &mut Merging::new(out)),
                Inner::Records(records) => records.trim(share, members, base, out),
                Inner::Declustered(declustered) => declustered.trim(share, members, base, out),
            }
        }
    }
}

impl Parity {
    fn trim(&self, share: Share, members: &Members, base: u16, sink: &mut impl Sink) {
        for touch in self.touches(share) {
            let strip = u64::from(touch.strip);
            let missing = members.missing(share.group, (touch.row + 1) * strip);
            let row = self.row(touch.row);
            for column in touch.first..=touch.last {
                let (position, range) = (row.data(column), touch.of(column));
                if !holds(missing, position) {
                    let lba = touch.row * strip + u64::from(range.from);
                    sink.put(position, Piece::write(base + position as u16, lba, range.len()));
                }
            }
        }
    }
}
