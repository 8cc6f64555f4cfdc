use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;
use crate::safety::stack::Stack;
use crate::safety::system::{System, device_number};

/// Invented kernel trees in a directory of their own.
struct Fake {
    root: PathBuf,
    _directory: tempfile::TempDir,
}

impl Fake {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("sys/dev/block")).unwrap();
        fs::create_dir_all(root.join("sys/block")).unwrap();
        Self { root, _directory: directory }
    }

    fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A block device below `sys/devices`, with its links.
    fn block(&self, dir: &str, number: &str) -> &Self {
        let target = self.root.join("sys/devices").join(dir);
        self.write(&format!("sys/devices/{dir}/dev"), &format!("{number}\n"));
        symlink(&target, self.root.join("sys/dev/block").join(number)).unwrap();
        let name = Path::new(dir).file_name().unwrap();
        symlink(&target, self.root.join("sys/block").join(name)).unwrap();
        self
    }

    fn system(&self) -> System {
        let root = &self.root;
        System { proc: root.join("proc"), sys: root.join("sys"), dev: root.join("dev"), udev: root.join("udev") }
    }

    fn facts(&self, number: DeviceNumber) -> DeviceFacts {
        Survey::of(self.system()).kernel_facts(number)
    }

    /// Where a device lies and how large it is, in sectors.
    fn stretch(&self, dir: &str, start: u64, sectors: u64) -> &Self {
        self.write(&format!("sys/devices/{dir}/start"), &format!("{start}\n"));
        self.write(&format!("sys/devices/{dir}/size"), &format!("{sectors}\n"))
    }

    /// A loop device of so many sectors that shows the file or device at `backing` from `offset` bytes on.
    fn attach(&self, number: u32, backing: &Path, offset: u64, sectors: u64) -> &Self {
        let dir = format!("virtual/loop{number}");
        self.block(&dir, &format!("7:{number}"));
        self.write(&format!("sys/devices/{dir}/loop/backing_file"), &format!("{}\n", backing.display()));
        self.write(&format!("sys/devices/{dir}/loop/offset"), &format!("{offset}\n"));
        self.write(&format!("sys/devices/{dir}/size"), &format!("{sectors}\n"))
    }

    fn mounted(&self, number: &str, point: &str) -> &Self {
        self.write("proc/self/mountinfo", &format!("22 1 {number} / {point} rw - ext4 /dev/x rw\n"))
    }

    fn image(&self) -> PathBuf {
        self.write("images/disk.img", "data");
        self.root.join("images/disk.img")
    }
}

fn subject(path: &Path) -> Subject<'_> {
    Subject { path, asked: path, opened: File::open(path) }
}

/// What is in use below a device, in words.
fn shared(facts: &DeviceFacts) -> Vec<String> {
    facts.shared.iter().map(|sharer| format!("{} {}", sharer.name, sharer.usage)).collect()
}

/// A disk with two partitions; LVM on the second, a file system on the logical volume and one on the first partition.
fn server() -> Fake {
    let fake = Fake::new();
    fake.block("pci/sda", "8:0")
        .block("pci/sda/sda1", "8:1")
        .block("pci/sda/sda2", "8:2")
        .block("virtual/dm-0", "253:0");
    fake.write("sys/devices/pci/sda/sda1/partition", "1\n").write("sys/devices/pci/sda/sda2/partition", "2\n");
    fake.write("sys/devices/pci/sda/size", "7814037168\n");
    fake.stretch("pci/sda/sda1", 2048, 1_048_576).stretch("pci/sda/sda2", 1_050_624, 1_000_000);
    fake.write("sys/devices/pci/sda/device/model", "ST4000NM0035   \n");
    fake.write("sys/devices/pci/sda/device/wwid", "naa.5000c500a1\n");
    fake.write("sys/devices/pci/sda/ro", "0\n").write("sys/devices/pci/sda/sda2/holders/dm-0/x", "");
    fake.write("udev/b8:0", "S:disk/by-id/x\nE:ID_SERIAL=ST4000NM0035_ZC11\nE:ID_SERIAL_SHORT=ZC11\n");
    fake.write("udev/b8:2", "E:ID_PART_ENTRY_UUID=1234-02\n");
    fake.write(
        "proc/self/mountinfo",
        "21 1 8:1 / /boot rw - ext4 /dev/sda1 rw\n\
         22 1 253:0 /sub /srv/my\\040data rw,relatime shared:1 - xfs /dev/mapper/vg-lv rw\n\
         23 1 0:5 / /proc rw - proc proc rw\n",
    );
    fake
}

#[test]
fn a_disk_is_looked_at_with_its_partitions_and_what_is_stacked_on_them() {
    let facts = server().facts((8, 0));
    assert_eq!(facts.partitions, ["sda1", "sda2"]);
    assert_eq!(facts.holders, ["dm-0"]);
    let mounts: Vec<_> =
        facts.mounts.iter().map(|mount| (mount.device.as_str(), mount.point.to_str().unwrap())).collect();
    assert_eq!(mounts, [("sda1", "/boot"), ("dm-0", "/srv/my data")]);
    assert_eq!(facts.size_bytes, 4_000_787_030_016);
    assert_eq!(facts.model.as_deref(), Some("ST4000NM0035"));
    assert_eq!(facts.identities, ["ZC11", "ST4000NM0035_ZC11", "naa.5000c500a1"]);
    assert!(!facts.read_only);
}

#[test]
fn a_partition_is_not_blamed_for_what_its_neighbour_does() {
    let server = server();
    let first = server.facts((8, 1));
    assert_eq!((first.mounts.len(), first.holders.len()), (1, 0));
    let second = server.facts((8, 2));
    assert_eq!((second.mounts[0].device.as_str(), second.holders), ("dm-0", vec!["dm-0".to_owned()]));
    assert_eq!(second.identities[0], "1234-02", "a partition has an identity of its own");
}

#[test]
fn a_partition_of_a_disk_that_is_a_raid_member_is_held() {
    let fake = server();
    fake.block("virtual/md127", "9:127").write("sys/devices/pci/sda/holders/md127/x", "");
    assert_eq!(fake.facts((8, 1)).holders, ["md127"]);
}

#[test]
fn swap_is_found_by_name_when_the_node_cannot_be_looked_at() {
    let fake = server();
    fake.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n");
    assert_eq!(fake.facts((8, 0)).swaps, ["sda2"]);
    assert!(fake.facts((8, 1)).swaps.is_empty());
}

#[test]
fn a_device_sysfs_does_not_know_has_no_facts_and_is_no_error() {
    assert_eq!(server().facts((99, 9)), DeviceFacts::default());
}

#[test]
fn a_file_behind_swap_or_a_loop_device_is_in_use() {
    let fake = server();
    let image = fake.image();
    fake.attach(3, &image, 0, 64).write("proc/swaps", &format!("Filename Type\n{} file\n", image.display()));
    let system = fake.system();
    assert_eq!(Survey::of(system.clone()).file(&subject(&image), Ownership::Foreign).used_by, ["loop3", "swap"]);
    let other = fake.write("images/other.img", "data").root.join("images/other.img");
    assert!(Survey::of(system.clone()).file(&subject(&other), Ownership::Foreign).used_by.is_empty());
}

#[test]
fn a_file_behind_a_loop_device_is_known_by_its_inode_whatever_its_name() {
    use std::os::unix::ffi::OsStrExt;
    let fake = Fake::new();
    for (number, name) in [&b"bytes\xff.img"[..], b"blank ", b"gone (deleted)"].into_iter().enumerate() {
        let image = fake.root.join(std::ffi::OsStr::from_bytes(name));
        fs::write(&image, "data").unwrap();
        let link = fake.root.join(format!("link{number}"));
        fs::hard_link(&image, &link).unwrap();
        fake.attach(number as u32, Path::new("x"), 0, 64);
        let line = [image.as_os_str().as_bytes(), b"\n"].concat();
        fs::write(fake.root.join(format!("sys/devices/virtual/loop{number}/loop/backing_file")), line).unwrap();
        for path in [image, link] {
            assert_eq!(
                Survey::of(fake.system()).file(&subject(&path), Ownership::Foreign).used_by,
                [format!("loop{number}")]
            );
        }
    }
}

#[test]
fn a_second_loop_device_on_a_mounted_file_shares_its_blocks_if_the_stretches_overlap() {
    let fake = Fake::new();
    let image = fake.image();
    fake.attach(0, &image, 0, 131_072).attach(1, &image, 20 << 20, 90_112).attach(2, &image, 64 << 20, 8);
    fake.mounted("7:0", "/m");
    assert_eq!(shared(&fake.facts((7, 1))), ["loop0 mounted at /m"]);
    assert!(shared(&fake.facts((7, 2))).is_empty(), "it begins where the mounted one ends");
    assert_eq!(fake.facts((7, 0)).mounts.len(), 1);
    assert!(shared(&fake.facts((7, 0))).is_empty(), "nothing is wrong with what it shares with itself");
}

#[test]
fn the_chain_is_followed_through_loop_devices_and_partitions_to_its_end() {
    let fake = server();
    fake.write("dev/sda1", "").write("dev/loop0", "");
    // A file system on sda1, which loop0 shows from its second half on, of which loop1 shows all but the start.
    fake.attach(0, Path::new("/nowhere"), 256 << 20, 524_288).attach(1, Path::new("/nowhere"), 1 << 20, 522_240);
    let stack_of = |number: u32, base: DeviceNumber| {
        let system = fake.system();
        let mut loops = crate::safety::loops::attached(&system);
        loops
            .iter_mut()
            .filter(|found| found.node.number == (7, number))
            .for_each(|found| found.backing = Some(Base::Device(base)));
        loops
    };
    let mut loops = stack_of(0, (8, 1));
    loops
        .iter_mut()
        .filter(|found| found.node.number == (7, 1))
        .for_each(|found| found.backing = Some(Base::Device((7, 0))));
    let system = fake.system();
    let stack = Stack::with(&system, loops);
    let top = Node::of(&system.sys, (7, 1)).unwrap();
    let below: Vec<_> = stack.below(&top).into_iter().map(|layer| (layer.name, layer.range)).collect();
    let start = 1 << 20;
    let length = 522_240 * 512;
    let (loop0, sda1) = (start..start + length, start + (256 << 20)..start + (256 << 20) + length);
    let sda = sda1.start + 2048 * 512..sda1.end + 2048 * 512;
    assert_eq!(below, [("loop0".into(), loop0), ("sda1".into(), sda1), ("sda".into(), sda)]);
}

#[test]
fn the_members_of_a_stack_are_looked_at_but_not_what_else_is_held_on_them() {
    let fake = server();
    // A second logical volume on sda2: its neighbour dm-0 is mounted, which is nobody's fault.
    fake.block("virtual/dm-1", "253:1").write("sys/devices/pci/sda/sda2/holders/dm-1/x", "");
    fake.write("sys/devices/virtual/dm-1/slaves/sda2/x", "");
    symlink(fake.root.join("sys/devices/pci/sda/sda2"), fake.root.join("sys/block/sda2")).ok();
    assert_eq!(shared(&fake.facts((253, 1))), [""; 0]);
    fake.mounted("8:2", "/wrong");
    assert_eq!(shared(&fake.facts((253, 1))), ["sda2 mounted at /wrong"]);
}

#[test]
fn both_partitions_of_one_disk_below_a_raid_are_judged() {
    // md0 over sda1 and sda2 of one disk: what overlaps either of them counts, and what lies between or behind does not.
    for (start_sectors, sectors, shares) in
        [(4096_u64, 8_u64, true), (1_050_624 + 4096, 8, true), (2_050_624, 8, false), (1_050_616, 8, false)]
    {
        let fake = Fake::new();
        fake.block("pci/sda", "8:0")
            .block("pci/sda/sda1", "8:1")
            .block("pci/sda/sda2", "8:2")
            .block("virtual/md0", "9:0");
        fake.write("sys/devices/pci/sda/sda1/partition", "1\n").write("sys/devices/pci/sda/sda2/partition", "2\n");
        fake.write("sys/devices/pci/sda/size", "4000000\n");
        fake.stretch("pci/sda/sda1", 2048, 1_000_000).stretch("pci/sda/sda2", 1_050_624, 1_000_000);
        fake.write("sys/devices/virtual/md0/slaves/sda1/x", "").write("sys/devices/virtual/md0/slaves/sda2/x", "");
        fake.write("sys/devices/pci/sda/sda1/holders/md0/x", "").write("sys/devices/pci/sda/sda2/holders/md0/x", "");
        // A mounted partition that the kernel was told of by hand (`addpart`), over a part of another one.
        fake.block("pci/sda/sda3", "8:3").write("sys/devices/pci/sda/sda3/partition", "3\n");
        fake.stretch("pci/sda/sda3", start_sectors, sectors).mounted("8:3", "/m");
        let found = shared(&fake.facts((9, 0)));
        let expected: &[&str] = if shares { &["sda3 mounted at /m"] } else { &[] };
        assert_eq!(found, expected, "{sectors} sectors from {start_sectors} on");
    }
}

#[test]
fn what_is_reached_twice_below_a_stack_is_told_once() {
    let fake = server();
    // A stack over both partitions of the server's disk, which is itself mounted.
    fake.block("virtual/md9", "9:9").write("sys/devices/virtual/md9/slaves/sda1/x", "");
    fake.write("sys/devices/virtual/md9/slaves/sda2/x", "").mounted("8:0", "/disk");
    assert_eq!(shared(&fake.facts((9, 9))), ["sda mounted at /disk"]);
}

#[test]
fn a_mount_point_that_is_no_text_hides_neither_itself_nor_the_others() {
    let fake = server();
    let table = b"20 1 8:9 / /\xff rw - ext4 /dev/x rw\n21 1 8:1 / /boot\xfe rw - ext4 /dev/sda1 rw\n";
    fs::write(fake.root.join("proc/self/mountinfo"), table).unwrap();
    assert_eq!(fake.facts((8, 0)).mounts.len(), 1);
}

#[test]
fn a_loop_device_attached_to_a_device_is_told() {
    let fake = server();
    fake.attach(0, Path::new("/nowhere"), 0, 64);
    let system = fake.system();
    let mut loops = crate::safety::loops::attached(&system);
    loops[0].backing = Some(Base::Device((8, 1)));
    let stack = Stack::with(&system, loops);
    let of = |number| stack.above(Base::Device(number), &(0..u64::MAX), &BTreeSet::new());
    assert!(of((8, 1)).iter().any(|(node, link)| node.name == "loop0" && *link == Link::Loop));
    assert!(of((8, 0)).iter().any(|(node, _)| node.name == "loop0"), "through the partition");
    assert!(of((8, 2)).iter().all(|(node, _)| node.name != "loop0"), "not of its neighbour");
}

#[test]
fn a_program_that_has_the_file_open_for_writing_is_named_and_a_reader_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    fs::write(&path, "data").unwrap();
    let fake = Fake::new();
    let system = fake.system();
    for (pid, flags) in [(4001, "0100000"), (4002, "0100002")] {
        fake.write(&format!("proc/{pid}/comm"), "mysqld\n")
            .write(&format!("proc/{pid}/fdinfo/7"), &format!("flags:\t{flags}\n"));
        fake.write(&format!("proc/{pid}/stat"), &format!("{pid} (my sql) d) S 1 0"));
        fs::create_dir_all(fake.root.join(format!("proc/{pid}/fd"))).unwrap();
        symlink(&path, fake.root.join(format!("proc/{pid}/fd/7"))).unwrap();
    }
    let facts = Survey::of(system.clone()).file(&subject(&path), Ownership::Foreign);
    let words: Vec<_> = facts.openers.iter().map(crate::safety::Opener::words).collect();
    assert_eq!(words, ["mysqld (pid 4002) has it open for writing"]);
    let own = std::process::id();
    fake.write("proc/4002/stat", &format!("4002 (my sql) d) S {own} 0"));
    assert!(Survey::of(system.clone()).file(&subject(&path), Ownership::Foreign).openers.is_empty(), "a child of ours");
}

#[test]
fn one_survey_finds_the_writer_of_each_of_many_files() {
    let directory = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..5).map(|number| directory.path().join(number.to_string())).collect();
    let fake = Fake::new();
    for (number, path) in paths.iter().enumerate() {
        fs::write(path, "data").unwrap();
        let pid = 4000 + number % 2;
        fake.write(&format!("proc/{pid}/comm"), "mysqld\n").write(&format!("proc/{pid}/stat"), "1 (d) S 1 0");
        // The last one only reads.
        let flags = if number == 4 { "0100000" } else { "0100001" };
        fake.write(&format!("proc/{pid}/fdinfo/{number}"), &format!("flags:\t{flags}\n"));
        fs::create_dir_all(fake.root.join(format!("proc/{pid}/fd"))).unwrap();
        symlink(path, fake.root.join(format!("proc/{pid}/fd/{number}"))).unwrap();
    }
    let survey = Survey::of(fake.system());
    let openers = |path| survey.file(&subject(path), Ownership::Foreign).openers;
    let pids: Vec<Vec<_>> =
        paths.iter().map(|path| openers(path).iter().filter_map(|opener| opener.pid).collect()).collect();
    assert_eq!(pids, [vec![4000], vec![4001], vec![4000], vec![4001], vec![]]);
}

#[test]
fn escaped_paths_come_back_as_they_were() {
    use crate::safety::kernel_tables::unescape;
    assert_eq!(unescape(b"/a\\040b\\134c\\011"), Path::new("/a b\\c\t"));
    assert_eq!(unescape(b"/plain\\"), Path::new("/plain\\"));
    assert_eq!(unescape("/ü\\040".as_bytes()), Path::new("/ü "));
}

#[test]
fn the_machines_own_disk_is_known_to_be_mounted_or_the_host_has_none() {
    let root = device_number(std::os::unix::fs::MetadataExt::dev(&fs::metadata("/").unwrap()));
    let system = System::host();
    if Node::of(&system.sys, root).is_none() {
        println!("skipped: the root file system is not on a block device of its own");
        return;
    }
    let facts = Survey::of(system).kernel_facts(root);
    assert!(facts.mounts.iter().any(|mount| mount.point == Path::new("/")), "{facts:?}");
}
