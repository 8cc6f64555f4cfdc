//! Why a trace was not read or written.

use std::fmt::{self, Display};
use std::io;

/// A part of a sentence about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Our words.
    Said(String),
    /// What stands in the file, which whoever shows the sentence shortens and quotes.
    Quoted(String),
}

/// What stopped the reading or writing of a trace.
#[derive(Debug)]
pub enum TraceError {
    /// A line that says nothing sensible: its number, from 1, and the sentence.
    Line(u64, Vec<Piece>),
    /// A record of a binary trace that says nothing sensible.
    Record {
        /// Its number, from 1.
        record: u64,
        /// Where it begins, in formats whose records differ in length.
        at_byte: Option<u64>,
        /// What is wrong with it.
        sentence: String,
    },
    /// What was chosen and the trace do not go together.
    Choice(String),
    /// The operating system, or whoever hands over the bytes.
    Io(io::Error),
}

impl Display for TraceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line, pieces) => {
                write!(out, "{line}: ")?;
                pieces.iter().try_for_each(|piece| match piece {
                    Piece::Said(text) => out.write_str(text),
                    Piece::Quoted(text) => write!(out, "'{text}'"),
                })
            }
            Self::Record { record, at_byte: Some(at_byte), sentence } => {
                write!(out, "record {record} at byte {at_byte}: {sentence}")
            }
            Self::Record { record, at_byte: None, sentence } => write!(out, "record {record}: {sentence}"),
            Self::Choice(sentence) => out.write_str(sentence),
            Self::Io(problem) => problem.fmt(out),
        }
    }
}

impl std::error::Error for TraceError {}

impl From<io::Error> for TraceError {
    fn from(problem: io::Error) -> Self {
        Self::Io(problem)
    }
}
