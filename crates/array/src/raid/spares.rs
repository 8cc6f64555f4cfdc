//! Hot spares: dedicated to one RAID group, or global.
//!
//! Model: a failed member is replaced by the first spare dedicated to its group, else by the first global one, that is
//! large enough. What becomes of it is for others to say: a spare that was copied back, or a new drive in the stead of one
//! that stays, waits with [`Spares::add`].

/// One spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpareSpec {
    /// Which device of the array.
    pub device: u16,
    /// The RAID group that it waits for; every group's if not given.
    pub group: Option<u16>,
}

/// The spares that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spares {
    waiting: Vec<SpareSpec>,
}

impl Spares {
    /// Spares in the order in which they are taken.
    pub fn new(spares: &[SpareSpec]) -> Self {
        Self { waiting: spares.to_vec() }
    }

    /// One more.
    pub fn add(&mut self, spare: SpareSpec) {
        self.waiting.push(spare);
    }

    /// A spare itself fails, or is taken away.
    pub fn remove(&mut self, device: u16) {
        self.waiting.retain(|spare| spare.device != device);
    }

    /// How many wait.
    pub const fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What replaces a failed member of a group with so many sectors, if there is one.
    pub fn take(&mut self, group: u16, sectors: u64, sectors_of: impl Fn(u16) -> u64) -> Option<SpareSpec> {
        let fits = |spare: &SpareSpec| sectors_of(spare.device) >= sectors;
        let dedicated = self.waiting.iter().position(|spare| spare.group == Some(group) && fits(spare));
        let index = dedicated.or_else(|| self.waiting.iter().position(|spare| spare.group.is_none() && fits(spare)))?;
        Some(self.waiting.remove(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dedicated_spare_goes_first_and_only_to_its_group() {
        let spare = |device, group| SpareSpec { device, group };
        let mut spares = Spares::new(&[spare(20, None), spare(21, Some(1)), spare(22, None)]);
        let large = |_| 1000;
        assert_eq!(spares.take(1, 1000, large), Some(spare(21, Some(1))));
        assert_eq!(spares.take(1, 1000, large), Some(spare(20, None)));
        assert_eq!(spares.take(0, 1000, large), Some(spare(22, None)));
        assert_eq!(spares.take(0, 1000, large), None);
        spares.add(spare(23, Some(1)));
        assert_eq!(spares.take(0, 1000, large), None);
    }

    #[test]
    fn a_spare_that_is_too_small_is_passed_over() {
        let spare = |device| SpareSpec { device, group: None };
        let mut spares = Spares::new(&[spare(5), spare(6)]);
        let sectors_of = |device| if device == 5 { 999 } else { 1000 };
        assert_eq!(spares.take(0, 1000, sectors_of), Some(spare(6)));
        assert_eq!(spares.waiting(), 1);
        spares.remove(5);
        assert_eq!(spares.waiting(), 0);
    }
}
