//! Which member of a parity group holds what in a row.
//!
//! The four layouts and the place of Q (on the member after P, wrapping around) are those of Linux md. With an asymmetric
//! layout and two parities the data columns skip both; where P is on the last member, Q is on the first.

use super::spec::Layout;
use plimsoll_workload::Divisor;

/// The rotation of a parity group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rotation {
    members: Divisor,
    parities: u32,
    left: bool,
    symmetric: bool,
}

impl Rotation {
    pub(super) fn new(members: u32, parities: u32, layout: Layout) -> Self {
        Self {
            members: Divisor::new(u64::from(members)),
            parities,
            left: matches!(layout, Layout::LeftSymmetric | Layout::LeftAsymmetric),
            symmetric: matches!(layout, Layout::LeftSymmetric | Layout::RightSymmetric),
        }
    }

    pub(super) const fn members(&self) -> u32 {
        self.members.value() as u32
    }

    #[inline]
    pub(super) fn row(&self, row: u64) -> Row {
        let members = self.members();
        let turn = self.members.remainder(row) as u32;
        Row {
            first_parity: if self.left { members - 1 - turn } else { turn },
            members,
            parities: self.parities,
            symmetric: self.symmetric,
        }
    }
}

/// One row: the positions of its strips.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    first_parity: u32,
    members: u32,
    parities: u32,
    symmetric: bool,
}

impl Row {
    /// The member that holds data column `column`.
    #[inline]
    pub(super) fn data(&self, column: u32) -> u32 {
        if self.symmetric {
            return self.wrapped(self.first_parity + self.parities + column);
        }
        let wraps = self.first_parity + self.parities - self.members.min(self.first_parity + self.parities);
        if column + wraps >= self.first_parity { column + self.parities } else { column + wraps }
    }

    /// The member that holds parity number `which`: P is 0, Q is 1.
    #[inline]
    pub(super) fn parity(&self, which: u32) -> u32 {
        self.wrapped(self.first_parity + which)
    }

    #[inline]
    fn wrapped(&self, position: u32) -> u32 {
        if position >= self.members { position - self.members } else { position }
    }
}
