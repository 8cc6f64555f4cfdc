//! Tables in chunks, each of which is drawn for itself: what makes parts, streams and refresh sets of them.

use tpchgen::generators::OrderGenerator;

use crate::error::DataError;
use crate::rows;
use crate::scale::Scale;
use crate::schema::Table;
use crate::source::{Source, Values};

/// The smallest piece of a table that is drawn for itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chunk {
    table: Table,
    scale: Scale,
    /// Counted from 0.
    index: u64,
    chunks: u64,
}

impl Chunk {
    /// Hands all its rows to `values`.
    pub fn rows(self, source: &Source, values: &mut impl Values) {
        let place = rows::Place { scale: self.scale.get(), part: self.index as i32 + 1, parts: self.chunks as i32 };
        match self.table {
            Table::Region => rows::regions(source, values),
            Table::Nation => rows::nations(source, values),
            Table::Part => rows::parts(source, place, values),
            Table::Supplier => rows::suppliers(source, place, values),
            Table::PartSupp => rows::part_suppliers(source, place, values),
            Table::Customer => rows::customers(source, place, values),
            Table::Orders => rows::orders(source, place, values),
            Table::LineItem => rows::line_items(source, place, values),
        }
    }
}

/// A table or a part of it: neighbouring chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    table: Table,
    scale: Scale,
    chunks: u64,
    /// Of them, counted from 0.
    taken: std::ops::Range<u64>,
}

impl Span {
    /// All of a table.
    #[must_use]
    pub fn whole(table: Table, scale: Scale) -> Self {
        let chunks = (table.origins(scale) / table.origins_per_chunk()).max(1);
        Self { table, scale, chunks, taken: 0..chunks }
    }

    /// Part `part` of `parts`, counted from 1. All parts together are the table; of a small table some are empty.
    pub fn part(table: Table, scale: Scale, part: u32, parts: u32) -> Result<Self, DataError> {
        if part == 0 || part > parts {
            return Err(DataError::Part { part, parts });
        }
        let whole = Self::whole(table, scale);
        let cut = |part: u32| whole.chunks * u64::from(part) / u64::from(parts);
        Ok(Self { taken: cut(part - 1)..cut(part), ..whole })
    }

    /// The table.
    #[must_use]
    pub const fn table(&self) -> Table {
        self.table
    }

    /// Its chunks, in the order of the rows.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk> + use<> {
        let Self { table, scale, chunks, .. } = *self;
        self.taken.clone().map(move |index| Chunk { table, scale, index, chunks })
    }

    /// How many rows it has. Those of `lineitem` are found by drawing how many items every order has, about 10 ms at scale 1.
    #[must_use]
    pub fn rows(&self) -> u64 {
        let origins = self.origins();
        let count = origins.end - origins.start;
        match self.table {
            Table::PartSupp => 4 * count,
            Table::LineItem => {
                let mut items = OrderGenerator::create_line_count_random();
                items.advance_rows(origins.start as i64);
                let drawn = |_| {
                    let count = items.next_value();
                    items.row_finished();
                    count as u64
                };
                (0..count).map(drawn).sum()
            }
            _ => count,
        }
    }

    /// What its rows are drawn for; the last chunk takes what is left over by the others.
    fn origins(&self) -> std::ops::Range<u64> {
        let all = self.table.origins(self.scale);
        let cut = |chunk: u64| if chunk == self.chunks { all } else { chunk * (all / self.chunks) };
        cut(self.taken.start)..cut(self.taken.end)
    }
}

impl Table {
    /// How many rows it has.
    #[must_use]
    pub fn rows(self, scale: Scale) -> u64 {
        Span::whole(self, scale).rows()
    }
}
