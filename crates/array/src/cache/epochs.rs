//! Which dirty pages a flush waits for: those of its epoch and of the ones before.
//!
//! Model: what becomes dirty belongs to the epoch that is open; a flush closes it and waits until no page of a closed one
//! is dirty or under way, as `tag_pages_for_writeback` of Linux (`mm/page-writeback.c`) marks what is dirty when a sync
//! begins. A dirty page that is written again stays of the epoch in which it became dirty; one that is written while it
//! is on its way belongs to the open one besides.
//!
//! Limits: 255 closed epochs at a time; flushes beyond wait until one has gone, and for what becomes dirty until then.

/// How many are counted, the open one among them: a page keeps the number of its own in a byte.
const COUNTED: usize = 256;

/// See the module.
#[derive(Debug)]
pub(super) struct Epochs {
    /// Pages by epoch, the lower byte of its number.
    pages: [u32; COUNTED],
    /// The lowest that has pages, or the open one.
    oldest: u64,
    open: u64,
    /// Some flush waits for the open one, for which there was no room to be closed.
    crowded: bool,
}

impl Default for Epochs {
    fn default() -> Self {
        Self { pages: [0; COUNTED], oldest: 0, open: 0, crowded: false }
    }
}

impl Epochs {
    /// A page becomes dirty; the mark of its epoch.
    #[inline]
    pub(super) const fn enter(&mut self) -> u8 {
        let mark = self.open as u8;
        self.pages[mark as usize] += 1;
        mark
    }

    /// What was dirty has reached the devices; whether an epoch is closed now that flushes waited to be closed.
    #[inline]
    pub(super) fn leave(&mut self, mark: u8) -> bool {
        self.pages[usize::from(mark)] -= 1;
        mark == self.oldest as u8 && self.advance()
    }

    /// Whether a flush waits for pages of a mark.
    pub(super) const fn is_closed(&self, mark: u8) -> bool {
        mark != self.open as u8
    }

    /// A flush: the epoch that it waits for.
    pub(super) fn close(&mut self) -> u64 {
        let asked = self.open;
        self.crowded = true;
        self.advance();
        asked
    }

    /// Whether nothing of an epoch and of the ones before is dirty.
    pub(super) const fn is_over(&self, epoch: u64) -> bool {
        epoch < self.oldest
    }

    /// Passes epochs without pages, and closes the open one if flushes wait for that and there is room; whether it did.
    fn advance(&mut self) -> bool {
        let before = self.open;
        loop {
            while self.oldest < self.open && self.pages[usize::from(self.oldest as u8)] == 0 {
                self.oldest += 1;
            }
            if !self.crowded || self.open - self.oldest == COUNTED as u64 - 1 {
                return self.open != before;
            }
            self.open += 1;
            self.crowded = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_epoch_is_over_when_it_and_those_before_have_no_pages() {
        let mut found = Epochs::default();
        let first = found.enter();
        let one = found.close();
        let second = found.enter();
        let two = found.close();
        assert_ne!(first, second);
        found.leave(second);
        assert!(!found.is_over(one) && !found.is_over(two));
        found.leave(first);
        assert!(found.is_over(one) && found.is_over(two));
        let nothing = found.close();
        assert!(found.is_over(nothing));
    }

    #[test]
    fn flushes_beyond_what_is_counted_wait_together_and_go_in_their_turn() {
        let mut found = Epochs::default();
        let asked: Vec<(u8, u64)> = (0..1000).map(|_| (found.enter(), found.close())).collect();
        assert_eq!(asked[254].1, 254);
        assert!(asked[255..].iter().all(|&(mark, epoch)| (mark, epoch) == (255, 255)));
        for (number, &(mark, _)) in asked.iter().enumerate() {
            found.leave(mark);
            assert!(number >= 255 || (found.is_over(number as u64) && !found.is_over(number as u64 + 1)));
        }
        assert!(found.is_over(255));
        // What is left is closed and goes on counting.
        let mark = found.enter();
        let last = found.close();
        assert!(!found.is_over(last));
        found.leave(mark);
        assert!(found.is_over(last));
    }
}
