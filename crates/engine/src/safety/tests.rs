use std::path::Path;

use super::signature::{Found, Kind};
use super::*;

fn disk() -> DeviceFacts {
    DeviceFacts {
        path: "/dev/sdb".into(),
        asked: "/dev/disk/by-id/ata-X".into(),
        size_bytes: 4_000_000_000_000,
        model: Some("ST4000NM".into()),
        identities: vec!["Z1Z0ABCD".into(), "naa.5000c500".into()],
        ..DeviceFacts::default()
    }
}

fn with_xfs() -> DeviceFacts {
    DeviceFacts { signatures: vec![Found { name: "xfs", kind: Kind::FileSystem, offset_bytes: 0 }], ..disk() }
}

fn file() -> FileFacts {
    FileFacts { path: "/data/a".into(), asked: "/data/a".into(), ..FileFacts::default() }
}

fn destroy(typed: Option<&str>) -> Permission {
    Permission { destroy: true, typed: typed.map(str::to_owned) }
}

fn device(facts: DeviceFacts, permission: &Permission) -> Result<(), Refusal> {
    judge(&[Facts::Device(facts)], permission)
}

fn sentence(result: Result<(), Refusal>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn an_empty_device_needs_destroy_data_and_nothing_else() {
    assert_eq!(
        sentence(device(disk(), &Permission::default())),
        "/dev/sdb is a block device (4000.0 GB, ST4000NM, serial Z1Z0ABCD) and this workload writes to it, which \
         destroys whatever is there; if you mean it, repeat with `--destroy-data`"
    );
    assert_eq!(device(disk(), &destroy(None)), Ok(()));
}

#[test]
fn a_signature_needs_the_serial_or_a_path_typed_as_well() {
    let refused = "/dev/sdb carries a file system (xfs), which this workload would destroy; if you mean it, repeat \
                   with `--destroy-data=Z1Z0ABCD`";
    assert_eq!(sentence(device(with_xfs(), &destroy(None))), refused);
    assert_eq!(sentence(device(with_xfs(), &Permission { destroy: false, typed: Some("Z1Z0ABCD".into()) })), refused);
    for name in ["Z1Z0ABCD", "naa.5000c500", "/dev/sdb", "/dev/disk/by-id/ata-X", " Z1Z0ABCD "] {
        assert_eq!(device(with_xfs(), &destroy(Some(name))), Ok(()), "{name}");
    }
}

#[test]
fn typing_another_devices_serial_is_refused_even_on_an_empty_device() {
    assert_eq!(
        sentence(device(disk(), &destroy(Some("OTHER")))),
        "`OTHER` names no part of this target, so nothing is written; its own name is `--destroy-data=Z1Z0ABCD`"
    );
}

#[test]
fn partitions_members_and_unreadable_media_count_as_contents() {
    let partitions = DeviceFacts { partitions: vec!["sdb1".into(), "sdb2".into()], ..disk() };
    assert!(sentence(device(partitions, &destroy(None))).contains("partitions (sdb1, sdb2)"));
    let member = Found { name: "ZFS member", kind: Kind::SetMember, offset_bytes: 0 };
    let member = DeviceFacts { signatures: vec![member], ..disk() };
    assert!(sentence(device(member, &destroy(None))).contains("a member of a storage set (ZFS member)"));
    let unreadable = DeviceFacts { unreadable: Some("EIO".into()), ..disk() };
    assert!(sentence(device(unreadable.clone(), &destroy(None))).contains("reading them failed: EIO"));
    assert_eq!(device(unreadable, &destroy(Some("Z1Z0ABCD"))), Ok(()));
}

#[test]
fn a_device_in_use_is_refused_whatever_is_permitted() {
    let all = destroy(Some("Z1Z0ABCD"));
    let mount = Mount { device: "sdb1".into(), point: "/srv/my data".into() };
    let mounted = DeviceFacts { mounts: vec![mount], ..disk() };
    assert_eq!(
        sentence(device(mounted, &all)),
        "/dev/sdb will not be written to: sdb1 is mounted at /srv/my data; unmount it (`umount '/srv/my data'`) or \
         choose another target"
    );
    let swap = DeviceFacts { swaps: vec!["sdb2".into()], ..disk() };
    assert!(sentence(device(swap, &all)).contains("`swapoff /dev/sdb2`"));
    let held = DeviceFacts { holders: vec!["md0".into()], ..disk() };
    assert!(sentence(device(held, &all)).contains("md0 (RAID, LVM, encryption or multipath) is built on it"));
    assert!(matches!(device(DeviceFacts { claimed: true, ..disk() }, &all), Err(Refusal::Claimed { .. })));
    assert!(matches!(device(DeviceFacts { read_only: true, ..disk() }, &all), Err(Refusal::ReadOnly { .. })));
}

#[test]
fn who_has_no_right_to_write_is_not_told_of_a_permission_that_could_not_help() {
    let image = Found { name: "ext2/3/4", kind: Kind::FileSystem, offset_bytes: 0x438 };
    let foreign =
        DeviceFacts { unwritable: true, signatures: vec![image], unreadable: Some("denied".into()), ..disk() };
    for permission in [Permission::default(), destroy(None), destroy(Some("Z1Z0ABCD"))] {
        let said = sentence(device(foreign.clone(), &permission));
        assert!(said.starts_with("/dev/sdb cannot be written to by this user; run as root"), "{said}");
        assert!(!said.contains("--destroy-data"), "{said}");
        let file = Facts::File(FileFacts { unwritable: true, ..file() });
        assert!(sentence(judge(&[file], &permission)).contains("cannot be written to by this user"));
    }
}

#[test]
fn a_file_is_written_freely_only_if_plimsoll_made_it() {
    let ours = FileFacts { made_by_plimsoll: true, ..file() };
    assert_eq!(judge(&[Facts::File(ours.clone())], &Permission::default()), Ok(()));
    assert!(sentence(judge(&[Facts::File(file())], &Permission::default())).contains("was not made by Plimsoll"));
    assert_eq!(judge(&[Facts::File(file())], &destroy(None)), Ok(()));
    let in_use = FileFacts { used_by: vec!["loop3".into()], ..ours };
    assert!(sentence(judge(&[Facts::File(in_use)], &destroy(None))).contains("in use by loop3"));
}

#[test]
fn a_scratch_file_that_somebody_formatted_is_somebodys() {
    let image = Found { name: "ext2/3/4", kind: Kind::FileSystem, offset_bytes: 0x438 };
    let facts = Facts::File(FileFacts { made_by_plimsoll: true, signatures: vec![image], ..file() });
    assert!(sentence(judge(std::slice::from_ref(&facts), &destroy(None))).ends_with("`--destroy-data=/data/a`"));
    assert_eq!(judge(&[facts], &destroy(Some("/data/a"))), Ok(()));
}

#[test]
fn every_part_of_a_set_is_judged_and_names_are_given_for_all_at_once() {
    let second = DeviceFacts { path: "/dev/sdc".into(), identities: vec!["SECOND".into()], ..with_xfs() };
    let parts = [Facts::Device(with_xfs()), Facts::Device(second), Facts::Device(disk())];
    assert!(judge(&parts, &destroy(Some("Z1Z0ABCD"))).is_err(), "the second was not named");
    assert_eq!(judge(&parts, &destroy(Some("Z1Z0ABCD, SECOND"))), Ok(()));
    assert!(sentence(judge(&parts, &destroy(Some("THIRD,FOURTH")))).starts_with("`THIRD,FOURTH` names no part"));
}

#[test]
fn a_typed_path_may_contain_commas() {
    let image = Found { name: "qcow2", kind: Kind::DiskImage, offset_bytes: 0 };
    let facts = FileFacts { path: "/data/a,b".into(), signatures: vec![image], ..FileFacts::default() };
    assert_eq!(judge(&[Facts::File(facts)], &destroy(Some("/data/a,b"))), Ok(()));
}

#[test]
fn a_mount_point_of_any_bytes_is_named_as_a_shell_takes_it() {
    use std::os::unix::ffi::OsStrExt;
    let point = Path::new(std::ffi::OsStr::from_bytes(b"/mnt/it's \xff")).to_owned();
    let mounts = vec![Mount { device: "sdb1".into(), point }];
    let said = sentence(judge(&[Facts::Device(DeviceFacts { mounts, ..disk() })], &destroy(None)));
    assert!(said.contains(r"mounted at /mnt/it's \xff") && said.contains(r"`umount $'/mnt/it\'s \xff'`"), "{said}");
}

#[test]
fn facts_become_json_even_with_paths_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(std::ffi::OsStr::from_bytes(b"/data/\xff")).to_owned();
    let json = serde_json::to_value(Facts::File(FileFacts { path, ..FileFacts::default() })).unwrap();
    assert_eq!((&json["kind"], &json["path"]), (&"file".into(), &r"/data/\xff".into()));
}

#[test]
fn names_for_another_target_of_the_same_command_do_no_harm() {
    let names = destroy(Some("Z1Z0ABCD,OTHER"));
    assert_eq!(device(with_xfs(), &names), Ok(()));
    let ours = FileFacts { made_by_plimsoll: true, ..file() };
    assert_eq!(judge(&[Facts::File(ours)], &destroy(Some("OTHER"))), Ok(()));
}

#[test]
fn a_name_with_blanks_is_shown_as_a_shell_takes_it() {
    let facts = DeviceFacts { identities: vec!["WD's own 1".into()], ..with_xfs() };
    assert!(sentence(device(facts, &destroy(None))).ends_with(r"`--destroy-data='WD'\''s own 1'`"));
}

#[test]
fn what_shares_its_blocks_with_something_in_use_is_refused_whatever_is_typed() {
    let all = destroy(Some("Z1Z0ABCD"));
    let sharer = Sharer { name: "loop0".into(), usage: "mounted at /m".into() };
    let facts = DeviceFacts { shared: vec![sharer], ..disk() };
    assert_eq!(
        sentence(device(facts, &all)),
        "/dev/sdb will not be written to: its blocks are those of loop0, which is mounted at /m; release that first or \
         choose another target"
    );
    let facts = DeviceFacts { loops: vec!["loop1".into()], ..disk() };
    assert!(sentence(device(facts, &all)).contains("loop1 is attached to it; detach that first"));
}

#[test]
fn a_program_that_uses_the_target_without_a_claim_is_named() {
    let opener = |does| Opener { pid: Some(12), program: "mysqld".into(), does };
    let facts = DeviceFacts { openers: vec![opener("has it open for writing")], ..disk() };
    let said = sentence(device(facts, &destroy(Some("Z1Z0ABCD"))));
    assert!(said.contains("mysqld (pid 12) has it open for writing; end that program first"), "{said}");
    let ours = FileFacts { made_by_plimsoll: true, openers: vec![opener("has locked it")], ..file() };
    assert!(sentence(judge(&[Facts::File(ours)], &destroy(None))).contains("mysqld (pid 12) has locked it"));
}

#[test]
fn a_device_that_holds_anything_but_zeros_needs_its_name_typed() {
    let facts = DeviceFacts { stored_at: Some(4096), ..disk() };
    assert_eq!(
        sentence(device(facts.clone(), &destroy(None))),
        "/dev/sdb carries something that Plimsoll does not know (not zeros at byte 4096), which this workload would \
         destroy; if you mean it, repeat with `--destroy-data=Z1Z0ABCD`"
    );
    assert_eq!(device(facts, &destroy(Some("Z1Z0ABCD"))), Ok(()));
}

#[test]
fn a_scratch_file_that_somebody_else_wrote_to_is_not_ours_any_more() {
    let facts = Facts::File(FileFacts { changed_since: true, ..file() });
    let said = sentence(judge(std::slice::from_ref(&facts), &Permission::default()));
    assert!(said.contains("was made by Plimsoll, but something else has written to it"), "{said}");
    assert_eq!(judge(&[facts], &destroy(None)), Ok(()));
}
