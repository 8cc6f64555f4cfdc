//! The findings of an inspection: each acknowledged write that is not there, and what became of it.

use serde::Serialize;

use super::account::Claim;

/// The sectors of one acknowledged write of which not all are right, as far as they were looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub(super) claim: Claim,
    /// Blocks of it in which every sector was right are not counted here.
    pub(super) right: u64,
    /// Something older, or nothing at all.
    pub(super) missing: u64,
    /// A stamp whose checksum does not match.
    pub(super) broken: u64,
    /// A stamp of another address.
    pub(super) foreign: u64,
    /// The target returned an error.
    pub(super) unreadable: u64,
    /// First byte that is not right.
    pub(super) first_bad: u64,
}

/// What became of an acknowledged write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Nothing of it is there, and nothing that was issued after its acknowledgement either: the target
    /// went back in time.
    Lost,
    /// Some sectors of it are there and some are not.
    Torn,
    /// Nothing of it is there, although something is that was issued after its acknowledgement.
    OutOfOrder,
    /// Data of another address stand in its place.
    Misdirected,
    /// A stamp in its place does not match its checksum.
    Corrupt,
    /// The target returns an error in its place.
    Unreadable,
}

impl Kind {
    /// Every kind, in table order.
    pub const ALL: [Self; 6] =
        [Self::Lost, Self::Torn, Self::OutOfOrder, Self::Misdirected, Self::Corrupt, Self::Unreadable];

    /// The word used in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Torn => "torn",
            Self::OutOfOrder => "out_of_order",
            Self::Misdirected => "misdirected",
            Self::Corrupt => "corrupt",
            Self::Unreadable => "unreadable",
        }
    }
}

/// One acknowledged write that is not there as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// What became of it.
    pub kind: Kind,
    /// Its number in the run.
    pub sequence: u64,
    /// First byte on the target.
    pub address: u64,
    /// Length in bytes.
    pub len: u32,
    /// When it was acknowledged as durable, in nanoseconds from the run's start.
    pub acknowledged_ns: u64,
    /// Sectors of it that are not right.
    pub bad_sectors: u64,
    /// First byte that is not right.
    pub first_bad: u64,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Writes that the target had promised to keep.
    pub acknowledged: u64,
    /// Sectors of 512 bytes that had to hold one of them.
    pub sectors_checked: u64,
    /// Sectors of them that may be damaged, because an unacknowledged write was on its way to them.
    pub sectors_excused: u64,
    /// The writes that are not there, in the order of issue.
    pub violations: Vec<Violation>,
}

/// A write with a fault, and what is needed to name the fault.
pub(super) struct Fault {
    pub(super) tally: Tally,
    /// Something of it was there.
    pub(super) arrived: bool,
    /// The newest write of the run of which anything was seen.
    pub(super) newest: u64,
}

impl Fault {
    fn violation(&self) -> Violation {
        let Tally { claim, missing, broken, foreign, unreadable, first_bad, .. } = self.tally;
        let kind = match () {
            () if foreign > 0 => Kind::Misdirected,
            () if broken > 0 => Kind::Corrupt,
            () if missing == 0 => Kind::Unreadable,
            () if self.arrived => Kind::Torn,
            () if self.newest > claim.horizon => Kind::OutOfOrder,
            () => Kind::Lost,
        };
        Violation {
            kind,
            sequence: claim.sequence,
            address: claim.address,
            len: claim.len,
            acknowledged_ns: claim.at_ns,
            bad_sectors: missing + broken + foreign + unreadable,
            first_bad,
        }
    }
}

impl Verdict {
    pub(super) fn new(acknowledged: u64, sectors_checked: u64, sectors_excused: u64, faults: &[Fault]) -> Self {
        let violations = faults.iter().map(Fault::violation).collect();
        Self { acknowledged, sectors_checked, sectors_excused, violations }
    }

    /// How many violations are of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.violations.iter().filter(|violation| violation.kind == kind).count()
    }
}
