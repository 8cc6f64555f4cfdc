//! What is known of a flash drive.
//!
//! Times are whole microseconds, rates bytes per second; every default is said beside its key. Limit: manufacturers
//! rarely say what is inside; the file that describes a drive should say which values are assumed.

use plimsoll_workload::option::Record;
use plimsoll_workload::unit::{BYTES, BYTES_PER_S, MS, NS, PERCENT, US};
use plimsoll_workload::{choices, options};

use crate::device::command::SECTOR_BYTES;
use crate::device::error::{SpecError, in_range};
use crate::flash::formulas::greedy;
use crate::notation::{ARRAYS, COMMAND_US_MAX, MIB, PART_NS_MAX, PIB, SECTOR};

options! {
    /// A flash drive.
    pub struct FlashSpec: "flash drive" in ARRAYS {
        "Flash" {
            /// What the host may use.
            capacity_bytes: u64 = 0, required "say what the host may use", range MIB => PIB, unit BYTES,
                example "960197124096";
            /// Flash beyond the capacity, in percent of it.
            over_provisioning_percent: f64 = 28.0, required "say how much flash there is beyond the capacity",
                range 0.1 => 1000.0, unit PERCENT, example "7.4";
            /// Buses between controller and dies.
            channels: u32 = 1, required "say how many buses there are", range 1.0 => 256.0, example "8";
            /// Dies on each of them.
            dies_per_channel: u32 = 1, required "say how many dies a bus has", range 1.0 => 256.0, example "4";
            /// Planes of a die, programmed together.
            planes_per_die: u32 = 1, required "say how many planes a die has", range 1.0 => 64.0, example "2";
            /// What a plane senses or programs at once.
            page_bytes: u32 = 16_384, required "say what a plane senses at once", range SECTOR => MIB, unit BYTES,
                example "8192";
            /// Pages of a block of one plane, erased together.
            pages_per_block: u32 = 256, required "say how many pages are erased together", range 4.0 => 65_536.0,
                example "512";
            /// What the controller keeps track of; a write of less reads the rest first.
            unit_bytes: u32 = 4096, unit BYTES, example "8192";
            /// From the cells to the register of a die.
            page_read_us: u32 = 1, required "say how long a page takes to read", range 1.0 => 1e6, unit US, example "60";
            /// From the register to the cells.
            page_program_us: u32 = 1, required "say how long a page takes to program", range 1.0 => 1e6, unit US,
                example "600";
            /// Erasing a block.
            block_erase_us: u32 = 1, required "say how long a block takes to erase", range 1.0 => 1e7, unit US,
                example "3000";
            /// By how much a read is held up by suspending a program or an erase.
            suspend_us: Option<u32> = None, unset "it waits for the end", unit US, example "20";
            /// Between a channel and its dies.
            channel_rate_bytes_per_s: u64 = 0, required "say how fast a channel is", range 1e6 => 1e11, unit BYTES_PER_S,
                example "400000000";
            /// Between controller and host.
            interface_rate_bytes_per_s: u64 = 0, required "say how fast the interface is", range 1e6 => 1e12,
                unit BYTES_PER_S, example "600000000";
            /// From the arrival of a read until the dies are told.
            read_overhead_us: u32 = 0, required "say what a read costs", unit US, example "5";
            /// From the arrival of a write until its data are taken.
            write_overhead_us: u32 = 0, required "say what a write costs", unit US, example "5";
            /// How many commands are worked on at a time.
            commands: u32 = 256, range 1.0 => 65_536.0, example "32";
            /// How much written data may wait for the dies.
            write_buffer_bytes: u64 = 0, required "say how much written data may wait", unit BYTES, example "1048576";
            /// Whether that buffer survives a loss of power, so that writes are reported from it.
            power_loss_protection: bool = false, required "say whether the buffer survives a loss of power",
                example "true";
            /// How addresses become places.
            translation: Translation = Translation::PageMap(PageMapSpec::default()),
                required "say how addresses become places", example "{\"kind\": \"analytic\"}";
            /// Types of page, in the order in which they follow each other in a block. Times are in proportion to `page_read_us`
            /// and `page_program_us`, which stay the means.
            page_types: Vec<PageTypeSpec> = Vec::new(), unset "all pages are alike",
                example "[{\"name\": \"lower\", \"read_percent\": 80, \"program_percent\": 50}]";
            /// Share of senses that have to be repeated, each drawn by itself.
            read_retry_percent: f64 = 0.0, range 0.0 => 100.0, unit PERCENT, example "1";
            /// How much longer such a sense takes.
            read_retry_us: u32 = 0, range 0.0 => COMMAND_US_MAX, unit US, example "40";
            /// How many reads may go before a program or an erase that is due or under way; further ones wait for its end.
            reads_first_max: Option<u32> = None, unset "any number", range 0.0 => 1e6, example "4";
            /// By how much a read is held up by suspending an erase.
            erase_suspend_us: Option<u32> = None, unset "as by suspending a program", range 0.0 => COMMAND_US_MAX, unit US,
                example "60";
            /// Time of the drive's own processor per command; it takes one after the other.
            command_ns: u64 = 0, range 0.0 => PART_NS_MAX, unit NS, example "1000";
            /// Flash that is written with one bit per cell at first.
            slc_cache: Option<SlcCacheSpec> = None, unset "none", example "{\"size_bytes\": 100000000000, \"program_us\": 200}";
        }
    }
}

choices! {
    /// How addresses become places.
    #[derive(Copy)]
    pub enum Translation: "a way from addresses to places", tag "kind" {
        /// A map of all units, and greedy collection of garbage. Takes about eight bytes of memory per unit.
        PageMap(PageMapSpec) = "page_map",
        /// No map: everything has been written, and the collection costs what a formula says.
        Analytic(AnalyticSpec) = "analytic",
    }
}

options! {
    /// A map of all units.
    #[derive(Copy, Eq)]
    pub struct PageMapSpec: "page map" in ARRAYS {
        "Page map" {
            /// How much of the capacity has been written once, in order, when the model begins.
            filled_percent: u32 = 100, range 0.0 => 100.0, unit PERCENT, example "50";
        }
    }
}

options! {
    /// A formula in place of a map.
    #[derive(Copy)]
    pub struct AnalyticSpec: "formula" in ARRAYS {
        "Analytic" {
            /// Writes of flash per random write of the host; long runs cost less.
            write_amplification: Option<f64> = None, unset "uniform ones with this over-provisioning",
                range 1.0 => 1000.0, example "2.5";
        }
    }
}

options! {
    /// A type of page.
    pub struct PageTypeSpec: "page type" in ARRAYS {
        "Page type" {
            /// What it is called.
            name: String = String::new(), required "name the bits of a cell that it has", example "lower";
            /// Its time to read, in percent of the mean.
            read_percent: u32 = 100, range 1.0 => 1000.0, unit PERCENT, example "80";
            /// Its time to program, in percent of the mean.
            program_percent: u32 = 100, range 1.0 => 1000.0, unit PERCENT, example "50";
        }
    }
}

options! {
    /// Flash that is written with one bit per cell at first, and folded into all bits when the host has nothing to do.
    #[derive(Copy, Eq)]
    pub struct SlcCacheSpec: "SLC cache" in ARRAYS {
        "SLC cache" {
            /// How much of the host's data it takes.
            size_bytes: u64 = 0, required "say how much it takes", range MIB => PIB, unit BYTES, example "100000000000";
            /// From the register to the cells, with one bit per cell.
            program_us: u32 = 1, required "say how long a page takes to program with one bit per cell", range 1.0 => 1e6,
                unit US, example "200";
            /// Time without a command after which folding begins.
            idle_ms: u32 = 100, range 0.0 => 86_400_000.0, unit MS, example "1000";
            /// Whether every row has to be folded to make room once it is full; if not, what is written goes past it.
            folds_first: bool = false, example "true";
        }
    }
}

impl Translation {
    /// A page map of a device of which this share has been written once.
    pub const fn page_map(filled_percent: u32) -> Self {
        Self::PageMap(PageMapSpec { filled_percent })
    }

    /// No map; the amplification, unless it is to follow from the over-provisioning.
    pub const fn analytic(write_amplification: Option<f64>) -> Self {
        Self::Analytic(AnalyticSpec { write_amplification })
    }
}

/// The most units of flash a page map may have: about a gigabyte of memory.
const MAP_UNITS_MAX: u64 = 1 << 27;

/// Blocks per die that collecting needs beyond the capacity: two being filled, two kept free, one being emptied.
pub(crate) const SPARE_BLOCKS_MIN: u64 = 5;

impl FlashSpec {
    /// Dies of the drive.
    pub const fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// What a die programs at once.
    pub const fn row_bytes(&self) -> u64 {
        self.planes_per_die as u64 * self.page_bytes as u64
    }

    /// Units of the capacity.
    pub const fn units(&self) -> u64 {
        self.capacity_bytes / self.unit_bytes as u64
    }

    /// Units of all the flash.
    pub fn raw_units(&self) -> u64 {
        let rows = self.blocks_per_die() * u64::from(self.dies()) * u64::from(self.pages_per_block);
        rows * (self.row_bytes() / u64::from(self.unit_bytes))
    }

    /// Blocks of a die, one on every plane counting as one; rounded up.
    pub fn blocks_per_die(&self) -> u64 {
        let block_bytes = self.row_bytes() * u64::from(self.pages_per_block);
        let raw_bytes = self.capacity_bytes as f64 * (1.0 + self.over_provisioning_percent / 100.0);
        libm::ceil(raw_bytes / f64::from(self.dies()) / block_bytes as f64) as u64
    }

    /// Units of a block, on every plane of its die.
    pub fn block_units(&self) -> u64 {
        self.row_bytes() * u64::from(self.pages_per_block) / u64::from(self.unit_bytes)
    }

    /// Flash beyond the capacity that is free to hold garbage, in proportion to the capacity.
    ///
    /// Some blocks of every die are not: those being filled or emptied and those kept free. That is about three, and fewer where
    /// there is so little to gain from a block that the collection only just keeps up, down to two at a spare of 7 % (found by
    /// comparing the page map with the formula, for blocks of 512 units; for small ones it makes no difference). They
    /// cannot take more than half of the spare.
    pub fn spare(&self) -> f64 {
        let per_die = self.capacity_bytes as f64 / f64::from(self.dies());
        let block = (self.row_bytes() * u64::from(self.pages_per_block)) as f64;
        let nominal = self.blocks_per_die() as f64 * block / per_die - 1.0;
        let gained = 1.0 / greedy(nominal, self.block_units());
        let bound = (1.1 + 7.0 * gained).min(3.0);
        (nominal - bound * block / per_die).max(nominal / 2.0)
    }

    /// Whether its dies have queues of their own, page by page; without any of these keys they do their work in the mean.
    pub(crate) fn is_detailed(&self) -> bool {
        !self.page_types.is_empty()
            || self.read_retry_percent > 0.0
            || self.reads_first_max.is_some()
            || self.erase_suspend_us.is_some()
            || self.command_ns > 0
            || self.slc_cache.is_some()
    }

    /// Mean time from the cells to the register, with what is sensed again.
    pub(crate) fn sense_us(&self) -> f64 {
        f64::from(self.page_read_us) + self.read_retry_percent / 100.0 * f64::from(self.read_retry_us)
    }

    /// Refuses values that no drive can have.
    ///
    /// # Errors
    /// One sentence that names the key.
    pub fn check(&self) -> Result<(), SpecError> {
        self.check_ranges()?;
        self.check_unit()?;
        self.check_page_types()?;
        if self.power_loss_protection {
            in_range("write_buffer_bytes", self.write_buffer_bytes, 2 * self.row_bytes(), 1 << 40)?;
        }
        self.check_translation().map_err(|error| error.within("translation"))
    }

    fn check_unit(&self) -> Result<(), SpecError> {
        let (unit, row) = (u64::from(self.unit_bytes), self.row_bytes());
        if unit == 0 || !unit.is_multiple_of(SECTOR_BYTES) || !row.is_multiple_of(unit) || row / unit > 1 << 16 {
            let problem =
                format!("{unit} does not divide a row of {row} bytes; write a divisor that is a multiple of 512");
            return Err(SpecError::new("unit_bytes", problem));
        }
        Ok(())
    }

    fn check_page_types(&self) -> Result<(), SpecError> {
        let types = &self.page_types;
        for (key, percent) in [
            ("read_percent", (|one| one.read_percent) as fn(&PageTypeSpec) -> u32),
            ("program_percent", |one| one.program_percent),
        ] {
            let mean = types.iter().map(|one| f64::from(percent(one))).sum::<f64>() / types.len().max(1) as f64;
            if !types.is_empty() && (mean - 100.0).abs() > 1.0 {
                let problem =
                    format!("{key} is {mean:.1} in the mean; write percentages of the mean, so that it is 100");
                return Err(SpecError::new("page_types", problem));
            }
        }
        if self.erase_suspend_us.is_some() && self.suspend_us.is_none() {
            let problem =
                "without suspend_us nothing is suspended; write suspend_us as well, or leave it out".to_owned();
            return Err(SpecError::new("erase_suspend_us", problem));
        }
        Ok(())
    }

    fn check_translation(&self) -> Result<(), SpecError> {
        match self.translation {
            Translation::Analytic(_) => Ok(()),
            Translation::PageMap(_) => {
                let units = self.raw_units();
                if units > MAP_UNITS_MAX {
                    let problem = format!(
                        "page_map has {units} units; write \"analytic\", or a unit_bytes that makes at most {MAP_UNITS_MAX}"
                    );
                    return Err(SpecError::new("kind", problem));
                }
                self.check_spare()
            }
        }
    }

    fn check_spare(&self) -> Result<(), SpecError> {
        let block_bytes = self.row_bytes() * u64::from(self.pages_per_block);
        let needed = self.capacity_bytes.div_ceil(u64::from(self.dies())).div_ceil(block_bytes) + SPARE_BLOCKS_MIN;
        if self.blocks_per_die() >= needed {
            return Ok(());
        }
        let problem = format!(
            "page_map needs {needed} blocks on a die and has {}; write more capacity_bytes or over_provisioning_percent, or fewer pages_per_block",
            self.blocks_per_die()
        );
        Err(SpecError::new("kind", problem))
    }
}
