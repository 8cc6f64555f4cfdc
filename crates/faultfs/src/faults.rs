//! The rules in force, and what they do to a request: the one place where it is decided.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::fault::{Fault, Op};
use crate::locked;
use crate::log::{Entry, Log};
use crate::rule::{Armed, Occasion, Rule, Strike};

/// A request with what rules need to know of it, kept for as long as it waits.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What is asked.
    pub op: Op,
    /// Of which file, below the mount.
    pub path: String,
    /// First byte; 0 where there are no bytes.
    pub offset: u64,
    /// Bytes; 0 where there are none.
    pub len: u64,
    /// The beginning of the data.
    pub begins: Vec<u8>,
    /// Whether there is older data to return than what was written last.
    pub has_past: bool,
}

impl Asked {
    /// Something that has no bytes.
    pub const fn of(op: Op, path: String) -> Self {
        Self { op, path, offset: 0, len: 0, begins: Vec::new(), has_past: false }
    }
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
pub enum Decision {
    /// It is carried out, perhaps with a twist.
    CarriedOut(Option<Strike>),
    /// It fails.
    Fails(i32),
    /// It is carried out later.
    Delayed(Duration),
    /// It is carried out when it is released.
    Hangs,
}

/// See the module.
#[derive(Debug)]
pub struct Faults {
    since: Instant,
    armed: Mutex<Vec<Armed>>,
    rules: AtomicU64,
    is_dark: AtomicBool,
    /// What was injected.
    pub log: Log,
}

impl Default for Faults {
    fn default() -> Self {
        let (armed, rules, is_dark) = (Mutex::default(), AtomicU64::new(0), AtomicBool::new(false));
        Self { since: Instant::now(), armed, rules, is_dark, log: Log::default() }
    }
}

impl Faults {
    /// Milliseconds since the mount.
    pub fn now_ms(&self) -> u64 {
        self.since.elapsed().as_millis() as u64
    }

    /// Puts a rule in force; its number.
    ///
    /// # Errors
    /// When it asks for what cannot be, in a sentence.
    pub fn arm(&self, rule: Rule) -> Result<u64, String> {
        let id = self.rules.fetch_add(1, Ordering::Relaxed) + 1;
        locked(&self.armed).push(Armed::new(id, rule, self.now_ms())?);
        Ok(id)
    }

    /// Takes a rule out of force, or all of them.
    pub fn disarm(&self, id: Option<u64>) {
        locked(&self.armed).retain(|armed| id.is_some_and(|id| armed.id != id));
    }

    /// Whether some rule needs to see what is read.
    pub fn looks_at_data(&self) -> bool {
        locked(&self.armed).iter().any(Armed::looks_at_data)
    }

    /// Whether some rule needs what stood there before.
    pub fn keeps_past(&self) -> bool {
        locked(&self.armed).iter().any(|armed| armed.fault() == Fault::Stale)
    }

    /// Without power everything fails.
    pub fn set_dark(&self, is_dark: bool) {
        self.is_dark.store(is_dark, Ordering::SeqCst);
    }

    /// Whether there is no power.
    pub fn is_dark(&self) -> bool {
        self.is_dark.load(Ordering::SeqCst)
    }

    /// Decides on a request; the first rule that strikes has it.
    pub fn decide(&self, asked: &Asked) -> Decision {
        if self.is_dark() {
            return Decision::Fails(libc::EIO);
        }
        let Asked { op, offset, len, has_past, .. } = *asked;
        let occasion = Occasion { op, path: &asked.path, offset, len, begins: &asked.begins, has_past };
        let now_ms = self.now_ms();
        let struck = locked(&self.armed).iter_mut().find_map(|armed| armed.strikes(&occasion, now_ms));
        let Some(strike) = struck else { return Decision::CarriedOut(None) };
        if let Some(errno) = strike.fault.errno() {
            self.note(asked, &strike, Vec::new(), false);
            return Decision::Fails(errno);
        }
        match strike.fault {
            Fault::Stall | Fault::SlowMetadata => {
                self.note(asked, &strike, Vec::new(), false);
                Decision::Delayed(Duration::from_millis(strike.ms))
            }
            Fault::Hang => {
                self.note(asked, &strike, Vec::new(), false);
                Decision::Hangs
            }
            // These are logged when it is known what they did.
            _ => Decision::CarriedOut(Some(strike)),
        }
    }

    /// Writes a strike down; its number.
    pub fn note(&self, asked: &Asked, strike: &Strike, wrong: Vec<std::ops::Range<u64>>, seen: bool) -> u64 {
        let (rule, fault) = (strike.rule, strike.fault);
        let (op, path, offset, len) = (asked.op, asked.path.clone(), asked.offset, asked.len);
        self.log.add(Entry { number: 0, at_ms: self.now_ms(), rule, fault, op, path, offset, len, wrong, seen })
    }
}
