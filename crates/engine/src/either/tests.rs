use std::fs::File;
use std::io::{Write, pipe};
use std::os::fd::AsFd;

use plimsoll_workload::Op;
use plimsoll_workload::job::MemoryWord;

use super::*;
use crate::buffers::{Arena, Need};
use crate::uring::{RingOptions, probe};

const LEN: usize = 512;
const PIPE: u32 = 0;
const FILE: u32 = 1;

fn read(arena: &Arena, slot: u32, file: u32) -> Io {
    let buffer = arena.buffer(slot as usize);
    Io { slot, piece: 0, file, op: Op::Read, len: LEN as u32, offset: 0, buffer }
}

/// The slots that a wait of at most so many milliseconds reports, each without a failure.
fn reported(either: &mut Either<'_>, ms: u64) -> Vec<u32> {
    let mut done = Vec::new();
    either.wait(either.now() + ms * 1_000_000, &mut done).unwrap();
    assert!(done.iter().all(|done| done.result == LEN as i32), "{done:?}");
    done.iter().map(|done| done.slot).collect()
}

fn names(either: &Either<'_>) -> Vec<&'static str> {
    either.facts().iter().map(|&(name, _)| name).collect()
}

/// Has `examine` look at one whose requests to [`PIPE`] come back when something is written to it, and those to [`FILE`] at once.
fn with_a_slow_file(examine: impl FnOnce(Either<'_>, &Arena, &Changeover, std::io::PipeWriter)) {
    if probe().is_err() {
        println!("skipped: no io_uring here");
        return;
    }
    let arena = Arena::new(&[Need { slots: 2, len: LEN, own: true }], MemoryWord::Arena).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&[1; LEN]).unwrap();
    let (slow, answer) = pipe().unwrap();
    let (slow, file): (File, File) = (std::os::fd::OwnedFd::from(slow).into(), file);
    let files = [slow.as_fd(), file.as_fd()];
    let options = RingOptions { depth: 2, polled: false, nop: false };
    let ring = Uring::new(&files, &[], &arena, 2, options).unwrap();
    let changeover = Changeover::default();
    examine(Either::new(ring, (&files, 2), &changeover), &arena, &changeover, answer);
}

#[test]
fn what_is_submitted_in_a_change_is_held_until_all_before_it_is_back() {
    with_a_slow_file(|mut either, arena, changeover, mut answer| {
        either.submit(read(arena, 0, PIPE)).unwrap();
        either.submit(read(arena, 1, FILE)).unwrap();
        assert_eq!(reported(&mut either, 60_000), [1]);
        either.submit(read(arena, 1, FILE)).unwrap();
        changeover.order(true, false);
        assert_eq!(reported(&mut either, 60_000), [1], "one completion ends a wait, whatever else is outstanding");
        either.submit(read(arena, 1, FILE)).unwrap();
        assert_eq!(reported(&mut either, 1), Vec::<u32>::new(), "held while a request of the ring is outstanding");
        assert_eq!(either.handed_over_ns(), either.ring.handed_over_ns());
        answer.write_all(&[2; LEN]).unwrap();
        assert_eq!(reported(&mut either, 60_000), [0]);
        assert_eq!(reported(&mut either, 60_000), [1], "by a call");
        assert_eq!((names(&either), either.handed_over_ns()), (vec!["pool_threads"], None));
    });
}

#[test]
fn a_trial_that_ends_in_a_change_leaves_what_was_held_to_the_ring() {
    with_a_slow_file(|mut either, arena, changeover, mut answer| {
        either.submit(read(arena, 0, PIPE)).unwrap();
        changeover.order(true, false);
        assert_eq!(reported(&mut either, 1), Vec::<u32>::new());
        either.submit(read(arena, 1, FILE)).unwrap();
        changeover.order(false, false);
        assert_eq!(reported(&mut either, 60_000), [1]);
        assert!(names(&either).contains(&"ring"));
        answer.write_all(&[2; LEN]).unwrap();
        assert_eq!(reported(&mut either, 60_000), [0]);
    });
}

#[test]
fn what_calls_carry_is_back_before_the_ring_has_anything() {
    with_a_slow_file(|mut either, arena, changeover, _answer| {
        changeover.order(true, false);
        assert_eq!(reported(&mut either, 1), Vec::<u32>::new());
        either.submit(read(arena, 0, FILE)).unwrap();
        changeover.order(false, false);
        assert_eq!(reported(&mut either, 60_000), [0]);
        assert_eq!(names(&either), ["pool_threads"], "it goes over with the next wait");
        either.submit(read(arena, 1, FILE)).unwrap();
        assert_eq!(reported(&mut either, 60_000), [1]);
        assert!(names(&either).contains(&"ring"));
        assert_eq!(either.handed_over_ns(), None, "what was held was not outstanding");
    });
}
