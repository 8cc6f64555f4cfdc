//! What lies in an open directory: names, and what kind of thing each is.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::ptr::NonNull;

use super::calls::{self, Errno, Kind};

/// Calls `each` for every entry of `directory`, in the file system's order, until it fails. Entries that vanish meanwhile
/// are left out.
pub(crate) fn each_entry(
    directory: OwnedFd,
    mut each: impl FnMut(BorrowedFd<'_>, &CStr, Kind) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let at = directory.try_clone().map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
    let stream = Stream::of(directory)?;
    while let Some((name, kind)) = stream.next()? {
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match kind {
            libc::DT_REG => Kind::File,
            libc::DT_DIR => Kind::Directory,
            libc::DT_LNK => Kind::Link,
            // Some file systems do not tell here.
            libc::DT_UNKNOWN => match calls::stat(at.as_fd(), &name) {
                Ok(seen) => seen.kind,
                Err(libc::ENOENT) => continue,
                Err(errno) => return Err(errno),
            },
            _ => Kind::Other,
        };
        each(at.as_fd(), &name, kind)?;
    }
    Ok(())
}

struct Stream(NonNull<libc::DIR>);

impl Stream {
    fn of(directory: OwnedFd) -> Result<Self, Errno> {
        let file = directory.into_raw_fd();
        // SAFETY: the descriptor is ours; the stream owns it from here on.
        match NonNull::new(unsafe { libc::fdopendir(file) }) {
            Some(stream) => Ok(Self(stream)),
            None => {
                let errno = calls::errno();
                // SAFETY: the stream was not made, so the descriptor is still ours.
                unsafe { libc::close(file) };
                Err(errno)
            }
        }
    }

    /// The next entry with its `d_type`.
    fn next(&self) -> Result<Option<(CString, u8)>, Errno> {
        // SAFETY: the stream is open and this thread's alone; an entry is good until the next call, and its name ends
        // with NUL. errno alone tells the end from a failure.
        unsafe {
            *libc::__errno_location() = 0;
            let entry = libc::readdir64(self.0.as_ptr());
            if entry.is_null() {
                return match calls::errno() {
                    0 => Ok(None),
                    errno => Err(errno),
                };
            }
            let name = CStr::from_ptr((*entry).d_name.as_ptr()).to_owned();
            Ok(Some((name, (*entry).d_type)))
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open, and this is its last use.
        unsafe { libc::closedir(self.0.as_ptr()) };
    }
}
