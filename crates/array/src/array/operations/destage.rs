//! Destaging: which dirty rows of a controller's cache go to the devices, and when.
//!
//! Model: from the high watermark down to the low one, or while somebody waits for room, or after a pause without requests
//! until nothing is dirty. Of each group writes are begun, in order of address, full rows first, while these have fewer commands
//! than `destage_per_device` for each of its devices. What is dirty in a row of parity is one write with one update of the parity
//! (`further.rs`, `raid/scattered.rs`); without parity every stretch is a write. A write counts as the commands that it has at
//! once: one without redundancy, one for each copy of a mirror, old data and parities in turn with the new ones; while it waits
//! for its rows, as one. Its commands give way to those of requests at each drive (`precedence.rs`).
//!
//! That a row goes as a whole is what B. Gill and D. Modha call a write group (FAST 2005): of RAID 5 a stripe, since
//! all that is written with it shares its parity.

use super::Operations;
use crate::array::topology::Topology;

impl Operations {
    /// Starts as many destages as there may be.
    pub(in crate::array) fn destage(&mut self, topology: &mut Topology, number: u16) {
        let controller = &mut topology.controllers[usize::from(number)];
        let Some(cache) = &controller.cache else { return };
        controller.destager.consider(cache.dirty_pages());
        if !controller.destager.works() {
            return;
        }
        for space in 0..controller.groups.len() {
            let destager = &topology.controllers[usize::from(number)].destager;
            if destager.under_way[space] < destager.most[space] {
                self.destage_space(topology, number, space);
            }
        }
    }

    fn destage_space(&mut self, topology: &mut Topology, number: u16, space: usize) {
        let mut stretches = std::mem::take(&mut self.scratch.stretches);
        loop {
            let controller = &mut topology.controllers[usize::from(number)];
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
                let (together, behind) = left.split_at(topology.groups[usize::from(group)].geometry.together(left));
                self.destage_together(topology, group, together);
                left = behind;
            }
        }
        self.scratch.stretches = stretches;
    }

    /// A destage will have so many commands at once, instead of those that it counted as before.
    pub(super) fn count_destage(&mut self, topology: &mut Topology, number: u32, commands: u32) {
        let operation = &mut self.operations[number];
        let group = &topology.groups[usize::from(operation.group)];
        let under_way =
            &mut topology.controllers[usize::from(group.controller)].destager.under_way[group.space as usize];
        let commands = commands.max(1);
        *under_way = *under_way + commands - operation.counted;
        operation.counted = commands;
    }
}
