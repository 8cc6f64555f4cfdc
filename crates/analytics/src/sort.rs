//! External merge sort of records of one size by a part of their bytes, stable, within a cap of memory.
//!
//! Model: records are gathered in one piece of memory. When it is full they are sorted, by the first eight bytes of their keys where those
//! tell them apart, and written as a run. At the end runs are merged ([`Spill`]). What fits into memory altogether is never written.

use std::cmp::Ordering;
use std::ops::Range;

use crate::disk::{Disk, Reader};
use crate::error::Trouble;
use crate::plan::{Merges, Spill};

/// Size of a record, and which of its bytes it is sorted by: eight or more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a record.
    pub record: usize,
    /// Of these the key.
    pub key: Range<usize>,
}

impl Shape {
    fn prefix(&self, record: &[u8]) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&record[self.key.start..self.key.start + 8]);
        u64::from_be_bytes(first)
    }
}

/// Takes records in any order and gives them back sorted.
pub struct Sorter<'a> {
    shape: Shape,
    spill: Spill,
    disk: Disk<'a>,
    name: String,
    records: Vec<u8>,
    order: Vec<(u64, u32)>,
    runs: Vec<String>,
    made: usize,
}

impl<'a> Sorter<'a> {
    /// A sort that takes so many bytes of memory, and whose run files begin with `name`.
    pub fn new(shape: Shape, memory: usize, disk: Disk<'a>, name: &str) -> Self {
        let spill = Spill::of(memory, shape.record, disk.buffer_bytes);
        Self {
            shape,
            spill,
            disk,
            name: name.to_owned(),
            records: Vec::new(),
            order: Vec::new(),
            runs: Vec::new(),
            made: 0,
        }
    }

    /// How it uses its memory.
    pub fn spill(&self) -> Spill {
        self.spill
    }

    /// One more record.
    ///
    /// # Errors
    /// When a run cannot be written.
    pub fn push(&mut self, record: &[u8]) -> Result<(), Trouble> {
        debug_assert_eq!(record.len(), self.shape.record);
        if self.order.len() as u64 == self.spill.held {
            self.write_run()?;
        }
        if self.records.capacity() == 0 {
            // Once for all, so that memory is not held twice while it grows; what is never touched is never there.
            self.records.reserve_exact(self.spill.held as usize * self.shape.record);
            self.order.reserve_exact(self.spill.held as usize);
        }
        self.order.push((self.shape.prefix(record), self.order.len() as u32));
        self.records.extend_from_slice(record);
        Ok(())
    }

    /// Hands every record to `each`, sorted; run files are gone afterwards.
    ///
    /// # Errors
    /// When runs cannot be written or read, or what `each` says.
    pub fn finish(mut self, mut each: impl FnMut(&[u8]) -> Result<(), Trouble>) -> Result<(), Trouble> {
        if self.runs.is_empty() {
            self.sort();
            return self.order.iter().try_for_each(|&(_, place)| each(self.at(place)));
        }
        self.write_run()?;
        (self.records, self.order) = (Vec::new(), Vec::new());
        while self.runs.len() > self.spill.fan_in {
            self.merge_pass()?;
        }
        let runs = std::mem::take(&mut self.runs);
        self.merge(&runs, &mut each)
    }

    fn at(&self, place: u32) -> &[u8] {
        let begin = place as usize * self.shape.record;
        &self.records[begin..begin + self.shape.record]
    }

    fn sort(&mut self) {
        let Self { order, records, shape, .. } = self;
        let key = |place: u32| {
            let begin = place as usize * shape.record;
            &records[begin + shape.key.start + 8..begin + shape.key.end]
        };
        order.sort_unstable_by(|left, right| {
            left.0.cmp(&right.0).then_with(|| key(left.1).cmp(key(right.1))).then(left.1.cmp(&right.1))
        });
    }

    fn write_run(&mut self) -> Result<(), Trouble> {
        self.sort();
        let name = self.next_name();
        let mut run = self.disk.writer(&name)?;
        for &(_, place) in &self.order {
            run.push(self.at(place))?;
        }
        run.finish()?;
        self.runs.push(name);
        self.records.clear();
        self.order.clear();
        Ok(())
    }

    fn merge_pass(&mut self) -> Result<(), Trouble> {
        let runs = std::mem::take(&mut self.runs);
        for group in Merges::of(runs.len(), self.spill.fan_in).groups() {
            let group = &runs[group];
            if let [alone] = group {
                self.runs.push(alone.clone());
                continue;
            }
            let name = self.next_name();
            let mut merged = self.disk.writer(&name)?;
            self.merge(group, &mut |record| merged.push(record))?;
            merged.finish()?;
            self.runs.push(name);
        }
        Ok(())
    }

    fn merge(&self, runs: &[String], each: &mut impl FnMut(&[u8]) -> Result<(), Trouble>) -> Result<(), Trouble> {
        let open = |name: &String| self.disk.reader(name, self.shape.record);
        let mut merge = Merge::of(&self.shape, runs.iter().map(open).collect::<Result<_, _>>()?)?;
        while let Some(first) = merge.first() {
            each(merge.sources[first].current())?;
            merge.advance()?;
        }
        drop(merge);
        runs.iter().try_for_each(|name| self.disk.remove(name))
    }

    fn next_name(&mut self) -> String {
        self.made += 1;
        format!("{}.run-{}", self.name, self.made)
    }
}

/// Runs that are read beside each other, in a heap whose first has the smallest record.
struct Merge<'a, 'b> {
    shape: &'b Shape,
    sources: Vec<Reader<'a>>,
    /// Prefix and place of each source that has a record.
    heap: Vec<(u64, usize)>,
}

impl<'a, 'b> Merge<'a, 'b> {
    fn of(shape: &'b Shape, mut sources: Vec<Reader<'a>>) -> Result<Self, Trouble> {
        let mut heap = Vec::with_capacity(sources.len());
        for (place, source) in sources.iter_mut().enumerate() {
            if source.advance()? {
                heap.push((shape.prefix(source.current()), place));
            }
        }
        let mut merge = Self { shape, sources, heap };
        for place in (0..merge.heap.len() / 2).rev() {
            merge.sink(place);
        }
        Ok(merge)
    }

    fn first(&self) -> Option<usize> {
        self.heap.first().map(|&(_, source)| source)
    }

    fn advance(&mut self) -> Result<(), Trouble> {
        let source = self.heap[0].1;
        if self.sources[source].advance()? {
            self.heap[0].0 = self.shape.prefix(self.sources[source].current());
        } else {
            self.heap.swap_remove(0);
        }
        self.sink(0);
        Ok(())
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let left = 2 * place + 1;
            if left >= self.heap.len() {
                return;
            }
            let right = left + 1;
            let less = if right < self.heap.len() && self.less(right, left) { right } else { left };
            if !self.less(less, place) {
                return;
            }
            self.heap.swap(place, less);
            place = less;
        }
    }

    fn less(&self, left: usize, right: usize) -> bool {
        let (left, right) = (self.heap[left], self.heap[right]);
        let rest = |source: usize| &self.sources[source].current()[self.shape.key.start + 8..self.shape.key.end];
        let order = left.0.cmp(&right.0).then_with(|| rest(left.1).cmp(rest(right.1))).then(left.1.cmp(&right.1));
        order == Ordering::Less
    }
}
