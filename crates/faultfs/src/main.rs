//! `faultfs BACKING MOUNT SOCKET`: see the crate.
//!
//! Model: it lives as long as its standard input, so that it ends with the test that started it, whatever became of that.

use std::error::Error;
use std::ffi::CString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fuser::{Config, MountOption};
use plimsoll_faultfs::disk::Disk;
use plimsoll_faultfs::filesystem::FaultFs;
use plimsoll_faultfs::later::Later;
use plimsoll_faultfs::node::Nodes;
use plimsoll_faultfs::{backing, control};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [backing, mount, socket] = &arguments[..] else {
        return Err("usage: faultfs BACKING MOUNT SOCKET".into());
    };
    backing::raise_limit();
    let disk = Arc::new(Disk::new(Nodes::new(backing)?));
    let later = Later::begin();
    control::listen(socket, &disk, &later)?;
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("faultfs".into()),
        MountOption::Subtype("faultfs".into()),
        MountOption::DefaultPermissions,
    ];
    let session = fuser::spawn_mount(FaultFs::new(disk, later.clone()), mount, &config)?;
    println!("mounted");
    // What comes does not matter, its end does.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    later.release();
    unmount(mount);
    // With the process goes the connection, and with it whatever still waits.
    drop(session);
    Ok(())
}

/// Takes the mount out of sight at once, whoever still uses it.
fn unmount(mount: &Path) {
    let Ok(path) = CString::new(mount.as_os_str().as_bytes()) else { return };
    // SAFETY: a string that ends with a zero byte.
    unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
}
