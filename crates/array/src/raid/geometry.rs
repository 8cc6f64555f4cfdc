//! A RAID group's shape, worked out once: sizes, and the way from a data address to a member.

use super::declustered::Declustered;
use super::parity::Parity;
use super::piece::{Extent, Piece};
use super::records::Records;
use super::rotation::Rotation;
use super::spec::{GroupSpec, Level, ReadChoice, SpecError};
use super::striping::Striping;
use plimsoll_workload::Divisor;

/// The shape of a group.
#[derive(Clone, Debug)]
pub struct Geometry {
    pub(super) striping: Striping,
    pub(super) inner: Inner,
    pub(super) strip: Divisor,
    pub(super) read_choice: ReadChoice,
    /// Data sectors of one redundancy group.
    pub(super) group_sectors: u64,
    member_sectors: u64,
    members_per_group: u16,
}

/// What a redundancy group is.
#[derive(Clone, Debug)]
pub(super) enum Inner {
    /// Every member holds the same: one member of RAID 0, the copies of a mirror.
    Copies,
    /// Strips with parity.
    Parity(Parity),
    /// Records with parity of their own.
    Records(Records),
    /// Records in groups that are spread over all members.
    Declustered(Box<Declustered>),
}

impl Geometry {
    /// Works out a group whose members (the smallest of them) have `device_sectors` sectors.
    pub fn new(spec: &GroupSpec, device_sectors: u64) -> Result<Self, SpecError> {
        spec.check()?;
        let groups = spec.redundancy_groups();
        let members = spec.devices / groups;
        let strip = u64::from(spec.strip_sectors);
        if spec.level.is_declustered() {
            return Self::of_declustered(spec, groups, members, device_sectors);
        }
        if spec.level.has_records() {
            return Self::of_records(spec, groups, members, device_sectors);
        }
        let parities = spec.parities();
        let data = if parities > 0 { u32::from(members) - parities } else { 1 };
        let row_sectors = strip * u64::from(data);
        let chunk = spec.outer_strip_sectors.map_or(row_sectors, u64::from);
        let member_sectors =
            if spec.level == Level::Raid1 { device_sectors } else { device_sectors - device_sectors % strip };
        let inside = member_sectors * u64::from(data);
        let group_sectors = if groups == 1 { inside } else { inside - inside % chunk };
        if group_sectors == 0 {
            let problem = format!("one strip does not fit a member of {device_sectors} sectors; give less");
            return Err(SpecError::new("strip_sectors", problem));
        }
        let parity = || Parity {
            strip: Divisor::new(strip),
            data: Divisor::new(u64::from(data)),
            parities,
            rotation: Rotation::new(u32::from(members), parities, spec.layout.unwrap_or_default()),
            write_choice: spec.write_choice.unwrap_or_default(),
            reconstruct_bias_ios: i64::from(spec.reconstruct_bias_ios),
        };
        Ok(Self {
            striping: Striping::new(chunk, groups),
            inner: if parities > 0 { Inner::Parity(parity()) } else { Inner::Copies },
            strip: Divisor::new(strip),
            read_choice: spec.read_choice.unwrap_or_default(),
            group_sectors,
            member_sectors,
            members_per_group: members,
        })
    }

    fn of_records(spec: &GroupSpec, groups: u16, members: u16, device_sectors: u64) -> Result<Self, SpecError> {
        let unit = u64::from(spec.strip_sectors);
        let record = u64::from(spec.record_sectors());
        let member_sectors = device_sectors - device_sectors % unit;
        let records = Records::new((record, unit), u32::from(members), spec.parities(), member_sectors);
        if records.data_sectors() == 0 {
            let problem = format!("one record does not fit members of {device_sectors} sectors; give less");
            return Err(SpecError::new("record_sectors", problem));
        }
        Ok(Self {
            striping: Striping::new(record, groups),
            inner: Inner::Records(records),
            strip: Divisor::new(unit),
            read_choice: ReadChoice::default(),
            group_sectors: records.data_sectors(),
            member_sectors,
            members_per_group: members,
        })
    }

    fn of_declustered(spec: &GroupSpec, groups: u16, members: u16, device_sectors: u64) -> Result<Self, SpecError> {
        let found = Declustered::new(spec, members, device_sectors);
        if found.data_sectors() == 0 {
            let problem = format!("one slice of rows does not fit members of {device_sectors} sectors; give less");
            return Err(SpecError::new("row_sectors", problem));
        }
        Ok(Self {
            striping: Striping::new(found.record.value(), groups),
            strip: Divisor::new(u64::from(spec.strip_sectors)),
            read_choice: ReadChoice::default(),
            group_sectors: found.data_sectors(),
            member_sectors: found.member_sectors(),
            members_per_group: members,
            inner: Inner::Declustered(Box::new(found)),
        })
    }

    /// The same with rebuilds in steps of about so many sectors, where these decide the order of a rebuild.
    pub fn with_rebuild_step(mut self, sectors: u32) -> Self {
        if let Inner::Declustered(declustered) = self.inner {
            self.inner = Inner::Declustered(Box::new(declustered.with_step(sectors)));
        }
        self
    }

    /// Data sectors of the whole group.
    pub const fn data_sectors(&self) -> u64 {
        self.group_sectors * self.groups() as u64
    }

    /// Sectors of each member that are used.
    pub const fn member_sectors(&self) -> u64 {
        self.member_sectors
    }

    /// Members of the whole group.
    pub const fn devices(&self) -> u16 {
        self.members_per_group * self.groups()
    }

    /// Redundancy groups: single devices, mirror sets or parity groups.
    pub const fn groups(&self) -> u16 {
        self.striping.groups()
    }

    /// Members of one redundancy group.
    pub const fn members_per_group(&self) -> u16 {
        self.members_per_group
    }

    /// Whether rows, or records, have parity, so that what is written of one shares its update.
    pub const fn has_parity(&self) -> bool {
        !matches!(self.inner, Inner::Copies)
    }

    /// How many members of one redundancy group may be missing without loss.
    pub const fn redundancy(&self) -> u16 {
        match &self.inner {
            Inner::Copies => self.members_per_group - 1,
            Inner::Parity(parity) => parity.parities as u16,
            Inner::Records(records) => records.parities as u16,
            Inner::Declustered(declustered) => declustered.parities as u16,
        }
    }

    /// Data sectors of one row of one redundancy group, or of a record: what a write must cover, aligned, to need no read.
    pub const fn row_sectors(&self) -> u64 {
        match &self.inner {
            Inner::Copies => self.strip.value(),
            Inner::Parity(parity) => self.strip.value() * parity.data.value(),
            Inner::Records(records) => records.record_sectors(),
            Inner::Declustered(declustered) => declustered.record.value(),
        }
    }

    /// Whether there are several copies, one of which serves a read.
    pub const fn chooses(&self) -> bool {
        matches!(self.inner, Inner::Copies) && self.members_per_group > 1
    }

    /// Which copy of a mirror serves a read: what the closure given to [`Geometry::read`] should answer.
    pub const fn read_choice(&self) -> ReadChoice {
        self.read_choice
    }

    /// Where a data sector lies: the member (of a mirror the first) and the sector on it.
    #[inline]
    pub fn locate(&self, lba: u64) -> (u16, u64) {
        let Some(share) = self.striping.single(Extent { lba, sectors: 1 }) else {
            unreachable!("one sector is in one chunk")
        };
        let piece = match &self.inner {
            Inner::Copies => Piece::read(0, share.start, 1),
            Inner::Parity(parity) => parity.single(share, 0).unwrap_or_default(),
            Inner::Records(records) => {
                let (position, lba) = records.locate(share.start);
                Piece::read(position as u16, lba, 1)
            }
            Inner::Declustered(declustered) => {
                let (position, lba) = declustered.locate(share.start);
                Piece::read(position as u16, lba, 1)
            }
        };
        (share.group * self.members_per_group + piece.device, piece.lba)
    }

    pub(super) fn base(&self, group: u16) -> u16 {
        group * self.members_per_group
    }
}
