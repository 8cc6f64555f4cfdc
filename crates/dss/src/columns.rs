//! Rows as columns: what formats that store column by column are made from.

use crate::schema::{Kind, Table};
use crate::source::Values;

/// The values of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cells {
    /// Keys, and decimals in hundredths.
    Long(Vec<i64>),
    /// Numbers, and days since 1970.
    Short(Vec<i32>),
    /// Texts, one behind the other.
    Text(Texts),
}

/// Texts, one behind the other, and where each ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    /// The first is 0; one more than there are texts.
    pub ends: Vec<i32>,
    /// All texts.
    pub bytes: Vec<u8>,
}

impl Texts {
    /// Text number `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.ends[index] as usize..self.ends[index + 1] as usize]
    }

    fn end(&mut self) {
        self.ends.push(self.bytes.len() as i32);
    }
}

/// Rows of a table, column by column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    cells: Vec<Cells>,
    /// The column that the next value goes to.
    next: usize,
    rows: usize,
}

impl Columns {
    /// No rows yet.
    #[must_use]
    pub fn new(table: Table) -> Self {
        let empty = |kind: Kind| match kind {
            Kind::Key | Kind::Decimal => Cells::Long(Vec::new()),
            Kind::Number | Kind::Date => Cells::Short(Vec::new()),
            Kind::Fixed(_) | Kind::Varying(_) => Cells::Text(Texts { ends: vec![0], bytes: Vec::new() }),
        };
        Self { cells: table.columns().iter().map(|column| empty(column.kind)).collect(), next: 0, rows: 0 }
    }

    /// How many rows there are.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in the order of the table's.
    #[must_use]
    pub fn cells(&self) -> &[Cells] {
        &self.cells
    }

    /// The columns to keep.
    #[must_use]
    pub fn into_cells(self) -> Vec<Cells> {
        self.cells
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.rows = 0;
        for cells in &mut self.cells {
            match cells {
                Cells::Long(values) => values.clear(),
                Cells::Short(values) => values.clear(),
                Cells::Text(texts) => {
                    texts.ends.truncate(1);
                    texts.bytes.clear();
                }
            }
        }
    }

    fn column(&mut self) -> &mut Cells {
        let column = self.next;
        self.next += 1;
        &mut self.cells[column]
    }
}

impl Values for Columns {
    fn number(&mut self, value: i64) {
        match self.column() {
            Cells::Long(values) => values.push(value),
            Cells::Short(values) => values.push(value as i32),
            Cells::Text(_) => unreachable!("a number in a column of texts"),
        }
    }

    fn whole(&mut self, value: i64) {
        self.number(value * 100);
    }

    fn hundredths(&mut self, value: i64) {
        self.number(value);
    }

    fn date(&mut self, days: i32) {
        self.number(days.into());
    }

    fn text(&mut self, value: &str) {
        self.written(|bytes| bytes.extend_from_slice(value.as_bytes()));
    }

    fn written(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let Cells::Text(texts) = self.column() else { unreachable!("a text in a column of numbers") };
        write(&mut texts.bytes);
        texts.end();
    }

    fn end_row(&mut self) {
        self.next = 0;
        self.rows += 1;
    }
}
