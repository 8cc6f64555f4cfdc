//! What rows are drawn from, and who takes their values.

use tpchgen::distribution::Distributions;
use tpchgen::text::TextPool;

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
