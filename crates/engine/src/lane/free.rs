//! The slots of an open lane that have no request, and since when there has been one.
//!
//! The slot that was freed last is taken first, because its memory is still in the caches. Whether a request waited for a
//! slot is another matter: it did not if any slot was free when it was due, however late this one was.

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct FreeSlots(Vec<(u32, u64)>);

impl FreeSlots {
    /// A slot has no request from `now_ns` on; instants never go back.
    #[inline]
    pub(crate) fn put(&mut self, slot: u32, now_ns: u64) {
        self.0.push((slot, now_ns));
    }

    /// Whether there is none.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The slot that would be taken.
    #[inline]
    pub(crate) fn next(&self) -> Option<u32> {
        self.0.last().map(|(slot, _)| *slot)
    }

    /// A slot, and since when any has been free.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<(u32, u64)> {
        let since_ns = self.0.first()?.1;
        self.0.pop().map(|(slot, _)| (slot, since_ns))
    }

    /// Gives back a slot that was taken and not used.
    pub(crate) fn put_back(&mut self, slot: u32, since_ns: u64) {
        self.0.push((slot, since_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_waits_only_while_no_slot_at_all_is_free() {
        let mut free = FreeSlots::default();
        free.put(0, 0);
        free.put(1, 900);
        assert_eq!(free.take(), Some((1, 0)), "slot 0 was free all the time");
        assert_eq!(free.take(), Some((0, 0)));
        assert_eq!(free.take(), None);
        free.put(1, 1_000);
        assert_eq!(free.take(), Some((1, 1_000)), "none was free until then");
    }
}
