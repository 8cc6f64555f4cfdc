#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;

/// A directory with one to stay in and one to stay out of, opened both ways.
fn both() -> (tempfile::TempDir, PathBuf, [Root; 2]) {
    let here = tempfile::tempdir().unwrap();
    let inside = here.path().join("inside");
    fs::create_dir_all(inside.join("d0/d1")).unwrap();
    fs::create_dir(here.path().join("outside")).unwrap();
    fs::write(here.path().join("outside/f1"), "precious").unwrap();
    fs::write(inside.join("d0/f1"), "ours").unwrap();
    let open = || OwnedFd::from(fs::File::open(&inside).unwrap());
    let kernel = Root::of(open());
    assert_eq!(kernel.way, Way::InOneCall, "this kernel has openat2");
    let steps = open();
    let mount = mount_of(steps.as_fd());
    assert!(mount.is_some());
    (here, inside, [kernel, Root { directory: steps, way: Way::ByStep(mount) }])
}

#[test]
fn what_lies_beneath_is_opened() {
    let (_here, _inside, roots) = both();
    for root in roots {
        for path in [c".", c"d0", c"d0/d1"] {
            root.directory(path, Mounts::Refused).unwrap();
            root.listing(path, Mounts::Refused).unwrap();
        }
        let at = root.directory(c"d0", Mounts::Refused).unwrap();
        root.file(at.as_fd(), c"f1", libc::O_RDWR).unwrap();
        assert_eq!(root.directory(c"d0/d2", Mounts::Refused).unwrap_err(), libc::ENOENT);
        assert_eq!(root.directory(c"d0/f1", Mounts::Refused).unwrap_err(), libc::ENOTDIR);
        assert_eq!(root.directory(c"d0/f1/d1", Mounts::Refused).unwrap_err(), libc::ENOTDIR);
    }
}

#[test]
fn links_are_not_followed_wherever_in_the_path_they_are() {
    let (here, inside, roots) = both();
    symlink(here.path().join("outside"), inside.join("far")).unwrap();
    symlink("d0", inside.join("near")).unwrap();
    symlink("../outside/f1", inside.join("f1")).unwrap();
    symlink("/proc/self/cwd", inside.join("d0/magic")).unwrap();
    for root in roots {
        for path in [c"far", c"near", c"near/d1", c"d0/magic", c"far/f1", c"f1"] {
            assert_eq!(root.directory(path, Mounts::Refused).unwrap_err(), libc::ELOOP, "{path:?}");
            assert_eq!(root.listing(path, Mounts::Crossed).unwrap_err(), libc::ELOOP, "{path:?}");
        }
        assert_eq!(root.file(root.fd(), c"f1", libc::O_WRONLY).unwrap_err(), libc::ELOOP);
        assert_eq!(root.below(Path::new("near/d1"), true).unwrap_err(), libc::ELOOP);
    }
}

#[test]
fn no_path_leads_up() {
    let (_here, _inside, roots) = both();
    for root in roots {
        for path in [c"..", c"../outside", c"d0/../../outside", c"/etc"] {
            assert_eq!(root.directory(path, Mounts::Refused).unwrap_err(), libc::EXDEV, "{path:?}");
        }
        assert_eq!(root.below(Path::new("../outside"), true).unwrap_err(), libc::EXDEV);
    }
}

#[test]
fn anchors_are_made_on_their_way() {
    let (_here, inside, roots) = both();
    for (number, root) in roots.into_iter().enumerate() {
        let path = PathBuf::from(format!("deep/er{number}"));
        assert_eq!(root.below(&path, false).unwrap_err(), libc::ENOENT);
        let anchor = root.below(&path, true).unwrap();
        calls::mkdir(anchor.fd(), c"d0").unwrap();
        assert!(inside.join(&path).join("d0").is_dir());
        root.below(&path, true).unwrap();
        assert_eq!(root.below(Path::new("d0/f1"), true).unwrap_err(), libc::ENOTDIR);
    }
}

/// /proc is a mount point wherever tests run, and is below a directory that anybody may open.
#[test]
fn mount_points_are_entered_on_the_way_to_an_anchor_only() {
    let top = || OwnedFd::from(fs::File::open("/").unwrap());
    let steps = top();
    let mount = mount_of(steps.as_fd());
    for root in [Root::of(top()), Root { directory: steps, way: Way::ByStep(mount) }] {
        assert_eq!(root.directory(c"proc", Mounts::Refused).unwrap_err(), libc::EXDEV);
        assert_eq!(root.directory(c"proc/sys", Mounts::Refused).unwrap_err(), libc::EXDEV);
        root.directory(c"proc/sys", Mounts::Crossed).unwrap();
        root.below(Path::new("proc/sys"), false).unwrap();
    }
}

/// A thread puts a link in place of a directory and back, all the time: what is opened is in the directory or nothing.
#[test]
fn a_directory_that_is_exchanged_for_a_link_meanwhile_leads_nowhere() {
    let (here, inside, roots) = both();
    fs::write(here.path().join("outside/mark"), "").unwrap();
    symlink(here.path().join("outside"), inside.join("link")).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let swaps = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let at = fs::File::open(&inside).unwrap();
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let (old, new) = (c"d0".as_ptr(), c"link".as_ptr());
                // SAFETY: both names end with NUL.
                let swapped = unsafe {
                    let flags = libc::RENAME_EXCHANGE;
                    libc::syscall(libc::SYS_renameat2, at.as_raw_fd(), old, at.as_raw_fd(), new, flags)
                };
                assert_eq!(swapped, 0);
                swaps.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        });
        for root in &roots {
            let (mut opened, mut refused, from) = (0, 0, swaps.load(std::sync::atomic::Ordering::Relaxed));
            while opened < 500 || refused < 500 || swaps.load(std::sync::atomic::Ordering::Relaxed) < from + 1000 {
                match root.directory(c"d0", Mounts::Refused) {
                    Ok(at) => {
                        opened += 1;
                        assert!(calls::stat(at.as_fd(), c"mark").is_err(), "it led outside");
                    }
                    Err(errno) => {
                        refused += 1;
                        assert!([libc::ELOOP, libc::ENOTDIR].contains(&errno), "errno {errno}");
                    }
                }
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    std::io::stderr().flush().unwrap();
}
