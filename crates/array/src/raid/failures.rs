//! Which members fail, and when: as written down, and at a rate; and when new drives come for them.
//!
//! Model: a member's life is exponential (shape 1) or Weibull, scaled so that the chance to fail within the first year is
//! the annual failure rate: `scale = year / (−ln(1 − AFR))^(1/shape)`, `life = scale · (−ln u)^(1/shape)`. Draw `n` of a
//! member is the `n`-th of a sequence of its own, so that more members, or a longer time, change nothing that was there.
//! With a time to replacement a member fails again and again, each time with a new life that begins when its new drive comes.
//!
//! ```
//! use plimsoll_array::raid::{FailureSpec, failures};
//!
//! let spec: FailureSpec = toml::from_str("at = [{ time_s = 60.0, member = 3 }]").unwrap();
//! assert_eq!(failures(&spec, 8, 3_600_000_000_000, 1).unwrap()[0].time_ns, 60_000_000_000);
//! ```

use plimsoll_workload::option::Record;
use plimsoll_workload::options;
use plimsoll_workload::rng::{Draws, unit};
use plimsoll_workload::unit::{HOURS, PERCENT, S};

use super::spec::SpecError;
use crate::notation::{ANY, ARRAYS};

/// 365 days.
const YEAR_S: f64 = 31_536_000.0;

/// The first element of the path of draws, so that no other component shares them.
const PURPOSE: u64 = 0x7261_6964_6661_696c;

/// One member fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// When.
    pub time_ns: u64,
    /// Which member of the group.
    pub member: u16,
}

/// A new drive comes for a member that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replacement {
    /// When.
    pub time_ns: u64,
    /// Which member of the group.
    pub member: u16,
}

options! {
    /// What is written down to happen to a member.
    #[derive(Copy)]
    pub struct Scheduled: "event" in ARRAYS {
        "Event" {
            /// When.
            time_s: f64 = 0.0, required "say when it happens", range 0.0 => ANY, unit S, example "60";
            /// Which member of the group.
            member: u16 = 0, required "say to which member", example "3";
        }
    }
}

options! {
    /// Failures at a rate.
    #[derive(Copy)]
    pub struct FailureRate: "rate of failures" in ARRAYS {
        "Rate" {
            /// The chance of a member to fail within its first year.
            afr_percent: f64 = 1.0, required "say how likely a member fails in a year", range 0.0 => 100.0, unit PERCENT,
                example "3.5";
            /// Weibull's shape: 1 is exponential, less for failures of youth, more for wear.
            weibull_shape: f64 = 1.0, range 0.1 => 20.0, example "1.2";
            /// After so long a new drive is put in for a failed one of the group, whatever it failed of, and the member can fail
            /// again; without it, it does so at most once.
            replaced_after_hours: Option<f64> = None, unset "none", range 0.0 => ANY, unit HOURS, example "24";
        }
    }
}

options! {
    /// The failures of a group.
    pub struct FailureSpec: "failure plan" in ARRAYS {
        "Failures" {
            /// As written down.
            at: Vec<Scheduled> = Vec::new(), unset "none", example "[{\"time_s\": 60, \"member\": 3}]";
            /// When new drives come for members that fail as written down.
            replaced_at: Vec<Scheduled> = Vec::new(), unset "none", example "[{\"time_s\": 3600, \"member\": 3}]";
            /// At a rate.
            rate: Option<FailureRate> = None, unset "none", example "{\"afr_percent\": 3}";
        }
    }
}

impl FailureSpec {
    /// After how long a new drive comes for a failed one; nothing if none does.
    pub fn replaced_after_ns(&self) -> Option<u64> {
        self.rate.as_ref().and_then(|rate| rate.replaced_after_hours).map(|hours| to_ns(hours * 3600.0))
    }
}

/// The failures of a group's `members` before `horizon_ns`, in the order of time, then of members.
pub fn failures(spec: &FailureSpec, members: u16, horizon_ns: u64, seed: u64) -> Result<Vec<Failure>, SpecError> {
    check(spec, members)?;
    let mut found: Vec<Failure> = spec
        .at
        .iter()
        .map(|scheduled| Failure { time_ns: to_ns(scheduled.time_s), member: scheduled.member })
        .filter(|failure| failure.time_ns < horizon_ns)
        .collect();
    if let Some(rate) = &spec.rate {
        for member in 0..members {
            lives(rate, Draws::new(seed, &[PURPOSE, u64::from(member)]), horizon_ns, |time_ns| {
                found.push(Failure { time_ns, member });
            });
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// When new drives come for a group's members before `horizon_ns`, in the order of time, then of members. The specification is
/// one that [`failures`] has taken.
pub fn replacements(spec: &FailureSpec, horizon_ns: u64) -> Vec<Replacement> {
    let come = spec.replaced_at.iter().map(|one| Replacement { time_ns: to_ns(one.time_s), member: one.member });
    let mut found: Vec<Replacement> = come.filter(|one| one.time_ns < horizon_ns).collect();
    found.sort_unstable();
    found
}

/// The ends of a member's lives before the horizon.
fn lives(rate: &FailureRate, draws: Draws, horizon_ns: u64, mut ends: impl FnMut(u64)) {
    let exponent = 1.0 / rate.weibull_shape;
    let scale_s = YEAR_S / libm::pow(-libm::log1p(-rate.afr_percent / 100.0), exponent);
    let mut begin_ns = 0_u64;
    for index in 0.. {
        let life_s = scale_s * libm::pow(-libm::log(unit(draws.at(index))), exponent);
        let end_ns = begin_ns.saturating_add(to_ns(life_s));
        if end_ns >= horizon_ns {
            return;
        }
        ends(end_ns);
        let Some(hours) = rate.replaced_after_hours else { return };
        begin_ns = end_ns.saturating_add(to_ns(hours * 3600.0));
    }
}

/// Rounded down; what does not fit is the end of time.
fn to_ns(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

fn check(spec: &FailureSpec, members: u16) -> Result<(), SpecError> {
    spec.check_ranges()?;
    for scheduled in spec.at.iter().chain(&spec.replaced_at) {
        if scheduled.member >= members {
            let problem = format!("{} is no member; give 0 to {}", scheduled.member, members.saturating_sub(1));
            return Err(SpecError::new("member", problem));
        }
    }
    check_replacements(spec)?;
    match &spec.rate {
        Some(rate) if !(rate.afr_percent > 0.0 && rate.afr_percent < 100.0) => {
            let problem = format!("{} is no rate; give more than 0 and less than 100", rate.afr_percent);
            Err(SpecError::new("afr_percent", problem))
        }
        _ => Ok(()),
    }
}

/// Each new drive comes for a failure of its own, after it.
fn check_replacements(spec: &FailureSpec) -> Result<(), SpecError> {
    for &Scheduled { time_s, member } in &spec.replaced_at {
        let fails = || spec.at.iter().filter(|one| one.member == member);
        let failed = fails().filter(|one| one.time_s < time_s).count();
        let come = spec.replaced_at.iter().filter(|one| one.member == member && one.time_s <= time_s).count();
        if come <= failed {
            continue;
        }
        let problem = if fails().next().is_none() {
            format!("member {member} does not fail; let it fail before, or leave this out")
        } else if failed == 0 {
            format!("member {member} has not failed at {time_s} s; give a time after its failure")
        } else {
            format!("member {member} is replaced more often than it has failed at {time_s} s; leave one out")
        };
        return Err(SpecError::new("replaced_at", problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const YEAR_NS: u64 = 31_536_000_000_000_000;

    fn at_rate(text: &str, members: u16, years: u64) -> Vec<Failure> {
        let spec = FailureSpec { rate: Some(toml::from_str(text).unwrap()), ..FailureSpec::default() };
        failures(&spec, members, years * YEAR_NS, 7).unwrap()
    }

    #[test]
    fn the_share_that_fails_in_a_year_is_the_rate_for_every_shape() {
        for shape in ["0.7", "1", "3"] {
            let failed = at_rate(&format!("afr_percent = 4\nweibull_shape = {shape}"), 50_000, 1).len() as f64;
            // 2,000 expected; five standard deviations of a binomial are 219.
            assert!((failed - 2000.0).abs() < 219.0, "{failed} with shape {shape}");
        }
    }

    #[test]
    fn an_exponential_life_has_no_age_and_a_worn_one_has() {
        let late = |text| {
            let all = at_rate(text, 50_000, 2);
            all.iter().filter(|failure| failure.time_ns >= YEAR_NS).count() as f64 / all.len() as f64
        };
        // In two years 1 − 0.9² = 0.19 fail, 0.09 of them in the second; with shape 3 the hazard grows: 1 − 0.9^8 = 0.57.
        assert!((late("afr_percent = 10") - 0.09 / 0.19).abs() < 0.03);
        assert!((late("afr_percent = 10\nweibull_shape = 3") - 0.4695 / 0.5695).abs() < 0.02);
    }

    #[test]
    fn replaced_members_fail_again_at_the_same_rate() {
        // 1,000 members, 20 years, −ln(0.9) = 0.10536 failures a year: 2,107; five standard deviations are 230.
        let count = at_rate("afr_percent = 10\nreplaced_after_hours = 0", 1000, 20).len() as f64;
        assert!((count - 2107.0).abs() < 230.0, "{count}");
    }

    #[test]
    fn a_longer_time_and_more_members_change_nothing_that_was_there() {
        let few: Vec<Failure> = at_rate("afr_percent = 50", 10, 2);
        let many = at_rate("afr_percent = 50", 20, 5);
        let kept: Vec<Failure> =
            many.into_iter().filter(|failure| failure.member < 10 && failure.time_ns < 2 * YEAR_NS).collect();
        assert!(!few.is_empty());
        assert_eq!(few, kept);
    }

    #[test]
    fn written_failures_are_put_in_order_and_cut_at_the_horizon() {
        let spec: FailureSpec =
            toml::from_str("at = [{ time_s = 9, member = 0 }, { time_s = 2, member = 3 }, { time_s = 2, member = 1 }]")
                .unwrap();
        let found = failures(&spec, 4, 5_000_000_000, 0).unwrap();
        assert_eq!(found.iter().map(|failure| failure.member).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(failures(&spec, 3, 1, 0).unwrap_err().to_string(), "key 'member': 3 is no member; give 0 to 2");
    }

    #[test]
    fn new_drives_come_in_order_and_only_for_what_has_failed() {
        let spec = |replaced_at: &str| -> FailureSpec {
            let at = "[{ time_s = 9, member = 0 }, { time_s = 2, member = 3 }, { time_s = 20, member = 0 }]";
            toml::from_str(&format!("at = {at}\nreplaced_at = {replaced_at}")).unwrap()
        };
        let twice = spec("[{ time_s = 30, member = 0 }, { time_s = 10, member = 0 }, { time_s = 3, member = 3 }]");
        assert!(failures(&twice, 4, u64::MAX, 0).is_ok());
        let found = replacements(&twice, 30_000_000_000);
        assert_eq!(found.iter().map(|one| one.member).collect::<Vec<_>>(), [3, 0]);
        for (replaced_at, sentence) in [
            ("[{ time_s = 10, member = 1 }]", "member 1 does not fail; let it fail before, or leave this out"),
            ("[{ time_s = 9, member = 0 }]", "member 0 has not failed at 9 s; give a time after its failure"),
            (
                "[{ time_s = 10, member = 0 }, { time_s = 11, member = 0 }]",
                "member 0 is replaced more often than it has failed at 11 s; leave one out",
            ),
        ] {
            let error = failures(&spec(replaced_at), 4, u64::MAX, 0).unwrap_err();
            assert_eq!(error.to_string(), format!("key 'replaced_at': {sentence}"));
        }
        let nobody = failures(&spec("[{ time_s = 10, member = 7 }]"), 4, u64::MAX, 0).unwrap_err();
        assert_eq!(nobody.to_string(), "key 'member': 7 is no member; give 0 to 3");
        let before = Scheduled { time_s: -1.0, member: 0 };
        let before = FailureSpec { at: vec![before], ..FailureSpec::default() };
        let refused = failures(&before, 4, u64::MAX, 0).unwrap_err();
        assert_eq!(refused.to_string(), "key 'at[0].time_s': -1 is too small; write 0 or more");
    }
}
