//! The resolved load: every option of users turned into plain numbers.

use crate::files::SizeDraw;
use crate::mail::table::TaskTable;
use crate::mail::task::MailTask;
use crate::mail::workload::MailSync;
use crate::rng::Chance;

/// A whole load.
#[derive(Clone, Debug, PartialEq)]
pub struct MailPlan {
    /// The groups of users.
    pub streams: Vec<MailStreamPlan>,
    /// When a private server makes a message durable.
    pub sync: MailSync,
}

impl MailPlan {
    /// Users of all groups.
    pub fn users(&self) -> u32 {
        self.streams.iter().map(|stream| stream.users).sum()
    }
}

/// One group of users, who are numbered through all groups.
#[derive(Clone, Debug, PartialEq)]
pub struct MailStreamPlan {
    /// Its name, unique in its workload.
    pub name: String,
    /// The number of its first user.
    pub first_user: u32,
    /// How many users it has.
    pub users: u32,
    /// Users of all groups: whom messages go to.
    pub everybody: u32,
    /// Threads that act for them.
    pub threads: u32,
    /// Tasks of one user per nanosecond of the clock, not of the day.
    pub per_ns: [f64; MailTask::COUNT],
    /// What each task weighs in the score.
    pub score_weights: TaskTable,
    /// Folders besides those that everybody has.
    pub folders: u32,
    /// Messages in each of them in the beginning.
    pub folder_messages: u32,
    /// Messages in the inbox in the beginning.
    pub inbox_messages: u32,
    /// Appointments in the calendar in the beginning.
    pub appointments: u32,
    pub(crate) sizes: SizeDraw,
    /// Recipients beyond the first, as a mean.
    pub(crate) more_recipients: f64,
    pub(crate) listed: Chance,
    pub(crate) list_members: u32,
    /// Seed of this group, mixed from the job's and its own.
    pub seed: u64,
}

impl MailStreamPlan {
    /// Whether `task` can occur.
    pub fn does(&self, task: MailTask) -> bool {
        self.per_ns[task as usize] > 0.0
    }

    /// Tasks per second of all users of thread `shard` together.
    pub fn tasks_per_s_of(&self, shard: u32) -> f64 {
        self.per_ns.iter().sum::<f64>() * f64::from(self.users_of(shard)) * 1e9
    }

    /// Users that thread `shard` acts for: from the first of the group on, every `threads`-th.
    pub const fn users_of(&self, shard: u32) -> u32 {
        (self.users + self.threads - 1 - shard) / self.threads
    }
}
