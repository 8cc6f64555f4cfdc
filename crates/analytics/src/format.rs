//! A catalog of formats: which label stands for which value, as a file, and looked up by hash while rows are copied.
//!
//! Model: every value of C1 and C2 has a label of the same length; labels are another order of the same kind of text, so that rows keep
//! their size. The file holds value and label one after the other.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::disk::Disk;
use crate::error::Trouble;
use crate::row::{self, C1_VALUES, C2_VALUES};

/// Both texts of an entry: value, then label.
const C1_ENTRY: usize = 16;
const C2_ENTRY: usize = 32;

/// Bytes of the catalog as a file.
pub const CATALOG_BYTES: u64 = C1_VALUES as u64 * C1_ENTRY as u64 + C2_VALUES as u64 * C2_ENTRY as u64;

/// Labels by value.
pub struct Catalog {
    first: HashMap<[u8; 8], [u8; 8], Hashing>,
    second: HashMap<[u8; 16], [u8; 16], Hashing>,
}

type Hashing = BuildHasherDefault<Mixing>;

/// Hashes texts of eight bytes at a time; which rows there are is ours, so nobody chooses values that collide.
#[derive(Default)]
struct Mixing(u64);

impl Hasher for Mixing {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.0 = row::mixed(self.0 ^ u64::from_le_bytes(word));
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The label of a value of C1: another place, and another word.
fn c1_label(value: u32) -> [u8; 8] {
    let mut label = row::c1_value((value * 7 + 3) % C1_VALUES);
    label[..5].copy_from_slice(b"CLASS");
    label
}

fn c2_label(value: u32) -> [u8; 16] {
    let mut label = row::c2_value((value * 7 + 3) % C2_VALUES);
    label.rotate_right(1);
    label
}

/// Writes the catalog of all values.
///
/// # Errors
/// When the file cannot be written.
pub fn write_catalog(disk: Disk<'_>, name: &str) -> Result<(), Trouble> {
    let mut file = disk.writer(name)?;
    for value in 0..C1_VALUES {
        file.push(&row::c1_value(value))?;
        file.push(&c1_label(value))?;
    }
    for value in 0..C2_VALUES {
        file.push(&row::c2_value(value))?;
        file.push(&c2_label(value))?;
    }
    file.finish()?;
    Ok(())
}

impl Catalog {
    /// Reads a catalog.
    ///
    /// # Errors
    /// When the file cannot be read or does not hold every value once.
    pub fn read(disk: Disk<'_>, name: &str) -> Result<Self, Trouble> {
        let mut file = disk.reader(name, C1_ENTRY)?;
        let mut found = Self { first: HashMap::default(), second: HashMap::default() };
        let mut half = None;
        let mut entries = 0;
        while file.advance()? {
            let text = file.current();
            if entries < C1_VALUES {
                found.first.insert(part(text, 0), part(text, 8));
                entries += 1;
                continue;
            }
            match half.take() {
                None => half = Some(part::<16>(text, 0)),
                Some(value) => {
                    found.second.insert(value, part(text, 0));
                }
            }
        }
        let sizes = (found.first.len(), found.second.len());
        if sizes != (C1_VALUES as usize, C2_VALUES as usize) || file.size() != CATALOG_BYTES {
            let what = format!("{} and {} values, not {C1_VALUES} and {C2_VALUES}", sizes.0, sizes.1);
            return Err(Trouble::wrong(file.path(), what));
        }
        Ok(found)
    }

    /// Puts labels in the place of values; `false` where one has no label.
    pub fn apply(&self, row: &mut [u8]) -> bool {
        let labels = (self.first.get(&part::<8>(row, row::C1.start)), self.second.get(&part::<16>(row, row::C2.start)));
        let (Some(first), Some(second)) = labels else { return false };
        row[row::C1].copy_from_slice(first);
        row[row::C2].copy_from_slice(second);
        row::seal(row);
        true
    }
}

/// How many rows have each of the first labels, as [`Groups`] of the values say.
pub fn relabelled(groups: &Groups) -> Groups {
    let mut found = Groups::default();
    for (value, rows) in &groups.0 {
        let number = value[5..].iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        found.0.insert(c1_label(number % C1_VALUES), *rows);
    }
    found
}

/// Rows of each value of C1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups(pub std::collections::BTreeMap<[u8; 8], u64>);

impl Groups {
    /// One more row.
    pub fn add(&mut self, row: &[u8]) {
        *self.0.entry(part(row, row::C1.start)).or_default() += 1;
    }
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut found = [0; N];
    found.copy_from_slice(&bytes[at..at + N]);
    found
}
