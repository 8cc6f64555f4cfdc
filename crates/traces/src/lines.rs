//! Lines of a text trace, numbered, without blank lines and comments.
//!
//! Model: the file is bytes, so that a line which is no text is an error with its number. A comment begins with `#` or
//! `//`; a byte order mark before the first line is skipped.
//! Limits: a line has fewer than 4096 bytes; no trace format comes near.

use std::io::{BufRead, Read};

use crate::error::TraceError;
use crate::reading::Reading;
use crate::words::is_space;

const LONGEST_BYTES: usize = 4096;
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Lines out of whatever can be read.
#[derive(Debug)]
pub struct Lines<R> {
    file: R,
    content: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(file: R) -> Self {
        Self { file, content: Vec::with_capacity(LONGEST_BYTES) }
    }

    /// The next line that says something, without white space around it; `None` at the end.
    pub fn next(&mut self, reading: &mut Reading) -> Result<Option<&str>, TraceError> {
        loop {
            self.content.clear();
            self.file.by_ref().take(LONGEST_BYTES as u64).read_until(b'\n', &mut self.content)?;
            if self.content.is_empty() {
                return Ok(None);
            }
            reading.line += 1;
            let said = said(&self.content, reading)?;
            if !said.is_empty() && !said.starts_with('#') && !said.starts_with("//") {
                break;
            }
        }
        // Looked at anew, since a line that is given cannot be borrowed while others are passed over.
        said(&self.content, reading).map(Some)
    }
}

fn said<'line>(content: &'line [u8], reading: &Reading) -> Result<&'line str, TraceError> {
    if content.len() >= LONGEST_BYTES {
        return Err(reading
            .said(format!("the line has {LONGEST_BYTES} bytes or more; give a trace with one request per line.")));
    }
    let content = if reading.line == 1 { content.strip_prefix(MARK).unwrap_or(content) } else { content };
    let Ok(line) = str::from_utf8(content) else {
        return Err(reading.said("the line is not text; give the trace as its tool wrote it."));
    };
    let line = line.trim_matches(is_space);
    if line.contains('\0') {
        return Err(reading.said("the line holds a zero byte; give the trace as its tool wrote it."));
    }
    Ok(line)
}
