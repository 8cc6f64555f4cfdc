//! What a sort has to move: how many records fit into memory, how many run files that makes, and in how many passes they are merged.
//!
//! Model: memory holds records with 16 bytes each for their order. Runs are merged as many at a time as there are buffers for, group by
//! group, until the last group is merged into whatever takes the sorted records. A run that is alone in its group stays as it is.

/// What each record takes in memory besides itself while it is sorted.
pub const ORDER_BYTES: usize = 16;

/// How one sort uses its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spill {
    /// Records that are sorted in memory at once.
    pub held: u64,
    /// Runs that are merged at once.
    pub fan_in: usize,
}

impl Spill {
    /// Of so many bytes of memory, for records and buffers of so many bytes. There always are two buffers, and room for some records.
    pub fn of(memory: usize, record: usize, buffer: usize) -> Self {
        let for_records = memory.saturating_sub(buffer);
        let held = (for_records / (record + ORDER_BYTES)).clamp(16, u32::MAX as usize) as u64;
        // A reader has its buffer and what lies across two of them; one buffer is that of the output.
        let fan_in = (memory.saturating_sub(buffer) / (buffer.max(16 << 10) + record)).clamp(2, 512);
        Self { held, fan_in }
    }

    /// Bytes that go to run files, and come back from them, when so many records are sorted.
    pub fn bytes(&self, records: u64, record: usize) -> u64 {
        if records <= self.held {
            return 0;
        }
        let mut runs = vec![self.held; (records / self.held) as usize];
        runs.extend((!records.is_multiple_of(self.held)).then_some(records % self.held));
        let mut moved = records;
        while runs.len() > self.fan_in {
            let merges = Merges::of(runs.len(), self.fan_in);
            moved += merges
                .groups()
                .filter(|group| group.len() > 1)
                .map(|group| runs[group].iter().sum::<u64>())
                .sum::<u64>();
            runs = merges.groups().map(|group| runs[group].iter().sum()).collect();
        }
        moved * record as u64
    }

    /// How often the records go to run files; 0 when they fit into memory.
    pub fn passes(&self, records: u64) -> u32 {
        let mut runs = records.div_ceil(self.held) as usize;
        let mut passes = u32::from(records > self.held);
        while runs > self.fan_in {
            runs = runs.div_ceil(self.fan_in);
            passes += 1;
        }
        passes
    }
}

/// One pass of merges: neighbours, so that records that compare alike keep their order.
#[derive(Debug, Clone, Copy)]
pub struct Merges {
    runs: usize,
    fan_in: usize,
}

impl Merges {
    /// Of so many runs.
    pub fn of(runs: usize, fan_in: usize) -> Self {
        Self { runs, fan_in }
    }

    /// Places of the runs that are merged with each other.
    pub fn groups(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let (runs, fan_in) = (self.runs, self.fan_in);
        (0..runs.div_ceil(fan_in)).map(move |group| group * fan_in..((group + 1) * fan_in).min(runs))
    }
}
