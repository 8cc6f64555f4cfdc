//! RAID operations: planned over a group's members, locked where rows conflict, carried out in one or two phases.
//!
//! Model: an operation reads, writes, or reads first and then writes; each of that is commands to devices (`commands.rs`). What
//! its end means for others, for whoever waits for it or for its rows, is not decided here but behind it (`storage.rs`).

mod command;
mod commands;
mod destage;
mod fetches;
pub(super) mod flash_caches;
mod flushes;
mod further;
mod gathering;
mod operation;
mod precedence;
mod trims;

use super::topology::{Drive, Group, Topology};
use crate::calendar::Event;
use crate::controller::Controller;
use crate::flash_cache::Run;
use crate::raid::{Extent, Lost, Piece, WritePlan};
use crate::slab::{NONE, Slab};
use command::{OF_JOB, Origin, Rank};
use commands::Commands;
pub(super) use fetches::read_early;
use further::Stretches;
use gathering::Gathering;
use operation::Operation;
pub(super) use operation::{Ended, Kind, Outcome};

/// All operations that are under way, with their commands.
#[derive(Debug)]
pub(super) struct Operations {
    operations: Slab<Operation>,
    commands: Commands,
    further: Stretches,
    /// By group.
    gathering: Vec<Gathering>,
    scratch: Scratch,
}

/// Memory that is used again.
#[derive(Debug, Default)]
struct Scratch {
    pieces: Vec<Piece>,
    plan: WritePlan,
    stretches: Vec<Extent>,
    together: Vec<Extent>,
    runs: Vec<Run>,
    places: Vec<u32>,
}

impl Operations {
    /// None; with room for what the controllers can destage at once.
    pub(super) fn new(groups: &[Group], controllers: &[Controller], drives: &[Drive]) -> Self {
        Self {
            operations: Slab::new(Operation::BLANK),
            commands: Commands::new(drives.len()),
            further: Stretches::new(groups, controllers),
            gathering: groups.iter().map(|_| Gathering::default()).collect(),
            scratch: Scratch::default(),
        }
    }

    /// Operations and commands that are under way.
    pub(super) const fn under_way(&self) -> usize {
        self.operations.len() + self.commands.issued.len()
    }

    /// Places for all that were ever needed at once.
    pub(super) const fn places(&self) -> usize {
        self.operations.most() + self.commands.issued.most() + self.further.most()
    }

    /// An operation that is not started yet.
    #[inline]
    pub(super) fn begin(&mut self, topology: &mut Topology, kind: Kind, group: u16, extent: Extent) -> u32 {
        topology.groups[usize::from(group)].operations += u32::from(kind != Kind::Rebuild);
        self.operations.insert(Operation {
            kind,
            group,
            extent,
            further: NONE,
            left: 0,
            counted: 0,
            failed: false,
            ready_ns: topology.now_ns,
            xor_ns: 0,
            second: NONE,
            waiters: NONE,
            rebuild: NONE,
            page: NONE,
        })
    }

    /// A chunk of a rebuild, not started yet.
    pub(super) fn begin_chunk(&mut self, topology: &mut Topology, group: u16, extent: Extent, rebuild: u32) -> u32 {
        let number = self.begin(topology, Kind::Rebuild, group, extent);
        self.operations[number].rebuild = rebuild;
        number
    }

    /// An operation that is under way.
    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> &Operation {
        &self.operations[number]
    }

    /// The head of the line of those who wait for an operation.
    #[inline(always)]
    pub(super) fn first_waiter(&mut self, number: u32) -> &mut u32 {
        &mut self.operations[number].waiters
    }

    /// Starts an operation; a write that shares rows with others waits for them first.
    pub(super) fn start(&mut self, topology: &mut Topology, number: u32) {
        let Operation { kind, group, .. } = self.operations[number];
        if kind == Kind::Fetch {
            self.start_fetch(topology, number);
            return;
        }
        if topology.groups[usize::from(group)].flash_cache.is_some() && flash_caches::keep(self, topology, number) {
            return;
        }
        let planned = self.plan_write(topology, number);
        let found = &mut topology.groups[usize::from(group)];
        if planned.is_err() {
            self.fail(topology, number);
        } else if found.locks.acquire(number, &self.scratch.plan.rows) {
            self.start_write(topology, number);
        } else if kind == Kind::Write {
            self.gathering[usize::from(group)].waits(number);
        }
    }

    /// Plans what an operation writes, into the scratch.
    #[inline]
    fn plan_write(&mut self, topology: &Topology, number: u32) -> Result<(), Lost> {
        let Operation { group, extent, further, .. } = self.operations[number];
        if further != NONE {
            return self.plan_together(topology, number);
        }
        let group = &topology.groups[usize::from(group)];
        group.geometry.write(extent, &group.members, &mut self.scratch.plan)
    }

    /// A write has all its rows; it fails if what it needs was lost while it waited.
    pub(super) fn start_locked(&mut self, topology: &mut Topology, number: u32) -> Result<(), Lost> {
        self.gathering[usize::from(self.operations[number].group)].waits_no_more(number);
        let planned = self.plan_write(topology, number);
        match planned {
            Ok(()) => self.start_write(topology, number),
            Err(_) => self.operations[number].failed = true,
        }
        planned
    }

    /// What the commands of an operation have in common.
    #[inline(always)]
    fn origin(&self, topology: &Topology, owner: u32) -> Origin {
        let Operation { kind, group, .. } = self.operations[owner];
        let controller = topology.groups[usize::from(group)].controller;
        let holds_back = topology.controllers[usize::from(controller)].writes_back;
        Origin { owner, group, rank: if holds_back { kind.rank() } else { Rank::Other } }
    }

    /// Issues what the plan in the scratch says: its reads now and its writes afterwards, or its writes at once.
    fn start_write(&mut self, topology: &mut Topology, number: u32) {
        let plan = std::mem::take(&mut self.scratch.plan);
        if self.operations[number].kind == Kind::Destage {
            self.count_destage(topology, number, plan.reads.len().max(plan.writes.len()) as u32);
        }
        if topology.groups[usize::from(self.operations[number].group)].flash_cache.is_some() {
            flash_caches::write(self, topology, number, &plan);
        } else {
            self.start_pieces(topology, number, (&plan.reads, &plan.writes), plan.xor_bytes);
        }
        self.scratch.plan = plan;
    }

    /// Issues reads now and keeps writes for afterwards; issues writes at once if there is nothing to read.
    pub(super) fn start_pieces(
        &mut self,
        topology: &mut Topology,
        number: u32,
        (reads, writes): (&[Piece], &[Piece]),
        xor_bytes: u64,
    ) {
        let origin = self.origin(topology, number);
        let found = &topology.groups[usize::from(origin.group)];
        let xor_ns = topology.controllers[usize::from(found.controller)].xor_ns(xor_bytes);
        let second = self.commands.prepare_line(topology, origin, writes);
        let operation = &mut self.operations[number];
        (operation.second, operation.xor_ns, operation.left) = (second, xor_ns, reads.len() as u32);
        operation.ready_ns = topology.now_ns;
        reads.iter().for_each(|piece| self.commands.issue_piece(topology, origin, piece));
        if reads.is_empty() && self.end_phase(topology, number) {
            // There is nothing to do at all; nothing ends inside of what began it.
            topology.calendar.add(topology.now_ns, Event::SecondPhase, number);
        }
    }

    /// What a command writes has passed the links.
    #[inline(never)]
    pub(super) fn arrive(&mut self, topology: &mut Topology, command: u32) {
        self.commands.offer(topology, command);
    }

    /// A device has finished a command; what was read goes over the links.
    #[inline(always)]
    pub(super) fn finish_command(&mut self, topology: &mut Topology, number: u32) -> Ended {
        let command = self.commands.issued.remove(number);
        let owner = command.owner;
        if owner & OF_JOB == 0 {
            self.expect_named(topology, owner, command.drive);
            self.expect_end(topology, owner);
        }
        let ready_ns = self.commands.end(topology, number, &command);
        if owner & OF_JOB != 0 {
            return Ended::Read { job: owner & !OF_JOB, ready_ns };
        }
        self.note_end(owner, ready_ns)
    }

    /// A command of an operation has ended.
    #[inline(always)]
    fn note_end(&mut self, number: u32, ready_ns: u64) -> Ended {
        let operation = &mut self.operations[number];
        operation.ready_ns = operation.ready_ns.max(ready_ns);
        operation.left -= 1;
        if operation.left == 0 { Ended::Phase(number) } else { Ended::Nothing }
    }

    /// The next command that ends will be looked at soon.
    #[inline(always)]
    pub(super) fn expect_next_end(&self, topology: &Topology) {
        self.commands.expect_next_end(topology);
    }

    /// What a command that has ended names will be looked at, all at once rather than one after the other.
    #[inline]
    fn expect_named(&self, topology: &Topology, operation: u32, drive: u16) {
        if !commands::is_near(topology) {
            self.operations.expect(operation);
            topology.drives[usize::from(drive)].device.expect();
        }
    }

    /// If this command is its operation's last, the cache will soon look at what the operation brings or writes.
    #[inline]
    fn expect_end(&self, topology: &Topology, operation: u32) {
        let Operation { group, extent, left: 1, second: NONE, page, .. } = self.operations[operation] else { return };
        let group = &topology.groups[usize::from(group)];
        match &topology.controllers[usize::from(group.controller)].cache {
            Some(cache) if page != NONE => cache.expect_fetched(page),
            Some(cache) => cache.expect(group.space, extent.lba, false),
            None => {}
        }
    }

    /// The last command of a phase has ended: begins the next one; `true` if there is none.
    #[inline(always)]
    pub(super) fn end_phase(&mut self, topology: &mut Topology, number: u32) -> bool {
        let Operation { ready_ns, xor_ns, second, .. } = self.operations[number];
        if second == NONE {
            return true;
        }
        let begin_ns = ready_ns + xor_ns;
        if begin_ns > topology.now_ns {
            topology.calendar.add(begin_ns, Event::SecondPhase, number);
            return false;
        }
        self.second_phase(topology, number)
    }

    /// Issues the writes of an operation's second phase; `true` if there are none.
    pub(super) fn second_phase(&mut self, topology: &mut Topology, number: u32) -> bool {
        let operation = &mut self.operations[number];
        operation.xor_ns = 0;
        let second = std::mem::replace(&mut operation.second, NONE);
        let count = self.commands.issue_line(topology, second);
        self.operations[number].left = count;
        count == 0
    }

    /// Data are lost that an operation needs, which it learns before it holds rows.
    #[cold]
    fn fail(&mut self, topology: &mut Topology, number: u32) {
        self.operations[number].failed = true;
        topology.calendar.add(topology.now_ns, Event::SecondPhase, number);
    }

    /// An operation is over, which its group and its cache learn.
    #[inline(always)]
    pub(super) fn conclude(&mut self, topology: &mut Topology, number: u32) -> Outcome {
        let Operation { kind, group, extent, mut further, counted, failed, ready_ns, xor_ns, waiters, page, .. } =
            self.operations.remove(number);
        let ready_ns = (ready_ns + xor_ns).max(topology.now_ns);
        let group = &mut topology.groups[usize::from(group)];
        if kind != Kind::Rebuild {
            group.rest(topology.now_ns);
        }
        let (controller, space) = (group.controller, group.space);
        if let Some(cache) = &mut topology.controllers[usize::from(controller)].cache {
            match kind {
                Kind::Fetch => cache.fetched(space, extent, number, page),
                Kind::Destage => {
                    cache.destaged(space, extent);
                    while further != NONE {
                        let (extent, next) = self.further.remove(further);
                        cache.destaged(space, extent);
                        further = next;
                    }
                }
                Kind::Write | Kind::Fill | Kind::Drain | Kind::Rebuild | Kind::Trim | Kind::Flush => {}
            }
        }
        Outcome { kind, controller, space, counted, waiters, ready_ns, failed }
    }
}
