//! The mount: what the kernel asks, carried out on the backing directory unless a fault decides otherwise.
//!
//! Model: one thread takes requests; each is decided on and, if nothing delays it, carried out before the next is taken, so that
//! a seed gives the same faults for the same requests. What is delayed or hangs is carried out by others. Locks of files are the
//! kernel's own. Nothing is cached: sizes, names and bytes are asked for each time.
//!
//! Limits: no extended attributes, no shared memory maps, no anonymous files. The kernel cuts requests at 1 MiB.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, INodeNo, InitFlags, KernelConfig, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::answer::{Answer, Name, Opened, attributes};
use crate::disk::{Disk, Writing, opening};
use crate::fault::Op;
use crate::faults::{Asked, Decision};
use crate::later::Later;
use crate::node::Node;
use crate::rule::Strike;
use crate::{backing, locked};

const REQUEST_BYTES: u32 = 1 << 20;
const BACKGROUND: u16 = 4096;
/// Of a write, what rules may look at.
const BEGINNING_BYTES: usize = 16;

/// See the module.
#[derive(Debug)]
pub struct FaultFs {
    disk: Arc<Disk>,
    later: Later,
    listings: Arc<Listings>,
}

/// Directories as they were when they were opened.
#[derive(Debug, Default)]
struct Listings {
    opened: Mutex<HashMap<u64, Vec<Name>>>,
    count: AtomicU64,
}

impl FaultFs {
    /// A file system of a disk, with somebody to carry out what is delayed.
    pub fn new(disk: Arc<Disk>, later: Later) -> Self {
        Self { disk, later, listings: Arc::default() }
    }

    /// Decides on a request and carries it out, now or later.
    fn carry_out<T, A: Answer<T>>(
        &self,
        asked: Asked,
        reply: A,
        work: impl FnOnce(&Disk, &Asked, Option<Strike>) -> io::Result<T> + Send + 'static,
    ) {
        let decision = self.disk.faults.decide(&asked);
        let strike = match decision {
            Decision::Fails(errno) => return reply.answer(Err(Errno::from_i32(errno))),
            Decision::CarriedOut(strike) => strike,
            Decision::Delayed(_) | Decision::Hangs => None,
        };
        let disk = Arc::clone(&self.disk);
        let task = move || {
            let done = disk.powered().and_then(|_power| work(&disk, &asked, strike));
            reply.answer(done.map_err(Errno::from));
        };
        match decision {
            Decision::Delayed(delay) => self.later.after(delay, Box::new(task)),
            Decision::Hangs => self.later.hang(Box::new(task)),
            Decision::CarriedOut(_) | Decision::Fails(_) => task(),
        }
    }

    /// Carries out what is asked of a file or directory as a whole.
    fn on_node<T, A: Answer<T>>(
        &self,
        op: Op,
        number: INodeNo,
        reply: A,
        work: impl FnOnce(&Disk, &Node) -> io::Result<T> + Send + 'static,
    ) {
        match self.disk.nodes.get(number.0) {
            Ok(node) => self.carry_out(Asked::of(op, node.path()), reply, move |disk, _, _| work(disk, &node)),
            Err(error) => reply.answer(Err(error.into())),
        }
    }

    /// Carries out what is asked of a name.
    fn on_name<T, A: Answer<T>>(
        &self,
        op: Op,
        (parent, name): (INodeNo, &OsStr),
        reply: A,
        work: impl FnOnce(&Disk, &Node, &OsStr) -> io::Result<T> + Send + 'static,
    ) {
        match self.disk.nodes.get(parent.0) {
            Ok(node) => {
                let (asked, name) = (Asked::of(op, node.below(name)), name.to_owned());
                self.carry_out(asked, reply, move |disk, _, _| work(disk, &node, &name));
            }
            Err(error) => reply.answer(Err(error.into())),
        }
    }

    /// Carries out what is asked of the bytes of a file.
    fn on_bytes<T, A: Answer<T>>(
        &self,
        number: INodeNo,
        bytes: Bytes<'_>,
        reply: A,
        work: impl FnOnce(&Disk, &Node, &Asked, Option<Strike>) -> io::Result<T> + Send + 'static,
    ) {
        let node = match self.disk.nodes.get(number.0) {
            Ok(node) => node,
            Err(error) => return reply.answer(Err(error.into())),
        };
        let Bytes { op, offset, len, begins } = bytes;
        let (begins, has_past) = match op {
            Op::Read => self.disk.glance(&node, offset, len),
            _ => (begins.to_vec(), false),
        };
        let asked = Asked { op, path: node.path(), offset, len, begins, has_past };
        self.carry_out(asked, reply, move |disk, asked, strike| work(disk, &node, asked, strike));
    }

    /// Makes something under a name and looks it up, as the kernel wants it.
    fn make<A: Answer<FileAttr>>(
        &self,
        op: Op,
        place: (INodeNo, &OsStr),
        reply: A,
        work: impl FnOnce(&Node, &OsStr) -> io::Result<()> + Send + 'static,
    ) {
        self.on_name(op, place, reply, |disk, parent, name| {
            work(parent, name)?;
            look_up(disk, parent, name)
        });
    }
}

/// Bytes that are asked for.
struct Bytes<'a> {
    op: Op,
    offset: u64,
    len: u64,
    begins: &'a [u8],
}

fn look_up(disk: &Disk, parent: &Node, name: &OsStr) -> io::Result<FileAttr> {
    let (node, status) = disk.nodes.look_up(parent, name)?;
    Ok(described(disk, &node, &status))
}

fn described(disk: &Disk, node: &Node, status: &libc::stat) -> FileAttr {
    let size = disk.size(node, status.st_size as u64);
    attributes(disk.nodes.number(node.number), status, size)
}

fn file_type(found: std::fs::FileType) -> FileType {
    FileType::from_std(found).unwrap_or(FileType::RegularFile)
}

fn listing(disk: &Disk, node: &Node) -> io::Result<Vec<Name>> {
    let dots = [".", ".."].map(|name| Name { number: node.number, kind: FileType::Directory, name: name.into() });
    let found = backing::list(&node.held)?.into_iter();
    let names = found.map(|(inode, kind, name)| Name { number: disk.nodes.number(inode), kind: file_type(kind), name });
    Ok(dots.into_iter().chain(names).collect())
}

fn time(asked: Option<TimeOrNow>) -> libc::timespec {
    match asked {
        None => libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_OMIT },
        Some(TimeOrNow::Now) => libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW },
        Some(TimeOrNow::SpecificTime(at)) => {
            let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
            libc::timespec { tv_sec: since.as_secs() as i64, tv_nsec: since.subsec_nanos().into() }
        }
    }
}

impl Filesystem for FaultFs {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // A kernel that lacks one of these hands on fewer requests at once, but all of them.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_write(REQUEST_BYTES);
        let _ = config.set_max_readahead(REQUEST_BYTES);
        let _ = config.set_max_background(BACKGROUND);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.on_name(Op::Lookup, (parent, name), reply, look_up);
    }

    fn forget(&self, _request: &Request, number: INodeNo, lookups: u64) {
        self.disk.nodes.forget(number.0, lookups);
    }

    fn getattr(&self, _request: &Request, number: INodeNo, _file: Option<FileHandle>, reply: ReplyAttr) {
        self.on_node(Op::Getattr, number, reply, |disk, node| Ok(described(disk, node, &backing::status(&node.held)?)));
    }

    fn setattr(
        &self,
        _request: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _file: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.on_node(Op::Setattr, number, reply, move |disk, node| {
            let path = backing::by_descriptor(&node.held);
            if let Some(mode) = mode {
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode & 0o7777))?;
            }
            if uid.is_some() || gid.is_some() {
                chown(&path, uid, gid)?;
            }
            if let Some(size) = size {
                disk.resize(node, size)?;
            }
            if atime.is_some() || mtime.is_some() {
                backing::set_times(&node.held, [time(atime), time(mtime)])?;
            }
            Ok(described(disk, node, &backing::status(&node.held)?))
        });
    }

    fn readlink(&self, _request: &Request, number: INodeNo, reply: ReplyData) {
        self.on_node(Op::Getattr, number, reply, |_, node| backing::read_link(&node.held));
    }

    fn mknod(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let mode = mode & !umask;
        self.make(Op::Create, (parent, name), reply, move |parent, name| {
            backing::mknod(&parent.held, name, mode, device)
        });
    }

    fn mkdir(&self, _request: &Request, parent: INodeNo, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        let mode = mode & !umask;
        self.make(Op::Mkdir, (parent, name), reply, move |parent, name| backing::mkdir(&parent.held, name, mode));
    }

    fn unlink(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.on_name(Op::Unlink, (parent, name), reply, |_, parent, name| backing::unlink(&parent.held, name, 0));
    }

    fn rmdir(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.on_name(Op::Rmdir, (parent, name), reply, |_, parent, name| {
            backing::unlink(&parent.held, name, libc::AT_REMOVEDIR)
        });
    }

    fn symlink(&self, _request: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let target = target.to_path_buf();
        self.make(Op::Link, (parent, name), reply, move |parent, name| backing::symlink(&target, &parent.held, name));
    }

    fn rename(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        to_parent: INodeNo,
        to_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let to_name = to_name.to_owned();
        self.on_name(Op::Rename, (parent, name), reply, move |disk, parent, name| {
            let to = disk.nodes.get(to_parent.0)?;
            backing::rename((&parent.held, name), (&to.held, &to_name), flags.bits())?;
            disk.nodes.renamed(&to, &to_name);
            Ok(())
        });
    }

    fn link(&self, _request: &Request, number: INodeNo, to_parent: INodeNo, to_name: &OsStr, reply: ReplyEntry) {
        self.on_name(Op::Link, (to_parent, to_name), reply, move |disk, parent, name| {
            backing::link(&disk.nodes.get(number.0)?.held, &parent.held, name)?;
            look_up(disk, parent, name)
        });
    }

    fn open(&self, _request: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        // The kernel has judged the permission; the descriptor for bytes belongs to the node.
        self.on_node(opening(flags.0), number, reply, |_, node| node.bytes().map(|_| Opened(0)));
    }

    fn create(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let (mode, exclusive) = (mode & !umask & 0o7777, flags & libc::O_EXCL != 0);
        self.make(Op::Create, (parent, name), reply, move |parent, name| {
            backing::create(&parent.held, name, mode, exclusive)
        });
    }

    fn read(
        &self,
        _request: &Request,
        number: INodeNo,
        _file: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let bytes = Bytes { op: Op::Read, offset, len: u64::from(size), begins: &[] };
        self.on_bytes(number, bytes, reply, Disk::read);
    }

    fn write(
        &self,
        _request: &Request,
        number: INodeNo,
        _file: FileHandle,
        offset: u64,
        data: &[u8],
        _how: WriteFlags,
        flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let begins = &data[..data.len().min(BEGINNING_BYTES)];
        let bytes = Bytes { op: Op::Write, offset, len: data.len() as u64, begins };
        let (data, durable) = (data.to_vec(), flags.0 & libc::O_DSYNC != 0);
        self.on_bytes(number, bytes, reply, move |disk, node, asked, strike| {
            disk.write(node, asked, Writing { bytes: &data, durable, strike })
        });
    }

    fn flush(&self, _request: &Request, _number: INodeNo, _file: FileHandle, _owner: LockOwner, reply: ReplyEmpty) {
        // To close a file makes nothing durable.
        reply.ok();
    }

    fn fsync(&self, _request: &Request, number: INodeNo, _file: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        let bytes = Bytes { op: Op::Fsync, offset: 0, len: 0, begins: &[] };
        self.on_bytes(number, bytes, reply, Disk::flush);
    }

    fn fallocate(
        &self,
        _request: &Request,
        number: INodeNo,
        _file: FileHandle,
        offset: u64,
        len: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let bytes = Bytes { op: Op::Fallocate, offset, len, begins: &[] };
        self.on_bytes(number, bytes, reply, move |disk, node, _, _| disk.allocate(node, mode, offset..offset + len));
    }

    fn opendir(&self, _request: &Request, number: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let listings = Arc::clone(&self.listings);
        self.on_node(Op::Readdir, number, reply, move |disk, node| {
            let names = listing(disk, node)?;
            let handle = listings.count.fetch_add(1, Ordering::Relaxed) + 1;
            locked(&listings.opened).insert(handle, names);
            Ok(Opened(handle))
        });
    }

    fn readdir(&self, _request: &Request, _number: INodeNo, file: FileHandle, offset: u64, reply: ReplyDirectory) {
        let opened = locked(&self.listings.opened);
        let names = opened.get(&file.0).into_iter().flatten().cloned();
        // The offset of a name is where the next one begins.
        reply.answer(Ok((1..).zip(names).skip(offset as usize).collect()));
    }

    fn releasedir(&self, _request: &Request, _number: INodeNo, file: FileHandle, _flags: OpenFlags, reply: ReplyEmpty) {
        locked(&self.listings.opened).remove(&file.0);
        reply.ok();
    }

    fn fsyncdir(&self, _request: &Request, number: INodeNo, _file: FileHandle, _data: bool, reply: ReplyEmpty) {
        self.on_node(Op::Fsyncdir, number, reply, |_, _| Ok(()));
    }

    fn statfs(&self, _request: &Request, number: INodeNo, reply: ReplyStatfs) {
        self.on_node(Op::Statfs, number, reply, |_, node| backing::room(&node.held));
    }
}
