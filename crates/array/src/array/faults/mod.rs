//! Failures of devices, spares that take their place, and the rebuild of what they held.
//!
//! Model: a failed member serves nothing more; commands that it has begun still end. The first spare that fits takes its
//! place, and is rebuilt (`rebuild.rs`). Requests that need what nobody knows any more fail.
//!
//! Limits: a device that fails while it is a spare is not modelled. Failures at a rate are drawn for twenty years.

mod copy_back;
mod incidents;
mod rebuild;
mod replacement;

use super::topology::Topology;
use crate::calendar::Event;
use crate::raid::{Failure, FailureSpec, MemberState, Rebuild, Replacement, SpareSpec, Spares, failures, replacements};
use crate::spec::{ArraySpec, SpecError};
use copy_back::Bay;
pub use incidents::{Incident, Rebuilt, What};
use plimsoll_workload::rng::Draws;
use rebuild::Rebuilding;
use replacement::Coming;

/// Failures that are drawn: those of the first twenty years.
const HORIZON_NS: u64 = 20 * 365 * 86_400 * 1_000_000_000;

/// What fails, who waits to take its place, and what is being rebuilt.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// In order of time, with the group.
    due: Vec<(Failure, u16)>,
    next: usize,
    spares: Spares,
    /// Spares that have taken over.
    serving: Vec<SpareSpec>,
    /// By group, after how long a new drive comes for a failed one.
    replaced_after_ns: Vec<Option<u64>>,
    /// New drives that are written down, with the group; events before the first request.
    written: Vec<(Replacement, u16)>,
    coming: Vec<Coming>,
    /// Drives that have failed and for which no new one has come, in the order of their failures.
    failed: Vec<Bay>,
    /// New drives that get back, or are to get back, what a spare holds.
    fitted: Vec<Bay>,
    rebuilds: Vec<Rebuilding>,
    incidents: Vec<Incident>,
}

impl Faults {
    /// Failures of all groups in order of time, new drives that are written down, and the spares.
    pub(super) fn new(spec: &ArraySpec, seed: u64) -> Result<Self, SpecError> {
        let (mut due, mut written, mut spares, mut replaced_after_ns) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (number, group) in spec.group.iter().enumerate() {
            let refused = |problem: String| spec.refusal(format!("group.{}.{problem}", group.name));
            replaced_after_ns.push(group.failures.as_ref().and_then(FailureSpec::replaced_after_ns));
            if let Some(failing) = &group.failures {
                let own = Draws::new(seed, &[u64::MAX, number as u64]).at(0);
                let found = failures(failing, group.raid.devices, HORIZON_NS, own);
                let found = found.map_err(|error| refused(format!("failures: {error}")))?;
                due.extend(found.into_iter().map(|failure| (failure, number as u16)));
                written.extend(replacements(failing, HORIZON_NS).into_iter().map(|coming| (coming, number as u16)));
            }
            let dedicated = group.spares.numbers(&spec.devices).map_err(|error| refused(format!("spares: {error}")))?;
            spares.extend(dedicated.into_iter().map(|device| SpareSpec { device, group: Some(number as u16) }));
        }
        let global = spec.spares.numbers(&spec.devices).map_err(|error| spec.refusal(format!("spares: {error}")))?;
        spares.extend(global.into_iter().map(|device| SpareSpec { device, group: None }));
        due.sort_unstable();
        Ok(Self { due, written, spares: Spares::new(&spares), replaced_after_ns, ..Self::default() })
    }

    /// Whether anything fails, or comes for what has failed.
    pub(super) fn are_coming(&self) -> bool {
        !self.due.is_empty() || !self.written.is_empty()
    }

    /// Sets the events of what is known to come.
    pub(super) fn expect(&mut self, topology: &mut Topology) {
        self.expect_failure(topology);
        self.expect_drives(topology);
    }

    /// Sets the event of the next failure.
    fn expect_failure(&self, topology: &mut Topology) {
        if let Some((failure, _)) = self.due.get(self.next) {
            topology.calendar.add(failure.time_ns.max(topology.now_ns), Event::Failure, 0);
        }
    }

    /// The next failure happens.
    pub(super) fn fail(&mut self, topology: &mut Topology) {
        let Some(&(Failure { member, .. }, number)) = self.due.get(self.next) else { return };
        self.next += 1;
        self.expect_failure(topology);
        let group = &mut topology.groups[usize::from(number)];
        if group.members.state(member) == MemberState::Failed {
            return;
        }
        if group.members.is_spared(member) {
            self.end_return(topology, number, member);
            return;
        }
        group.members.fail(member);
        let bay = Bay { group: number, member, drive: group.drives[usize::from(member)] };
        self.end_rebuilds(number, member);
        self.note(topology, number, member, What::Failed);
        self.order_drive(topology, bay);
        match self.end_copy(topology, number, member) {
            Some(drive) => self.take_place(topology, Bay { drive, ..bay }, What::Renewed),
            None => self.replace(topology, number, member),
        }
    }

    /// The new drive of a member that a distributed spare stands for fails before it has everything; without one, nothing does.
    fn end_return(&mut self, topology: &mut Topology, number: u16, member: u16) {
        if self.end_copy(topology, number, member).is_none() {
            return;
        }
        self.end_copying(number, member);
        self.note(topology, number, member, What::Failed);
        let drive = topology.groups[usize::from(number)].drives[usize::from(member)];
        self.order_drive(topology, Bay { group: number, member, drive });
    }

    /// Puts a distributed spare, or another one, in the place of a failed member, if there is any.
    fn replace(&mut self, topology: &mut Topology, number: u16, member: u16) {
        let group = &mut topology.groups[usize::from(number)];
        if group.members.replace_by_distributed(member, &group.geometry) {
            let rebuild = Rebuild::new(member, group.chunk_sectors, &group.geometry);
            self.note(topology, number, member, What::Spared);
            self.begin_rebuild(topology, number, rebuild);
            return;
        }
        let drives = &topology.drives;
        let sectors = topology.groups[usize::from(number)].geometry.member_sectors();
        let sectors_of = |drive: u16| drives[usize::from(drive)].device.sectors();
        let Some(spare) = self.spares.take(number, sectors, sectors_of) else { return };
        self.stops_serving(spare.device);
        self.serving.push(spare);
        self.take_place(topology, Bay { group: number, member, drive: spare.device }, What::Replaced);
    }

    /// Puts a drive in the place of a failed member and begins to rebuild.
    fn take_place(&mut self, topology: &mut Topology, bay: Bay, what: What) {
        let Bay { group: number, member, drive } = bay;
        let group = &mut topology.groups[usize::from(number)];
        group.drives[usize::from(member)] = drive;
        group.members.replace(member);
        let rebuild = Rebuild::new(member, group.chunk_sectors, &group.geometry);
        self.note(topology, number, member, what);
        self.begin_rebuild(topology, number, rebuild);
    }

    /// A spare that has taken a member's place.
    fn serving(&self, drive: u16) -> Option<SpareSpec> {
        self.serving.iter().find(|spare| spare.device == drive).copied()
    }

    /// A spare no longer replaces a member.
    fn stops_serving(&mut self, drive: u16) -> Option<SpareSpec> {
        let spare = self.serving(drive);
        self.serving.retain(|spare| spare.device != drive);
        spare
    }
}
