//! Which requests a fault strikes.
//!
//! Model: a rule names a fault and says whom it strikes: operations, files, a range of bytes, what the data begins with. Of the
//! requests that are like that it passes over the first `skip` and those of the first `after_ms`, and strikes every `every`-th
//! or a share of `probability` drawn from `seed`, `times` times at most and for `for_ms` at most. Everything that is not said
//! does not restrict.
//!
//! Limits: time is what the caller says, in milliseconds since the rule was armed.
//!
//! ```
//! use plimsoll_faultfs::fault::Op;
//! use plimsoll_faultfs::rule::{Armed, Occasion, Rule};
//!
//! let rule: Rule = serde_json::from_str(r#"{"fault": "eio", "on": ["write"], "path": "*.dat", "every": 2}"#).unwrap();
//! let mut armed = Armed::new(1, rule, 0).unwrap();
//! let write = Occasion { op: Op::Write, path: "a.dat", offset: 0, len: 4096, begins: b"", has_past: false };
//! assert!(armed.strikes(&write, 0).is_none());
//! assert!(armed.strikes(&write, 0).is_some()); // the second
//! ```

use serde::{Deserialize, Serialize};

use crate::chance::{Chance, Draw};
use crate::fault::{Fault, Op};

/// As it is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What goes wrong.
    pub fault: Fault,
    /// Which operations; those of the fault by default.
    #[serde(default)]
    pub on: Vec<Op>,
    /// Which files: a path below the mount in which `*` stands for anything.
    #[serde(default)]
    pub path: Option<String>,
    /// The first byte of the range that a request has to touch.
    #[serde(default)]
    pub from: u64,
    /// The end of that range.
    #[serde(default)]
    pub to: Option<u64>,
    /// What the data that is read or written has to begin with.
    #[serde(default)]
    pub begins: Option<String>,
    /// Requests passed over at first.
    #[serde(default)]
    pub skip: u64,
    /// Milliseconds passed over at first.
    #[serde(default)]
    pub after_ms: u64,
    /// Milliseconds for which it strikes from then on.
    #[serde(default)]
    pub for_ms: Option<u64>,
    /// One in so many.
    #[serde(default)]
    pub every: Option<u64>,
    /// This share of them.
    #[serde(default)]
    pub probability: Option<f64>,
    /// What is drawn follows from it.
    #[serde(default)]
    pub seed: u64,
    /// How often at most; of `truncated` and `removed` once.
    #[serde(default)]
    pub times: Option<u64>,
    /// Bytes, as the fault needs them.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Milliseconds, as the fault needs them.
    #[serde(default)]
    pub ms: Option<u64>,
}

/// A request, as a rule sees it.
#[derive(Clone, Copy, Debug)]
pub struct Occasion<'a> {
    /// What is asked.
    pub op: Op,
    /// Of which file, below the mount.
    pub path: &'a str,
    /// First byte; 0 where there are no bytes.
    pub offset: u64,
    /// Bytes; 0 where there are none.
    pub len: u64,
    /// The beginning of the data.
    pub begins: &'a [u8],
    /// Whether there is older data to return than what was written last.
    pub has_past: bool,
}

/// A rule has struck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strike {
    /// The rule.
    pub rule: u64,
    /// What goes wrong.
    pub fault: Fault,
    /// Bytes, as the fault needs them.
    pub bytes: Option<u64>,
    /// Milliseconds, as the fault needs them.
    pub ms: u64,
    /// What is left to chance.
    pub draw: Draw,
}

/// A rule that is in force.
#[derive(Clone, Debug)]
pub struct Armed {
    /// Its number.
    pub id: u64,
    rule: Rule,
    since_ms: u64,
    met: u64,
    struck: u64,
}

impl Armed {
    /// Puts a rule in force.
    ///
    /// # Errors
    /// When it asks for what cannot be, in a sentence.
    pub fn new(id: u64, mut rule: Rule, now_ms: u64) -> Result<Self, String> {
        if rule.on.is_empty() {
            rule.on = rule.fault.strikes().to_vec();
        }
        if let Some(op) = rule.on.iter().find(|&&op| !rule.fault.can_strike(op)) {
            return Err(format!("{:?} cannot strike {op:?}", rule.fault));
        }
        if rule.every == Some(0) {
            return Err("every 0th request is none; give 1 or more".into());
        }
        if rule.probability.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Err("a probability lies between 0 and 1".into());
        }
        rule.times = rule.times.or(rule.fault.times());
        Ok(Self { id, rule, since_ms: now_ms, met: 0, struck: 0 })
    }

    /// What it does.
    pub const fn fault(&self) -> Fault {
        self.rule.fault
    }

    /// Whether it needs to see the beginning of what is read or written.
    pub const fn looks_at_data(&self) -> bool {
        self.rule.begins.is_some()
    }

    /// Whether it strikes this request; counts the request if it is one that it could strike.
    pub fn strikes(&mut self, occasion: &Occasion<'_>, now_ms: u64) -> Option<Strike> {
        let since = now_ms.saturating_sub(self.since_ms);
        let rule = &self.rule;
        let over = rule.times.is_some_and(|times| self.struck >= times)
            || rule.for_ms.is_some_and(|for_ms| since >= rule.after_ms.saturating_add(for_ms));
        if over || since < rule.after_ms || !self.concerns(occasion) {
            return None;
        }
        self.met += 1;
        let number = self.met.checked_sub(rule.skip + 1)?;
        let draw = Chance(rule.seed).at(number);
        let chosen = rule.every.is_none_or(|every| (number + 1).is_multiple_of(every))
            && rule.probability.is_none_or(|share| draw.unit() < share);
        if !chosen {
            return None;
        }
        self.struck += 1;
        let (fault, bytes, ms) = (rule.fault, rule.bytes, rule.ms.unwrap_or(1000));
        Some(Strike { rule: self.id, fault, bytes, ms, draw: draw.next() })
    }

    fn concerns(&self, occasion: &Occasion<'_>) -> bool {
        let rule = &self.rule;
        let end = occasion.offset + occasion.len;
        let touched = occasion.len == 0 || (end > rule.from && rule.to.is_none_or(|to| occasion.offset < to));
        rule.on.contains(&occasion.op)
            && (rule.fault != Fault::Stale || occasion.has_past)
            && touched
            && rule.path.as_deref().is_none_or(|pattern| matches(pattern.as_bytes(), occasion.path.as_bytes()))
            && rule.begins.as_deref().is_none_or(|begins| occasion.begins.starts_with(begins.as_bytes()))
    }
}

/// Whether a path is like a pattern in which `*` stands for anything, slashes included.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => matches(rest, path) || !path.is_empty() && matches(pattern, &path[1..]),
        ([first, rest @ ..], [found, more @ ..]) => first == found && matches(rest, more),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armed(text: &str) -> Armed {
        Armed::new(1, serde_json::from_str(text).unwrap(), 1000).unwrap()
    }

    fn write(offset: u64, len: u64) -> Occasion<'static> {
        Occasion { op: Op::Write, path: "dir/a.dat", offset, len, begins: b"PLIMSOLL and more", has_past: false }
    }

    /// Which of `count` equal requests are struck.
    fn struck(armed: &mut Armed, count: u64) -> Vec<u64> {
        (0..count).filter(|_| armed.strikes(&write(0, 512), 1000).is_some()).collect::<Vec<_>>()
    }

    #[test]
    fn every_third_after_two_at_most_twice() {
        assert_eq!(struck(&mut armed(r#"{"fault": "lost", "every": 3, "skip": 2, "times": 2}"#), 20), [4, 7]);
    }

    #[test]
    fn a_share_follows_from_the_seed() {
        let rule = |seed| armed(&format!(r#"{{"fault": "lost", "probability": 0.25, "seed": {seed}}}"#));
        let first = struck(&mut rule(1), 1000);
        assert!((200..300).contains(&first.len()), "{}", first.len());
        assert_eq!(first, struck(&mut rule(1), 1000));
        assert_ne!(first, struck(&mut rule(2), 1000));
    }

    #[test]
    fn time_counts_from_arming() {
        let mut rule = armed(r#"{"fault": "eio", "after_ms": 100, "for_ms": 50}"#);
        let at = [1000, 1099, 1100, 1149, 1150].map(|now| rule.strikes(&write(0, 512), now).is_some());
        assert_eq!(at, [false, false, true, true, false]);
    }

    #[test]
    fn range_path_operation_and_data_restrict() {
        let strikes = |text, occasion: &Occasion<'_>| armed(text).strikes(occasion, 1000).is_some();
        let range = r#"{"fault": "eio", "from": 4096, "to": 8192}"#;
        assert_eq!([0, 3585, 8191, 8192].map(|offset| strikes(range, &write(offset, 512))), [false, true, true, false]);
        assert!(strikes(r#"{"fault": "eio", "path": "*.dat"}"#, &write(0, 1)));
        assert!(strikes(r#"{"fault": "eio", "path": "dir/*"}"#, &write(0, 1)));
        assert!(!strikes(r#"{"fault": "eio", "path": "*.da"}"#, &write(0, 1)));
        assert!(!strikes(r#"{"fault": "eio", "on": ["read"]}"#, &write(0, 1)));
        assert!(strikes(r#"{"fault": "eio", "begins": "PLIMSOLL"}"#, &write(0, 1)));
        assert!(!strikes(r#"{"fault": "eio", "begins": "OTHER"}"#, &write(0, 1)));
    }

    #[test]
    fn stale_waits_for_something_older() {
        let mut rule = armed(r#"{"fault": "stale"}"#);
        let read = |has_past| Occasion { op: Op::Read, has_past, ..write(0, 512) };
        assert_eq!([false, true].map(|has_past| rule.strikes(&read(has_past), 1000).is_some()), [false, true]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |text| Armed::new(1, serde_json::from_str(text).unwrap(), 0).is_err();
        assert!(refused(r#"{"fault": "stale", "on": ["write"]}"#));
        assert!(refused(r#"{"fault": "eio", "every": 0}"#));
        assert!(refused(r#"{"fault": "eio", "probability": 1.5}"#));
        assert!(serde_json::from_str::<Rule>(r#"{"fault": "eio", "evry": 2}"#).is_err());
    }

    #[test]
    fn each_fault_has_something_to_strike() {
        for fault in Fault::ALL {
            assert!(!fault.strikes().is_empty());
            assert!(fault.strikes().iter().all(|&op| fault.can_strike(op)), "{fault:?}");
        }
    }
}
