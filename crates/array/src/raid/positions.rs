//! Sets of members of one redundancy group, as the bits of a word: a member's bit is its position, its number in the group.

/// Whether a member is in a set.
#[inline]
pub(super) const fn holds(set: u64, position: u32) -> bool {
    (set >> position) & 1 == 1
}

/// The first `count` positions.
pub(super) const fn first(count: u32) -> u64 {
    if count == 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The positions of a set, ascending.
pub(super) fn bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let position = set.trailing_zeros();
            set &= set - 1;
            position
        })
    })
}

/// `count` positions of a set, ascending; which ones are left out moves on with `turn`, so that turns load all alike.
pub(super) fn chosen(set: u64, count: u32, turn: u64) -> impl Iterator<Item = u32> {
    let available = u64::from(set.count_ones().max(1));
    let shift = available - turn % available;
    bits(set)
        .enumerate()
        .filter(move |(index, _)| (*index as u64 + shift) % available < u64::from(count))
        .map(|(_, position)| position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_positions_of_a_set_come_in_order() {
        assert_eq!(bits(0b1000_0101).collect::<Vec<_>>(), [0, 2, 7]);
        assert_eq!(bits(first(64)).count(), 64);
        assert!(holds(first(3), 2) && !holds(first(3), 3));
    }

    #[test]
    fn every_position_is_left_out_in_turn() {
        let left_out: Vec<u64> = (0..4)
            .map(|turn| first(4) & !chosen(first(4), 3, turn).fold(0, |set, position| set | 1 << position))
            .collect();
        assert_eq!(left_out, [0b1000, 0b0001, 0b0010, 0b0100]);
    }
}
