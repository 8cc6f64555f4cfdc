//! The five clauses of `backend.rs`, one suite over every backend.
//!
//! The suite owns the buffers, so it sees who touches them: a guard byte fills every buffer that no I/O is using.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use plimsoll_engine::array::ModelledArray;
use plimsoll_engine::backend::{Backend, Done, Io};
use plimsoll_engine::buffers::{Arena, Need};
use plimsoll_engine::mmap::Mmap;
use plimsoll_engine::null::Null;
use plimsoll_engine::queue::Queue;
use plimsoll_engine::sync::SyncIo;
use plimsoll_engine::target::TargetSpec;
use plimsoll_engine::uring::{self, RingOptions, Uring};
use plimsoll_workload::Op;
use plimsoll_workload::job::MemoryWord;
use support::*;

const LEN: usize = 4096;
const BLOCKS: u64 = 256;
const GUARD: u8 = 0xA5;
const HOUR_NS: u64 = 3_600 * SECOND;

/// A backend under test and what is known of it.
struct Subject<B> {
    name: &'static str,
    backend: B,
    /// I/Os outstanding at most.
    depth: usize,
    /// Whether bytes really move.
    moves: bool,
    /// Whether time passes only in `wait`.
    is_virtual: bool,
}

/// What block `block` of the test's file holds.
fn content(block: u64) -> u8 {
    (block % 127) as u8 + 1
}

fn file() -> (tempfile::TempDir, File) {
    let directory = directory();
    let path = directory.path().join("file");
    let bytes: Vec<u8> = (0..BLOCKS).flat_map(|block| [content(block); LEN]).collect();
    std::fs::write(&path, bytes).unwrap();
    let file = File::options().read(true).write(true).custom_flags(libc::O_DIRECT).open(path).unwrap();
    (directory, file)
}

fn arena(depth: usize) -> Arena {
    Arena::new(&[Need { slots: depth, len: LEN, own: true }], MemoryWord::Arena).unwrap()
}

/// All clauses, in an order in which each may rely on the ones before.
fn keeps_the_contract<B: Backend>(mut subject: Subject<B>, arena: &mut Arena) {
    every_io_is_reported_once(&mut subject, arena);
    pieces_of_one_slot_are_told_apart(&mut subject, arena);
    buffers_are_left_alone(&mut subject, arena);
    waiting_ends_at_the_instant(&mut subject);
    waiting_ends_with_the_first_completion(&mut subject, arena);
}

fn io(arena: &Arena, slot: usize, op: Op, block: u64) -> Io {
    let buffer = arena.buffer(slot);
    let len = if op == Op::Flush { 0 } else { LEN as u32 };
    Io { slot: slot as u32, piece: 0, file: 0, op, len, offset: block * LEN as u64, buffer }
}

/// Waits until `count` I/Os are done, checking clauses 2, 3 and 6 all the way.
fn collect<B: Backend>(subject: &mut Subject<B>, count: usize) -> Vec<Done> {
    let mut all = Vec::new();
    let mut last_ns = subject.backend.now();
    while all.len() < count {
        let mut done = Vec::new();
        subject.backend.wait(last_ns + HOUR_NS, &mut done).unwrap();
        let now_ns = subject.backend.now();
        assert!(now_ns >= last_ns, "{}: the clock goes back from {last_ns} to {now_ns}", subject.name);
        for done in &done {
            assert!(done.submitted_ns <= done.completed_ns, "{}: {done:?}", subject.name);
            assert!(done.completed_ns <= now_ns, "{}: {done:?} after {now_ns}", subject.name);
        }
        assert!(done.is_sorted_by_key(|done| done.completed_ns), "{}: {done:?}", subject.name);
        last_ns = now_ns;
        all.extend(done);
    }
    all
}

/// Clause 1, and 2 and 3 by [`collect`], over many rounds of every size up to the depth.
fn every_io_is_reported_once<B: Backend>(subject: &mut Subject<B>, arena: &Arena) {
    for round in 0..200 {
        let count = round % subject.depth + 1;
        let before_ns = subject.backend.now();
        for slot in 0..count {
            let op = if slot % 5 == 4 { Op::Flush } else { Op::Read };
            subject.backend.submit(io(arena, slot, op, (round * 31 + slot * 7) as u64 % BLOCKS)).unwrap();
        }
        let mut done = collect(subject, count);
        assert!(
            done.iter().all(|done| done.submitted_ns >= before_ns),
            "{}: handed over before it was submitted",
            subject.name
        );
        done.sort_unstable_by_key(|done| done.slot);
        let slots: Vec<u32> = done.iter().map(|done| done.slot).collect();
        assert_eq!(slots, (0..count as u32).collect::<Vec<_>>(), "{}", subject.name);
        for done in done {
            let expected = if done.slot % 5 == 4 { 0 } else { LEN as i32 };
            assert_eq!((done.piece, done.result), (0, expected), "{}: {done:?}", subject.name);
        }
    }
}

/// Clause 1 for requests that have several pieces.
fn pieces_of_one_slot_are_told_apart<B: Backend>(subject: &mut Subject<B>, arena: &Arena) {
    let count = subject.depth.min(4);
    for piece in 0..count {
        let io = Io { piece: piece as u32, buffer: arena.buffer(piece), ..io(arena, 0, Op::Read, piece as u64) };
        subject.backend.submit(io).unwrap();
    }
    let mut done: Vec<(u32, u32)> = collect(subject, count).iter().map(|done| (done.slot, done.piece)).collect();
    done.sort_unstable();
    assert_eq!(done, (0..count as u32).map(|piece| (0, piece)).collect::<Vec<_>>(), "{}", subject.name);
}

/// Clause 5: buffers change only between `submit` and the completion, by reads, and only where they may.
fn buffers_are_left_alone<B: Backend>(subject: &mut Subject<B>, arena: &mut Arena) {
    for slot in 0..subject.depth {
        arena.bytes_mut(slot).fill(GUARD);
    }
    for round in 0..20 {
        for slot in (0..subject.depth).step_by(2) {
            subject.backend.submit(io(arena, slot, Op::Read, (round + slot) as u64)).unwrap();
        }
        collect(subject, subject.depth.div_ceil(2));
        for slot in 0..subject.depth {
            let used = slot % 2 == 0 && subject.moves;
            let expected = if used { content((round + slot) as u64) } else { GUARD };
            assert!(arena.bytes_mut(slot).iter().all(|&byte| byte == expected), "{}: slot {slot}", subject.name);
            arena.bytes_mut(slot).fill(GUARD);
        }
        let now_ns = subject.backend.now();
        subject.backend.wait(now_ns + MS, &mut Vec::new()).unwrap();
        for slot in 0..subject.depth {
            assert!(arena.bytes_mut(slot).iter().all(|&byte| byte == GUARD), "{}: written after its end", subject.name);
        }
    }
    arena.bytes_mut(0).fill(0x5A);
    subject.backend.submit(io(arena, 0, Op::Write, 200)).unwrap();
    assert_eq!(collect(subject, 1)[0].result, LEN as i32, "{}", subject.name);
    assert!(arena.bytes_mut(0).iter().all(|&byte| byte == 0x5A), "{}: a write changed its buffer", subject.name);
    subject.backend.submit(io(arena, 0, Op::Read, 200)).unwrap();
    collect(subject, 1);
    assert!(arena.bytes_mut(0).iter().all(|&byte| byte == 0x5A), "{}: a write is read back", subject.name);
}

/// Clause 4 with nothing in flight.
fn waiting_ends_at_the_instant<B: Backend>(subject: &mut Subject<B>) {
    for ahead_ns in [0, 1_000, 2 * MS] {
        let until_ns = subject.backend.now() + ahead_ns;
        let mut done = Vec::new();
        subject.backend.wait(until_ns, &mut done).unwrap();
        assert!(done.is_empty(), "{}", subject.name);
        assert!(subject.backend.now() >= until_ns, "{}: back too early", subject.name);
        if subject.is_virtual {
            assert_eq!(subject.backend.now(), until_ns);
        }
    }
    let now_ns = subject.backend.now();
    subject.backend.wait(0, &mut Vec::new()).unwrap();
    assert!(subject.backend.now() >= now_ns, "{}: an instant in the past ends the wait", subject.name);
}

/// Clause 4 with something in flight: what is submitted is handed over, and an hour is not waited for.
fn waiting_ends_with_the_first_completion<B: Backend>(subject: &mut Subject<B>, arena: &Arena) {
    for slot in 0..subject.depth {
        subject.backend.submit(io(arena, slot, Op::Read, slot as u64)).unwrap();
    }
    let until_ns = subject.backend.now() + HOUR_NS;
    let mut done = Vec::new();
    subject.backend.wait(until_ns, &mut done).unwrap();
    assert!(!done.is_empty(), "{}", subject.name);
    assert!(subject.backend.now() < until_ns, "{}", subject.name);
    let left = subject.depth - done.len();
    collect(subject, left);
}

#[test]
fn null() {
    let backend = Null::new(8);
    keeps_the_contract(Subject { name: "null", backend, depth: 8, moves: false, is_virtual: false }, &mut arena(8));
}

#[test]
fn queue() {
    let TargetSpec::Queue(spec) = "queue:?service=exp:1ms&servers=3&size=1MiB".parse().unwrap() else { panic!() };
    let backend = Queue::new(&spec, 1, false);
    keeps_the_contract(Subject { name: "queue", backend, depth: 8, moves: false, is_virtual: true }, &mut arena(8));
}

#[test]
fn array() {
    for target in [small_array("direct"), small_array("buffered")] {
        let TargetSpec::Array(target) = target.parse().unwrap() else { panic!() };
        let backend = ModelledArray::new(&target.spec, 1, 0..SECOND, &[]).unwrap();
        let subject = Subject { name: "array", backend, depth: 8, moves: false, is_virtual: true };
        keeps_the_contract(subject, &mut arena(8));
    }
}

#[test]
fn a_queue_that_has_to_wait_for_its_next_completion_stops_at_the_instant() {
    let TargetSpec::Queue(spec) = "queue:?service=const:1ms".parse().unwrap() else { panic!() };
    let mut backend = Queue::new(&spec, 1, false);
    let mut done = Vec::new();
    backend.submit(io(&arena(1), 0, Op::Read, 0)).unwrap();
    backend.wait(400_000, &mut done).unwrap();
    assert_eq!((backend.now(), done.len()), (400_000, 0));
    backend.wait(5 * MS, &mut done).unwrap();
    assert_eq!((backend.now(), done[0].submitted_ns, done[0].completed_ns), (MS, 0, MS));
}

#[test]
fn uring() {
    if let Err(error) = uring::probe() {
        println!("skipped: io_uring: {error}");
        return;
    }
    let (_directory, file) = file();
    for depth in [1, 8, 64] {
        let mut arena = arena(depth);
        let options = RingOptions { depth, polled: false, nop: false };
        let backend = Uring::<false>::new(&[file.as_fd()], &[], &arena, depth, options).unwrap();
        file.write_all_at(arena_block(200).bytes_mut(0), 200 * LEN as u64).unwrap();
        keeps_the_contract(Subject { name: "uring", backend, depth, moves: true, is_virtual: false }, &mut arena);
    }
}

/// A block as the file has it at first, aligned for direct I/O.
fn arena_block(block: u64) -> Arena {
    let mut arena = arena(1);
    arena.bytes_mut(0).fill(content(block));
    arena
}

#[test]
fn a_ring_smaller_than_its_batch_hands_over_in_between() {
    if let Err(error) = uring::probe() {
        println!("skipped: io_uring: {error}");
        return;
    }
    let (_directory, file) = file();
    let arena = arena(64);
    // A ring for 4 at once, asked for 64: the submission queue fills up 16 times; completions overflow into the kernel.
    let options = RingOptions { depth: 4, polled: false, nop: false };
    let backend = Uring::<false>::new(&[file.as_fd()], &[], &arena, 64, options).unwrap();
    let mut subject = Subject { name: "uring", backend, depth: 64, moves: true, is_virtual: false };
    every_io_is_reported_once(&mut subject, &arena);
}

#[test]
fn nop() {
    if let Err(error) = uring::probe() {
        println!("skipped: io_uring: {error}");
        return;
    }
    for depth in [1, 8, 64] {
        let mut arena = arena(depth);
        let options = RingOptions { depth, polled: false, nop: true };
        let backend = Uring::<true>::new(&[], &[], &arena, depth, options).unwrap();
        keeps_the_contract(Subject { name: "nop", backend, depth, moves: false, is_virtual: false }, &mut arena);
    }
}

#[test]
fn sync() {
    let (_directory, file) = file();
    for depth in [1, 8] {
        file.write_all_at(arena_block(200).bytes_mut(0), 200 * LEN as u64).unwrap();
        let backend = SyncIo::new(&[file.as_fd()], depth).unwrap();
        keeps_the_contract(Subject { name: "sync", backend, depth, moves: true, is_virtual: false }, &mut arena(depth));
    }
}

#[test]
fn mmap() {
    let (_directory, file) = file();
    let backend = Mmap::new(&[file.as_fd()], &[]).unwrap();
    keeps_the_contract(Subject { name: "mmap", backend, depth: 8, moves: true, is_virtual: false }, &mut arena(8));
}

#[test]
fn a_read_beyond_the_end_is_short_and_a_bad_one_is_an_errno() {
    let (directory, _) = file();
    let path = directory.path().join("file");
    let file = File::options().read(true).custom_flags(libc::O_DIRECT).open(&path).unwrap();
    let arena = arena(2);
    let sync = SyncIo::new(&[file.as_fd()], 2).unwrap();
    answers_for_failures(Subject { name: "sync", backend: sync, depth: 2, moves: true, is_virtual: false }, &arena);
    match Uring::<false>::new(&[file.as_fd()], &[], &arena, 2, RingOptions { depth: 2, polled: false, nop: false }) {
        Ok(backend) => {
            answers_for_failures(Subject { name: "uring", backend, depth: 2, moves: true, is_virtual: false }, &arena);
        }
        Err(error) => println!("skipped: io_uring: {error}"),
    }
}

fn answers_for_failures<B: Backend>(mut subject: Subject<B>, arena: &Arena) {
    subject.backend.submit(io(arena, 0, Op::Read, BLOCKS)).unwrap();
    assert_eq!(collect(&mut subject, 1)[0].result, 0, "{}: nothing is left at the end", subject.name);
    subject.backend.submit(io(arena, 1, Op::Write, 0)).unwrap();
    assert_eq!(collect(&mut subject, 1)[0].result, -libc::EBADF, "{}: opened for reading", subject.name);
    subject.backend.submit(io(arena, 0, Op::Read, 0)).unwrap();
    assert_eq!(collect(&mut subject, 1)[0].result, LEN as i32, "{}: it goes on", subject.name);
}
