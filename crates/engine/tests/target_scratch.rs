//! Targets that are files: made, filled, resized, resumed, opened, judged and deleted. Needs no root.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_engine::safety::{Permission, Refusal};
use plimsoll_engine::target::{
    OpenMode, Prepared, Sample, Session, TargetError, TargetSpec, inspect, open, prepare, release, remove,
};

const MIB: u64 = 1 << 20;
const READ: OpenMode = OpenMode { direct: false, dsync: false, writes: false };
const WRITE: OpenMode = OpenMode { direct: false, dsync: false, writes: true };

fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn spec(path: &Path) -> TargetSpec {
    path.to_str().unwrap().parse().unwrap()
}

fn make(spec: &TargetSpec, size_bytes: u64) -> Result<Prepared, TargetError> {
    prepare(spec, Some(size_bytes), &Permission::default(), &mut |_, _| (), &AtomicBool::new(false))
}

fn destroy(typed: Option<&str>) -> Permission {
    Permission { destroy: true, typed: typed.map(str::to_owned) }
}

fn marker_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.plimsoll", path.display()))
}

fn sample(path: &Path) -> Sample {
    Sample::of(&fs::File::open(path).unwrap()).unwrap()
}

#[test]
fn a_missing_file_is_made_filled_used_again_and_deleted() {
    let directory = directory();
    let path = directory.path().join("scratch");
    let target = spec(&path);
    let mut steps = Vec::new();
    let mut progress = |done, total| steps.push((done, total));
    let made = prepare(&target, Some(9 * MIB), &Permission::default(), &mut progress, &AtomicBool::new(false)).unwrap();
    assert_eq!(made, Prepared { changed: true, created: true, filled_bytes: 9 * MIB, scratch: vec![path.clone()] });
    assert!(steps.is_sorted() && steps.last() == Some(&(9 * MIB, 9 * MIB)), "{steps:?}");
    let found = sample(&path);
    assert!(!found.sparse && found.size_bytes == 9 * MIB, "{found:?}");
    assert!(found.entropy_bits_per_byte > 7.99, "{found:?}");

    let content = fs::read(&path).unwrap();
    let again = prepare(&target, None, &Permission::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap();
    assert_eq!(again, Prepared { changed: false, created: false, filled_bytes: 0, scratch: vec![path.clone()] });
    assert_eq!(fs::read(&path).unwrap(), content);

    assert_eq!(remove(&target).unwrap(), [path]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "the marker is gone, too");
}

#[test]
fn no_two_chunks_and_no_two_files_are_alike() {
    let directory = directory();
    let (a, b) = (directory.path().join("a"), directory.path().join("b"));
    make(&spec(&a), 4 * MIB).unwrap();
    make(&spec(&b), 4 * MIB).unwrap();
    let bytes = [fs::read(a).unwrap(), fs::read(b).unwrap()].concat();
    let blocks: std::collections::HashSet<_> = bytes.chunks(4096).collect();
    assert_eq!(blocks.len(), bytes.len() / 4096, "no block can be deduplicated");
}

#[test]
fn a_scratch_file_grows_and_shrinks_and_only_what_is_new_is_written() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), 4 * MIB).unwrap();
    let before = fs::read(&path).unwrap();
    assert_eq!(make(&spec(&path), 7 * MIB).unwrap().filled_bytes, 3 * MIB);
    let grown = fs::read(&path).unwrap();
    assert_eq!((grown.len() as u64, &grown[..before.len()]), (7 * MIB, &before[..]));
    assert!(sample(&path).entropy_bits_per_byte > 7.99);
    assert_eq!(make(&spec(&path), 2 * MIB).unwrap().filled_bytes, 0);
    assert_eq!(fs::metadata(&path).unwrap().len(), 2 * MIB);
    assert!(inspect(&spec(&path)).unwrap().made_by_plimsoll);
}

#[test]
fn a_scratch_file_full_of_zeros_or_holes_is_filled_anew() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), 4 * MIB).unwrap();
    // As a workload of Plimsoll's leaves it.
    let target = open(&spec(&path), WRITE, &Permission::default()).unwrap();
    let file = fs::File::from(target.parts[0].fd.try_clone().unwrap());
    file.write_all_at(&vec![0; MIB as usize * 4], 0).unwrap();
    drop(target);
    assert_eq!(make(&spec(&path), 4 * MIB).unwrap().filled_bytes, 4 * MIB);
    assert!(sample(&path).entropy_bits_per_byte > 7.99);
}

#[test]
fn stopping_while_a_file_is_made_leaves_nothing() {
    let directory = directory();
    let target = spec(&directory.path().join("scratch"));
    let stop = AtomicBool::new(false);
    let mut progress = |_, _| stop.store(true, Ordering::Relaxed);
    let result = prepare(&target, Some(64 * MIB), &Permission::default(), &mut progress, &stop);
    assert!(matches!(result, Err(TargetError::Stopped)), "{result:?}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn stopping_while_a_file_grows_keeps_it_and_the_rest_is_filled_next_time() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), 4 * MIB).unwrap();
    let stop = AtomicBool::new(false);
    let mut progress = |_, _| stop.store(true, Ordering::Relaxed);
    let result = prepare(&spec(&path), Some(64 * MIB), &Permission::default(), &mut progress, &stop);
    assert!(matches!(result, Err(TargetError::Stopped)), "{result:?}");
    let rest = make(&spec(&path), 64 * MIB).unwrap().filled_bytes;
    assert!(rest > 0 && rest < 60 * MIB, "{rest}: neither all nor nothing");
    assert!(sample(&path).entropy_bits_per_byte > 7.99);
}

#[test]
#[ignore = "the child of the next test"]
fn child_fills_until_it_is_killed() {
    if let Ok(path) = std::env::var("PLIMSOLL_FILL") {
        make(&spec(Path::new(&path)), 512 * MIB).unwrap();
    }
}

#[test]
fn a_killed_fill_is_known_as_ours_and_goes_on() {
    let directory = directory();
    let path = directory.path().join("scratch");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_fills_until_it_is_killed", "--ignored"])
        .env("PLIMSOLL_FILL", &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while fs::metadata(&path).map_or(0, |metadata| metadata.len()) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "the child ended before it made the file");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(inspect(&spec(&path)).unwrap().made_by_plimsoll);
    make(&spec(&path), 8 * MIB).unwrap();
    assert!(sample(&path).entropy_bits_per_byte > 7.99);
    remove(&spec(&path)).unwrap();
}

#[test]
#[ignore = "the child of the next test"]
fn child_fills_many_files_until_it_is_killed() {
    if let Ok(target) = std::env::var("PLIMSOLL_FILL") {
        prepare(&target.parse().unwrap(), None, &Permission::default(), &mut |_, _| (), &AtomicBool::new(false))
            .unwrap();
    }
}

#[test]
fn each_of_many_files_of_a_killed_fill_is_known_as_left_behind_and_removed() {
    let directory = directory();
    let paths: Vec<_> = (0..200).map(|number| directory.path().join(format!("f{number}"))).collect();
    let target = of_parts("concat", &paths.iter().map(PathBuf::as_path).collect::<Vec<_>>(), "1MiB");
    // Killed when its first files are made, when they have their size, and when some are full.
    for made in [5, 64, 65] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_fills_many_files_until_it_is_killed", "--ignored"])
            .env("PLIMSOLL_FILL", target.to_string())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while !marker_of(&paths[made]).exists() {
            assert!(child.try_wait().unwrap().is_none(), "the child ended before it made the file");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let unmarked = |path: &&PathBuf| path.exists() && !inspect(&spec(path)).unwrap().left_behind;
        let lost: Vec<_> = paths.iter().filter(unmarked).collect();
        assert!(lost.len() <= 1, "{lost:?} are there, and nothing speaks for them");
        // The one that was being made in this instant is empty.
        assert!(lost.iter().all(|path| fs::metadata(path).unwrap().len() == 0), "{lost:?}");
        lost.iter().for_each(|path| fs::remove_file(path).unwrap());
        remove(&target).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

#[test]
fn somebodys_file_is_read_freely_written_with_permission_and_never_deleted() {
    let directory = directory();
    let path = directory.path().join("letters.txt");
    fs::write(&path, "dear reader, ".repeat(1000)).unwrap();
    let target = spec(&path);
    let prepared = prepare(&target, None, &Permission::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap();
    assert_eq!(prepared, Prepared { changed: false, created: false, filled_bytes: 0, scratch: vec![] });
    assert_eq!(open(&target, READ, &Permission::default()).unwrap().shape().size_bytes % 512, 0);
    let refusal = open(&target, WRITE, &Permission::default()).unwrap_err().to_string();
    assert!(refusal.contains("was not made by Plimsoll") && refusal.contains("`--destroy-data`"), "{refusal}");
    assert_eq!(inspect(&target).unwrap().write_refusal, Some(refusal));
    assert_eq!(inspect(&target).unwrap().write_refusal_with(&destroy(None)), None);
    open(&target, WRITE, &destroy(None)).unwrap();
    let other = destroy(Some("/another/file"));
    let refusal = open(&target, WRITE, &other).unwrap_err().to_string();
    assert_eq!(inspect(&target).unwrap().write_refusal_with(&other), Some(refusal), "known before anything is opened");
    assert!(remove(&target).unwrap().is_empty() && path.exists());
}

#[test]
fn a_file_put_in_the_place_of_a_scratch_file_is_not_taken_for_ours() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), 2 * MIB).unwrap();
    let content = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, content).unwrap(); // Often gets the very same inode number.
    assert!(!inspect(&spec(&path)).unwrap().made_by_plimsoll);
    assert!(remove(&spec(&path)).unwrap().is_empty() && path.exists());
    assert!(matches!(
        open(&spec(&path), WRITE, &Permission::default()),
        Err(TargetError::Refused(Refusal::ForeignFile { .. }))
    ));
}

#[test]
fn a_scratch_file_into_which_somebody_put_own_data_is_neither_refilled_nor_written_nor_deleted() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), 2 * MIB).unwrap();
    let mut letters = b"dear reader, ".repeat(170_000);
    letters.truncate(2 << 20);
    fs::OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&letters, 0).unwrap();
    assert!(!inspect(&spec(&path)).unwrap().made_by_plimsoll);
    let prepared = prepare(&spec(&path), None, &Permission::default(), &mut |_, _| (), &AtomicBool::new(false));
    assert_eq!((prepared.unwrap().filled_bytes, fs::read(&path).unwrap()), (0, letters.clone()));
    open(&spec(&path), READ, &Permission::default()).unwrap();
    let refusal = open(&spec(&path), WRITE, &Permission::default()).unwrap_err().to_string();
    assert!(refusal.contains("was made by Plimsoll, but something else has written to it"), "{refusal}");
    assert!(remove(&spec(&path)).unwrap().is_empty());
    assert_eq!(fs::read(&path).unwrap(), letters);
}

#[test]
fn a_scratch_file_that_has_another_name_is_not_ours_alone() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), MIB).unwrap();
    fs::hard_link(&path, directory.path().join("backup")).unwrap();
    assert!(!inspect(&spec(&path)).unwrap().made_by_plimsoll);
    assert!(open(&spec(&path), WRITE, &Permission::default()).is_err());
}

#[test]
fn what_a_run_wrote_itself_leaves_the_file_its_own() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), MIB).unwrap();
    for byte in [1, 2] {
        let target = open(&spec(&path), WRITE, &Permission::default()).unwrap();
        fs::File::from(target.parts[0].fd.try_clone().unwrap()).write_all_at(&[byte; 4096], 0).unwrap();
    }
    assert!(inspect(&spec(&path)).unwrap().made_by_plimsoll);
    assert_eq!(remove(&spec(&path)).unwrap(), [path]);
}

#[test]
fn a_file_that_a_dead_run_made_is_left_behind_until_the_next_one_takes_it_or_keeps_it() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), MIB).unwrap();
    let left_behind = || inspect(&spec(&path)).unwrap().left_behind;
    assert!(!left_behind(), "the run that made it is this one");
    let text = fs::read_to_string(marker_of(&path)).unwrap();
    let mut marker: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&marker["state"], &marker["run"]["pid"]), (&"in_use".into(), &std::process::id().into()));
    marker["run"]["started"] = 1.into(); // another process that had this number
    fs::write(marker_of(&path), marker.to_string()).unwrap();
    assert!(left_behind());
    make(&spec(&path), MIB).unwrap();
    assert!(!left_behind(), "taken over");
    fs::write(marker_of(&path), marker.to_string()).unwrap();
    release(&spec(&path)).unwrap();
    assert!(!left_behind(), "kept");
    let text = fs::read_to_string(marker_of(&path)).unwrap();
    assert!(text.contains(r#""state": "kept""#) && text.contains(r#""run": null"#), "{text}");
}

#[test]
fn a_marker_of_an_earlier_version_speaks_for_a_kept_file() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), MIB).unwrap();
    let mut marker: serde_json::Value = serde_json::from_str(&fs::read_to_string(marker_of(&path)).unwrap()).unwrap();
    for key in ["state", "run", "wrote_ns"] {
        marker.as_object_mut().unwrap().remove(key).unwrap();
    }
    fs::write(marker_of(&path), marker.to_string()).unwrap();
    let found = inspect(&spec(&path)).unwrap();
    assert_eq!((found.made_by_plimsoll, found.left_behind), (true, false));
}

#[test]
fn a_session_keeps_its_file_between_points_and_others_away() {
    let directory = directory();
    let path = directory.path().join("scratch");
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_holds_a_file_in_a_session", "--ignored"])
        .env("PLIMSOLL_HOLD", &path)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn();
    let mut child = run.unwrap();
    let ready = directory.path().join("ready");
    while !ready.exists() {
        assert!(child.try_wait().unwrap().is_none(), "the child ended before it had the file");
        std::thread::yield_now();
    }
    let busy = format!("{} is in use by another run of Plimsoll (pid {})", path.display(), child.id());
    let said = [
        open(&spec(&path), READ, &Permission::default()).unwrap_err().to_string(),
        make(&spec(&path), MIB).unwrap_err().to_string(),
        remove(&spec(&path)).unwrap_err().to_string(),
    ];
    assert!(said.iter().all(|said| said.starts_with(&busy)), "{busy}: {said:?}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let found = inspect(&spec(&path)).unwrap();
    assert!(found.made_by_plimsoll && found.left_behind, "{found:?}");
    open(&spec(&path), WRITE, &Permission::default()).unwrap();
}

#[test]
fn a_file_that_another_run_is_just_making_is_in_use_and_not_of_the_wrong_size() {
    let directory = directory();
    let path = directory.path().join("scratch");
    // As a run has it between making the file and writing its marker.
    let made = fs::File::create(&path).unwrap();
    made.lock().unwrap();
    let said = make(&spec(&path), MIB).unwrap_err().to_string();
    assert!(said.contains("is in use by"), "{said}");
    drop(made);
    let said = make(&spec(&path), MIB).unwrap_err().to_string();
    assert!(said.contains("has a size of its own (0 bytes)"), "{said}");
}

#[test]
#[ignore = "the child of the test before"]
fn child_holds_a_file_in_a_session() {
    let Ok(path) = std::env::var("PLIMSOLL_HOLD") else { return };
    let _session = Session::begin();
    let target = spec(Path::new(&path));
    make(&target, MIB).unwrap();
    // Two points one after the other, and two targets at once: all in one process.
    drop(open(&target, WRITE, &Permission::default()).unwrap());
    let both = [open(&target, WRITE, &Permission::default()), open(&target, READ, &Permission::default())];
    assert!(both.iter().all(Result::is_ok));
    drop(both);
    fs::write(Path::new(&path).with_file_name("ready"), "").unwrap();
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn a_scratch_file_that_became_a_disk_image_is_left_alone() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), 2 * MIB).unwrap();
    let mut image = vec![0; 2 * MIB as usize];
    image[0x1_0040..0x1_0048].copy_from_slice(b"_BHRfS_M");
    fs::OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&image, 0).unwrap();
    let result = prepare(&spec(&path), None, &Permission::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap();
    assert_eq!((result.filled_bytes, result.scratch.len()), (0, 0), "it would have been refilled otherwise");
    assert_eq!(fs::read(&path).unwrap(), image);
    let refusal = open(&spec(&path), WRITE, &destroy(None)).unwrap_err().to_string();
    let expected = format!("`--destroy-data={}`", path.display());
    assert!(refusal.contains("a file system (btrfs)") && refusal.ends_with(&expected), "{refusal}");
    open(&spec(&path), WRITE, &destroy(path.to_str())).unwrap();
}

#[test]
fn too_little_space_is_said_before_anything_is_written() {
    let directory = directory();
    let path = directory.path().join("scratch");
    let error = make(&spec(&path), 1 << 50).unwrap_err();
    assert!(matches!(error, TargetError::NoSpace { .. }), "{error}");
    assert!(error.to_string().contains("1048576.0 GiB are needed"), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn sizes_that_cannot_be_made_are_refused_with_one_that_can() {
    let directory = directory();
    let path = directory.path().join("scratch");
    assert!(make(&spec(&path), 10_000).unwrap_err().to_string().ends_with("write size=8192"));
    assert!(make(&spec(&path), 0).unwrap_err().to_string().ends_with("write size=4096"));
    fs::write(&path, vec![1; 8192]).unwrap();
    let error = make(&spec(&path), 4096).unwrap_err().to_string();
    assert!(error.contains("has a size of its own (8192 bytes)") && error.contains("`region_length`"), "{error}");
    make(&spec(&path), 8192).unwrap();
}

#[test]
fn a_marker_path_that_is_taken_is_not_overwritten() {
    let directory = directory();
    let path = directory.path().join("scratch");
    fs::write(marker_of(&path), "my notes").unwrap();
    let error = make(&spec(&path), MIB).unwrap_err();
    assert!(matches!(error, TargetError::MarkerInTheWay { .. }), "{error}");
    assert!(!path.exists());
    assert_eq!(fs::read_to_string(marker_of(&path)).unwrap(), "my notes");
}

#[test]
fn a_stripe_of_files_shares_the_size_and_keeps_what_existed() {
    let directory = directory();
    let (a, b) = (directory.path().join("a,1"), directory.path().join("b"));
    let target: TargetSpec =
        format!("stripe:{}/a%2C1,{}?unit=64KiB", directory.path().display(), b.display()).parse().unwrap();
    assert!(make(&target, 4 * MIB + 4096).unwrap_err().to_string().contains("multiples of 131072 bytes"));
    let made = make(&target, 4 * MIB).unwrap();
    assert_eq!((made.created, made.filled_bytes, made.scratch), (true, 4 * MIB, vec![a.clone(), b.clone()]));
    let opened = open(&target, WRITE, &Permission::default()).unwrap();
    assert_eq!((opened.volume.size(), opened.parts.len(), opened.parts[0].size_bytes), (4 * MIB, 2, 2 * MIB));
    drop(opened);
    fs::remove_file(&b).unwrap();
    assert!(!make(&target, 4 * MIB).unwrap().created, "one of the two was there before");
    assert_eq!(remove(&target).unwrap(), [a, b]);
}

#[test]
fn the_same_storage_twice_is_noticed_through_links() {
    let directory = directory();
    let path = directory.path().join("a");
    fs::write(&path, vec![1; 65536]).unwrap();
    symlink(&path, directory.path().join("soft")).unwrap();
    fs::hard_link(&path, directory.path().join("hard")).unwrap();
    for link in ["soft", "hard"] {
        let target: TargetSpec =
            format!("concat:{},{}/{link}", path.display(), directory.path().display()).parse().unwrap();
        let error = open(&target, READ, &Permission::default()).unwrap_err();
        assert!(matches!(error, TargetError::SamePart { .. }), "{link}: {error}");
    }
}

#[test]
fn what_is_no_storage_gets_a_sentence() {
    let directory = directory();
    let root = directory.path();
    symlink(root.join("nothing"), root.join("dangling")).unwrap();
    let fifo = std::ffi::CString::new(root.join("fifo").to_str().unwrap()).unwrap();
    // SAFETY: a plain system call with a C string.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
    for (path, expected) in [
        (root.to_owned(), "is a directory; give a file in it, for example"),
        (root.join("fifo"), "is a fifo; a target is a regular file or a block device"),
        (
            "/dev/null".into(),
            "is a character device; a target is a regular file or a block device; to measure Plimsoll's own",
        ),
        (root.join("dangling"), "is a symbolic link to nothing"),
        (root.join("no/such/file"), "does not exist; make it first or check the path"),
        (root.join("missing"), "does not exist; check the path"),
    ] {
        let error = open(&spec(&path), READ, &Permission::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("os error"), "{error}");
    }
    fs::write(root.join("empty"), "").unwrap();
    let error = open(&spec(&root.join("empty")), READ, &Permission::default()).unwrap_err().to_string();
    assert!(error.contains("holds 0 bytes, less than one block of"), "{error}");
}

#[test]
fn descriptors_have_the_flags_of_their_mode() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), MIB).unwrap();
    let flags = |fd: &dyn AsRawFd| {
        // SAFETY: reads the flags of an open descriptor.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) }
    };
    let target = open(&spec(&path), WRITE, &Permission::default()).unwrap();
    assert_eq!(flags(&target.parts[0].fd) & (libc::O_DSYNC | libc::O_DIRECT), 0);
    let durable = target.reopen(OpenMode { dsync: true, ..WRITE }, &[0]).unwrap();
    assert_eq!(flags(&durable[0]) & libc::O_DSYNC, libc::O_DSYNC);
    assert_eq!(flags(&durable[0]) & libc::O_ACCMODE, libc::O_RDWR);
    let reading = target.reopen(READ, &[0]).unwrap();
    assert_eq!(flags(&reading[0]) & libc::O_ACCMODE, libc::O_RDONLY);
    match target.reopen(OpenMode { direct: true, ..READ }, &[0]) {
        Ok(direct) => assert_eq!(flags(&direct[0]) & libc::O_DIRECT, libc::O_DIRECT),
        Err(error) => {
            assert!(matches!(&error, TargetError::NoDirect { path: named } if *named == path), "{error}");
            println!("skipped: the target directory's file system has no direct I/O");
        }
    }
}

#[test]
fn a_file_in_use_by_another_run_is_neither_resized_nor_deleted() {
    let directory = directory();
    let path = directory.path().join("scratch");
    make(&spec(&path), MIB).unwrap();
    let user = open(&spec(&path), READ, &Permission::default()).unwrap();
    assert!(matches!(make(&spec(&path), 2 * MIB), Err(TargetError::Busy { .. })));
    assert!(matches!(remove(&spec(&path)), Err(TargetError::Busy { .. })));
    let writer = open(&spec(&path), WRITE, &Permission::default());
    assert!(matches!(writer, Err(TargetError::Busy { .. })), "nobody writes while another reads");
    open(&spec(&path), READ, &Permission::default()).unwrap();
    drop(user);
    make(&spec(&path), 2 * MIB).unwrap();
    let _writer = open(&spec(&path), WRITE, &Permission::default()).unwrap();
    assert!(matches!(open(&spec(&path), READ, &Permission::default()), Err(TargetError::Busy { .. })));
}

#[test]
fn a_file_that_a_program_has_locked_or_open_for_writing_is_not_written() {
    let directory = directory();
    let path = directory.path().join("database");
    fs::write(&path, vec![1; 65536]).unwrap();
    let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    // SAFETY: flock is plain data for which all zeros is valid; the descriptor is open.
    let locked = unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        (lock.l_type, lock.l_whence) = (libc::F_RDLCK as _, libc::SEEK_SET as _);
        libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw mut lock)
    };
    assert_eq!(locked, 0);
    let refusal = open(&spec(&path), WRITE, &destroy(path.to_str())).unwrap_err().to_string();
    assert!(refusal.contains("has locked it; end that program first"), "{refusal}");
    open(&spec(&path), READ, &Permission::default()).unwrap();
    drop(file);

    let mut program = std::process::Command::new("sleep")
        .arg("600")
        .stdout(fs::OpenOptions::new().append(true).open(&path).unwrap())
        .spawn()
        .unwrap();
    // A child of ours is one of us.
    open(&spec(&path), WRITE, &destroy(None)).unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
}

#[test]
fn a_lock_of_any_kind_is_refused_in_one_way_and_keeps_no_reader_away() {
    let directory = directory();
    let path = directory.path().join("database");
    fs::write(&path, vec![1; 65536]).unwrap();
    // Open for reading only, so that nothing but the lock tells of it.
    let ready = directory.path().join("ready");
    let script = format!("exec 9<{}; flock -x 9; : >{}; exec sleep 60", path.display(), ready.display());
    let mut shell = std::process::Command::new("sh");
    let mut program = shell.args(["-c", &script]).stdout(std::process::Stdio::null()).spawn().unwrap();
    while !ready.exists() {
        assert!(program.try_wait().unwrap().is_none(), "the program ended before it had the lock");
        std::thread::yield_now();
    }
    let refusal = open(&spec(&path), WRITE, &destroy(path.to_str())).unwrap_err();
    let said = format!("sleep (pid {}) has locked it; end that program first", program.id());
    assert!(matches!(refusal, TargetError::Refused(_)) && refusal.to_string().contains(&said), "{refusal}");
    open(&spec(&path), READ, &Permission::default()).unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    open(&spec(&path), WRITE, &destroy(path.to_str())).unwrap();
}

#[test]
fn a_device_that_is_not_there_is_no_file_to_be_made() {
    for (path, expected) in [
        ("/dev/plimsoll-no-such", "/dev/plimsoll-no-such: there is no such device; "),
        ("/dev/mapper/plimsoll-no", "/dev/mapper/plimsoll-no: there is no such device; "),
        ("/run/plimsoll", "/run/plimsoll: what lies below /run is lost with the next restart"),
        ("/proc/plimsoll", "/proc/plimsoll: proc is a file system of the kernel's own and stores nothing"),
    ] {
        let error = make(&spec(Path::new(path)), MIB).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
        assert!(inspect(&spec(Path::new(path))).is_err() && !Path::new(path).exists());
    }
    let device = fs::read_dir("/dev")
        .unwrap()
        .flatten()
        .find(|entry| std::os::unix::fs::FileTypeExt::is_block_device(&entry.file_type().unwrap()));
    let Some(device) = device else { return println!("skipped: there is no block device here") };
    let misspelt = PathBuf::from(format!("{}q", device.path().display()));
    let error = make(&spec(&misspelt), MIB).unwrap_err().to_string();
    assert!(error.contains("did you mean /dev/"), "{error}");
}

#[test]
fn inspecting_says_what_is_there_and_writes_nothing() {
    let directory = directory();
    let path = directory.path().join("scratch");
    let missing = serde_json::to_value(inspect(&spec(&path)).unwrap()).unwrap();
    assert_eq!((&missing["kind"], &missing["exists"]), (&"file".into(), &false.into()));
    assert!(missing["size_bytes"].as_u64().unwrap() > 0, "the size it would get");
    assert!(!path.exists());

    fs::write(&path, vec![0; 3 << 20]).unwrap();
    let before = fs::metadata(&path).unwrap();
    let found = serde_json::to_value(inspect(&spec(&path)).unwrap()).unwrap();
    assert_eq!(found["size_bytes"], 3 << 20);
    assert_eq!(found["parts"][0]["sample"]["entropy_bits_per_byte"], 0.0);
    assert_eq!(found["parts"][0]["facts"]["kind"], "file");
    assert_eq!(found["made_by_plimsoll"], false);
    let after = fs::metadata(&path).unwrap();
    assert_eq!((before.mtime_nsec(), before.ctime_nsec()), (after.mtime_nsec(), after.ctime_nsec()));

    let null = inspect(&"null:?size=1GiB".parse().unwrap()).unwrap();
    assert_eq!((null.kind, null.size_bytes, null.exists, null.modelled), ("null", 1 << 30, true, true));
}

#[test]
fn holes_are_seen() {
    let directory = directory();
    let path = directory.path().join("sparse");
    fs::File::create(&path).unwrap().set_len(16 * MIB).unwrap();
    let found = sample(&path);
    assert!(found.sparse && found.entropy_bits_per_byte == 0.0, "{found:?}");
}

fn of_parts(kind: &str, parts: &[&Path], sizes: &str) -> TargetSpec {
    let paths: Vec<_> = parts.iter().map(|path| path.to_str().unwrap()).collect();
    format!("{kind}:{}?sizes={sizes}", paths.join(",")).parse().unwrap()
}

/// All parts of a target were as long as the longest of them.
#[test]
fn every_part_is_made_as_long_as_the_target_says() {
    let directory = directory();
    let (long, short) = (directory.path().join("long"), directory.path().join("short"));
    let target = of_parts("concat", &[&long, &short], "6MiB,8KiB");
    let sizes =
        |target: &TargetSpec| inspect(target).unwrap().parts.iter().map(|part| part.size_bytes).collect::<Vec<_>>();
    assert_eq!(sizes(&target), [6 * MIB, 8192], "before they are made");
    let made = prepare(&target, None, &Permission::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap();
    assert_eq!(
        made,
        Prepared {
            changed: true,
            created: true,
            filled_bytes: 6 * MIB + 8192,
            scratch: vec![long.clone(), short.clone()]
        }
    );
    assert_eq!(sizes(&target), [6 * MIB, 8192]);
    assert_eq!(open(&target, WRITE, &Permission::default()).unwrap().volume.size(), 6 * MIB + 8192);

    // The next target has them the other way round.
    let other = of_parts("stripe", &[&long, &short], "4KiB,1MiB");
    let again = prepare(&other, None, &Permission::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap();
    assert_eq!((again.created, again.filled_bytes), (false, MIB - 8192));
    assert_eq!(sizes(&other), [4096, MIB]);
    let said = make(&target, 2 * MIB).unwrap_err().to_string();
    assert!(
        said.contains("says with `sizes` how long its files are made") && said.contains("leave `size` out"),
        "{said}"
    );
    assert_eq!(remove(&target).unwrap(), [long, short]);
}

#[test]
fn room_is_needed_for_the_sum_of_all_parts() {
    let directory = directory();
    let parts = [directory.path().join("a"), directory.path().join("b")];
    let target = of_parts("concat", &[&parts[0], &parts[1]], "512TiB,256TiB");
    let said = prepare(&target, None, &Permission::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap_err();
    assert!(said.to_string().contains("786432.0 GiB are needed"), "{said}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_file_is_made_beside_one_that_was_there_which_stays_as_it_is() {
    let directory = directory();
    let (theirs, ours) = (directory.path().join("theirs"), directory.path().join("ours"));
    fs::write(&theirs, vec![7; 12_288]).unwrap();
    let target = of_parts("concat", &[&theirs, &ours], "-,1MiB");
    let made = prepare(&target, None, &Permission::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap();
    assert_eq!((made.created, made.filled_bytes, made.scratch), (false, MIB, vec![ours.clone()]));
    let refusal = open(&target, WRITE, &Permission::default()).unwrap_err();
    assert!(matches!(&refusal, TargetError::Refused(Refusal::ForeignFile { path }) if *path == theirs), "{refusal}");
    assert_eq!(open(&target, READ, &Permission::default()).unwrap().volume.size(), 12_288 + MIB);
    assert_eq!(remove(&target).unwrap(), [ours]);
    assert_eq!(fs::read(&theirs).unwrap(), vec![7; 12_288]);

    let wrong = of_parts("concat", &[&theirs, &directory.path().join("other")], "8KiB,1MiB");
    let said = prepare(&wrong, None, &Permission::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap_err();
    assert!(
        said.to_string().contains("(12288 bytes)") && said.to_string().contains("write `-` for it in `sizes`"),
        "{said}"
    );
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing was made in vain");
}
