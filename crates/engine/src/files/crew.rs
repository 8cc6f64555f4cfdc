//! The threads of a run: what each is made of, and what it leaves behind.

use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_workload::Content;
use plimsoll_workload::files::{FileOp, FilePlan, FileStreamPlan, Script};

use super::actor::{Actor, FirstError};
use super::calls::PathText;
use super::candidate::{Picker, Pointers};
use super::desk::Desk;
use super::hunger::Hunger;
use super::lane::Lane;
use super::open_file::PageBuffer;
use super::state::TreeState;
use super::stopwatch::Stopwatch;
use crate::clock::Clock;
use crate::control::Control;
use crate::crew::thread_cpu_ns;
use crate::pause;
use crate::recorder::{Cell, Slice};

/// The unit that written bytes are unique in.
const GRANULE_BYTES: u32 = 512;
/// A thread's stack: its buffers are elsewhere.
const STACK_BYTES: usize = 256 << 10;

/// One thread: its stream, its number in it, and the memory it reads and writes with.
pub(crate) struct Kit {
    stream: usize,
    shard: u32,
    content: Content,
    read_buffer: PageBuffer,
    write_buffer: PageBuffer,
}

/// What all threads share.
pub(crate) struct Stage<'a> {
    pub(crate) plan: &'a FilePlan,
    pub(crate) trees: &'a [TreeState],
    pub(crate) pointers: &'a [Pointers],
    pub(crate) desks: &'a [Desk],
    pub(crate) hunger: &'a Hunger,
    pub(crate) control: &'a Control,
    pub(crate) origin_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) continues: bool,
    pub(crate) lanes: usize,
    /// Set when a thread could not be made.
    pub(crate) lost: &'a AtomicBool,
}

/// What a thread leaves behind.
pub(crate) struct Report {
    pub(crate) stream: usize,
    /// When it began, from the start of the run.
    pub(crate) began_ns: u64,
    pub(crate) first_error: Option<FirstError>,
    pub(crate) skipped: [u64; FileOp::COUNT],
    pub(crate) unissued: u64,
    pub(crate) cpu_ns: (u64, u64),
}

/// The threads of all streams, with their memory.
pub(crate) fn kits(plan: &FilePlan) -> Vec<Kit> {
    let kit = |stream: usize, plan: &FileStreamPlan, shard: u32| {
        let longest = plan.max_transfer as usize;
        let reads = plan.issues(FileOp::Read) || plan.issues(FileOp::Copy);
        let content = Content::of(&plan.content, GRANULE_BYTES, plan.seed);
        let writes = plan.issues(FileOp::Write) || plan.issues(FileOp::Deliver);
        let mut write_buffer = PageBuffer::new(if writes { longest } else { 0 });
        content.prepare(write_buffer.bytes(), shard.into());
        Kit { stream, shard, content, read_buffer: PageBuffer::new(if reads { longest } else { 0 }), write_buffer }
    };
    let threads = |(stream, plan): (usize, &FileStreamPlan)| {
        (0..plan.threads).map(|shard| kit(stream, plan, shard)).collect::<Vec<_>>()
    };
    plan.streams.iter().enumerate().flat_map(threads).collect()
}

/// An empty slice for the streams of a plan.
pub(crate) fn blank(plan: &FilePlan) -> Slice {
    let cells = plan
        .streams
        .iter()
        .flat_map(|stream| FileOp::ALL.map(|op| stream.issues(op).then(|| Cell::new(stream.arrival.is_open()))));
    Slice::of(cells.collect(), plan.streams.iter().any(|stream| stream.arrival.is_open()))
}

/// Starts every thread; each ends by itself.
pub(crate) fn start<'scope, 'env>(
    scope: &'scope std::thread::Scope<'scope, 'env>,
    stage: &'scope Stage<'env>,
    kits: Vec<Kit>,
) -> Vec<std::thread::ScopedJoinHandle<'scope, Report>> {
    let mut threads = Vec::with_capacity(kits.len());
    for (number, kit) in kits.into_iter().enumerate() {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES).name("plimsoll-files".to_owned());
        match builder.spawn_scoped(scope, move || work(stage, kit, number)) {
            Ok(thread) => threads.push(thread),
            Err(_) => {
                stage.lost.store(true, Ordering::Release);
                stage.control.stop(crate::control::StoppedBy::Error);
                break;
            }
        }
    }
    threads
}

fn work(stage: &Stage<'_>, kit: Kit, number: usize) -> Report {
    pause::finest_timers();
    let stream = kit.stream;
    let mut lane = lane(stage, kit, number);
    pause::until(&lane.actor.watch.clock, stage.origin_ns);
    let began_ns = lane.actor.watch.clock.now().saturating_sub(stage.origin_ns);
    let before = thread_cpu_ns();
    lane.run();
    let after = thread_cpu_ns();
    Report {
        stream,
        began_ns,
        first_error: lane.actor.first_error.take(),
        skipped: lane.skipped,
        unissued: lane.unissued,
        cpu_ns: (after.0 - before.0, after.1 - before.1),
    }
}

fn lane<'a>(stage: &Stage<'a>, kit: Kit, number: usize) -> Lane<'a> {
    let Kit { stream, shard, content, read_buffer, write_buffer } = kit;
    let plan = &stage.plan.streams[stream];
    let desks = stage.desks.len();
    let watch =
        Stopwatch { clock: Clock::calibrated(), desk: &stage.desks[number % desks], seat: number / desks, stream };
    let actor = Actor {
        plan,
        picker: Picker { plan, trees: stage.trees, pointers: &stage.pointers[stream] },
        script: Script::new(plan, shard),
        watch,
        hunger: stage.hunger,
        control: stage.control,
        content,
        first_error: None,
        open: None,
        path: PathText::default(),
        other: PathText::default(),
        read_buffer,
        write_buffer,
        sequence: (number as u64) << 40,
    };
    Lane {
        timing: Lane::timing(&actor, shard),
        actor,
        number,
        left: plan.budget,
        origin_ns: stage.origin_ns,
        end_ns: stage.end_ns,
        continues: stage.continues,
        lanes: stage.lanes,
        skipped: [0; FileOp::COUNT],
        unissued: 0,
    }
}
