//! What every granule of a target should hold: the expectation that verification compares with.
//!
//! Model: one word per granule, shared by all workers: the newest generation issued, the newest one known to have arrived,
//! and whether a write is outstanding, whether the last write failed (then both are right), and whether a read has already
//! returned the newest. A write of a granule that already has one outstanding is refused, because the order in which two
//! overlapping writes arrive is nobody's promise; it then waits (`worker/overlap.rs`). A granule that is being
//! written while it is read is not checked: what such a read returns is nobody's promise either (copies from and to the
//! page cache mix the two within a sector).
//!
//! Limits: 2^30 − 1 generations per granule; 8 bytes of memory per granule, at most [`GRANULES_MAX`] granules.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_workload::stamp::{self, Expectation, Findings, ReadBack, StampHeader};

/// Most granules one run keeps account of: 128 MiB of memory.
pub const GRANULES_MAX: u64 = 16 << 20;

const GENERATION_BITS: u32 = 30;
const GENERATION_MASK: u64 = (1 << GENERATION_BITS) - 1;
const BUSY: u64 = 1 << 60;
const UNCERTAIN: u64 = 1 << 61;
const CONFIRMED: u64 = 1 << 62;

/// See the module.
#[derive(Debug)]
pub struct Ledger {
    run: u64,
    granule_bytes: u32,
    first_byte: u64,
    words: Vec<AtomicU64>,
    writes: AtomicU64,
}

impl Ledger {
    /// An account of `region`, all of it unwritten. `run` tells this run's stamps from earlier ones.
    pub fn new(run: u64, granule_bytes: u32, region: Range<u64>) -> Self {
        let first_byte = region.start / u64::from(granule_bytes) * u64::from(granule_bytes);
        let granules = (region.end - first_byte).div_ceil(u64::from(granule_bytes));
        let words = (0..granules).map(|_| AtomicU64::new(0)).collect();
        Self { run, granule_bytes, first_byte, words, writes: AtomicU64::new(1) }
    }

    /// The run that its stamps name.
    pub const fn run(&self) -> u64 {
        self.run
    }

    /// Bytes per granule.
    pub const fn granule_bytes(&self) -> u32 {
        self.granule_bytes
    }

    /// The bytes of the target that it keeps account of.
    pub fn region(&self) -> Range<u64> {
        self.first_byte..self.first_byte + self.words.len() as u64 * u64::from(self.granule_bytes)
    }

    fn granules(&self, offset: u64, len: usize) -> Range<usize> {
        let first = (offset - self.first_byte) / u64::from(self.granule_bytes);
        first as usize..first as usize + len / self.granule_bytes as usize
    }

    /// Claims the granules of a write and stamps its buffer; `false` if another write to one of them is outstanding.
    pub fn begin_write(&self, offset: u64, buffer: &mut [u8]) -> bool {
        let granules = self.granules(offset, buffer.len());
        for place in granules.clone() {
            let claim = self.words[place].fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
                (word & BUSY == 0).then(|| (word | BUSY) + 1)
            });
            if claim.is_err() {
                for taken in granules.start..place {
                    let _ = self.words[taken]
                        .fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| Some((word & !BUSY) - 1));
                }
                return false;
            }
        }
        let sequence = self.writes.fetch_add(1, Ordering::Relaxed);
        let header = StampHeader { run: self.run, start: offset, sequence, granule_bytes: self.granule_bytes };
        let first = granules.start;
        stamp::write(buffer, &header, |granule| issued(self.words[first + granule].load(Ordering::Acquire)));
        true
    }

    /// Accounts for the end of a write: arrived, or failed and so perhaps arrived.
    pub fn end_write(&self, offset: u64, len: usize, arrived: bool) {
        for place in self.granules(offset, len) {
            let _ = self.words[place].fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
                let newest = issued(word);
                Some(if arrived {
                    newest | newest << GENERATION_BITS
                } else {
                    (word & !(BUSY | CONFIRMED)) | UNCERTAIN
                })
            });
        }
    }

    /// Notes what a read that begins now may return, one word per granule, for [`Ledger::check_read`].
    pub fn begin_read(&self, offset: u64, len: usize, notes: &mut Vec<u64>) {
        notes.clear();
        notes.extend(self.granules(offset, len).map(|place| self.words[place].load(Ordering::Acquire)));
    }

    /// Compares what was read with what it may be, and remembers what is thereby confirmed.
    pub fn check_read(&self, offset: u64, buffer: &[u8], notes: &[u64], findings: &mut Findings) {
        let granules = self.granules(offset, buffer.len());
        let read = ReadBack { run: self.run, start: offset, granule_bytes: self.granule_bytes };
        let in_flux: Vec<bool> = granules
            .clone()
            .zip(notes)
            .map(|(place, &note)| note & BUSY != 0 || issued(self.words[place].load(Ordering::Acquire)) != issued(note))
            .collect();
        let expect = |granule: usize| {
            let note = notes[granule];
            if in_flux[granule] {
                return Expectation::ANYTHING;
            }
            Expectation { lo: arrived(note), hi: issued(note), confirmed: note & CONFIRMED != 0 }
        };
        if stamp::check(buffer, &read, expect, findings) > 0 {
            return;
        }
        for (place, &note) in granules.clone().zip(notes) {
            if note != 0 && note & (BUSY | UNCERTAIN | CONFIRMED) == 0 {
                let _ = self.words[place].compare_exchange(note, note | CONFIRMED, Ordering::AcqRel, Ordering::Acquire);
            }
        }
    }

    /// The written ranges of share `share` of `shares`, each at most `longest_bytes` long, for reading back.
    pub fn written(&self, share: usize, shares: usize, longest_bytes: u32) -> impl Iterator<Item = (u64, u32)> + '_ {
        let per_share = self.words.len().div_ceil(shares);
        let longest = (longest_bytes / self.granule_bytes).max(1) as usize;
        let end = ((share + 1) * per_share).min(self.words.len());
        let mut place = share * per_share;
        std::iter::from_fn(move || {
            while place < end && issued(self.words[place].load(Ordering::Acquire)) == 0 {
                place += 1;
            }
            let start = place;
            while place < end && place - start < longest && issued(self.words[place].load(Ordering::Acquire)) != 0 {
                place += 1;
            }
            (place > start).then(|| {
                let offset = self.first_byte + start as u64 * u64::from(self.granule_bytes);
                (offset, (place - start) as u32 * self.granule_bytes)
            })
        })
    }
}

const fn issued(word: u64) -> u64 {
    word & GENERATION_MASK
}

const fn arrived(word: u64) -> u64 {
    word >> GENERATION_BITS & GENERATION_MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        Ledger::new(7, 512, 4096..8192)
    }

    #[test]
    fn a_second_write_to_a_busy_granule_is_refused_and_leaves_no_trace() {
        let ledger = ledger();
        let mut buffer = vec![0; 1024];
        assert!(ledger.begin_write(4608, &mut buffer));
        assert!(!ledger.begin_write(4096, &mut buffer));
        ledger.end_write(4608, 1024, true);
        assert!(ledger.begin_write(4096, &mut buffer));
        assert_eq!(issued(ledger.words[0].load(Ordering::Relaxed)), 1);
        assert_eq!(issued(ledger.words[1].load(Ordering::Relaxed)), 2);
    }

    #[test]
    fn after_a_failed_write_old_and_new_are_both_right() {
        let ledger = ledger();
        let (mut old, mut new, mut notes) = (vec![0; 512], vec![0; 512], Vec::new());
        assert!(ledger.begin_write(4096, &mut old));
        ledger.end_write(4096, 512, true);
        assert!(ledger.begin_write(4096, &mut new));
        ledger.end_write(4096, 512, false);
        let mut findings = Findings::default();
        for content in [&old, &new] {
            ledger.begin_read(4096, 512, &mut notes);
            ledger.check_read(4096, content, &notes, &mut findings);
        }
        assert!(findings.is_clean(), "{findings:?}");
        assert_eq!(findings.sectors_checked, 2);
    }

    #[test]
    fn what_is_read_while_it_is_written_is_not_checked() {
        let ledger = ledger();
        let (mut old, mut new, mut notes) = (vec![0; 512], vec![0; 512], Vec::new());
        let mut findings = Findings::default();
        assert!(ledger.begin_write(4096, &mut old));
        ledger.end_write(4096, 512, true);
        let check_half_written = |ledger: &Ledger, notes: &[u64], findings: &mut Findings| {
            ledger.check_read(4096, &[0xFF; 512], notes, findings);
        };
        // The write begins during the read …
        ledger.begin_read(4096, 512, &mut notes);
        assert!(ledger.begin_write(4096, &mut new));
        check_half_written(&ledger, &notes, &mut findings);
        // … or before it and ends during it.
        ledger.begin_read(4096, 512, &mut notes);
        ledger.end_write(4096, 512, true);
        check_half_written(&ledger, &notes, &mut findings);
        assert!(findings.is_clean() && findings.sectors_checked == 0, "{findings:?}");
        ledger.begin_read(4096, 512, &mut notes);
        check_half_written(&ledger, &notes, &mut findings);
        assert_eq!((findings.sectors_checked, findings.is_clean()), (1, false));
    }

    #[test]
    fn written_ranges_are_cut_at_the_longest_request() {
        let ledger = ledger();
        let mut buffer = vec![0; 2048];
        assert!(ledger.begin_write(4608, &mut buffer));
        assert_eq!(ledger.written(0, 1, 1024).collect::<Vec<_>>(), [(4608, 1024), (5632, 1024)]);
    }
}
