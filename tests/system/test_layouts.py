"""Layouts on loop devices of the test's own: made, measured, killed at every command, and taken away.

Loop devices need root; elsewhere these tests say that they were skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from plimsoll.engine.paths import signatures
from support.patience import HANGS_S
from system.test_safety import attached

COMMAND = str(Path(sys.executable).with_name("plimsoll"))
SIZE = 512 << 20
#: What layouts call here.
PROGRAMS = ("wipefs", "mkfs.xfs", "mkfs.btrfs", "btrfs", "mkdir", "mount")
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="loop devices and mounts need root"),
    pytest.mark.skipif(
        any(shutil.which(program, path=PATH) is None for program in PROGRAMS), reason="xfsprogs, btrfs-progs or util-linux is not installed"
    ),
]


class Site:
    """Four loop devices with something on them that is not to come back, and a place for notes and mounts."""

    def __init__(self, at: Path, devices: list[str]) -> None:
        self.at, self.devices = at, devices
        self.point = at / "mnt"
        self.environment = {**os.environ, "XDG_STATE_HOME": str(at / "state")}

    def __call__(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, "layout", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=HANGS_S,
            cwd=self.at,
            env={**self.environment, **environment},
        )

    def file(self, filesystem: str) -> str:
        """A layout's file that mounts below the test's own directory."""
        path = self.at / "mine.toml"
        path.write_text(f"[filesystem]\n{filesystem}\n[mount]\nat = {json.dumps(str(self.point))}\n[settings]\nread_ahead = '1MiB'\n")
        return str(path)

    def applied(self, file: str, count: int, **environment: str) -> subprocess.CompletedProcess[str]:
        devices = self.devices[:count]
        return self("apply", file, "--on", ",".join(devices), f"--destroy-data={','.join(devices)}", **environment)

    def nothing_is_left(self) -> None:
        assert not (self.at / "state" / "plimsoll" / "layouts").exists()
        assert str(self.point) not in Path("/proc/self/mounts").read_text()
        assert not self.point.exists()
        assert [signatures(device) for device in self.devices] == [[]] * len(self.devices)
        for number in range(len(self.devices)):
            groups = [_bytes_at(self.at / f"disk{number}", at, 4) for at in range(0, SIZE, SIZE // 4)]
            assert b"XFSB" not in groups, "a copy of the superblock at the beginning of an allocation group"
        assert {self.read_ahead(device) for device in self.devices} == {self.before}

    def states(self) -> list[tuple[int, int]]:
        """Of each device what changes with the first byte that is written: when its file was, and how much of it there is."""
        os.sync()
        found = [(self.at / f"disk{number}").stat() for number in range(len(self.devices))]
        return [(one.st_mtime_ns, one.st_blocks) for one in found]

    @property
    def before(self) -> str:
        return "128"

    def read_ahead(self, device: str) -> str:
        return Path(f"/sys/class/block/{Path(device).name}/queue/read_ahead_kb").read_text().strip()


def _bytes_at(image: Path, offset: int, length: int) -> bytes:
    with image.open("rb") as file:
        file.seek(offset)
        return file.read(length)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        devices = []
        for number in range(4):
            image = tmp_path / f"disk{number}"
            with image.open("wb") as file:
                file.truncate(SIZE)
            devices.append(stack.enter_context(attached(image)))
            Path(f"/sys/class/block/{Path(devices[-1]).name}/queue/read_ahead_kb").write_text("128")
        made = Site(tmp_path, devices)
        # What a test that failed has left: nothing of it may hold the devices.
        stack.callback(lambda: made("undo", "mine", "--yes"))
        yield made


@pytest.mark.parametrize(
    ("filesystem", "count"),
    [
        ("type = 'xfs'", 1),
        ("type = 'ext4'", 2),
        ("type = 'btrfs'\ndata = 'raid0'", 2),
        ("type = 'btrfs'\ndata = 'raid1'", 2),
        ("type = 'btrfs'\ndata = 'raid10'", 4),
    ],
)
def test_a_file_system_is_made_measured_and_taken_away(site: Site, filesystem: str, count: int) -> None:
    done = site.applied(site.file(filesystem), count)
    assert done.returncode == 0, done.stderr
    assert site.read_ahead(site.devices[0]) == "1024"
    place = done.stdout.split("-t ")[1].split("\n")[0]
    run = [COMMAND, "run", "random-read-4k", "-t", place, "--size", "16MiB", "-d", "200ms", "-w", "0", "-q", "--json"]
    measured = subprocess.run(run, capture_output=True, text=True, check=False, timeout=HANGS_S, cwd=site.at, env=site.environment)
    assert measured.returncode == 0, measured.stderr
    layout = json.loads(measured.stdout)["results"][0]["host"]["target"]["layout"]
    assert (layout["name"], len(layout["members"])) == ("mine", count)
    shown = json.loads(site("list", "--json").stdout)["made"]
    assert [(one["name"], one["complete"]) for one in shown] == [("mine", True)]
    gone = site("undo", "mine", "--yes")
    assert gone.returncode == 0, gone.stderr
    site.nothing_is_left()


def test_what_somebody_made_on_a_member_since_is_left_as_it_is(site: Site) -> None:
    assert site.applied(site.file("type = 'btrfs'\ndata = 'raid1'"), 2).returncode == 0
    subprocess.run(["umount", str(site.point)], check=True)
    subprocess.run(["mkfs.xfs", "-q", "-f", site.devices[1]], check=True, env={**os.environ, "PATH": PATH})
    before = hashlib.sha256((site.at / "disk1").read_bytes()).hexdigest()
    refused = site("undo", "mine", "--yes")
    assert refused.returncode == 4
    assert f"{site.devices[1]} holds xfs by now" in refused.stderr
    assert hashlib.sha256((site.at / "disk1").read_bytes()).hexdigest() == before


def test_a_member_that_is_another_device_by_now_is_not_touched(site: Site) -> None:
    assert site.applied(site.file("type = 'xfs'"), 1).returncode == 0
    subprocess.run(["umount", str(site.point)], check=True)
    subprocess.run(["losetup", "--detach", site.devices[0]], check=True)
    other = site.at / "other"
    with other.open("wb") as file:
        file.truncate(SIZE)
    subprocess.run(["losetup", site.devices[0], str(other)], check=True)
    refused = site("undo", "mine", "--yes")
    assert refused.returncode == 4
    assert "is another device by now" in refused.stderr


def refusals() -> Mapping[str, tuple[tuple[str, ...], int, str]]:
    return {
        "nothing typed": ((), 3, "if you mean it, repeat with `--destroy-data="),
        "another serial": (("--destroy-data=WRONG",), 3, "if you mean it, repeat with `--destroy-data="),
    }


@pytest.mark.parametrize("what", refusals())
def test_devices_with_data_need_the_same_words_as_everywhere(site: Site, what: str) -> None:
    words, code, sentence = refusals()[what]
    subprocess.run(["mkfs.ext4", "-q", "-F", site.devices[0]], check=True, env={**os.environ, "PATH": PATH})
    before = (site.at / "disk0").read_bytes()
    refused = site("apply", "xfs", "--on", site.devices[0], *words)
    assert (refused.returncode, sentence in refused.stderr) == (code, True), refused.stderr
    assert (site.at / "disk0").read_bytes() == before
    assert not (site.at / "state").exists()


def test_nobody_who_cannot_be_asked_loses_a_layout(site: Site) -> None:
    assert site.applied(site.file("type = 'xfs'"), 1).returncode == 0
    refused = site("undo", "mine")
    assert (refused.returncode, "add --yes" in refused.stderr) == (2, True)
    assert site("undo", "mine", "--yes").returncode == 0


def test_a_missing_program_is_named_with_its_package_before_anything_is_done(site: Site) -> None:
    if shutil.which("zpool", path=PATH) is not None:
        pytest.skip("ZFS is installed here")
    path = site.at / "pool.toml"
    path.write_text("[filesystem]\ntype = 'zfs'\n")
    refused = site("apply", str(path), "--on", site.devices[0], f"--destroy-data={site.devices[0]}")
    assert refused.returncode == 2
    assert "zpool, zfs are not installed, and the layout needs them; apt-get install zfsutils-linux" in refused.stderr
    assert not (site.at / "state").exists()
