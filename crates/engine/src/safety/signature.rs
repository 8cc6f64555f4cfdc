//! What lies on a device or in a file, told by its magic numbers.
//!
//! Purpose: to find out, before anything is written, whether bytes belong to somebody: a partition table, a file
//! system, a member of a RAID, LVM or ZFS set, an encrypted or database volume, a disk image. Model: a declarative
//! table of names, places and magic bytes; magics shorter than four bytes are backed by a plausibility check, so that
//! the random bytes of a scratch file are not taken for a signature (probability below 2⁻³⁰ per scan).
//!
//! Limits: formats without a magic number (raw database volumes, dm-crypt plain) cannot be seen; nested contents (a
//! file system inside a partition) are not looked for, since the partition table already speaks for them.
//!
//! ```
//! use plimsoll_engine::safety::signature::{Kind, scan};
//! let mut image = vec![0; 1 << 20];
//! image[0x10040..0x10048].copy_from_slice(b"_BHRfS_M");
//! let found = scan(&image.as_slice()).unwrap();
//! assert_eq!((found[0].name, found[0].kind), ("btrfs", Kind::FileSystem));
//! ```

mod plausible;
mod table;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde::Serialize;

/// What a signature says its bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A partition table.
    PartitionTable,
    /// A file system.
    FileSystem,
    /// Swap space or a hibernation image.
    Swap,
    /// Part of a RAID, LVM, ZFS, cluster or similar set.
    SetMember,
    /// An encrypted or integrity-protected volume.
    Encrypted,
    /// A volume or file that a database manages itself.
    Database,
    /// A virtual machine's disk.
    DiskImage,
}

impl Kind {
    /// The words that follow "carries" in a sentence, around the signature's name.
    pub fn phrase(self, name: &str) -> String {
        match self {
            Self::PartitionTable => format!("a partition table ({name})"),
            Self::FileSystem => format!("a file system ({name})"),
            Self::Swap => format!("swap space ({name})"),
            Self::SetMember => format!("a member of a storage set ({name})"),
            Self::Encrypted => format!("an encrypted volume ({name})"),
            Self::Database => format!("database storage ({name})"),
            Self::DiskImage => format!("a disk image ({name})"),
        }
    }
}

/// A signature that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The format's usual name, for example `ext2/3/4`.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Where its magic number lies, in bytes from the start.
    pub offset_bytes: u64,
}

/// Bytes that can be looked at in any order.
pub trait Image {
    /// Size in bytes.
    fn size_bytes(&self) -> u64;
    /// Fills `buffer` from `offset` on. Only called inside the size.
    ///
    /// # Errors
    /// Whatever the medium reports.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl Image for &[u8] {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = offset as usize;
        buffer.copy_from_slice(&self[start..start + buffer.len()]);
        Ok(())
    }
}

/// An open file or block device of known size.
pub struct FileImage<'a> {
    /// Opened for reading, without `O_DIRECT`.
    pub file: &'a File,
    /// Size in bytes.
    pub size_bytes: u64,
}

impl Image for FileImage<'_> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }
}

/// Every signature on `image`, in table order; each name at most once.
///
/// # Errors
/// The first read error: a device that cannot be read cannot be shown to be empty.
pub fn scan(image: &impl Image) -> io::Result<Vec<Found>> {
    let view = View::new(image);
    let mut found = Vec::new();
    for signature in table::SIGNATURES {
        if let Some(offset_bytes) = signature.find(&view)? {
            found.push(Found { name: signature.name, kind: signature.kind, offset_bytes });
        }
    }
    Ok(found)
}

/// Where a magic number lies.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Bytes from the start.
    Start(u64),
    /// `back` bytes before the end rounded down to `align`, and `plus` bytes on.
    End { align: u64, back: u64, plus: u64 },
}

impl Place {
    /// The offset on an image of `size` bytes, when it lies inside.
    fn offset(self, size: u64) -> Option<u64> {
        match self {
            Self::Start(offset) => Some(offset),
            Self::End { align, back, plus } => (size - size % align).checked_sub(back).map(|base| base + plus),
        }
    }
}

/// Tells whether the bytes around a magic number at this offset make sense.
type Check = fn(&View<'_>, u64) -> io::Result<bool>;

/// Looks for a format that stands in no fixed place, and says where its magic number is.
type Search = fn(&View<'_>) -> io::Result<Option<u64>>;

/// One line of the table.
struct Signature {
    name: &'static str,
    kind: Kind,
    /// Alternative magic numbers.
    magics: &'static [(Place, &'static [u8])],
    /// What must hold besides.
    check: Option<Check>,
    /// Where else it may be.
    search: Option<Search>,
}

impl Signature {
    /// Offset of the first magic number that is there and makes sense.
    fn find(&self, view: &View<'_>) -> io::Result<Option<u64>> {
        for (place, magic) in self.magics {
            let Some(offset) = place.offset(view.size_bytes()) else { continue };
            if !view.holds(offset, magic)? {
                continue;
            }
            if self.check.map_or(Ok(true), |check| check(view, offset))? {
                return Ok(Some(offset));
            }
        }
        self.search.map_or(Ok(None), |search| search(view))
    }
}

/// An image seen through chunks that are read once.
struct View<'a> {
    image: &'a dyn Image,
    chunks: RefCell<BTreeMap<u64, Vec<u8>>>,
}

const CHUNK_BYTES: u64 = 64 << 10;

impl<'a> View<'a> {
    fn new(image: &'a dyn Image) -> Self {
        Self { image, chunks: RefCell::new(BTreeMap::new()) }
    }

    fn size_bytes(&self) -> u64 {
        self.image.size_bytes()
    }

    /// `N` bytes from `offset` on; `None` beyond the end.
    fn array<const N: usize>(&self, offset: u64) -> io::Result<Option<[u8; N]>> {
        let mut bytes = [0; N];
        Ok(self.fill(offset, &mut bytes)?.then_some(bytes))
    }

    /// Whether `magic` stands at `offset`.
    fn holds(&self, offset: u64, magic: &[u8]) -> io::Result<bool> {
        let mut bytes = [0; 32];
        let bytes = &mut bytes[..magic.len()];
        Ok(self.fill(offset, bytes)? && bytes == magic)
    }

    /// Copies bytes out; false beyond the end.
    fn fill(&self, offset: u64, out: &mut [u8]) -> io::Result<bool> {
        let size = self.size_bytes();
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > size) {
            return Ok(false);
        }
        let mut chunks = self.chunks.borrow_mut();
        for (position, byte) in (offset..).zip(out) {
            let base = position - position % CHUNK_BYTES;
            let chunk = match chunks.entry(base) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    let mut bytes = vec![0; (size - base).min(CHUNK_BYTES) as usize];
                    self.image.read_at(&mut bytes, base)?;
                    entry.insert(bytes)
                }
            };
            *byte = chunk[(position - base) as usize];
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
