//! Loop devices of a test's own, and what the kernel counts of them.

use std::fs;

use super::{directory, is_root, program};

/// A loop device over a file of zeros; detached when dropped.
pub struct Loop {
    _directory: tempfile::TempDir,
    pub device: String,
}

impl Loop {
    /// `None`, and a line that says why, where loop devices cannot be had.
    pub fn new(size_bytes: u64) -> Option<Self> {
        if !is_root() {
            println!("skipped: loop devices need root");
            return None;
        }
        let directory = directory();
        let image = directory.path().join("image");
        fs::write(&image, vec![0; size_bytes as usize]).unwrap();
        match program("losetup", &["--find", "--show", image.to_str().unwrap()]) {
            Ok(device) => Some(Self { _directory: directory, device }),
            Err(reason) => {
                println!("skipped: no loop device: {reason}");
                None
            }
        }
    }

    /// Takes away what the kernel may have put between us and the device: a scheduler joins requests by itself.
    pub fn without_scheduler(self) -> Self {
        let _ = fs::write(format!("/sys/block/{}/queue/scheduler", self.name()), "none");
        self
    }

    fn name(&self) -> &str {
        self.device.strip_prefix("/dev/").unwrap()
    }

    /// What the kernel has counted; Documentation/block/stat.rst.
    pub fn counted(&self) -> Counted {
        let text = fs::read_to_string(format!("/sys/block/{}/stat", self.name())).unwrap();
        let field: Vec<u64> = text.split_whitespace().map(|field| field.parse().unwrap()).collect();
        Counted {
            requests: [field[0], field[4], field[11], field.get(15).copied().unwrap_or(0)],
            bytes: [field[2] * 512, field[6] * 512, field[13] * 512, 0],
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = program("losetup", &["--detach", &self.device]);
    }
}

/// Requests and bytes of reads, writes, discards and flushes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    pub requests: [u64; 4],
    pub bytes: [u64; 4],
}

/// A file system of its own on a loop device; unmounted when dropped.
pub struct Mounted {
    pub folder: tempfile::TempDir,
    /// Behind the folder, so that it is detached after it was unmounted.
    pub device: Loop,
}

impl Mounted {
    /// `None`, and a line that says why, where there is no such thing.
    pub fn ext4(size_bytes: u64) -> Option<Self> {
        let device = Loop::new(size_bytes)?.without_scheduler();
        let folder = directory();
        // Otherwise ext4 writes its inode tables, megabytes, at some time in the first seconds: the test would count them.
        let at_once = "lazy_itable_init=0,lazy_journal_init=0";
        let made = program("mkfs.ext4", &["-q", "-F", "-E", at_once, &device.device])
            .and_then(|_| program("mount", &[&device.device, folder.path().to_str().unwrap()]));
        match made {
            Ok(_) => Some(Self { folder, device }),
            Err(reason) => {
                println!("skipped: no file system on a loop device: {reason}");
                None
            }
        }
    }
}

impl Drop for Mounted {
    /// A ring that was closed lets go of its files a little later.
    fn drop(&mut self) {
        let point = self.folder.path().to_str().unwrap();
        let unmounted = (0..500).any(|_| {
            let done = program("umount", &[point]).is_ok();
            if !done {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            done
        });
        if !unmounted {
            let _ = program("umount", &["--lazy", point]);
        }
    }
}
