//! Counts by reason, in the order in which the reasons came up.

/// Few reasons, each with its count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(pub Vec<(&'static str, u64)>);

impl Tally {
    /// One more for a reason.
    pub(crate) fn count(&mut self, reason: &'static str) {
        match self.0.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.0.push((reason, 1)),
        }
    }
}
