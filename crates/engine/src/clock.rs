//! The clock of real-time backends: nanoseconds of `CLOCK_MONOTONIC`, read from the processor's time-stamp counter.
//!
//! A stamp is taken twice per I/O, so it must cost little: reading the counter and scaling it takes about 10 ns where
//! `clock_gettime` takes 25. Model: `ns = anchor + (counter − anchor counter) × ratio`, the ratio measured once per
//! process between two readings at least [`CALIBRATION_NS`] apart.
//!
//! Limits: needs an invariant counter (CPUID says so); otherwise `clock_gettime` is used and [`Source::Monotonic`] reported.
//! The ratio is not corrected afterwards; [`Clock::drift_ppm`] tells at the end of a run how far it was off.
//!
//! ```
//! let clock = plimsoll_engine::clock::Clock::calibrated();
//! let before = clock.now();
//! assert!(clock.now() >= before);
//! ```

use std::sync::OnceLock;

/// Shortest distance of the two calibration readings. Each reading is uncertain by some tens of nanoseconds, which makes
/// the ratio right to a few parts per million.
const CALIBRATION_NS: u64 = 20_000_000;

/// Bits after the binary point of the ratio. Counters of x86-64 run above 1 GHz, so the ratio is a pure fraction and the
/// product's high half is the answer; those of other architectures may be as slow as some MHz.
#[cfg(target_arch = "x86_64")]
const RATIO_SHIFT: u32 = 64;
#[cfg(not(target_arch = "x86_64"))]
const RATIO_SHIFT: u32 = 32;

/// Where the time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The processor's invariant time-stamp counter.
    Tsc,
    /// `clock_gettime(CLOCK_MONOTONIC)`.
    Monotonic,
}

impl Source {
    /// The word used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::Monotonic => "clock_gettime",
        }
    }
}

/// A calibrated clock; copies agree with each other.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    source: Source,
    anchor: Anchor,
    ratio: u64,
}

/// One simultaneous reading of both clocks.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    monotonic_ns: u64,
    counter: u64,
}

static FIRST_ANCHOR: OnceLock<Anchor> = OnceLock::new();
static CALIBRATED: OnceLock<Clock> = OnceLock::new();

impl Clock {
    /// Takes the first calibration reading, so that a later [`Clock::calibrated`] need not wait. Call it at start-up.
    pub fn anchor() {
        FIRST_ANCHOR.get_or_init(Anchor::take);
    }

    /// The process's clock; waits until the calibration readings are far enough apart (at most 20 ms, once).
    pub fn calibrated() -> Self {
        *CALIBRATED.get_or_init(|| {
            let first = *FIRST_ANCHOR.get_or_init(Anchor::take);
            if !counter_is_invariant() {
                return Self { source: Source::Monotonic, anchor: first, ratio: 0 };
            }
            while monotonic_ns() < first.monotonic_ns + CALIBRATION_NS {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            let second = Anchor::take();
            let elapsed_ns = u128::from(second.monotonic_ns - first.monotonic_ns);
            let ticks = u128::from(second.counter.wrapping_sub(first.counter)).max(1);
            match u64::try_from((elapsed_ns << RATIO_SHIFT) / ticks) {
                Ok(ratio) => Self { source: Source::Tsc, anchor: first, ratio },
                Err(_) => Self { source: Source::Monotonic, anchor: first, ratio: 0 },
            }
        })
    }

    /// Nanoseconds of `CLOCK_MONOTONIC`.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        match self.source {
            Source::Tsc => {
                let ticks = counter().wrapping_sub(self.anchor.counter);
                self.anchor.monotonic_ns + ((u128::from(ticks) * u128::from(self.ratio)) >> RATIO_SHIFT) as u64
            }
            Source::Monotonic => monotonic_ns(),
        }
    }

    /// Where the time comes from.
    pub const fn source(&self) -> Source {
        self.source
    }

    /// How far this clock has run from `CLOCK_MONOTONIC` since it was anchored, in parts per million.
    pub fn drift_ppm(&self) -> f64 {
        let anchor = Anchor::take();
        let elapsed_ns = anchor.monotonic_ns.saturating_sub(self.anchor.monotonic_ns).max(1) as f64;
        let here = match self.source {
            Source::Tsc => {
                let ticks = anchor.counter.wrapping_sub(self.anchor.counter);
                self.anchor.monotonic_ns + ((u128::from(ticks) * u128::from(self.ratio)) >> RATIO_SHIFT) as u64
            }
            Source::Monotonic => anchor.monotonic_ns,
        };
        (here as f64 - anchor.monotonic_ns as f64) / elapsed_ns * 1e6
    }
}

impl Anchor {
    /// The tightest of several bracketed readings.
    fn take() -> Self {
        let mut best = (u64::MAX, Self { monotonic_ns: 0, counter: 0 });
        for _ in 0..16 {
            let before = monotonic_ns();
            let counter = counter();
            let after = monotonic_ns();
            if after - before < best.0 {
                best = (after - before, Self { monotonic_ns: before + (after - before) / 2, counter });
            }
        }
        best.1
    }
}

/// `clock_gettime(CLOCK_MONOTONIC)` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// `clock_gettime(CLOCK_REALTIME)` in nanoseconds since 1970.
pub fn wall_ns() -> u64 {
    clock_ns(libc::CLOCK_REALTIME)
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; the clock identifiers used here always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn counter() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 processor and has no preconditions.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// CPUID 8000_0007h, EDX bit 8: the counter runs at a constant rate in all power states (AMD and Intel manuals).
#[cfg(target_arch = "x86_64")]
fn counter_is_invariant() -> bool {
    use core::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn counter() -> u64 {
    let count: u64;
    // SAFETY: Linux lets user space read the virtual counter.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
    count
}

#[cfg(target_arch = "aarch64")]
fn counter_is_invariant() -> bool {
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn counter() -> u64 {
    monotonic_ns()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter_is_invariant() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_kernel_within_fifty_parts_per_million() {
        let clock = Clock::calibrated();
        let before = monotonic_ns();
        let here = clock.now();
        let after = monotonic_ns();
        let slack_ns = (after - clock.anchor.monotonic_ns) / 20_000 + 1_000;
        assert!(here + slack_ns >= before && here <= after + slack_ns, "{before} {here} {after}");
    }

    #[test]
    fn never_steps_back() {
        let clock = Clock::calibrated();
        let mut last = clock.now();
        for _ in 0..100_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }
}
