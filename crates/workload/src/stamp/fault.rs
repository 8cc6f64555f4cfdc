//! What can be wrong with data read back, and the account of it.

use serde::{Deserialize, Serialize};

use super::Expectation;

/// What a target did to a write, as far as the sectors read back prove it.
///
/// "Older" means a generation before the newest acknowledged one (`lo` of the [`Expectation`]); unstamped data counts
/// as generation 0, so it is older only while nothing but the first write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// Older data, and no read has returned newer: the last acknowledged write did not arrive.
    Lost,
    /// Older data in one sector while another sector of the same read holds a later write that covered both: that write
    /// arrived in part.
    Torn,
    /// Older data although an earlier read had returned the acknowledged generation: it was there and is no more.
    Stale,
    /// A sound stamp of this run that belongs to another address.
    Misdirected,
    /// Neither: no stamp where one must be, a checksum that does not match, or a generation that was never issued.
    Corrupt,
}

impl Fault {
    /// Every fault, in table order.
    pub const ALL: [Self; 5] = [Self::Lost, Self::Torn, Self::Stale, Self::Misdirected, Self::Corrupt];

    /// The word used in files, tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Torn => "torn",
            Self::Stale => "stale",
            Self::Misdirected => "misdirected",
            Self::Corrupt => "corrupt",
        }
    }
}

/// What stood in a faulty sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Found {
    /// A stamp of this run for this address.
    Stamp {
        /// Generation of the granule.
        generation: u64,
        /// First address of the write it came from.
        write_start: u64,
        /// Bytes of that write.
        write_len: u32,
    },
    /// A stamp of this run for another address.
    OtherAddress {
        /// The address it belongs to.
        address: u64,
        /// Generation of the granule there.
        generation: u64,
    },
    /// A stamp of another run: data from before this run.
    OtherRun {
        /// That run.
        run: u64,
        /// The address it belongs to.
        address: u64,
    },
    /// Nothing but zeros.
    Zeros,
    /// No stamp at all.
    Unstamped,
    /// A stamp whose checksum does not match.
    BadChecksum,
}

/// Consecutive sectors of one granule with the same fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What is wrong.
    pub fault: Fault,
    /// First byte on the target.
    pub address: u64,
    /// Length in bytes.
    pub len: u32,
    /// What would have been right.
    pub expected: Expectation,
    /// What stood in the first of the sectors.
    pub found: Found,
}

/// How often a fault was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCount {
    /// Runs of sectors inside a granule.
    pub findings: u64,
    /// Sectors of 512 bytes.
    pub sectors: u64,
}

/// Everything that reading back has shown; grows to [`Findings::EXAMPLES_MAX`] examples per fault and no further.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// Sectors looked at, those without an expectation included.
    pub sectors_read: u64,
    /// Sectors that had to carry a stamp.
    pub sectors_checked: u64,
    /// Older data, never replaced.
    pub lost: FaultCount,
    /// Writes that arrived in part.
    pub torn: FaultCount,
    /// Data that went back to an older state.
    pub stale: FaultCount,
    /// Data of another address.
    pub misdirected: FaultCount,
    /// Data that is nobody's.
    pub corrupt: FaultCount,
    /// The first findings of each fault, in the order found.
    pub examples: Vec<Finding>,
}

impl Findings {
    /// Examples kept of each fault.
    pub const EXAMPLES_MAX: usize = 8;

    /// Whether everything read back was as expected.
    pub fn is_clean(&self) -> bool {
        Fault::ALL.iter().all(|&fault| self.count(fault).findings == 0)
    }

    /// How often a fault was found.
    pub const fn count(&self, fault: Fault) -> FaultCount {
        match fault {
            Fault::Lost => self.lost,
            Fault::Torn => self.torn,
            Fault::Stale => self.stale,
            Fault::Misdirected => self.misdirected,
            Fault::Corrupt => self.corrupt,
        }
    }

    const fn count_mut(&mut self, fault: Fault) -> &mut FaultCount {
        match fault {
            Fault::Lost => &mut self.lost,
            Fault::Torn => &mut self.torn,
            Fault::Stale => &mut self.stale,
            Fault::Misdirected => &mut self.misdirected,
            Fault::Corrupt => &mut self.corrupt,
        }
    }

    /// Counts a finding and keeps it as an example while there are few.
    pub(super) fn add(&mut self, finding: Finding) {
        let count = self.count_mut(finding.fault);
        count.findings += 1;
        count.sectors += u64::from(finding.len) / super::SECTOR_BYTES as u64;
        if count.findings <= Self::EXAMPLES_MAX as u64 {
            self.examples.push(finding);
        }
    }

    /// Adds what another thread found.
    pub fn merge(&mut self, other: &Self) {
        self.sectors_read += other.sectors_read;
        self.sectors_checked += other.sectors_checked;
        for fault in Fault::ALL {
            let kept = self.examples.iter().filter(|example| example.fault == fault).count();
            let more = other.examples.iter().filter(|example| example.fault == fault);
            self.examples.extend(more.take(Self::EXAMPLES_MAX.saturating_sub(kept)));
            let (count, added) = (self.count_mut(fault), other.count(fault));
            count.findings += added.findings;
            count.sectors += added.sectors;
        }
    }
}
