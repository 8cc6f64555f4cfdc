//! Failures and rebuilds of members, as the results report them.

use super::Faults;
use crate::array::topology::{Group, Topology};

/// What happened to a member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It failed.
    Failed,
    /// A spare took its place.
    Replaced,
    /// A new drive took its place.
    Renewed,
    /// A new drive came when a spare had taken its place, and is a spare.
    SpareRenewed,
    /// The spare, or the new drive, holds everything.
    Rebuilt,
    /// Too many are missing to rebuild it.
    Lost,
    /// A new drive came while the spare in its place is rebuilt, which is copied back afterwards.
    Fitted,
    /// What the spare holds begins to be copied back to the new drive.
    Copying,
    /// The new drive holds everything and is in its place; the spare waits again.
    CopiedBack,
    /// A distributed spare took its place.
    Spared,
}

impl What {
    /// As a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Replaced => "replaced by a spare",
            Self::Spared => "replaced by a distributed spare",
            Self::Renewed => "replaced by a new drive",
            Self::SpareRenewed => "given a new spare",
            Self::Rebuilt => "rebuilt",
            Self::Lost => "cannot be rebuilt",
            Self::Fitted => "given a new drive",
            Self::Copying => "copying back to a new drive",
            Self::CopiedBack => "copied back",
        }
    }
}

/// Something that happened to a member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// When.
    pub time_ns: u64,
    /// The group's number in the specification.
    pub group: u16,
    /// The member's number in the group.
    pub member: u16,
    /// What.
    pub what: What,
}

/// How far the rebuild of a member has come that goes on, or its copying back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rebuilt {
    /// The group's number in the specification.
    pub group: u16,
    /// The member's number in the group.
    pub member: u16,
    /// Whether it is copied back.
    pub copying: bool,
    /// From 0 to 1.
    pub share: f64,
}

impl Faults {
    /// How far what has not ended of rebuilds and copying back has come.
    pub(in crate::array) fn rebuilding(&self, groups: &[Group]) -> impl Iterator<Item = Rebuilt> {
        self.rebuilds.iter().filter_map(|found| found.reached(groups))
    }

    /// What has happened to members of groups so far.
    pub(in crate::array) fn incidents(&self) -> &[Incident] {
        &self.incidents
    }

    pub(super) fn note(&mut self, topology: &Topology, group: u16, member: u16, what: What) {
        self.incidents.push(Incident { time_ns: topology.now_ns, group, member, what });
    }
}
