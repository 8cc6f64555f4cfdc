//! From options as typed to groups of users in plain numbers.

use crate::error::WorkloadError;
use crate::files::SizeDraw;
use crate::mail::check;
use crate::mail::plan::{MailPlan, MailStreamPlan};
use crate::mail::stream::MailStreamOptions;
use crate::mail::workload::MailWorkload;
use crate::resolve::stream_seed;
use crate::rng::Chance;

impl MailWorkload {
    /// Turns groups of users into plans. Equal options and `seed` (the job's) give equal plans.
    ///
    /// # Errors
    /// If options cannot hold together; the sentence begins with the workload's name.
    pub fn resolve(&self, seed: u64) -> Result<MailPlan, WorkloadError> {
        self.resolve_all(seed).map_err(|error| error.within(format!("workload \"{}\"", self.name)))
    }

    /// [`MailWorkload::resolve`] without the workload's name.
    pub(crate) fn resolve_all(&self, seed: u64) -> Result<MailPlan, WorkloadError> {
        check::workload(self)?;
        let everybody = self.streams.iter().map(|stream| stream.users).sum();
        let (mut streams, mut first_user) = (Vec::with_capacity(self.streams.len()), 0);
        for (index, stream) in self.streams.iter().enumerate() {
            let seed = stream_seed(seed, stream.seed, index as u64);
            streams.push(MailStreamPlan { first_user, everybody, ..stream_plan(stream, seed) });
            first_user += stream.users;
        }
        Ok(MailPlan { streams, sync: self.mail_fsync })
    }
}

fn stream_plan(stream: &MailStreamOptions, seed: u64) -> MailStreamPlan {
    let day_ns = stream.day.0 as f64 / stream.speed;
    MailStreamPlan {
        name: stream.name.clone(),
        first_user: 0,
        users: stream.users,
        everybody: stream.users,
        threads: stream.threads.min(stream.users),
        per_ns: stream.tasks.0.map(|per_day| per_day / day_ns),
        score_weights: stream.score_weights.clone(),
        folders: stream.folders,
        folder_messages: stream.folder_messages,
        inbox_messages: stream.inbox_messages,
        appointments: stream.appointments,
        sizes: SizeDraw::new(&stream.sizes.0),
        more_recipients: stream.recipients - 1.0,
        listed: Chance::percent(stream.list_percent.0),
        list_members: stream.list_members,
        seed,
    }
}
