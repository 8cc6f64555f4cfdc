use std::fs::File;
use std::os::fd::AsFd;

use super::*;

fn file(bytes: &[u8]) -> File {
    let file = tempfile::tempfile().unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, bytes, 0).unwrap();
    file
}

fn io(slot: u32, op: Op, offset: u64, buffer: &mut [u8]) -> Io {
    Io { slot, piece: 0, file: 0, op, len: buffer.len() as u32, offset, buffer: buffer.as_mut_ptr() }
}

fn finish(backend: &mut SyncIo, count: usize) -> Vec<Done> {
    let mut finished = Vec::new();
    while finished.len() < count {
        backend.wait(u64::MAX, &mut finished).unwrap();
    }
    finished
}

#[test]
fn every_operation_does_what_it_says_inline_and_in_the_pool() {
    for depth in [1, 4] {
        let file = file(&[1; 16384]);
        let mut backend = SyncIo::new(&[file.as_fd()], depth).unwrap();
        let (mut written, mut read) = ([7; 4096], [0; 4096]);
        for (op, buffer) in [(Op::Write, &mut written), (Op::Read, &mut read)] {
            backend.submit(io(3, op, 4096, buffer)).unwrap();
            let done = finish(&mut backend, 1)[0];
            assert_eq!((done.slot, done.result), (3, 4096));
            assert!(done.submitted_ns <= done.completed_ns && done.completed_ns <= backend.now());
        }
        assert_eq!(read, [7; 4096]);
        backend.submit(io(0, Op::Flush, 0, &mut [])).unwrap();
        assert_eq!(finish(&mut backend, 1)[0].result, 0);
        let mut dangling = [0; 4096];
        backend.submit(io(0, Op::Trim, 4096, &mut dangling)).unwrap();
        let trimmed = finish(&mut backend, 1)[0].result;
        assert!(trimmed == 4096 || trimmed == -libc::EOPNOTSUPP, "{trimmed}");
        backend.submit(io(0, Op::Read, 14_336, &mut read)).unwrap();
        assert_eq!(finish(&mut backend, 1)[0].result, 2048, "a short read is reported as such");
    }
}

#[test]
fn errors_are_negated_errnos_and_do_not_end_the_backend() {
    let read_only = File::open("/proc/self/exe").unwrap();
    for depth in [1, 2] {
        let mut backend = SyncIo::new(&[read_only.as_fd()], depth).unwrap();
        let mut buffer = [0; 512];
        backend.submit(io(0, Op::Write, 0, &mut buffer)).unwrap();
        assert_eq!(finish(&mut backend, 1)[0].result, -libc::EBADF);
        backend.submit(io(0, Op::Read, 0, &mut buffer)).unwrap();
        assert_eq!(finish(&mut backend, 1)[0].result, 512);
    }
}

#[test]
fn a_pool_reports_every_one_of_many_exactly_once() {
    const DEPTH: usize = 16;
    let file = file(&[5; 65536]);
    let mut backend = SyncIo::new(&[file.as_fd()], DEPTH).unwrap();
    let mut buffers = vec![[0; 4096]; DEPTH];
    for _ in 0..50 {
        for (slot, buffer) in buffers.iter_mut().enumerate() {
            buffer.fill(0);
            backend.submit(io(slot as u32, Op::Read, slot as u64 * 4096, buffer)).unwrap();
        }
        let mut slots: Vec<_> = finish(&mut backend, DEPTH).iter().map(|done| done.slot).collect();
        slots.sort_unstable();
        assert!(slots.iter().copied().eq(0..DEPTH as u32));
        assert!(buffers.iter().all(|buffer| *buffer == [5; 4096]));
    }
    assert_eq!(backend.facts(), [("pool_threads", "16".to_owned())]);
}

#[test]
fn waiting_with_nothing_to_do_lasts_until_the_instant() {
    let file = file(&[0; 512]);
    for depth in [1, 2] {
        let mut backend = SyncIo::new(&[file.as_fd()], depth).unwrap();
        let until_ns = backend.now() + 200_000;
        backend.wait(until_ns, &mut Vec::new()).unwrap();
        assert!(backend.now() >= until_ns);
    }
}

#[test]
fn dropping_a_pool_waits_for_its_calls() {
    let file = file(&[9; 1 << 20]);
    let mut buffers = vec![vec![0; 1 << 20]; 8];
    let mut backend = SyncIo::new(&[file.as_fd()], 8).unwrap();
    for buffer in &mut buffers {
        backend.submit(io(0, Op::Read, 0, buffer)).unwrap();
    }
    drop(backend);
    let before = buffers.clone();
    assert_eq!(buffers, before, "nobody writes to the buffers any more");
}

#[test]
fn a_pool_reports_in_the_order_of_completion_though_threads_overtake_each_other() {
    let (report, results) = unbounded();
    let mut pool = Pool { jobs: None, results: Some(results), threads: Vec::new(), in_flight: 3 };
    for (slot, completed_ns) in [(0, 90), (1, 70), (2, 80)] {
        report.send(Done { slot, piece: 0, result: 0, submitted_ns: 60, completed_ns }).unwrap();
    }
    let mut finished = Vec::new();
    pool.wait(&Clock::calibrated(), 0, &mut finished).unwrap();
    assert_eq!(finished.iter().map(|done| done.completed_ns).collect::<Vec<_>>(), [70, 80, 90]);
}
