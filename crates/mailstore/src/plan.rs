//! From options as typed to plain numbers for one target: where databases and logs lie, and how large everything is.
//!
//! Model: every database has a share of the target; its log's ring lies at the start of the share and its pages behind, or the log
//! lies on a part of its own. Each kind of request of a database is a stream of its own, so that parts, direct I/O and the record of
//! what happened are those of any stream; which requests they are, the [`Store`](crate::Store) says.

use plimsoll_workload::block_sizes::BlockSizes;
use plimsoll_workload::extent::Extent;
use plimsoll_workload::kind::{Bytes, Percent};
use plimsoll_workload::parts::PartList;
use plimsoll_workload::{Op, StreamOptions, TargetShape, Workload, WorkloadError};

use crate::log::LogShape;
use crate::operation::{Mix, RECORD_HEADER_BYTES};
use crate::options::{MailstoreWorkload, Test};
use crate::tree::TreeShape;

/// Shares of a target begin at multiples of this.
const SHARE_UNIT: u64 = 1 << 20;
/// Before the ring of a log: two places for the checkpoint.
pub(crate) const CHECKPOINT_ROOM: u64 = 65_536;
/// What maintenance, replication and backup read at a time.
pub(crate) const SWEEP_BYTES: u32 = 262_144;
/// The cache that is neither given nor follows from the database.
const CACHE_BYTES: std::ops::RangeInclusive<u64> = 32 << 20..=256 << 20;
/// Of the database, in percent.
const CACHE_PERCENT: u64 = 1;
/// Reads of pages that a recovery has outstanding.
pub(crate) const RECOVERY_READS: u32 = 32;
/// Frames without which threads would wait for each other's pages.
const FRAMES_LEAST: u64 = 256;

/// What a lane of a database is for, in the order of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Role {
    /// Pages that operations wait for.
    Reads,
    /// Pages that are written.
    Writes,
    /// The log and its checkpoint.
    Log,
    /// Maintenance, or a backup.
    Sweep,
    /// Log files on their way to copies.
    Replication,
}

impl Role {
    /// All, in their order.
    pub const ALL: [Self; 5] = [Self::Reads, Self::Writes, Self::Log, Self::Sweep, Self::Replication];

    /// The words of results for what is asked for in them.
    pub const WORDS: [&'static str; 6] =
        ["read", "write", "log-read", "log-write", "maintenance-read", "replication-read"];

    /// The word of results for an operation of this lane.
    pub const fn word(self, op: Op) -> &'static str {
        match (self, op) {
            (Self::Log, Op::Read) => "log-read",
            (Self::Log, _) => "log-write",
            (Self::Sweep, _) => "maintenance-read",
            (Self::Replication, _) => "replication-read",
            (_, Op::Read) => "read",
            _ => "write",
        }
    }
}

/// One database, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabasePlan {
    pub(crate) number: u32,
    pub(crate) test: Test,
    pub(crate) threads: u32,
    pub(crate) page_bytes: u32,
    pub(crate) tree: TreeShape,
    pub(crate) frames: u32,
    pub(crate) coalesce_pages: u32,
    pub(crate) writes_max: u32,
    pub(crate) log: LogShape,
    pub(crate) depth_bytes: u64,
    pub(crate) mix: Mix,
    pub(crate) mailboxes: u32,
    pub(crate) recent_pages: u32,
    /// Nanoseconds from one operation of a thread to its next; 0 = at once.
    pub(crate) cycle_ns: u64,
    pub(crate) think_ns: u64,
    pub(crate) operation_ns: u64,
    /// What pages may take while it is tuned.
    pub(crate) tuning_limit_ns: u64,
    pub(crate) maintenance_per_s: u64,
    pub(crate) copies: u32,
    pub(crate) seed: u64,
    /// Where its pages begin, and where the room of its log does.
    pub(crate) database_start: u64,
    pub(crate) log_start: u64,
}

impl DatabasePlan {
    /// What has to be as it was for a recovery to read what a run wrote: bytes of a page and of a log file, and how many files there are.
    pub(crate) const fn sizes(&self) -> [u32; 3] {
        [self.page_bytes, self.log.file_bytes, self.log.files]
    }

    /// Which of several databases it is.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// What is done with it.
    pub const fn test(&self) -> Test {
        self.test
    }
}

/// A mail store on a target.
#[derive(Clone, Debug, PartialEq)]
pub struct MailstorePlan {
    /// The databases.
    pub databases: Vec<DatabasePlan>,
    /// Five streams for each, in the order of [`Role::ALL`].
    pub streams: Workload,
}

/// Bytes of a target that a database or a log has to itself.
#[derive(Clone, Debug)]
struct Share {
    parts: Option<PartList>,
    start: u64,
    len: u64,
}

impl MailstoreWorkload {
    /// The plan on a target whose parts, if it has several, end at `part_ends`.
    ///
    /// # Errors
    /// If options cannot hold together, or not on this target.
    pub fn resolve(&self, shape: TargetShape, seed: u64, part_ends: &[u64]) -> Result<MailstorePlan, WorkloadError> {
        let place = format!("workload \"{}\"", self.name);
        self.check(&place)?;
        let named = |error: WorkloadError| error.within(place.clone());
        let mut streams = Workload { name: self.name.clone(), ..Workload::default() };
        let mut databases = Vec::new();
        for number in 0..self.databases {
            let (database, log) = self.shares(number, shape, part_ends).map_err(named)?;
            let plan = self.database(number, seed, shape, (&database, &log)).map_err(named)?;
            streams.streams.extend(self.streams_of(&plan, shape, (&database, &log)));
            databases.push(plan);
        }
        Ok(MailstorePlan { databases, streams })
    }

    /// Bytes of the ring of a log, with the room for its checkpoint.
    fn log_room(&self) -> u64 {
        (CHECKPOINT_ROOM + u64::from(self.ring_files()) * self.log_file_size.0).next_multiple_of(SHARE_UNIT)
    }

    /// Where a database and its log lie.
    fn shares(&self, number: u32, shape: TargetShape, part_ends: &[u64]) -> Result<(Share, Share), WorkloadError> {
        let all = self.databases;
        let share = |parts: &Option<PartList>, len_max: u64| -> Result<Share, WorkloadError> {
            let Some(list) = parts else {
                let len = shape.size_bytes / u64::from(all) / SHARE_UNIT * SHARE_UNIT;
                return Ok(Share { parts: None, start: u64::from(number) * len, len });
            };
            let part = list.0[number as usize % list.0.len()];
            let size = part_bytes(part, part_ends)?;
            let beside = (0..all).filter(|other| list.0[*other as usize % list.0.len()] == part);
            let (count, place) = (beside.clone().count() as u64, beside.filter(|other| *other < number).count() as u64);
            let len = (size / count / SHARE_UNIT * SHARE_UNIT).min(len_max);
            Ok(Share { parts: Some(PartList(vec![part])), start: place * len, len })
        };
        let room = self.log_room();
        let mut database = share(&self.database_parts, u64::MAX)?;
        let mut log = if self.log_parts.is_some() { share(&self.log_parts, room)? } else { database.clone() };
        if self.log_parts.is_none() {
            log.len = log.len.min(room);
            database.start += log.len;
            database.len -= log.len;
        }
        let least = FRAMES_LEAST * 4 * self.page_size.0;
        if log.len < room || database.len < least {
            return Err(WorkloadError::impossible(format!(
                "a database has {} of the target and its log {}, and they need {} and {}; take a larger target, fewer databases, or a \
                 smaller checkpoint_depth",
                mebibytes(database.len),
                mebibytes(log.len),
                mebibytes(least),
                mebibytes(room)
            )));
        }
        Ok((database, log))
    }

    fn database(
        &self,
        number: u32,
        seed: u64,
        shape: TargetShape,
        (database, log): (&Share, &Share),
    ) -> Result<DatabasePlan, WorkloadError> {
        let page_bytes = self.page_size.0;
        let room = self.database_size.bytes(database.len).min(database.len);
        let Ok(pages) = u32::try_from(room / page_bytes) else {
            return Err(WorkloadError::impossible(format!(
                "a database of {} has more than 4,294,967,295 pages of {page_bytes} bytes; write a database_size, or more databases",
                mebibytes(room)
            )));
        };
        let follows = (room * CACHE_PERCENT / 100).clamp(*CACHE_BYTES.start(), *CACHE_BYTES.end());
        let frames = self.cache_size.map_or(follows, |size| size.0) / page_bytes;
        let least = FRAMES_LEAST.max(4 * u64::from(self.threads) + 2 * u64::from(self.writes_outstanding));
        if u64::from(pages) < 4 * FRAMES_LEAST || frames < least {
            return Err(WorkloadError::impossible(format!(
                "a database of {pages} pages with a cache of {frames} is too small for {} threads; it takes {} pages and a cache of \
                 {least}: write a larger database_size or cache_size",
                self.threads,
                4 * FRAMES_LEAST
            )));
        }
        let fanout = (page_bytes / self.index_entry.0).max(2) as u32;
        let records_per_page = (page_bytes / self.record_size.0).clamp(2, 255) as u32;
        let all_threads = f64::from(self.threads) * f64::from(self.databases);
        let sector_bytes = shape.block_bytes.max(512);
        Ok(DatabasePlan {
            number,
            test: self.test,
            threads: self.threads,
            page_bytes: page_bytes as u32,
            tree: TreeShape { pages, filled: self.filled.0 / 100.0, fanout, records_per_page },
            frames: frames.min(pages.into()) as u32,
            coalesce_pages: (self.coalesce.0 / page_bytes) as u32,
            writes_max: self.writes_outstanding,
            log: LogShape {
                sector_bytes,
                file_bytes: self.log_file_size.0 as u32,
                files: self.ring_files(),
                buffer_bytes: self.log_buffer.0 as u32,
                record_bytes_max: self.record_size.0 as u32 + RECORD_HEADER_BYTES,
            },
            depth_bytes: self.checkpoint_depth.0,
            mix: Mix::new(self),
            mailboxes: self.mailboxes,
            recent_pages: self.recent_pages,
            cycle_ns: self.rate.map_or(0, |rate| (all_threads / rate.0 * 1e9) as u64),
            think_ns: self.think_time.0,
            operation_ns: self.operation_time.0,
            tuning_limit_ns: self.tuning_limit.0,
            maintenance_per_s: self.maintenance.0,
            copies: self.copies,
            seed: plimsoll_workload::rng::drawn(seed, number.into()),
            database_start: database.start,
            log_start: log.start,
        })
    }

    /// The streams of a database, in the order of [`Role::ALL`].
    fn streams_of(
        &self,
        plan: &DatabasePlan,
        shape: TargetShape,
        (database, log): (&Share, &Share),
    ) -> Vec<StreamOptions> {
        let number = plan.number + 1;
        let page = u64::from(plan.page_bytes);
        let stream = |role: &str, share: &Share, reads: bool, len: u64, depth: u32| StreamOptions {
            name: format!("database-{number}-{role}"),
            read_percent: Some(Percent(if reads { 100.0 } else { 0.0 })),
            block_size: Some(BlockSizes::Fixed(len as u32)),
            align: Some(Bytes(shape.block_bytes.max(512).into())),
            parts: share.parts.clone(),
            region_start: Extent::Bytes(share.start),
            region_length: Some(Extent::Bytes(share.len)),
            queue_depth: depth,
            direct: self.direct,
            dsync: self.write_through && !reads,
            ..StreamOptions::default()
        };
        let reads = if self.test == Test::Recovery { RECOVERY_READS } else { plan.threads.max(2) };
        vec![
            stream("reads", database, true, page, reads),
            stream("writes", database, false, u64::from(plan.coalesce_pages) * page, plan.writes_max),
            // A recovery reads the log, too.
            StreamOptions {
                read_percent: Some(Percent(if self.test == Test::Recovery { 50.0 } else { 0.0 })),
                dsync: self.write_through,
                ..stream("log", log, false, SWEEP_BYTES.into(), 2)
            },
            stream("sweep", database, true, SWEEP_BYTES.into(), 1),
            stream("replication", log, true, SWEEP_BYTES.into(), 1),
        ]
    }
}

fn part_bytes(part: u32, ends: &[u64]) -> Result<u64, WorkloadError> {
    let before = if part == 0 { 0 } else { ends.get(part as usize - 1).copied().unwrap_or(0) };
    ends.get(part as usize).map(|end| end - before).ok_or_else(|| {
        WorkloadError::impossible(match ends.len() {
            0 => "database_parts and log_parts need a target of several parts; write it as concat:A,B".to_owned(),
            count => format!("the target has no part {part}; its parts are 0 to {}", count - 1),
        })
    })
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
