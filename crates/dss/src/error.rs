//! What can be wrong with a request for data.

use thiserror::Error;

/// A request for data that cannot be answered; the sentence says what would be right.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum DataError {
    /// Too small, too large or no number.
    #[error("scale {0}: there is no such size; give 0.01 to 10000, 30000 or 100000 (1 is about 1 GB of data).")]
    Scale(f64),
    /// So few suppliers that a part would have one of them twice.
    #[error("scale {0}: a part would have one supplier twice; give 0.01, or 0.023 and more.")]
    Suppliers(f64),
    /// A name that no table has.
    #[error("table '{name}' is not known; there are {known}.")]
    Table {
        /// The name that was asked for.
        name: String,
        /// The names that there are, in a list.
        known: String,
    },
    /// A part that the whole does not have.
    #[error("part {part} of {parts}: parts are counted from 1 to their number, at least 1.")]
    Part {
        /// The part that was asked for.
        part: u32,
        /// How many there are.
        parts: u32,
    },
    /// A refresh set beyond those that there are orders for.
    #[error("refresh set {number}: there are sets 1 to {sets}; load the data again to go on.")]
    RefreshSet {
        /// The set that was asked for.
        number: u32,
        /// How many there are.
        sets: u32,
    },
    /// A seed from which nothing can be drawn.
    #[error("seed {0}: the seed plus the number of the stream has to be from 1 to 2147483646.")]
    Seed(i64),
}
