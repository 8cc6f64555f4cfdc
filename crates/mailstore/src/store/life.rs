//! A store on a target that keeps data: everything it writes says what it is, so that a recovery can tell what is there.
//!
//! Model: a *life* is one run. Its checkpoint is written before the first operation begins; from there on every change is a record, every
//! page carries how often it has changed, and hard commits are counted. What was acknowledged is told to somebody whom a kill does
//! not reach, before the threads that waited go on.
//!
//! Limits: pages that were dirty when the life began stand for nothing that has to be recovered.

use std::fmt;

use crate::image::{self, CHANGES_MAX, Change, Checkpoint, Found, Record};
use crate::store::{Store, Token};

/// Who remembers, when the store is killed, what it had acknowledged.
pub trait Acknowledged: Send {
    /// So many hard commits are on the target.
    ///
    /// # Errors
    /// A sentence, if that cannot be remembered.
    fn acknowledge(&mut self, commits: u64) -> Result<(), String>;
}

/// See the module.
pub(crate) struct Life {
    pub(crate) id: u64,
    pub(crate) start_lsn: u64,
    /// Hard commits that were logged, and those that are on the target.
    logged: u64,
    pub(crate) saved: u64,
    /// Records of the block that is being built, and of the one on its way, each with its place.
    building: Vec<(u32, Record)>,
    flying: Vec<(u32, Record)>,
    /// Pages that were read and are not what was written.
    pub(crate) damaged: u64,
    pub(crate) failure: Option<String>,
    acknowledged: Option<Box<dyn Acknowledged>>,
}

impl fmt::Debug for Life {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Life").field("id", &self.id).field("saved", &self.saved).finish_non_exhaustive()
    }
}

impl Life {
    /// A record was appended at `place` of the block that is being built.
    pub(crate) fn append(&mut self, place: u32, (len, hard): (u32, bool), changes: &[Change]) {
        self.logged += u64::from(hard);
        let mut record = Record {
            len,
            count: changes.len() as u32,
            commits: self.logged,
            changes: [Change::default(); CHANGES_MAX],
        };
        record.changes[..changes.len()].copy_from_slice(changes);
        self.building.push((place, record));
    }

    /// The block that was being built is on its way.
    pub(crate) fn sealed(&mut self) {
        self.flying.clear();
        std::mem::swap(&mut self.building, &mut self.flying);
    }

    /// The block on its way is on the target; whether that could be told.
    pub(crate) fn landed(&mut self) -> bool {
        let saved = self.flying.last().map_or(self.saved, |(_, record)| record.commits);
        if saved == self.saved {
            return true;
        }
        self.saved = saved;
        self.failure = self.acknowledged.as_mut().and_then(|told| told.acknowledge(saved).err());
        self.failure.is_none()
    }
}

impl Store {
    /// The store on a target that keeps data, as life `id`; later lives have greater numbers.
    #[must_use]
    pub fn living(mut self, id: u64, acknowledged: Option<Box<dyn Acknowledged>>) -> Self {
        (0..self.cache.frames()).for_each(|frame| self.cache.frame_mut(frame).version = 0);
        self.life = Some(Life {
            id,
            start_lsn: self.log.head_lsn(),
            logged: 0,
            saved: 0,
            building: Vec::new(),
            flying: Vec::new(),
            damaged: 0,
            failure: None,
            acknowledged,
        });
        self
    }

    /// A page of a life was read: how often it has changed.
    pub(crate) fn page_read(&mut self, frame: u32, bytes: &[u8]) {
        let Some(life) = &mut self.life else { return };
        let page = self.cache.frame(frame).page;
        self.cache.frame_mut(frame).version = match image::read_page(bytes, life.id, page) {
            Found::At(version) => version,
            Found::Absent => 0,
            Found::Torn | Found::Elsewhere => {
                life.damaged += 1;
                0
            }
        };
    }

    /// Puts what a write writes into `bytes`.
    pub(crate) fn fill_bytes(&self, token: Token, bytes: &mut [u8]) {
        let Some(life) = &self.life else { return };
        match token {
            Token::Write(place) => {
                let written = self.flight.write(place);
                for (page, bytes) in (written.first_page..).zip(bytes.chunks_mut(self.plan.page_bytes as usize)) {
                    let version = self.cache.frame(self.cache.find(page)).writing_version;
                    image::write_page(bytes, life.id, Change { page, version });
                }
            }
            Token::Block => image::write_block(bytes, (life.id, self.log.flying_lsn()), &life.flying),
            Token::Checkpoint => image::write_checkpoint(bytes, &self.checkpoint(life)),
            Token::Read(_) | Token::Sweep | Token::Replication => {}
        }
    }

    fn checkpoint(&self, life: &Life) -> Checkpoint {
        let (number, lsn) = self.flight.persisting();
        Checkpoint { life: life.id, number, lsn, start_lsn: life.start_lsn, commits: 0, sizes: self.plan.sizes() }
    }
}
