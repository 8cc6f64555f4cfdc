"""The doctor on storage that this kernel puts together: a btrfs that lost a device, and one that is nearly full.

Loop devices need root; elsewhere these tests say that they were skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from support.patience import HANGS_S
from system.test_layouts import COMMAND, PATH, pytestmark
from system.test_safety import attached

__all__ = ["pytestmark"]

ENVIRONMENT = {**os.environ, "PATH": PATH}
MIB = 1 << 20


def _run(*words: str) -> None:
    subprocess.run(words, check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)


def checks(target: Path, name: str) -> list[tuple[str, str]]:
    said = subprocess.run(
        [COMMAND, "doctor", "-t", str(target), "--json"], capture_output=True, text=True, check=False, timeout=HANGS_S, env=ENVIRONMENT
    )
    return [(check["status"], check["finding"]) for check in json.loads(said.stdout) if check["name"] == name]


@contextmanager
def mounted(device: str, at: Path, *options: str) -> Iterator[Path]:
    at.mkdir(exist_ok=True)
    _run("mount", *options, device, str(at))
    try:
        yield at
    finally:
        _run("umount", str(at))


@pytest.fixture
def images(tmp_path: Path) -> list[Path]:
    made = [tmp_path / f"disk{number}" for number in range(2)]
    for image in made:
        with image.open("wb") as file:
            file.truncate(256 * MIB)
    return made


def test_a_btrfs_that_lost_a_device_is_told(tmp_path: Path, images: list[Path]) -> None:
    with ExitStack() as both:
        devices = [both.enter_context(attached(image)) for image in images]
        _run("mkfs.btrfs", "-q", "-f", "-d", "raid1", "-m", "raid1", *devices)
        _run("btrfs", "device", "scan", *devices)
        with mounted(devices[0], tmp_path / "whole") as point:
            assert checks(point / "file", "raid") == [("ok", f"{point} (btrfs) over 2 devices is whole.")]
            assert checks(point, "write_barriers")[0][0] == "ok"
        _run("btrfs", "device", "scan", "--forget", *devices)
    with attached(images[0]) as device, mounted(device, tmp_path / "half", "-o", "degraded") as point:
        ((status, finding),) = checks(point / "file", "raid")
        assert (status, finding.split(":")[0]) == ("warn", f"{point} (btrfs) over 2 devices lacks 1 device"), finding


def test_barriers_that_are_off_and_a_file_system_that_is_nearly_full_are_told(tmp_path: Path, images: list[Path]) -> None:
    with attached(images[0]) as device:
        _run("mkfs.ext4", "-q", "-F", device)
        with mounted(device, tmp_path / "full", "-o", "nobarrier") as point:
            assert [status for status, _ in checks(point, "write_barriers")] == ["warn"]
            assert checks(point, "nearly_full") == []
            free = os.statvfs(point)
            with (point / "much").open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, int(free.f_bavail * free.f_frsize * 0.97))
            ((status, finding),) = checks(point, "nearly_full")
            assert (status, "full: new files lie in pieces" in finding) == ("warn", True)
