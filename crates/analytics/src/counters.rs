//! What the kernel counts of this process and of the devices behind its files.
//!
//! Model: /proc/self/io says what was read from and charged as written to storage, /sys/class/block/NAME/stat what the devices moved for
//! everybody, getrusage(2) the processor time. What the kernel does not say is `None`, never 0.

use std::fs;

/// Bytes of the counters of block devices, whatever their own block is (Linux kernel, Documentation/block/stat.rst).
const SECTOR_BYTES: u64 = 512;

/// Bytes read and written.
pub type Pair = (u64, u64);

/// Counters at one instant.
#[derive(Debug, Clone, Copy, Default)]
pub struct Glance {
    /// CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// Processor time in user mode, in microseconds.
    pub user_us: u64,
    /// In the kernel.
    pub system_us: u64,
    /// What reached storage for this process.
    pub stored: Option<Pair>,
    /// What the devices moved, for everybody.
    pub devices: Option<Pair>,
}

impl Glance {
    /// The counters now; `devices` are kernel names.
    pub fn now(devices: &[String]) -> Self {
        let (user_us, system_us) = processor_us();
        Self { at_ns: monotonic_ns(), user_us, system_us, stored: stored(), devices: moved(devices) }
    }
}

/// The difference of two counters that only rise.
pub fn between(before: Option<Pair>, after: Option<Pair>) -> Option<Pair> {
    let (before, after) = (before?, after?);
    Some((after.0.saturating_sub(before.0), after.1.saturating_sub(before.1)))
}

/// CLOCK_MONOTONIC in nanoseconds: the clock that Python reads as well.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is ours, and this clock always is there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// What this process has resident now, in bytes.
pub fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0) << 10
}

fn processor_us() -> (u64, u64) {
    // SAFETY: all zeros is a valid `rusage`, which the call fills.
    let used = unsafe {
        let mut used = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut used);
        used
    };
    let us = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    (us(used.ru_utime), us(used.ru_stime))
}

fn stored() -> Option<Pair> {
    let text = fs::read_to_string("/proc/self/io").ok()?;
    let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    Some((of("read_bytes:")?, of("write_bytes:")?))
}

fn moved(devices: &[String]) -> Option<Pair> {
    let mut total = None;
    for name in devices {
        let text = fs::read_to_string(format!("/sys/class/block/{name}/stat")).ok()?;
        let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let (read, written) = (numbers.get(2)? * SECTOR_BYTES, numbers.get(6)? * SECTOR_BYTES);
        let so_far: Pair = total.unwrap_or_default();
        total = Some((so_far.0 + read, so_far.1 + written));
    }
    total
}
