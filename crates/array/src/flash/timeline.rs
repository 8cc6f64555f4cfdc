//! When dies and channels are free.
//!
//! Model: a die has two ends: that of its reads and that of all its work. Programs and collections queue up behind each
//! other; a read goes before them, waits only for the operation under way (or suspends it), and pushes the rest back. A
//! channel is the same without operations: a transfer ends when its data are ready and moved, and not before the
//! channel has moved all that goes before it; what is read goes before what is written.
//!
//! Limits: what is under way on a busy die is taken to be one program; an erase is as short. A transfer of a row does
//! not hold up a read that comes in the middle of it.

use crate::flash::spec::FlashSpec;

/// When a die or a channel is done with its reads, and with everything.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    reads_end_ns: u64,
    work_end_ns: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    dies: Vec<Ends>,
    channels: Vec<Ends>,
    read_ns: u64,
    program_ns: u64,
    suspend_ns: Option<u64>,
    channel_rate_bytes_per_s: u64,
    busy_ns: u64,
}

impl Timeline {
    pub(crate) fn new(spec: &FlashSpec) -> Self {
        Self {
            dies: vec![Ends::default(); spec.dies() as usize],
            channels: vec![Ends::default(); spec.channels as usize],
            read_ns: u64::from(spec.page_read_us) * 1_000,
            program_ns: u64::from(spec.page_program_us) * 1_000,
            suspend_ns: spec.suspend_us.map(|us| u64::from(us) * 1_000),
            channel_rate_bytes_per_s: spec.channel_rate_bytes_per_s,
            busy_ns: 0,
        }
    }

    /// Senses a row and moves some of its bytes; returns when they have arrived.
    pub(crate) fn read(&mut self, die: usize, bytes: u64, now_ns: u64) -> u64 {
        let transfer_ns = self.transfer_ns(bytes);
        let channel = self.channel(die);
        let moved_ns = now_ns.max(channel.reads_end_ns) + transfer_ns;
        channel.reads_end_ns = moved_ns;
        if channel.work_end_ns > now_ns {
            channel.work_end_ns += transfer_ns;
        }
        let free = &mut self.dies[die];
        let mut begin_ns = now_ns.max(free.reads_end_ns);
        let mut pushed_ns = self.read_ns;
        if free.work_end_ns > begin_ns {
            // The work is a number of programs; the one under way has this long to go.
            let under_way_ns = (free.work_end_ns - begin_ns - 1) % self.program_ns + 1;
            match self.suspend_ns {
                Some(suspend_ns) if suspend_ns < under_way_ns => {
                    begin_ns += suspend_ns;
                    pushed_ns += suspend_ns;
                }
                _ => begin_ns += under_way_ns,
            }
            free.work_end_ns += pushed_ns;
        }
        let end_ns = (begin_ns + self.read_ns + transfer_ns).max(moved_ns);
        free.reads_end_ns = end_ns;
        self.busy_ns += end_ns - begin_ns;
        end_ns
    }

    /// Moves a row to a die and programs it, not before `ready_ns`; returns the end.
    pub(crate) fn program(&mut self, die: usize, bytes: u64, now_ns: u64, ready_ns: u64) -> u64 {
        let moved_ns = self.move_rows(die, bytes, now_ns);
        let moved_ns = moved_ns.max(ready_ns + self.transfer_ns(bytes));
        let free = &mut self.dies[die];
        free.work_end_ns = moved_ns.max(free.work_end_ns).max(free.reads_end_ns) + self.program_ns;
        self.busy_ns += self.program_ns;
        free.work_end_ns
    }

    /// Adds work of the drive's own behind what a die has to do.
    pub(crate) fn add_work(&mut self, die: usize, work_ns: u64, bytes: u64, now_ns: u64) {
        self.move_rows(die, bytes, now_ns);
        let free = &mut self.dies[die];
        free.work_end_ns = now_ns.max(free.work_end_ns) + work_ns;
        self.busy_ns += work_ns;
    }

    /// How long a read of a die would wait.
    pub(crate) fn wait_ns(&self, die: usize, now_ns: u64) -> u64 {
        let free = self.dies[die];
        let begin_ns = now_ns.max(free.reads_end_ns);
        let blocked_ns = free.work_end_ns.saturating_sub(begin_ns).min(self.suspend_ns.unwrap_or(self.program_ns));
        begin_ns - now_ns + blocked_ns
    }

    /// Mean over the dies.
    pub(crate) fn busy_ns(&self) -> u64 {
        self.busy_ns / self.dies.len() as u64
    }

    /// When a channel has moved bytes that are written, behind all it has to do.
    fn move_rows(&mut self, die: usize, bytes: u64, now_ns: u64) -> u64 {
        let transfer_ns = self.transfer_ns(bytes);
        let channel = self.channel(die);
        channel.work_end_ns = now_ns.max(channel.work_end_ns).max(channel.reads_end_ns) + transfer_ns;
        channel.work_end_ns
    }

    fn channel(&mut self, die: usize) -> &mut Ends {
        let channel = die % self.channels.len();
        &mut self.channels[channel]
    }

    fn transfer_ns(&self, bytes: u64) -> u64 {
        bytes * 1_000_000_000 / self.channel_rate_bytes_per_s
    }
}
