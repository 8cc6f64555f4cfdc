//! A flash drive at work: commands are placed on its timelines when they start.
//!
//! Model: the host's link is a server of its rate; a read ends when its last row has arrived and passed the link, a
//! write when the link and the buffer have taken it, or, without power-loss protection, when its rows are programmed,
//! for which the last one is padded. Commands start in order, as many at a time as the drive works on.

use std::collections::VecDeque;
use std::sync::Arc;

use super::analytic::Analytic;
use super::dies::{Dies, Work};
use super::page_map::{Collected, PageMap};
use super::slc_cache::{SlcCache, Way};
use super::timeline::Timeline;
use super::write_buffer::WriteBuffer;
use crate::device::command::{Command, SECTOR_BYTES};
use crate::device::error::SpecError;
use crate::flash::spec::{FlashSpec, PageMapSpec, Translation};

/// A checked flash drive.
#[derive(Clone, Debug)]
pub struct FlashModel {
    spec: Arc<FlashSpec>,
}

impl FlashModel {
    /// Checks a specification.
    ///
    /// # Errors
    /// One sentence that names the key.
    pub fn new(spec: &FlashSpec) -> Result<Self, SpecError> {
        spec.check()?;
        Ok(Self { spec: Arc::new(spec.clone()) })
    }
}

/// What the host has written and what the flash has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// In whole units.
    pub host_bytes: u64,
    /// In whole rows, collection and padding included.
    pub flash_bytes: u64,
}

#[derive(Clone, Debug)]
enum Places {
    Mapped(Box<PageMap>),
    Analytic(Box<Analytic>),
}

/// What a drive has that is described page by page.
#[derive(Clone, Debug)]
struct Detailed {
    dies: Dies,
    slc: Option<SlcCache>,
    command_ns: u64,
    /// When its processor is free, and how long it has worked.
    free_ns: u64,
    busy_ns: u64,
}

/// A flash drive.
#[derive(Clone, Debug)]
pub struct Flash {
    spec: Arc<FlashSpec>,
    places: Places,
    timeline: Timeline,
    /// In its stead, if the drive is described page by page.
    detailed: Option<Box<Detailed>>,
    buffer: WriteBuffer,
    waiting: VecDeque<Command>,
    under_way: usize,
    link_free_ns: u64,
    /// When the data of the row being filled are complete.
    row_ready_ns: u64,
    written: Written,
}

impl Flash {
    /// A drive without anything to do; a page map is filled as its specification says.
    pub fn new(model: &FlashModel) -> Self {
        Self::numbered(model, 0, 0)
    }

    /// The same; seed and number decide which senses are repeated.
    pub fn numbered(model: &FlashModel, seed: u64, number: u32) -> Self {
        let spec = Arc::clone(&model.spec);
        let places = match spec.translation {
            Translation::PageMap(PageMapSpec { filled_percent }) => {
                Places::Mapped(Box::new(PageMap::new(&spec, filled_percent)))
            }
            Translation::Analytic(_) => Places::Analytic(Box::new(Analytic::new(&spec))),
        };
        Self {
            places,
            timeline: Timeline::new(&spec),
            detailed: spec.is_detailed().then(|| Box::new(Detailed::new(&spec, seed, number))),
            buffer: WriteBuffer::new(spec.write_buffer_bytes),
            waiting: VecDeque::new(),
            under_way: 0,
            link_free_ns: 0,
            row_ready_ns: 0,
            written: Written::default(),
            spec,
        }
    }

    /// How many sectors it has.
    #[inline]
    pub fn sectors(&self) -> u64 {
        self.spec.units() * u64::from(self.spec.unit_bytes) / SECTOR_BYTES
    }

    /// Queues a command.
    #[inline]
    pub fn offer(&mut self, command: Command, _now_ns: u64) {
        self.waiting.push_back(command);
    }

    /// Whether a command that comes starts when it comes.
    #[inline]
    pub(crate) fn starts_at_once(&self) -> bool {
        self.waiting.is_empty() && self.under_way < self.spec.commands as usize
    }

    /// Starts as many commands as the drive works on at a time.
    pub fn start(&mut self, now_ns: u64, started: &mut Vec<(u32, u64)>) {
        self.start_each(now_ns, |handle, end_ns| started.push((handle, end_ns)));
    }

    /// The same with a call for each command.
    pub(crate) fn start_each(&mut self, now_ns: u64, mut started: impl FnMut(u32, u64)) {
        while self.under_way < self.spec.commands as usize {
            let Some(command) = self.waiting.pop_front() else { return };
            self.under_way += 1;
            let taken_ns = if self.detailed.is_some() { self.take_up(now_ns) } else { now_ns };
            let end_ns = if command.write { self.write(&command, taken_ns) } else { self.read(&command, taken_ns) };
            if let Some(Detailed { slc: Some(slc), .. }) = self.detailed.as_deref_mut() {
                slc.rest(end_ns);
            }
            started(command.handle, end_ns);
        }
    }

    /// A started command has ended.
    #[inline]
    pub fn finish(&mut self, handle: u32, _now_ns: u64) {
        debug_assert!(self.under_way > 0, "command {handle} was started");
        self.under_way -= 1;
    }

    /// Forgets the contents of the units that lie wholly in a range; only a page map takes notice.
    pub fn trim(&mut self, lba: u64, sectors: u64) {
        let unit_sectors = u64::from(self.spec.unit_bytes) / SECTOR_BYTES;
        if let Places::Mapped(map) = &mut self.places {
            let units = lba.div_ceil(unit_sectors)..(lba + sectors) / unit_sectors;
            units.for_each(|unit| map.forget(unit as u32));
        }
    }

    /// How long a trim takes.
    pub(crate) fn trimming_ns(&self) -> u64 {
        u64::from(self.spec.write_overhead_us) * 1_000
    }

    /// How long a read would take until its data begin to move: its overhead, then its die and the sensing, or the link.
    pub fn positioning_ns(&self, lba: u64, _write: bool, now_ns: u64) -> u64 {
        let overhead_ns = u64::from(self.spec.read_overhead_us) * 1_000;
        let begin_ns = now_ns + overhead_ns;
        let unit = lba * SECTOR_BYTES / u64::from(self.spec.unit_bytes);
        let die = self.places.find(unit, &self.spec).map(|(_, die)| die);
        let sensed_ns = die.map_or(0, |die| self.wait_ns(die, begin_ns) + u64::from(self.spec.page_read_us) * 1_000);
        overhead_ns + sensed_ns.max(self.link_free_ns.saturating_sub(begin_ns))
    }

    /// Commands that have not started.
    #[inline]
    pub fn queued(&self) -> usize {
        self.waiting.len()
    }

    /// Commands that have not ended.
    #[inline]
    pub fn outstanding(&self) -> usize {
        self.waiting.len() + self.under_way
    }

    /// How long the dies have worked, on average, or the drive's processor if that has longer.
    pub fn busy_ns(&self) -> u64 {
        self.detailed
            .as_ref()
            .map_or_else(|| self.timeline.busy_ns(), |detailed| detailed.dies.busy_ns().max(detailed.busy_ns))
    }

    /// What has been written so far.
    pub const fn written(&self) -> Written {
        self.written
    }

    /// How long sectors are on its interface.
    pub(crate) fn interface_ns(&self, sectors: u32) -> u64 {
        u64::from(sectors) * SECTOR_BYTES * 1_000_000_000 / self.spec.interface_rate_bytes_per_s
    }

    /// The drive's processor takes a command up; an SLC cache has been folded meanwhile.
    fn take_up(&mut self, now_ns: u64) -> u64 {
        let Some(detailed) = self.detailed.as_deref_mut() else { return now_ns };
        if let Some(slc) = &mut detailed.slc {
            let rows = slc.wake(now_ns);
            self.written.flash_bytes += rows * self.spec.row_bytes();
            let fold_us = u64::from(self.spec.page_read_us) + u64::from(self.spec.page_program_us);
            detailed.dies.add_busy_ns(rows * fold_us * 1_000);
        }
        detailed.free_ns = detailed.free_ns.max(now_ns) + detailed.command_ns;
        detailed.busy_ns += detailed.command_ns;
        detailed.free_ns
    }

    fn wait_ns(&self, die: usize, now_ns: u64) -> u64 {
        match &self.detailed {
            None => self.timeline.wait_ns(die, now_ns),
            Some(detailed) => detailed.dies.wait_ns(die, now_ns),
        }
    }

    /// Senses a row and moves some of its bytes; when they have arrived.
    fn sense(&mut self, (row, die): (u32, usize), bytes: u64, now_ns: u64) -> u64 {
        match &mut self.detailed {
            None => self.timeline.read(die, bytes, now_ns),
            Some(detailed) => {
                let row_of_block = match self.places {
                    Places::Mapped(_) => row % self.spec.pages_per_block,
                    Places::Analytic(_) => row / self.spec.dies() % self.spec.pages_per_block,
                };
                detailed.dies.read(die, u64::from(row_of_block), bytes, now_ns)
            }
        }
    }

    /// When the link has moved a number of sectors.
    fn link_ns(&mut self, sectors: u32, now_ns: u64) -> u64 {
        self.link_free_ns = self.link_free_ns.max(now_ns) + self.interface_ns(sectors);
        self.link_free_ns
    }

    fn read(&mut self, command: &Command, now_ns: u64) -> u64 {
        let begin_ns = now_ns + u64::from(self.spec.read_overhead_us) * 1_000;
        let mut end_ns = self.link_ns(command.sectors, begin_ns);
        let unit_bytes = u64::from(self.spec.unit_bytes);
        let last = (command.end_lba() * SECTOR_BYTES).div_ceil(unit_bytes);
        let mut unit = command.lba * SECTOR_BYTES / unit_bytes;
        while unit < last {
            let found = self.places.find(unit, &self.spec);
            let first = unit;
            unit += 1;
            let Some((row, die)) = found else { continue };
            while unit < last && self.places.find(unit, &self.spec).is_some_and(|(next, _)| next == row) {
                unit += 1;
            }
            end_ns = end_ns.max(self.sense((row, die), (unit - first) * unit_bytes, begin_ns));
        }
        end_ns
    }

    fn write(&mut self, command: &Command, now_ns: u64) -> u64 {
        self.places.begin(command);
        let begin_ns = now_ns + u64::from(self.spec.write_overhead_us) * 1_000;
        let mut taken_ns = self.link_ns(command.sectors, begin_ns);
        let mut programmed_ns = taken_ns;
        let unit_bytes = u64::from(self.spec.unit_bytes);
        let (begin, end) = (command.lba * SECTOR_BYTES, command.end_lba() * SECTOR_BYTES);
        for unit in begin / unit_bytes..end.div_ceil(unit_bytes) {
            let is_whole = begin <= unit * unit_bytes && (unit + 1) * unit_bytes <= end;
            let mut ready_ns = taken_ns;
            if !is_whole && let Some(place) = self.places.find(unit, &self.spec) {
                ready_ns = ready_ns.max(self.sense(place, unit_bytes, begin_ns));
            }
            if self.spec.power_loss_protection {
                taken_ns = taken_ns.max(self.buffer.take(unit_bytes, begin_ns));
                ready_ns = ready_ns.max(taken_ns);
            }
            self.row_ready_ns = self.row_ready_ns.max(ready_ns);
            self.written.host_bytes += unit_bytes;
            if let Some(die) = self.places.write(unit, &self.spec) {
                programmed_ns = programmed_ns.max(self.program(die, begin_ns));
            }
        }
        if self.spec.power_loss_protection {
            return taken_ns;
        }
        if let Some(die) = self.places.close(&self.spec) {
            programmed_ns = programmed_ns.max(self.program(die, begin_ns));
        }
        programmed_ns
    }

    /// Programs a row, and pays for the collection it calls for.
    fn program(&mut self, die: usize, begin_ns: u64) -> u64 {
        let row_bytes = self.spec.row_bytes();
        let ready_ns = std::mem::take(&mut self.row_ready_ns);
        let (end_ns, way) = match &mut self.detailed {
            None => (self.timeline.program(die, row_bytes, begin_ns, ready_ns), Way::Past),
            Some(detailed) => detailed.program(die, row_bytes, (begin_ns, ready_ns)),
        };
        if self.spec.power_loss_protection {
            self.buffer.release(row_bytes, end_ns);
        }
        self.written.flash_bytes += row_bytes;
        match (&mut self.places, &mut self.detailed) {
            (Places::Analytic(analytic), None) => {
                let (work_ns, moved_bytes) = analytic.collect();
                self.written.flash_bytes += moved_bytes;
                // Out to the controller and back.
                self.timeline.add_work(die, work_ns, 2 * moved_bytes, begin_ns);
            }
            (Places::Analytic(analytic), Some(detailed)) => {
                if way != Way::Quick {
                    let work = analytic.collected();
                    self.written.flash_bytes += work.moved_bytes / 2;
                    detailed.dies.collect(die, work, begin_ns);
                }
            }
            (Places::Mapped(map), detailed) => {
                let Collected { rows_read, units_moved, rows_programmed, erases } = map.collect(die);
                self.written.flash_bytes += rows_programmed * row_bytes;
                // Out to the controller and back.
                let moved_bytes = 2 * units_moved * u64::from(self.spec.unit_bytes);
                if let Some(detailed) = detailed {
                    let [senses, programs, erases] = [rows_read, rows_programmed, erases].map(|count| count as f64);
                    detailed.dies.collect(die, Work { senses, programs, erases, moved_bytes }, begin_ns);
                } else {
                    let work_us = rows_read * u64::from(self.spec.page_read_us)
                        + rows_programmed * u64::from(self.spec.page_program_us)
                        + erases * u64::from(self.spec.block_erase_us);
                    self.timeline.add_work(die, work_us * 1_000, moved_bytes, begin_ns);
                }
            }
        }
        if way == Way::Folding
            && let Some(detailed) = &mut self.detailed
        {
            self.written.flash_bytes += row_bytes;
            let fold = Work { senses: 1.0, programs: 1.0, ..Work::default() };
            detailed.dies.collect(die, fold, begin_ns);
        }
        end_ns
    }
}

impl Detailed {
    fn new(spec: &FlashSpec, seed: u64, number: u32) -> Self {
        Self {
            dies: Dies::new(spec, seed, number),
            slc: spec.slc_cache.map(|cache| SlcCache::new(spec, cache)),
            command_ns: spec.command_ns,
            free_ns: 0,
            busy_ns: 0,
        }
    }

    /// Programs a row of the host, which begins and whose data are there at two instants; when it ends, and how it was done.
    fn program(&mut self, die: usize, bytes: u64, instants: (u64, u64)) -> (u64, Way) {
        let way = self.slc.as_mut().map_or(Way::Past, SlcCache::take);
        let end_ns = match (way, &self.slc) {
            (Way::Quick | Way::Folding, Some(slc)) => self.dies.program_for(die, bytes, slc.program_ns, instants),
            _ => self.dies.program(die, bytes, instants.0, instants.1),
        };
        (end_ns, way)
    }
}

impl Places {
    /// The row and the die a unit must be read from.
    #[inline]
    fn find(&self, unit: u64, spec: &FlashSpec) -> Option<(u32, usize)> {
        match self {
            Self::Mapped(map) => map.find(unit as u32),
            Self::Analytic(analytic) => Some(analytic.find(unit, spec)),
        }
    }

    /// A write begins; its units follow.
    fn begin(&mut self, command: &Command) {
        if let Self::Analytic(analytic) = self {
            analytic.begin(command.lba, command.sectors);
        }
    }

    /// Adds a unit to the row being filled; its die if the row is full.
    fn write(&mut self, unit: u64, spec: &FlashSpec) -> Option<usize> {
        match self {
            Self::Mapped(map) => map.write(unit as u32),
            Self::Analytic(analytic) => analytic.write(spec),
        }
    }

    /// Gives up the row being filled; its die, if it holds anything.
    fn close(&mut self, spec: &FlashSpec) -> Option<usize> {
        match self {
            Self::Mapped(map) => map.close(),
            Self::Analytic(analytic) => analytic.close(spec),
        }
    }
}
