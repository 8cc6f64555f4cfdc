//! The barest ring loop: NOPs or 4 KiB random direct reads of a file, with no job, no clock and no statistics, so that there is always a
//! limit to hold a benchmark against. `bare_ring DEPTH SECONDS [FILE]` prints the requests, the seconds, and the ns of user and system time.

use std::ffi::{c_int, c_long, c_void};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering::{Acquire, Release}};
use std::time::Instant;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn mmap(at: *mut c_void, bytes: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn getrusage(who: c_int, usage: *mut [i64; 18]) -> c_int;
}

/// io_uring_setup(2) and io_uring_enter(2) have these numbers on every architecture.
const SETUP: c_long = 425;
const ENTER: c_long = 426;
/// `IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN`, of Linux 6.1.
const DEFERRED: u32 = 1 << 12 | 1 << 13;
const BLOCK: u64 = 4096;
const O_DIRECT: c_int = if cfg!(target_arch = "aarch64") { 0o200000 } else { 0o40000 };

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (depth, seconds): (u32, f64) = (words[1].parse().unwrap(), words[2].parse().unwrap());
    let file = words.get(3).map(|path| std::fs::OpenOptions::new().read(true).custom_flags(O_DIRECT).open(path).unwrap());
    let blocks = file.as_ref().map_or(1, |file| file.metadata().unwrap().len() / BLOCK);
    // struct io_uring_params as words: flags [2], offsets of the submission ring from [10], of the completion ring from [20].
    let mut params = [0u32; 30];
    params[2] = DEFERRED;
    let mut ring = unsafe { syscall(SETUP, depth, params.as_mut_ptr()) } as c_int;
    if ring < 0 {
        params = [0; 30];
        ring = unsafe { syscall(SETUP, depth, params.as_mut_ptr()) } as c_int;
    }
    assert!(ring >= 0, "no ring: {}", std::io::Error::last_os_error());
    let (entries, completions) = (params[0], params[1]);
    let bytes = (params[16] + 4 * entries).max(params[25] + 16 * completions) as usize;
    let map = |bytes, offset| unsafe { mmap(null_mut(), bytes, 3, 0x8001, ring, offset) }.cast::<u8>();
    let (rings, requests) = (map(bytes, 0), map(64 * entries as usize, 0x1000_0000));
    let word = |offset: u32| unsafe { &*rings.add(offset as usize).cast::<AtomicU32>() };
    let (tail, head, end) = (word(params[11]), word(params[20]), word(params[21]));
    (0..entries).for_each(|place| word(params[16] + 4 * place).store(place, Release));
    let buffers = unsafe { mmap(null_mut(), (u64::from(depth) * BLOCK) as usize, 3, 0x22, -1, 0) } as u64;
    let (mut random, mut queued, mut done, begun) = (0x9e37_79b9_7f4a_7c15u64, tail.load(Acquire), 0u64, Instant::now());
    let mut issue = |slot: u32, queued: &mut u32| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let block = (u128::from(random) * u128::from(blocks)) >> 64;
        let request = unsafe { &mut *requests.add(64 * (*queued % entries) as usize).cast::<[u64; 8]>() };
        *request = [0; 8];
        if let Some(file) = &file {
            // IORING_OP_READ: opcode and descriptor, address in the file, buffer, length.
            request[..4].copy_from_slice(&[
                22 | (file.as_raw_fd() as u64) << 32, block as u64 * BLOCK, buffers + u64::from(slot) * BLOCK, BLOCK,
            ]);
        }
        request[4] = slot.into();
        *queued = queued.wrapping_add(1);
    };
    (0..depth).for_each(|slot| issue(slot, &mut queued));
    let mut handed_over = queued.wrapping_sub(depth);
    while done & 0xfff >= 0x100 || begun.elapsed().as_secs_f64() < seconds {
        tail.store(queued, Release);
        let entered = unsafe { syscall(ENTER, ring, queued.wrapping_sub(handed_over), 1, 1, 0, 0) };
        assert!(entered >= 0, "{}", std::io::Error::last_os_error());
        handed_over = handed_over.wrapping_add(entered as u32);
        let (mut at, last) = (head.load(Acquire), end.load(Acquire));
        while at != last {
            let place = params[25] + 16 * (at % completions);
            let (slot, result) = unsafe { *rings.add(place as usize).cast::<(u64, i32)>() };
            assert!(result >= 0, "{}", std::io::Error::from_raw_os_error(-result));
            issue(slot as u32, &mut queued);
            (at, done) = (at.wrapping_add(1), done + 1);
        }
        head.store(at, Release);
    }
    let mut usage = [0i64; 18];
    unsafe { getrusage(0, &mut usage) };
    let ns = |at: usize| usage[at] * 1_000_000_000 + usage[at + 1] * 1_000;
    println!("{done} {} {} {}", begun.elapsed().as_secs_f64(), ns(0), ns(2));
}
