//! fio's iolog, versions 2 and 3.
//!
//! Model: the first line names the version. Version 2 has lines `file action` and `file action offset length`; version 3
//! begins each with a time. `add`, `open` and `close` move nothing and are counted as left out; `sync` and `datasync`
//! are flushes. A file name may hold spaces; fio's own reader would not take it.
//! Units: bytes; the times of version 3 are microseconds since the log's start.
//! Limits: version 2 has no times. Its `wait` pauses are left out, because fio measures them from the pause before.

use plimsoll_workload::Op;

use crate::error::{Piece, TraceError};
use crate::reading::Reading;
use crate::request::Request;
use crate::words::words;

const NS_PER_US: u128 = 1000;
const ACTIONS: &str = "read, write, trim, sync, datasync, wait, add, open or close";

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Iolog {
    version: Option<u32>,
    /// Whether a file was added, by the number of its name.
    opened: Vec<bool>,
}

impl Iolog {
    /// What a line says; `None` for one that moves nothing.
    pub fn request(&mut self, line: &str, reading: &mut Reading) -> Result<Option<Request>, TraceError> {
        let Some(version) = self.version else {
            self.version = Some(version(line, reading)?);
            return Ok(None);
        };
        let mut words: Vec<&str> = words(line).collect();
        let mut at_ns = None;
        if version == 3 {
            let us = reading.whole(words.remove(0), "the time", "20")?;
            at_ns = Some(reading.instant(us * NS_PER_US)?);
        }
        if let [name @ .., action @ ("add" | "open" | "close")] = words.as_slice()
            && !name.is_empty()
        {
            self.manage(&name.join(" "), action, reading)?;
            return Ok(None);
        }
        let [name @ .., action, offset, length] = words.as_slice() else { return Err(incomplete(&words, reading)) };
        let offset = match name {
            [] => return Err(incomplete(&words, reading)),
            _ => reading.whole(offset, "the offset", "4096")?,
        };
        let length = reading.whole(length, "the length", "4096")?;
        let op = match *action {
            "read" => Op::Read,
            "write" => Op::Write,
            "trim" => Op::Trim,
            "sync" | "datasync" | "sync_file_range" | "syncfs" => Op::Flush,
            "wait" if at_ns.is_some() => {
                return Err(reading.said("version 3 of the iolog has no action 'wait'; its times say the same."));
            }
            "wait" => {
                reading.left_out.count("pauses ('wait')");
                return Ok(None);
            }
            _ => return Err(reading.about("the action ", action, &format!(" is unknown; write {ACTIONS}."))),
        };
        let (offset, length) = if op == Op::Flush { (0, 0) } else { reading.extent(offset, length)? };
        let target = match name {
            [name] => reading.targets.number(name)?,
            _ => reading.targets.number(&name.join(" "))?,
        };
        Ok(Some(Request { at_ns, op, offset, length, target, service_ns: None }))
    }

    /// The file is over.
    pub fn end(&self, reading: &Reading) -> Result<(), TraceError> {
        self.version.map_or_else(|| version("", reading).map(drop), |_| Ok(()))
    }

    fn manage(&mut self, name: &str, action: &str, reading: &mut Reading) -> Result<(), TraceError> {
        let number = reading.targets.number(name)? as usize;
        if self.opened.len() <= number {
            self.opened.resize(number + 1, false);
        }
        if action == "close" && !self.opened[number] {
            let example: String = name.chars().take(40).collect();
            let after = format!(" is closed and was never added; add it first, as in '{example} add'.");
            return Err(reading.error([Piece::Quoted(name.to_owned()), Piece::Said(after)]));
        }
        self.opened[number] = true;
        reading.left_out.count("lines that add, open or close files");
        Ok(())
    }
}

fn version(header: &str, reading: &Reading) -> Result<u32, TraceError> {
    let said = header.strip_prefix("fio version ").and_then(|rest| rest.strip_suffix(" iolog"));
    let digits = said.filter(|said| (1..=3).contains(&said.len()) && said.bytes().all(|byte| byte.is_ascii_digit()));
    let Some(version) = digits.and_then(|digits| digits.parse().ok()) else {
        return Err(reading.said(
            "the first line does not name an iolog; it has to be 'fio version 2 iolog' or 'fio version 3 iolog'.",
        ));
    };
    if version == 2 || version == 3 {
        return Ok(version);
    }
    Err(reading
        .said(format!("version {version} of the iolog is not read; have fio 3 write it again, as version 2 or 3.")))
}

#[cold]
fn incomplete(words: &[&str], reading: &Reading) -> TraceError {
    let after = " is incomplete; write a line such as '/dev/sdb read 0 4096'.".to_owned();
    reading.error([Piece::Quoted(words.join(" ")), Piece::Said(after)])
}
