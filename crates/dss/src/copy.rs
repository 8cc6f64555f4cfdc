//! Rows as text for PostgreSQL's `COPY … FROM STDIN`: columns parted by tabs, a line for each row.

use crate::chunk::Chunk;
use crate::digits;
use crate::source::{Source, Values};

/// Appends rows to bytes. Nothing is escaped: no value has a tab, a line end or a backslash.
#[derive(Debug)]
pub struct CopyText<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> CopyText<'a> {
    /// Rows go to the end of `out`.
    pub const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }
}

impl Values for CopyText<'_> {
    fn number(&mut self, value: i64) {
        digits::integer(self.out, value);
        self.out.push(b'\t');
    }

    fn whole(&mut self, value: i64) {
        self.number(value);
    }

    fn hundredths(&mut self, value: i64) {
        digits::hundredths(self.out, value);
        self.out.push(b'\t');
    }

    fn date(&mut self, days: i32) {
        digits::date(self.out, days);
        self.out.push(b'\t');
    }

    fn text(&mut self, value: &str) {
        self.out.extend_from_slice(value.as_bytes());
        self.out.push(b'\t');
    }

    fn written(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(self.out);
        self.out.push(b'\t');
    }

    fn end_row(&mut self) {
        if let Some(last) = self.out.last_mut() {
            *last = b'\n';
        }
    }
}

/// The rows of a chunk, appended to `out`.
pub fn copy_text(source: &Source, chunk: Chunk, out: &mut Vec<u8>) {
    chunk.rows(source, &mut CopyText::new(out));
}
