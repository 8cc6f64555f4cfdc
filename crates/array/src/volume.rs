//! Volumes: which sectors of which group a request of the target means.
//!
//! Model: the target is one or several volumes, one after the other or striped by the host. A volume is a list of extents of
//! groups, so several can share the spindles of one group, and one can lie on several.
//!
//! Limits: a stripe uses as much of every volume as the smallest one has, in whole units.

use plimsoll_workload::Divisor;

use crate::limit::Limit;
use crate::raid::Extent;

/// A stretch of a group that belongs to a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// First sector, in the volume.
    pub(crate) start: u64,
    pub(crate) sectors: u64,
    pub(crate) group: u16,
    /// First sector, in the group.
    pub(crate) lba: u64,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Volume {
    pub(crate) name: String,
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) sectors: u64,
    /// Links from the host to the controller.
    pub(crate) path: Vec<u16>,
    pub(crate) limit: Option<Box<Limit>>,
}

/// The part of a request that lies on one stretch of one volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) volume: u16,
    pub(crate) stretch: u16,
    pub(crate) group: u16,
    /// In the group.
    pub(crate) extent: Extent,
}

/// How the host puts volumes together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The volumes it consists of.
    volumes: Vec<u16>,
    /// First sector after each, if they lie one after the other.
    ends: Vec<u64>,
    /// Sectors on one volume before the next follows; nothing if they lie one after the other.
    unit: Option<Divisor>,
    /// How many volumes there are.
    count: Divisor,
    pub(crate) sectors: u64,
}

impl Target {
    pub(crate) fn new(all: &[Volume], volumes: Vec<u16>, unit: u64) -> Self {
        let sizes: Vec<u64> = volumes.iter().map(|&volume| all[usize::from(volume)].sectors).collect();
        let mut end = 0;
        let ends = sizes.iter().map(|size| {
            end += size;
            end
        });
        let ends: Vec<u64> = ends.collect();
        let smallest = sizes.iter().copied().min().unwrap_or(0);
        let striped = unit > 0 && volumes.len() > 1;
        let sectors = match smallest.checked_div(unit).filter(|_| striped) {
            Some(units) => units * unit * sizes.len() as u64,
            None => ends.last().copied().unwrap_or(0),
        };
        let count = Divisor::new(volumes.len().max(1) as u64);
        Self { volumes, ends, unit: striped.then(|| Divisor::new(unit)), count, sectors }
    }

    /// Calls `out` for every part of a request, in order of address; none is longer than `sectors_max`.
    #[inline]
    pub(crate) fn map(&self, all: &[Volume], extent: Extent, sectors_max: u32, out: &mut Vec<Share>) {
        let Extent { mut lba, mut sectors } = extent;
        while sectors > 0 {
            let (place, inside, left) = self.locate(lba);
            let volume = self.volumes[place];
            let length = u64::from(sectors.min(sectors_max)).min(left) as u32;
            place_in_volume(&all[usize::from(volume)], volume, Extent { lba: inside, sectors: length }, out);
            lba += u64::from(length);
            sectors -= length;
        }
    }

    /// The request as one share, which almost every request is.
    #[inline(always)]
    pub(crate) fn whole(&self, all: &[Volume], extent: Extent, sectors_max: u32) -> Option<Share> {
        let Extent { lba, sectors } = extent;
        if sectors == 0 {
            return None;
        }
        let (place, inside, left) = self.locate(lba);
        let volume = self.volumes[place];
        let stretches = &all[usize::from(volume)].stretches;
        let number = stretch_of(stretches, inside);
        let stretch = stretches.get(number)?;
        let skip = inside - stretch.start;
        let fits = u64::from(sectors) <= left.min(stretch.sectors - skip).min(u64::from(sectors_max));
        let extent = Extent { lba: stretch.lba + skip, sectors };
        fits.then_some(Share { volume, stretch: number as u16, group: stretch.group, extent })
    }

    /// The volume's place, the sector in it, and how many follow there.
    #[inline]
    fn locate(&self, lba: u64) -> (usize, u64, u64) {
        if let Some(unit) = self.unit {
            let (number, skip) = unit.split(lba);
            let (height, place) = self.count.split(number);
            return (place as usize, height * unit.value() + skip, unit.value() - skip);
        }
        if let [end] = *self.ends {
            return (0, lba, end - lba);
        }
        let place = self.ends.partition_point(|end| *end <= lba);
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        (place, lba - start, self.ends[place] - lba)
    }

    /// The volumes it consists of.
    pub(crate) fn volumes(&self) -> &[u16] {
        &self.volumes
    }
}

/// The stretch of a volume in which a sector lies.
#[inline]
fn stretch_of(stretches: &[Stretch], lba: u64) -> usize {
    match stretches.len() {
        1 => 0,
        _ => stretches.partition_point(|stretch| stretch.start + stretch.sectors <= lba),
    }
}

#[inline]
fn place_in_volume(of: &Volume, volume: u16, extent: Extent, out: &mut Vec<Share>) {
    let Extent { mut lba, mut sectors } = extent;
    let mut number = stretch_of(&of.stretches, lba);
    while sectors > 0 {
        let stretch = &of.stretches[number];
        let skip = lba - stretch.start;
        let length = u64::from(sectors).min(stretch.sectors - skip) as u32;
        let extent = Extent { lba: stretch.lba + skip, sectors: length };
        out.push(Share { volume, stretch: number as u16, group: stretch.group, extent });
        lba += u64::from(length);
        sectors -= length;
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn volume(stretches: &[(u16, u64, u64)]) -> Volume {
        let mut start = 0;
        let stretches: Vec<_> = stretches
            .iter()
            .map(|&(group, lba, sectors)| {
                start += sectors;
                Stretch { start: start - sectors, sectors, group, lba }
            })
            .collect();
        Volume { name: String::new(), stretches, sectors: start, path: Vec::new(), limit: None }
    }

    /// (volume, stretch, lba, sectors) of each part.
    fn parts(target: &Target, all: &[Volume], lba: u64, sectors: u32) -> Vec<(u16, u16, u64, u32)> {
        let mut out = Vec::new();
        target.map(all, Extent { lba, sectors }, u32::MAX, &mut out);
        out.iter().map(|share| (share.volume, share.stretch, share.extent.lba, share.extent.sectors)).collect()
    }

    #[test]
    fn volumes_follow_one_another_and_so_do_their_stretches() {
        let all = [volume(&[(0, 1000, 100), (1, 0, 50)]), volume(&[(0, 0, 100)])];
        let target = Target::new(&all, vec![0, 1], 0);
        assert_eq!(target.sectors, 250);
        assert_eq!(parts(&target, &all, 90, 70), [(0, 0, 1090, 10), (0, 1, 0, 50), (1, 0, 0, 10)]);
    }

    #[test]
    fn a_stripe_deals_units_in_turn() {
        let all = [volume(&[(0, 0, 100)]), volume(&[(1, 0, 130)])];
        let target = Target::new(&all, vec![0, 1], 16);
        assert_eq!(target.sectors, 192);
        assert_eq!(parts(&target, &all, 8, 32), [(0, 0, 8, 8), (1, 0, 0, 16), (0, 0, 16, 8)]);
    }

    proptest! {
        #[test]
        fn every_sector_has_one_place(unit in 0_u64..20, lba in 0_u64..200, sectors in 1_u32..60) {
            let all = [volume(&[(0, 0, 70), (1, 5, 30)]), volume(&[(2, 0, 110)])];
            let target = Target::new(&all, vec![0, 1], unit);
            prop_assume!(lba + u64::from(sectors) <= target.sectors);
            let mut shares = Vec::new();
            target.map(&all, Extent { lba, sectors }, 50, &mut shares);
            let whole = target.whole(&all, Extent { lba, sectors }, 50);
            prop_assert_eq!(whole, if let [share] = *shares { Some(share) } else { None });
            let one_by_one: Vec<_> =
                (0..u64::from(sectors)).flat_map(|step| parts(&target, &all, lba + step, 1)).collect();
            let together: Vec<_> = parts(&target, &all, lba, sectors)
                .into_iter()
                .flat_map(|(volume, stretch, lba, sectors)| {
                    (0..u64::from(sectors)).map(move |step| (volume, stretch, lba + step, 1))
                })
                .collect();
            prop_assert_eq!(one_by_one, together);
        }
    }
}
