//! Stretches of an extent: what of it is there, and what of it the group does not have.

/// A stretch of an extent, in sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Stretch {
    pub(super) const fn covers(self, other: Self) -> bool {
        self.from <= other.from && other.to <= self.to
    }

    pub(super) fn joined(self, other: Self) -> Self {
        if self.from == self.to {
            return other;
        }
        Self { from: self.from.min(other.from), to: self.to.max(other.to) }
    }

    /// What both have; none if it is empty.
    pub(super) fn common(self, other: Self) -> Option<Self> {
        let (from, to) = (self.from.max(other.from), self.to.min(other.to));
        (from < to).then_some(Self { from, to })
    }
}
