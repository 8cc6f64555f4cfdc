//! A B-tree of sorted entries in a file: built from its leaves up, looked up from its root down.
//!
//! Model: an entry is a key and the place of its row, eight bytes with the highest first, so that entries compare as bytes. Pages of
//! 8 KiB hold as many as fit. While entries come in, each level has one page under construction; a full one is written and its first
//! entry handed to the level above. The root is the last page of the file.
//! Limits: entries come sorted; nothing is changed afterwards.

use std::path::Path;

use crate::disk::{Disk, Reader, Writer};
use crate::error::Trouble;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 8192;
/// Of a page, before its entries: level, number of entries, checksum.
const HEAD_BYTES: usize = 8;

/// Bytes of an entry whose key has so many.
pub const fn entry_bytes(key: usize) -> usize {
    key + 8
}

/// How many pages each level has, the leaves first, of so many entries.
pub fn levels(entries: u64, key: usize) -> Vec<u64> {
    let leaf = ((PAGE_BYTES - HEAD_BYTES) / entry_bytes(key)) as u64;
    let inner = ((PAGE_BYTES - HEAD_BYTES) / (entry_bytes(key) + 8)) as u64;
    let mut found = vec![entries.div_ceil(leaf).max(1)];
    while found[found.len() - 1] > 1 {
        found.push(found[found.len() - 1].div_ceil(inner));
    }
    found
}

struct Page {
    level: u8,
    bytes: Vec<u8>,
    entries: u16,
}

impl Page {
    fn new(level: u8) -> Self {
        let mut bytes = Vec::with_capacity(PAGE_BYTES);
        bytes.resize(HEAD_BYTES, 0);
        Self { level, bytes, entries: 0 }
    }

    fn sealed(&mut self) -> &[u8] {
        self.bytes.resize(PAGE_BYTES, 0);
        self.bytes[0] = self.level;
        self.bytes[2..4].copy_from_slice(&self.entries.to_le_bytes());
        let seal = crc32c::crc32c(&self.bytes[HEAD_BYTES..]);
        self.bytes[4..8].copy_from_slice(&seal.to_le_bytes());
        &self.bytes
    }
}

/// Writes the tree.
pub struct IndexBuilder<'a> {
    file: Writer<'a>,
    entry: usize,
    levels: Vec<Page>,
    pages: u64,
}

impl<'a> IndexBuilder<'a> {
    /// A new file of entries whose keys have so many bytes.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(disk: Disk<'a>, name: &str, key: usize) -> Result<Self, Trouble> {
        Ok(Self { file: disk.writer(name)?, entry: entry_bytes(key), levels: vec![Page::new(0)], pages: 0 })
    }

    /// One more entry, not before the last.
    ///
    /// # Errors
    /// When a full page cannot be written.
    pub fn push(&mut self, entry: &[u8]) -> Result<(), Trouble> {
        self.put(0, entry, None)
    }

    /// Writes what is left; the number of pages.
    ///
    /// # Errors
    /// When that fails.
    pub fn finish(mut self) -> Result<u64, Trouble> {
        let mut level = 0;
        loop {
            // Above the highest level that wrote a page there is nothing: its page under construction is the root.
            let is_root = level + 1 == self.levels.len();
            self.write(level, is_root)?;
            if is_root {
                break;
            }
            level += 1;
        }
        self.file.finish()?;
        Ok(self.pages)
    }

    fn put(&mut self, level: usize, entry: &[u8], child: Option<u64>) -> Result<(), Trouble> {
        let length = entry.len() + child.map_or(0, |_| 8);
        if self.levels[level].bytes.len() + length > PAGE_BYTES {
            self.write(level, false)?;
        }
        let page = &mut self.levels[level];
        page.bytes.extend_from_slice(entry);
        if let Some(child) = child {
            page.bytes.extend_from_slice(&child.to_le_bytes());
        }
        page.entries += 1;
        Ok(())
    }

    fn write(&mut self, level: usize, is_root: bool) -> Result<(), Trouble> {
        let mut page = std::mem::replace(&mut self.levels[level], Page::new(level as u8));
        let first = page.bytes[HEAD_BYTES..].get(..self.entry).map(<[u8]>::to_vec);
        self.file.push(page.sealed())?;
        let number = self.pages;
        self.pages += 1;
        if is_root {
            return Ok(());
        }
        if level + 1 == self.levels.len() {
            self.levels.push(Page::new(level as u8 + 1));
        }
        match first {
            Some(first) => self.put(level + 1, &first, Some(number)),
            None => Ok(()),
        }
    }
}

/// Looks entries up.
pub struct Index<'a> {
    file: Reader<'a>,
    entry: usize,
    page: Vec<u8>,
}

impl<'a> Index<'a> {
    /// The tree in a file.
    ///
    /// # Errors
    /// When it cannot be opened, or holds no whole pages.
    pub fn open(disk: Disk<'a>, name: &str, key: usize) -> Result<Self, Trouble> {
        let file = disk.reader(name, PAGE_BYTES)?;
        if file.size() == 0 || !file.size().is_multiple_of(PAGE_BYTES as u64) {
            return Err(Trouble::wrong(file.path(), format!("{} bytes are no whole pages", file.size())));
        }
        Ok(Self { file, entry: entry_bytes(key), page: vec![0; PAGE_BYTES] })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether an entry is in the tree.
    ///
    /// # Errors
    /// When a page cannot be read, or is not as it was written.
    pub fn holds(&mut self, entry: &[u8]) -> Result<bool, Trouble> {
        let mut number = self.file.size() / PAGE_BYTES as u64 - 1;
        loop {
            self.file.read_at(number * PAGE_BYTES as u64, &mut self.page)?;
            let (level, entries) = self.head(number)?;
            let length = if level == 0 { self.entry } else { self.entry + 8 };
            let of = |place: usize| &self.page[HEAD_BYTES + place * length..][..length];
            let after = partition(entries, |place| &of(place)[..self.entry] <= entry);
            if level == 0 {
                return Ok(after > 0 && of(after - 1) == entry);
            }
            if after == 0 {
                return Ok(false);
            }
            let mut child = [0; 8];
            child.copy_from_slice(&of(after - 1)[self.entry..]);
            let child = u64::from_le_bytes(child);
            if child >= number {
                return Err(Trouble::wrong(self.file.path(), format!("page {number} leads to page {child}")));
            }
            number = child;
        }
    }

    fn head(&self, number: u64) -> Result<(u8, usize), Trouble> {
        let mut seal = [0; 4];
        seal.copy_from_slice(&self.page[4..8]);
        let entries = usize::from(u16::from_le_bytes([self.page[2], self.page[3]]));
        let length = if self.page[0] == 0 { self.entry } else { self.entry + 8 };
        let fits = HEAD_BYTES + entries * length <= PAGE_BYTES;
        if !fits || crc32c::crc32c(&self.page[HEAD_BYTES..]) != u32::from_le_bytes(seal) {
            return Err(Trouble::wrong(self.file.path(), format!("page {number} does not have its checksum")));
        }
        Ok((self.page[0], entries))
    }
}

/// How many of the first places hold, where none holds after one that does not.
fn partition(places: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, places);
    while low < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
