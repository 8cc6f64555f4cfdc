//! The backend in virtual time over a modelled array (`plimsoll_array`).
//!
//! Model: the array is the clock: it jumps from event to event, so a run costs what it issues and is equal for equal seeds.
//! What its components did is read at the beginning and at the end of the measured time. Bytes are not looked at.
//!
//! Limits: no data are kept, so nothing can be verified; a request that needs lost data fails with EIO.

use std::io;
use std::ops::Range;

use plimsoll_array::slab::Slab;
use plimsoll_array::{
    Array, ArraySpec, Completion, Component, ComponentUse, Incident, Reading, Rebuilt, Request, What, WriteCaches,
};

use crate::backend::{Backend, Done, Io};

/// See the module.
#[derive(Debug)]
pub struct ModelledArray {
    array: Array,
    outstanding: Slab<Outstanding>,
    completions: Vec<Completion>,
    name: String,
    /// The names of the groups, by number.
    groups: Vec<String>,
    components: Vec<Component>,
    /// Until the beginning of the measured time has been read, its instant; then that of the end.
    due_ns: u64,
    measured: Range<u64>,
    begin: Option<(u64, Vec<Reading>)>,
    end: Option<(u64, Vec<Reading>)>,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    slot: u32,
    piece: u32,
    len: i32,
    submitted_ns: u64,
}

impl ModelledArray {
    /// An array at rest at instant 0, whose components are accounted for from one instant to another, and of which these bytes are going
    /// to be addressed.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn new(spec: &ArraySpec, seed: u64, measured: Range<u64>, addressed: &[Range<u64>]) -> io::Result<Self> {
        let mut array = Array::new(spec, seed).map_err(|error| io::Error::other(error.to_string()))?;
        let in_sectors = addressed.iter().map(|bytes| bytes.start / 512..bytes.end.div_ceil(512));
        array.warm(&in_sectors.collect::<Vec<_>>());
        Ok(Self {
            name: spec.name.clone(),
            groups: spec.group.iter().map(|group| group.name.clone()).collect(),
            components: array.components(),
            array,
            outstanding: Slab::new(Outstanding { slot: 0, piece: 0, len: 0, submitted_ns: 0 }),
            completions: Vec::new(),
            due_ns: measured.start,
            measured,
            begin: None,
            end: None,
        })
    }

    /// How long each took that is over of what begins with one thing and ends with another, in seconds, with commas between.
    fn spent_s(&self, begins: impl Fn(What) -> bool, ends: What) -> String {
        let incidents = self.array.incidents();
        let of = |one: &Incident| (one.group, one.member);
        let ended = incidents.iter().filter(|incident| incident.what == ends);
        let spent = ended.filter_map(|end| {
            let begun = incidents.iter().rev().filter(|one| begins(one.what) && of(one) == of(end));
            begun
                .map(|begin| begin.time_ns)
                .find(|&begin_ns| begin_ns <= end.time_ns)
                .map(|begin_ns| end.time_ns - begin_ns)
        });
        spent.map(|spent_ns| format!("{:.3}", spent_ns as f64 / 1e9)).collect::<Vec<_>>().join(", ")
    }

    /// How far what goes on has come, rebuilds or copying back.
    fn reached(&self, copying: bool) -> String {
        let going = self.array.rebuilding().filter(|one| one.copying == copying);
        let told = going.map(|Rebuilt { group, member, share, .. }| {
            let percent = share * 100.0;
            // Three digits of what has hardly begun: from it follows how long the whole will take.
            let digits = if percent > 0.0 { (2.0 - percent.log10().floor()).clamp(1.0, 9.0) as usize } else { 1 };
            format!("{percent:.digits$} % of member {member} of group {}", self.groups[usize::from(group)])
        });
        told.collect::<Vec<_>>().join("; ")
    }

    /// Reads what the components have done when it is time to.
    #[cold]
    fn read(&mut self) {
        let reading = (self.array.now_ns(), self.array.readings());
        if self.begin.is_none() {
            self.begin = Some(reading);
            self.due_ns = self.measured.end;
        } else {
            self.end = Some(reading);
            self.due_ns = u64::MAX;
        }
    }
}

impl Backend for ModelledArray {
    #[inline(always)]
    fn now(&self) -> u64 {
        self.array.now_ns()
    }

    #[inline(always)]
    fn stands_still(&self) -> bool {
        true
    }

    #[inline(always)]
    fn expects(&self) -> bool {
        self.array.has_cache()
    }

    #[inline(always)]
    fn expect(&self, offset: u64) {
        self.array.expect(offset / 512);
    }

    #[inline(always)]
    fn submit(&mut self, io: Io) -> io::Result<()> {
        let Io { slot, piece, op, len, offset, .. } = io;
        let submitted_ns = self.array.now_ns();
        let token = self.outstanding.insert(Outstanding { slot, piece, len: len as i32, submitted_ns });
        self.array.submit(submitted_ns, token, Request { op, lba: offset / 512, sectors: len / 512 });
        Ok(())
    }

    #[inline(always)]
    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        self.completions.clear();
        self.array.run_until(until_ns, &mut self.completions);
        for &Completion { token, completed_ns, failed } in &self.completions {
            let Outstanding { slot, piece, len, submitted_ns } = self.outstanding.remove(token);
            let result = if failed { -libc::EIO } else { len };
            finished.push(Done { slot, piece, result, submitted_ns, completed_ns });
        }
        if self.array.now_ns() >= self.due_ns {
            self.read();
        }
        Ok(())
    }

    fn components(&self) -> Vec<ComponentUse> {
        let Some((begin_ns, before)) = &self.begin else { return Vec::new() };
        let now = || (self.array.now_ns(), self.array.readings());
        let (end_ns, after) = self.end.clone().unwrap_or_else(now);
        let each = self.components.iter().zip(before.iter().zip(&after));
        each.map(|(component, (before, after))| ComponentUse::between(component, before, after, end_ns - begin_ns))
            .collect()
    }

    fn write_caches(&self) -> Option<WriteCaches> {
        self.array.write_caches()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let told = |incident: &Incident| {
            let Incident { time_ns, group, member, what } = incident;
            let group = &self.groups[usize::from(*group)];
            format!("{:.3} s: member {member} of group {group} {}", *time_ns as f64 / 1e9, what.word())
        };
        let incidents: Vec<String> = self.array.incidents().iter().map(told).collect();
        let facts = [
            ("array", self.name.clone()),
            ("incidents", incidents.join("; ")),
            (
                "rebuild_s",
                self.spent_s(|what| matches!(what, What::Replaced | What::Spared | What::Renewed), What::Rebuilt),
            ),
            ("rebuilding", self.reached(false)),
            ("copy_back_s", self.spent_s(|what| what == What::Copying, What::CopiedBack)),
            ("copying_back", self.reached(true)),
        ];
        facts.into_iter().filter(|(key, told)| *key == "array" || !told.is_empty()).collect()
    }
}
