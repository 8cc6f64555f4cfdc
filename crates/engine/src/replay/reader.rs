//! Reading a compact trace: its header before the run, its records slice by slice while it goes on.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use plimsoll_workload::trace::Prefix;
use plimsoll_workload::{TraceHeader, TraceRecord};

/// Records per slice: as many as fit into 64 KiB.
const SLICE_RECORDS: usize = (64 << 10) / TraceRecord::BYTES;
/// How far ahead the kernel is told to read.
const AHEAD_BYTES: i64 = 1 << 20;
/// No header is longer: a thousand devices take less than a hundredth.
const HEADER_BYTES_MAX: u64 = 64 << 20;

/// The records of a trace, in their order.
#[derive(Debug)]
pub(crate) struct TraceReader {
    file: File,
    /// Bytes of the current slice, and the first that was not read.
    slice: Vec<u8>,
    at: usize,
    /// Where the next slice begins, and how many records are beyond the current one.
    next_byte: u64,
    left: u64,
}

impl TraceReader {
    pub(crate) fn open(path: &str) -> io::Result<Self> {
        let file = File::open(path)?;
        let prefix = prefix(&file)?;
        let slice = Vec::with_capacity(SLICE_RECORDS * TraceRecord::BYTES);
        let mut reader = Self { file, slice, at: 0, next_byte: Prefix::BYTES as u64, left: prefix.records };
        reader.refill()?;
        Ok(reader)
    }

    /// The next record; `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self) -> io::Result<Option<TraceRecord>> {
        if self.at == self.slice.len() {
            if self.left == 0 {
                return Ok(None);
            }
            self.refill()?;
        }
        let bytes = self.slice[self.at..].first_chunk();
        self.at += TraceRecord::BYTES;
        Ok(bytes.map(TraceRecord::read))
    }

    #[cold]
    fn refill(&mut self) -> io::Result<()> {
        let records = self.left.min(SLICE_RECORDS as u64);
        self.slice.resize(records as usize * TraceRecord::BYTES, 0);
        self.file.read_exact_at(&mut self.slice, self.next_byte)?;
        (self.at, self.left) = (0, self.left - records);
        self.next_byte += self.slice.len() as u64;
        // SAFETY: advice on an open descriptor; a refusal changes nothing.
        unsafe {
            libc::posix_fadvise(self.file.as_raw_fd(), self.next_byte as i64, AHEAD_BYTES, libc::POSIX_FADV_WILLNEED)
        };
        Ok(())
    }
}

fn prefix(file: &File) -> io::Result<Prefix> {
    let mut bytes = [0; Prefix::BYTES];
    let size_bytes = file.metadata()?.len();
    let damaged = |sentence: &str| io::Error::new(io::ErrorKind::InvalidData, sentence.to_owned());
    if size_bytes >= bytes.len() as u64 {
        file.read_exact_at(&mut bytes, 0)?;
    }
    Prefix::read(&bytes, size_bytes).map_err(damaged)
}

/// The header of a compact trace, with its touched places.
///
/// # Errors
/// When the file cannot be read, or is none; the error says what would be right.
pub(crate) fn read_header(path: &str) -> io::Result<TraceHeader> {
    let damaged = |sentence: String| io::Error::new(io::ErrorKind::InvalidData, sentence);
    let file = File::open(path)?;
    let prefix = prefix(&file)?;
    if prefix.header.1 > HEADER_BYTES_MAX {
        return Err(damaged("its header is too long; convert the trace again".to_owned()));
    }
    let mut json = vec![0; prefix.header.1 as usize];
    file.read_exact_at(&mut json, prefix.header.0)?;
    let mut header = TraceHeader::read(&json).map_err(damaged)?;
    if header.ops.iter().try_fold(0u64, |sum, count| sum.checked_add(*count)) != Some(prefix.records) {
        return Err(damaged("its header counts other requests than it has; convert the trace again".to_owned()));
    }
    let mut touched = vec![0; prefix.touched.1 as usize * 8];
    file.read_exact_at(&mut touched, prefix.touched.0)?;
    header.touched = touched.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_does_not_grow_with_the_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        let count = 1_000_000u64;
        let end = Prefix::BYTES as u64 + count * TraceRecord::BYTES as u64;
        let file = File::create(&path).unwrap();
        file.set_len(end).unwrap();
        file.write_all_at(b"PLIMTRC1", 0).unwrap();
        for (at, number) in [(8, count), (16, end), (32, end)] {
            file.write_all_at(&number.to_le_bytes(), at).unwrap();
        }
        let mut reader = TraceReader::open(path.to_str().unwrap()).unwrap();
        let held = reader.slice.capacity();
        let mut found = 0;
        while reader.next().unwrap().is_some() {
            found += 1;
        }
        assert_eq!((found, reader.slice.capacity()), (count, held));
        assert!(held <= 64 << 10);
    }
}
