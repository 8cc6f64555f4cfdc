//! Soft recovery: the log of a store that was killed is replayed, and what it had acknowledged is looked for.
//!
//! Model: the newest checkpoint says where to begin. From there the log is read, block after block, until one is not whole or not of this
//! life. Every page that a record there changes is read; changes that it lacks are made up for, and it is written. A last checkpoint
//! ends the recovery: what was read and written until then is what a mail server would have waited for. Afterwards the older part of
//! the ring is read: pages whose changes the checkpoint took for saved have to be as new as their last record there.
//!
//! What can be wrong: *lost commits* were acknowledged and are in no block; a *lost page* is older than what was saved of it; a page *ahead*
//! is newer than the log; a *damaged* page is half of one version or another page; a *gap* is a change whose predecessor is in no record.
//!
//! Limits: a page that no record in the ring names is not looked at.

use std::collections::{BTreeMap, VecDeque};

use plimsoll_workload::Op;
use plimsoll_workload::director::{Answer, Asked, Director};
use serde_json::{Value, json};

use crate::counts::Counts;
use crate::image::{self, Change, Checkpoint, Found, SECTOR_BYTES};
use crate::plan::{CHECKPOINT_ROOM, DatabasePlan, RECOVERY_READS, Role, SWEEP_BYTES};

/// What recovery does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Looks for the checkpoint, of which this many places are not read yet.
    Checkpoints(u32),
    /// Reads the log from the checkpoint on.
    Log,
    /// Reads pages and makes up for what they lack.
    Pages,
    /// Writes the checkpoint that ends it.
    Ending,
    /// Reads what the ring still has of the time before the checkpoint.
    OlderLog,
    /// Reads the pages that this part names.
    OlderPages,
    Over,
}

/// What the log says of a page: the first and the last of its changes there.
#[derive(Clone, Copy, Debug)]
struct Logged {
    first: u32,
    last: u32,
}

/// What was found.
#[derive(Clone, Debug, Default)]
struct Findings {
    commits: u64,
    log_bytes: u64,
    records: u64,
    pages_read: u64,
    pages_redone: u64,
    changes_redone: u64,
    lost_pages: u64,
    ahead_pages: u64,
    damaged_pages: u64,
    gaps: u64,
    checked_pages: u64,
    example: Option<String>,
    failure: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub struct Recovery {
    plan: DatabasePlan,
    acknowledged: Option<u64>,
    phase: Phase,
    checkpoint: Option<Checkpoint>,
    began_ns: u64,
    now_ns: u64,
    ended_ns: Option<u64>,
    /// The file of the log that is being read, and its bytes so far.
    file: u64,
    bytes: Vec<u8>,
    /// Where the next block begins.
    lsn: u64,
    /// Where the log ended, and where its older part does.
    end_lsn: u64,
    logged: BTreeMap<u32, Logged>,
    older: BTreeMap<u32, Logged>,
    waiting: VecDeque<u32>,
    outstanding: u32,
    /// The version that a page is written in, by page.
    writing: BTreeMap<u32, u32>,
    found: Findings,
}

/// The token of what is no page's.
const NO_PAGE: u32 = u32::MAX;

impl Recovery {
    /// A recovery of a database; `acknowledged` hard commits have to be there.
    pub fn new(plan: &DatabasePlan, acknowledged: Option<u64>) -> Self {
        Self {
            plan: plan.clone(),
            acknowledged,
            phase: Phase::Checkpoints(2),
            checkpoint: None,
            began_ns: 0,
            now_ns: 0,
            ended_ns: None,
            file: 0,
            bytes: Vec::new(),
            lsn: 0,
            end_lsn: 0,
            logged: BTreeMap::new(),
            older: BTreeMap::new(),
            waiting: VecDeque::new(),
            outstanding: 0,
            writing: BTreeMap::new(),
            found: Findings::default(),
        }
    }

    fn fail(&mut self, sentence: String) {
        self.found.failure = Some(sentence);
        self.phase = Phase::Over;
    }

    /// A place of the checkpoint was read.
    fn checkpoint_read(&mut self, left: u32, bytes: &[u8], asks: &mut Vec<Asked>) {
        let found = image::read_checkpoint(bytes);
        let key = |checkpoint: &Checkpoint| (checkpoint.life, checkpoint.number);
        self.checkpoint = self.checkpoint.into_iter().chain(found).max_by_key(key);
        self.phase = Phase::Checkpoints(left - 1);
        if left > 1 {
            return;
        }
        let Some(checkpoint) = self.checkpoint else {
            return self.fail("no mail store was run here, or its checkpoint is gone".to_owned());
        };
        let own = self.plan.sizes();
        if checkpoint.sizes != own {
            let said = |[page, file, files]: [u32; 3]| format!("pages of {page} bytes and {files} log files of {file}");
            return self.fail(format!(
                "the store has {}, and this workload has {}; give the options that it was run with",
                said(checkpoint.sizes),
                said(own)
            ));
        }
        self.found.commits = checkpoint.commits;
        self.phase = Phase::Log;
        self.lsn = checkpoint.lsn.max(checkpoint.start_lsn);
        self.read_file(self.lsn / self.file_bytes(), asks);
    }

    const fn file_bytes(&self) -> u64 {
        self.plan.log.file_bytes as u64
    }

    fn read_file(&mut self, file: u64, asks: &mut Vec<Asked>) {
        self.file = file;
        self.bytes.clear();
        self.read_on(asks);
    }

    /// Reads the next piece of a log file.
    fn read_on(&mut self, asks: &mut Vec<Asked>) {
        let place = self.file % u64::from(self.plan.log.files) * self.file_bytes() + self.bytes.len() as u64;
        let len = u64::from(SWEEP_BYTES).min(self.file_bytes() - self.bytes.len() as u64) as u32;
        let offset = self.plan.log_start + CHECKPOINT_ROOM + place;
        asks.push(Asked { token: NO_PAGE, lane: Role::Log as u32, op: Op::Read, offset, len });
    }

    /// A piece of a log file was read.
    fn log_read(&mut self, bytes: &[u8], asks: &mut Vec<Asked>) {
        self.bytes.extend_from_slice(bytes);
        if (self.bytes.len() as u64) < self.file_bytes() {
            return self.read_on(asks);
        }
        let whole = self.take_blocks();
        let next = self.file + 1;
        if self.phase == Phase::Log {
            let first = self.checkpoint.map_or(0, |checkpoint| checkpoint.lsn) / self.file_bytes();
            if whole && next < first + u64::from(self.plan.log.files) {
                return self.read_file(next, asks);
            }
            self.end_lsn = self.lsn;
            self.phase = Phase::Pages;
            self.waiting = self.logged.keys().copied().collect();
            return self.pages_on(asks);
        }
        if whole && self.lsn < self.end_of_older() {
            return self.read_file(next, asks);
        }
        self.older.retain(|page, _| !self.logged.contains_key(page));
        self.phase = Phase::OlderPages;
        self.waiting = self.older.keys().copied().collect();
        self.pages_on(asks);
    }

    fn end_of_older(&self) -> u64 {
        self.checkpoint.map_or(0, |checkpoint| checkpoint.lsn.max(checkpoint.start_lsn))
    }

    /// Takes the blocks of the file that was read; whether they go on to its end.
    fn take_blocks(&mut self) -> bool {
        let Some(checkpoint) = self.checkpoint else { return false };
        let bytes = std::mem::take(&mut self.bytes);
        let end = if self.phase == Phase::Log { u64::MAX } else { self.end_of_older() };
        while self.lsn / self.file_bytes() == self.file && self.lsn < end {
            let place = (self.lsn % self.file_bytes()) as usize;
            let Some((len, records)) = image::read_block(&bytes[place..], (checkpoint.life, self.lsn)) else { break };
            self.lsn += u64::from(len);
            for record in records {
                self.found.commits = self.found.commits.max(record.commits);
                record.changes().iter().for_each(|change| self.logged(*change));
                if self.phase == Phase::Log {
                    self.found.records += 1;
                }
            }
            if self.phase == Phase::Log {
                self.found.log_bytes += u64::from(len);
            }
        }
        self.bytes = bytes;
        self.lsn / self.file_bytes() > self.file
    }

    fn logged(&mut self, Change { page, version }: Change) {
        let all = if self.phase == Phase::Log { &mut self.logged } else { &mut self.older };
        let logged = all.entry(page).or_insert(Logged { first: version, last: version.wrapping_sub(1) });
        if version != logged.last.wrapping_add(1) {
            self.found.gaps += 1;
        }
        logged.last = version;
    }

    /// Reads further pages, or goes on to what comes after them.
    fn pages_on(&mut self, asks: &mut Vec<Asked>) {
        while self.outstanding < RECOVERY_READS.min(self.plan.writes_max) {
            let Some(page) = self.waiting.pop_front() else { break };
            self.outstanding += 1;
            asks.push(self.of_page(page, Op::Read));
        }
        if self.outstanding > 0 {
            return;
        }
        match self.phase {
            Phase::Pages => {
                self.phase = Phase::Ending;
                let place = u64::from(self.ending() % 2) * (CHECKPOINT_ROOM / 2);
                let offset = self.plan.log_start + place;
                let len = self.plan.log.sector_bytes;
                asks.push(Asked { token: NO_PAGE, lane: Role::Log as u32, op: Op::Write, offset, len });
            }
            _ => self.phase = Phase::Over,
        }
    }

    /// The number of the checkpoint that ends the recovery.
    fn ending(&self) -> u32 {
        self.checkpoint.map_or(0, |checkpoint| checkpoint.number as u32 + 1)
    }

    fn of_page(&self, page: u32, op: Op) -> Asked {
        let page_bytes = self.plan.page_bytes;
        let offset = self.plan.database_start + u64::from(page) * u64::from(page_bytes);
        let lane = if op == Op::Read { Role::Reads } else { Role::Writes };
        Asked { token: page, lane: lane as u32, op, offset, len: page_bytes }
    }

    /// A page was read that records name.
    fn page_read(&mut self, page: u32, bytes: &[u8], asks: &mut Vec<Asked>) {
        let life = self.checkpoint.map_or(0, |checkpoint| checkpoint.life);
        let is_redo = self.phase == Phase::Pages;
        let all = if is_redo { &self.logged } else { &self.older };
        let Some(&Logged { first, last }) = all.get(&page) else { return };
        *(if is_redo { &mut self.found.pages_read } else { &mut self.found.checked_pages }) += 1;
        let version = match image::read_page(bytes, life, page) {
            Found::At(version) => version,
            Found::Absent => 0,
            Found::Torn | Found::Elsewhere => {
                self.found.damaged_pages += 1;
                return self.remember(page, "is half of one version or another page");
            }
        };
        if version > last {
            self.found.ahead_pages += 1;
            return self.remember(page, &format!("has change {version}, and the log ends with {last}"));
        }
        let least = if is_redo { first.saturating_sub(1) } else { last };
        if version < least {
            self.found.lost_pages += 1;
            return self.remember(page, &format!("has change {version} where {least} was saved"));
        }
        if version < last {
            self.found.pages_redone += 1;
            self.found.changes_redone += u64::from(last - version);
            self.outstanding += 1;
            let asked = self.of_page(page, Op::Write);
            self.writing.insert(page, last);
            asks.push(asked);
        }
    }

    fn remember(&mut self, page: u32, what: &str) {
        let offset = self.of_page(page, Op::Read).offset;
        self.found.example.get_or_insert_with(|| format!("page {page} at byte {offset} {what}"));
    }

    /// The checkpoint that ends the recovery is on the target.
    fn ended(&mut self, asks: &mut Vec<Asked>) {
        self.ended_ns = Some(self.now_ns);
        let oldest = (self.end_lsn / self.file_bytes() + 1).saturating_sub(self.plan.log.files.into());
        let start_lsn = self.checkpoint.map_or(0, |checkpoint| checkpoint.start_lsn);
        self.lsn = start_lsn.max(oldest * self.file_bytes());
        if self.lsn >= self.end_of_older() {
            self.phase = Phase::Over;
            return;
        }
        self.phase = Phase::OlderLog;
        self.read_file(self.lsn / self.file_bytes(), asks);
    }
}

impl Director for Recovery {
    fn begin(&mut self, now_ns: u64, asks: &mut Vec<Asked>) {
        (self.began_ns, self.now_ns) = (now_ns, now_ns);
        let len = self.plan.log.sector_bytes.max(SECTOR_BYTES as u32);
        for place in 0..2 {
            let offset = self.plan.log_start + place * (CHECKPOINT_ROOM / 2);
            asks.push(Asked { token: NO_PAGE, lane: Role::Log as u32, op: Op::Read, offset, len });
        }
    }

    fn answered(&mut self, answer: Answer<'_>, asks: &mut Vec<Asked>) {
        self.now_ns = answer.now_ns;
        if self.phase == Phase::Over {
            return;
        }
        if answer.failed {
            return self.fail("a request failed, so the recovery could not go on".to_owned());
        }
        let bytes = answer.bytes.unwrap_or_default();
        match self.phase {
            Phase::Checkpoints(left) => self.checkpoint_read(left, bytes, asks),
            Phase::Log | Phase::OlderLog => self.log_read(bytes, asks),
            Phase::Ending => self.ended(asks),
            Phase::Pages | Phase::OlderPages => {
                self.outstanding -= 1;
                if self.writing.remove(&answer.token).is_none() {
                    self.page_read(answer.token, bytes, asks);
                }
                self.pages_on(asks);
            }
            Phase::Over => {}
        }
    }

    fn due_ns(&self) -> u64 {
        u64::MAX
    }

    fn wake(&mut self, _now_ns: u64, _asks: &mut Vec<Asked>) {}

    fn fill(&mut self, token: u32, bytes: &mut [u8]) {
        let Some(checkpoint) = self.checkpoint else { return };
        if token == NO_PAGE {
            let number = checkpoint.number + 1;
            let ends = Checkpoint {
                number,
                lsn: self.end_lsn,
                start_lsn: self.end_lsn,
                commits: self.found.commits,
                ..checkpoint
            };
            return image::write_checkpoint(bytes, &ends);
        }
        if let Some(&version) = self.writing.get(&token) {
            image::write_page(bytes, checkpoint.life, Change { page: token, version });
        }
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn report(&self) -> Value {
        let found = &self.found;
        let page = u64::from(self.plan.page_bytes);
        let lost = self.acknowledged.map(|acknowledged| acknowledged.saturating_sub(found.commits));
        let failure = if self.ended_ns.is_none() && found.failure.is_none() {
            Some("the run ended before the recovery did".to_owned())
        } else {
            found.failure.clone()
        };
        json!({
            "database": format!("database-{}", self.plan.number + 1),
            "threads": 0,
            "page_bytes": page,
            "counts": crate::store::counted(&Counts::default()),
            "recovery": {
                "commits_acknowledged": self.acknowledged,
                "commits_found": found.commits,
                "commits_lost": lost,
                "log_bytes": found.log_bytes,
                "log_files": found.log_bytes as f64 / self.file_bytes() as f64,
                "records": found.records,
                "pages_read": found.pages_read,
                "pages_redone": found.pages_redone,
                "changes_redone": found.changes_redone,
                "pages_lost": found.lost_pages,
                "pages_ahead": found.ahead_pages,
                "pages_damaged": found.damaged_pages,
                "gaps": found.gaps,
                "pages_checked": found.checked_pages,
                "seconds": self.ended_ns.map(|ended| (ended - self.began_ns) as f64 / 1e9),
                "example": found.example,
                "failure": failure,
            },
        })
    }
}
