//! Reading stamps back.

use serde::{Deserialize, Serialize};

use super::fault::{Fault, Finding, Findings, Found};
use super::{ABREAST, Decoded, MAGIC, SECTOR_BYTES, Sector, Stamp, assert_shape, checksums_of_some};

/// What a granule may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation {
    /// Oldest generation that is right: the newest one acknowledged before the read was submitted. 0 = none was, so
    /// anything goes but what this run wrote for another address.
    pub lo: u64,
    /// Newest generation that is right: the newest one issued before the read completed.
    pub hi: u64,
    /// An earlier read has already returned generation `lo` or a newer one.
    pub confirmed: bool,
}

impl Expectation {
    /// For a granule that nothing was written to.
    pub const ANYTHING: Self = Self { lo: 0, hi: 0, confirmed: false };

    /// For a granule whose writes are all acknowledged.
    pub const fn exactly(generation: u64) -> Self {
        Self { lo: generation, hi: generation, confirmed: false }
    }
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBack {
    /// The run whose stamps are expected.
    pub run: u64,
    /// First address of the read on the target, in bytes.
    pub start: u64,
    /// Bytes per granule.
    pub granule_bytes: u32,
}

/// Compares a buffer with what its granules may hold, adds what is wrong to `findings` and returns how many findings
/// that were. `expect` is asked for each granule, numbered from the read's first; twice if anything is wrong.
///
/// After a return of 0 every granule whose `lo` equals its `hi` is known to hold that generation: confirmed.
///
/// # Panics
/// If the buffer or the address is not made of whole granules, or a granule not of whole sectors.
pub fn check(
    buffer: &[u8],
    read: &ReadBack,
    mut expect: impl FnMut(usize) -> Expectation,
    findings: &mut Findings,
) -> u64 {
    assert_shape(buffer.len(), read.start, read.granule_bytes);
    let sectors = buffer.as_chunks::<SECTOR_BYTES>().0;
    let per_granule = read.granule_bytes as usize / SECTOR_BYTES;
    let mut sound = true;
    for (number, granule) in sectors.chunks_exact(per_granule).enumerate() {
        let expected = expect(number);
        let first = read.start + number as u64 * u64::from(read.granule_bytes);
        let mut addresses = (first..).step_by(SECTOR_BYTES);
        if expected.lo == 0 {
            sound &= !granule.iter().zip(addresses).any(|(sector, address)| is_astray(sector, read.run, address));
            continue;
        }
        findings.sectors_checked += per_granule as u64;
        sound &= granule.chunks(ABREAST).all(|some| {
            let mut sectors = some.iter().zip(checksums_of_some(some)).zip(&mut addresses);
            sectors.all(|((sector, sum), address)| is_right((sector, sum), read.run, address, expected))
        });
    }
    findings.sectors_read += sectors.len() as u64;
    if sound { 0 } else { classify(sectors, read, expect, findings) }
}

/// Looks for sound stamps of their own address in a read at address `start`, whichever run wrote them, adds what
/// is wrong to `findings` and returns how many findings that were. Data that is older than it should be cannot be
/// recognised without an account of the writes.
///
/// # Panics
/// If the buffer or the address is not made of whole sectors.
pub fn check_found(buffer: &[u8], start: u64, findings: &mut Findings) -> u64 {
    assert_shape(buffer.len(), start, SECTOR_BYTES as u32);
    let sectors = buffer.as_chunks::<SECTOR_BYTES>().0;
    findings.sectors_read += sectors.len() as u64;
    findings.sectors_checked += sectors.len() as u64;
    let addresses = (start..).step_by(SECTOR_BYTES);
    let mut found = 0;
    for (place, address) in addresses.take(sectors.len()).enumerate() {
        let decoded = Stamp::decode(&sectors[place]);
        if matches!(decoded, Decoded::Valid(stamp) if stamp.address == address) {
            continue;
        }
        found += 1;
        let run = if let Decoded::Valid(stamp) = decoded { stamp.run } else { 0 };
        let seen = seen(&sectors[place], decoded, run, address);
        let misdirected = matches!(seen, Found::OtherAddress { .. });
        let fault = if misdirected { Fault::Misdirected } else { Fault::Corrupt };
        let len = SECTOR_BYTES as u32;
        findings.add(Finding { fault, address, len, expected: Expectation::ANYTHING, found: seen });
    }
    found
}

#[inline]
fn is_right((sector, sum): (&Sector, u32), run: u64, address: u64, expected: Expectation) -> bool {
    matches!(Stamp::decode_summed(sector, |_| sum), Decoded::Valid(stamp)
        if stamp.run == run && stamp.address == address && (expected.lo..=expected.hi).contains(&stamp.generation))
}

/// Whether a sector is one that this run wrote for another address.
#[inline]
fn is_astray(sector: &Sector, run: u64, address: u64) -> bool {
    sector[0..8] == MAGIC
        && matches!(Stamp::decode(sector), Decoded::Valid(stamp) if stamp.run == run && stamp.address != address)
}

/// The slow way, once something is known to be wrong: every sector on its own, then runs of equal faults put together.
fn classify(
    sectors: &[Sector],
    read: &ReadBack,
    mut expect: impl FnMut(usize) -> Expectation,
    findings: &mut Findings,
) -> u64 {
    let per_granule = read.granule_bytes as usize / SECTOR_BYTES;
    let expected: Vec<Expectation> = (0..sectors.len() / per_granule).map(&mut expect).collect();
    let scene = Scene::new(sectors, read, &expected);
    let mut found = 0;
    for (number, &expected) in expected.iter().enumerate() {
        let mut current: Option<Finding> = None;
        for place in number * per_granule..(number + 1) * per_granule {
            let Some((fault, seen)) = scene.judge(place, expected) else {
                current.take().into_iter().for_each(|finding| findings.add(finding));
                continue;
            };
            match &mut current {
                Some(finding) if finding.fault == fault => finding.len += SECTOR_BYTES as u32,
                _ => {
                    found += 1;
                    let begun = Finding {
                        fault,
                        address: scene.address(place),
                        len: SECTOR_BYTES as u32,
                        expected,
                        found: seen,
                    };
                    current.replace(begun).into_iter().for_each(|finding| findings.add(finding));
                }
            }
        }
        current.into_iter().for_each(|finding| findings.add(finding));
    }
    found
}

/// One read with everything that is needed to judge a sector of it.
struct Scene<'read> {
    sectors: &'read [Sector],
    read: &'read ReadBack,
    decoded: Vec<Decoded>,
    /// One stamp of each write that arrived here and is not too old, ordered by sequence.
    arrived: Vec<Stamp>,
}

impl<'read> Scene<'read> {
    fn new(sectors: &'read [Sector], read: &'read ReadBack, expected: &[Expectation]) -> Self {
        let decoded: Vec<Decoded> = sectors.iter().map(Stamp::decode).collect();
        let mut scene = Self { sectors, read, decoded, arrived: Vec::new() };
        let per_granule = read.granule_bytes as usize / SECTOR_BYTES;
        let fresh = |place: usize| {
            let stamp = scene.own_stamp(place)?;
            let expected = expected[place / per_granule];
            (expected.lo > 0 && (expected.lo..=expected.hi).contains(&stamp.generation)).then_some(stamp)
        };
        let mut arrived: Vec<Stamp> = (0..sectors.len()).filter_map(fresh).collect();
        arrived.sort_unstable_by_key(|stamp| stamp.sequence);
        arrived.dedup_by_key(|stamp| stamp.sequence);
        scene.arrived = arrived;
        scene
    }

    fn address(&self, place: usize) -> u64 {
        self.read.start + (place * SECTOR_BYTES) as u64
    }

    /// The stamp at a place, if it is sound, of this run and for this address.
    fn own_stamp(&self, place: usize) -> Option<Stamp> {
        match self.decoded[place] {
            Decoded::Valid(stamp) if stamp.run == self.read.run && stamp.address == self.address(place) => Some(stamp),
            _ => None,
        }
    }

    /// The fault of one sector and what stands there; `None` if it is right.
    fn judge(&self, place: usize, expected: Expectation) -> Option<(Fault, Found)> {
        let found = self.found(place);
        if expected.lo == 0 {
            return matches!(found, Found::OtherAddress { .. }).then_some((Fault::Misdirected, found));
        }
        let fault = match found {
            Found::Stamp { generation, .. } if generation > expected.hi => Fault::Corrupt,
            Found::Stamp { generation, .. } if generation >= expected.lo => return None,
            Found::Stamp { .. } => self.older(place, expected),
            Found::OtherAddress { .. } => Fault::Misdirected,
            Found::BadChecksum => Fault::Corrupt,
            // What was there before this run: one acknowledged write that did not arrive explains it, two do not.
            Found::OtherRun { .. } | Found::Zeros | Found::Unstamped if expected.lo == 1 && !expected.confirmed => {
                self.older(place, expected)
            }
            Found::OtherRun { .. } | Found::Zeros | Found::Unstamped => Fault::Corrupt,
        };
        Some((fault, found))
    }

    fn found(&self, place: usize) -> Found {
        seen(&self.sectors[place], self.decoded[place], self.read.run, self.address(place))
    }

    /// Which kind of too old it is.
    fn older(&self, place: usize, expected: Expectation) -> Fault {
        if expected.confirmed {
            return Fault::Stale;
        }
        let address = self.address(place);
        let own = self.own_stamp(place).map(|stamp| stamp.sequence);
        let partly_arrived = |write: &Stamp| write.covers(address) && own.is_none_or(|own| write.sequence > own);
        if self.arrived.iter().any(partly_arrived) { Fault::Torn } else { Fault::Lost }
    }
}

/// What stands in a sector at an address, where stamps of a run are expected.
fn seen(sector: &Sector, decoded: Decoded, run: u64, address: u64) -> Found {
    match decoded {
        Decoded::Valid(stamp) if stamp.run != run => Found::OtherRun { run: stamp.run, address: stamp.address },
        Decoded::Valid(stamp) if stamp.address != address => {
            Found::OtherAddress { address: stamp.address, generation: stamp.generation }
        }
        Decoded::Valid(stamp) => {
            Found::Stamp { generation: stamp.generation, write_start: stamp.start, write_len: stamp.len }
        }
        Decoded::Broken => Found::BadChecksum,
        Decoded::Absent if sector.iter().all(|&byte| byte == 0) => Found::Zeros,
        Decoded::Absent => Found::Unstamped,
    }
}
