//! What pages, blocks of the log and checkpoints look like on a target that keeps data.
//!
//! Model: every sector of a page begins with a stamp that names the life of the store, the page, how often it has changed, and its own
//! place. A block of the log begins with a header, its records with theirs; a checksum covers all of it. Numbers are little-endian. What
//! does not fit together is not taken for anything: a reader says *absent*, *torn* or *elsewhere*, and never fails.
//!
//! Limits: what lies behind the stamps is whatever the buffer held; only a block's checksum covers it.

use plimsoll_workload::rng::drawn;

/// Unit of stamps.
pub(crate) const SECTOR_BYTES: usize = 512;
/// Bytes of a record's header; the rest of a record is not looked at.
pub(crate) const RECORD_BYTES: usize = 64;
/// Bytes of a block before its first record.
pub(crate) const HEADER_BYTES: usize = 40;
/// Pages that one record can change: the leaf, and for a split the page that it adds and the one above.
pub(crate) const CHANGES_MAX: usize = 3;

const PAGE: u64 = u64::from_le_bytes(*b"PlmsPage");
const BLOCK: u64 = u64::from_le_bytes(*b"PlmsBlck");
const CHECKPOINT: u64 = u64::from_le_bytes(*b"PlmsChkp");

/// What stands where a page should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing of this life.
    Absent,
    /// The page after so many changes.
    At(u32),
    /// Sectors of different versions.
    Torn,
    /// Another page of this life.
    Elsewhere,
}

/// A change of a page: which one, and the how manieth change of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) page: u32,
    pub(crate) version: u32,
}

/// A record of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Its bytes, this header included.
    pub(crate) len: u32,
    /// How many of `changes` there are.
    pub(crate) count: u32,
    /// Hard commits up to and with this record.
    pub(crate) commits: u64,
    pub(crate) changes: [Change; CHANGES_MAX],
}

impl Record {
    /// The changes that it has.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes[..(self.count as usize).min(CHANGES_MAX)]
    }

    fn write(&self, bytes: &mut [u8]) {
        let mut at = Writer(bytes, 0);
        at.u32(self.len);
        at.u32(self.count);
        at.u64(self.commits);
        for change in self.changes {
            at.u32(change.page);
            at.u32(change.version);
        }
    }

    fn read(bytes: &[u8]) -> Self {
        let mut at = Reader(bytes, 0);
        let (len, count, commits) = (at.u32(), at.u32(), at.u64());
        let changes = std::array::from_fn(|_| Change { page: at.u32(), version: at.u32() });
        Self { len, count, commits, changes }
    }
}

/// What a recovery begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// The life of the store; a later one is greater.
    pub(crate) life: u64,
    /// How manieth of this life.
    pub(crate) number: u64,
    /// The oldest change that no page write has saved.
    pub(crate) lsn: u64,
    /// Where the log of this life begins.
    pub(crate) start_lsn: u64,
    /// Hard commits of this life before its log begins: those that a recovery found.
    pub(crate) commits: u64,
    /// Bytes of a page and of a log file, and how many files there are.
    pub(crate) sizes: [u32; 3],
}

/// Stamps every sector of a page.
pub(crate) fn write_page(bytes: &mut [u8], life: u64, change: Change) {
    for (place, sector) in bytes.chunks_mut(SECTOR_BYTES).enumerate() {
        let check = stamp_check(life, change, place);
        let mut at = Writer(sector, 0);
        [PAGE, life].into_iter().for_each(|number| at.u64(number));
        [change.page, change.version, place as u32, check].into_iter().for_each(|number| at.u32(number));
    }
}

/// What stands where page `page` should.
pub(crate) fn read_page(bytes: &[u8], life: u64, page: u32) -> Found {
    let mut found = None;
    for (place, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
        let own = match stamp(sector, life, place) {
            None => Found::Absent,
            Some(change) if change.page == page => Found::At(change.version),
            Some(_) => Found::Elsewhere,
        };
        match found {
            None => found = Some(own),
            Some(before) if before != own => return Found::Torn,
            Some(_) => {}
        }
    }
    found.unwrap_or(Found::Absent)
}

fn stamp(sector: &[u8], life: u64, place: usize) -> Option<Change> {
    let mut at = Reader(sector, 0);
    if at.u64() != PAGE || at.u64() != life {
        return None;
    }
    let change = Change { page: at.u32(), version: at.u32() };
    (at.u32() == place as u32 && at.u32() == stamp_check(life, change, place)).then_some(change)
}

fn stamp_check(life: u64, change: Change, place: usize) -> u32 {
    let named = u64::from(change.page) << 32 | u64::from(change.version);
    drawn(drawn(life, named), place as u64) as u32
}

/// Writes a block that begins at `lsn` with its records, each at its place.
pub(crate) fn write_block(bytes: &mut [u8], (life, lsn): (u64, u64), records: &[(u32, Record)]) {
    for (place, record) in records {
        record.write(&mut bytes[*place as usize..]);
    }
    let len = bytes.len() as u32;
    let mut at = Writer(bytes, 0);
    [BLOCK, life, lsn].into_iter().for_each(|number| at.u64(number));
    [len, records.len() as u32].into_iter().for_each(|number| at.u32(number));
    let sum = block_sum(bytes);
    Writer(bytes, HEADER_BYTES - 8).u64(sum);
}

/// The length and the records of the block that begins with `bytes`, if it is whole and the one of `lsn`.
pub(crate) fn read_block(bytes: &[u8], (life, lsn): (u64, u64)) -> Option<(u32, Vec<Record>)> {
    if bytes.len() < HEADER_BYTES {
        return None;
    }
    let mut at = Reader(bytes, 0);
    let named = at.u64() == BLOCK && at.u64() == life && at.u64() == lsn;
    let (len, count, sum) = (at.u32(), at.u32(), at.u64());
    if !named || (len as usize) < HEADER_BYTES || len as usize > bytes.len() {
        return None;
    }
    let block = &bytes[..len as usize];
    if block_sum(block) != sum {
        return None;
    }
    let (mut records, mut place) = (Vec::with_capacity(count as usize), HEADER_BYTES);
    for _ in 0..count {
        let record = Record::read(block.get(place..place + RECORD_BYTES)?);
        place += record.len as usize;
        records.push(record);
    }
    Some((len, records))
}

/// Of everything but the sum itself.
fn block_sum(bytes: &[u8]) -> u64 {
    sum(&bytes[HEADER_BYTES..], sum(&bytes[..HEADER_BYTES - 8], BLOCK))
}

/// Writes a checkpoint.
pub(crate) fn write_checkpoint(bytes: &mut [u8], found: &Checkpoint) {
    let mut at = Writer(bytes, 0);
    [CHECKPOINT, found.life, found.number, found.lsn, found.start_lsn, found.commits]
        .into_iter()
        .for_each(|number| at.u64(number));
    found.sizes.into_iter().for_each(|number| at.u32(number));
    at.u32(0);
    let sum = sum(&bytes[..64], CHECKPOINT);
    Writer(bytes, 64).u64(sum);
}

/// The checkpoint in a sector, if there is one.
pub(crate) fn read_checkpoint(bytes: &[u8]) -> Option<Checkpoint> {
    if bytes.len() < 72 || Reader(bytes, 64).u64() != sum(&bytes[..64], CHECKPOINT) {
        return None;
    }
    let mut at = Reader(bytes, 0);
    if at.u64() != CHECKPOINT {
        return None;
    }
    let [life, number, lsn, start_lsn, commits] = std::array::from_fn(|_| at.u64());
    let sizes = std::array::from_fn(|_| at.u32());
    Some(Checkpoint { life, number, lsn, start_lsn, commits, sizes })
}

/// A checksum that no chance leaves unchanged; eight bytes at a time.
fn sum(bytes: &[u8], seed: u64) -> u64 {
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    words.fold(seed ^ bytes.len() as u64, |sum, word| {
        let mixed = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    })
}

struct Writer<'a>(&'a mut [u8], usize);

impl Writer<'_> {
    fn u32(&mut self, number: u32) {
        self.0[self.1..self.1 + 4].copy_from_slice(&number.to_le_bytes());
        self.1 += 4;
    }

    fn u64(&mut self, number: u64) {
        self.0[self.1..self.1 + 8].copy_from_slice(&number.to_le_bytes());
        self.1 += 8;
    }
}

struct Reader<'a>(&'a [u8], usize);

impl Reader<'_> {
    fn u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&self.0[self.1..self.1 + 4]);
        self.1 += 4;
        u32::from_le_bytes(bytes)
    }

    fn u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.0[self.1..self.1 + 8]);
        self.1 += 8;
        u64::from_le_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: u64 = 7;

    #[test]
    fn a_page_is_told_from_another_from_an_older_life_and_from_half_of_itself() {
        let mut bytes = vec![0xa5; 4096];
        assert_eq!(read_page(&bytes, LIFE, 3), Found::Absent);
        write_page(&mut bytes, LIFE, Change { page: 3, version: 9 });
        assert_eq!(read_page(&bytes, LIFE, 3), Found::At(9));
        assert_eq!(read_page(&bytes, LIFE, 4), Found::Elsewhere);
        assert_eq!(read_page(&bytes, LIFE + 1, 3), Found::Absent);
        let whole = bytes.clone();
        write_page(&mut bytes, LIFE, Change { page: 3, version: 10 });
        bytes[2048..].copy_from_slice(&whole[2048..]);
        assert_eq!(read_page(&bytes, LIFE, 3), Found::Torn);
        bytes.copy_from_slice(&whole);
        bytes[512 + 20] ^= 1;
        assert_eq!(read_page(&bytes, LIFE, 3), Found::Torn, "one version of one sector is another");
    }

    #[test]
    fn a_block_is_read_as_it_was_written_and_no_bit_of_it_may_differ() {
        let change = |page| Change { page, version: page + 1 };
        let one = Record { len: 664, count: 1, commits: 4, changes: [change(5), Change::default(), Change::default()] };
        let other = Record { len: 1064, count: 3, commits: 5, changes: [change(6), change(7), change(8)] };
        let mut bytes = vec![0x5a; 2048];
        write_block(&mut bytes, (LIFE, 4096), &[(40, one), (704, other)]);
        let mut behind = bytes.clone();
        behind.extend([0; 512]);
        assert_eq!(read_block(&behind, (LIFE, 4096)), Some((2048, vec![one, other])));
        assert_eq!(read_block(&behind, (LIFE, 8192)), None, "an older one that nothing has overwritten");
        assert_eq!(read_block(&behind, (LIFE + 1, 4096)), None);
        assert_eq!(read_block(&bytes[..1536], (LIFE, 4096)), None, "cut short");
        for place in (0..2048).step_by(37) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 4;
            assert_eq!(read_block(&damaged, (LIFE, 4096)), None, "bit of byte {place}");
        }
    }

    #[test]
    fn a_checkpoint_is_read_as_it_was_written_or_not_at_all() {
        let found =
            Checkpoint { life: LIFE, number: 3, lsn: 1 << 40, start_lsn: 9, commits: 11, sizes: [4096, 5 << 20, 12] };
        let mut bytes = vec![0; 512];
        assert_eq!(read_checkpoint(&bytes), None);
        write_checkpoint(&mut bytes, &found);
        assert_eq!(read_checkpoint(&bytes), Some(found));
        bytes[33] ^= 1;
        assert_eq!(read_checkpoint(&bytes), None);
    }
}
