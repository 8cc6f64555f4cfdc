use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use super::*;

const PAGES: usize = 8;

fn file() -> File {
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(&vec![3; PAGES * bus::page_bytes()], 0).unwrap();
    file
}

fn one(backend: &mut Mmap, op: Op, offset: usize, buffer: &mut [u8]) -> Done {
    let io = Io {
        slot: 1,
        piece: 2,
        file: 0,
        op,
        len: buffer.len() as u32,
        offset: offset as u64,
        buffer: buffer.as_mut_ptr(),
    };
    backend.submit(io).unwrap();
    let mut finished = Vec::new();
    backend.wait(u64::MAX, &mut finished).unwrap();
    assert_eq!(finished.len(), 1);
    finished[0]
}

#[test]
fn reads_and_writes_reach_the_file_and_flushes_succeed() {
    let file = file();
    let mut backend = Mmap::new(&[file.as_fd()], &[]).unwrap();
    let mut buffer = [0; 1000];
    let done = one(&mut backend, Op::Read, 700, &mut buffer);
    assert_eq!((done.slot, done.piece, done.result, buffer), (1, 2, 1000, [3; 1000]));
    assert!(done.submitted_ns <= done.completed_ns && done.completed_ns <= backend.now());
    assert_eq!(one(&mut backend, Op::Write, 5000, &mut [9; 600]).result, 600);
    assert_eq!(one(&mut backend, Op::Flush, 0, &mut []).result, 0);
    let mut found = [0; 600];
    file.read_exact_at(&mut found, 5000).unwrap();
    assert_eq!(found, [9; 600]);
}

#[test]
fn what_cannot_be_done_is_a_negated_errno() {
    let mut backend = Mmap::new(&[File::open("/proc/self/exe").unwrap().as_fd()], &[]).unwrap();
    let mut buffer = [0; 512];
    assert_eq!(one(&mut backend, Op::Write, 0, &mut buffer).result, -libc::EBADF);
    assert_eq!(one(&mut backend, Op::Trim, 0, &mut buffer).result, -libc::EOPNOTSUPP);
    assert_eq!(one(&mut backend, Op::Read, usize::MAX >> 1, &mut buffer).result, -libc::EINVAL);
    assert_eq!(one(&mut backend, Op::Read, 0, &mut buffer).result, 512);
}

#[test]
fn a_truncated_file_gives_eio_until_it_is_long_enough_again() {
    let (file, page) = (file(), bus::page_bytes());
    let mut backend = Mmap::new(&[file.as_fd()], &[]).unwrap();
    let mut buffer = vec![0; 2 * page];
    file.set_len(3 * page as u64).unwrap();
    assert_eq!(one(&mut backend, Op::Read, 3 * page - 100, &mut buffer).result, -libc::EIO);
    assert_eq!(one(&mut backend, Op::Write, 4 * page, &mut buffer).result, -libc::EIO);
    assert_eq!(one(&mut backend, Op::Read, 4 * page, &mut buffer).result, -libc::EIO, "and again, not a stale page");
    assert_eq!(one(&mut backend, Op::Read, page, &mut buffer).result, 2 * page as i32, "the rest is unharmed");
    file.write_all_at(&vec![5; 5 * page], 3 * page as u64).unwrap();
    assert_eq!(one(&mut backend, Op::Read, 4 * page, &mut buffer).result, 2 * page as i32);
    assert!(buffer.iter().all(|byte| *byte == 5), "the pages are the file's again");
    assert_eq!(one(&mut backend, Op::Write, 4 * page, &mut vec![6; page]).result, page as i32);
    let mut found = vec![0; page];
    file.read_exact_at(&mut found, 4 * page as u64).unwrap();
    assert!(found.iter().all(|byte| *byte == 6));
}

#[test]
fn backends_in_many_threads_keep_their_faults_apart() {
    let page = bus::page_bytes();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for _ in 0..20 {
                    let file = file();
                    let mut backend = Mmap::new(&[file.as_fd()], &[]).unwrap();
                    let broken = thread % 2 == 0;
                    file.set_len(if broken { 1 } else { PAGES * page } as u64).unwrap();
                    let result = one(&mut backend, Op::Read, 2 * page, &mut vec![0; page]).result;
                    assert_eq!(result, if broken { -libc::EIO } else { page as i32 });
                }
            });
        }
    });
}

/// Runs a test of this file, marked as ignored, in a process of its own.
fn child(test: &str) -> std::process::ExitStatus {
    let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &name, "--ignored"]).env("PLIMSOLL_CHILD", "1").stdout(std::process::Stdio::null());
    command.status().unwrap()
}

/// Touches a page behind the end of a file that no backend maps.
fn fault_elsewhere() {
    let file = file();
    let mapping = Mapping::new(&file.as_fd()).unwrap();
    mapping.region.release();
    file.set_len(0).unwrap();
    // SAFETY: inside the mapping; the fault is what is wanted.
    unsafe { mapping.start.read_volatile() };
}

extern "C" fn exit_42(_signal: libc::c_int) {
    // SAFETY: ends the process, which signal handlers may.
    unsafe { libc::_exit(42) };
}

#[test]
#[ignore = "the child of a test below"]
fn child_with_a_handler() {
    if std::env::var_os("PLIMSOLL_CHILD").is_some() {
        // SAFETY: a plain system call with a handler that may be called.
        unsafe { libc::signal(libc::SIGBUS, exit_42 as *const () as usize) };
        bus::install().unwrap();
        fault_elsewhere();
    }
}

#[test]
#[ignore = "the child of a test below"]
fn child_without_a_handler() {
    if std::env::var_os("PLIMSOLL_CHILD").is_some() {
        // SAFETY: a plain system call.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
        bus::install().unwrap();
        fault_elsewhere();
    }
}

#[test]
fn a_fault_elsewhere_is_the_previous_handlers_matter() {
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(child("child_with_a_handler").code(), Some(42));
    assert_eq!(child("child_without_a_handler").signal(), Some(libc::SIGBUS));
}
