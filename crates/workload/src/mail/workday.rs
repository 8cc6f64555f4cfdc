//! When which user does what: the working day of the users that one thread acts for.
//!
//! Model: each user does each task at the instants of a Poisson process of its own. All of them together are one Poisson process of the
//! summed rate, at each of whose instants the user is drawn uniformly and the task by its share (superposition and thinning, Çinlar 1975,
//! ch. 4): so a day of millions of users needs the memory of one.

use crate::alias::Alias;
use crate::arrival::{Arrivals, Offer};
use crate::mail::plan::MailStreamPlan;
use crate::mail::task::MailTask;
use crate::plan::{ArrivalPlan, OpenPlan};
use crate::rng::{Draws, Purpose, below, drawn};

/// A task that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When, in nanoseconds from the job's start; `u64::MAX` = never.
    pub due_ns: u64,
    /// Whose, numbered through all groups.
    pub user: u32,
    /// What.
    pub task: MailTask,
    /// A number to draw the task's details from.
    pub draw: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Workday {
    arrivals: Arrivals,
    tasks: Box<[MailTask]>,
    choice: Alias,
    draws: Draws,
    first_user: u32,
    step: u32,
    users: u32,
    index: u64,
}

impl Workday {
    /// The day of the users that thread `shard` of a group acts for.
    pub fn new(plan: &MailStreamPlan, shard: u32) -> Self {
        let tasks: Box<[MailTask]> = MailTask::ALL.into_iter().filter(|task| plan.does(*task)).collect();
        let shares: Vec<f64> = tasks.iter().map(|task| plan.per_ns[*task as usize]).collect();
        let users = plan.users_of(shard);
        let rate_per_s = shares.iter().sum::<f64>() * 1e9 * f64::from(users);
        let arrival = ArrivalPlan::Open(OpenPlan::Poisson { rate_per_s });
        // Each thread has users of its own, and so a process of its own.
        let seed = drawn(plan.seed, u64::from(shard));
        Self {
            arrivals: Arrivals::new(Offer { arrival: &arrival, threads: 1, start_ns: 0, seed }, 0),
            choice: Alias::new(&shares),
            tasks,
            draws: Draws::new(plan.seed, &[Purpose::MailTask as u64, u64::from(shard)]),
            first_user: plan.first_user + shard,
            step: plan.threads,
            users,
            index: 0,
        }
    }

    /// The next task that is due; never before the last.
    #[allow(clippy::should_implement_trait)] // a day never ends
    pub fn next(&mut self) -> Due {
        let due_ns = self.arrivals.next_ns();
        let draw = |place: u64| self.draws.at(self.index * 3 + place);
        let user = self.first_user + below(draw(0), u64::from(self.users)) as u32 * self.step;
        let due = Due { due_ns, user, task: self.tasks[self.choice.pick(draw(1))], draw: draw(2) };
        self.index += 1;
        due
    }
}
