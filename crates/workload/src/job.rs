//! The options of a job: how a workload is run, not what it is. Everything about each option is declared here, once.

use serde_json::Value;

use crate::bounds::{DAY_NS, PEBIBYTE};
use crate::error::WorkloadError;
use crate::kind::{Bytes, Nanos};
use crate::option::{Kind, Range, Record, not_a};
use crate::options;
use crate::words;

words! {
    /// What performs the requests.
    pub enum BackendWord: "a backend" {
        /// `uring` for files and devices (`sync` where the kernel forbids it, with a flag), else what the target is.
        Auto = "auto",
        /// io_uring with registered buffers and files.
        Uring = "uring",
        /// `pread` and `pwrite` from a pool of threads.
        Sync = "sync",
        /// Loads and stores on a memory mapping.
        Mmap = "mmap",
        /// Completes at once: measures Plimsoll itself.
        Null = "null",
        /// io_uring NOP: measures the ring.
        Nop = "nop",
        /// A modelled server in virtual time.
        Queue = "queue",
        /// A modelled array in virtual time.
        Array = "array",
    }
}

words! {
    /// What requests read into and write from.
    pub enum MemoryWord: "a kind of memory" {
        /// One mapping of huge pages per worker, registered with the ring where the kernel takes it.
        Arena = "arena",
        /// Small pages, as most programs have them, and nothing registered: what a request costs includes pinning them.
        Pages = "pages",
    }
}

words! {
    /// What happens after a failed request.
    pub enum OnError: "an error policy" {
        /// The job ends; what was measured is kept.
        Stop = "stop",
        /// The failure is counted and the job continues.
        Continue = "continue",
    }
}

/// Length of an interval of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// Chosen from the duration.
    Auto,
    /// This long.
    Every(Nanos),
}

impl Kind for Interval {
    const NOUN: &'static str = "an interval";
    const FORM: &'static str = "`\"auto\"` or a duration.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        if value.as_str() == Some("auto") {
            return Ok(Self::Auto);
        }
        let every = Nanos::read(value);
        Ok(Self::Every(every.map_err(|_| not_a(value, Self::NOUN, "write auto or a duration, for example 500ms"))?))
    }

    fn write(&self) -> Value {
        match self {
            Self::Auto => "auto".into(),
            Self::Every(every) => every.write(),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Auto => "auto".to_owned(),
            Self::Every(every) => every.show(),
        }
    }

    fn schema(range: Option<Range>) -> Value {
        let mut schema = Nanos::schema(range);
        if let Some(forms) = schema["anyOf"].as_array_mut() {
            forms.push(serde_json::json!({ "const": "auto" }));
        }
        schema
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        match self {
            Self::Auto => None,
            Self::Every(every) => every.extremes(),
        }
    }

    fn show_bound(bound: f64) -> String {
        Nanos::show_bound(bound)
    }
}

options! {
    /// The options of a job, as typed.
    pub struct JobOptions: "job" {
        "Time" {
            /// How long to measure, after the warm-up.
            duration: Nanos = Nanos(30_000_000_000), range 1e6 => 1000.0 * DAY_NS, example "60s";
            /// How long to run the load before measuring.
            warmup: Nanos = Nanos(5_000_000_000), range 0.0 => 1000.0 * DAY_NS, example "10s";
            /// Length of an interval of the record. `auto` is the longest of 100 ms, 250 ms, 500 ms and 1 s that gives
            /// 40 intervals, and 10 s from two hours on.
            interval: Interval = Interval::Auto, range 1e6 => DAY_NS, example "500ms";
        }
        "Load" {
            /// Seed of everything random; equal seeds give equal requests on every machine.
            seed: u64 = 1, example "42";
            /// Size of the scratch file to make when the target is a file that does not exist.
            size: Option<Bytes> = None, unset "4GiB, at most 25% of the free space", range 4096.0 => PEBIBYTE,
                example "1GiB";
        }
        "Engine" {
            /// What performs the requests.
            backend: BackendWord = BackendWord::Auto, example "sync";
            /// Poll for completions instead of waiting for interrupts, where the device can. `uring` only.
            polled: bool = false, example "true";
            /// What requests read into and write from. Long sequential requests gain from an arena; `pages` shows what most
            /// programs get.
            memory: MemoryWord = MemoryWord::Arena, example "pages";
            /// Operating system threads that carry the streams' threads; 0 is one per stream thread, at
            /// most one per core.
            workers: u32 = 0, range 0.0 => 1024.0, example "2";
            /// CSV file with a line per request of streams with a trace: when it was due, submitted and completed.
            lateness_report: Option<String> = None, unset "no such file is written", example "lateness.csv";
            /// Where `verify = "journal"` records writes before they are acknowledged, and `journal-check` reads them:
            /// a file on another disk than the target's, or `tcp://HOST:PORT` where `plimsoll journal` listens.
            journal: Option<String> = None, unset "no journal is kept", example "/mnt/other/cut.journal";
            /// What happens after a failed request.
            on_error: OnError = OnError::Stop, example "continue";
        }
    }
}

impl JobOptions {
    /// The canonical JSON object, defaults included; reading it gives equal options.
    pub fn to_json(&self) -> Value {
        self.write_record()
    }

    /// Refuses options that cannot hold together.
    ///
    /// # Errors
    /// On the first contradiction.
    pub fn check(&self) -> Result<(), WorkloadError> {
        if self.polled && !matches!(self.backend, BackendWord::Auto | BackendWord::Uring) {
            return Err(WorkloadError::impossible(format!(
                "polled works with backend uring only, not with {}; drop one of the two",
                self.backend.name()
            )));
        }
        match self.interval {
            Interval::Every(every) if every > self.duration => Err(WorkloadError::impossible(format!(
                "interval {} is longer than duration {}; write at most the duration, or auto",
                every.show(),
                self.duration.show()
            ))),
            _ => Ok(()),
        }
    }

    /// Length of an interval in nanoseconds, with `auto` decided.
    pub fn interval_ns(&self) -> u64 {
        const MS: u64 = 1_000_000;
        match self.interval {
            Interval::Every(every) => every.0,
            Interval::Auto if self.duration.0 >= 7_200_000 * MS => 10_000 * MS,
            Interval::Auto => {
                let fits = |interval_ns: &u64| self.duration.0 / interval_ns >= 40;
                [1000 * MS, 500 * MS, 250 * MS].into_iter().find(fits).unwrap_or(100 * MS).min(self.duration.0)
            }
        }
    }
}
