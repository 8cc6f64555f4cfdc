//! The dies and channels of a drive that is described page by page.
//!
//! Model: every die has a queue of its own ([`super::die`]). A sense takes as long as the type of the page says, and longer if it has
//! to be repeated; programs follow each other in the order of the types. What collecting does is made of whole operations, one for
//! each row that is sensed or programmed and each block that is erased; of a formula's parts whole ones are saved up, die by die. A
//! channel moves one thing at a time of what was read, in the first gap that is long enough; what is written goes in between.
//!
//! Limits: types go round by rows, on all planes alike; a row on its way to a die does not hold up what is read; what is moved by
//! collecting is on the channel as it is queued.

use std::collections::VecDeque;

use plimsoll_workload::rng::Draws;

use super::die::{Die, Operation};
use crate::flash::spec::FlashSpec;

/// What collecting asks of a die.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub(super) senses: f64,
    pub(super) programs: f64,
    pub(super) erases: f64,
    /// Out to the controller and back.
    pub(super) moved_bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct Channel {
    /// When something that was read is moved, in the order of time.
    taken: VecDeque<(u64, u64)>,
    reads_end_ns: u64,
    writes_end_ns: u64,
}

/// What a die has programmed, and parts of operations that it owes.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    rows: u64,
    owed: [f64; 3],
}

#[derive(Clone, Copy, Debug)]
struct Retry {
    draws: Draws,
    /// Draws below this one are senses that are repeated.
    below: u64,
    extra_ns: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Dies {
    dies: Vec<Die>,
    progress: Vec<Progress>,
    channels: Vec<Channel>,
    sense_ns: Vec<u64>,
    program_ns: Vec<u64>,
    erase_ns: u64,
    program_suspend_ns: Option<u64>,
    erase_suspend_ns: Option<u64>,
    retry: Option<Retry>,
    senses: u64,
    channel_rate_bytes_per_s: u64,
    busy_ns: u64,
}

impl Dies {
    pub(super) fn new(spec: &FlashSpec, seed: u64, number: u32) -> Self {
        let dies = spec.dies() as usize;
        let of_types = |mean_us: u32, percents: Vec<u32>| -> Vec<u64> {
            let percents = if percents.is_empty() { vec![100] } else { percents };
            percents.iter().map(|&percent| u64::from(mean_us) * 10 * u64::from(percent)).collect()
        };
        let ns = |us: u32| u64::from(us) * 1_000;
        let retry = (spec.read_retry_percent > 0.0).then(|| Retry {
            draws: Draws::new(seed, &[u64::from(number)]),
            below: (spec.read_retry_percent / 100.0 * u64::MAX as f64) as u64,
            extra_ns: ns(spec.read_retry_us),
        });
        // Collecting does not come to all dies at once.
        let begun = |die: usize| Progress { rows: 0, owed: [die as f64 / dies as f64; 3] };
        Self {
            dies: vec![Die::new(spec.reads_first_max.unwrap_or(u32::MAX)); dies],
            progress: (0..dies).map(begun).collect(),
            channels: vec![Channel::default(); spec.channels as usize],
            sense_ns: of_types(spec.page_read_us, spec.page_types.iter().map(|one| one.read_percent).collect()),
            program_ns: of_types(spec.page_program_us, spec.page_types.iter().map(|one| one.program_percent).collect()),
            erase_ns: ns(spec.block_erase_us),
            program_suspend_ns: spec.suspend_us.map(ns),
            erase_suspend_ns: spec.erase_suspend_us.or(spec.suspend_us).map(ns),
            retry,
            senses: 0,
            channel_rate_bytes_per_s: spec.channel_rate_bytes_per_s,
            busy_ns: 0,
        }
    }

    /// Senses a row, which is the `row_of_block`th of its block, and moves some of its bytes; when they have arrived.
    pub(super) fn read(&mut self, die: usize, row_of_block: u64, bytes: u64, now_ns: u64) -> u64 {
        let sense_ns = self.sense_ns(row_of_block);
        let turn = self.dies[die].take_turn(now_ns);
        let end_ns = self.move_read(die, bytes, now_ns, turn.begin_ns + sense_ns);
        self.dies[die].hold(turn, now_ns, end_ns);
        self.busy_ns += end_ns - turn.begin_ns;
        end_ns
    }

    /// Moves a row of the host to a die and programs it, not before `ready_ns`; when that ends.
    pub(super) fn program(&mut self, die: usize, bytes: u64, now_ns: u64, ready_ns: u64) -> u64 {
        let work_ns = self.next_program_ns(die);
        self.program_for(die, bytes, work_ns, (now_ns, ready_ns))
    }

    /// The same in a time of its own.
    pub(super) fn program_for(&mut self, die: usize, bytes: u64, work_ns: u64, (now_ns, ready_ns): (u64, u64)) -> u64 {
        let moved_ns = self.move_written(die, bytes, now_ns).max(ready_ns + self.transfer_ns(bytes));
        self.queue(die, Operation { ready_ns: moved_ns, work_ns, suspend_ns: self.program_suspend_ns }, now_ns)
    }

    /// Collects, behind what the die has to do; when that ends.
    pub(super) fn collect(&mut self, die: usize, work: Work, now_ns: u64) {
        if work.moved_bytes > 0 {
            self.move_written(die, work.moved_bytes, now_ns);
        }
        let owed = &mut self.progress[die].owed;
        for (owed, more) in owed.iter_mut().zip([work.senses, work.programs, work.erases]) {
            *owed += more;
        }
        let [senses, programs, erases] = owed.map(|owed| owed as u64);
        for (owed, done) in owed.iter_mut().zip([senses, programs, erases]) {
            *owed -= done as f64;
        }
        for sense in 0..senses {
            let work_ns = self.sense_ns[sense as usize % self.sense_ns.len()];
            self.queue(die, Operation { ready_ns: now_ns, work_ns, suspend_ns: None }, now_ns);
        }
        for _ in 0..programs {
            let work_ns = self.next_program_ns(die);
            self.queue(die, Operation { ready_ns: now_ns, work_ns, suspend_ns: self.program_suspend_ns }, now_ns);
        }
        for _ in 0..erases {
            let (work_ns, suspend_ns) = (self.erase_ns, self.erase_suspend_ns);
            self.queue(die, Operation { ready_ns: now_ns, work_ns, suspend_ns }, now_ns);
        }
    }

    /// How long a read of a die would wait.
    pub(super) fn wait_ns(&self, die: usize, now_ns: u64) -> u64 {
        self.dies[die].wait_ns(now_ns)
    }

    /// Mean over the dies.
    pub(super) fn busy_ns(&self) -> u64 {
        self.busy_ns / self.dies.len() as u64
    }

    /// Work that dies have done without being asked by a command.
    pub(super) const fn add_busy_ns(&mut self, busy_ns: u64) {
        self.busy_ns += busy_ns;
    }

    fn queue(&mut self, die: usize, operation: Operation, now_ns: u64) -> u64 {
        self.busy_ns += operation.work_ns;
        self.dies[die].queue(operation, now_ns)
    }

    /// How long a row takes to sense, this time.
    fn sense_ns(&mut self, row_of_block: u64) -> u64 {
        let sense_ns = match self.sense_ns[..] {
            [alike] => alike,
            _ => self.sense_ns[(row_of_block % self.sense_ns.len() as u64) as usize],
        };
        let Some(retry) = self.retry else { return sense_ns };
        self.senses += 1;
        sense_ns + if retry.draws.at(self.senses) < retry.below { retry.extra_ns } else { 0 }
    }

    fn next_program_ns(&mut self, die: usize) -> u64 {
        let rows = &mut self.progress[die].rows;
        *rows += 1;
        self.program_ns[((*rows - 1) % self.program_ns.len() as u64) as usize]
    }

    /// Moves what was read when it is sensed; when it has arrived.
    fn move_read(&mut self, die: usize, bytes: u64, now_ns: u64, sensed_ns: u64) -> u64 {
        let transfer_ns = self.transfer_ns(bytes);
        let channel = self.channel(die);
        channel.reads_end_ns = channel.reads_end_ns.max(now_ns) + transfer_ns;
        if channel.writes_end_ns > now_ns {
            channel.writes_end_ns += transfer_ns;
        }
        while channel.taken.front().is_some_and(|&(_, end_ns)| end_ns <= now_ns) {
            channel.taken.pop_front();
        }
        let (mut begin_ns, mut place) = (sensed_ns, 0);
        for &(taken_ns, end_ns) in &channel.taken {
            if begin_ns + transfer_ns <= taken_ns {
                break;
            }
            begin_ns = begin_ns.max(end_ns);
            place += 1;
        }
        channel.taken.insert(place, (begin_ns, begin_ns + transfer_ns));
        begin_ns + transfer_ns
    }

    /// When a channel has moved bytes that are written, behind all it has to do.
    fn move_written(&mut self, die: usize, bytes: u64, now_ns: u64) -> u64 {
        let transfer_ns = self.transfer_ns(bytes);
        let channel = self.channel(die);
        channel.writes_end_ns = now_ns.max(channel.writes_end_ns).max(channel.reads_end_ns) + transfer_ns;
        channel.writes_end_ns
    }

    fn channel(&mut self, die: usize) -> &mut Channel {
        let channel = die % self.channels.len();
        &mut self.channels[channel]
    }

    fn transfer_ns(&self, bytes: u64) -> u64 {
        bytes * 1_000_000_000 / self.channel_rate_bytes_per_s
    }
}
