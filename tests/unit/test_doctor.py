"""The doctor's checks: pure functions of an examination, and the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.doctor import Check, Examination, diagnose, examine
from plimsoll.doctor import examination as examinations
from plimsoll.doctor.look import seen
from plimsoll.engine.block import native
from plimsoll.engine.protocol import IoUring
from plimsoll.errors import InputError, TargetError
from plimsoll.own_cost import OwnCost
from support.said import Plimsoll

DEVICE = {"name": "nvme0n1", "disk": "nvme0n1", "scheduler": "none", "rotational": False, "write_cache": "write through"}
WELL = Examination(
    host={
        "machine": {"virtualisation": "none"},
        "cpu": {"governor": "performance", "turbo": "off"},
        "memory": {"total_bytes": 8 << 30},
        "kernel": {"release": "6.1.0-26-amd64", "clocksource": "tsc", "io_uring_disabled": 0},
    },
    io_uring=IoUring(available=True),
    locked_memory_bytes=8 << 20,
    calibration=OwnCost({"nop": {"iops_per_core": 10e6}}),
    activity={
        "cpu": {"user_percent": 1.0, "system_percent": 1.0, "idle_percent": 98.0, "iowait_percent": 0.0, "steal_percent": 0.0},
        "devices": {"nvme0n1": {"r_per_s": 0.0, "w_per_s": 1.0}},
    },
    target={
        "path": "/data/file",
        "size_bytes": 64 << 30,
        "allocated_bytes": 64 << 30,
        "apparent_bytes": 64 << 30,
        "devices": [DEVICE],
        "filesystem": {"mount": {"type": "xfs", "point": "/data", "options": "rw,noatime"}},
    },
    access={"/data/file": None},
    free_bytes=100 << 30,
)


def found(examination: Examination) -> dict[str, Check]:
    return {check.name: check for check in diagnose(examination)}


def host(section: str, **facts: Any) -> Examination:
    return replace(WELL, host={**WELL.host, section: {**WELL.host[section], **facts}})


def target(**facts: Any) -> Examination:
    return replace(WELL, target={**WELL.target, **facts})


def test_a_good_host_is_well_in_every_respect() -> None:
    assert {check.status for check in diagnose(WELL)} == {"ok"}


@pytest.mark.parametrize(
    ("examination", "name", "status", "part"),
    [
        (replace(WELL, io_uring=IoUring(reason="operation not permitted")), "io_uring", "warn", "operation not permitted"),
        (
            replace(host("kernel", io_uring_disabled=2), io_uring=IoUring()),
            "io_uring",
            "warn",
            "sysctl kernel.io_uring_disabled=0",
        ),
        (replace(host("kernel", release="5.4.0"), locked_memory_bytes=64 << 10), "locked_memory", "warn", "ulimit -l"),
        (replace(WELL, calibration=None), "own_cost", "unknown", "plimsoll doctor --calibrate"),
        (host("cpu", governor="powersave"), "governor", "warn", "cpupower"),
        (host("cpu", governor="absent: no such file or directory"), "governor", "unknown", "no such file"),
        (host("cpu", governor=None, absent={"governor": "permission denied"}), "governor", "unknown", "(permission denied)"),
        (host("cpu", turbo="on"), "turbo", "ok", "Turn it off"),
        (host("kernel", clocksource="hpet"), "clocksource", "warn", "hpet"),
        (host("machine", virtualisation="guest"), "virtual_machine", "ok", "--repeat"),
        (target(devices=[{**DEVICE, "scheduler": "bfq"}]), "scheduler", "warn", "echo none"),
        (target(devices=[{**DEVICE, "scheduler": "mq-deadline"}]), "scheduler", "warn", "flash behind"),
        (target(devices=[{**DEVICE, "scheduler": "absent: x"}]), "scheduler", "unknown", "(x)"),
        (target(devices=[{**DEVICE, "scheduler": None, "absent": {"scheduler": "x"}}]), "scheduler", "unknown", "(x)"),
        (target(filesystem={"mount": None, "absent": {"mount": "no mount holds it"}}), "mount_options", "unknown", "(no mount holds it)"),
        (target(filesystem={"mount": "absent: no mount holds it"}), "mount_options", "unknown", "(no mount holds it)"),
        (target(devices=[{**DEVICE, "write_cache": "write back"}]), "write_cache", "ok", "dsync"),
        (target(devices=[{**DEVICE, "name": "sdz"}]), "other_io", "unknown", "sdz"),
        (replace(WELL, access={"/dev/x": "/dev/x cannot be read"}), "permission", "fail", "group"),
        (replace(WELL, direct="/x: opening with O_DIRECT failed"), "direct_io", "fail", "direct=false"),
        (target(allocated_bytes=1 << 30), "allocation", "fail", "2%"),
        (target(size_bytes=8 << 30), "memory", "warn", "16 GiB"),
        (replace(WELL, free_bytes=1 << 30), "free_space", "warn", "1.0 GiB"),
        (
            target(filesystem={"mount": {"type": "btrfs", "point": "/", "options": "rw,compress=zstd:3"}}),
            "mount_options",
            "warn",
            "compresses",
        ),
        (target(filesystem={"mount": {"type": "ext4", "point": "/", "options": "rw,discard"}}), "mount_options", "warn", "trims"),
        (target(medium={"kind": "memory", "name": "tmpfs"}), "medium", "warn", "in memory (tmpfs)"),
        (target(medium={"kind": "elsewhere", "name": "nfs4"}), "medium", "warn", "is on nfs4"),
        (replace(WELL, left_behind=(("/data/left.dat", 64 << 20),)), "leftovers", "warn", "/data/left.dat (64 MiB) was left behind"),
    ],
)
def test_what_would_make_numbers_wrong_is_found(examination: Examination, name: str, status: str, part: str) -> None:
    check = found(examination)[name]
    assert check.status == status
    assert part in f"{check.finding} {check.advice}"
    assert check.status in ("ok", "unknown") or check.advice


def test_stolen_time_and_other_work_are_found() -> None:
    cpu = {"user_percent": 40.0, "system_percent": 5.0, "idle_percent": 45.0, "iowait_percent": 0.0, "steal_percent": 10.0}
    checks = found(replace(WELL, activity={**WELL.activity, "cpu": cpu}))
    assert checks["virtual_machine"].status == "warn" and "10.0 %" in checks["virtual_machine"].finding
    assert checks["other_work"].status == "warn" and "45 %" in checks["other_work"].finding


def test_other_io_on_the_target_is_found() -> None:
    busy = {**WELL.activity, "devices": {"nvme0n1": {"r_per_s": 500.0, "w_per_s": 20.0}}}
    assert "500 reads/s and 20 writes/s" in found(replace(WELL, activity=busy))["other_io"].finding


def test_the_quick_look_says_in_one_sentence_what_others_do_and_nothing_of_a_quiet_host() -> None:
    other = {"kind": "file", "spec": "/dev/shm/x", "medium": {"kind": "memory", "name": "tmpfs"}}
    assert seen([WELL.target, WELL.target], WELL.activity) == ""
    busy = {
        "devices": {"nvme0n1": {"r_per_s": 500.0, "w_per_s": 20.0}},
        "cpu": {"user_percent": 60.0, "own_user_percent": 10.0, "system_percent": 1.0, "idle_percent": 39.0, "steal_percent": 3.0},
    }
    said = seen([WELL.target, WELL.target, other], busy)
    for part in (
        "reads/s and 20 writes/s on nvme0n1",
        "other programs use 51 %",
        "took 3.0 % of the CPU time",
        "/dev/shm/x is in memory (tmpfs)",
    ):
        assert said.count(part) == 1, said


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examinations, "WATCH_S", 0.0)


@pytest.mark.usefixtures("quick")
def test_the_command_examines_this_host(plimsoll: Plimsoll, here: Path) -> None:
    said = plimsoll("doctor")
    assert "io_uring" in said.out and " ok, " in said.out
    checks = plimsoll("doctor", "--json").json
    assert all({"name", "status", "finding", "advice"} == check.keys() for check in checks)
    assert {check["status"] for check in checks} <= {"ok", "warn", "fail", "unknown"}


@pytest.mark.usefixtures("quick")
def test_a_sparse_file_is_no_target(plimsoll: Plimsoll, here: Path) -> None:
    with (here / "holes").open("wb") as file:
        file.truncate(1 << 24)
    said = plimsoll("doctor", "-t", "holes")
    assert said.code == 4
    assert "Only 0% of the file is allocated" in said.out


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("target", ["one", "concat:one,two"])
def test_of_a_directory_the_file_system_is_examined_that_files_would_be_made_on(target: str, here: Path) -> None:
    for name in ("one", "two"):
        (here / name).mkdir()
    examination = examine(native(), target)
    assert {"permission", "direct_io", "free_space", "mount_options"} <= found(examination).keys()
    assert examination.folder_or_file == target and str(here / "one") in examination.access


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("/proc", "/proc is a directory; give a file in it"),
        ("absent/file", "the directory absent does not exist"),
        ("/dev/null", "is a character device"),
        ("array:nope", "array 'nope' is unknown"),
    ],
)
def test_what_is_no_target_is_no_directory_to_the_doctor_either(target: str, reason: str, here: Path) -> None:
    with pytest.raises((InputError, TargetError), match=reason):
        examine(native(), target)
