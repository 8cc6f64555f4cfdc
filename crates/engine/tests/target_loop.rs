//! Targets that are block devices, on loop devices over files in a directory of the test's own. Needs root; without
//! it every test says that it was skipped. No other device is ever opened for writing.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use plimsoll_engine::safety::{Facts, Permission, Refusal};
use plimsoll_engine::target::{OpenMode, TargetError, TargetSpec, inspect, open, prepare};

const READ: OpenMode = OpenMode { direct: true, dsync: false, writes: false };
const WRITE: OpenMode = OpenMode { direct: true, dsync: false, writes: true };

fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() { Ok(text) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

/// A loop device over a file; detached and deleted when dropped.
struct Loop {
    _directory: tempfile::TempDir,
    image: PathBuf,
    device: String,
}

impl Loop {
    /// `None`, and a line that says why, where loop devices cannot be had.
    fn new(image: &[u8], options: &[&str]) -> Option<Self> {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = directory.path().join("image");
        fs::write(&path, image).unwrap();
        let arguments = [&["--find", "--show"], options, &[path.to_str().unwrap()]].concat();
        // SAFETY: asks for a number.
        let root = unsafe { libc::geteuid() } == 0;
        match if root { run("losetup", &arguments) } else { Err("not root".to_owned()) } {
            Ok(device) => Some(Self { _directory: directory, image: path, device }),
            Err(reason) => {
                println!("skipped: no loop device: {reason}");
                None
            }
        }
    }

    fn spec(&self) -> TargetSpec {
        self.device.parse().unwrap()
    }

    fn name(&self) -> &str {
        self.device.strip_prefix("/dev/").unwrap()
    }

    fn image(&self) -> &str {
        self.image.to_str().unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = run("losetup", &["--detach", &self.device]);
    }
}

/// A mounted file system; unmounted when dropped.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(device: &str) -> Option<Self> {
        let point = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        match run("mount", &[device, point.path().to_str().unwrap()]) {
            Ok(_) => Some(Self(point)),
            Err(reason) => {
                println!("skipped: {reason}");
                None
            }
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = run("umount", &[self.0.path().to_str().unwrap()]);
    }
}

fn destroy(typed: Option<&str>) -> Permission {
    Permission { destroy: true, typed: typed.map(str::to_owned) }
}

fn refusal(spec: &TargetSpec, permission: &Permission) -> Refusal {
    match open(spec, WRITE, permission) {
        Err(TargetError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

fn empty() -> Vec<u8> {
    vec![0; 16 << 20]
}

/// Whether the file system maker is there.
fn make_ext4(device: &str) -> bool {
    let result = run("mkfs.ext4", &["-q", "-F", device]);
    if let Err(reason) = &result {
        println!("skipped: {reason}");
    }
    result.is_ok()
}

#[test]
fn an_empty_device_is_read_freely_and_written_with_destroy_data() {
    let Some(device) = Loop::new(&empty(), &[]) else { return };
    let reading = open(&device.spec(), READ, &Permission::default()).unwrap();
    assert_eq!((reading.shape().size_bytes, reading.shape().block_bytes), (16 << 20, 512));
    drop(reading);
    let sentence = refusal(&device.spec(), &Permission::default()).to_string();
    assert!(sentence.starts_with(&format!("{} is a block device (0.0 GB, serial ", device.device)), "{sentence}");
    let writing = open(&device.spec(), WRITE, &destroy(None)).unwrap();
    let file = fs::File::from(writing.parts[0].fd.as_fd().try_clone_to_owned().unwrap());
    let mut memory = vec![7; 8192];
    let aligned = memory.as_ptr().align_offset(4096);
    memory[aligned..].fill(7);
    file.write_all_at(&memory[aligned..aligned + 4096], 4096).unwrap();
    drop((writing, file));
    assert_eq!(fs::read(&device.image).unwrap()[4096..8192], [7; 4096]);
}

#[test]
fn a_device_that_is_written_is_claimed_and_can_be_reopened_by_its_owner_only() {
    let Some(device) = Loop::new(&empty(), &[]) else { return };
    let owner = open(&device.spec(), WRITE, &destroy(None)).unwrap();
    for mode in [READ, WRITE] {
        let busy = open(&device.spec(), mode, &destroy(None)).unwrap_err();
        assert!(matches!(busy, TargetError::Busy { .. }), "{busy}");
    }
    owner.reopen(OpenMode { direct: false, dsync: true, writes: true }, &[0]).unwrap();
    drop(owner);
    open(&device.spec(), WRITE, &destroy(None)).unwrap();
}

#[test]
fn a_file_system_needs_the_identity_typed_and_a_mounted_one_is_refused_always() {
    let Some(device) = Loop::new(&empty(), &[]) else { return };
    if !make_ext4(&device.device) {
        return;
    }
    let sentence = refusal(&device.spec(), &destroy(None)).to_string();
    assert!(sentence.contains("carries a file system (ext2/3/4)"), "{sentence}");
    assert!(sentence.ends_with(&format!("`--destroy-data={}`", device.image())), "{sentence}");
    assert!(matches!(refusal(&device.spec(), &destroy(Some("WD-123"))), Refusal::OtherName { .. }));
    open(&device.spec(), WRITE, &destroy(Some(device.image()))).unwrap();
    open(&device.spec(), WRITE, &destroy(Some(&device.device))).unwrap();

    let Some(mounted) = Mounted::new(&device.device) else { return };
    let sentence = refusal(&device.spec(), &destroy(Some(&device.device))).to_string();
    let expected = format!("{} is mounted at {}; unmount it", device.name(), mounted.0.path().display());
    assert!(sentence.contains(&expected), "{sentence}");
    open(&device.spec(), READ, &Permission::default()).unwrap();
}

#[test]
fn a_disk_whose_partition_is_mounted_is_refused_and_so_is_the_partition() {
    let mut image = vec![0; 32 << 20];
    // One partition of type 0x83 from sector 2048 on, 30 MiB long. Layout: master boot record, entry 1.
    image[446..462].copy_from_slice(&[0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0xf0, 0, 0]);
    image[510..512].copy_from_slice(b"\x55\xaa");
    let Some(disk) = Loop::new(&image, &["--partscan"]) else { return };
    let partition = format!("{}p1", disk.device);
    // Kernels without this kind of table are told about the partition.
    let told = Path::new(&partition).exists() || run("addpart", &[&disk.device, "1", "2048", "61440"]).is_ok();
    if !told {
        println!("skipped: the kernel makes no partitions on loop devices");
        return;
    }
    assert!(refusal(&disk.spec(), &destroy(None)).to_string().contains("carries a partition table (MBR)"));
    open(&disk.spec(), WRITE, &destroy(Some(&disk.device))).unwrap();
    if !make_ext4(&partition) {
        return;
    }
    let Some(_mounted) = Mounted::new(&partition) else { return };
    for target in [disk.spec(), partition.parse().unwrap()] {
        let refusal = refusal(&target, &destroy(Some(&target.to_string())));
        let name = format!("{}p1", disk.name());
        assert!(matches!(&refusal, Refusal::Mounted { device, .. } if *device == name), "{refusal}");
    }
}

#[test]
fn swap_signatures_and_disk_images_are_recognised_as_their_tools_write_them() {
    let Some(device) = Loop::new(&empty(), &[]) else { return };
    match run("mkswap", &[&device.device]) {
        Ok(_) => assert!(refusal(&device.spec(), &destroy(None)).to_string().contains("swap space (swap)")),
        Err(reason) => println!("skipped: {reason}"),
    }
}

#[test]
fn a_read_only_device_is_refused_and_read() {
    let Some(device) = Loop::new(&empty(), &["--read-only"]) else { return };
    assert!(matches!(refusal(&device.spec(), &destroy(None)), Refusal::ReadOnly { .. }));
    open(&device.spec(), READ, &Permission::default()).unwrap();
}

#[test]
fn the_file_behind_a_loop_device_is_in_use() {
    let Some(device) = Loop::new(&empty(), &[]) else { return };
    let refusal = refusal(&device.image().parse().unwrap(), &destroy(Some(device.image())));
    assert!(matches!(&refusal, Refusal::FileInUse { users, .. } if users == device.name()), "{refusal}");
}

#[test]
fn a_mounted_file_system_is_not_written_through_a_loop_device_below_above_or_beside_it() {
    let Some(lower) = Loop::new(&vec![0; 64 << 20], &[]) else { return };
    if !make_ext4(&lower.device) {
        return;
    }
    let Some(mounted) = Mounted::new(&lower.device) else { return };
    let attach = |arguments: &[&str]| run("losetup", &[&["--find", "--show"], arguments].concat()).unwrap();
    let above = attach(&["--offset", "20971520", &lower.device]);
    let beside = attach(&["--offset", "20971520", lower.image()]);
    let apart = attach(&["--offset", "67108864", lower.image()]);
    let highest = attach(&["--offset", "1048576", &above]);
    let last = |device: &str| device.strip_prefix("/dev/").unwrap().to_owned();
    let refused = |device: &str| {
        let refusal = open(&device.parse().unwrap(), WRITE, &destroy(Some(device)));
        refusal.map(|_| String::new()).unwrap_or_else(|error| error.to_string())
    };
    let said: Vec<_> = [&above, &beside, &highest].into_iter().map(|device| refused(device)).collect();
    let hard_link = lower.image.with_file_name("link");
    fs::hard_link(&lower.image, &hard_link).unwrap();
    fs::remove_file(&lower.image).unwrap();
    let linked = refused(hard_link.to_str().unwrap());
    let idle = refused(&apart);
    for device in [&highest, &apart, &beside, &above] {
        run("losetup", &["--detach", device]).unwrap();
    }
    for said in said {
        assert!(said.contains(&format!("which is mounted at {}", mounted.0.path().display())), "{said}");
    }
    assert!(linked.contains("it is in use by loop") && linked.contains(&last(&lower.device)), "{linked}");
    assert!(!idle.contains("mounted"), "nothing of it is mounted: {idle}");
}

#[test]
fn two_runs_on_two_loop_devices_over_one_device_exclude_each_other() {
    let Some(lower) = Loop::new(&empty(), &[]) else { return };
    let upper = run("losetup", &["--find", "--show", &lower.device]).unwrap();
    let owner = open(&upper.parse().unwrap(), WRITE, &destroy(None));
    let said = open(&lower.spec(), WRITE, &destroy(None)).unwrap_err().to_string();
    let reading = open(&lower.spec(), READ, &Permission::default());
    drop(owner.unwrap());
    let idle = open(&lower.spec(), WRITE, &destroy(None)).unwrap_err().to_string();
    run("losetup", &["--detach", &upper]).unwrap();
    assert!(said.contains("is in use by another run of Plimsoll"), "{said}");
    assert!(reading.is_err());
    assert!(idle.contains(&format!("{} is attached to it", upper.strip_prefix("/dev/").unwrap())), "{idle}");
}

#[test]
fn a_device_with_data_in_the_middle_needs_its_name_and_one_that_plimsoll_filled_does_not() {
    let mut image = empty();
    image[7 << 20..9 << 20].fill(b'x');
    let Some(device) = Loop::new(&image, &[]) else { return };
    let sentence = refusal(&device.spec(), &destroy(None)).to_string();
    assert!(sentence.contains("something that Plimsoll does not know (not zeros at byte "), "{sentence}");
    open(&device.spec(), WRITE, &destroy(Some(device.image()))).unwrap();

    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let filled = directory.path().join("filled");
    let target: TargetSpec = filled.to_str().unwrap().parse().unwrap();
    prepare(&target, Some(16 << 20), &Permission::default(), &mut |_, _| (), &AtomicBool::new(false)).unwrap();
    let Some(device) = Loop::new(&fs::read(&filled).unwrap(), &[]) else { return };
    open(&device.spec(), WRITE, &destroy(None)).unwrap();
}

#[test]
fn a_device_that_a_program_has_open_for_writing_is_not_written() {
    let Some(device) = Loop::new(&empty(), &[]) else { return };
    // Its parent is not this process: the shell in between ends at once.
    let script = format!("sleep 600 0<>{} >/dev/null 2>&1 & echo $!", device.device);
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let pid = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // The shell has said its number before it has opened the device and become `sleep`.
    let name = format!("/proc/{pid}/comm");
    let became = (0..1000).any(|_| {
        let now = fs::read_to_string(&name).is_ok_and(|name| name == "sleep\n");
        if !now {
            thread::sleep(Duration::from_millis(10));
        }
        now
    });
    let sentence = open(&device.spec(), WRITE, &destroy(Some(device.image()))).map(|_| String::new());
    run("kill", &[&pid]).unwrap();
    assert!(became, "process {pid} did not become sleep within ten seconds");
    let sentence = sentence.unwrap_or_else(|error| error.to_string());
    assert!(sentence.contains(&format!("sleep (pid {pid}) has it open for writing")), "{sentence}");
}

#[test]
fn a_block_of_4096_bytes_is_found_and_bounds_the_unit_of_a_stripe() {
    let Some(large) = Loop::new(&empty(), &["--sector-size", "4096"]) else { return };
    let Some(small) = Loop::new(&empty(), &[]) else { return };
    let stripe =
        |unit: &str| format!("stripe:{},{}?unit={unit}", large.device, small.device).parse::<TargetSpec>().unwrap();
    let opened = open(&stripe("64KiB"), READ, &Permission::default()).unwrap();
    assert_eq!((opened.shape().size_bytes, opened.shape().block_bytes), (32 << 20, 4096));
    let error = open(&stripe("512"), READ, &Permission::default()).unwrap_err();
    assert!(matches!(error, TargetError::UnitBelowBlock { block_bytes: 4096, .. }), "{error}");
    let error = open(&stripe("64MiB"), READ, &Permission::default()).unwrap_err();
    assert!(matches!(error, TargetError::PartBelowUnit { .. }), "{error}");
}

#[test]
fn parts_with_other_blocks_are_cut_so_that_aligned_requests_stay_aligned() {
    let odd = vec![0; (16 << 20) + 512];
    let (Some(small), Some(large)) = (Loop::new(&odd, &[]), Loop::new(&empty(), &["--sector-size", "4096"])) else {
        return;
    };
    let target: TargetSpec = format!("concat:{},{}", small.device, large.device).parse().unwrap();
    let opened = open(&target, READ, &Permission::default()).unwrap();
    assert_eq!((opened.parts[0].size_bytes, opened.volume.size()), (16 << 20, 32 << 20));
    assert_eq!(inspect(&target).unwrap().size_bytes, 32 << 20);
}

#[test]
fn every_device_of_a_set_is_judged() {
    let Some(clean) = Loop::new(&empty(), &[]) else { return };
    let mut image = empty();
    image[..4].copy_from_slice(b"XFSB");
    let Some(dirty) = Loop::new(&image, &[]) else { return };
    let set: TargetSpec = format!("concat:{},{}", clean.device, dirty.device).parse().unwrap();
    assert!(refusal(&set, &destroy(None)).to_string().starts_with(&format!("{} carries", dirty.device)));
    open(&set, WRITE, &destroy(Some(&dirty.device))).unwrap();
    open(&set, WRITE, &destroy(Some(&format!("{},{}", clean.device, dirty.device)))).unwrap();
}

#[test]
fn inspecting_a_device_tells_its_facts_and_prepares_nothing() {
    let Some(device) = Loop::new(&empty(), &[]) else { return };
    let found = inspect(&device.spec()).unwrap();
    assert_eq!((found.kind, found.size_bytes, found.logical_block_bytes), ("device", 16 << 20, 512));
    let Some(Facts::Device(facts)) = &found.parts[0].facts else { panic!("{found:?}") };
    assert_eq!(facts.identities, [device.image()]);
    assert!(!facts.claimed && facts.signatures.is_empty());
    let stop = AtomicBool::new(false);
    let prepared = prepare(&device.spec(), None, &Permission::default(), &mut |_, _| (), &stop).unwrap();
    assert_eq!((prepared.created, prepared.filled_bytes), (false, 0));
    let error = prepare(&device.spec(), Some(1 << 20), &Permission::default(), &mut |_, _| (), &stop).unwrap_err();
    assert!(matches!(error, TargetError::SizeNotOurs { .. }), "{error}");
    let error = open(&format!("file:{}", device.device).parse().unwrap(), READ, &Permission::default()).unwrap_err();
    assert!(matches!(error, TargetError::DeviceNotFile { .. }), "{error}");
}

#[test]
fn a_small_file_system_keeps_its_reserve_and_gives_a_quarter_by_default() {
    let Some(device) = Loop::new(&vec![0; 64 << 20], &[]) else { return };
    if !make_ext4(&device.device) {
        return;
    }
    let Some(mounted) = Mounted::new(&device.device) else { return };
    let target: TargetSpec = mounted.0.path().join("scratch").to_str().unwrap().parse().unwrap();
    let stop = AtomicBool::new(false);
    let too_large = prepare(&target, Some(60 << 20), &Permission::default(), &mut |_, _| (), &stop).unwrap_err();
    assert!(matches!(too_large, TargetError::NoSpace { .. }), "{too_large}");
    let made = prepare(&target, None, &Permission::default(), &mut |_, _| (), &stop).unwrap();
    assert!((8 << 20..16 << 20).contains(&made.filled_bytes), "{made:?}");
}
