//! Who of a group is present, has failed, or is being rebuilt.
//!
//! A member that is being rebuilt serves what lies below its mark: reads and writes of higher addresses treat it as
//! missing, and the rebuild brings them later. A member that is copied elsewhere is present; writes only take the rows that
//! are copied. A distributed spare is no drive: who it stands for is known here, and where that lies to the layout; how far a rebuild
//! has come is then an address in its order (`rebuild_order.rs`).

use super::geometry::{Geometry, Inner};
use super::piece::Piece;
use super::positions::bits;

/// The state of one member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemberState {
    /// Serves everything.
    #[default]
    Present,
    /// Serves nothing.
    Failed,
    /// A spare in its place, right up to a mark.
    Rebuilding {
        /// Sectors from the start of the member that hold what they should.
        rebuilt_sectors: u64,
    },
}

/// The distributed spare that stands for a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stead {
    spare: u16,
    /// Sectors from the start of the member that a new drive of it has again.
    returned_sectors: u64,
}

/// The states of all members of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    states: Vec<MemberState>,
    members_per_group: u16,
    /// Per redundancy group, one bit for each member that is not present.
    impaired: Vec<u64>,
    impaired_count: u32,
    /// Per redundancy group, one bit for each member that is copied.
    copied: Vec<u64>,
    /// By member, the distributed spare that stands for it.
    steads: Vec<Option<Stead>>,
}

impl Geometry {
    /// All members present.
    pub fn members(&self) -> Members {
        Members::new(self.groups(), self.members_per_group())
    }
}

impl Members {
    fn new(groups: u16, members_per_group: u16) -> Self {
        let devices = usize::from(groups) * usize::from(members_per_group);
        Self {
            states: vec![MemberState::Present; devices],
            members_per_group,
            impaired: vec![0; usize::from(groups)],
            impaired_count: 0,
            copied: vec![0; usize::from(groups)],
            steads: vec![None; devices],
        }
    }

    /// How many members there are.
    pub const fn count(&self) -> u16 {
        self.states.len() as u16
    }

    /// The state of a member.
    pub fn state(&self, device: u16) -> MemberState {
        self.states[usize::from(device)]
    }

    /// Whether every member is present.
    pub const fn is_whole(&self) -> bool {
        self.impaired_count == 0
    }

    /// Members that are not present.
    pub const fn impaired(&self) -> u32 {
        self.impaired_count
    }

    /// A member fails, or the spare that is being rebuilt in its place does.
    pub fn fail(&mut self, device: u16) {
        self.steads[usize::from(device)] = None;
        self.set(device, MemberState::Failed);
    }

    /// A distributed spare takes the place of a failed member, if one is free; nothing of it is right yet.
    pub fn replace_by_distributed(&mut self, device: u16, geometry: &Geometry) -> bool {
        let Inner::Declustered(declustered) = &geometry.inner else { return false };
        let base = device / self.members_per_group * self.members_per_group;
        let Some(spare) = declustered.free_spare(self, base) else { return false };
        self.replace(device);
        self.steads[usize::from(device)] = Some(Stead { spare, returned_sectors: 0 });
        true
    }

    /// Whether a distributed spare stands for a member.
    pub fn is_spared(&self, device: u16) -> bool {
        self.spare_of(device).is_some()
    }

    /// A new drive of a member that a distributed spare stands for has so much of it again; when it has all, the spare is free.
    pub fn return_to(&mut self, device: u16, sectors: u64, geometry: &Geometry) {
        assert!(sectors == 0 || self.state(device) == MemberState::Present, "only what is rebuilt is given back");
        if let Some(stead) = &mut self.steads[usize::from(device)] {
            stead.returned_sectors = sectors;
        }
        if sectors >= geometry.member_sectors() {
            self.steads[usize::from(device)] = None;
        }
    }

    /// The number of the distributed spare that stands for a member.
    #[inline]
    pub fn spare_of(&self, device: u16) -> Option<u16> {
        self.steads[usize::from(device)].map(|stead| stead.spare)
    }

    /// How much of a member that a distributed spare stands for its new drive has.
    pub fn returned_sectors(&self, device: u16) -> u64 {
        self.steads[usize::from(device)].map_or(0, |stead| stead.returned_sectors)
    }

    /// A spare takes the place of a failed member; nothing of it is right yet.
    pub fn replace(&mut self, device: u16) {
        assert_eq!(self.state(device), MemberState::Failed, "only a failed member is replaced");
        self.set(device, MemberState::Rebuilding { rebuilt_sectors: 0 });
    }

    /// The rebuild has come this far; at the end of the member it is present again.
    pub fn rebuilt(&mut self, device: u16, rebuilt_sectors: u64, geometry: &Geometry) {
        assert!(matches!(self.state(device), MemberState::Rebuilding { .. }), "only a replaced member is rebuilt");
        let whole = rebuilt_sectors >= geometry.member_sectors();
        self.set(device, if whole { MemberState::Present } else { MemberState::Rebuilding { rebuilt_sectors } });
    }

    /// A member begins to be copied elsewhere, or no longer is.
    pub fn copy(&mut self, device: u16, begins: bool) {
        let bit = 1 << (device % self.members_per_group % 64);
        let copied = &mut self.copied[usize::from(device / self.members_per_group)];
        *copied = if begins { *copied | bit } else { *copied & !bit };
    }

    fn set(&mut self, device: u16, state: MemberState) {
        self.states[usize::from(device)] = state;
        let group = device / self.members_per_group;
        let first = usize::from(group * self.members_per_group);
        let own = self.states[first..first + usize::from(self.members_per_group)].iter();
        // Of more members than a word has bits, it only tells whether there are any.
        let impaired = own.enumerate().filter(|(_, state)| **state != MemberState::Present);
        self.impaired[usize::from(group)] = impaired.fold(0, |bits, (position, _)| bits | 1 << (position % 64));
        self.impaired_count = self.states.iter().filter(|state| **state != MemberState::Present).count() as u32;
    }

    /// One bit for each member of a redundancy group that does not serve every sector below `end`, given that it is asked
    /// for those of one row or less.
    #[inline]
    pub(super) fn missing(&self, group: u16, end: u64) -> u64 {
        match self.impaired[usize::from(group)] {
            0 => 0,
            impaired => self.not_reached(group, impaired, end),
        }
    }

    #[cold]
    fn not_reached(&self, group: u16, impaired: u64, end: u64) -> u64 {
        let mut missing = impaired;
        for position in bits(impaired) {
            let device = group * self.members_per_group + position as u16;
            if matches!(self.state(device), MemberState::Rebuilding { rebuilt_sectors } if rebuilt_sectors >= end) {
                missing &= !(1 << position);
            }
        }
        missing
    }

    /// Whether any member of a redundancy group is not present.
    #[inline]
    pub(super) fn is_impaired(&self, group: u16) -> bool {
        self.impaired[usize::from(group)] != 0
    }

    /// Whether any member of a redundancy group is not present, or is copied: its rows have to be locked.
    #[inline]
    pub(super) fn is_moving(&self, group: u16) -> bool {
        self.impaired[usize::from(group)] | self.copied[usize::from(group)] != 0
    }

    /// Whether a member serves all of a piece.
    pub fn serves(&self, piece: &Piece) -> bool {
        self.served_sectors(piece.device) >= piece.end()
    }

    /// How far a member serves.
    pub(super) fn served_sectors(&self, device: u16) -> u64 {
        match self.state(device) {
            MemberState::Present => u64::MAX,
            MemberState::Failed => 0,
            MemberState::Rebuilding { rebuilt_sectors } => rebuilt_sectors,
        }
    }
}
