//! What is known of a flash drive.
//!
//! Times are whole microseconds, rates bytes per second; every default is said beside its key. Limit: manufacturers
//! rarely say what is inside; the file that describes a drive should say which values are assumed.

use serde::{Deserialize, Serialize};

use crate::device::command::SECTOR_BYTES;
use crate::device::error::{SpecError, in_range};

/// A flash drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashSpec {
    /// What the host may use.
    pub capacity_bytes: u64,
    /// Flash beyond the capacity, in percent of it.
    pub over_provisioning_percent: f64,
    /// Buses between controller and dies.
    pub channels: u32,
    /// Dies on each of them.
    pub dies_per_channel: u32,
    /// Planes of a die, programmed together.
    pub planes_per_die: u32,
    /// What a plane senses or programs at once.
    pub page_bytes: u32,
    /// Pages of a block of one plane, erased together.
    pub pages_per_block: u32,
    /// What the controller keeps track of (default 4096); a write of less reads the rest first.
    #[serde(default = "default_unit_bytes")]
    pub unit_bytes: u32,
    /// From the cells to the register of a die.
    pub page_read_us: u32,
    /// From the register to the cells.
    pub page_program_us: u32,
    /// Erasing a block.
    pub block_erase_us: u32,
    /// By how much a read is held up by suspending a program or an erase; without it, it waits for the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_us: Option<u32>,
    /// Between a channel and its dies.
    pub channel_rate_bytes_per_s: u64,
    /// Between controller and host.
    pub interface_rate_bytes_per_s: u64,
    /// From the arrival of a read until the dies are told.
    pub read_overhead_us: u32,
    /// From the arrival of a write until its data are taken.
    pub write_overhead_us: u32,
    /// How many commands are worked on at a time (default 256).
    #[serde(default = "default_commands")]
    pub commands: u32,
    /// How much written data may wait for the dies.
    pub write_buffer_bytes: u64,
    /// Whether that buffer survives a loss of power, so that writes are reported from it.
    pub power_loss_protection: bool,
    /// How addresses become places.
    pub translation: Translation,
}

/// How addresses become places.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Translation {
    /// A map of all units, and greedy collection of garbage. Takes about eight bytes of memory per unit.
    PageMap {
        /// How much of the capacity has been written once, in order, when the model begins (default 100).
        #[serde(default = "default_filled_percent")]
        filled_percent: u32,
    },
    /// No map: everything has been written, and the collection costs what a formula says.
    Analytic {
        /// Writes of flash per random write of the host (default: uniform ones with this over-provisioning); long runs cost less.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        write_amplification: Option<f64>,
    },
}

const fn default_unit_bytes() -> u32 {
    4096
}

const fn default_commands() -> u32 {
    256
}

const fn default_filled_percent() -> u32 {
    100
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

    /// Flash beyond the capacity that is free to hold garbage, in proportion to the capacity.
    ///
    /// Some blocks of every die are not: those being filled or emptied and those kept free, about two (found by
    /// comparing the page map with the formula, for blocks of 512 units). They cannot take more than half of the spare.
    pub fn spare(&self) -> f64 {
        let per_die = self.capacity_bytes as f64 / f64::from(self.dies());
        let block = (self.row_bytes() * u64::from(self.pages_per_block)) as f64;
        let nominal = self.blocks_per_die() as f64 * block / per_die - 1.0;
        (nominal - 2.0 * block / per_die).max(nominal / 2.0)
    }

    /// Refuses values that no drive can have.
    ///
    /// # Errors
    /// One sentence that names the key.
    pub fn check(&self) -> Result<(), SpecError> {
        in_range("capacity_bytes", self.capacity_bytes, 1 << 20, 1 << 50)?;
        in_range("over_provisioning_percent", self.over_provisioning_percent, 0.1, 1_000.0)?;
        in_range("channels", self.channels, 1, 256)?;
        in_range("dies_per_channel", self.dies_per_channel, 1, 256)?;
        in_range("planes_per_die", self.planes_per_die, 1, 64)?;
        in_range("page_bytes", self.page_bytes, 512, 1 << 20)?;
        in_range("pages_per_block", self.pages_per_block, 4, 65_536)?;
        in_range("page_read_us", self.page_read_us, 1, 1_000_000)?;
        in_range("page_program_us", self.page_program_us, 1, 1_000_000)?;
        in_range("block_erase_us", self.block_erase_us, 1, 10_000_000)?;
        in_range("channel_rate_bytes_per_s", self.channel_rate_bytes_per_s, 1_000_000, 100_000_000_000)?;
        in_range("interface_rate_bytes_per_s", self.interface_rate_bytes_per_s, 1_000_000, 1_000_000_000_000)?;
        in_range("commands", self.commands, 1, 65_536)?;
        self.check_unit()?;
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

    fn check_translation(&self) -> Result<(), SpecError> {
        match self.translation {
            Translation::Analytic { write_amplification } => {
                in_range("write_amplification", write_amplification.unwrap_or(1.0), 1.0, 1_000.0)
            }
            Translation::PageMap { filled_percent } => {
                in_range("filled_percent", filled_percent, 0, 100)?;
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
