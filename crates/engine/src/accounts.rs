//! What a run keeps account of: the ledger of what is written, and the journal of what is promised.

use plimsoll_workload::journal::Header;
use plimsoll_workload::stamp::SECTOR_BYTES;
use plimsoll_workload::{Op, StreamPlan, Verify};

use crate::clock;
use crate::error::EngineError;
use crate::job::Job;
use crate::journal::{Journal, lies_apart};
use crate::ledger::{GRANULES_MAX, Ledger};
use crate::target::Opened;

/// The account of what is written, when a stream verifies or stamps.
pub(crate) fn ledger(plans: &[StreamPlan]) -> Result<Option<Ledger>, EngineError> {
    use plimsoll_workload::plan::ContentKind;
    let stamps = |plan: &StreamPlan| plan.content.kind == ContentKind::Stamps && plan.issues(Op::Write);
    let stamping =
        |plan: &&StreamPlan| matches!(plan.verify, Verify::Reads | Verify::All | Verify::Journal) || stamps(plan);
    let looks = |plan: &&StreamPlan| stamping(plan) || plan.verify != Verify::Off;
    if let Some(spread) = plans.iter().filter(looks).find(|plan| plan.placed.spread.is_some()) {
        return Err(EngineError::Mismatch(format!(
            "stream \"{}\" uses parts that do not follow each other, or in turn, and stamps know one place for each byte; use \
             parts in a row without parts_unit, or no stamps and no verify",
            spread.name
        )));
    }
    let Some(first) = plans.iter().find(stamping) else {
        // What earlier runs wrote needs no account.
        return Ok(verifies(plans).then(|| Ledger::new(clock::wall_ns(), SECTOR_BYTES as u32, 0..0)));
    };
    let granule = plans.iter().filter(stamping).fold(first.granule, |granule, plan| gcd(granule, plan.granule));
    let touched = || plans.iter().filter(stamping).flat_map(StreamPlan::touched);
    let start = touched().map(|range| range.start).min().unwrap_or(0);
    let end = touched().map(|range| range.end).max().unwrap_or(0);
    let disturbs = |plan: &&StreamPlan| plan.content.kind != ContentKind::Stamps && plan.issues(Op::Write);
    let overlaps = |plan: &&StreamPlan| plan.touched().iter().any(|range| range.start < end && start < range.end);
    if let Some(other) = plans.iter().filter(disturbs).find(overlaps).filter(|_| verifies(plans)) {
        return Err(EngineError::Mismatch(format!(
            "stream \"{}\" writes without stamps where another stream verifies; give it content = \"stamps\" or a region of its own",
            other.name
        )));
    }
    let granules = (end - start) / u64::from(granule);
    if granules > GRANULES_MAX {
        return Err(EngineError::Mismatch(format!(
            "stamping or verifying {granules} blocks of {granule} bytes needs too much memory (at most {GRANULES_MAX}); set region_length to {} bytes or less",
            GRANULES_MAX * u64::from(granule)
        )));
    }
    Ok(Some(Ledger::new(clock::wall_ns(), granule, start..end)))
}

/// The journal, when a stream tells one.
pub(crate) fn journal(
    job: &Job,
    plans: &[StreamPlan],
    opened: &Opened,
    ledger: Option<&Ledger>,
) -> Result<Option<Journal>, EngineError> {
    let asked = plans.iter().any(|plan| plan.verify == Verify::Journal);
    let (name, ledger) = match (&job.options.journal, ledger.filter(|_| asked)) {
        (Some(name), Some(ledger)) => (name, ledger),
        (None, None) => return Ok(None),
        (Some(name), None) => {
            return Err(EngineError::Mismatch(format!(
                "journal {name} has no effect, because no stream has verify = \"journal\"; set that, or drop journal"
            )));
        }
        (None, Some(_)) => {
            return Err(EngineError::Mismatch(
                "verify = \"journal\" needs a place for it on another disk or host; give for example \
                 --set journal=/mnt/other/cut.journal, or journal=tcp://HOST:PORT"
                    .to_owned(),
            ));
        }
    };
    lies_apart(name, opened).map_err(EngineError::Mismatch)?;
    let header = Header {
        run: ledger.run(),
        granule_bytes: ledger.granule_bytes(),
        region: ledger.region(),
        started_ns: clock::wall_ns(),
    };
    Journal::begin(name, &header, opened.volume.parts()).map(Some).map_err(EngineError::Mismatch)
}

/// Whether a stream looks at what it reads.
pub(crate) fn verifies(plans: &[StreamPlan]) -> bool {
    plans.iter().any(|plan| plan.verify != Verify::Off)
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
