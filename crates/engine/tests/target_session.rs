//! What a session keeps between the points of a run. One test in a process of its own, since a session is the process's.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::FileExt;
use std::process::Command;

use plimsoll_engine::safety::Permission;
use plimsoll_engine::target::{OpenMode, Session, TargetError, open};

const WRITE: OpenMode = OpenMode { direct: false, dsync: false, writes: true };

/// A loop device over an empty image; detached when dropped.
struct Loop(String);

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

#[test]
fn what_a_run_has_written_is_no_obstacle_to_its_next_point_but_to_another_run() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let image = directory.path().join("image");
    fs::write(&image, vec![0; 16 << 20]).unwrap();
    let attached = Command::new("losetup").args(["--find", "--show", image.to_str().unwrap()]).output();
    let Some(output) = attached.ok().filter(|output| output.status.success()) else {
        return println!("skipped: no loop device can be had");
    };
    let device = Loop(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let write_text = || -> Result<(), TargetError> {
        let allowed = Permission { destroy: true, typed: None };
        let target = open(&device.0.parse().unwrap(), WRITE, &allowed)?;
        let file = fs::File::from(target.parts[0].fd.try_clone().unwrap());
        file.write_all_at(&[b'x'; 8192], 0).unwrap();
        Ok(())
    };
    let session = Session::begin();
    write_text().unwrap();
    write_text().unwrap();
    drop(session);
    let sentence = write_text().unwrap_err().to_string();
    assert!(sentence.contains("not zeros at byte 0"), "{sentence}");
}
