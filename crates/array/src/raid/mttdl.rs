//! Mean time to data loss, in closed form.
//!
//! Model: members fail independently at a constant rate and are replaced and rebuilt at a constant rate; a redundancy group
//! loses data when one more member is missing than its redundancy. The mean time to that state of the birth and death chain
//! is exact: from `i` missing to `i + 1` takes `T(i) = 1/λ(i) + μ(i)/λ(i) · T(i − 1)` on average, and the mean time to data
//! loss is their sum (Gibson 1992 gives the approximations for rapid repair, `MTTF² / (N (N−1) MTTR)` for RAID 5 and
//! `MTTF³ / (N (N−1) (N−2) MTTR²)` for RAID 6). When as many are missing as may be, all that is left has to be read; a sector
//! that nobody can read is a loss, so the step into that state is one with the chance `unreadable` (K. Rao, J. Hafner,
//! R. Golding, *Reliability for networked storage nodes*, DSN 2006, give such chains; so do P. Chen et al., *RAID*, ACM
//! Computing Surveys 26(2), 1994, for one parity: `MTTF / (N p)`). Several groups divide it, which holds as far as one
//! group's time to loss is exponential: wherever repair is much quicker than failure.
//!
//! Limits: failures with a common cause and wear are left out; in reality they come first. Scrubbing finds no unreadable
//! sectors before they are needed.
//!
//! ```
//! use plimsoll_array::raid::{Reliability, Repair};
//!
//! let raid5 = Reliability {
//!     members: 8, redundancy: 1, groups: 1, mttf_hours: 1e6, mttr_hours: 24.0, unreadable: 0.0, repair: Repair::OneAtATime,
//! };
//! let rapid_repair = 1e12 / (8.0 * 7.0 * 24.0);
//! assert!((raid5.mttdl_hours() / rapid_repair - 1.0).abs() < 1e-3);
//! ```

use super::geometry::Geometry;

/// How many missing members are brought back at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// One after the other.
    #[default]
    OneAtATime,
    /// All, each to its own spare.
    AllAtOnce,
}

/// What the mean time to data loss depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reliability {
    /// Members of one redundancy group.
    pub members: u16,
    /// How many of them may be missing without loss.
    pub redundancy: u16,
    /// Redundancy groups.
    pub groups: u16,
    /// Mean time to failure of a member.
    pub mttf_hours: f64,
    /// Mean time from a failure until the replaced member is rebuilt.
    pub mttr_hours: f64,
    /// The chance that a sector cannot be read when as many members are missing as may be: 0 to 1.
    pub unreadable: f64,
    /// How many members are brought back at once.
    pub repair: Repair,
}

impl Reliability {
    /// Of a group's shape, without unreadable sectors.
    pub const fn of(geometry: &Geometry, mttf_hours: f64, mttr_hours: f64) -> Self {
        Self {
            members: geometry.members_per_group(),
            redundancy: geometry.redundancy(),
            groups: geometry.groups(),
            mttf_hours,
            mttr_hours,
            unreadable: 0.0,
            repair: Repair::OneAtATime,
        }
    }

    /// Mean time to data loss.
    pub fn mttdl_hours(&self) -> f64 {
        // With `i` missing the mean time left is `sum[i] + chance[i] · that with i + 1 missing`; from 0 up, then back.
        let (mut steps, mut before) = (Vec::new(), (0.0, 0.0));
        for missing in 0..=self.redundancy {
            let failures_per_hour = f64::from(self.members - missing) / self.mttf_hours;
            let repaired = match self.repair {
                Repair::OneAtATime => missing.min(1),
                Repair::AllAtOnce => missing,
            };
            let repairs_per_hour = f64::from(repaired) / self.mttr_hours;
            let survived = match self.redundancy - missing {
                0 => 0.0,
                1 => 1.0 - self.unreadable,
                _ => 1.0,
            };
            let leaving_per_hour = failures_per_hour + repairs_per_hour * (1.0 - before.1);
            before = (
                (1.0 + repairs_per_hour * before.0) / leaving_per_hour,
                failures_per_hour * survived / leaving_per_hour,
            );
            steps.push(before);
        }
        let left_hours =
            steps.iter().rev().fold(0.0, |later_hours, (own_hours, goes_on)| own_hours + goes_on * later_hours);
        left_hours / f64::from(self.groups)
    }

    /// The chance to lose data within some time.
    pub fn loss_probability(&self, hours: f64) -> f64 {
        -libm::expm1(-hours / self.mttdl_hours())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reliability(members: u16, redundancy: u16) -> Reliability {
        let repair = Repair::OneAtATime;
        Reliability { members, redundancy, groups: 1, mttf_hours: 1.2e6, mttr_hours: 10.0, unreadable: 0.0, repair }
    }

    fn assert_near(left: f64, right: f64, relative: f64) {
        assert!((left / right - 1.0).abs() < relative, "{left} is not {right}");
    }

    #[test]
    fn without_redundancy_the_first_failure_loses() {
        assert_near(reliability(10, 0).mttdl_hours(), 1.2e5, 1e-12);
    }

    #[test]
    fn one_redundancy_agrees_with_its_closed_form() {
        // ((2N − 1) λ + μ) / (N (N − 1) λ²), Gibson 1992.
        let (n, lambda, mu) = (9.0, 1.0 / 1.2e6, 0.1);
        let exact = ((2.0 * n - 1.0) * lambda + mu) / (n * (n - 1.0) * lambda * lambda);
        assert_near(reliability(9, 1).mttdl_hours(), exact, 1e-12);
    }

    #[test]
    fn two_redundancies_approach_the_form_for_rapid_repair() {
        let rapid = 1.2e6_f64.powi(3) / (10.0 * 9.0 * 8.0 * 100.0);
        assert_near(reliability(10, 2).mttdl_hours(), rapid, 1e-3);
        let both = Reliability { repair: Repair::AllAtOnce, ..reliability(10, 2) };
        assert_near(both.mttdl_hours(), 2.0 * rapid, 1e-3);
    }

    #[test]
    fn a_sector_that_is_surely_unreadable_loses_at_the_failure_before_the_last() {
        // One parity: the first failure; two: the second, whose mean time is that of one redundancy without such sectors.
        let of = |redundancy| Reliability { unreadable: 1.0, ..reliability(10, redundancy) };
        assert_near(of(1).mttdl_hours(), 1.2e5, 1e-12);
        assert_near(of(2).mttdl_hours(), reliability(10, 1).mttdl_hours(), 1e-12);
    }

    #[test]
    fn where_sectors_are_what_loses_one_parity_lasts_as_its_closed_form_says() {
        // Chen et al. 1994: MTTF / (N p), as far as second failures are rare beside it.
        let raid5 = Reliability { unreadable: 0.1, ..reliability(10, 1) };
        assert_near(raid5.mttdl_hours(), 1.2e6 / (10.0 * 0.1), 1e-3);
    }

    #[test]
    fn groups_share_the_time_and_the_chance_follows() {
        let pairs = Reliability { groups: 4, ..reliability(2, 1) };
        assert_near(pairs.mttdl_hours(), 1.2e6 * 1.2e6 / (2.0 * 10.0) / 4.0, 1e-3);
        assert_near(pairs.loss_probability(pairs.mttdl_hours()), 1.0 - (-1.0_f64).exp(), 1e-12);
    }
}
