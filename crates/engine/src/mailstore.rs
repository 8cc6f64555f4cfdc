//! The mail store of a run: which databases there are, whether what they write means something, and who remembers what they acknowledged.
//!
//! Model: on a target that keeps data, each run is a life of the store, numbered by the wall clock, so that a later one has the greater
//! number. In virtual time, and on targets of nothing, requests carry nothing.

use plimsoll_mailstore::{MailstorePlan, Recovery, Role, Store, Test, Times};
use plimsoll_workload::WorkloadError;
use plimsoll_workload::job::BackendWord;

use crate::clock;
use crate::commits::Commits;
use crate::error::EngineError;
use crate::job::Job;
use crate::target::Opened;
use crate::timeline::Timeline;
use crate::worker::Directed;

/// See the module.
#[derive(Debug)]
pub(crate) struct Mailstore {
    pub(crate) plan: MailstorePlan,
    /// The number of this life, where data are kept.
    life: Option<u64>,
    /// Who remembers.
    commits: Option<Commits>,
    /// What a recovery has to find, by database.
    acknowledged: Option<Vec<u64>>,
    modelled: bool,
}

impl Mailstore {
    /// The mail store of a job, if it is one; `part_ends` are where parts of the target end.
    ///
    /// # Errors
    /// If it does not fit on the target, or has nobody to tell what it acknowledges.
    pub(crate) fn of(
        job: &Job,
        opened: &Opened,
        backend: BackendWord,
        part_ends: &[u64],
    ) -> Result<Option<Self>, EngineError> {
        let Some(workload) = &job.mailstore else { return Ok(None) };
        let plan = workload.resolve(opened.shape(), job.options.seed, part_ends)?;
        let keeps = matches!(backend, BackendWord::Sync | BackendWord::Mmap | BackendWord::Uring | BackendWord::Auto);
        let recovers = workload.test == Test::Recovery;
        if !keeps && (recovers || workload.acknowledged.is_some()) {
            let what = if recovers { "test recovery" } else { "acknowledged" };
            return Err(impossible(
                &workload.name,
                format!("{what} needs a target that keeps data; give a device or a file"),
            ));
        }
        let life = keeps.then(clock::wall_ns);
        let (mut commits, mut acknowledged) = (None, None);
        if let Some(path) = &workload.acknowledged {
            let named = |sentence| impossible(&workload.name, sentence);
            if recovers {
                acknowledged = Some(Commits::read(path, plan.databases.len()).map_err(named)?);
            } else if workload.test == Test::Operations {
                commits = Some(Commits::begin(path, life.unwrap_or_default(), plan.databases.len()).map_err(named)?);
            }
        }
        let modelled = matches!(backend, BackendWord::Queue | BackendWord::Array);
        Ok(Some(Self { plan, life, commits, acknowledged, modelled }))
    }

    /// Whether a lane looks at what it reads.
    pub(crate) const fn looks(&self) -> bool {
        self.life.is_some()
    }

    /// The databases that fall to worker `number` of so many, each with its lanes; making them warm takes time.
    pub(crate) fn directed(&self, (number, workers): (usize, usize), timeline: &Timeline) -> Vec<Directed> {
        let lanes = Role::ALL.len() as u32;
        let times = Times { measured_ns: timeline.warmup_ns..timeline.end_ns(), modelled: self.modelled };
        let own = self.plan.databases.iter().skip(number).step_by(workers);
        own.enumerate()
            .map(|(place, database)| {
                let first = place as u32 * lanes;
                if database.test() == Test::Recovery {
                    let wanted = self.acknowledged.as_ref().map(|all| all[database.number() as usize]);
                    return Directed::new(Box::new(Recovery::new(database, wanted)), first, lanes);
                }
                let store = Store::new(database, times.clone());
                let told = self.commits.as_ref().map(|commits| commits.of(database.number()));
                let store = match self.life {
                    Some(life) => store.living(life, told),
                    None => store,
                };
                Directed::new(Box::new(store), first, lanes)
            })
            .collect()
    }
}

fn impossible(name: &str, sentence: String) -> EngineError {
    WorkloadError::impossible(sentence).within(format!("workload \"{name}\"")).into()
}
