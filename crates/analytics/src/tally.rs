//! What is known of all rows of a file together, in whatever order they are.
//!
//! Model: sums that any order gives alike: of numbers, of hashed checksums, of the exact amounts, and the rows of each group. A row that is
//! missing, twice, changed or of another file changes at least one of them.

use serde::{Deserialize, Serialize};

use crate::error::Trouble;
use crate::row;
use std::path::Path;

/// Sums over rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many.
    pub rows: u64,
    /// Their numbers, added up (wrapping).
    pub numbers: u64,
    /// Their checksums, hashed with their numbers and added up (wrapping).
    pub seals: u64,
    /// Their amounts, in steps of 2^-53; as text where it is stored, since it has 128 bits.
    #[serde(with = "as_text")]
    pub amount: u128,
}

impl Tally {
    /// One more row.
    pub fn add(&mut self, row: &[u8]) {
        let number = row::number_of(row);
        self.rows += 1;
        self.numbers = self.numbers.wrapping_add(number);
        self.seals = self.seals.wrapping_add(row::mixed((u64::from(row::seal_of(row)) << 32) ^ number));
        self.amount += u128::from(row::amount(row));
    }

    /// One more row of a file, whose checksum has to be right.
    ///
    /// # Errors
    /// [`Trouble::WrongData`] otherwise.
    pub fn add_checked(&mut self, row: &[u8], path: &Path) -> Result<(), Trouble> {
        if !row::is_sealed(row) {
            return Err(Trouble::wrong(path, format!("row {} does not have its checksum", self.rows + 1)));
        }
        self.add(row);
        Ok(())
    }

    /// Whether the rows that were read are those that were written.
    ///
    /// # Errors
    /// [`Trouble::WrongData`] with what differs.
    pub fn check(&self, written: &Self, path: &Path) -> Result<(), Trouble> {
        if self.rows != written.rows {
            return Err(Trouble::wrong(path, format!("{} rows were read, {} were written", self.rows, written.rows)));
        }
        let same = [
            (self.numbers == written.numbers, "row numbers"),
            (self.amount == written.amount, "amounts"),
            (self.seals == written.seals, "checksums"),
        ];
        match same.iter().find(|(same, _)| !same) {
            Some((_, what)) => {
                Err(Trouble::wrong(path, format!("the sum of the {what} is not that of the rows written")))
            }
            None => Ok(()),
        }
    }
}

mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&value.to_string())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
