//! Where no scratch file belongs: `/dev`, `/run` and the other file systems of the kernel's own.
//!
//! Model: a path below `/dev` that does not exist is a device that is not there (mistyped, unplugged, renamed at boot),
//! never a file to be made: it would lie in memory and be measured under the device's name. `/dev/shm` and other file
//! systems mounted below `/dev` are places for files, and so are those mounted below `/run` (removable disks are), but not what
//! lies in `/run` itself. The kernel's other own file systems are told by their type.
//!
//! Limits: memory that is meant for files (tmpfs) is allowed; results carry the flag `memory_backed`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use plimsoll_workload::nearest::nearest;

use super::error::TargetError;
use crate::display::shown;
use crate::safety::kernel_tables::Mounts;
use crate::safety::{DeviceNumber, System, device_number};

/// File systems that show the kernel's own things as files, or keep no data. Source: Linux `Documentation/filesystems`.
const KERNEL_OWN: [&str; 24] = [
    "devtmpfs",
    "devpts",
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "debugfs",
    "tracefs",
    "configfs",
    "securityfs",
    "pstore",
    "bpf",
    "mqueue",
    "hugetlbfs",
    "efivarfs",
    "autofs",
    "binfmt_misc",
    "fusectl",
    "nsfs",
    "rpc_pipefs",
    "selinuxfs",
    "functionfs",
    "resctrl",
    "smackfs",
];

/// Refuses a resolved path, on the file system with this number, where files are no storage.
pub(crate) fn check(path: &Path, number: DeviceNumber, mounts: &Mounts) -> Result<(), TargetError> {
    let below = path.starts_with("/dev") && !path.starts_with("/dev/shm");
    let kind = mounts.file_system_type(number);
    let of_devices = kind == Some("devtmpfs");
    if (below && Some(number) == number_of("/dev")) || of_devices {
        return Err(if path.exists() {
            TargetError::FileAmongDevices { path: path.to_owned() }
        } else {
            unknown(path)
        });
    }
    if in_run(path, number) {
        return Err(TargetError::Runtime { path: path.to_owned() });
    }
    match kind {
        Some(kind) if KERNEL_OWN.contains(&kind) => {
            Err(TargetError::KernelOwn { path: path.to_owned(), kind: kind.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Refuses a directory for trees of files, asked for as `path`, that is at `resolved` or is to be made there.
pub(crate) fn check_directory(path: &Path, resolved: &Path, number: DeviceNumber) -> Result<(), TargetError> {
    let mounts = Mounts::of(&System::host());
    let kind = mounts.file_system_type(number).filter(|kind| KERNEL_OWN.contains(kind)).map(str::to_owned);
    let below = resolved.starts_with("/dev") && !resolved.starts_with("/dev/shm");
    let of_devices = (below && Some(number) == number_of("/dev")).then(|| "/dev".to_owned());
    if in_run(resolved, number) {
        return Err(TargetError::Runtime { path: path.to_owned() });
    }
    match of_devices.or(kind) {
        Some(kind) => Err(TargetError::KernelOwn { path: path.to_owned(), kind }),
        None => Ok(()),
    }
}

/// Whether a resolved path is below `/run` and on its file system: of the system, or memory.
fn in_run(path: &Path, number: DeviceNumber) -> bool {
    path.starts_with("/run") && number_of("/run") == Some(number)
}

/// The sentence for a path below `/dev` whose very directory is missing (`/dev/mapper/vg-lv`).
pub(crate) fn no_such_device(path: &Path) -> Option<TargetError> {
    path.starts_with("/dev").then(|| unknown(path))
}

fn unknown(path: &Path) -> TargetError {
    TargetError::NoSuchDevice { path: path.to_owned(), hint: hint(path) }
}

fn number_of(path: &str) -> Option<DeviceNumber> {
    fs::metadata(path).ok().map(|metadata| device_number(metadata.dev()))
}

/// `did you mean /dev/sda?`, or the names that there are.
fn hint(path: &Path) -> String {
    let directory = path.parent().filter(|directory| directory.is_dir()).unwrap_or(Path::new("/dev"));
    let is_block = |path: &Path| fs::metadata(path).is_ok_and(|found| found.mode() & libc::S_IFMT == libc::S_IFBLK);
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter(|entry| is_block(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    let asked = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match nearest(&asked, names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean {}? `lsblk` lists all devices", shown(&directory.join(name))),
        None => format!("{}`lsblk` lists all devices", there_are(directory, &names)),
    }
}

/// `there are /dev/sda and /dev/sdb; `: devices that somebody may mean, so no loop devices and no memory.
fn there_are(directory: &Path, names: &[String]) -> String {
    const SHOWN: usize = 6;
    let meant = names.iter().filter(|name| !["loop", "ram", "zram"].iter().any(|kind| name.starts_with(kind)));
    let paths: Vec<_> = meant.take(SHOWN).map(|name| shown(&directory.join(name)).to_string()).collect();
    match paths.as_slice() {
        [] => String::new(),
        [only] => format!("there is {only}; "),
        [some @ .., last] => format!("there are {} and {last}; ", some.join(", ")),
    }
}
