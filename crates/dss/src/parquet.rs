//! Tables as Parquet files, as streams of bytes: a group of rows after the other, and what they are at the end.
//!
//! Model: rows are gathered in groups of about 120,000. Each column of a group is written by itself: with a dictionary where few
//! values recur, else as packed differences (numbers) or packed lengths with the texts behind them, compressed by LZ4.
//! That is one way through the format, taken because it is small and quick; every reader knows it.
//!
//! Limits: columns that are never null, flat, of the types that the tables have. <https://parquet.apache.org/docs/file-format>

mod column;
mod dictionary;
mod pack;
mod thrift;

use crate::chunk::{Chunk, Span};
use crate::columns::Columns;
use crate::parquet::column::{ColumnChunk, write_column};
use crate::parquet::thrift::Struct;
use crate::schema::{Kind, Table};
use crate::source::Source;

const MAGIC: &[u8] = b"PAR1";
const MADE_BY: &[u8] = b"plimsoll";
/// A group of rows is complete with so many: as many as DuckDB keeps together.
const ROWS_PER_GROUP: usize = 120_000;

/// A Parquet file of a part of a table, piece by piece.
pub struct ParquetFile {
    table: Table,
    chunks: Box<dyn Iterator<Item = Chunk> + Send>,
    /// Rows of the group at hand; memory is used again.
    columns: Columns,
    groups: Vec<Group>,
    /// How many bytes were given out.
    written: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Rows,
    Done,
}

/// What the end of the file says of a group of rows.
struct Group {
    columns: Vec<ColumnChunk>,
    rows: u64,
}

impl ParquetFile {
    /// The file of these rows.
    #[must_use]
    pub fn new(span: &Span) -> Self {
        let table = span.table();
        Self {
            table,
            chunks: Box::new(span.chunks()),
            columns: Columns::new(table),
            groups: Vec::new(),
            written: 0,
            state: State::Rows,
        }
    }

    /// The next bytes of the file: a group of rows, at last its end; None after that.
    pub fn next(&mut self, source: &Source) -> Option<Vec<u8>> {
        if self.state == State::Done {
            return None;
        }
        let mut out = if self.written == 0 { MAGIC.to_vec() } else { Vec::new() };
        self.columns.clear();
        while self.columns.rows() < ROWS_PER_GROUP
            && let Some(chunk) = self.chunks.next()
        {
            chunk.rows(source, &mut self.columns);
        }
        if self.columns.rows() > 0 {
            self.write_group(&mut out);
        } else {
            self.write_end(&mut out);
            self.state = State::Done;
        }
        self.written += out.len() as u64;
        Some(out)
    }

    fn write_group(&mut self, out: &mut Vec<u8>) {
        let columns = self.columns.cells().iter().map(|cells| write_column(cells, self.written, out)).collect();
        self.groups.push(Group { columns, rows: self.columns.rows() as u64 });
    }

    fn write_end(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let columns = self.table.columns();
        let mut end = Struct::new(out);
        end.number(1, 2); // version of the format
        end.structs(2, columns.len() + 1, |index, element| match index.checked_sub(1) {
            None => {
                element.bytes(4, b"schema");
                element.number(5, columns.len() as i64);
            }
            Some(index) => describe(columns[index].name, columns[index].kind, element),
        });
        end.long(3, self.groups.iter().map(|group| group.rows as i64).sum());
        end.structs(4, self.groups.len(), |index, group| self.groups[index].describe(columns, group));
        end.bytes(6, MADE_BY);
        // Least and most values are compared as their types say.
        end.structs(7, columns.len(), |_, order| order.nested(1, |_| ()));
        end.end();
        let length = (out.len() - start) as u32;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(MAGIC);
    }
}

impl Group {
    fn describe(&self, columns: &[crate::schema::Column], out: &mut Struct<'_>) {
        out.structs(1, self.columns.len(), |index, chunk| {
            let written = &self.columns[index];
            chunk.long(2, 0); // nothing is said elsewhere
            chunk.nested(3, |about| written.describe(columns[index].name, about));
        });
        out.long(2, self.columns.iter().map(|column| column.plain_bytes as i64).sum());
        out.long(3, self.rows as i64);
    }
}

/// A column as the schema has it: type, never null, name, and what the type means.
fn describe(name: &str, kind: Kind, element: &mut Struct<'_>) {
    const UTF8: i64 = 0;
    const DECIMAL: i64 = 5;
    const DATE: i64 = 6;
    let (stored, meaning) = match kind {
        Kind::Key => (column::INT64, None),
        Kind::Decimal => (column::INT64, Some(DECIMAL)),
        Kind::Number => (column::INT32, None),
        Kind::Date => (column::INT32, Some(DATE)),
        Kind::Fixed(_) | Kind::Varying(_) => (column::BYTE_ARRAY, Some(UTF8)),
    };
    element.number(1, stored);
    element.number(3, 0); // required
    element.bytes(4, name.as_bytes());
    if let Some(meaning) = meaning {
        element.number(6, meaning);
    }
    if kind == Kind::Decimal {
        element.number(7, 2);
        element.number(8, 15);
    }
}
