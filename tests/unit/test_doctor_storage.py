"""What the doctor says of storage that is put together, on planted trees of sysfs: what is wrong is named, and what is right passes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.doctor import storage
from plimsoll.doctor.examination import Check, Examination
from plimsoll.host.device import Mount
from plimsoll.host.stack import Filesystem, Layer, Stack, filesystem_of, layers_of

Json = dict[str, Any]
Rule = Callable[[Examination], Any]
KIB = 1024


class Sys:
    """A tree of sysfs with the devices that a test plants."""

    def __init__(self, at: Path) -> None:
        self.at = at
        (at / "class" / "block").mkdir(parents=True)
        (at / "devices").mkdir()

    def disk(self, name: str, *below: str, files: Mapping[str, object] | None = None) -> None:
        """A device above those ``below``, with the content of its files."""
        folder = self.at / "devices" / name
        for path, content in {"queue/read_ahead_kb": 128, "queue/physical_block_size": 4096, "size": 2048, **(files or {})}.items():
            self.write(folder / path, content)
        (folder / "slaves").mkdir(exist_ok=True)
        for slave in below:
            (folder / "slaves" / slave).symlink_to(self.at / "class" / "block" / slave)
        (self.at / "class" / "block" / name).symlink_to(folder)

    def part(self, name: str, disk: str, start: int) -> None:
        folder = self.at / "devices" / disk / name
        for path, content in {"partition": 1, "start": start, "size": 1000, "alignment_offset": 0}.items():
            self.write(folder / path, content)
        (self.at / "class" / "block" / name).symlink_to(folder)

    def md(self, name: str, *below: str, level: str = "raid5", **facts: object) -> None:
        own = {"level": level, "raid_disks": len(below), "chunk_size": 64 * KIB, "degraded": 0, "sync_action": "idle", **facts}
        self.disk(name, *below, files={f"md/{key}": value for key, value in own.items()})

    def mapped(self, name: str, uuid: str, *below: str, files: Mapping[str, object] | None = None) -> None:
        self.disk(name, *below, files={"dm/uuid": uuid, "dm/name": "vg-data", **(files or {})})

    def write(self, path: Path, content: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")


@pytest.fixture
def sysfs(tmp_path: Path) -> Sys:
    planted = Sys(tmp_path)
    for letter in "bcde":
        planted.disk(f"sd{letter}")
    return planted


def judged(rule: Rule, sysfs: Sys, top: str, ask: Callable[..., str | None] = lambda *_: None) -> list[Check]:
    return list(rule(Examination(host={}, stack=Stack(layers_of([top], str(sysfs.at), ask)))))


def of_filesystem(rule: Rule, filesystem: Filesystem, layers: tuple[Layer, ...] = ()) -> list[Check]:
    return list(rule(Examination(host={}, stack=Stack(layers, (filesystem,)))))


def only(checks: list[Check]) -> tuple[str, str, str]:
    (check,) = checks
    return check.status, check.finding, check.advice


def test_a_plain_disk_gives_nothing_to_say(sysfs: Sys) -> None:
    for rule in (storage.alignment, storage.stripes, storage.read_ahead, storage.barriers, storage.raid, storage.paths, storage.thin_pools):
        assert judged(rule, sysfs, "sdb") == []


def test_a_partition_that_begins_at_sector_63_is_misaligned(sysfs: Sys) -> None:
    sysfs.part("sdb1", "sdb", 63)
    status, finding, advice = only(judged(storage.alignment, sysfs, "sdb1"))
    assert (status, advice) == ("warn", "Make the partition anew, beginning at 1 MiB.")
    assert finding.startswith("sdb1 begins at byte 32,256, no multiple of 4 KiB of sdb")


def test_a_partition_on_a_stripe_has_to_begin_on_a_unit_of_it(sysfs: Sys) -> None:
    sysfs.md("md0", "sdb", "sdc", "sdd", chunk_size=2048 * KIB)
    sysfs.part("md0p1", "md0", 2048)
    sysfs.part("md0p2", "md0", 4096)
    assert only(judged(storage.alignment, sysfs, "md0p1"))[0] == "warn"
    assert only(judged(storage.alignment, sysfs, "md0p2"))[:2] == ("ok", "md0p2 begins at 2 MiB, a multiple of 2 MiB.")


def test_what_the_kernel_calls_misaligned_is_told(sysfs: Sys) -> None:
    sysfs.mapped("dm-0", "LVM-x", "sdb", files={"alignment_offset": -1})
    assert only(judged(storage.alignment, sysfs, "dm-0"))[0] == "warn"


LVS = "  vg/data|{}|{}|{}||||{}|\n"


def lvs(said: Mapping[str, str]) -> Callable[..., str | None]:
    return lambda *words: said.get(words[-1])


def test_a_stripe_unit_that_is_no_multiple_of_the_strip_below_is_told(sysfs: Sys) -> None:
    sysfs.md("md0", "sdb", "sdc", "sdd")
    sysfs.md("md1", "sdd", "sde", level="raid0")
    sysfs.mapped("dm-0", "LVM-x", "md0", "md1")
    for unit, status in ((48 * KIB, "warn"), (128 * KIB, "ok")):
        found = judged(storage.stripes, sysfs, "dm-0", lvs({"/dev/mapper/vg-data": LVS.format("striped", 2, unit, "")}))
        assert [check.status for check in found] == [status] * 2
    found = judged(storage.stripes, sysfs, "dm-0", lvs({"/dev/mapper/vg-data": LVS.format("striped", 2, 48 * KIB, "")}))
    assert found[0].finding.startswith("dm-0 writes 48 KiB to one device in turn, no multiple of the 64 KiB of md0 below")
    assert found[0].advice == "Lay dm-0 out with a stripe unit of 64 KiB."


def xfs(options: str, **facts: Any) -> Filesystem:
    return replace(filesystem_of(Mount("/dev/md0", "/", "xfs", options)), **{"point": "/data", "devices": ("md0",), **facts})


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ("rw,sunit=128,swidth=256", "ok", "/data (xfs) knows the stripes below it (2 × 64 KiB)."),
        ("rw,sunit=64,swidth=256", "warn", "/data (xfs) was told stripes of 4 × 32 KiB, and what lies below has 2 × 64 KiB"),
        ("rw,sunit=128,swidth=512", "warn", "/data (xfs) was told stripes of 4 × 64 KiB, and what lies below has 2 × 64 KiB"),
        ("rw", "warn", "/data (xfs) was not told the stripes below it (2 × 64 KiB)"),
    ],
)
def test_a_file_system_has_to_know_the_stripes_below_it(sysfs: Sys, options: str, status: str, words: str) -> None:
    sysfs.md("md0", "sdb", "sdc", "sdd")
    found = only(of_filesystem(storage.stripes, xfs(options), layers_of(["md0"], str(sysfs.at))))
    assert (found[0], found[1].startswith(words)) == (status, True), found[1]


def test_the_stripes_of_ext4_are_compared_as_far_as_it_tells_them(sysfs: Sys) -> None:
    sysfs.md("md0", "sdb", "sdc", "sdd")
    block = os.statvfs("/").f_frsize
    for full, status in ((128 * KIB, "ok"), (64 * KIB, "warn")):
        mounted = replace(filesystem_of(Mount("/dev/md0", "/", "ext4", f"rw,stripe={full // block}")), devices=("md0",))
        assert only(of_filesystem(storage.stripes, mounted, layers_of(["md0"], str(sysfs.at))))[0] == status


def test_read_ahead_below_a_full_stripe_is_told_with_what_would_do(sysfs: Sys) -> None:
    sysfs.md("md0", "sdb", "sdc", "sdd", "sde", chunk_size=512 * KIB)
    status, finding, advice = only(judged(storage.read_ahead, sysfs, "md0"))
    assert (status, advice) == ("warn", "As root: blockdev --setra 3072 /dev/md0. Direct I/O is not concerned.")
    assert "md0 reads 128 KiB ahead, less than a full stripe of 1.5 MiB" in finding
    (sysfs.at / "devices" / "md0" / "queue" / "read_ahead_kb").write_text("4096\n")
    assert only(judged(storage.read_ahead, sysfs, "md0"))[0] == "ok"
    sysfs.part("md0p1", "md0", 2048)
    assert only(judged(storage.read_ahead, sysfs, "md0p1"))[0] == "ok"


def test_a_stripe_is_known_of_an_array_that_says_so(sysfs: Sys) -> None:
    sysfs.disk("sdf", files={"queue/minimum_io_size": 256 * KIB, "queue/optimal_io_size": 1024 * KIB})
    assert "less than a full stripe of 1 MiB" in only(judged(storage.read_ahead, sysfs, "sdf"))[1]


@pytest.mark.parametrize(("options", "status"), [("rw,noatime,nobarrier", "warn"), ("rw,barrier=0", "warn"), ("rw,noatime", "ok")])
def test_barriers_that_are_off_are_told(options: str, status: str) -> None:
    assert only(of_filesystem(storage.barriers, xfs(options)))[0] == status


@pytest.mark.parametrize(("used", "found"), [(0.95, ["warn"]), (0.5, []), (None, [])])
def test_a_file_system_that_is_nearly_full_is_told(used: float | None, found: list[str]) -> None:
    assert [check.status for check in of_filesystem(storage.nearly_full, xfs("rw", used_share=used))] == found


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, [("ok", "md0 (raid5 of 3 devices) is whole, and nothing synchronises it.")]),
        ({"degraded": 1}, [("warn", "md0 (raid5 of 3 devices) has lost 1 device")]),
        (
            {"degraded": 1, "sync_action": "recover", "sync_completed": "1000 / 4000"},
            [
                ("warn", "md0 (raid5 of 3 devices) has lost 1 device"),
                ("warn", "md0 (raid5 of 3 devices) does a recover, 25% done: that load"),
            ],
        ),
        ({"sync_action": "resync", "sync_completed": "none"}, [("warn", "md0 (raid5 of 3 devices) does a resync: that load")]),
    ],
)
def test_an_array_of_md_that_is_degraded_or_rebuilt_is_told(sysfs: Sys, facts: Json, said: list[tuple[str, str]]) -> None:
    sysfs.md("md0", "sdb", "sdc", "sdd", **facts)
    # Below a partition as well.
    sysfs.part("md0p1", "md0", 2048)
    found = judged(storage.raid, sysfs, "md0p1")
    assert [(check.status, check.finding[: len(words)]) for check, (_, words) in zip(found, said, strict=True)] == said


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("vg/data|raid1|2|0|||100.00||", [("ok", "vg/data (raid1) is whole and synchronised.")]),
        ("vg/data|raid1|2|0|||37.50||", [("warn", "vg/data (raid1) synchronises, 38 % done")]),
        ("vg/data|raid1|2|0|||100.00|partial|", [("warn", "vg/data (raid1): partial")]),
        ("vg/data|striped|2|65536|||||", []),
    ],
)
def test_raid_of_lvm_that_is_degraded_or_rebuilt_is_told(sysfs: Sys, row: str, said: list[tuple[str, str]]) -> None:
    sysfs.mapped("dm-0", "LVM-x", "sdb", "sdc")
    found = judged(storage.raid, sysfs, "dm-0", lvs({"/dev/mapper/vg-data": f"  {row}\n"}))
    assert [(check.status, check.finding[: len(words)]) for check, (_, words) in zip(found, said, strict=True)] == said


def _btrfs(sysfs: Sys, *, missing: int, operation: str = "none", errors: int = 0) -> list[Check]:
    here = sysfs.at / "fs" / "btrfs" / "0b52a9d8"
    for number, name in enumerate(("sdb", "sdc"), 1):
        sysfs.write(here / "devices" / name, "")
        sysfs.write(here / "devinfo" / str(number) / "missing", int(number <= missing))
        sysfs.write(here / "devinfo" / str(number) / "error_stats", f"write_errs {errors}\nread_errs 0")
    sysfs.write(here / "exclusive_operation", operation)
    mounted = filesystem_of(Mount("/dev/sdb", "/", "btrfs", "rw"), str(sysfs.at))
    return of_filesystem(storage.raid, mounted)


def test_btrfs_that_lacks_devices_or_is_rebuilt_is_told(sysfs: Sys) -> None:
    assert only(_btrfs(sysfs, missing=0))[:2] == ("ok", "/ (btrfs) over 2 devices is whole.")
    assert only(_btrfs(sysfs, missing=1))[1].startswith("/ (btrfs) over 2 devices lacks 1 device: what is missing is computed")
    assert only(_btrfs(sysfs, missing=0, operation="device replace"))[1].startswith("/ (btrfs) over 2 devices does a device replace")
    assert only(_btrfs(sysfs, missing=0, errors=7))[1] == "/ (btrfs) over 2 devices has counted 14 errors of its devices."


@pytest.mark.parametrize(
    ("states", "status", "words"),
    [
        (("running", "running"), "ok", "dm-0 has 2 paths, and all work."),
        (("running", "offline"), "warn", "dm-0: 1 of 2 paths work; sdc (offline) does not."),
        (("running",), "warn", "dm-0 has a single path."),
    ],
)
def test_paths_that_are_missing_are_told(sysfs: Sys, states: tuple[str, ...], status: str, words: str) -> None:
    names = ["sdb", "sdc"][: len(states)]
    for name, state in zip(names, states, strict=True):
        sysfs.write(sysfs.at / "devices" / name / "device" / "state", state)
    sysfs.mapped("dm-0", "mpath-3600", *names)
    assert only(judged(storage.paths, sysfs, "dm-0"))[:2] == (status, words)


def test_controllers_of_nvme_are_paths(sysfs: Sys) -> None:
    sysfs.disk("nvme0n1", files={"device/nvme0/state": "live", "device/nvme1/state": "connecting"})
    assert only(judged(storage.paths, sysfs, "nvme0n1"))[1] == "nvme0n1: 1 of 2 paths work; nvme1 (connecting) does not."


def test_thin_volumes_and_full_pools_are_told(sysfs: Sys) -> None:
    sysfs.mapped("dm-0", "LVM-x", "sdb")
    thin = "  vg/data|thin|0|0|12.00||||pool\n"
    for pool, said in (("50.00|10.00", 1), ("91.00|10.00", 2), ("91.00|85.00", 3)):
        found = judged(
            storage.thin_pools, sysfs, "dm-0", lvs({"/dev/mapper/vg-data": thin, "vg/pool": f"  vg/pool|thin-pool|0|0|{pool}|||\n"})
        )
        assert [check.status for check in found] == ["warn"] * said
        assert found[0].finding.startswith("vg/data is thin, of which 12 % was ever written: reads of the rest reach no disk")
        assert said == 1 or found[1].finding.startswith("The pool of vg/data is 91 % full of data")


def test_nothing_is_claimed_of_lvm_where_it_cannot_be_asked(sysfs: Sys) -> None:
    sysfs.mapped("dm-0", "LVM-x", "sdb", "sdc")
    assert [*judged(storage.raid, sysfs, "dm-0"), *judged(storage.thin_pools, sysfs, "dm-0")] == []
