//! How the sectors of a group lie on extents, and extents on the flash.

use super::stretch::Stretch;
use crate::raid::Extent;

/// What a flash cache is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlashShape {
    pub(crate) extent_sectors: u32,
    /// Extents that it holds.
    pub(crate) places: u32,
    /// Of these, dirty ones at most.
    pub(crate) dirty_max: u32,
    /// Whole extents that the group has.
    pub(crate) extents: u64,
    /// With which miss an extent comes in.
    pub(crate) promote_on_miss: u32,
    /// Extents on their way in at most.
    pub(crate) fills_max: u32,
    /// Longer reads bring nothing in.
    pub(crate) read_sectors_max: u32,
    /// Whether it begins filled.
    pub(crate) warm: bool,
}

/// The part of a stretch of the group that lies on one extent.
#[derive(Clone, Copy)]
pub(super) struct Touch {
    pub(super) extent: u64,
    pub(super) stretch: Stretch,
}

impl FlashShape {
    pub(super) const fn whole(&self) -> Stretch {
        Stretch { from: 0, to: self.extent_sectors }
    }

    pub(super) const fn flash_lba(&self, place: u32, from: u32) -> u64 {
        place as u64 * self.extent_sectors as u64 + from as u64
    }

    pub(super) const fn flash_extent(&self, place: u32, stretch: Stretch) -> Extent {
        Extent { lba: self.flash_lba(place, stretch.from), sectors: stretch.to - stretch.from }
    }

    pub(super) fn extent_of(&self, Touch { extent, stretch }: Touch) -> Extent {
        let lba = extent * u64::from(self.extent_sectors) + u64::from(stretch.from);
        Extent { lba, sectors: stretch.to - stretch.from }
    }

    pub(super) fn touches(&self, wanted: Extent) -> impl Iterator<Item = Touch> + use<> {
        let each = u64::from(self.extent_sectors);
        let end = wanted.lba + u64::from(wanted.sectors);
        (wanted.lba / each..end.div_ceil(each)).map(move |extent| {
            let start = extent * each;
            let stretch =
                Stretch { from: (wanted.lba.max(start) - start) as u32, to: (end.min(start + each) - start) as u32 };
            Touch { extent, stretch }
        })
    }
}
