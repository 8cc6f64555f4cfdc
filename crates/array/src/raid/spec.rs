//! What a RAID group is, as a document says it, and the checks of it.
//!
//! Limits: a redundancy group (a mirror set, or the members that share parity) has at most 64 members.
//!
//! ```
//! use plimsoll_array::raid::{GroupSpec, Level};
//!
//! let spec: GroupSpec = toml::from_str("level = 'raid50'\ndevices = 12\ngroups = 2\nstrip_sectors = 128").unwrap();
//! assert_eq!(spec.level, Level::Raid50);
//! assert!(spec.check().is_ok());
//!
//! let wrong: GroupSpec = toml::from_str("level = 'raid5'\ndevices = 2").unwrap();
//! assert_eq!(wrong.check().unwrap_err().to_string(), "key 'devices': 2 is too few for raid5; give at least 3");
//! ```

use plimsoll_workload::option::Record;
use plimsoll_workload::unit::SECTORS;
use plimsoll_workload::{WorkloadError, options, words};
use thiserror::Error;

use super::permutation::CHILDREN_MAX;
use super::piece::MEMBERS_MAX;
use super::records::RecordShape;
use crate::notation::ARRAYS;

/// A key whose value cannot be, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("key '{key}': {problem}")]
pub struct SpecError {
    /// The key.
    pub key: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

impl SpecError {
    pub(super) fn new(key: &'static str, problem: impl Into<String>) -> Self {
        Self { key: key.to_owned(), problem: problem.into() }
    }
}

impl From<WorkloadError> for SpecError {
    fn from(error: WorkloadError) -> Self {
        Self { key: error.path(), problem: error.problem().to_string() }
    }
}

/// A record if nothing is said: 128 KiB, the `recordsize` of OpenZFS.
const RECORD_SECTORS: u32 = 256;
/// The longest sector of a pool: 16 KiB.
const UNIT_MAX: u32 = 32;
/// A row of dRAID: 16 MiB of every child.
const ROW_SECTORS: u32 = 1 << 15;
/// Data members of a dRAID group, if there are so many.
const DATA_MEMBERS: u16 = 8;

words! {
    /// How data and redundancy are spread over the members.
    pub enum Level: "a RAID level" {
        /// Stripes without redundancy.
        Raid0 = "raid0",
        /// Every member holds everything.
        Raid1 = "raid1",
        /// Stripes over mirror sets.
        Raid10 = "raid10",
        /// One rotated parity strip per row.
        Raid5 = "raid5",
        /// Two rotated strips of redundancy per row, P and Q.
        Raid6 = "raid6",
        /// Stripes over several RAID 5.
        Raid50 = "raid50",
        /// Stripes over several RAID 6.
        Raid60 = "raid60",
        /// RAIDZ of ZFS: every record has parity of its own and is written as a whole; one member may be missing.
        Raidz1 = "raidz1",
        /// The same with two members that may be missing.
        Raidz2 = "raidz2",
        /// The same with three members that may be missing.
        Raidz3 = "raidz3",
        /// dRAID of ZFS: groups of data and one parity, and distributed spares, spread over all members.
        Draid1 = "draid1",
        /// The same with two parities.
        Draid2 = "draid2",
        /// The same with three parities.
        Draid3 = "draid3",
        /// Erasure coding: rows of data and as many strips of redundancy as wanted, each member in another place, as on nodes of a
        /// network.
        Erasure = "erasure",
    }
}

impl Level {
    /// Strips of parity in a row, or columns in a record; 0 where nothing is computed, nothing where a document says how many.
    const fn parities(self) -> Option<u32> {
        Some(match self {
            Self::Raid5 | Self::Raid50 | Self::Raidz1 | Self::Draid1 => 1,
            Self::Raid6 | Self::Raid60 | Self::Raidz2 | Self::Draid2 => 2,
            Self::Raidz3 | Self::Draid3 => 3,
            Self::Raid0 | Self::Raid1 | Self::Raid10 => 0,
            Self::Erasure => return None,
        })
    }

    /// Whether members hold the same.
    pub const fn is_mirrored(self) -> bool {
        matches!(self, Self::Raid1 | Self::Raid10)
    }

    /// Whether data are records with parity of their own.
    pub const fn has_records(self) -> bool {
        matches!(self, Self::Raidz1 | Self::Raidz2 | Self::Raidz3) || self.is_declustered()
    }

    /// Whether groups narrower than all members are spread over these.
    pub const fn is_declustered(self) -> bool {
        matches!(self, Self::Draid1 | Self::Draid2 | Self::Draid3)
    }

    /// Whether data are striped over several groups, and how is to be said.
    const fn is_nested(self) -> bool {
        matches!(self, Self::Raid50 | Self::Raid60 | Self::Erasure)
    }

    /// The fewest members of one redundancy group; of erasure coding besides its parities.
    const fn fewest(self) -> u16 {
        match self {
            Self::Raid0 | Self::Erasure => 1,
            Self::Raid1 | Self::Raid10 | Self::Raidz1 | Self::Draid1 => 2,
            Self::Raid5 | Self::Raid50 | Self::Raidz2 | Self::Draid2 => 3,
            Self::Raid6 | Self::Raid60 | Self::Raidz3 | Self::Draid3 => 4,
        }
    }
}

words! {
    /// How parity moves from row to row, and where the data of a row begins, in the words of Linux md.
    pub enum Layout: "a layout", default LeftSymmetric {
        /// Parity starts on the last member and moves down; data begins after it and wraps around.
        LeftSymmetric = "left_symmetric",
        /// Parity starts on the last member and moves down; data begins on the first member.
        LeftAsymmetric = "left_asymmetric",
        /// Parity starts on the first member and moves up; data begins after it and wraps around.
        RightSymmetric = "right_symmetric",
        /// Parity starts on the first member and moves up; data begins on the first member.
        RightAsymmetric = "right_asymmetric",
    }
}

words! {
    /// How new parity is got for a row that is not written as a whole.
    pub enum WriteChoice: "a way to new parity", default FewestIos {
        /// The way with fewer disk operations; read-modify-write where both need as many.
        FewestIos = "fewest_ios",
        /// From old data and old parity, wherever that can be done.
        ReadModifyWrite = "read_modify_write",
        /// From the rest of the row, wherever that can be done.
        Reconstruct = "reconstruct",
    }
}

words! {
    /// Which copy of a mirror serves a read.
    pub enum ReadChoice: "a choice of copies", default ShorterPositioning {
        /// The copy whose head would be there first.
        ShorterPositioning = "shorter_positioning",
        /// The copy with the fewest commands waiting; of equals the one whose last command ended nearest. This is what a
        /// controller can know, which sees queues and addresses, but no angles.
        LeastQueued = "least_queued",
        /// The first copy that is present.
        PrimaryOnly = "primary_only",
    }
}

options! {
    /// A RAID group.
    #[derive(Eq)]
    pub struct GroupSpec: "RAID layout" in ARRAYS {
        "Group" {
            /// The RAID level.
            level: Level = Level::Raid0, required "say which RAID level it has", example "raid5";
            /// Members of the whole group, without spares.
            devices: u16 = 1, required "say how many members it has", example "6";
            /// Sectors of 512 bytes that lie on one member before the next follows; of RAIDZ and dRAID a sector of the pool, 2^ashift bytes.
            strip_sectors: u32 = 128, range 1.0 => 4_294_967_295.0, unit SECTORS, example "512";
            /// How parity rotates; only with parity.
            layout: Option<Layout> = None, unset "`left_symmetric`", example "right_asymmetric";
            /// Erasure coding: strips of redundancy in a row, m of k + m; as many members of a row may be missing.
            parities: Option<u16> = None, unset "what the level says", range 1.0 => 32.0, example "2";
            /// Redundancy groups: of RAID 50 and 60 (must be given), mirror sets of RAID 10, RAIDZ or dRAID of a pool, sets of k + m members
            /// of erasure coding.
            groups: Option<u16> = None, unset "half the devices of RAID 10, one RAIDZ, dRAID or set of k + m", range 1.0 => 65_535.0, example "2";
            /// RAID 50 and 60, and erasure coding: data sectors on one parity group before the next follows.
            outer_strip_sectors: Option<u32> = None, unset "one full row", unit SECTORS, example "512";
            /// How new parity is got; only with parity.
            write_choice: Option<WriteChoice> = None, unset "`fewest_ios`", example "reconstruct";
            /// Disk operations added to what read-modify-write needs before the two ways are compared: 1 makes ties reconstruct,
            /// more favours it further, less than 0 speaks against it; only with parity and `fewest_ios`.
            reconstruct_bias_ios: i32 = 0, example "1";
            /// RAIDZ and dRAID: sectors of a record, which is read and written as a whole: the `recordsize` of a file system, the `volblocksize`
            /// of a volume. A controller's cache keeps only the pages that were asked for, so give it pages of this size.
            record_sectors: Option<u32> = None, unset "256 (128 KiB)", range 1.0 => 32_768.0, unit SECTORS, example "32";
            /// dRAID: members that hold the data of a group; its parities come on top of them. Source: zpoolconcepts(7), 8 unless there are
            /// fewer.
            data_members: Option<u16> = None, unset "8, or as many as there are without parities and spares", range 1.0 => 255.0, example "4";
            /// dRAID: how many members' worth of space is kept free, spread over all of them, for what members that fail held.
            distributed_spares: Option<u16> = None, unset "none", range 0.0 => 255.0, example "2";
            /// dRAID: sectors of every member that a group takes before the next one. Source: OpenZFS, 16 MiB, `VDEV_DRAID_ROWHEIGHT`.
            row_sectors: Option<u32> = None, unset "32768 (16 MiB)", range 1.0 => 4_194_304.0, unit SECTORS, example "65536";
            /// Which copy serves a read; only with mirrors.
            read_choice: Option<ReadChoice> = None, unset "`shorter_positioning`", example "least_queued";
        }
    }
}

impl GroupSpec {
    /// A group with every choice left at its default.
    pub const fn new(level: Level, devices: u16, strip_sectors: u32) -> Self {
        Self {
            level,
            devices,
            strip_sectors,
            layout: None,
            parities: None,
            groups: None,
            outer_strip_sectors: None,
            record_sectors: None,
            data_members: None,
            distributed_spares: None,
            row_sectors: None,
            write_choice: None,
            reconstruct_bias_ios: 0,
            read_choice: None,
        }
    }

    /// How many redundancy groups there are: single devices, mirror sets or parity groups.
    pub fn redundancy_groups(&self) -> u16 {
        match self.level {
            Level::Raid0 => self.devices,
            Level::Raid1 | Level::Raid5 | Level::Raid6 => 1,
            Level::Raid10 => self.groups.unwrap_or(self.devices / 2),
            Level::Raid50
            | Level::Raid60
            | Level::Raidz1
            | Level::Raidz2
            | Level::Raidz3
            | Level::Draid1
            | Level::Draid2
            | Level::Draid3
            | Level::Erasure => self.groups.unwrap_or(1),
        }
    }

    /// Strips of parity in a row, or columns in a record; 0 where nothing is computed.
    pub fn parities(&self) -> u32 {
        self.level.parities().unwrap_or_else(|| u32::from(self.parities.unwrap_or(0)))
    }

    /// Sectors of a record.
    pub fn record_sectors(&self) -> u32 {
        self.record_sectors.unwrap_or(RECORD_SECTORS)
    }

    /// What a record takes; nothing where data are no records. The specification is one that can be.
    pub fn record_shape(&self) -> Option<RecordShape> {
        let members = self.devices / self.redundancy_groups();
        let units = u64::from(self.record_sectors() / self.strip_sectors);
        let parities = self.parities();
        if self.level.is_declustered() {
            return Some(RecordShape::of_width(units, self.data_members(members).into(), parities));
        }
        self.level.has_records().then(|| RecordShape::new(units, members.into(), parities))
    }

    /// Members that hold the data of a declustered group, of so many members of a redundancy group.
    pub fn data_members(&self, members: u16) -> u16 {
        let left = members.saturating_sub(self.parities() as u16).saturating_sub(self.distributed_spares());
        self.data_members.unwrap_or(left.min(DATA_MEMBERS))
    }

    /// Distributed spares of every redundancy group.
    pub fn distributed_spares(&self) -> u16 {
        self.distributed_spares.unwrap_or(0)
    }

    /// Sectors of a row of a declustered group.
    pub fn row_sectors(&self) -> u32 {
        self.row_sectors.unwrap_or(ROW_SECTORS)
    }

    /// Whether such a group can be.
    pub fn check(&self) -> Result<(), SpecError> {
        self.check_ranges()?;
        self.check_belonging()?;
        self.check_records()?;
        self.check_groups()?;
        self.check_declustered()?;
        match self.outer_strip_sectors {
            Some(outer) if outer == 0 || outer % self.strip_sectors != 0 => Err(SpecError::new(
                "outer_strip_sectors",
                format!("{outer} is no multiple of strip_sectors; give a multiple of {}", self.strip_sectors),
            )),
            _ => Ok(()),
        }
    }

    /// Keys that mean nothing at this level.
    fn check_belonging(&self) -> Result<(), SpecError> {
        let records = self.level.has_records();
        let parity = self.level.parities() != Some(0) && !records;
        let mirrored = self.level.is_mirrored();
        let grouped = self.level.is_nested() || self.level == Level::Raid10 || records;
        for (key, given, belongs) in [
            ("layout", self.layout.is_some(), parity),
            ("parities", self.parities.is_some(), self.level == Level::Erasure),
            ("write_choice", self.write_choice.is_some(), parity),
            ("reconstruct_bias_ios", self.reconstruct_bias_ios != 0, parity),
            ("read_choice", self.read_choice.is_some(), mirrored),
            ("record_sectors", self.record_sectors.is_some(), records),
            ("data_members", self.data_members.is_some(), self.level.is_declustered()),
            ("distributed_spares", self.distributed_spares.is_some(), self.level.is_declustered()),
            ("row_sectors", self.row_sectors.is_some(), self.level.is_declustered()),
            ("groups", self.groups.is_some(), grouped),
            ("outer_strip_sectors", self.outer_strip_sectors.is_some(), self.level.is_nested()),
        ] {
            if given && !belongs {
                return Err(SpecError::new(key, format!("has no meaning for {}; leave it out", self.level.name())));
            }
        }
        Ok(())
    }

    /// A record is whole sectors of the pool.
    fn check_records(&self) -> Result<(), SpecError> {
        let (level, unit, record) = (self.level.name(), self.strip_sectors, self.record_sectors());
        if !self.level.has_records() {
            return Ok(());
        }
        if !unit.is_power_of_two() || unit > UNIT_MAX {
            let problem = format!(
                "{unit} is no sector of a pool, which {level} counts in; give a power of two up to {UNIT_MAX}: 8 for ashift 12"
            );
            return Err(SpecError::new("strip_sectors", problem));
        }
        if !record.is_multiple_of(unit) {
            let problem = format!("{record} is no multiple of strip_sectors; give a multiple of {unit}");
            return Err(SpecError::new("record_sectors", problem));
        }
        Ok(())
    }

    fn check_groups(&self) -> Result<(), SpecError> {
        let (level, devices) = (self.level.name(), self.devices);
        if self.level == Level::Erasure && self.parities.is_none() {
            let problem = format!("is missing; say how many strips of redundancy a row of this {level} has");
            return Err(SpecError::new("parities", problem));
        }
        if matches!(self.level, Level::Raid50 | Level::Raid60) && self.groups.is_none() {
            return Err(SpecError::new("groups", format!("is missing; say how many parity groups this {level} has")));
        }
        let groups = self.groups.unwrap_or(1);
        let each = self.level.fewest() + self.parities.unwrap_or(0);
        let fewest = each * groups.min(u16::MAX / each);
        if devices < fewest {
            return Err(SpecError::new("devices", format!("{devices} is too few for {level}; give at least {fewest}")));
        }
        if self.level == Level::Raid10 && self.groups.is_none() && devices % 2 != 0 {
            return Err(SpecError::new(
                "devices",
                format!("{devices} are no pairs; give an even number, or say 'groups'"),
            ));
        }
        let groups = self.redundancy_groups();
        if devices % groups != 0 {
            let problem =
                format!("{devices} cannot be dealt out evenly to {groups} groups; give a multiple of {groups}");
            return Err(SpecError::new("devices", problem));
        }
        let most = if self.level.is_declustered() { CHILDREN_MAX } else { MEMBERS_MAX as u16 };
        if devices / groups > most {
            let problem =
                format!("{} members in one redundancy group are too many; give at most {most}", devices / groups);
            return Err(SpecError::new("devices", problem));
        }
        Ok(())
    }

    /// Groups and spares fit the members, and a record fits a row.
    fn check_declustered(&self) -> Result<(), SpecError> {
        if !self.level.is_declustered() {
            return Ok(());
        }
        let (level, members) = (self.level.name(), self.devices / self.redundancy_groups());
        let (data, spares, parities) = (self.data_members(members), self.distributed_spares(), self.parities());
        let least = u32::from(data.max(1)) + parities + u32::from(spares);
        if u32::from(members) < least {
            let problem = format!(
                "{members} are too few for {level} with {} and {}; give at least {least}",
                counted(data.max(1), "data member"),
                counted(spares, "distributed spare")
            );
            return Err(SpecError::new("devices", problem));
        }
        let (unit, row) = (self.strip_sectors, self.row_sectors());
        let height = (self.record_sectors() / unit).div_ceil(u32::from(data)) * unit;
        if !row.is_multiple_of(unit) || row < height {
            let problem = format!(
                "{row} holds no record at {height} sectors of every member; give a multiple of {unit} from {height} on"
            );
            return Err(SpecError::new("row_sectors", problem));
        }
        Ok(())
    }
}

fn counted(count: u16, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
