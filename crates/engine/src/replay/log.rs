//! The request log: a line per request of the trace streams, written while the run goes on.
//!
//! Model: a worker collects rows in blocks and hands full ones to a thread that writes. Blocks come back empty, so nothing is
//! allocated per request. In real time a worker never waits: rows for which there is no block are dropped and counted. In
//! virtual time it waits, since nobody's time is lost. When the file cannot grow, it keeps its whole lines and every row
//! after them counts as dropped. A file that something else wrote is not replaced.
//!
//! ```text
//! number,due_ns,submitted_ns,completed_ns,lateness_ns,latency_ns,op,offset,length,stream,error
//! 0,0,812,105310,812,105310,read,8192,4096,replay,
//! ```
//!
//! Instants count from the job's start. As fast as possible nothing is due: due and lateness stay empty, and latency counts
//! from the hand-over.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use plimsoll_workload::Op;

use crate::errno::errno_name;

const ROWS_PER_BLOCK: usize = 1024;
/// Blocks under way at once: 8 MiB of rows.
const BLOCKS: usize = 96;
const HEAD: &str = "number,due_ns,submitted_ns,completed_ns,lateness_ns,latency_ns,op,offset,length,stream,error\n";

/// One finished request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) stream: u32,
    pub(crate) number: u64,
    pub(crate) due_ns: Option<u64>,
    pub(crate) submitted_ns: u64,
    pub(crate) completed_ns: u64,
    pub(crate) op: Op,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) errno: Option<i32>,
}

type Block = Vec<Row>;

/// The log of a run.
#[derive(Debug)]
pub(crate) struct RequestLog {
    full: Sender<Block>,
    empty: (Sender<Block>, Receiver<Block>),
    dropped: Arc<AtomicU64>,
    waits: bool,
    writer: JoinHandle<Written>,
}

/// What the writing thread has done: rows in the file, rows it could not write, and why.
#[derive(Debug, Default)]
struct Written {
    rows: u64,
    bytes: u64,
    missing: u64,
    failure: Option<io::Error>,
}

/// What became of a log.
#[derive(Debug)]
pub struct Logged {
    /// Its file.
    pub path: String,
    /// Rows in it.
    pub written: u64,
    /// Rows that found no room.
    pub dropped: u64,
    /// Why writing ended early.
    pub failure: Option<String>,
}

impl RequestLog {
    /// Begins the file at `path` for streams of these names.
    ///
    /// # Errors
    /// When the file cannot be made, or holds what no log of requests holds.
    pub(crate) fn begin(path: &str, streams: Vec<String>, waits: bool) -> io::Result<Self> {
        let mut file = created(path)?;
        file.write_all(HEAD.as_bytes())?;
        let (full, blocks) = bounded::<Block>(BLOCKS);
        let empty = bounded::<Block>(BLOCKS);
        for _ in 0..BLOCKS {
            let _ = empty.0.send(Vec::with_capacity(ROWS_PER_BLOCK));
        }
        let back = empty.0.clone();
        let writer = std::thread::spawn(move || {
            let written = write_blocks(&mut file, &blocks, &back, &streams);
            if written.failure.is_some() {
                // What is left of a line is none; where this fails, too, nothing better can be done.
                let _ = file.set_len(HEAD.len() as u64 + written.bytes);
            }
            written
        });
        Ok(Self { full, empty, dropped: Arc::default(), waits, writer })
    }

    /// A line for the stream of this index.
    pub(crate) fn line(&self, stream: u32) -> LogLine {
        LogLine {
            stream,
            block: Vec::with_capacity(ROWS_PER_BLOCK),
            full: self.full.clone(),
            empty: self.empty.1.clone(),
            dropped: Arc::clone(&self.dropped),
            waits: self.waits,
        }
    }

    /// Waits until everything is in the file. All lines must be gone.
    pub(crate) fn finish(self, path: &str) -> Logged {
        drop((self.full, self.empty));
        let written = self.writer.join().unwrap_or_else(|_| Written {
            failure: Some(io::Error::other("the writing thread stopped")),
            ..Written::default()
        });
        Logged {
            path: path.to_owned(),
            dropped: self.dropped.load(Ordering::Acquire) + written.missing,
            failure: written.failure.map(|failure| failure.to_string()),
            written: written.rows,
        }
    }
}

/// A worker's end of the log.
#[derive(Debug)]
pub(crate) struct LogLine {
    stream: u32,
    block: Block,
    full: Sender<Block>,
    empty: Receiver<Block>,
    dropped: Arc<AtomicU64>,
    waits: bool,
}

impl LogLine {
    #[inline]
    pub(crate) fn add(&mut self, row: Row) {
        self.block.push(Row { stream: self.stream, ..row });
        if self.block.len() == ROWS_PER_BLOCK {
            self.hand_on();
        }
    }

    #[cold]
    fn hand_on(&mut self) {
        let rows = self.block.len() as u64;
        let fresh = if self.waits { self.empty.recv().ok() } else { self.empty.try_recv().ok() };
        let Some(fresh) = fresh else { return self.drop_rows(rows) };
        let full = std::mem::replace(&mut self.block, fresh);
        // There are no more blocks than places, so a full channel means that the writer has gone.
        if let Err(TrySendError::Full(block) | TrySendError::Disconnected(block)) = self.full.try_send(full) {
            self.block = block;
            self.drop_rows(rows);
        }
    }

    fn drop_rows(&mut self, rows: u64) {
        self.dropped.fetch_add(rows, Ordering::AcqRel);
        self.block.clear();
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        if !self.block.is_empty() {
            // The run is over: what is left may wait for room.
            let rows = std::mem::take(&mut self.block);
            let count = rows.len() as u64;
            if self.full.send(rows).is_err() {
                self.dropped.fetch_add(count, Ordering::AcqRel);
            }
        }
    }
}

/// The file at `path`, empty: a new one, or one that began as a log of requests.
fn created(path: &str) -> io::Result<File> {
    let refused = |what| Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    match std::fs::metadata(path) {
        Ok(known) if known.file_type().is_block_device() => return refused("it is a device"),
        // A pipe takes the log as it comes.
        Ok(known) if !known.is_file() => return OpenOptions::new().write(true).open(path),
        _ => {}
    }
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    // What was opened is looked at, not what had the name before.
    if !file.metadata()?.is_file() {
        return refused("it has become something else meanwhile");
    }
    if file.metadata()?.len() > 0 {
        let mut head = Vec::new();
        (&mut file).take(HEAD.len() as u64).read_to_end(&mut head)?;
        if head != HEAD.as_bytes() {
            return refused("a file is there that no replay wrote");
        }
        file.set_len(0)?;
        file.rewind()?;
    }
    Ok(file)
}

/// Writes whole blocks. After a failure it takes further ones and counts their rows, so that nobody waits for it in vain.
fn write_blocks(file: &mut impl Write, blocks: &Receiver<Block>, empty: &Sender<Block>, streams: &[String]) -> Written {
    let mut written = Written::default();
    let mut text = Vec::with_capacity(1 << 18);
    for mut block in blocks {
        if written.failure.is_none() {
            text.clear();
            let formatted = block.iter().try_for_each(|row| write_row(&mut text, row, &streams[row.stream as usize]));
            written.failure = formatted.and_then(|()| file.write_all(&text)).err();
        }
        let rows = block.len() as u64;
        if written.failure.is_none() {
            written.rows += rows;
            written.bytes += text.len() as u64;
        } else {
            written.missing += rows;
        }
        block.clear();
        let _ = empty.try_send(block);
    }
    written
}

fn write_row(file: &mut impl Write, row: &Row, stream: &str) -> io::Result<()> {
    let Row { number, due_ns, submitted_ns, completed_ns, op, offset, len, errno, .. } = row;
    write!(file, "{number},")?;
    match due_ns {
        Some(due_ns) => {
            let (lateness_ns, latency_ns) =
                (submitted_ns.saturating_sub(*due_ns), completed_ns.saturating_sub(*due_ns));
            write!(file, "{due_ns},{submitted_ns},{completed_ns},{lateness_ns},{latency_ns},")?;
        }
        None => write!(file, ",{submitted_ns},{completed_ns},,{},", completed_ns - submitted_ns)?,
    }
    let error = errno.map(errno_name).unwrap_or_default();
    writeln!(file, "{},{offset},{len},{stream},{error}", op.name())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A disk with room for so many bytes.
    struct Disk(usize);

    impl Write for Disk {
        fn write(&mut self, content: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let taken = content.len().min(self.0);
            self.0 -= taken;
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn block(rows: usize) -> Block {
        let row = Row {
            stream: 0,
            number: 7,
            due_ns: None,
            submitted_ns: 1,
            completed_ns: 2,
            op: Op::Read,
            offset: 0,
            len: 512,
            errno: None,
        };
        vec![row; rows]
    }

    #[test]
    fn a_full_disk_leaves_whole_blocks_and_counts_every_other_row() {
        let (full, blocks) = bounded(3);
        let (back, empty) = bounded(3);
        for rows in [10, 20, 30] {
            full.send(block(rows)).unwrap();
        }
        drop(full);
        let mut line = Vec::new();
        write_row(&mut line, &block(1)[0], "again").unwrap();
        let written = write_blocks(&mut Disk(15 * line.len()), &blocks, &back, &["again".to_owned()]);
        assert_eq!((written.rows, written.missing), (10, 50));
        assert_eq!(written.bytes, 10 * line.len() as u64);
        assert_eq!(written.failure.unwrap().kind(), io::ErrorKind::StorageFull);
        assert_eq!(empty.len(), 3, "whoever waits for an empty block gets one");
    }

    #[test]
    fn only_a_log_of_requests_is_replaced() {
        let path = std::env::temp_dir().join(format!("plimsoll-log-{}", std::process::id()));
        let path = path.to_str().unwrap();
        std::fs::write(path, "fio version 3 iolog\n").unwrap();
        assert!(created(path).unwrap_err().to_string().contains("no replay wrote"));
        assert_eq!(std::fs::read(path).unwrap(), b"fio version 3 iolog\n");
        std::fs::write(path, format!("{HEAD}0,0,0\n")).unwrap();
        drop(created(path).unwrap());
        assert_eq!(std::fs::metadata(path).unwrap().len(), 0);
        drop(created(path).unwrap());
        std::fs::remove_file(path).unwrap();
    }
}
