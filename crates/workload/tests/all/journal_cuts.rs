//! Two hundred power cuts of a small disk: one that keeps its promises is never accused, one that breaks them is found out,
//! write by write.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_workload::journal::{Account, Header, Inspection, Kind, Record, Verdict, Write};
use plimsoll_workload::rng::Draws;
use plimsoll_workload::stamp::{self, SECTOR_BYTES, StampHeader};

const RUN: u64 = 99;
const GRANULE: u32 = 1024;
const BLOCKS: u64 = 24;
const CUTS: u64 = 200;

type Sector = [u8; SECTOR_BYTES];

/// How a disk treats what it has promised.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Honest,
    /// A flush is acknowledged and does nothing.
    IgnoresFlushes,
    /// Of what is flushed, one sector in twenty stays in the cache.
    Tears,
}

/// A disk with a volatile cache; each sector knows which write it is of.
struct Disk {
    manner: Manner,
    durable: Vec<(u64, Sector)>,
    /// (sector, write, bytes) in the order of arrival.
    cache: Vec<(usize, u64, Sector)>,
}

impl Disk {
    fn arrive(&mut self, write: &Write, bytes: &[u8]) {
        let first = (write.address / SECTOR_BYTES as u64) as usize;
        let sectors = bytes.as_chunks::<SECTOR_BYTES>().0.iter();
        self.cache.extend(sectors.enumerate().map(|(number, sector)| (first + number, write.sequence, *sector)));
    }

    fn flush(&mut self, draws: &mut Dice) {
        if self.manner == Manner::IgnoresFlushes {
            return;
        }
        let tears = self.manner == Manner::Tears;
        let (kept, gone): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.cache).into_iter().partition(|_| tears && draws.one_in(20));
        gone.into_iter().for_each(|(place, sequence, bytes)| self.durable[place] = (sequence, bytes));
        self.cache = kept;
    }

    /// Power is gone: each cached sector may have made it, each of the writes on their way in part.
    fn cut(&mut self, on_their_way: &[(Write, Vec<u8>)], draws: &mut Dice) {
        for (write, bytes) in on_their_way {
            self.arrive(write, bytes);
        }
        let outstanding: BTreeSet<u64> = on_their_way.iter().map(|(write, _)| write.sequence).collect();
        for (place, sequence, mut bytes) in std::mem::take(&mut self.cache) {
            // A cache writes a sector's newest content only; an older one that made it was there before the newer came.
            if draws.one_in(2) && self.durable[place].0 < sequence {
                if outstanding.contains(&sequence) && draws.one_in(4) {
                    bytes[300..].fill(0xEE);
                }
                self.durable[place] = (sequence, bytes);
            }
        }
    }
}

/// Draws in order.
struct Dice(Draws, u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.1 += 1;
        self.0.at(self.1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

/// A run until its cut: the disk, its journal, and what each sector was promised to hold at least.
struct Run {
    disk: Disk,
    records: Vec<Record>,
    promised: BTreeMap<usize, (u64, u64)>,
    broken_excused: BTreeSet<usize>,
}

fn run(seed: u64, manner: Manner) -> Run {
    let mut dice = Dice(Draws::new(seed, &[]), 0);
    let sectors = (BLOCKS * u64::from(GRANULE)) as usize / SECTOR_BYTES;
    let mut disk = Disk { manner, durable: vec![(0, [0; SECTOR_BYTES]); sectors], cache: Vec::new() };
    let (mut records, mut promised) = (Vec::new(), BTreeMap::new());
    let (mut on_their_way, mut completed): (Vec<(Write, Vec<u8>)>, Vec<Write>) = (Vec::new(), Vec::new());
    let mut sequence = 0;
    for _ in 0..40 + dice.below(200) {
        match dice.below(8) {
            0..4 => {
                let blocks = 1 + dice.below(3);
                let first = dice.below(BLOCKS - blocks + 1);
                let (address, len) = (first * u64::from(GRANULE), blocks as u32 * GRANULE);
                let overlaps = |other: &Write| {
                    other.address < address + u64::from(len) && address < other.address + u64::from(other.len)
                };
                if on_their_way.len() >= 4 || on_their_way.iter().any(|(other, _)| overlaps(other)) {
                    continue;
                }
                sequence += 1;
                let write = Write { sequence, address, len };
                let mut bytes = vec![0; len as usize];
                let header = StampHeader { run: RUN, start: address, sequence, granule_bytes: GRANULE };
                stamp::write(&mut bytes, &header, |_| sequence);
                records.push(Record::Begun(write));
                on_their_way.push((write, bytes));
            }
            4..7 if !on_their_way.is_empty() => {
                let which = dice.below(on_their_way.len() as u64) as usize;
                let (write, bytes) = on_their_way.swap_remove(which);
                disk.arrive(&write, &bytes);
                completed.push(write);
            }
            _ => {
                disk.flush(&mut dice);
                for write in completed.drain(..) {
                    records.push(Record::Durable { write, horizon: sequence, at_ns: 1000 * sequence });
                    let first = (write.address / SECTOR_BYTES as u64) as usize;
                    for place in first..first + write.len as usize / SECTOR_BYTES {
                        let newest: &mut (u64, u64) = promised.entry(place).or_default();
                        *newest = (*newest).max((write.sequence, sequence));
                    }
                }
            }
        }
    }
    disk.cut(&on_their_way, &mut dice);
    let covered = |(write, _): &(Write, Vec<u8>)| {
        let first = (write.address / SECTOR_BYTES as u64) as usize;
        first..first + write.len as usize / SECTOR_BYTES
    };
    let broken_excused = on_their_way.iter().flat_map(covered).collect();
    Run { disk, records, promised, broken_excused }
}

fn judged(run: &Run) -> Verdict {
    let header = Header { run: RUN, granule_bytes: GRANULE, region: 0..BLOCKS * u64::from(GRANULE), started_ns: 0 };
    let mut account = Account::new(&header);
    for record in &run.records {
        // What is stored and read back is the same.
        assert!(account.take(&Record::decode(&record.encode()).unwrap()));
    }
    let mut inspection = Inspection::new(&account);
    let bytes: Vec<u8> = run.disk.durable.iter().flat_map(|(_, sector)| *sector).collect();
    for range in account.named(3 * GRANULE) {
        inspection.look(range.start, &bytes[range.start as usize..range.end as usize]);
    }
    inspection.verdict()
}

/// What became of each promised write, by brute force: only the disk's own account of its sectors is looked at.
fn true_faults(run: &Run) -> BTreeMap<u64, Kind> {
    let newest_there = run.disk.durable.iter().map(|(sequence, _)| *sequence).max().unwrap();
    let mut by_write: BTreeMap<u64, (bool, bool, u64)> = BTreeMap::new();
    for (&place, &(sequence, horizon)) in &run.promised {
        let there = run.disk.durable[place].0 >= sequence;
        let fate = by_write.entry(sequence).or_insert((false, false, horizon));
        fate.0 |= there;
        fate.1 |= !there;
    }
    let named = by_write.into_iter().filter(|(_, (_, misses, _))| *misses).map(|(sequence, (there, _, horizon))| {
        let kind = match there {
            true => Kind::Torn,
            false if newest_there > horizon => Kind::OutOfOrder,
            false => Kind::Lost,
        };
        (sequence, kind)
    });
    named.collect()
}

fn named(verdict: &Verdict) -> BTreeMap<u64, Kind> {
    verdict.violations.iter().map(|violation| (violation.sequence, violation.kind)).collect()
}

#[test]
fn a_disk_that_keeps_its_promises_is_never_accused_in_two_hundred_cuts() {
    let (mut checked, mut excused) = (0, 0);
    for seed in 0..CUTS {
        let run = run(seed, Manner::Honest);
        assert_eq!(true_faults(&run), BTreeMap::new(), "seed {seed}: the test's own disk is not honest");
        let verdict = judged(&run);
        assert!(verdict.violations.is_empty(), "seed {seed}: {:?}", verdict.violations);
        checked += verdict.sectors_checked;
        excused += verdict.sectors_excused;
        assert!(verdict.sectors_excused as usize <= run.broken_excused.len());
    }
    // The cuts were real ones: much was promised, and some sectors broke under writes that were on their way.
    assert!(checked > 20 * CUTS && excused > 0, "{checked} sectors checked, {excused} excused");
}

#[test]
fn a_disk_that_ignores_flushes_is_found_out_write_by_write() {
    found_out(Manner::IgnoresFlushes, &[Kind::Lost, Kind::Torn, Kind::OutOfOrder]);
}

#[test]
fn a_disk_that_tears_what_it_flushes_is_found_out_write_by_write() {
    found_out(Manner::Tears, &[Kind::Torn]);
}

/// Every promise that was broken in two hundred cuts is named and rightly called, nothing else is, and these kinds occurred.
fn found_out(manner: Manner, occur: &[Kind]) {
    let mut seen = BTreeSet::new();
    for seed in 0..CUTS {
        let run = run(seed, manner);
        let expected = true_faults(&run);
        assert_eq!(named(&judged(&run)), expected, "seed {seed}");
        seen.extend(expected.into_values());
    }
    for kind in occur {
        assert!(seen.contains(kind), "{} never occurred", kind.name());
    }
}

#[test]
fn damage_is_called_by_its_name() {
    let write = Write { sequence: 1, address: 1024, len: 2048 };
    let header = Header { run: RUN, granule_bytes: GRANULE, region: 0..8192, started_ns: 0 };
    let mut account = Account::new(&header);
    assert!(account.take(&Record::Begun(write)));
    assert!(account.take(&Record::Durable { write, horizon: 1, at_ns: 5 }));
    let mut sound = vec![0; 2048];
    stamp::write(&mut sound, &StampHeader { run: RUN, start: 1024, sequence: 1, granule_bytes: GRANULE }, |_| 1);
    let kind = |bytes: &[u8]| {
        let mut inspection = Inspection::new(&account);
        inspection.look(1024, bytes);
        inspection
            .verdict()
            .violations
            .first()
            .map(|violation| (violation.kind, violation.first_bad, violation.bad_sectors))
    };
    assert_eq!(kind(&sound), None);
    let mut flipped = sound.clone();
    flipped[700] ^= 1;
    assert_eq!(kind(&flipped), Some((Kind::Corrupt, 1536, 1)));
    let mut misdirected = sound.clone();
    misdirected.copy_within(0..512, 1024);
    assert_eq!(kind(&misdirected), Some((Kind::Misdirected, 2048, 1)));
    let mut half = sound.clone();
    half[1024..].fill(0);
    assert_eq!(kind(&half), Some((Kind::Torn, 2048, 2)));
    let mut foreign = vec![0; 2048];
    stamp::write(&mut foreign, &StampHeader { run: RUN + 1, start: 1024, sequence: 9, granule_bytes: GRANULE }, |_| 1);
    assert_eq!(kind(&foreign), Some((Kind::Lost, 1024, 4)), "stamps of another run prove nothing");
    let mut inspection = Inspection::new(&account);
    inspection.unreadable(1024, 1024);
    inspection.look(2048, &sound[1024..]);
    assert_eq!(inspection.verdict().violations[0].kind, Kind::Unreadable);
}
