"""Which disk the live image measures, when it may write to it, and when it does nothing."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.errors import InputError, SafetyRefusal
from plimsoll.image.disks import Disk, by_serial, disks_of
from plimsoll.image.plan import plan_of
from plimsoll.image.settings import read

Json = dict[str, Any]

FULL = Disk("vda", "/dev/disk/by-id/virtio-FS-1", "QEMU", "FS-1", 10**9, ("ext4 'home'",), ())
USED = Disk("vdb", "/dev/disk/by-id/virtio-RAID-1", "QEMU", "RAID-1", 10**9, ("member of a set (linux_raid_member)",), ("part of md127",))
EMPTY = Disk("vdc", "/dev/disk/by-id/virtio-EMPTY-1", "QEMU", "EMPTY-1", 2 * 10**9)
DISKS = [FULL, USED, EMPTY]
QUICK = "plimsoll.suite=proliant-generations plimsoll.quick"


def _entry(name: str, **what: Any) -> Json:
    empty = dict.fromkeys(("model", "serial", "fstype", "label", "pttype"))
    return {"name": name, "path": f"/dev/{name}", "type": "disk", "size": 10**9, "ro": False, "mountpoints": [None], **empty, **what}


def test_the_disk_is_found_by_its_serial_number_wherever_it_stands() -> None:
    for order in (DISKS, DISKS[::-1]):
        plan = plan_of(read(f"{QUICK} plimsoll.target=serial:EMPTY-1 plimsoll.destroy=EMPTY-1"), order)
        assert plan.disk is EMPTY
        assert plan.measure("/plimsoll/results") == [
            *("plimsoll", "suite", "proliant-generations", "--target", "/dev/disk/by-id/virtio-EMPTY-1", "--quick"),
            *("--destroy-data=EMPTY-1", "--label", "QEMU EMPTY-1", "--out", "/plimsoll/results"),
        ]


def test_nothing_may_be_written_unless_the_serial_number_was_given() -> None:
    plan = plan_of(read(f"{QUICK} plimsoll.target=serial:FS-1"), DISKS)
    assert not any(word.startswith("--destroy-data") for word in plan.measure("r"))
    assert plan.rehearsal("r")[-1] == "--dry-run"


def test_permission_for_another_disk_is_none_for_this_one() -> None:
    with pytest.raises(SafetyRefusal, match=r"plimsoll.destroy names 'FS-1' and plimsoll.target 'EMPTY-1'; nothing is written"):
        plan_of(read(f"{QUICK} plimsoll.target=serial:EMPTY-1 plimsoll.destroy=FS-1"), DISKS)


def test_a_disk_in_use_is_never_measured() -> None:
    with pytest.raises(SafetyRefusal, match=r"/dev/vdb .* is in use: part of md127; it is not measured"):
        plan_of(read(f"{QUICK} plimsoll.target=serial:RAID-1 plimsoll.destroy=RAID-1"), DISKS)


def test_a_name_that_the_next_boot_may_give_to_another_disk_is_refused() -> None:
    with pytest.raises(InputError, match=r"write plimsoll.target=serial:SERIAL"):
        plan_of(read(f"{QUICK} plimsoll.target=/dev/vdc plimsoll.destroy=EMPTY-1"), DISKS)


def test_a_serial_number_that_two_disks_have_names_none() -> None:
    twin = Disk("vdd", "/dev/vdd", "QEMU", "EMPTY-1", 10**9)
    with pytest.raises(InputError, match="/dev/vdc, /dev/vdd have the same serial number 'EMPTY-1'"):
        by_serial([*DISKS, twin], "EMPTY-1")


def test_an_unknown_serial_number_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no disk has the serial number 'EMPTY'; there are: /dev/vda \(QEMU, serial FS-1, 1.0 GB\)"):
        by_serial(DISKS, "EMPTY")
    with pytest.raises(InputError, match="no disk has the serial number ''"):
        by_serial([Disk("sda", "/dev/sda", "", "", 10**9)], "")


def test_nothing_begins_while_a_word_is_wrong() -> None:
    with pytest.raises(InputError, match=r"there is no word 'plimsoll.destory'"):
        plan_of(read(f"{QUICK} plimsoll.target=serial:EMPTY-1 plimsoll.destory=EMPTY-1"), DISKS)


def test_a_check_reads_and_takes_no_suite() -> None:
    plan = plan_of(read("plimsoll.suite=check plimsoll.target=serial:FS-1 plimsoll.label=x"), DISKS)
    assert plan.measure("r") == ["plimsoll", "check", "--target", "/dev/disk/by-id/virtio-FS-1", "--label", "x", "--out", "r"]


def test_a_token_goes_into_a_file_and_never_into_a_command() -> None:
    asked = "plimsoll.send=https://lab7:8642/?token=Zk3q9 plimsoll.send=file:/media plimsoll.fingerprint=3F plimsoll.for=1h"
    plan = plan_of(read(f"{QUICK} plimsoll.target=serial:EMPTY-1 {asked}"), DISKS)
    https = plan.send("run", "r", plan.deliveries[0], {"token-file": "/run/token"})
    folder = plan.send("run", "r", plan.deliveries[1], {})
    assert plan.deliveries[0].token == "Zk3q9"
    assert "Zk3q9" not in repr(plan) + " ".join(https)
    assert https[-8:] == ["--to", "https://lab7:8642/", "--token-file", "/run/token", "--fingerprint", "3F", "--for", "1h"]
    assert folder[-4:] == ["--to", "file:/media", "--for", "1h"]


@pytest.mark.parametrize(
    ("typed", "url", "password"),
    [
        ("ftps://me:p%40s@lab8/in", "ftps://me@lab8/in", "p@s"),
        ("sftp://me@lab8:22/in", "sftp://me@lab8:22/in", None),
        ("smtp://lab8:25/me@x.org", "smtp://lab8:25/me@x.org", None),
        ("smtp://me:pw@lab8:25/me@x.org", "smtp://me@lab8:25/me@x.org", "pw"),
    ],
)
def test_a_password_is_taken_out_of_an_address(typed: str, url: str, password: str | None) -> None:
    (delivery,) = plan_of(read(f"{QUICK} plimsoll.target=serial:FS-1 plimsoll.send={typed}"), DISKS).deliveries
    assert (delivery.url, delivery.password) == (url, password)
    assert password is None or password not in repr(delivery)


def test_disks_are_told_with_what_is_on_them_and_who_uses_them() -> None:
    part = _entry("sda1", type="part", fstype="ext4", label="home", mountpoints=["/mnt/a"])
    member = _entry("sdb", serial="B", fstype="linux_raid_member", children=[_entry("md127", type="raid1", fstype="xfs")])
    found = disks_of({"blockdevices": [member, _entry("sda", serial="A", pttype="gpt", children=[part]), _entry("sdc", serial="C")]}, {})
    assert [(disk.name, disk.contents) for disk in found] == [
        ("sda", "partitions (gpt), ext4 'home' on sda1 (in use: mounted at /mnt/a)"),
        ("sdb", "member of a set (linux_raid_member) (in use: part of md127)"),
        ("sdc", "nothing known"),
    ]


def test_a_disk_has_the_path_that_names_its_serial_number() -> None:
    links = {"virtio-B": "vda", "wwn-0x5000": "vdb", "scsi-SQEMU_B_1": "vdb", "scsi-SQEMU_B_1-part1": "vdb1"}
    (disk,) = disks_of({"blockdevices": [_entry("vdb", serial="B 1")]}, links)
    assert disk.path == "/dev/disk/by-id/scsi-SQEMU_B_1"


def test_memory_loops_and_optical_drives_are_no_disks_and_paths_of_a_map_are_in_use() -> None:
    mapped = _entry("mpatha", type="mpath", path="/dev/mapper/mpatha")
    entries = [
        _entry("sr0", type="rom"),
        _entry("loop0", type="loop"),
        _entry("zram0"),
        _entry("sda", size=0),
        _entry("sdb", serial="W", children=[mapped]),
    ]
    found = disks_of({"blockdevices": [*entries, _entry("sdc", serial="W", children=[mapped])]}, {})
    assert [(disk.name, disk.path, disk.serial, disk.users) for disk in found] == [
        ("sdb", "/dev/sdb", "W", ("part of mpatha",)),
        ("sdc", "/dev/sdc", "W", ("part of mpatha",)),
        ("mapper/mpatha", "/dev/mapper/mpatha", "mpatha", ()),
    ]


def test_control_characters_of_a_model_do_not_reach_the_console() -> None:
    (disk,) = disks_of({"blockdevices": [_entry("sda", model="evil\x1b[2J", serial="S")]}, {})
    assert "\x1b" not in disk.described()
