//! Answers to the kernel: what a request yields, put into the reply that FUSE has for it.
//!
//! Model: one trait over all replies, so that any request can wait and be answered from another thread.

use std::ffi::OsString;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, FopenFlags, Generation, INodeNo, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite,
};

/// The kernel is to ask anew each time, since sizes and names change behind its back.
const NEVER_KEPT: Duration = Duration::ZERO;

/// Every request of a program reaches us as it was made: no page cache between.
fn past_the_cache() -> FopenFlags {
    FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
}

/// A reply that takes a `T`.
pub trait Answer<T>: Send + 'static {
    /// Sends it.
    fn answer(self, result: Result<T, Errno>);
}

/// A name in a directory.
#[derive(Clone, Debug)]
pub struct Name {
    /// The number of what it stands for.
    pub number: u64,
    /// What that is.
    pub kind: FileType,
    /// The name.
    pub name: OsString,
}

/// The answer to an `open` of anything.
#[derive(Clone, Copy, Debug)]
pub struct Opened(pub u64);

impl Answer<()> for ReplyEmpty {
    fn answer(self, result: Result<(), Errno>) {
        match result {
            Ok(()) => self.ok(),
            Err(errno) => self.error(errno),
        }
    }
}

impl Answer<FileAttr> for ReplyAttr {
    fn answer(self, result: Result<FileAttr, Errno>) {
        match result {
            Ok(found) => self.attr(&NEVER_KEPT, &found),
            Err(errno) => self.error(errno),
        }
    }
}

impl Answer<FileAttr> for ReplyEntry {
    fn answer(self, result: Result<FileAttr, Errno>) {
        match result {
            Ok(found) => self.entry(&NEVER_KEPT, &found, Generation(0)),
            Err(errno) => self.error(errno),
        }
    }
}

impl Answer<FileAttr> for ReplyCreate {
    fn answer(self, result: Result<FileAttr, Errno>) {
        match result {
            Ok(found) => self.created(&NEVER_KEPT, &found, Generation(0), FileHandle(0), past_the_cache()),
            Err(errno) => self.error(errno),
        }
    }
}

impl Answer<Opened> for ReplyOpen {
    fn answer(self, result: Result<Opened, Errno>) {
        match result {
            // A directory is listed as it was when it was opened.
            Ok(Opened(handle)) => self.opened(FileHandle(handle), past_the_cache()),
            Err(errno) => self.error(errno),
        }
    }
}

impl Answer<Vec<u8>> for ReplyData {
    fn answer(self, result: Result<Vec<u8>, Errno>) {
        match result {
            Ok(bytes) => self.data(&bytes),
            Err(errno) => self.error(errno),
        }
    }
}

impl Answer<usize> for ReplyWrite {
    fn answer(self, result: Result<usize, Errno>) {
        match result {
            Ok(written) => self.written(written as u32),
            Err(errno) => self.error(errno),
        }
    }
}

impl Answer<libc::statvfs> for ReplyStatfs {
    fn answer(self, result: Result<libc::statvfs, Errno>) {
        match result {
            Ok(room) => self.statfs(
                room.f_blocks,
                room.f_bfree,
                room.f_bavail,
                room.f_files,
                room.f_ffree,
                room.f_bsize as u32,
                room.f_namemax as u32,
                room.f_frsize as u32,
            ),
            Err(errno) => self.error(errno),
        }
    }
}

impl Answer<Vec<(u64, Name)>> for ReplyDirectory {
    fn answer(mut self, result: Result<Vec<(u64, Name)>, Errno>) {
        match result {
            Ok(names) => {
                for (next, Name { number, kind, name }) in names {
                    if self.add(INodeNo(number), next, kind, name) {
                        break;
                    }
                }
                self.ok();
            }
            Err(errno) => self.error(errno),
        }
    }
}

/// What the kernel is told of a file; `size` is what its users see of it.
pub fn attributes(number: u64, status: &libc::stat, size: u64) -> FileAttr {
    FileAttr {
        ino: INodeNo(number),
        size,
        blocks: status.st_blocks as u64,
        atime: instant(status.st_atime, status.st_atime_nsec),
        mtime: instant(status.st_mtime, status.st_mtime_nsec),
        ctime: instant(status.st_ctime, status.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind(status.st_mode),
        perm: (status.st_mode & 0o7777) as u16,
        nlink: status.st_nlink as u32,
        uid: status.st_uid,
        gid: status.st_gid,
        rdev: status.st_rdev as u32,
        blksize: 4096,
        flags: 0,
    }
}

fn instant(seconds: i64, nanoseconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::new(seconds.max(0) as u64, nanoseconds as u32)
}

/// What a mode says that a file is.
pub const fn kind(mode: u32) -> FileType {
    match mode & libc::S_IFMT {
        libc::S_IFDIR => FileType::Directory,
        libc::S_IFLNK => FileType::Symlink,
        libc::S_IFBLK => FileType::BlockDevice,
        libc::S_IFCHR => FileType::CharDevice,
        libc::S_IFIFO => FileType::NamedPipe,
        libc::S_IFSOCK => FileType::Socket,
        _ => FileType::RegularFile,
    }
}
