//! Where a journal is: a file on another disk, or a host that listens.
//!
//! What [`Place::write`] has written is durable there when it returns. A host answers each batch (a count of records, four
//! bytes little-endian, and the records) with the number of records it has made durable since the connection began, eight bytes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_workload::journal::RECORD_BYTES;

use crate::display::shown;
use crate::safety::{DeviceNumber, device_number};
use crate::target::{Opened, PartKind};

/// How a host is named.
const REMOTE: &str = "tcp://";
/// How long a host may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Magic numbers of file systems whose files are gone with the power: tmpfs, ramfs.
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// See the module.
#[derive(Debug)]
pub(super) enum Place {
    File(File),
    Host { stream: TcpStream, durable: u64 },
}

impl Place {
    /// A new journal; the error is a sentence.
    pub(super) fn make(name: &str) -> Result<Self, String> {
        match name.strip_prefix(REMOTE) {
            Some(host) => connect(host).map_err(|error| {
                format!("journal {name}: nobody answers there ({error}); start 'plimsoll journal FILE --listen HOST:PORT' on that host first")
            }),
            None => create(Path::new(name)).map(Self::File),
        }
    }

    /// Appends records; they are durable when this returns.
    pub(super) fn write(&mut self, records: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => {
                file.write_all(records)?;
                file.sync_data()
            }
            Self::Host { stream, durable } => {
                let count = records.len() / RECORD_BYTES;
                let mut batch = (count as u32).to_le_bytes().to_vec();
                batch.extend_from_slice(records);
                stream.write_all(&batch)?;
                *durable += count as u64;
                let mut answer = [0; 8];
                stream.read_exact(&mut answer)?;
                if u64::from_le_bytes(answer) == *durable {
                    return Ok(());
                }
                Err(io::Error::new(io::ErrorKind::InvalidData, "the host answers with another number of records"))
            }
        }
    }
}

fn connect(host: &str) -> io::Result<Place> {
    let mut refused = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in host.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                return Ok(Place::Host { stream, durable: 0 });
            }
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// A new file that survives a power cut, its name included.
fn create(path: &Path) -> Result<File, String> {
    let name = shown(path);
    let made = OpenOptions::new().write(true).create_new(true).custom_flags(libc::O_NOFOLLOW).open(path);
    let file = made.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("journal {name} is there already, and perhaps still needed; name a new file, or remove it")
        }
        _ => format!("journal {name} cannot be made ({error}); name a new file in a directory that exists"),
    })?;
    let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let named = File::open(directory).and_then(|directory| directory.sync_all());
    named.map_err(|error| format!("journal {name}: its directory cannot be made durable ({error})"))?;
    Ok(file)
}

/// Refuses a journal that would share the fate of the target; the error is a sentence.
pub(crate) fn lies_apart(name: &str, opened: &Opened) -> Result<(), String> {
    if name.starts_with(REMOTE) {
        return Ok(());
    }
    let path = Path::new(name);
    let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let unreadable = |error: io::Error| {
        format!("journal {name} cannot be made ({error}); name a new file in a directory that exists")
    };
    let journal = fs::metadata(directory).map_err(unreadable)?.dev();
    if in_memory(directory) {
        return Err(format!(
            "journal {name} would be in memory, and gone with the power; name a file on another disk, or tcp://HOST:PORT"
        ));
    }
    for part in &opened.parts {
        let metadata = fs::metadata(&part.path).map_err(unreadable)?;
        let device = if part.kind == PartKind::Device { metadata.rdev() } else { metadata.dev() };
        if device == journal || whole_disk(device_number(device)) == whole_disk(device_number(journal)) {
            return Err(format!(
                "journal {name} is on the disk of the target {}, which is on trial here; name a file on another disk, or tcp://HOST:PORT",
                shown(&part.path)
            ));
        }
    }
    Ok(())
}

fn in_memory(directory: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let Ok(name) = std::ffi::CString::new(directory.as_os_str().as_bytes()) else { return false };
    let mut found = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: statfs fills the struct when it returns 0.
    unsafe { libc::statfs(name.as_ptr(), found.as_mut_ptr()) == 0 && IN_MEMORY.contains(&(found.assume_init().f_type)) }
}

/// The disk that a device is a partition of, or the device itself.
fn whole_disk(number: DeviceNumber) -> PathBuf {
    let link = PathBuf::from(format!("/sys/dev/block/{}:{}", number.0, number.1));
    let Ok(place) = fs::canonicalize(&link) else { return link };
    let is_partition = place.join("partition").exists();
    place.parent().filter(|_| is_partition).map_or_else(|| place.clone(), Path::to_owned)
}
