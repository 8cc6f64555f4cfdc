//! Where a reader is, what it left out, and the refusals that all formats share.

use crate::error::{Piece, TraceError};
use crate::request::Targets;
use crate::tally::Tally;

/// Above this no file or device has an address, and no trace an instant; a larger number is damage.
pub const MOST: u128 = 1 << 63;

/// Why a record was left out: a command that moves no data of the disk and flushes nothing.
pub const WITHOUT_SECTORS: &str = "commands without sectors";
/// Why a record was left out: it says how a request went through the block layer.
pub const OTHER_ACTIONS: &str = "other actions of the block layer";

/// What a reader has to say besides its requests.
#[derive(Debug, Default)]
pub struct Reading {
    /// The line or record that was read last, from 1.
    pub line: u64,
    /// Lines or records that were left out, by reason.
    pub left_out: Tally,
    /// What is taken for granted that the trace does not say, in the order in which it came up.
    pub assumed: Vec<&'static str>,
    /// The names that requests refer to.
    pub targets: Targets,
}

impl Reading {
    /// Something is taken for granted.
    #[inline]
    pub(crate) fn assume(&mut self, what: &'static str) {
        if !self.assumed.contains(&what) {
            self.assumed.push(what);
        }
    }

    /// A sentence that names the line.
    #[cold]
    pub(crate) fn error<const N: usize>(&self, pieces: [Piece; N]) -> TraceError {
        TraceError::Line(self.line, pieces.into())
    }

    /// A sentence of our words alone.
    #[cold]
    pub(crate) fn said(&self, sentence: impl Into<String>) -> TraceError {
        self.error([Piece::Said(sentence.into())])
    }

    /// A sentence around what stands in the file.
    #[cold]
    pub(crate) fn about(&self, before: &str, text: &str, after: &str) -> TraceError {
        self.error([Piece::Said(before.to_owned()), Piece::Quoted(text.to_owned()), Piece::Said(after.to_owned())])
    }

    /// A whole number from 0 on, of at most twenty digits.
    #[inline]
    pub(crate) fn whole(&self, text: &str, what: &str, example: &str) -> Result<u128, TraceError> {
        let digits = text.as_bytes();
        if digits.is_empty() || digits.len() > 20 || !digits.iter().all(u8::is_ascii_digit) {
            let after = format!(" is not a whole number from 0 on; write one, for example {example}.");
            return Err(self.about(&format!("{what} "), text, &after));
        }
        let (most, last) = digits.split_at(digits.len().min(19));
        let number = |digits: &[u8]| digits.iter().fold(0, |number: u64, digit| number * 10 + u64::from(digit - b'0'));
        Ok(last.iter().fold(u128::from(number(most)), |number, digit| number * 10 + u128::from(digit - b'0')))
    }

    /// First byte and length, where storage may have them.
    #[inline]
    pub(crate) fn extent(&self, offset: u128, length: u128) -> Result<(u64, u64), TraceError> {
        if length == 0 {
            return Err(self.said("the request has a length of 0; a read, write or trim moves at least one byte."));
        }
        if offset + length > MOST {
            let end = offset + length;
            return Err(self.said(format!(
                "the request ends at byte {end}, beyond any storage; give the trace as it was recorded."
            )));
        }
        Ok((offset as u64, length as u64))
    }

    /// A time that a trace may reach.
    #[inline]
    pub(crate) fn instant(&self, at_ns: u128) -> Result<u64, TraceError> {
        if at_ns >= MOST {
            return Err(
                self.said("the time is more than 292 years in nanoseconds; give the trace in the units of its format.")
            );
        }
        Ok(at_ns as u64)
    }

    /// A line with too few columns, or too many.
    #[cold]
    pub(crate) fn columns(&self, found: usize, wanted: usize, what: &str) -> TraceError {
        self.said(format!("the line has {found} columns instead of {wanted}; write {what}."))
    }
}
