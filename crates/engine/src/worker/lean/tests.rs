//! Both loops on scripted backends: whatever the load, the seed and the way of stamping, they leave the same records.

use std::io;

use plimsoll_workload::job::MemoryWord;
use plimsoll_workload::rng::drawn;
use plimsoll_workload::{Generator, TargetShape, Workload};
use serde_json::{Value, json};

use super::super::{Shared, Window, Worker};
use crate::backend::{Backend, Done, Io};
use crate::buffers::{Arena, Need};
use crate::control::Control;
use crate::lane::{Lane, LaneSeat};
use crate::recorder::{Outlet, Recorder, Slice};
use crate::slot::Slot;
use crate::timeline::Timeline;
use crate::volume::Volume;

/// When a scripted backend stamps what it carries out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stamping {
    /// Each request by itself; what comes back may be from before the last turn, as of a pool of threads.
    Each,
    /// What is handed over or seen together, once, as a ring does.
    Batch,
    /// The clock stands still while requests are issued.
    Still,
}

/// Carries out requests after times that follow from its seed; its clock goes on when it is asked to do something.
struct Scripted {
    stamping: Stamping,
    /// As what was reported last was stamped.
    reported: Stamping,
    /// Whether it goes over from stamping each to stamping batches, and back, when everything has come back.
    changes: bool,
    seed: u64,
    steps: u64,
    now_ns: u64,
    queued: Vec<Io>,
    /// Handed over, with when; those that threads have carried out also with when that was.
    outstanding: Vec<(Io, u64)>,
    handed_over_ns: u64,
    /// One request in so many fails or is cut short.
    fails_every: u64,
}

impl Scripted {
    fn draw(&mut self, bound: u64) -> u64 {
        self.steps += 1;
        drawn(self.seed, self.steps) % bound
    }

    fn result(&mut self, io: &Io) -> i32 {
        match (self.draw(self.fails_every), io.len) {
            (0, _) => -libc::EIO,
            (1, len @ 512..) => len as i32 - 512,
            (_, len) => len as i32,
        }
    }
}

impl Backend for Scripted {
    fn now(&self) -> u64 {
        self.now_ns
    }

    fn submit(&mut self, io: Io) -> io::Result<()> {
        match self.stamping {
            Stamping::Batch => self.queued.push(io),
            Stamping::Still => self.outstanding.push((io, self.now_ns)),
            Stamping::Each => {
                self.now_ns += self.draw(40);
                self.outstanding.push((io, self.now_ns));
            }
        }
        Ok(())
    }

    fn wait(&mut self, until_ns: u64, done: &mut Vec<Done>) -> io::Result<()> {
        self.reported = self.stamping;
        self.now_ns += self.draw(300);
        self.handed_over_ns = self.now_ns;
        let handed_over_ns = self.now_ns;
        self.outstanding.extend(self.queued.drain(..).map(|io| (io, handed_over_ns)));
        if self.outstanding.is_empty() || (until_ns < u64::MAX && self.draw(20) == 0) {
            self.now_ns = self.now_ns.max(until_ns);
            return Ok(());
        }
        self.now_ns += 1 + self.draw(5_000);
        let all = self.outstanding.len() as u64;
        let goes_over = self.changes && self.draw(30) == 0;
        let count = if goes_over { all } else { 1 + self.draw(all) };
        for _ in 0..count {
            let place = self.draw(self.outstanding.len() as u64) as usize;
            let (io, submitted_ns) = self.outstanding.swap_remove(place);
            let late_ns = if self.stamping == Stamping::Each { self.draw(self.now_ns - submitted_ns + 1) } else { 0 };
            let (result, completed_ns) = (self.result(&io), self.now_ns - late_ns);
            done.push(Done { slot: io.slot, piece: io.piece, result, submitted_ns, completed_ns });
        }
        done.sort_by_key(|finished| finished.completed_ns);
        if goes_over {
            self.stamping = if self.stamping == Stamping::Each { Stamping::Batch } else { Stamping::Each };
        }
        Ok(())
    }

    fn stamps_batches(&self) -> bool {
        self.reported == Stamping::Batch
    }

    fn stands_still(&self) -> bool {
        self.reported == Stamping::Still
    }

    fn handed_over_ns(&self) -> Option<u64> {
        (self.reported == Stamping::Batch).then_some(self.handed_over_ns)
    }
}

/// Keeps every slice in words.
struct Kept(Vec<String>, Vec<plimsoll_workload::StreamPlan>);

impl Outlet for Kept {
    fn exchange(&mut self, full: Slice) -> Slice {
        self.0.push(format!("{full:?}"));
        Slice::new(&self.1, 1)
    }
}

/// What one run leaves: its slices, its first error, and whether the lean loop had a part in it.
fn run(streams: &Value, scripted: Scripted, lean: bool, continues: bool) -> (Vec<String>, String, bool) {
    let seed = scripted.seed;
    let workload = Workload::from_json(&json!({ "name": "loops", "stream": streams }), "loops").unwrap();
    let plans = workload.resolve(TargetShape { size_bytes: 1 << 30, block_bytes: 512 }, seed).unwrap();
    let (mut lanes, mut owners) = (Vec::new(), Vec::new());
    for (stream, plan) in plans.iter().enumerate() {
        for (shard, generator) in Generator::family(plan).into_iter().enumerate() {
            let (shard, ordinal) = (shard as u32, lanes.len() as u32);
            let seat = LaneSeat { stream, shard, ordinal, files: 0, stamps: false, group: None, director: None };
            let mut lane = Lane::new(plan, generator, &seat, None);
            lane.is_lean &= lean;
            owners.extend(std::iter::repeat_n(ordinal, plan.queue_depth as usize));
            lanes.push(lane);
        }
    }
    let need = Need { slots: 2 * owners.len(), len: 65_536, own: true };
    let arena = Arena::new(&[need], MemoryWord::Arena).unwrap();
    let buffers = |slot| (arena.buffer(slot), arena.buffer(owners.len() + slot));
    let slots =
        owners.iter().enumerate().map(|(slot, &lane)| Slot::new(lane, buffers(slot).0, buffers(slot).1)).collect();
    let volume = Volume::Single { size_bytes: 1 << 30 };
    let control = Control::default();
    let shared = Shared {
        volume: &volume,
        ledger: None,
        control: &control,
        carries_data: true,
        continues,
        workers: 1,
        pulse: None,
    };
    let timeline = Timeline { warmup_ns: 300_000, duration_ns: 1_200_000, interval_ns: 70_000 };
    let origin_ns = scripted.now_ns;
    let recorder = Recorder::new(Slice::new(&plans, 1), Kept(Vec::new(), plans.clone()), timeline, origin_ns);
    let window = Window { origin_ns, end_ns: origin_ns + timeline.end_ns() };
    let mut worker = Worker::new(scripted, shared, (lanes, slots), (recorder, window), &arena);
    worker.begin().unwrap();
    let mut over = false;
    while !over && !worker.is_lean() {
        over = worker.turn().unwrap();
    }
    if !over {
        worker.run_lean().unwrap();
    }
    let told = format!("{:?} {:?} {}", worker.first_error, worker.first_done_ns, worker.unissued);
    let end_ns = worker.backend.now();
    (worker.into_outlet(end_ns).0.0, told, !over)
}

#[test]
fn both_loops_leave_the_same_records() {
    let loads = [
        json!([{ "name": "reads", "queue_depth": 1 }]),
        json!([{ "name": "reads", "queue_depth": 32, "threads": 3 }]),
        json!([{ "name": "log", "read_percent": 0, "random_percent": 0, "queue_depth": 6 }]),
        json!([{ "name": "mixed", "read_percent": 60, "block_size": "8KiB", "queue_depth": 7 }]),
        json!([{ "name": "sizes", "read_percent": 50, "queue_depth": 9, "threads": 2,
                 "block_size": "4KiB=75,64KiB=25" }]),
        json!([{ "name": "log", "read_percent": 0, "random_percent": 0, "queue_depth": 4, "threads": 2 },
               { "name": "reads", "queue_depth": 16 }]),
    ];
    for streams in &loads {
        let ways =
            [(Stamping::Each, false), (Stamping::Batch, false), (Stamping::Still, false), (Stamping::Batch, true)];
        for (seed, (stamping, changes)) in (1..=16).zip(ways.into_iter().cycle()) {
            for (fails_every, continues) in [(u64::MAX, true), (40, true), (400, false)] {
                let scripted = || Scripted {
                    stamping,
                    reported: stamping,
                    changes,
                    seed,
                    steps: 0,
                    now_ns: 5_000,
                    queued: Vec::new(),
                    outstanding: Vec::new(),
                    handed_over_ns: 0,
                    fails_every,
                };
                let (general, of_general, none) = run(streams, scripted(), false, continues);
                let (lean, of_lean, some) = run(streams, scripted(), true, continues);
                let case = format!("{streams} seed {seed} {stamping:?} {changes} failing every {fails_every}");
                assert!(!none && some, "the loops that were asked for: {case}");
                assert_eq!((lean, of_lean), (general, of_general), "{case}");
            }
        }
    }
}

#[test]
fn what_needs_more_than_the_lean_loop_has_is_left_to_the_general_one() {
    let plain = json!({ "name": "reads" });
    let more = [
        json!({}),
        json!({ "flush_every": 8, "read_percent": 0 }),
        json!({ "requests": 1_000 }),
        json!({ "arrival": "poisson", "rate": 1_000 }),
        json!({ "think_time": "1ms" }),
        json!({ "start_after": "1s" }),
    ];
    for (number, more) in more.iter().enumerate() {
        let mut stream = plain.clone();
        stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let workload = Workload::from_json(&json!({ "name": "loops", "stream": [stream] }), "loops").unwrap();
        let plan = &workload.resolve(TargetShape { size_bytes: 1 << 30, block_bytes: 512 }, 1).unwrap()[0];
        let seat = LaneSeat { stream: 0, shard: 0, ordinal: 0, files: 0, stamps: false, group: None, director: None };
        assert_eq!(Lane::new(plan, Generator::new(plan, 0), &seat, None).is_lean, number == 0, "{more}");
    }
}
