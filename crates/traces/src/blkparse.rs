//! The text that blkparse prints of a block trace.
//!
//! Model: its default form, `major,minor cpu sequence seconds.nanoseconds pid action RWBS sector + sectors [process]`. A
//! request is counted where it is issued to the driver (action D) or, by choice, queued (Q) or completed; completions (C)
//! give its service time. Other actions say how requests went through the block layer and are left out, as are commands
//! without sectors. A discard is a trim; a flush has no sectors. The totals below the events end the trace.
//! Units: seconds with nine digits, sectors of 512 bytes.
//! Limits: a form of one's own (`blkparse -f`) is not read. Requests that were merged after they were queued count apart
//! with Q and together with D.
//!
//! ```text
//!   8,0    3        1     0.000000000   697  D   W 223490 + 8 [kjournald]
//! ```

use std::io::BufRead;

use plimsoll_workload::Op;

use crate::completions::{Event, Events};
use crate::counted_action::Counted;
use crate::error::{Piece, TraceError};
use crate::lines::Lines;
use crate::reading::{OTHER_ACTIONS, Reading, WITHOUT_SECTORS};
use crate::request::{Request, SECTOR_BYTES};
use crate::words::words;

/// Words before the sector.
const HEAD: usize = 7;
/// Words up to the number of sectors.
const WORDS: usize = HEAD + 3;
const ACTIONS: [&str; 17] = ["Q", "D", "C", "I", "G", "S", "R", "M", "F", "P", "U", "T", "X", "B", "A", "m", "UT"];

/// The events of blkparse's text.
#[derive(Debug)]
pub struct Blkparse<R> {
    lines: Lines<R>,
    action: &'static str,
    reading: Reading,
}

impl<R: BufRead> Blkparse<R> {
    pub fn new(counted: Counted, file: R) -> Self {
        let action = match counted {
            Counted::Queue => "Q",
            Counted::Issue => "D",
            Counted::Complete => "C",
        };
        Self { lines: Lines::new(file), action, reading: Reading::default() }
    }
}

impl<R: BufRead> Events for Blkparse<R> {
    fn event(&mut self) -> Result<Option<Event>, TraceError> {
        while let Some(line) = self.lines.next(&mut self.reading)? {
            if is_total(line) {
                break;
            }
            let line = Line::new(line, &self.reading)?;
            let action = line.words[5];
            if action != self.action && action != "C" {
                self.reading.left_out.count(OTHER_ACTIONS);
                continue;
            }
            let Some(request) = line.request(&mut self.reading)? else { continue };
            if action == self.action {
                return Ok(Some(if action == "C" { Event::Whole(request) } else { Event::Issued(request) }));
            }
            if request.op != Op::Flush {
                return Ok(Some(Event::Completed(request)));
            }
        }
        Ok(None)
    }

    fn reading(&mut self) -> &mut Reading {
        &mut self.reading
    }
}

/// Words of an event.
struct Line<'line> {
    words: [&'line str; WORDS],
    count: usize,
}

impl<'line> Line<'line> {
    fn new(line: &'line str, reading: &Reading) -> Result<Self, TraceError> {
        let mut found = Self { words: [""; WORDS], count: 0 };
        for word in words(line).take(WORDS) {
            found.words[found.count] = word;
            found.count += 1;
        }
        if found.count < HEAD - 1 || !is_device(found.words[0]) {
            let after =
                " is not an event; give what blkparse prints: device, cpu, sequence, time, process, action, RWBS.";
            let quoted = words(line).collect::<Vec<_>>().join(" ");
            return Err(reading.error([Piece::Quoted(quoted), Piece::Said(after.to_owned())]));
        }
        if !ACTIONS.contains(&found.words[5]) {
            let after = " is unknown; blkparse prints Q, D, C or another of its letters there.";
            return Err(reading.about("the action ", found.words[5], after));
        }
        Ok(found)
    }

    /// The request; `None` for what moves no data and flushes nothing.
    fn request(&self, reading: &mut Reading) -> Result<Option<Request>, TraceError> {
        let at_ns = Some(instant(self.words[3], reading)?);
        let rwbs = self.words[6];
        if !(1..=8).contains(&rwbs.len()) || !rwbs.bytes().all(|letter| letter.is_ascii_uppercase()) {
            return Err(reading.said(
                "the event does not say what is done; blkparse prints R, W, D or F there, with letters behind.",
            ));
        }
        let op = operation(rwbs);
        let (mut offset, mut length) = (0, 0);
        if self.count == WORDS && self.words[8] == "+" {
            offset = reading.whole(self.words[7], "the sector", "223490")? * SECTOR_BYTES;
            length = reading.whole(self.words[9], "the number of sectors", "8")? * SECTOR_BYTES;
        }
        match op {
            Some(op) if length > 0 => {
                let (offset, length) = reading.extent(offset, length)?;
                let target = reading.targets.number(self.words[0])?;
                Ok(Some(Request { at_ns, op, offset, length, target, service_ns: None }))
            }
            _ => self.without_sectors(at_ns, op, reading),
        }
    }

    fn without_sectors(
        &self,
        at_ns: Option<u64>,
        op: Option<Op>,
        reading: &mut Reading,
    ) -> Result<Option<Request>, TraceError> {
        let flushes = op == Some(Op::Flush) || (op == Some(Op::Write) && self.words[6].starts_with('F'));
        if !flushes || self.words[5] == "C" {
            reading.left_out.count(WITHOUT_SECTORS);
            return Ok(None);
        }
        let target = reading.targets.number(self.words[0])?;
        Ok(Some(Request { at_ns, op: Op::Flush, offset: 0, length: 0, target, service_ns: None }))
    }
}

/// What letters say: D discards, R reads, W writes; F alone flushes, and before others it is a flush that goes with them.
fn operation(rwbs: &str) -> Option<Op> {
    let letters = [('D', Op::Trim), ('R', Op::Read), ('W', Op::Write), ('F', Op::Flush)];
    letters.into_iter().find_map(|(letter, op)| rwbs.contains(letter).then_some(op))
}

fn instant(text: &str, reading: &Reading) -> Result<u64, TraceError> {
    let number = |digits: &str| digits.bytes().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    match text.split_once('.') {
        Some((whole, fraction)) if is_digits(whole, 1..=9) && is_digits(fraction, 9..=9) => {
            Ok(number(whole) * 1_000_000_000 + number(fraction))
        }
        _ => {
            let after = " is not seconds with nine digits behind the point, as in 0.000000000.";
            Err(reading.about("the time ", text, after))
        }
    }
}

fn is_device(text: &str) -> bool {
    text.split_once(',').is_some_and(|(major, minor)| is_digits(major, 1..=4) && is_digits(minor, 1..=7))
}

fn is_digits(text: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a line begins the totals, as `CPU0 (8,0):` and `Total (8,0):` do.
fn is_total(line: &str) -> bool {
    let Some((word, _)) = line.split_once(" (") else { return false };
    word == "Total" || word.strip_prefix("CPU").is_some_and(|number| is_digits(number, 1..=line.len()))
}
