//! Tables in chunks, each of which is drawn for itself: what makes parts, streams and refresh sets of them.

use tpchgen::distribution::Distributions;
use tpchgen::generators::OrderGenerator;
use tpchgen::text::TextPool;

use crate::error::DataError;
use crate::rows;
use crate::scale::Scale;
use crate::schema::Table;

/// What rows are drawn from: the words of the language, and 300 MiB of text made of them from which comments are cut.
///
/// Making it takes half a second, and its memory is free again when it goes.
#[derive(Debug)]
pub struct Source {
    pub(crate) words: &'static Distributions,
    pub(crate) text: TextPool,
}

impl Source {
    /// Part of the rules: another size gives other comments.
    const TEXT_BYTES: i32 = 300 << 20;

    /// Makes the text.
    #[must_use]
    pub fn new() -> Self {
        let words = Distributions::static_default();
        Self { words, text: TextPool::new(Self::TEXT_BYTES, words) }
    }
}

impl Default for Source {
    fn default() -> Self {
        Self::new()
    }
}

/// Takes the values of rows, column by column.
pub trait Values {
    /// A key or number.
    fn number(&mut self, value: i64);
    /// A decimal that has nothing behind the point.
    fn whole(&mut self, value: i64);
    /// A decimal, in hundredths.
    fn hundredths(&mut self, value: i64);
    /// A day, counted from 1 January 1970.
    fn date(&mut self, days: i32);
    /// Text of letters, digits and punctuation, without tab, line end or backslash.
    fn text(&mut self, value: &str);
    /// The same, written by `write`; what it appends is the value.
    fn written(&mut self, write: impl FnOnce(&mut Vec<u8>));
    /// The row is complete.
    fn end_row(&mut self);
}

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
