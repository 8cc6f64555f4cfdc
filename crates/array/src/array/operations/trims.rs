//! Trims on their way to devices.
//!
//! Model: a trim moves no data. Its controller forgets what it has read of it and makes a command for every device that holds
//! data of it; each device forgets the contents at once and needs the time of a command for it.
//!
//! Limits: trims wait for nothing and hold nothing up, neither links nor other commands nor rows; what the cache is to write
//! yet is written afterwards.

use super::command::Issued;
use super::{Ended, Kind, Operations};
use crate::array::topology::Topology;
use crate::calendar::Event;
use crate::raid::{Extent, Piece};

impl Operations {
    /// Begins a trim of what devices hold of an extent; nothing if no device holds any.
    pub(in crate::array) fn trim(&mut self, topology: &mut Topology, group: u16, extent: Extent) -> Option<u32> {
        let mut pieces = std::mem::take(&mut self.scratch.pieces);
        pieces.clear();
        let found = &mut topology.groups[usize::from(group)];
        if let Some(cache) = &mut found.flash_cache {
            cache.forget(extent);
        }
        found.geometry.trim(extent, &found.members, &mut pieces);
        let operation = (!pieces.is_empty()).then(|| self.begin(topology, Kind::Trim, group, extent));
        if let Some(operation) = operation {
            self.operations[operation].left = pieces.len() as u32;
            pieces.iter().for_each(|piece| self.trim_piece(topology, operation, piece));
        }
        self.scratch.pieces = pieces;
        operation
    }

    fn trim_piece(&mut self, topology: &mut Topology, owner: u32, &Piece { device, lba, sectors, .. }: &Piece) {
        let group = &topology.groups[usize::from(self.operations[owner].group)];
        let (controller, drive) = (group.controller, group.drives[usize::from(device)]);
        topology.make_command(controller);
        let trimmed = &mut topology.drives[usize::from(drive)].device;
        trimmed.trim(lba, u64::from(sectors));
        let (offered_ns, end_ns) = (topology.now_ns, topology.now_ns + trimmed.trimming_ns());
        let issued = Issued { owner, drive, controller, write: true, sectors, lba, offered_ns, ..Issued::BLANK };
        topology.calendar.add(end_ns, Event::DeviceTrimmed, self.commands.issued.insert(issued));
    }

    /// A device has carried out a trim.
    pub(in crate::array) fn finish_trim(&mut self, topology: &mut Topology, number: u32) -> Ended {
        let Issued { owner, drive, offered_ns, .. } = self.commands.issued.remove(number);
        let account = &mut topology.drives[usize::from(drive)].account;
        account.operations += 1;
        account.resident_ns += topology.now_ns - offered_ns;
        self.note_end(owner, topology.now_ns)
    }
}
