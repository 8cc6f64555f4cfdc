//! A backend whose writes are told to a journal: before they are handed over, and before their promise is passed on.
//!
//! Limits: what is submitted is handed over by the next [`Backend::wait`], so that one trip to the journal serves all of it.

use std::collections::BTreeMap;
use std::io;

use plimsoll_array::ComponentUse;
use plimsoll_workload::journal::Write;
use plimsoll_workload::stamp::{self, SECTOR_BYTES, Seen};
use plimsoll_workload::{Op, StreamPlan};

use super::Journal;
use crate::backend::{Backend, Done, Io};

/// See the module.
pub(crate) struct Journaled<'a> {
    inner: Box<dyn Backend + 'a>,
    journal: &'a Journal,
    /// By file: its part, and whether a completed write is durable.
    files: Vec<(usize, bool)>,
    origin_ns: u64,
    queued: Vec<Io>,
    /// By slot and piece.
    on_their_way: BTreeMap<(u32, u32), OnItsWay>,
}

enum OnItsWay {
    Write { file: u32, len: u32, write: Write },
    Flush { part: usize, until: u64 },
}

impl<'a> Journaled<'a> {
    /// `inner` for the files of these streams on a target of `parts` parts.
    pub(crate) fn new(inner: Box<dyn Backend + 'a>, journal: &'a Journal, plans: &[StreamPlan], parts: usize) -> Self {
        let files =
            |plan: &StreamPlan| plan.parts(parts.max(1)).into_iter().map(|part| (part, plan.dsync)).collect::<Vec<_>>();
        let files = plans.iter().flat_map(files).collect();
        let origin_ns = inner.now();
        Self { inner, journal, files, origin_ns, queued: Vec::new(), on_their_way: BTreeMap::new() }
    }

    /// What an I/O means to the journal.
    fn on_its_way(&self, io: &Io) -> Option<OnItsWay> {
        match io.op {
            Op::Write => {
                // SAFETY: a write's buffer holds its bytes, which are whole sectors where there are stamps.
                let sector = unsafe { &*io.buffer.cast_const().cast::<[u8; SECTOR_BYTES]>() };
                let Seen::Own { address, sequence } = stamp::seen_by(sector, self.journal.run()) else { return None };
                Some(OnItsWay::Write { file: io.file, len: io.len, write: Write { sequence, address, len: io.len } })
            }
            Op::Flush => {
                let part = self.files[io.file as usize].0;
                Some(OnItsWay::Flush { part, until: self.journal.flushes(part) })
            }
            Op::Read | Op::Trim => None,
        }
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let mut begun = Vec::new();
        for io in &self.queued {
            let Some(meant) = self.on_its_way(io) else { continue };
            if let OnItsWay::Write { write, .. } = meant {
                begun.push(write);
            }
            self.on_their_way.insert((io.slot, io.piece), meant);
        }
        if !begun.is_empty() {
            self.journal.begun(&begun)?;
        }
        self.queued.drain(..).try_for_each(|io| self.inner.submit(io))
    }

    /// What the target promises by these completions.
    fn promised(&mut self, done: &[Done]) -> Vec<Write> {
        let mut promised = Vec::new();
        for finished in done {
            match self.on_their_way.remove(&(finished.slot, finished.piece)) {
                Some(OnItsWay::Write { file, len, write }) if finished.result == len as i32 => {
                    let (part, durable) = self.files[file as usize];
                    if durable {
                        promised.push(write);
                    } else {
                        self.journal.completed(part, write);
                    }
                }
                Some(OnItsWay::Flush { part, until }) => {
                    promised.extend(self.journal.flushed(part, until, finished.result >= 0));
                }
                Some(OnItsWay::Write { .. }) | None => {}
            }
        }
        promised
    }
}

impl Backend for Journaled<'_> {
    fn now(&self) -> u64 {
        self.inner.now()
    }

    fn submit(&mut self, io: Io) -> io::Result<()> {
        self.queued.push(io);
        Ok(())
    }

    fn wait(&mut self, until_ns: u64, done: &mut Vec<Done>) -> io::Result<()> {
        self.hand_over()?;
        let before = done.len();
        self.inner.wait(until_ns, done)?;
        let promised = self.promised(&done[before..]);
        if promised.is_empty() {
            return Ok(());
        }
        self.journal.durable(&promised, self.inner.now().saturating_sub(self.origin_ns))
    }

    fn stands_still(&self) -> bool {
        self.inner.stands_still()
    }

    fn handed_over_ns(&self) -> Option<u64> {
        self.inner.handed_over_ns()
    }

    fn components(&self) -> Vec<ComponentUse> {
        self.inner.components()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        self.inner.facts()
    }
}
