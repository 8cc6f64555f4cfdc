//! Destaging: which dirty rows of a controller's cache go to the devices, and when.
//!
//! Model: from the high watermark down to the low one, or while somebody waits for room, or after a pause without requests
//! until nothing is dirty. Of each group so many writes are kept under way, in order of address, full rows first. What is dirty
//! in a row of parity is one write with one update of the parity (`further.rs`, `raid/scattered.rs`); without parity every
//! stretch is a write. Their commands give way to those of requests at each drive (`precedence.rs`).
//!
//! That a row goes as a whole is what B. Gill and D. Modha call a write group (FAST 2005): of RAID 5 a stripe, since
//! all that is written with it shares its parity.

use super::Array;
use crate::calendar::Event;
use crate::slab::NONE;

impl Array {
    /// Somebody uses the cache of a group's controller.
    #[inline]
    pub(super) fn touch_cache(&mut self, group: u16) {
        let number = self.groups[usize::from(group)].controller;
        let controller = &mut self.controllers[usize::from(number)];
        let Some(cache) = &controller.cache else { return };
        if let Some(due_ns) = controller.destager.used(self.now_ns, cache.dirty_pages()) {
            self.calendar.add(due_ns, Event::CacheIdle, number.into());
        }
    }

    pub(super) fn cache_idle(&mut self, number: u32) {
        match self.controllers[number as usize].destager.rested(self.now_ns) {
            Some(due_ns) => self.calendar.add(due_ns, Event::CacheIdle, number),
            None => self.destage(number as u16),
        }
    }

    /// Starts as many destages as there may be.
    pub(super) fn destage(&mut self, number: u16) {
        let controller = &mut self.controllers[usize::from(number)];
        let Some(cache) = &controller.cache else { return };
        controller.destager.consider(cache.dirty_pages());
        if !controller.destager.works() {
            return;
        }
        for space in 0..controller.groups.len() {
            let destager = &self.controllers[usize::from(number)].destager;
            if destager.under_way[space] < destager.most[space] {
                self.destage_space(number, space);
            }
        }
    }

    fn destage_space(&mut self, number: u16, space: usize) {
        let mut stretches = std::mem::take(&mut self.scratch.stretches);
        loop {
            let controller = &mut self.controllers[usize::from(number)];
            let (Some(cache), destager) = (&mut controller.cache, &mut controller.destager) else { break };
            destager.consider(cache.dirty_pages());
            if !destager.works() || destager.under_way[space] >= destager.most[space] {
                break;
            }
            stretches.clear();
            if !cache.destage(space as u32, destager.sectors_max, &mut stretches) {
                break;
            }
            let group = controller.groups[space];
            let mut left = &stretches[..];
            while !left.is_empty() {
                let (together, behind) = left.split_at(self.groups[usize::from(group)].geometry.together(left));
                self.controllers[usize::from(number)].destager.under_way[space] += 1;
                self.destage_together(group, together);
                left = behind;
            }
        }
        self.scratch.stretches = stretches;
    }

    /// Lets those in that wait for room in a controller's cache, in their order, as far as there is some.
    pub(super) fn admit(&mut self, number: u16) {
        loop {
            let controller = &mut self.controllers[usize::from(number)];
            let Some(cache) = &mut controller.cache else { return };
            let first = controller.destager.waiting.0;
            if first == NONE {
                return;
            }
            let job = self.jobs[first];
            if !cache.has_room(self.groups[usize::from(job.group)].space, job.share.extent) {
                return;
            }
            controller.destager.waiting.0 = job.next;
            self.keep_write(first);
        }
    }
}
