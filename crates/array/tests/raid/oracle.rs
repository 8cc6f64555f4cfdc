//! Members that hold bytes, and the rules by which pieces and plans are carried out on them.
//!
//! Model: a sector is eight bytes. What a plan writes may only be made of what it was asked to write and what it has read
//! before; what a read gives may only be made of what it has read. A member that has failed, or the part of one that has
//! not been rebuilt yet, holds rubbish and must not be read. Every rule broken is an `Err` with a sentence.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_array::raid::{Extent, Gaps, MemberState, Members, Piece, Rebuild, RebuildChunk, WritePlan};

use super::mapping::Mapping;
use super::redundancy::{decoded, parity, weighted};
use super::reference::{Content, Reference};

/// What has been read, by member and sector.
type Known = BTreeMap<(u16, u64), u64>;

pub struct Oracle<'a, M> {
    mapping: &'a M,
    pub reference: Reference,
    pub members: Members,
    stored: Vec<Vec<u64>>,
    /// What the host has written.
    truth: Vec<u64>,
    version: u64,
    plan: WritePlan,
}

fn ensure(holds: bool, sentence: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(sentence()) }
}

impl<'a, M: Mapping> Oracle<'a, M> {
    pub fn new(mapping: &'a M, reference: Reference) -> Self {
        let devices = usize::from(reference.spec.devices);
        Self {
            members: mapping.geometry().members(),
            stored: vec![vec![0; reference.member_sectors as usize]; devices],
            truth: vec![0; reference.data_sectors as usize],
            version: 0,
            plan: WritePlan::default(),
            mapping,
            reference,
        }
    }

    pub fn fail(&mut self, device: u16) {
        self.members.fail(device);
        self.spoil(device);
    }

    pub fn replace(&mut self, device: u16) {
        self.members.replace(device);
        self.spoil(device);
    }

    fn spoil(&mut self, device: u16) {
        self.stored[usize::from(device)].fill(0xdead_beef_dead_beef);
    }

    /// Whether a member holds what it should at a sector.
    fn serves(&self, device: u16, lba: u64) -> bool {
        match self.members.state(device) {
            MemberState::Present => true,
            MemberState::Failed => false,
            MemberState::Rebuilding { rebuilt_sectors } => lba < rebuilt_sectors,
        }
    }

    /// Carries out reads; no sector is read twice, or from a member that does not hold it.
    fn perform_reads(&self, pieces: &[Piece]) -> Result<Known, String> {
        let mut known = Known::new();
        for piece in pieces {
            ensure(!piece.write && piece.phase == 0 && piece.sectors > 0, || {
                format!("{piece:?} is no read of phase 0")
            })?;
            ensure(piece.end() <= self.reference.member_sectors, || format!("{piece:?} reads beyond the member"))?;
            for lba in piece.lba..piece.end() {
                ensure(self.serves(piece.device, lba), || format!("{piece:?} reads what is missing"))?;
                let word = self.stored[usize::from(piece.device)][lba as usize];
                ensure(known.insert((piece.device, lba), word).is_none(), || {
                    format!("{piece:?} reads a sector again")
                })?;
            }
        }
        Ok(known)
    }

    /// The data columns and the parities of a row at a sector, as far as they have been read.
    fn symbols(&self, known: &Known, group: u16, lba: u64) -> (Vec<Option<u64>>, Vec<Option<u64>>) {
        let mut data = vec![None; self.reference.data as usize];
        let mut parities = vec![None; self.reference.parities as usize];
        let base = group * self.reference.members;
        for (position, content) in (0..).zip(self.reference.row(lba / self.reference.strip)) {
            let word = known.get(&(base + position, lba)).copied();
            match content {
                Content::Data { column } => data[column as usize] = data[column as usize].or(word),
                Content::Parity { which } => parities[which as usize] = word,
            }
        }
        (data, parities)
    }

    /// Reads through the mapping and compares every sector with what was written last.
    pub fn read(&self, extent: Extent) -> Result<(), String> {
        let mut pieces = Vec::new();
        self.mapping.read(extent, &self.members, &mut pieces).map_err(|lost| lost.to_string())?;
        let known = self.perform_reads(&pieces)?;
        if self.members.is_whole() {
            ensure(known.len() == extent.sectors as usize, || format!("{extent:?}: {} sectors are read", known.len()))?;
        }
        for lba in extent.lba..extent.lba + u64::from(extent.sectors) {
            let home = self.reference.home(lba);
            let (data, parities) = self.symbols(&known, home.group, home.lba);
            let word =
                data[home.column as usize].or_else(|| decoded(&data, &parities).map(|all| all[home.column as usize]));
            ensure(word == Some(self.truth[lba as usize]), || format!("{extent:?}: sector {lba} reads {word:x?}"))?;
        }
        Ok(())
    }

    /// Writes new bytes through the mapping, then compares every row that was touched.
    pub fn write(&mut self, extent: Extent) -> Result<(), String> {
        let mut plan = std::mem::take(&mut self.plan);
        self.mapping.write(extent, &self.members, &mut plan).map_err(|lost| lost.to_string())?;
        self.carry_out(plan, &[extent], Gaps::Left)
    }

    /// The same for several extents of one row, as one write.
    pub fn write_together(&mut self, extents: &[Extent], gaps: Gaps) -> Result<(), String> {
        let mut plan = std::mem::take(&mut self.plan);
        let planned = self.mapping.geometry().write_together(extents, gaps, &self.members, &mut plan);
        planned.map_err(|lost| lost.to_string())?;
        self.carry_out(plan, extents, gaps)
    }

    fn carry_out(&mut self, plan: WritePlan, extents: &[Extent], gaps: Gaps) -> Result<(), String> {
        let known = self.perform_reads(&plan.reads)?;
        let before = self.truth.clone();
        let range: BTreeSet<u64> =
            extents.iter().flat_map(|extent| extent.lba..extent.lba + u64::from(extent.sectors)).collect();
        for &lba in &range {
            self.version += 1;
            self.truth[lba as usize] = self.version.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        let mut written = Known::new();
        for piece in &plan.writes {
            ensure(piece.write && piece.phase == 1 && piece.sectors > 0, || {
                format!("{piece:?} is no write of phase 1")
            })?;
            for lba in piece.lba..piece.end() {
                let word = self.word_to_write(&known, &range, piece.device, lba);
                // What lies in a gap is written as it was read.
                let old = || known.get(&(piece.device, lba)).copied().filter(|_| gaps == Gaps::Written);
                let word = word.or_else(|sentence| old().ok_or(sentence))?;
                let again = written.insert((piece.device, lba), word);
                ensure(again.is_none(), || format!("{piece:?} writes a sector again"))?;
            }
        }
        for ((device, lba), word) in written {
            self.stored[usize::from(device)][lba as usize] = word;
        }
        self.check_locks(&plan, &range, &before)?;
        self.plan = plan;
        self.check_rows(range)
    }

    /// What a write can put there, from what is new and what has been read.
    fn word_to_write(&self, known: &Known, new: &BTreeSet<u64>, device: u16, lba: u64) -> Result<u64, String> {
        let group = device / self.reference.members;
        let row = self.reference.row(lba / self.reference.strip);
        let fresh = |column: u32| {
            let address = self.reference.address(group, lba, column)?;
            new.contains(&address).then(|| self.truth[address as usize])
        };
        match row[usize::from(device % self.reference.members)] {
            Content::Data { column } => {
                fresh(column).ok_or_else(|| format!("sector {lba} of member {device} was not asked to be written"))
            }
            Content::Parity { which } => {
                let (old, parities) = self.symbols(known, group, lba);
                let columns = 0..self.reference.data;
                let delta = || {
                    columns.clone().try_fold(parities[which as usize]?, |sum, column| match fresh(column) {
                        None => Some(sum),
                        Some(word) => Some(sum ^ weighted(which, column, word ^ old[column as usize]?)),
                    })
                };
                let merged = |base: &[Option<u64>]| -> Vec<Option<u64>> {
                    columns.clone().map(|column| fresh(column).or(base[column as usize])).collect()
                };
                let direct = || merged(&old).into_iter().collect::<Option<Vec<u64>>>();
                let recovered = || {
                    let all: Vec<Option<u64>> = decoded(&old, &parities)?.into_iter().map(Some).collect();
                    merged(&all).into_iter().collect::<Option<Vec<u64>>>()
                };
                direct()
                    .map(|data| parity(which, &data))
                    .or_else(delta)
                    .or_else(|| recovered().map(|data| parity(which, &data)))
                    .ok_or_else(|| {
                        format!("parity {which} at sector {lba} of group {group} does not follow from the reads")
                    })
            }
        }
    }

    /// Every row of a parity group in which something changes is locked.
    fn check_locks(&self, plan: &WritePlan, range: &BTreeSet<u64>, before: &[u64]) -> Result<(), String> {
        if self.reference.parities == 0 {
            return Ok(());
        }
        for lba in range.iter().copied().filter(|&lba| before[lba as usize] != self.truth[lba as usize]) {
            let home = self.reference.home(lba);
            let locked = plan.rows.iter().any(|span| {
                span.group == home.group && (span.first..span.first + u64::from(span.count)).contains(&home.row)
            });
            ensure(locked, || format!("row {} of group {} is written without a lock", home.row, home.group))?;
        }
        Ok(())
    }

    /// What a sector of a member should hold.
    fn should_hold(&self, device: u16, lba: u64) -> u64 {
        let group = device / self.reference.members;
        let word =
            |column| self.reference.address(group, lba, column).map_or(0, |address| self.truth[address as usize]);
        match self.reference.row(lba / self.reference.strip)[usize::from(device % self.reference.members)] {
            Content::Data { column } => word(column),
            Content::Parity { which } => parity(which, &(0..self.reference.data).map(word).collect::<Vec<_>>()),
        }
    }

    fn check_sector(&self, device: u16, lba: u64) -> Result<(), String> {
        let holds = self.stored[usize::from(device)][lba as usize];
        ensure(!self.serves(device, lba) || holds == self.should_hold(device, lba), || {
            format!("member {device} holds {holds:x} at sector {lba}")
        })
    }

    /// Data and parity at the heights that an extent touches, on every member that serves them.
    fn check_rows(&self, range: BTreeSet<u64>) -> Result<(), String> {
        for home in range.into_iter().map(|lba| self.reference.home(lba)) {
            for position in 0..self.reference.members {
                self.check_sector(home.group * self.reference.members + position, home.lba)?;
            }
        }
        Ok(())
    }

    /// Everything on every member that serves it.
    pub fn check_all(&self) -> Result<(), String> {
        for device in 0..self.reference.spec.devices {
            for lba in 0..self.reference.member_sectors {
                self.check_sector(device, lba)?;
            }
        }
        Ok(())
    }

    /// One chunk of a rebuild; whether there was one.
    pub fn rebuild(&mut self, rebuild: &mut Rebuild, chunk: &mut RebuildChunk) -> Result<bool, String> {
        if !self.mapping.chunk(rebuild, &self.members, chunk).map_err(|lost| lost.to_string())? {
            return Ok(false);
        }
        let known = self.perform_reads(&chunk.reads)?;
        let Piece { device, lba, .. } = chunk.write;
        let (group, position) = (device / self.reference.members, usize::from(device % self.reference.members));
        for lba in lba..chunk.write.end() {
            let row = lba / self.reference.strip;
            let locked = chunk.rows.first..chunk.rows.first + u64::from(chunk.rows.count);
            ensure(chunk.rows.group == group && locked.contains(&row), || {
                format!("row {row} is rebuilt without a lock")
            })?;
            let (data, parities) = self.symbols(&known, group, lba);
            let all =
                decoded(&data, &parities).ok_or_else(|| format!("sector {lba} does not follow from the reads"))?;
            self.stored[usize::from(device)][lba as usize] = match self.reference.row(row)[position] {
                Content::Data { column } => all[column as usize],
                Content::Parity { which } => parity(which, &all),
            };
        }
        self.members.rebuilt(device, chunk.write.end(), self.mapping.geometry());
        Ok(true)
    }
}
