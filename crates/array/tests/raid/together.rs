//! Writes under way together: with row locks parity stays right, without them it does not.
//!
//! Model: a read-modify-write is two steps, a random one of all those under way goes next, and the new parity is made of
//! what the first step read. A row holds one word of data per column and its P.

use plimsoll_array::raid::{Extent, Geometry, GroupSpec, Level, RowLocks, WritePlan};

use super::scenario::Dice;

/// A write under way: old data and parity as they were read, or nothing yet.
struct Write {
    handle: u32,
    lba: u64,
    word: u64,
    read: Option<(u64, u64)>,
}

struct Rows {
    geometry: Geometry,
    data: Vec<u64>,
    parity: Vec<u64>,
    locks: Option<RowLocks>,
    plan: WritePlan,
}

impl Rows {
    fn new(locked: bool) -> Self {
        let geometry = Geometry::new(&GroupSpec::new(Level::Raid5, 5, 1), 6).unwrap();
        let sectors = geometry.data_sectors() as usize;
        let locks = locked.then(|| RowLocks::new(16));
        Self { geometry, data: vec![0; sectors], parity: vec![0; 6], locks, plan: WritePlan::default() }
    }

    /// Whether a new write may begin at once.
    fn begin(&mut self, write: &Write) -> bool {
        let extent = Extent { lba: write.lba, sectors: 1 };
        self.geometry.write(extent, &self.geometry.members(), &mut self.plan).unwrap();
        self.locks.as_mut().is_none_or(|locks| locks.acquire(write.handle, &self.plan.rows))
    }

    /// The next step of a write; whether it was the last.
    fn step(&mut self, write: &mut Write) -> bool {
        let (place, row) = (write.lba as usize, (write.lba / self.geometry.row_sectors()) as usize);
        let Some((old, parity)) = write.read else {
            write.read = Some((self.data[place], self.parity[row]));
            return false;
        };
        self.data[place] = write.word;
        self.parity[row] = parity ^ old ^ write.word;
        true
    }

    fn parity_is_right(&self) -> bool {
        let rows = self.data.chunks(self.geometry.row_sectors() as usize);
        rows.zip(&self.parity).all(|(row, &parity)| row.iter().fold(0, |sum, word| sum ^ word) == parity)
    }
}

/// Keeps some writes under way at once; whether parity is right when all have ended.
fn write_together(locked: bool, seed: u64) -> bool {
    let (mut rows, mut dice) = (Rows::new(locked), Dice::new(seed));
    let (mut going, mut waiting): (Vec<Write>, Vec<Write>) = (Vec::new(), Vec::new());
    let mut free: Vec<u32> = (0..8).collect();
    let (mut begun, mut ended) = (0, 0);
    while ended < 500 {
        if begun < 500
            && let Some(handle) = free.pop()
        {
            begun += 1;
            let write =
                Write { handle, lba: dice.below(rows.data.len() as u64), word: dice.below(u64::MAX), read: None };
            if rows.begin(&write) {
                going.push(write)
            } else {
                waiting.push(write)
            }
            continue;
        }
        let index = dice.below(going.len() as u64) as usize;
        if rows.step(&mut going[index]) {
            let done = going.swap_remove(index);
            let mut granted = Vec::new();
            ended += 1;
            rows.locks.iter_mut().for_each(|locks| locks.release(done.handle, &mut granted));
            let (now, later) = waiting.into_iter().partition(|write| granted.contains(&write.handle));
            waiting = later;
            going.extend::<Vec<Write>>(now);
            free.push(done.handle);
        }
    }
    rows.parity_is_right()
}

#[test]
fn with_row_locks_parity_survives_writes_of_the_same_rows() {
    assert!((0..20).all(|seed| write_together(true, seed)));
}

#[test]
fn without_row_locks_it_does_not() {
    assert!((0..20).any(|seed| !write_together(false, seed)));
}
