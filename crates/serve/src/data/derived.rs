//! Data that follow from their address, so that an array of any size needs no room.
//!
//! Model: every aligned word of eight bytes holds its own byte address, least significant byte first. Whoever reads can
//! check what it got. Writes are compared with what their address has and dropped; those that differ are counted, because
//! a client that reads them back will not find them.
//!
//! Limits: for programs that do not care what they read, or write what is there already. Trims and zeros change nothing.
//!
//! ```
//! use plimsoll_serve::data::{Data, derived::Derived};
//! let mut word = [0; 8];
//! Derived::default().read(1 << 40, &mut word).unwrap();
//! assert_eq!(u64::from_le_bytes(word), 1 << 40);
//! ```

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Data, Kept};

/// See the module.
#[derive(Debug, Default)]
pub struct Derived {
    differing_writes: AtomicU64,
}

/// Calls `piece(bytes of the word, position in the range)` for every word that a range of bytes touches.
fn words(offset: u64, len: usize, mut piece: impl FnMut(&[u8], usize)) {
    let mut done = 0;
    while done < len {
        let at = offset + done as u64;
        let inside = (at % 8) as usize;
        let count = (8 - inside).min(len - done);
        piece(&(at - inside as u64).to_le_bytes()[inside..inside + count], done);
        done += count;
    }
}

impl Data for Derived {
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        words(offset, buffer.len(), |bytes, at| buffer[at..at + bytes.len()].copy_from_slice(bytes));
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut same = true;
        words(offset, bytes.len(), |word, at| same &= word == &bytes[at..at + word.len()]);
        self.differing_writes.fetch_add(u64::from(!same), Ordering::Relaxed);
        Ok(())
    }

    fn clear(&self, _offset: u64, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn kept(&self) -> Kept {
        let differing_writes = self.differing_writes.load(Ordering::Relaxed);
        Kept { kind: "derived", differing_writes, ..Kept::default() }
    }

    fn finish(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_the_same_however_it_is_read() {
        let derived = Derived::default();
        let mut whole = [0; 64];
        derived.read((1 << 44) + 3, &mut whole).unwrap();
        for (at, wanted) in whole.iter().enumerate() {
            let mut byte = [0];
            derived.read((1 << 44) + 3 + at as u64, &mut byte).unwrap();
            assert_eq!(byte[0], *wanted, "byte {at}");
        }
    }

    #[test]
    fn only_writes_of_other_bytes_are_counted() {
        let derived = Derived::default();
        let mut bytes = [0; 100];
        derived.read(4099, &mut bytes).unwrap();
        derived.write(4099, &bytes).unwrap();
        assert_eq!(derived.kept().differing_writes, 0);
        bytes[50] ^= 1;
        derived.write(4099, &bytes).unwrap();
        assert_eq!(derived.kept().differing_writes, 1);
    }
}
