//! The order in which a rebuild goes through a child of a declustered group.
//!
//! Model: a child is cut into slices, these into rows and these into *steps*, each a chunk of a rebuild. Into a distributed spare
//! several slices are rebuilt by turns, a step of each, since each has another child in the spare place: so many children are written
//! at once. What is rebuilt is then a stretch in this order, told by one address as it is of any member. With one slice at a time the
//! order is that of the sectors.

use plimsoll_workload::Divisor;

/// A way through a child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    /// Sectors of a row, of a slice, and of the slices that go together.
    row: Divisor,
    slice: Divisor,
    block: Divisor,
    /// Sectors of a step, and steps of a row; the last one has what is left of the row as well.
    step: u64,
    steps: u64,
    slices: u64,
    lanes: u64,
}

/// A step: sectors of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) lba: u64,
    pub(super) sectors: u64,
    /// Its number in the row.
    pub(super) number: u64,
}

impl Order {
    /// Of so many slices with so many rows; `step` is at most a row, of which it leaves less than itself.
    pub(super) fn new((row, rows, slices): (u64, u64, u64), (step, steps): (u64, u64), lanes: u64) -> Self {
        let slice = row * rows;
        Self {
            row: Divisor::new(row),
            slice: Divisor::new(slice),
            block: Divisor::new(slice * lanes),
            step,
            steps,
            slices,
            lanes,
        }
    }

    fn length(&self, number: u64) -> u64 {
        if number + 1 == self.steps { self.row.value() - number * self.step } else { self.step }
    }

    /// Slices that go together with those of a block: fewer at the end.
    fn wide(&self, block: u64) -> u64 {
        self.lanes.min(self.slices - block * self.lanes)
    }

    /// The address of a sector in this order.
    pub(super) fn address(&self, lba: u64) -> u64 {
        let (slice, inside) = self.slice.split(lba);
        let (block, lane) = (slice / self.lanes, slice % self.lanes);
        let (row, inside) = self.row.split(inside);
        let number = (inside / self.step).min(self.steps - 1);
        let before = row * self.row.value() + number * self.step;
        let in_block = self.wide(block) * before + lane * self.length(number);
        block * self.block.value() + in_block + inside - number * self.step
    }

    /// The step at an address where one begins.
    pub(super) fn step(&self, address: u64) -> Step {
        let (block, inside) = self.block.split(address);
        let wide = self.wide(block);
        let (row, inside) = (inside / (wide * self.row.value()), inside % (wide * self.row.value()));
        let number = (inside / (wide * self.step)).min(self.steps - 1);
        let sectors = self.length(number);
        let lane = (inside - number * wide * self.step) / sectors;
        let slice = block * self.lanes + lane;
        let lba = slice * self.slice.value() + row * self.row.value() + number * self.step;
        Step { lba, sectors, number }
    }

    /// Sectors of a step.
    pub(super) const fn step_sectors(&self) -> u64 {
        self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row, rows, slices, step, steps, lanes.
    const ORDERS: [(u64, u64, u64, u64, u64, u64); 5] =
        [(16, 3, 7, 5, 3, 3), (8, 1, 4, 8, 1, 4), (12, 2, 5, 4, 3, 1), (9, 4, 6, 2, 4, 6), (10, 2, 3, 3, 3, 8)];

    #[test]
    fn every_sector_has_an_address_of_its_own_and_steps_follow_one_another() {
        for (row, rows, slices, step, steps, lanes) in ORDERS {
            let order = Order::new((row, rows, slices), (step, steps), lanes);
            let all = row * rows * slices;
            let mut addresses: Vec<u64> = (0..all).map(|lba| order.address(lba)).collect();
            addresses.sort_unstable();
            assert_eq!(addresses, (0..all).collect::<Vec<_>>());
            let mut address = 0;
            while address < all {
                let found = order.step(address);
                for inside in 0..found.sectors {
                    assert_eq!(order.address(found.lba + inside), address + inside);
                }
                address += found.sectors;
            }
            assert_eq!(address, all);
        }
    }

    #[test]
    fn slices_take_turns_and_one_alone_goes_through_its_sectors() {
        let order = Order::new((16, 2, 6), (8, 2), 3);
        let slices: Vec<u64> = (0..12).map(|number| order.step(number * 8).lba / 32).collect();
        assert_eq!(slices, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
        let alone = Order::new((16, 2, 6), (8, 2), 1);
        assert!((0..192).all(|lba| alone.address(lba) == lba));
    }
}
