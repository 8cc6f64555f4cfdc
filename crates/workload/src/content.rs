//! What is written: bytes that neither compress nor repeat unless asked to.
//!
//! Model: a buffer is filled once ([`Content::prepare`]); before each write only as much is changed as it takes to keep
//! the promise ([`Content::refresh`]). The *unit* is 4 KiB, or the largest power of two that divides the stream's
//! granule when that is less, and at least one 512-byte sector; units are counted from the request's first byte.
//!
//! - `Random`: random bytes; every 512-byte sector begins with 16 bytes that encode (address, sequence) reversibly
//!   under the stream's seed. Two sectors written with different (address, sequence) are never equal, so
//!   nothing dedupes.
//! - *compress ratio* r: the first 1 / r of every unit is random, the rest zeros; sectors carry the 16 bytes as far as
//!   the random part reaches. Every unit stays unique.
//! - *duplicate ratio* d: a unit is, with probability 1 − 1/d, a copy of one of [`POOL_UNITS`] units that the seed
//!   defines, otherwise unique. N units written hold about N / d + [`POOL_UNITS`] different ones.
//! - `Pattern` and `Zeros` are laid once and stay; the pattern starts over at each request's first byte.
//! - `Stamps` are written by [`crate::stamp::write`], which fills whole sectors: `refresh` leaves them alone.
//!
//! Limits: bytes outside the 16 per sector repeat when a buffer is used again, so a target that searches for *similar*
//! blocks (delta compression) can still find some. A compressor's own framing (15 to 75 bytes per piece) comes on top
//! and shows from ratios of 8 on; above about 200 none is reached, because 16 bytes of a 4 KiB unit are always random.
//! A target that dedupes in larger units than ours finds fewer duplicates than d says. A buffer that receives reads
//! loses its content: prepare it again, or keep buffers for writes.
//!
//! ```
//! use plimsoll_workload::{Content, TargetShape, Workload};
//! # use serde_json::json;
//! # let file = json!({ "stream": [{ "name": "oltp", "block_size": "8KiB", "read_percent": 70 }] });
//! # let workload = Workload::from_json(&file, "oltp.toml").unwrap();
//! # let plans = workload.resolve(TargetShape { size_bytes: 1 << 30, block_bytes: 512 }, 1).unwrap();
//! let plan = &plans[0]; // of a resolved workload
//! let content = Content::new(plan);
//! let mut buffer = vec![0; plan.max_len as usize];
//! content.prepare(&mut buffer, 0); // once, all of the buffer of slot 0
//! content.refresh(&mut buffer[..4096], 65_536, 1); // before write number 1, of 4 KiB to address 65,536
//! ```

use crate::plan::{ContentKind, ContentPlan, StreamPlan};
use crate::rng::{Chance, Draws, Purpose, below, mix};

/// Units that duplicates are copies of.
pub const POOL_UNITS: usize = 64;

const SECTOR_BYTES: usize = 512;
const UNIT_BYTES_MAX: usize = 4096;
/// Bytes at the start of a sector that make it unique.
const UNIQUE_BYTES: usize = 16;

/// The bytes that a stream writes; one serves all its threads.
#[derive(Clone, Debug)]
pub struct Content {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Random(Random),
    Pattern(Box<[u8]>),
    Stamps(Draws),
}

impl Content {
    /// The content of a resolved stream.
    pub fn new(plan: &StreamPlan) -> Self {
        Self::of(&plan.content, plan.granule, plan.seed)
    }

    /// The content of whatever writes requests that are multiples of `granule` bytes.
    pub fn of(plan: &ContentPlan, granule: u32, seed: u64) -> Self {
        let kind = match &plan.kind {
            ContentKind::Random => Kind::Random(Random::new(plan, granule, seed)),
            ContentKind::Zeros => Kind::Pattern([0].into()),
            ContentKind::Pattern(pattern) => {
                assert!(!pattern.is_empty(), "a pattern has at least one byte");
                Kind::Pattern(pattern.as_slice().into())
            }
            ContentKind::Stamps => Kind::Stamps(Draws::new(seed, &[Purpose::Fill as u64])),
        };
        Self { kind }
    }

    /// Fills a buffer that writes will be taken from. `slot` numbers the stream's buffers, so that no two are alike.
    pub fn prepare(&self, buffer: &mut [u8], slot: u64) {
        match &self.kind {
            Kind::Random(random) => random.prepare(buffer, slot),
            Kind::Pattern(pattern) => {
                for copy in buffer.chunks_mut(pattern.len()) {
                    copy.copy_from_slice(&pattern[..copy.len()]);
                }
            }
            Kind::Stamps(fill) => fill_random(buffer, *fill, slot << 40),
        }
    }

    /// Makes a prepared buffer ready for one write of its whole length to `offset`.
    ///
    /// `sequence` must differ between all writes of the stream to one address (a number per stream, or per thread with
    /// the thread in the upper bits): it is what keeps a rewritten block from equalling its predecessor.
    #[inline]
    pub fn refresh(&self, buffer: &mut [u8], offset: u64, sequence: u64) {
        if let Kind::Random(random) = &self.kind {
            random.refresh(buffer, offset, sequence);
        }
    }
}

/// Random bytes, shaped by the ratios.
#[derive(Clone, Debug)]
struct Random {
    fill: Draws,
    /// Two independent keys of the unique bytes.
    address_key: u64,
    sequence_key: u64,
    unit: usize,
    /// Random bytes at the start of each unit.
    dense: usize,
    duplicates: Option<Duplicates>,
}

/// Which units are copies, and of what.
#[derive(Clone, Debug)]
struct Duplicates {
    chance: Chance,
    draws: Draws,
    pool: Box<[u8]>,
}

impl Random {
    fn new(plan: &ContentPlan, granule: u32, seed: u64) -> Self {
        let divides = 1_usize << granule.trailing_zeros().min(UNIT_BYTES_MAX.ilog2());
        let unit = divides.max(SECTOR_BYTES);
        let dense = ((unit as f64 / plan.compress_ratio.max(1.0)).round() as usize).clamp(UNIQUE_BYTES, unit);
        let unique = Draws::new(seed, &[Purpose::Unique as u64]);
        let mut random = Self {
            fill: Draws::new(seed, &[Purpose::Fill as u64]),
            address_key: unique.at(0),
            sequence_key: unique.at(1),
            unit,
            dense,
            duplicates: None,
        };
        if plan.duplicate_ratio > 1.0 {
            let mut pool = vec![0; unit * POOL_UNITS].into_boxed_slice();
            random.prepare(&mut pool, u64::MAX >> 40);
            random.duplicates = Some(Duplicates {
                chance: Chance::new(1.0 - 1.0 / plan.duplicate_ratio),
                draws: Draws::new(seed, &[Purpose::Duplicate as u64]),
                pool,
            });
        }
        random
    }

    fn prepare(&self, buffer: &mut [u8], slot: u64) {
        for (number, unit) in buffer.chunks_mut(self.unit).enumerate() {
            let (dense, zeros) = unit.split_at_mut(self.dense.min(unit.len()));
            fill_random(dense, self.fill, slot << 40 | (number as u64) << 10);
            zeros.fill(0);
        }
    }

    #[inline]
    fn refresh(&self, buffer: &mut [u8], offset: u64, sequence: u64) {
        match &self.duplicates {
            None if self.dense == self.unit => self.mark(buffer, offset, sequence),
            None => {
                for (unit, address) in buffer.chunks_mut(self.unit).zip((offset..).step_by(self.unit)) {
                    self.mark_dense(unit, address, sequence);
                }
            }
            Some(duplicates) => {
                for (unit, address) in buffer.chunks_mut(self.unit).zip((offset..).step_by(self.unit)) {
                    if !duplicates.copy(unit, address, sequence, self.unit) {
                        self.mark_dense(unit, address, sequence);
                    }
                }
            }
        }
    }

    /// The unique bytes of one unit, as far as its random part reaches.
    #[inline]
    fn mark_dense(&self, unit: &mut [u8], address: u64, sequence: u64) {
        let dense = self.dense.min(unit.len());
        self.mark(&mut unit[..dense], address, sequence);
    }

    /// Writes 16 bytes at the start of every sector from which address and sequence could be computed back: they are
    /// (a, b) with a = mix(address ^ key) and b = mix(sequence + key) + a, both reversible.
    #[inline]
    fn mark(&self, bytes: &mut [u8], offset: u64, sequence: u64) {
        let written = mix(sequence.wrapping_add(self.sequence_key));
        let mut address = offset;
        for sector in bytes.chunks_mut(SECTOR_BYTES) {
            let place = mix(address ^ self.address_key);
            let unique = (u128::from(written.wrapping_add(place)) << 64 | u128::from(place)).to_le_bytes();
            match sector.first_chunk_mut::<UNIQUE_BYTES>() {
                Some(start) => *start = unique,
                None => sector.copy_from_slice(&unique[..sector.len()]),
            }
            address = address.wrapping_add(SECTOR_BYTES as u64);
        }
    }
}

impl Duplicates {
    /// Overwrites the unit with one of the pool, if this write of it is to be a duplicate.
    #[inline]
    fn copy(&self, unit: &mut [u8], address: u64, sequence: u64, unit_bytes: usize) -> bool {
        let draw = self.draws.at(mix(address).wrapping_add(sequence));
        if !self.chance.hit(draw) {
            return false;
        }
        let start = below(mix(draw), POOL_UNITS as u64) as usize * unit_bytes;
        unit.copy_from_slice(&self.pool[start..start + unit.len()]);
        true
    }
}

/// Random bytes from consecutive draws.
fn fill_random(bytes: &mut [u8], draws: Draws, from: u64) {
    let mut words = bytes.chunks_exact_mut(8);
    let mut index = from;
    for word in &mut words {
        word.copy_from_slice(&draws.at(index).to_le_bytes());
        index = index.wrapping_add(1);
    }
    let rest = words.into_remainder();
    let last = draws.at(index).to_le_bytes();
    rest.copy_from_slice(&last[..rest.len()]);
}
