//! Each thing a target can do to a write is found and called by its name.

use plimsoll_workload::stamp::{
    Expectation, Fault, FaultCount, Findings, Found, ReadBack, SECTOR_BYTES, StampHeader, check, write,
};
use proptest::prelude::*;

const RUN: u64 = 0x1234;
const GRANULE: usize = 4096;
const START: u64 = 1 << 20;

/// A few granules of a target that obeys, until told otherwise.
struct Disk {
    bytes: Vec<u8>,
    sequence: u64,
}

impl Disk {
    fn new(granules: usize) -> Self {
        Self { bytes: vec![0; granules * GRANULE], sequence: 0 }
    }

    /// The bytes of one write of all granules with one generation.
    fn stamped(&mut self, first: usize, granules: usize, generation: u64) -> Vec<u8> {
        self.sequence += 1;
        let mut buffer = vec![0; granules * GRANULE];
        let start = START + (first * GRANULE) as u64;
        let header = StampHeader { run: RUN, start, sequence: self.sequence, granule_bytes: GRANULE as u32 };
        write(&mut buffer, &header, |_| generation);
        buffer
    }

    fn write(&mut self, first: usize, granules: usize, generation: u64) {
        let buffer = self.stamped(first, granules, generation);
        self.bytes[first * GRANULE..][..buffer.len()].copy_from_slice(&buffer);
    }

    fn check(&self, expected: &[Expectation]) -> Findings {
        let mut findings = Findings::default();
        let read = ReadBack { run: RUN, start: START, granule_bytes: GRANULE as u32 };
        let found = check(&self.bytes, &read, |granule| expected[granule], &mut findings);
        let counted: u64 = Fault::ALL.iter().map(|&fault| findings.count(fault).findings).sum();
        assert_eq!(found, counted);
        findings
    }
}

fn exactly(generations: &[u64]) -> Vec<Expectation> {
    generations.iter().map(|&generation| Expectation::exactly(generation)).collect()
}

fn confirmed(generation: u64) -> Expectation {
    Expectation { confirmed: true, ..Expectation::exactly(generation) }
}

/// (fault, address, length, what stood there) of every example.
fn summary(findings: &Findings) -> Vec<(Fault, u64, u32, Found)> {
    findings.examples.iter().map(|one| (one.fault, one.address - START, one.len, one.found)).collect()
}

const fn stamp(generation: u64, write_start: u64, write_len: u32) -> Found {
    Found::Stamp { generation, write_start: START + write_start, write_len }
}

#[test]
fn what_was_written_is_right() {
    let mut disk = Disk::new(3);
    disk.write(0, 3, 1);
    disk.write(1, 1, 2);
    let findings = disk.check(&exactly(&[1, 2, 1]));
    assert!(findings.is_clean());
    assert_eq!((findings.sectors_read, findings.sectors_checked), (24, 24));
}

#[test]
fn nothing_is_demanded_of_what_was_never_written() {
    let mut disk = Disk::new(2);
    disk.bytes.fill(0xaa);
    disk.write(1, 1, 1);
    let findings = disk.check(&[Expectation::ANYTHING, Expectation::exactly(1)]);
    assert!(findings.is_clean());
    assert_eq!(findings.sectors_checked, 8);
}

#[test]
fn a_write_astray_is_misdirected_even_where_nothing_was_written() {
    // It went unnamed when its own place was written over before anybody read it.
    let mut disk = Disk::new(2);
    disk.bytes.fill(0xaa);
    let astray = disk.stamped(0, 1, 1);
    disk.bytes[4096..].copy_from_slice(&astray);
    let findings = disk.check(&[Expectation::ANYTHING; 2]);
    let found = Found::OtherAddress { address: START, generation: 1 };
    assert_eq!(summary(&findings), [(Fault::Misdirected, 4096, 4096, found)]);
    assert_eq!(findings.sectors_checked, 0);
}

#[test]
fn writes_in_flight_may_or_may_not_have_arrived_even_in_part() {
    let mut disk = Disk::new(1);
    disk.write(0, 1, 3);
    let newer = disk.stamped(0, 1, 4);
    disk.bytes[..1024].copy_from_slice(&newer[..1024]);
    assert!(disk.check(&[Expectation { lo: 3, hi: 4, confirmed: false }]).is_clean());
}

#[test]
fn a_write_that_left_the_older_data_is_lost() {
    let mut disk = Disk::new(2);
    disk.write(0, 2, 1);
    let findings = disk.check(&exactly(&[1, 2]));
    assert_eq!(summary(&findings), [(Fault::Lost, 4096, 4096, stamp(1, 0, 8192))]);
    assert_eq!(findings.lost, FaultCount { findings: 1, sectors: 8 });
}

#[test]
fn a_first_write_that_left_what_was_there_before_is_lost() {
    let mut disk = Disk::new(3);
    disk.bytes[4096..8192].fill(7);
    disk.write(2, 1, 1);
    let foreign = &mut disk.bytes[2 * GRANULE..];
    let header = StampHeader { run: 9, start: 0, sequence: 1, granule_bytes: GRANULE as u32 };
    write(foreign, &header, |_| 5);
    let findings = disk.check(&exactly(&[1, 1, 1]));
    assert_eq!(
        summary(&findings),
        [
            (Fault::Lost, 0, 4096, Found::Zeros),
            (Fault::Lost, 4096, 4096, Found::Unstamped),
            (Fault::Lost, 8192, 4096, Found::OtherRun { run: 9, address: 0 }),
        ]
    );
}

#[test]
fn data_that_goes_back_after_it_was_read_is_stale() {
    let mut disk = Disk::new(2);
    disk.write(0, 2, 1);
    let findings = disk.check(&[confirmed(1), confirmed(2)]);
    assert_eq!(summary(&findings), [(Fault::Stale, 4096, 4096, stamp(1, 0, 8192))]);
}

#[test]
fn a_write_that_arrived_in_part_is_torn() {
    let mut disk = Disk::new(2);
    disk.write(0, 2, 1);
    let newer = disk.stamped(0, 2, 2);
    disk.bytes[..5 * SECTOR_BYTES].copy_from_slice(&newer[..5 * SECTOR_BYTES]);
    let findings = disk.check(&exactly(&[2, 2]));
    assert_eq!(
        summary(&findings),
        [(Fault::Torn, 2560, 1536, stamp(1, 0, 8192)), (Fault::Torn, 4096, 4096, stamp(1, 0, 8192))]
    );
    assert_eq!(findings.torn, FaultCount { findings: 2, sectors: 11 });
}

#[test]
fn a_first_write_that_arrived_in_part_is_torn() {
    let mut disk = Disk::new(1);
    let first = disk.stamped(0, 1, 1);
    disk.bytes[512..1024].copy_from_slice(&first[512..1024]);
    let findings = disk.check(&exactly(&[1]));
    let torn = |address, len| (Fault::Torn, address, len, Found::Zeros);
    assert_eq!(summary(&findings), [torn(0, 512), torn(1024, 3072)]);
}

/// An earlier, wider write beside a lost one is no sign of tearing: it arrived here too, before what was found.
#[test]
fn an_older_write_that_covers_a_lost_one_does_not_make_it_torn() {
    let mut disk = Disk::new(2);
    disk.write(0, 2, 1);
    disk.write(1, 1, 2);
    let findings = disk.check(&exactly(&[1, 3]));
    assert_eq!(summary(&findings), [(Fault::Lost, 4096, 4096, stamp(2, 4096, 4096))]);
}

#[test]
fn a_write_to_the_wrong_place_is_misdirected_there_and_lost_here() {
    let mut disk = Disk::new(3);
    disk.write(0, 3, 1);
    let strayed = disk.stamped(0, 1, 2);
    disk.bytes[2 * GRANULE..].copy_from_slice(&strayed);
    let findings = disk.check(&exactly(&[2, 1, 1]));
    assert_eq!(
        summary(&findings),
        [
            (Fault::Lost, 0, 4096, stamp(1, 0, 12_288)),
            (Fault::Misdirected, 8192, 4096, Found::OtherAddress { address: START, generation: 2 }),
        ]
    );
}

#[test]
fn a_flipped_bit_is_corrupt_wherever_it_is() {
    let mut disk = Disk::new(1);
    disk.write(0, 1, 1);
    let sound = disk.bytes.clone();
    for bit in 0..SECTOR_BYTES * 8 {
        disk.bytes.clone_from(&sound);
        disk.bytes[1024 + bit / 8] ^= 1 << (bit % 8);
        let findings = disk.check(&[confirmed(1)]);
        assert_eq!(findings.corrupt, FaultCount { findings: 1, sectors: 1 }, "bit {bit}");
        assert_eq!(findings.examples[0].address, START + 1024);
    }
}

#[test]
fn missing_stamps_are_corrupt_once_two_writes_would_have_to_be_lost() {
    let mut disk = Disk::new(2);
    disk.bytes[..GRANULE].fill(1);
    let findings = disk.check(&exactly(&[2, 2]));
    assert_eq!(
        summary(&findings),
        [(Fault::Corrupt, 0, 4096, Found::Unstamped), (Fault::Corrupt, 4096, 4096, Found::Zeros)]
    );
}

#[test]
fn a_generation_that_was_never_issued_is_corrupt() {
    let mut disk = Disk::new(1);
    disk.write(0, 1, 9);
    assert_eq!(summary(&disk.check(&exactly(&[8]))), [(Fault::Corrupt, 0, 4096, stamp(9, 0, 4096))]);
}

#[test]
fn different_faults_of_one_read_are_kept_apart() {
    let mut disk = Disk::new(4);
    disk.write(0, 4, 1);
    let newer = disk.stamped(0, 4, 2);
    disk.bytes[..SECTOR_BYTES].copy_from_slice(&newer[..SECTOR_BYTES]); // torn: 7 sectors stay
    disk.bytes[2 * SECTOR_BYTES + 100] ^= 1; // one of them corrupt
    let strayed = disk.stamped(0, 1, 3);
    disk.bytes[2 * GRANULE..3 * GRANULE].copy_from_slice(&strayed);
    let findings =
        disk.check(&[Expectation::exactly(2), confirmed(2), Expectation::exactly(2), Expectation::exactly(1)]);
    let old = stamp(1, 0, 16_384);
    assert_eq!(
        summary(&findings),
        [
            (Fault::Torn, 512, 512, old),
            (Fault::Corrupt, 1024, 512, Found::BadChecksum),
            (Fault::Torn, 1536, 2560, old),
            (Fault::Stale, 4096, 4096, old),
            (Fault::Misdirected, 8192, 4096, Found::OtherAddress { address: START, generation: 3 }),
        ]
    );
}

#[test]
fn examples_are_few_and_counts_are_complete_also_when_merged() {
    let mut total = Findings::default();
    for _ in 0..3 {
        let disk = Disk::new(5);
        total.merge(&disk.check(&exactly(&[1, 1, 2, 1, 1])));
    }
    assert_eq!((total.lost.findings, total.corrupt.findings), (12, 3));
    let lost = total.examples.iter().filter(|example| example.fault == Fault::Lost).count();
    assert_eq!((lost, total.examples.len()), (Findings::EXAMPLES_MAX, Findings::EXAMPLES_MAX + 3));
}

#[test]
fn findings_survive_json() {
    let findings = Disk::new(1).check(&exactly(&[1]));
    let text = serde_json::to_string(&findings).unwrap();
    assert!(text.contains(r#""fault":"lost""#) && text.contains(r#""found":{"kind":"zeros"}"#), "{text}");
    assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), findings);
}

/// Stamps lie on disks and are read by later releases: the layout is fixed.
#[test]
fn the_layout_of_a_stamp_does_not_change() {
    let mut sector = vec![0; SECTOR_BYTES];
    let header = StampHeader { run: 0x0102, start: 0x0200, sequence: 0x0304, granule_bytes: 512 };
    write(&mut sector, &header, |_| 0x0506);
    assert_eq!(&sector[..16], b"PLIMSOLL\x01\0\0\0\0\x02\0\0");
    assert_eq!(&sector[16..40], b"\x02\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\x06\x05\0\0\0\0\0\0");
    assert_eq!(&sector[40..56], b"\0\x02\0\0\0\0\0\0\x04\x03\0\0\0\0\0\0");
    let stored = u32::from_le_bytes(sector[508..].try_into().unwrap());
    assert_eq!(stored, slow_crc32c(&sector[..508]));
}

/// CRC-32C bit by bit (RFC 3720, appendix B.4).
fn slow_crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 })
    })
}

proptest! {
    /// Any history of whole writes, with any of them dropped: a granule is right exactly if its last write arrived.
    #[test]
    fn dropped_writes_are_found_and_nothing_else(
        history in prop::collection::vec((0_usize..6, 1_usize..4, prop::bool::weighted(0.8)), 1..12),
    ) {
        let mut disk = Disk::new(8);
        let mut issued = [0_u64; 8];
        let mut held = [0_u64; 8];
        for (first, granules, arrives) in history {
            disk.sequence += 1;
            let covered = first..first + granules;
            covered.clone().for_each(|granule| issued[granule] += 1);
            let mut buffer = vec![0; granules * GRANULE];
            let start = START + (first * GRANULE) as u64;
            let header = StampHeader { run: RUN, start, sequence: disk.sequence, granule_bytes: GRANULE as u32 };
            write(&mut buffer, &header, |granule| issued[first + granule]);
            if arrives {
                disk.bytes[first * GRANULE..][..buffer.len()].copy_from_slice(&buffer);
                covered.for_each(|granule| held[granule] = issued[granule]);
            }
        }
        let findings = disk.check(&exactly(&issued));
        let wrong: Vec<u64> = (0..8).filter(|&g| held[g] != issued[g]).map(|g| (g * GRANULE) as u64).collect();
        let found: Vec<u64> = findings.examples.iter().map(|example| example.address - START).collect();
        let mut sorted = found.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, wrong);
        prop_assert_eq!(findings.misdirected.findings + findings.stale.findings, 0);
        // Whole writes were dropped, none arrived in part.
        prop_assert_eq!(findings.torn.findings, 0);
    }
}
