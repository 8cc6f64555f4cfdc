//! Stamps: sectors that say who wrote them, so that reading back shows what a target did to them.
//!
//! Model: the target is divided into *granules* (a multiple of 512 bytes that every request is made of). Each write
//! of a granule has a generation, counted from 1; 0 means never written. Every 512-byte sector of a write is stamped:
//!
//! | bytes | field (little-endian) |
//! |---|---|
//! | 0..8 | magic `PLIMSOLL` |
//! | 8..12 | version, 1 |
//! | 12..16 | length of the write in bytes |
//! | 16..24 | run: separates this run's stamps from those of earlier ones |
//! | 24..32 | address of this sector on the target |
//! | 32..40 | generation of the granule |
//! | 40..48 | first address of the write |
//! | 48..56 | number of the write in the run, in order of issue |
//! | 56..508 | payload: random bytes derived from run, address and sequence |
//! | 508..512 | CRC-32C (Castagnoli) of bytes 0..508 |
//!
//! Because address and sequence are inside, no two sectors of a run are equal and nothing compresses well.
//!
//! [`check`] reads sectors back and classifies what should not be there: see [`Fault`].
//!
//! Limits: 2^32 − 1 bytes per write; a write torn *inside* a sector shows as corrupt. A stamp proves what the target
//! returns now, not what it would return after losing power.
//!
//! ```
//! use plimsoll_workload::stamp::{self, Expectation, Findings, ReadBack, StampHeader};
//!
//! let mut buffer = vec![0; 8192];
//! let header = StampHeader { run: 1, start: 65_536, sequence: 1, granule_bytes: 4096 };
//! stamp::write(&mut buffer, &header, |_granule| 1); // the first write of both granules
//!
//! let read = ReadBack { run: 1, start: 65_536, granule_bytes: 4096 };
//! let mut findings = Findings::default();
//! stamp::check(&buffer, &read, |_granule| Expectation::exactly(2), &mut findings);
//! assert_eq!(findings.lost.findings, 2); // a second write was acknowledged, and did not arrive
//! ```

mod abreast;
mod check;
mod fault;

pub use check::{Expectation, ReadBack, check, check_found};
pub use fault::{Fault, FaultCount, Finding, Findings, Found};

use abreast::{ABREAST, checksums, fill_payload};

use crate::rng::Draws;

/// Bytes per stamp.
pub const SECTOR_BYTES: usize = 512;

const MAGIC: [u8; 8] = *b"PLIMSOLL";
const VERSION: u32 = 1;
const PAYLOAD_START: usize = 56;
const CHECKSUM_START: usize = 508;

/// One sector of a buffer.
type Sector = [u8; SECTOR_BYTES];

/// What all sectors of one write have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampHeader {
    /// Identifies the run; any number that earlier runs on the same target did not use.
    pub run: u64,
    /// First address of the write on the target, in bytes.
    pub start: u64,
    /// Number of the write in the order of issue, over all threads of the run: the later of two writes tells a torn
    /// write from a lost one.
    pub sequence: u64,
    /// Bytes per granule.
    pub granule_bytes: u32,
}

/// Stamps every sector of a write. `generation` is asked once per granule, numbered from the write's first.
///
/// # Panics
/// If the buffer or the address is not made of whole granules, or a granule not of whole sectors.
pub fn write(buffer: &mut [u8], header: &StampHeader, mut generation: impl FnMut(usize) -> u64) {
    assert_shape(buffer.len(), header.start, header.granule_bytes);
    let len = u32::try_from(buffer.len()).expect("a request is shorter than 4 GiB");
    let mut stamp = Stamp {
        len,
        run: header.run,
        address: header.start,
        generation: 0,
        start: header.start,
        sequence: header.sequence,
    };
    let per_granule = header.granule_bytes as usize / SECTOR_BYTES;
    let mut places = (0..per_granule).cycle();
    let mut granules = 0..;
    for group in buffer.as_chunks_mut::<SECTOR_BYTES>().0.chunks_mut(ABREAST) {
        for sector in group.iter_mut() {
            if places.next() == Some(0) {
                stamp.generation = granules.next().map_or(0, &mut generation);
                debug_assert!(stamp.generation > 0, "generation 0 means never written");
            }
            stamp.encode(sector);
            stamp.address += SECTOR_BYTES as u64;
        }
        seal(group);
    }
}

/// Puts the checksums of some sectors into them.
fn seal(sectors: &mut [Sector]) {
    let sums = checksums_of_some(sectors);
    for (sector, checksum) in sectors.iter_mut().zip(sums) {
        sector[CHECKSUM_START..].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// The checksums of at most [`ABREAST`] sectors.
fn checksums_of_some(sectors: &[Sector]) -> [u32; ABREAST] {
    if let Ok(sectors) = <&[Sector; ABREAST]>::try_from(sectors) {
        return checksums(sectors);
    }
    let mut some = [0; ABREAST];
    some.iter_mut().zip(sectors).for_each(|(sum, sector)| *sum = checksum(sector));
    some
}

fn checksum(sector: &Sector) -> u32 {
    checksums(std::array::from_ref(sector))[0]
}

/// Whether a sector is a whole stamp, of whatever run.
pub fn is_valid(sector: &Sector) -> bool {
    matches!(Stamp::decode(sector), Decoded::Valid(_))
}

/// Stamps are for whole granules of whole sectors: anything else is a mistake of ours.
fn assert_shape(len: usize, start: u64, granule_bytes: u32) {
    let granule = granule_bytes as usize;
    assert!(granule > 0 && granule.is_multiple_of(SECTOR_BYTES), "a granule of {granule} bytes has no whole sectors");
    assert!(len.is_multiple_of(granule), "{len} bytes are not whole granules of {granule}");
    assert!(start.is_multiple_of(u64::from(granule_bytes)), "address {start} is not a multiple of {granule}");
}

/// What a sector is to somebody who knows the run whose stamps should be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A sound stamp of the run.
    Own {
        /// The address it belongs to.
        address: u64,
        /// The number of its write.
        sequence: u64,
    },
    /// A stamp whose checksum does not match.
    Broken,
    /// No stamp, or one of another run.
    Other,
}

/// Looks at one sector.
pub fn seen_by(sector: &[u8; SECTOR_BYTES], run: u64) -> Seen {
    match Stamp::decode(sector) {
        Decoded::Valid(Stamp { run: found, address, sequence, .. }) if found == run => Seen::Own { address, sequence },
        Decoded::Valid(_) | Decoded::Absent => Seen::Other,
        Decoded::Broken => Seen::Broken,
    }
}

/// The fields of one sector's stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    len: u32,
    run: u64,
    address: u64,
    generation: u64,
    start: u64,
    sequence: u64,
}

/// What stands where a stamp should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decoded {
    Valid(Stamp),
    /// Magic and version are right, the checksum is not.
    Broken,
    /// No stamp of ours.
    Absent,
}

impl Stamp {
    /// Everything but the checksum.
    fn encode(&self, sector: &mut Sector) {
        sector[0..8].copy_from_slice(&MAGIC);
        sector[8..12].copy_from_slice(&VERSION.to_le_bytes());
        sector[12..16].copy_from_slice(&self.len.to_le_bytes());
        sector[16..24].copy_from_slice(&self.run.to_le_bytes());
        sector[24..32].copy_from_slice(&self.address.to_le_bytes());
        sector[32..40].copy_from_slice(&self.generation.to_le_bytes());
        sector[40..48].copy_from_slice(&self.start.to_le_bytes());
        sector[48..56].copy_from_slice(&self.sequence.to_le_bytes());
        fill_payload(sector, Draws::new(self.run, &[self.address, self.sequence]));
    }

    #[inline]
    fn decode(sector: &Sector) -> Decoded {
        Self::decode_summed(sector, checksum)
    }

    /// The same, where somebody may know the checksum already.
    #[inline]
    fn decode_summed(sector: &Sector, checksum: impl FnOnce(&Sector) -> u32) -> Decoded {
        if sector[0..8] != MAGIC || u32_at(sector, 8) != VERSION {
            return Decoded::Absent;
        }
        if u32_at(sector, CHECKSUM_START) != checksum(sector) {
            return Decoded::Broken;
        }
        Decoded::Valid(Self {
            len: u32_at(sector, 12),
            run: u64_at(sector, 16),
            address: u64_at(sector, 24),
            generation: u64_at(sector, 32),
            start: u64_at(sector, 40),
            sequence: u64_at(sector, 48),
        })
    }

    /// Whether the write that this stamp belongs to also wrote `address`.
    fn covers(&self, address: u64) -> bool {
        address >= self.start && address - self.start < u64::from(self.len)
    }
}

#[inline]
fn u32_at(sector: &Sector, place: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| sector[place + byte]))
}

#[inline]
fn u64_at(sector: &Sector, place: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| sector[place + byte]))
}
