//! A rebuild, chunk by chunk: what is read of the survivors and written to the spare in a failed member's place.
//!
//! Model: with parity, a chunk of the spare comes from the same addresses of as many survivors as a row has data strips
//! (RAID 6 with one member missing leaves out one survivor, a different one for every chunk); a copy of a mirror comes from
//! the first other copy. The caller locks a chunk's rows before its reads and until its write has ended and
//! [`Members::rebuilt`] was called, or a write in between would be lost. Several chunks may be under way if their ends are
//! reported in order. Copying back goes the same way, from the drive that acts as the member to the one that will.
//!
//! ```
//! use plimsoll_array::raid::{Geometry, GroupSpec, Level, Rebuild, RebuildChunk};
//!
//! let geometry = Geometry::new(&GroupSpec::new(Level::Raid5, 4, 128), 2048).unwrap();
//! let mut members = geometry.members();
//! members.fail(2);
//! members.replace(2);
//! let (mut rebuild, mut chunk) = (Rebuild::new(2, 1024, &geometry), RebuildChunk::default());
//! while rebuild.next(&geometry, &members, &mut chunk).unwrap() {
//!     assert_eq!((chunk.reads.len(), chunk.write.device), (3, 2));
//!     members.rebuilt(2, chunk.write.end(), &geometry);
//! }
//! assert!(members.is_whole());
//! ```

use super::geometry::{Geometry, Inner};
use super::loss::Lost;
use super::members::{MemberState, Members};
use super::piece::Piece;
use super::positions::{chosen, first};
use super::rebuild_chunk::RebuildChunk;
use super::record_pieces::Present;

/// A member on the way from its start to its end.
#[derive(Clone, Copy, Debug)]
pub struct Rebuild {
    device: u16,
    /// Where a member goes that is copied, not rebuilt.
    to: Option<u16>,
    chunk_sectors: u64,
    next_lba: u64,
    turn: u64,
}

impl Rebuild {
    /// Begins at the start of a member; chunks are made whole strips where there is parity.
    pub fn new(device: u16, chunk_sectors: u32, geometry: &Geometry) -> Self {
        Self { device, to: None, chunk_sectors: Self::chunk_sectors(chunk_sectors, geometry), next_lba: 0, turn: 0 }
    }

    /// Begins to copy a member that is present to another place, in the same chunks.
    pub fn copying(device: u16, to: u16, chunk_sectors: u32, geometry: &Geometry) -> Self {
        Self { to: Some(to), ..Self::new(device, chunk_sectors, geometry) }
    }

    /// Whether the member is copied, not rebuilt.
    pub const fn is_copying(&self) -> bool {
        self.to.is_some()
    }

    /// What a chunk of so many sectors is made.
    pub fn chunk_sectors(wanted: u32, geometry: &Geometry) -> u64 {
        let wanted = u64::from(wanted.max(1));
        match &geometry.inner {
            Inner::Copies => wanted,
            Inner::Parity(parity) => wanted.div_ceil(parity.strip.value()) * parity.strip.value(),
            Inner::Records(records) => records.chunk_sectors(wanted),
            Inner::Declustered(declustered) => declustered.order(false).step_sectors(),
        }
    }

    /// How many chunks may be under way, alone and while the group has other things to do: one being written and the next being read,
    /// but where a distributed spare takes them on all members.
    pub fn chunks_most(&self, geometry: &Geometry, members: &Members) -> (usize, usize) {
        match &geometry.inner {
            Inner::Declustered(declustered) if !self.is_copying() && members.is_spared(self.device) => {
                declustered.steps_most()
            }
            _ => (2, 1),
        }
    }

    /// The member that is being rebuilt.
    pub const fn device(&self) -> u16 {
        self.device
    }

    /// How far chunks have been given out.
    pub const fn next_lba(&self) -> u64 {
        self.next_lba
    }

    /// The next chunk; `false` at the end of the member. On error nothing has moved on.
    pub fn next(&mut self, geometry: &Geometry, members: &Members, chunk: &mut RebuildChunk) -> Result<bool, Lost> {
        let lba = self.next_lba;
        if lba >= geometry.member_sectors() {
            return Ok(false);
        }
        let sectors = self.chunk_sectors.min(geometry.member_sectors() - lba);
        assert!(
            match members.state(self.device) {
                MemberState::Rebuilding { rebuilt_sectors } => !self.is_copying() && rebuilt_sectors <= lba,
                MemberState::Present => self.is_copying(),
                MemberState::Failed => false,
            },
            "only a replaced member is rebuilt, and every part once"
        );
        self.plan((lba, lba + sectors), geometry, members, chunk)?;
        (self.next_lba, self.turn) = (chunk.end, self.turn + 1);
        Ok(true)
    }

    /// Plans a chunk that was given out once more if a member that it reads has failed since; on error it is as it was.
    pub fn again(&self, geometry: &Geometry, members: &Members, chunk: &mut RebuildChunk) -> Result<(), Lost> {
        let declustered = matches!(geometry.inner, Inner::Declustered(_));
        if !declustered && chunk.reads.iter().all(|read| members.serves(read)) {
            return Ok(());
        }
        self.plan((chunk.from, chunk.end), geometry, members, chunk)
    }

    fn plan(
        &self,
        (lba, end): (u64, u64),
        geometry: &Geometry,
        members: &Members,
        chunk: &mut RebuildChunk,
    ) -> Result<(), Lost> {
        let group = self.device / geometry.members_per_group();
        if let Inner::Declustered(declustered) = &geometry.inner {
            let present = Present { members, base: geometry.base(group) };
            let lost = |record| geometry.lost(group, record * geometry.row_sectors());
            return declustered.rebuild((self.device, lba), self.is_copying(), present, chunk).map_err(lost);
        }
        let sectors = (end - lba) as u32;
        (chunk.from, chunk.end) = (lba, end);
        chunk.rows = geometry.copied_rows(group, lba, end);
        if let Some(to) = self.to {
            chunk.reads.clear();
            chunk.reads.push(Piece::read(self.device, lba, sectors));
            (chunk.write, chunk.xor_bytes) = (Piece::write(to, lba, sectors), 0);
            return Ok(());
        }
        let base = geometry.base(group);
        chunk.write = Piece::write(self.device, lba, sectors);
        if let Inner::Records(records) = &geometry.inner {
            let lost = |record| geometry.lost(group, record * geometry.row_sectors());
            return records.rebuild((u32::from(self.device - base), lba, end), members, base, chunk).map_err(lost);
        }
        let survivors = first(u32::from(geometry.members_per_group())) & !members.missing(group, end);
        let (sources, turn) = match &geometry.inner {
            Inner::Copies => (1, 0),
            Inner::Parity(parity) => (parity.data.value() as u32, self.turn),
            Inner::Records(_) | Inner::Declustered(_) => unreachable!("planned above"),
        };
        if survivors.count_ones() < sources {
            return Err(geometry.lost(group, lba / geometry.strip.value() * geometry.row_sectors()));
        }
        chunk.reads.clear();
        chunk
            .reads
            .extend(chosen(survivors, sources, turn).map(|position| Piece::read(base + position as u16, lba, sectors)));
        chunk.xor_bytes = if sources > 1 { u64::from(sources) * u64::from(sectors) * 512 } else { 0 };
        Ok(())
    }
}
