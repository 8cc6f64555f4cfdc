//! Data in a sparse file of the array's size: they outlive the server.
//!
//! Model: the file is made when there is none; one that exists must be a regular file of exactly this size, and is held
//! alone (`flock`). Trims and zeros punch holes. The page cache of the host stands in between, and the file is synced at the end.
//!
//! Limits: while serving, nothing is synced, since that would add the host's time to the modelled one; a crash of the host
//! loses what a client has flushed. A file of tens of TB needs a file system that allows it (ext4 ends at 16 TiB).

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{Data, Kept};
use crate::error::ServeError;

/// See the module.
#[derive(Debug)]
pub struct SparseFile {
    file: File,
}

impl SparseFile {
    /// Opens or makes the file.
    ///
    /// # Errors
    /// When it is something else, has another size, is in use, or cannot be made.
    pub fn open(path: &Path, size_bytes: u64) -> Result<Self, ServeError> {
        let refused = |problem: String| ServeError::Data { path: path.to_path_buf(), problem };
        let unfit = |problem: String| ServeError::Unfit { path: path.to_path_buf(), problem };
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                if folder.is_some_and(|folder| !folder.is_dir()) {
                    return Err(unfit("it cannot be made, there is no such directory; make that first".into()));
                }
                return Self::make(path, size_bytes).map_err(refused);
            }
            Err(error) => return Err(refused(format!("it cannot be opened ({error}); name a file of yours"))),
        };
        let facts = file.metadata().map_err(|error| refused(format!("it cannot be looked at ({error})")))?;
        if !facts.is_file() {
            return Err(unfit("this is no regular file; name one, or one that does not exist yet".into()));
        }
        if facts.len() != size_bytes {
            let len = facts.len();
            return Err(unfit(format!(
                "it has {len} bytes and the array {size_bytes}; name another file, or one that does not exist yet"
            )));
        }
        hold(&file).map_err(|_| refused("another server uses it; stop that one, or name another file".into()))?;
        Ok(Self { file })
    }

    fn make(path: &Path, size_bytes: u64) -> Result<Self, String> {
        let made = OpenOptions::new().read(true).write(true).create_new(true).open(path);
        let file = made.map_err(|error| format!("it cannot be made ({error}); name a file in a directory of yours"))?;
        let sized = hold(&file).and_then(|()| file.set_len(size_bytes));
        sized.map_err(|error| {
            let _ = std::fs::remove_file(path);
            format!("the file system cannot hold a file of {size_bytes} bytes ({error}); use --data memory or derived")
        })?;
        Ok(Self { file })
    }
}

fn hold(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open for as long as `file` is borrowed.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Data for SparseFile {
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn clear(&self, offset: u64, len: u64) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let (offset, len) = (offset as libc::off_t, len as libc::off_t);
        // SAFETY: takes integers and an open descriptor.
        match unsafe { libc::fallocate(self.file.as_raw_fd(), mode, offset, len) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn kept(&self) -> Kept {
        Kept { kind: "file", ..Kept::default() }
    }

    fn finish(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    const SIZE: u64 = 1 << 40;

    #[test]
    fn data_outlive_the_server_and_trims_give_their_room_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let blocks = || std::fs::metadata(&path).unwrap().blocks();
        let file = SparseFile::open(&path, SIZE).unwrap();
        file.write(SIZE - (1 << 20), &[7; 1 << 20]).unwrap();
        file.finish().unwrap();
        drop(file);
        let file = SparseFile::open(&path, SIZE).unwrap();
        let mut read = [0; 10];
        file.read(SIZE - 10, &mut read).unwrap();
        assert_eq!((read, blocks() >= 2048), ([7; 10], true));
        file.clear(SIZE - (1 << 20), 1 << 20).unwrap();
        file.read(SIZE - 10, &mut read).unwrap();
        assert_eq!((read, blocks() < 100), ([0; 10], true));
    }

    #[test]
    fn a_file_of_another_size_or_in_use_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine");
        std::fs::write(&path, b"precious").unwrap();
        let error = SparseFile::open(&path, SIZE).unwrap_err();
        assert!(
            error.is_input() && error.to_string().contains("it has 8 bytes and the array 1099511627776"),
            "{error}"
        );
        let error = SparseFile::open(&folder.path().join("no/data"), SIZE).unwrap_err();
        assert!(error.is_input() && error.to_string().contains("no such directory"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
        let held = folder.path().join("held");
        let _first = SparseFile::open(&held, 4096).unwrap();
        let error = SparseFile::open(&held, 4096).unwrap_err();
        assert!(!error.is_input() && error.to_string().contains("another server uses it"), "{error}");
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let error = SparseFile::open(Path::new("/dev/null"), SIZE).unwrap_err().to_string();
        assert!(error.contains("no regular file"), "{error}");
    }
}
