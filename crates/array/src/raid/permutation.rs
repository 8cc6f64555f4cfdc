//! Permutations of the children of a declustered group: who takes which place in a slice.
//!
//! Model: a table of permutations, each shuffled (Fisher and Yates) from the one before it with draws of one seed, as OpenZFS makes
//! its maps: 256 of them, 512 from 32 children on (`draid_maps` in `vdev_draid.c`). Each serves as many slices as there are children,
//! turned by one more child in every next one. So over these slices every child takes every place once, and of two places the
//! difference between their children is the same in all: a child that fails has each other child as its spare equally often.
//!
//! Limits: the seed is ours, so no pool of OpenZFS has the same map. Theirs were chosen among many for their balance, ours was not.

use std::sync::Arc;

use plimsoll_workload::Divisor;
use plimsoll_workload::rng::Draws;

/// Any number; another one gives other maps.
const SEED: u64 = 0xd3c1_u64;
/// The most children: a child is a byte of the table.
pub(super) const CHILDREN_MAX: u16 = 255;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Permutations {
    children: Divisor,
    count: Divisor,
    /// By permutation and place, the child.
    children_at: Arc<[u8]>,
    /// By permutation and child, the place.
    places: Arc<[u8]>,
}

/// The permutation of one slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation<'a> {
    turn: u32,
    children_at: &'a [u8],
    places: &'a [u8],
}

impl Permutations {
    pub(super) fn new(children: u16) -> Self {
        let (wide, count) = (usize::from(children), if children < 32 { 256 } else { 512 });
        let draws = Draws::new(SEED, &[u64::from(children)]);
        let mut row: Vec<u8> = (0..children).map(|child| child as u8).collect();
        let (mut children_at, mut places) = (Vec::with_capacity(wide * count), vec![0; wide * count]);
        let mut drawn = 0;
        for number in 0..count {
            for last in (1..wide).rev() {
                row.swap(last, (draws.at(drawn) % (last as u64 + 1)) as usize);
                drawn += 1;
            }
            for (place, &child) in row.iter().enumerate() {
                places[number * wide + usize::from(child)] = place as u8;
            }
            children_at.extend_from_slice(&row);
        }
        Self {
            children: Divisor::new(u64::from(children)),
            count: Divisor::new(count as u64),
            children_at: children_at.into(),
            places: places.into(),
        }
    }

    pub(super) const fn children(&self) -> u32 {
        self.children.value() as u32
    }

    #[inline]
    pub(super) fn of_slice(&self, slice: u64) -> Permutation<'_> {
        let (number, turn) = self.children.split(slice);
        let wide = self.children.value() as usize;
        let first = self.count.remainder(number) as usize * wide;
        Permutation {
            turn: turn as u32,
            children_at: &self.children_at[first..first + wide],
            places: &self.places[first..first + wide],
        }
    }
}

impl Permutation<'_> {
    /// The child at a place.
    #[inline]
    pub(super) fn child(&self, place: u32) -> u32 {
        let (child, wide) = (u32::from(self.children_at[place as usize]) + self.turn, self.children_at.len() as u32);
        if child >= wide { child - wide } else { child }
    }

    /// The place of a child.
    #[inline]
    pub(super) fn place(&self, child: u32) -> u32 {
        let wide = self.places.len() as u32;
        let unturned = if child >= self.turn { child - self.turn } else { child + wide - self.turn };
        u32::from(self.places[unturned as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_child_has_one_place_in_every_slice_and_each_place_has_it_as_often() {
        for children in [1, 2, 3, 11, 31, 64, 90, 255] {
            let all = Permutations::new(children);
            let wide = u32::from(children);
            for first in [0, u64::from(children) * 100, u64::from(children) * 700] {
                let mut seen = vec![0; usize::from(children) * usize::from(children)];
                for slice in first..first + u64::from(children) {
                    let permutation = all.of_slice(slice);
                    for place in 0..wide {
                        let child = permutation.child(place);
                        assert_eq!(permutation.place(child), place);
                        seen[(place * wide + child) as usize] += 1;
                    }
                }
                assert!(seen.iter().all(|&times| times == 1), "{children} children from slice {first} on");
            }
        }
    }

    #[test]
    fn a_child_has_each_other_one_as_its_spare_equally_often() {
        for children in [5_u16, 24, 90] {
            let (all, wide) = (Permutations::new(children), u32::from(children));
            for failed in [0, wide / 2] {
                let mut writes = vec![0; usize::from(children)];
                for slice in 0..u64::from(children) * 3 {
                    writes[all.of_slice(slice).child(wide - 1) as usize] +=
                        u32::from(all.of_slice(slice).place(failed) != wide - 1);
                }
                writes.remove(failed as usize);
                assert!(writes.iter().all(|&times| times == 3), "{children}: {writes:?}");
            }
        }
    }

    #[test]
    fn permutations_differ() {
        let all = Permutations::new(12);
        let order = |slice| (0..12).map(|place| all.of_slice(slice).child(place)).collect::<Vec<_>>();
        let distinct: std::collections::BTreeSet<_> = (0..256).map(|number| order(number * 12)).collect();
        assert_eq!(distinct.len(), 256);
    }
}
