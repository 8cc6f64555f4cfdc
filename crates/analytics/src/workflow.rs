//! A workflow: its six steps in order, each with what it had to move, what it moved, and whether its results are right.
//!
//! Model: DATA step writes `a`, format copies it to `b` with labels, index makes two trees of `b`, sort makes `c` of it, summary reads `c`.
//! What a step reads is held against what the step before wrote.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::counters::{Glance, between};
use crate::disk::Disk;
use crate::error::Trouble;
use crate::format::{self, CATALOG_BYTES, Catalog, Groups, relabelled};
use crate::index::{self, Index, IndexBuilder, PAGE_BYTES};
use crate::iterate::iterate;
use crate::meter::{Listener, Meter};
use crate::row::{self, ROW_BYTES, Rows};
use crate::sort::{Shape, Sorter};
use crate::step::{Step, StepRecord};
use crate::summary::Summary;
use crate::tally::Tally;

/// The files of a workflow, besides run files.
const A: &str = "a.rows";
const B: &str = "b.rows";
const C: &str = "c.rows";
const CATALOG: &str = "formats.catalog";
const SUMMARY: &str = "summary.csv";
/// Names and keys of the two indexes: C2; C1 with C3.
const INDEXES: [(&str, usize); 2] = [("b-c2.index", 16), ("b-c1-c3.index", 32)];
/// Rows that are looked up in each index.
const LOOKUPS: u64 = 1000;
/// What the process takes before it sorts anything: the interpreter, the engine, histograms, groups of the summary.
const PROCESS_BYTES: usize = 24 << 20;
/// A sort has at least so much.
const SORT_BYTES_LEAST: usize = 1 << 20;

/// What a workflow does. Where it does it, and what it reads, is said beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Spec {
    /// Seed of the rows.
    pub seed: u64,
    /// Whose rows it has.
    pub workflow: u64,
    /// How many.
    pub rows: u64,
    /// What its process may use.
    pub memory_bytes: usize,
    /// Bytes of a call.
    pub buffer_bytes: usize,
    /// Past the page cache.
    pub direct: bool,
    /// Whether files are made durable when they are written.
    pub flush_at_close: bool,
    /// Turns of each loop of iterate.
    pub loops: u32,
    /// Sums of the input file; `None` makes the rows without one.
    pub input: Option<Tally>,
    /// Kernel names of the devices to look at.
    pub devices: Vec<String>,
    /// How often what calls moved is told.
    pub told_every_ms: u64,
}

/// What a step says at its end.
#[derive(Default)]
struct Done {
    rows: u64,
    needed: (u64, u64),
    passes: Option<u32>,
}

/// Where a workflow failed and why.
#[derive(Debug)]
pub struct Failure {
    /// The step.
    pub step: Step,
    /// Why.
    pub trouble: Trouble,
}

/// Carries the steps out in `folder`, reading `input` if the spec has its sums; `listener` hears of each.
///
/// # Errors
/// The first step that fails, whose record `listener` has heard.
pub fn run(spec: &Spec, folder: &Path, input: Option<&Path>, listener: &mut dyn Listener) -> Result<(), Failure> {
    let meter = Meter::telling(listener, spec.told_every_ms * 1_000_000);
    let Spec { buffer_bytes, direct, flush_at_close, .. } = *spec;
    let disk = Disk { folder, buffer_bytes, direct, flush_at_close, meter: &meter };
    let mut work = Work { spec, disk, input, groups: Groups::default(), a: Tally::default(), b: Tally::default() };
    for step in Step::ALL {
        let before = Glance::now(&spec.devices);
        meter.began(step, before.at_ns);
        let totals = meter.totals();
        let done = work.carry_out(step);
        let after = Glance::now(&spec.devices);
        let moved = meter.totals();
        let mut record = StepRecord {
            name: step,
            start_ns: before.at_ns,
            end_ns: after.at_ns,
            rows: 0,
            user_us: after.user_us - before.user_us,
            system_us: after.system_us - before.system_us,
            needed_read_bytes: None,
            needed_written_bytes: None,
            read_bytes: moved.0 - totals.0,
            written_bytes: moved.1 - totals.1,
            stored: between(before.stored, after.stored),
            devices: between(before.devices, after.devices),
            passes: None,
            check: None,
        };
        match done {
            Ok(done) => {
                record.rows = done.rows;
                (record.needed_read_bytes, record.needed_written_bytes) = (Some(done.needed.0), Some(done.needed.1));
                record.passes = done.passes;
                record.check = Some("ok".to_owned());
                meter.ended(&record);
            }
            Err(trouble) => {
                record.check = matches!(trouble, Trouble::WrongData(_)).then(|| trouble.to_string());
                meter.ended(&record);
                return Err(Failure { step, trouble });
            }
        }
    }
    Ok(())
}

/// The files that a workflow leaves in its directory, run files among them; they are removed after it.
///
/// # Errors
/// When the directory cannot be read.
pub fn work_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

struct Work<'a> {
    spec: &'a Spec,
    disk: Disk<'a>,
    input: Option<&'a Path>,
    /// Rows of each value of C1, as the DATA step wrote them.
    groups: Groups,
    a: Tally,
    b: Tally,
}

impl Work<'_> {
    fn carry_out(&mut self, step: Step) -> Result<Done, Trouble> {
        match step {
            Step::DataStep => self.data_step(),
            Step::Iterate => self.iterate(),
            Step::Format => self.format(),
            Step::Index => self.index(),
            Step::Sort => self.sort(),
            Step::Summary => self.summary(),
        }
    }

    fn data_bytes(&self) -> u64 {
        self.spec.rows * ROW_BYTES as u64
    }

    /// Bytes that sorts of one step may hold in memory.
    fn sort_bytes(&self) -> usize {
        // A reader and a writer beside them.
        let beside = PROCESS_BYTES + 2 * self.spec.buffer_bytes.max(16 << 10);
        self.spec.memory_bytes.saturating_sub(beside).max(SORT_BYTES_LEAST)
    }

    fn data_step(&mut self) -> Result<Done, Trouble> {
        let rows = Rows { seed: self.spec.seed, workflow: self.spec.workflow };
        let mut source = match (self.input, &self.spec.input) {
            (Some(path), Some(_)) => Some(self.disk.reader_at(path.to_owned(), ROW_BYTES)?),
            _ => None,
        };
        let mut output = self.disk.writer(A)?;
        let mut read = Tally::default();
        let mut row = row::EMPTY;
        for number in 0..self.spec.rows {
            match &mut source {
                None => rows.make(number, &mut row),
                Some(file) => {
                    if !file.advance()? {
                        break;
                    }
                    read.add_checked(file.current(), file.path())?;
                    row.copy_from_slice(file.current());
                }
            }
            row::derive(&mut row);
            row::seal(&mut row);
            self.a.add(&row);
            self.groups.add(&row);
            output.push(&row)?;
        }
        output.finish()?;
        if let (Some(file), Some(written)) = (&source, &self.spec.input) {
            read.check(written, file.path())?;
        }
        check_numbers(&self.a, self.spec.rows, &self.disk.path(A))?;
        let needed = (if source.is_some() { self.data_bytes() } else { 0 }, self.data_bytes());
        Ok(Done { rows: self.a.rows, needed, passes: None })
    }

    fn iterate(&self) -> Result<Done, Trouble> {
        let (loops, sum) = (f64::from(self.spec.loops), iterate(self.spec.loops));
        if sum == loops * loops * loops {
            return Ok(Done::default());
        }
        Err(Trouble::WrongData(format!("{loops}³ additions of 1 made {sum}")))
    }

    fn format(&mut self) -> Result<Done, Trouble> {
        format::write_catalog(self.disk, CATALOG)?;
        let catalog = Catalog::read(self.disk, CATALOG)?;
        let mut source = self.disk.reader(A, ROW_BYTES)?;
        let mut output = self.disk.writer(B)?;
        let (mut read, mut groups, mut row) = (Tally::default(), Groups::default(), row::EMPTY);
        while source.advance()? {
            read.add_checked(source.current(), source.path())?;
            row.copy_from_slice(source.current());
            if !catalog.apply(&mut row) {
                return Err(Trouble::wrong(source.path(), format!("row {} has a value without label", read.rows)));
            }
            groups.add(&row);
            self.b.add(&row);
            output.push(&row)?;
        }
        output.finish()?;
        read.check(&self.a, source.path())?;
        self.groups = relabelled(&self.groups);
        if groups != self.groups || self.b.amount != self.a.amount || self.b.numbers != self.a.numbers {
            return Err(Trouble::wrong(&self.disk.path(B), "rows of its labels are not those of the values"));
        }
        let moved = self.data_bytes() + CATALOG_BYTES;
        Ok(Done { rows: read.rows, needed: (moved, moved), passes: None })
    }

    fn index(&self) -> Result<Done, Trouble> {
        let shape = |key: usize| Shape { record: index::entry_bytes(key), key: 0..index::entry_bytes(key) };
        let memory = self.sort_bytes() / 2;
        let mut sorters = INDEXES.map(|(name, key)| Sorter::new(shape(key), memory, self.disk, name));
        let mut source = self.disk.reader(B, ROW_BYTES)?;
        let mut read = Tally::default();
        while source.advance()? {
            let row = source.current();
            for (sorter, (_, key)) in sorters.iter_mut().zip(INDEXES) {
                let mut entry = [0; index::entry_bytes(32)];
                sorter.push(entry_of(row, read.rows, key, &mut entry))?;
            }
            read.add_checked(row, source.path())?;
        }
        read.check(&self.b, source.path())?;
        let mut needed = (self.data_bytes(), 0);
        let mut passes = 0;
        for (sorter, (name, key)) in sorters.into_iter().zip(INDEXES) {
            let spill = sorter.spill();
            let spilled = spill.bytes(self.spec.rows, index::entry_bytes(key));
            passes = passes.max(spill.passes(self.spec.rows));
            self.build(sorter, name, key)?;
            self.look_up(&mut source, name, key)?;
            let levels = index::levels(self.spec.rows, key);
            let (pages, depth) = (levels.iter().sum::<u64>(), levels.len() as u64);
            let looked_up = self.lookups() * (ROW_BYTES as u64 + depth * PAGE_BYTES as u64);
            needed = (needed.0 + spilled + looked_up, needed.1 + spilled + pages * PAGE_BYTES as u64);
        }
        Ok(Done { rows: read.rows, needed, passes: Some(passes) })
    }

    fn lookups(&self) -> u64 {
        self.spec.rows.min(LOOKUPS)
    }

    /// Writes a tree, whose entries have to come in order and lead to every row once.
    fn build(&self, sorter: Sorter<'_>, name: &str, key: usize) -> Result<(), Trouble> {
        let mut tree = IndexBuilder::new(self.disk, name, key)?;
        let path = self.disk.path(name);
        let mut last: Vec<u8> = Vec::new();
        let (mut entries, mut places) = (0, 0_u64);
        sorter.finish(|entry| {
            if entries > 0 && last.as_slice() >= entry {
                return Err(Trouble::wrong(&path, format!("entry {} is not after the one before", entries + 1)));
            }
            last.clear();
            last.extend_from_slice(entry);
            entries += 1;
            places = places.wrapping_add(place_in(entry));
            tree.push(entry)
        })?;
        tree.finish()?;
        if entries != self.spec.rows || places != sum_below(self.spec.rows) {
            return Err(Trouble::wrong(
                &path,
                format!("{entries} entries do not lead to each of {} rows", self.spec.rows),
            ));
        }
        Ok(())
    }

    /// Takes rows from anywhere and looks for their entries.
    fn look_up(&self, source: &mut crate::disk::Reader<'_>, name: &str, key: usize) -> Result<(), Trouble> {
        let rows = Rows { seed: self.spec.seed, workflow: self.spec.workflow };
        let mut tree = Index::open(self.disk, name, key)?;
        for turn in 0..self.lookups() {
            let place = rows.choice(key as u64, turn, self.spec.rows);
            let (mut row, mut entry) = (row::EMPTY, [0; index::entry_bytes(32)]);
            source.read_at(place * ROW_BYTES as u64, &mut row)?;
            if !row::is_sealed(&row) {
                return Err(Trouble::wrong(source.path(), format!("row {} does not have its checksum", place + 1)));
            }
            if !tree.holds(entry_of(&row, place, key, &mut entry))? {
                return Err(Trouble::wrong(tree.path(), format!("row {} was not found by its key", place + 1)));
            }
        }
        Ok(())
    }

    fn sort(&self) -> Result<Done, Trouble> {
        let shape = Shape { record: ROW_BYTES, key: row::SORTED_BY };
        let mut sorter = Sorter::new(shape, self.sort_bytes(), self.disk, C);
        let spill = sorter.spill();
        let mut source = self.disk.reader(B, ROW_BYTES)?;
        let mut read = Tally::default();
        while source.advance()? {
            read.add_checked(source.current(), source.path())?;
            sorter.push(source.current())?;
        }
        read.check(&self.b, source.path())?;
        drop(source);
        let mut output = self.disk.writer(C)?;
        let mut sorted = Sorted::new(self.disk.path(C));
        sorter.finish(|row| {
            sorted.add(row)?;
            output.push(row)
        })?;
        output.finish()?;
        sorted.tally.check(&self.b, &sorted.path)?;
        let moved = self.data_bytes() + spill.bytes(self.spec.rows, ROW_BYTES);
        Ok(Done { rows: read.rows, needed: (moved, moved), passes: Some(spill.passes(self.spec.rows)) })
    }

    fn summary(&self) -> Result<Done, Trouble> {
        let mut source = self.disk.reader(C, ROW_BYTES)?;
        let mut sorted = Sorted::new(self.disk.path(C));
        let (mut summary, mut groups) = (Summary::default(), Groups::default());
        while source.advance()? {
            sorted.add(source.current())?;
            summary.add(source.current());
            groups.add(source.current());
        }
        sorted.tally.check(&self.b, source.path())?;
        let written = summary.write(self.disk, SUMMARY)?;
        if groups != self.groups || summary.totals() != (self.a.rows, self.a.amount) {
            return Err(Trouble::wrong(
                &self.disk.path(SUMMARY),
                "its groups are not those of the rows that were made",
            ));
        }
        Ok(Done { rows: sorted.tally.rows, needed: (self.data_bytes(), written), passes: None })
    }
}

/// Rows in order, each with its checksum.
struct Sorted {
    path: PathBuf,
    tally: Tally,
    last: [u8; row::SORTED_BY.end - row::SORTED_BY.start],
}

impl Sorted {
    fn new(path: PathBuf) -> Self {
        Self { path, tally: Tally::default(), last: [0; row::SORTED_BY.end - row::SORTED_BY.start] }
    }

    fn add(&mut self, row: &[u8]) -> Result<(), Trouble> {
        self.tally.add_checked(row, &self.path)?;
        let key = &row[row::SORTED_BY];
        if self.last.as_slice() > key {
            return Err(Trouble::wrong(&self.path, format!("row {} is not in order", self.tally.rows)));
        }
        self.last.copy_from_slice(key);
        Ok(())
    }
}

/// The entry of a row in one of the two indexes.
fn entry_of<'a>(row: &[u8], place: u64, key: usize, entry: &'a mut [u8; index::entry_bytes(32)]) -> &'a [u8] {
    if key == 16 {
        entry[..16].copy_from_slice(&row[row::C2]);
    } else {
        entry[..8].copy_from_slice(&row[row::C1]);
        entry[8..32].copy_from_slice(&row[row::C3]);
    }
    entry[key..key + 8].copy_from_slice(&place.to_be_bytes());
    &entry[..key + 8]
}

fn place_in(entry: &[u8]) -> u64 {
    let mut place = [0; 8];
    place.copy_from_slice(&entry[entry.len() - 8..]);
    u64::from_be_bytes(place)
}

/// 0 + 1 + … below `end`, wrapping.
fn sum_below(end: u64) -> u64 {
    if end.is_multiple_of(2) { (end / 2).wrapping_mul(end.wrapping_sub(1)) } else { end.wrapping_mul((end - 1) / 2) }
}

/// Whether rows have the numbers from 0 on, each once.
fn check_numbers(tally: &Tally, rows: u64, path: &Path) -> Result<(), Trouble> {
    if tally.rows != rows {
        return Err(Trouble::wrong(path, format!("{} rows were made, not {rows}", tally.rows)));
    }
    if tally.numbers != sum_below(rows) {
        return Err(Trouble::wrong(path, "the numbers of its rows are not those from 0 on"));
    }
    Ok(())
}
