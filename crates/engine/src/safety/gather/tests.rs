use std::os::unix::fs::symlink;

use super::*;

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

    fn facts(&self, number: DeviceNumber) -> DeviceFacts {
        let root = &self.root;
        System { proc: root.join("proc"), sys: root.join("sys"), udev: root.join("udev") }.kernel_facts(number)
    }
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
    fake.write("images/disk.img", "data").block("virtual/loop3", "7:3");
    let image = fake.root.join("images/disk.img");
    fake.write("sys/devices/virtual/loop3/loop/backing_file", &format!("{}\n", image.display()));
    fake.write("proc/swaps", &format!("Filename Type\n{} file\n", image.display()));
    let root = &fake.root;
    let system = System { proc: root.join("proc"), sys: root.join("sys"), udev: root.join("udev") };
    assert_eq!(system.file(&image, &image, false).used_by, ["loop3", "swap"]);
    let other = fake.write("images/other.img", "data").root.join("images/other.img");
    assert!(system.file(&other, &other, false).used_by.is_empty());
}

#[test]
fn escaped_paths_come_back_as_they_were() {
    assert_eq!(unescape("/a\\040b\\134c\\011"), Path::new("/a b\\c\t"));
    assert_eq!(unescape("/plain\\"), Path::new("/plain\\"));
    assert_eq!(unescape("/ü\\040"), Path::new("/ü "));
}

#[test]
fn the_machines_own_disk_is_known_to_be_mounted_or_the_host_has_none() {
    let root = device_number(fs::metadata("/").unwrap().dev());
    let system = System::host();
    if system.node(root).is_none() {
        println!("skipped: the root file system is not on a block device of its own");
        return;
    }
    let facts = system.kernel_facts(root);
    assert!(facts.mounts.iter().any(|mount| mount.point == Path::new("/")), "{facts:?}");
}
