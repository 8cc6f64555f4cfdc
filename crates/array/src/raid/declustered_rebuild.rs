//! A step of a rebuild of a declustered member: what is read of whom, and where what it held goes.
//!
//! Where that is, and in which order steps come, is in `declustered.rs`.

use super::declustered::Declustered;
use super::declustered_holders::Part;
use super::locks::RowSpan;
use super::piece::Piece;
use super::rebuild_chunk::RebuildChunk;
use super::record_pieces::Present;
use super::records::Column;

impl Declustered {
    /// Plans the step of a member at an address of its order; the error is a record that is lost. A step in which the member holds
    /// nothing, or for which there is no place, is empty.
    pub(super) fn rebuild(
        &self,
        (device, address): (u16, u64),
        copying: bool,
        present: Present<'_>,
        chunk: &mut RebuildChunk,
    ) -> Result<(), u64> {
        let (members, base) = (present.members, present.base);
        let step = self.order(!copying && members.is_spared(device)).step(address);
        chunk.reads.clear();
        chunk.further.clear();
        chunk.xor_bytes = 0;
        (chunk.from, chunk.end) = (address, address + step.sectors);
        (chunk.write, chunk.rows) =
            (Piece::write(device, step.lba, 0), RowSpan { group: device / self.children(), first: 0, count: 0 });
        let Some(part) = self.part(u32::from(device - base), (step.lba, step.number), (members, base)) else {
            return Ok(());
        };
        chunk.rows = RowSpan { first: part.record, count: part.count as u32, ..chunk.rows };
        let own = self.stretch(&part, part.column);
        let mut write = |holder| {
            let piece = Piece::write(holder, own.lba, own.sectors);
            if chunk.write.sectors == 0 { chunk.write = piece } else { chunk.further.push(piece) }
        };
        if copying {
            write(device);
        } else {
            self.destinations(device, own.lba, (members, base), write);
        }
        if chunk.write.sectors == 0 {
            return Ok(());
        }
        if copying && let Some(holder) = self.present_holder(&own, present).filter(|&holder| holder != device) {
            chunk.reads.push(Piece::read(holder, own.lba, own.sectors));
            return Ok(());
        }
        self.read_others(&part, present, &mut chunk.reads)?;
        chunk.xor_bytes = u64::from(self.data) * u64::from(own.sectors) * 512;
        Ok(())
    }

    /// Column number `which` of all records of a part, which follow one another.
    fn stretch(&self, part: &Part, which: u32) -> Column {
        let column = self.column(part.record, which);
        Column { sectors: column.sectors * part.count as u32, ..column }
    }

    /// Data first, then as much parity as makes up for what is missing.
    fn read_others(&self, part: &Part, present: Present<'_>, reads: &mut Vec<Piece>) -> Result<(), u64> {
        let mut wanted = self.data;
        for which in (self.parities..self.parities + self.data).chain(0..self.parities) {
            if which == part.column || wanted == 0 {
                continue;
            }
            let column = self.stretch(part, which);
            if let Some(holder) = self.present_holder(&column, present) {
                reads.push(Piece::read(holder, column.lba, column.sectors));
                wanted -= 1;
            }
        }
        if wanted > 0 { Err(part.record) } else { Ok(()) }
    }

    fn present_holder(&self, column: &Column, Present { members, base }: Present<'_>) -> Option<u16> {
        let mut found = None;
        self.holders(column.position, column.lba, (members, base), |holder| found = found.or(Some(holder)));
        found
    }
}
