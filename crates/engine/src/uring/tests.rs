//! How many requests go to the kernel in one call, seen by what is still queued and by the stamps.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Write};
use std::os::fd::AsFd;

use plimsoll_workload::job::MemoryWord;

use super::*;
use crate::buffers::Need;

const PIECE: usize = 512;
const SLOTS: usize = 32;
/// A read that nothing answers until something is written.
const SLOW: u32 = 0;
/// Reads of what memory holds.
const QUICK: u32 = 1;

struct Bench {
    ring: Uring<false>,
    arena: Arena,
    unanswered: PipeWriter,
    /// When what came back last in each slot was handed over.
    submitted_ns: [u64; SLOTS],
    _files: (PipeReader, File),
}

impl Bench {
    /// A ring over a pipe and a file; `together` is for both.
    fn new(together: usize) -> Self {
        Self::with_room(together, SLOTS)
    }

    /// The same with so many entries.
    fn with_room(together: usize, depth: usize) -> Self {
        let (reader, unanswered) = std::io::pipe().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 2 * SLOTS * PIECE]).unwrap();
        let arena = Arena::new(&[Need { slots: SLOTS, len: PIECE, own: true }], MemoryWord::Pages).unwrap();
        let options = RingOptions { depth, polled: false, nop: false };
        let ring = Uring::new(&[reader.as_fd(), file.as_fd()], &[together; 2], &arena, SLOTS, options).unwrap();
        Self { ring, arena, unanswered, submitted_ns: [0; SLOTS], _files: (reader, file) }
    }

    /// Queues reads that touch nobody's, from slot `first` on.
    fn read(&mut self, file: u32, first: usize, count: usize) {
        for slot in first..first + count {
            let offset = (2 * slot * PIECE) as u64;
            let (slot, buffer) = (slot as u32, self.arena.buffer(slot));
            self.ring.submit(Io { slot, piece: 0, file, op: Op::Read, len: PIECE as u32, offset, buffer }).unwrap();
        }
    }

    /// What has come back, without waiting for it.
    fn came_back(&mut self) -> usize {
        let mut finished = Vec::new();
        self.ring.wait(0, &mut finished).unwrap();
        for done in &finished {
            self.submitted_ns[done.slot as usize] = done.submitted_ns;
        }
        finished.len()
    }

    /// How many stamps these slots came back with.
    fn stamps(&self, first: usize, count: usize) -> usize {
        let mut stamps = self.submitted_ns[first..first + count].to_vec();
        stamps.dedup();
        stamps.len()
    }
}

#[test]
fn what_comes_back_within_the_call_is_handed_over_whole() {
    let mut bench = Bench::new(usize::MAX);
    for _ in 0..2 {
        bench.read(QUICK, 0, 10);
        assert_eq!(bench.ring.pending.len(), 10);
        assert_eq!(bench.came_back(), 10);
        assert_eq!(bench.stamps(0, 10), 1);
    }
}

#[test]
fn what_takes_time_is_handed_over_in_groups_with_a_stamp_each() {
    let mut bench = Bench::new(usize::MAX);
    bench.read(SLOW, 0, 1);
    assert_eq!(bench.came_back(), 0);
    bench.read(QUICK, 1, 10);
    assert_eq!(bench.ring.pending.len(), 10 - 2 * GROUP);
    assert_eq!(bench.came_back(), 10);
    assert_eq!(bench.stamps(1, 10), 3);
    // One of eleven is not back: so it goes on in groups.
    bench.read(QUICK, 1, 10);
    assert_eq!(bench.ring.pending.len(), 10 - 2 * GROUP);
    assert_eq!(bench.came_back(), 10);
    // All are back: so the next go whole.
    bench.unanswered.write_all(&[1; PIECE]).unwrap();
    assert_eq!(bench.came_back(), 1);
    bench.read(QUICK, 0, 10);
    assert_eq!(bench.ring.pending.len(), 10);
    assert_eq!(bench.came_back(), 10);
}

#[test]
fn requests_that_shall_be_joined_stay_in_one_call() {
    let mut bench = Bench::new(12);
    bench.read(SLOW, 0, 1);
    assert_eq!(bench.came_back(), 0);
    bench.read(QUICK, 1, 11);
    assert_eq!(bench.ring.pending.len(), 11);
    bench.read(QUICK, 12, 2);
    assert_eq!(bench.ring.pending.len(), 1);
    assert_eq!(bench.came_back(), 13);
    assert_eq!(bench.stamps(1, 13), 2);
}

#[test]
fn what_was_outstanding_before_keeps_its_stamp_beside_a_batch() {
    let mut bench = Bench::new(usize::MAX);
    bench.read(QUICK, 1, 3);
    assert_eq!(bench.came_back(), 3, "a batch of its own");
    bench.read(SLOW, 0, 1);
    assert_eq!(bench.came_back(), 0);
    let asked_again_ns = bench.ring.now();
    bench.read(QUICK, 1, 3);
    bench.unanswered.write_all(&[1; PIECE]).unwrap();
    assert_eq!(bench.came_back(), 4, "all that is outstanding comes back at once");
    assert!(bench.submitted_ns[0] < asked_again_ns);
    assert!(bench.submitted_ns[1..4].iter().all(|&submitted_ns| submitted_ns >= asked_again_ns));
}

#[test]
fn what_has_no_room_in_the_ring_goes_with_a_later_call() {
    let mut bench = Bench::with_room(usize::MAX, 4);
    for _ in 0..3 {
        bench.read(QUICK, 0, 10);
        assert_eq!(bench.ring.pending.len(), 2, "two calls have taken four each");
        let mut back = bench.came_back();
        while back < 10 {
            back += bench.came_back();
        }
        assert_eq!(bench.stamps(0, 10), 3);
    }
}
