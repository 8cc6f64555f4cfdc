//! The bytes of files: passed through to the backing directory, twisted by faults, kept back until they are durable.
//!
//! Model: all that concerns one file's bytes happens under its lock, so that what the log and the blame say is what a read
//! returned. A power cut happens between two requests. Direct I/O is not passed on: the backing files are read and written
//! through the host's page cache, so every alignment is right.
//!
//! Limits: a flush without volatility does nothing, since the host's own power is not what is tested. What is written to a
//! file and not durable costs memory up to the room that was given; the search for it grows with the number of changes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{MutexGuard, RwLock, RwLockReadGuard};

use serde::Serialize;

use crate::backing;
use crate::fault::{Fault, Op};
use crate::faults::{Asked, Faults};
use crate::injection::{self, Twist};
use crate::node::{Content, Node, Nodes};
use crate::rule::Strike;
use crate::volatile::{Change, Cut};
use crate::{locked, reading, writing};

/// Files, faults, power.
#[derive(Debug)]
pub struct Disk {
    /// The rules and the log.
    pub faults: Faults,
    /// Files and directories.
    pub nodes: Nodes,
    /// Bytes that may wait to become durable; 0 writes through.
    room_bytes: AtomicU64,
    power: RwLock<()>,
}

/// What a power cut did to one change.
#[derive(Clone, Debug, Serialize)]
pub struct Loss {
    /// Of which file, below the mount.
    pub path: String,
    /// The bytes that the change was about.
    pub range: Range<u64>,
    /// What of them is durable.
    pub kept: Vec<Range<u64>>,
    /// Whether that is only a part.
    pub torn: bool,
}

impl Disk {
    /// A disk over a directory.
    pub fn new(nodes: Nodes) -> Self {
        Self { faults: Faults::default(), nodes, room_bytes: AtomicU64::new(0), power: RwLock::default() }
    }

    /// Held while a request is carried out, so that power does not fail within it.
    pub fn powered(&self) -> io::Result<RwLockReadGuard<'_, ()>> {
        let power = reading(&self.power);
        if self.faults.is_dark() { Err(io::Error::from_raw_os_error(libc::EIO)) } else { Ok(power) }
    }

    fn is_volatile(&self) -> bool {
        self.room_bytes.load(Ordering::Relaxed) > 0
    }

    /// Keeps so much in memory until it is flushed; with 0 everything becomes durable and stays so.
    ///
    /// # Errors
    /// When the backing files cannot be written.
    pub fn set_volatile(&self, room_bytes: u64) -> io::Result<()> {
        let _power = writing(&self.power);
        self.room_bytes.store(room_bytes, Ordering::Relaxed);
        if room_bytes == 0 {
            for node in self.nodes.all() {
                self.flush_all(&node, &mut locked(&node.content))?;
            }
        }
        Ok(())
    }

    /// Bytes that are not durable, in all files.
    pub fn pending_bytes(&self) -> u64 {
        self.nodes.all().iter().map(|node| locked(&node.content).pending.held_bytes()).sum()
    }

    /// Power fails: what is not durable is gone but for what the cut says.
    ///
    /// # Errors
    /// When the backing files cannot be written.
    pub fn cut(&self, cut: &Cut, dark: bool) -> io::Result<Vec<Loss>> {
        let _power = writing(&self.power);
        self.faults.set_dark(dark);
        let mut losses = Vec::new();
        for node in self.nodes.all() {
            let mut content = locked(&node.content);
            if content.pending.is_empty() {
                continue;
            }
            // Cuts of one seed fall alike whatever numbers inodes have: files go by their order and name.
            let name = node.path().bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            for fate in content.pending.cut(cut, name) {
                for change in &fate.kept {
                    make_durable(node.bytes()?, change)?;
                }
                let kept = fate.kept.iter().map(Change::range).collect();
                losses.push(Loss { path: node.path(), range: fate.range, kept, torn: fate.torn });
            }
        }
        Ok(losses)
    }

    /// The size of a file as its users see it.
    pub fn size(&self, node: &Node, durable: u64) -> u64 {
        locked(&node.content).pending.size(durable)
    }

    /// How what would be read begins, as far as any rule asks, and whether there is older data than the last.
    pub fn glance(&self, node: &Node, offset: u64, len: u64) -> (Vec<u8>, bool) {
        let mut begins = vec![0; if self.faults.looks_at_data() { 16 } else { 0 }];
        let content = locked(&node.content);
        let has_past = self.faults.keeps_past() && content.past.knows(&(offset..offset + len));
        if node.bytes().and_then(|file| fetch(file, &content, offset, &mut begins)).is_err() {
            begins.clear();
        }
        (begins, has_past)
    }

    /// Reads.
    ///
    /// # Errors
    /// What the backing file answers.
    pub fn read(&self, node: &Node, asked: &Asked, strike: Option<Strike>) -> io::Result<Vec<u8>> {
        self.strike_file(node, asked, strike)?;
        let content = locked(&node.content);
        let file = node.bytes()?;
        let mut offset = asked.offset;
        let mut twist = None;
        if let Some(strike) = &strike {
            let found = Twist { fault: strike.fault, bytes: strike.bytes, draw: strike.draw };
            if strike.fault == Fault::Misdirected {
                offset = injection::elsewhere(&found, offset, asked.len);
            }
            twist = Some(found);
        }
        let size = content.pending.size(file.metadata()?.len());
        let mut bytes = vec![0; size.saturating_sub(offset).min(asked.len) as usize];
        fetch(file, &content, offset, &mut bytes)?;
        let wrong = match (&strike, &twist) {
            (Some(strike), _) if strike.fault == Fault::Stale => Some(content.past.return_to(offset, &mut bytes)),
            (Some(strike), _) if strike.fault == Fault::Misdirected => {
                let mut right = vec![0; bytes.len()];
                fetch(file, &content, asked.offset, &mut right)?;
                Some(if right == bytes { Vec::new() } else { whole(asked.offset, bytes.len()) })
            }
            (_, Some(twist)) => injection::read(twist, offset, &mut bytes),
            _ => None,
        };
        if let (Some(strike), Some(wrong)) = (&strike, wrong) {
            let changes = strike.fault == Fault::Short || !wrong.is_empty();
            changes.then(|| self.faults.note(asked, strike, wrong, true));
        }
        if content.blamed {
            self.faults.log.see(&content.blame.touched(asked.offset..asked.offset + bytes.len() as u64));
        }
        Ok(bytes)
    }

    /// Writes; the bytes that are said to be written. `durable` is a write that is to be durable itself.
    ///
    /// # Errors
    /// What the backing file answers.
    pub fn write(&self, node: &Node, asked: &Asked, data: Writing<'_>) -> io::Result<usize> {
        self.strike_file(node, asked, data.strike)?;
        let mut content = locked(&node.content);
        let file = node.bytes()?;
        let offset = asked.offset;
        if self.faults.keeps_past() {
            let size = content.pending.size(file.metadata()?.len());
            let mut before = vec![0; size.saturating_sub(offset).min(data.bytes.len() as u64) as usize];
            fetch(file, &content, offset, &mut before)?;
            content.past.replaced(offset, before);
        }
        let Some(strike) = data.strike else {
            content.blame.clear(offset..offset + data.bytes.len() as u64);
            self.store(file, &mut content, Change::Write { offset, data: data.bytes.to_vec() }, data.durable)?;
            return Ok(data.bytes.len());
        };
        let twist = Twist { fault: strike.fault, bytes: strike.bytes, draw: strike.draw };
        let changed = injection::written(&twist, offset, data.bytes);
        content.blame.clear(offset..offset + changed.acknowledged as u64);
        for (at, bytes) in changed.pieces {
            self.store(file, &mut content, Change::Write { offset: at, data: bytes }, data.durable)?;
        }
        if matches!(strike.fault, Fault::Truncated | Fault::Removed) {
            return Ok(changed.acknowledged);
        }
        let number = self.faults.note(asked, &strike, changed.wrong.clone(), false);
        for wrong in changed.wrong {
            content.blamed = true;
            content.blame.put(wrong, number);
        }
        Ok(changed.acknowledged)
    }

    /// What cuts or removes a file does so before the request that it strikes.
    fn strike_file(&self, node: &Node, asked: &Asked, strike: Option<Strike>) -> io::Result<()> {
        let Some(strike) = strike else { return Ok(()) };
        match strike.fault {
            Fault::Truncated => {
                let size = self.size(node, node.bytes()?.metadata()?.len());
                self.faults.note(asked, &strike, Vec::new(), false);
                self.resize(node, strike.bytes.unwrap_or(size / 2))
            }
            Fault::Removed => {
                self.faults.note(asked, &strike, Vec::new(), false);
                node.vanish();
                backing::unlink(&self.nodes.root().held, asked.path.as_ref(), 0)
            }
            _ => Ok(()),
        }
    }

    /// Gives a file another size.
    ///
    /// # Errors
    /// What the backing file answers.
    pub fn resize(&self, node: &Node, size: u64) -> io::Result<()> {
        self.store(node.bytes()?, &mut locked(&node.content), Change::Resize { size }, false)
    }

    /// Reserves, clears or gives back room.
    ///
    /// # Errors
    /// What the backing file answers; EOPNOTSUPP for other modes than these.
    pub fn allocate(&self, node: &Node, mode: i32, range: Range<u64>) -> io::Result<()> {
        let (file, mut content) = (node.bytes()?, locked(&node.content));
        let len = range.end - range.start;
        let keeps_size = mode & libc::FALLOC_FL_KEEP_SIZE != 0;
        let size = content.pending.size(file.metadata()?.len());
        match mode & !libc::FALLOC_FL_KEEP_SIZE {
            0 if !self.is_volatile() => backing::allocate(file, mode, range.start, len),
            0 if keeps_size || range.end <= size => Ok(()),
            0 => self.store(file, &mut content, Change::Resize { size: range.end }, false),
            libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE => {
                let end = if keeps_size { range.end.min(size) } else { range.end };
                let zero = Change::Zero { offset: range.start, len: end.saturating_sub(range.start) };
                content.blame.clear(zero.range());
                self.store(file, &mut content, zero, false)
            }
            _ => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        }
    }

    /// Makes what was written to a file durable, unless a fault has the flush lie.
    ///
    /// # Errors
    /// What the backing file answers.
    pub fn flush(&self, node: &Node, asked: &Asked, strike: Option<Strike>) -> io::Result<()> {
        let mut content = locked(&node.content);
        let Some(strike) = strike else { return self.flush_all(node, &mut content) };
        let durable = content.pending.lie(strike.draw);
        for change in &durable {
            make_durable(node.bytes()?, change)?;
        }
        self.faults.note(asked, &strike, Vec::new(), false);
        Ok(())
    }

    fn flush_all(&self, node: &Node, content: &mut MutexGuard<'_, Content>) -> io::Result<()> {
        if content.pending.is_empty() {
            return Ok(());
        }
        let file = node.bytes()?;
        content.pending.flush().iter().try_for_each(|change| make_durable(file, change))
    }

    /// A change is made: at once, or kept back.
    fn store(&self, file: &File, content: &mut Content, change: Change, durable: bool) -> io::Result<()> {
        if !self.is_volatile() {
            return make_durable(file, &change);
        }
        if durable {
            let before = content.pending.supersede(&change.range(), file.metadata()?.len());
            return before.iter().chain([&change]).try_for_each(|change| make_durable(file, change));
        }
        content.pending.push(change);
        while content.pending.held_bytes() > self.room_bytes.load(Ordering::Relaxed) {
            let Some(oldest) = content.pending.pop() else { break };
            make_durable(file, &oldest)?;
        }
        Ok(())
    }

    /// How many strikes of each fault the log holds.
    pub fn strikes(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for entry in self.faults.log.since(0).0 {
            *counts.entry(format!("{:?}", entry.fault)).or_default() += 1;
        }
        counts
    }
}

/// A write with what has become of it so far.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    /// What is to be written.
    pub bytes: &'a [u8],
    /// Whether it is to be durable itself.
    pub durable: bool,
    /// The fault that strikes it.
    pub strike: Option<Strike>,
}

fn whole(offset: u64, len: usize) -> Vec<Range<u64>> {
    vec![offset..offset + len as u64]
}

/// Reads what a file holds with what waits for it; zeros beyond its end.
fn fetch(file: &File, content: &Content, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], offset + done as u64)? {
            0 => break,
            read => done += read,
        }
    }
    bytes[done..].fill(0);
    content.pending.overlay(offset, bytes);
    Ok(())
}

fn make_durable(file: &File, change: &Change) -> io::Result<()> {
    match change {
        Change::Write { offset, data } => file.write_all_at(data, *offset),
        Change::Resize { size } => file.set_len(*size),
        Change::Zero { len: 0, .. } => Ok(()),
        Change::Zero { offset, len } => {
            let size = file.metadata()?.len();
            // A hole does not make the file longer, the change does.
            if size < offset + len {
                file.set_len(offset + len)?;
            }
            backing::allocate(file, libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, *offset, *len)
        }
    }
}

/// Whether an operation opens a file for writing.
pub const fn opening(flags: i32) -> Op {
    if flags & libc::O_ACCMODE == libc::O_RDONLY { Op::Open } else { Op::OpenWrite }
}
