//! The array as one file in a directory, for programs that open files: FUSE through the crate `fuser`.
//!
//! `fuser` (MIT, kept up, no C library needed) mounts by itself as root and through `fusermount3` otherwise.
//!
//! Model: the directory holds the file `array`, opened past the page cache (`FOPEN_DIRECT_IO`), so that every request of a
//! program reaches the model as it was made. The thread that receives requests puts them into the model and goes on to the
//! next; the pacer answers, so any number may be under way. `fallocate` with a hole trims, with zeros writes them, `fsync`
//! flushes. These three wait in threads of their own, being rare. A file that is truncated when it is opened stays as it is, as
//! a device does; any other change of its size, mode or owner is not permitted, nor is another file beside it.
//!
//! Limits: no shared memory map, since there is no page cache. The kernel cuts requests at 1 MiB. Programs of other users
//! cannot look at it. Of a read its bytes are fetched before it enters the model, which adds the time of a copy.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};
use plimsoll_workload::Op;

use crate::byte_request::ByteRequest;
use crate::error::ServeError;
use crate::server::Server;

/// The name of the file.
pub const FILE: &str = "array";
const FILE_NUMBER: INodeNo = INodeNo(2);
/// Nothing changes behind the kernel's back.
const FOREVER: Duration = Duration::from_secs(1 << 30);
const REQUEST_BYTES: u32 = 1 << 20;
/// Asynchronous requests that the kernel hands on at once; its own default of 12 would be the depth that the array sees.
const BACKGROUND: u16 = 4096;

/// A mount, as long as it is there.
#[derive(Debug)]
pub struct Mounted {
    session: BackgroundSession,
    at: PathBuf,
}

impl Mounted {
    /// Mounts at an empty directory.
    ///
    /// # Errors
    /// When the kernel or `fusermount3` refuses.
    pub fn mount(server: &Arc<Server>, at: &Path) -> Result<Self, ServeError> {
        let mut config = Config::default();
        let source = format!("plimsoll:{}", server.name());
        config.mount_options =
            vec![MountOption::FSName(source), MountOption::Subtype("plimsoll".into()), MountOption::DefaultPermissions];
        let files = OneFile { server: Arc::clone(server), since: SystemTime::now() };
        let mounted = fuser::Session::new(files, at, &config).and_then(fuser::Session::spawn);
        let session = mounted.map_err(|error| ServeError::Mount {
            path: at.to_path_buf(),
            problem: format!("it cannot be mounted there ({}); be root, or install fusermount3", error_text(&error)),
        })?;
        Ok(Self { session, at: at.to_path_buf() })
    }

    /// Unmounts; while a program has the file open, it is only taken out of sight, and what that program asks next fails.
    pub fn unmount(self) {
        let Ok(at) = std::ffi::CString::new(self.at.as_os_str().as_bytes()) else { return };
        // SAFETY: a path that ends with a zero byte; without the right to unmount, this fails and `fuser` asks fusermount3.
        let busy = unsafe { libc::umount2(at.as_ptr(), 0) } != 0
            && io::Error::last_os_error().raw_os_error() == Some(libc::EBUSY);
        if busy {
            // SAFETY: as above.
            unsafe { libc::umount2(at.as_ptr(), libc::MNT_DETACH) };
            // Its thread ends when the last program closes the file; nobody waits for that.
            std::mem::forget(self.session);
            return;
        }
        // Where this fails, the guard of the process that serves takes the mount away.
        let _ = self.session.umount_and_join();
    }
}

fn error_text(error: &io::Error) -> String {
    error.to_string().trim().replace('\n', " ")
}

/// A directory with the file in it.
#[derive(Debug)]
struct OneFile {
    server: Arc<Server>,
    since: SystemTime,
}

impl OneFile {
    fn attributes(&self, number: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size, nlink) = match number {
            INodeNo::ROOT => (FileType::Directory, 0o700, 0, 2),
            FILE_NUMBER => (FileType::RegularFile, 0o600, self.server.size_bytes(), 1),
            _ => return None,
        };
        // SAFETY: these calls have no preconditions and cannot fail.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        let [atime, mtime, ctime, crtime] = [self.since; 4];
        let blocks = size.div_ceil(512);
        let (rdev, blksize, flags) = (0, 4096, 0);
        Some(FileAttr {
            ino: number,
            size,
            blocks,
            atime,
            mtime,
            ctime,
            crtime,
            kind,
            perm,
            nlink,
            uid,
            gid,
            rdev,
            blksize,
            flags,
        })
    }

    /// The part of a range that lies on the array.
    fn inside(&self, offset: u64, len: u64) -> u64 {
        self.server.size_bytes().saturating_sub(offset).min(len)
    }

    /// Waits for a rare request in a thread of its own.
    fn aside(&self, reply: ReplyEmpty, carry_out: impl FnOnce(&Server) -> io::Result<()> + Send + 'static) {
        let server = Arc::clone(&self.server);
        let waiting = move || match carry_out(&server) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(number_of(&error)),
        };
        // Without a thread the reply is dropped, which `fuser` turns into EIO.
        let _ = std::thread::Builder::new().name("plimsoll-aside".into()).spawn(waiting);
    }
}

fn number_of(error: &io::Error) -> Errno {
    Errno::from_i32(error.raw_os_error().unwrap_or(libc::EIO))
}

impl Filesystem for OneFile {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // An older kernel that lacks one of these serves fewer requests at once, but serves.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        // To truncate on opening comes with `open` then, not as a change of size that is asked for.
        let _ = config.add_capabilities(InitFlags::FUSE_ATOMIC_O_TRUNC);
        let _ = config.set_max_write(REQUEST_BYTES);
        let _ = config.set_max_readahead(REQUEST_BYTES);
        let _ = config.set_max_background(BACKGROUND);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(FILE_NUMBER) {
            Some(found) if parent == INodeNo::ROOT && name == FILE => reply.entry(&FOREVER, &found, Generation(0)),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _request: &Request, number: INodeNo, _file: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(number) {
            Some(found) => reply.attr(&FOREVER, &found),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _request: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<fuser::TimeOrNow>,
        _mtime: Option<fuser::TimeOrNow>,
        _ctime: Option<SystemTime>,
        _file: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        // Programs that truncate what they open or set its time go on, as they would on a device; what would be another size,
        // owner or mode afterwards is refused.
        let Some(found) = self.attributes(number) else { return reply.error(Errno::ENOENT) };
        let kept = size.is_none_or(|size| size == found.size)
            && mode.is_none_or(|mode| mode & 0o7777 == u32::from(found.perm))
            && uid.is_none_or(|uid| uid == found.uid)
            && gid.is_none_or(|gid| gid == found.gid);
        if kept { reply.attr(&FOREVER, &found) } else { reply.error(Errno::EPERM) }
    }

    fn readdir(&self, _request: &Request, _number: INodeNo, _file: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let entries = [(INodeNo::ROOT, "."), (INodeNo::ROOT, ".."), (FILE_NUMBER, FILE)];
        for (place, (number, name)) in entries.into_iter().enumerate().skip(offset as usize) {
            let kind = if number == FILE_NUMBER { FileType::RegularFile } else { FileType::Directory };
            if reply.add(number, place as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    // There is one file, and it stays: what would make, remove or rename one is not permitted. A directory to remove there is none.

    fn mknod(
        &self,
        _request: &Request,
        _parent: INodeNo,
        _name: &OsStr,
        _mode: u32,
        _umask: u32,
        _device: u32,
        reply: ReplyEntry,
    ) {
        reply.error(Errno::EPERM);
    }

    fn create(
        &self,
        _request: &Request,
        _parent: INodeNo,
        _name: &OsStr,
        _mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        reply.error(Errno::EPERM);
    }

    fn mkdir(&self, _request: &Request, _parent: INodeNo, _name: &OsStr, _mode: u32, _umask: u32, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn unlink(&self, _request: &Request, _parent: INodeNo, _name: &OsStr, reply: ReplyEmpty) {
        reply.error(Errno::EPERM);
    }

    fn rename(
        &self,
        _request: &Request,
        _parent: INodeNo,
        _name: &OsStr,
        _to_parent: INodeNo,
        _to_name: &OsStr,
        _flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        reply.error(Errno::EPERM);
    }

    fn link(&self, _request: &Request, _number: INodeNo, _to_parent: INodeNo, _to_name: &OsStr, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn symlink(&self, _request: &Request, _parent: INodeNo, _name: &OsStr, _target: &Path, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn open(&self, _request: &Request, _number: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES | FopenFlags::FOPEN_NOFLUSH;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _request: &Request,
        _number: INodeNo,
        _file: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let len = self.inside(offset, u64::from(size));
        let mut bytes = vec![0; len as usize];
        if let Err(error) = self.server.data().read(offset, &mut bytes) {
            return reply.error(number_of(&error));
        }
        if len == 0 {
            return reply.data(&bytes);
        }
        // The range was cut to the array, so it is not refused.
        let _ = self.server.begin(ByteRequest { op: Op::Read, offset, len }, move |answered| match answered {
            Ok(()) => reply.data(&bytes),
            Err(error) => reply.error(number_of(&error)),
        });
    }

    fn write(
        &self,
        _request: &Request,
        _number: INodeNo,
        _file: FileHandle,
        offset: u64,
        bytes: &[u8],
        _how: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let len = self.inside(offset, bytes.len() as u64);
        if len == 0 {
            return reply.error(Errno::ENOSPC);
        }
        if let Err(error) = self.server.data().write(offset, &bytes[..len as usize]) {
            return reply.error(number_of(&error));
        }
        let _ = self.server.begin(ByteRequest { op: Op::Write, offset, len }, move |answered| match answered {
            Ok(()) => reply.written(len as u32),
            Err(error) => reply.error(number_of(&error)),
        });
    }

    fn fsync(&self, _request: &Request, _number: INodeNo, _file: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        self.aside(reply, Server::flush);
    }

    fn fallocate(
        &self,
        _request: &Request,
        _number: INodeNo,
        _file: FileHandle,
        offset: u64,
        len: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let len = self.inside(offset, len);
        match mode & !libc::FALLOC_FL_KEEP_SIZE {
            libc::FALLOC_FL_PUNCH_HOLE => self.aside(reply, move |server| server.trim(offset, len)),
            libc::FALLOC_FL_ZERO_RANGE => self.aside(reply, move |server| server.write_zeros(offset, len)),
            // The room is there.
            0 => reply.ok(),
            _ => reply.error(Errno::EOPNOTSUPP),
        }
    }
}
