"""What storage is, whatever its path is called today."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.host import target
from plimsoll.host.target import device_identity, target_identity

Files = dict[str, str]


@pytest.fixture
def sys_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A /sys/class/block of the test's own."""
    from plimsoll.host import device

    folder = tmp_path / "block"
    folder.mkdir()
    monkeypatch.setattr(target, "SYS_BLOCK", str(folder))
    monkeypatch.setattr(device, "SYS_BLOCK", str(folder))
    return folder


def put(folder: Path, files: Files) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content + "\n")


@pytest.mark.parametrize(
    ("name", "files", "known"),
    [
        ("sdb", {"sdb/device/wwid": "naa.5000", "sdb/size": "2048"}, "serial naa.5000"),
        ("vdb", {"vdb/size": "2048"}, "vdb of 1048576 bytes"),
        ("dm-3", {"dm-3/dm/uuid": "LVM-abc", "dm-3/size": "8"}, "dm/uuid LVM-abc"),
        ("md0", {"md0/md/uuid": "1:2:3", "md0/size": "8"}, "md/uuid 1:2:3"),
        ("loop7", {"loop7/loop/backing_file": "/tmp/image", "loop7/size": "8"}, "loop/backing_file /tmp/image"),
    ],
)
def test_a_device_is_known_by_what_stays_with_it(sys_block: Path, name: str, files: Files, known: str) -> None:
    put(sys_block, files)
    assert device_identity(name) == known


def test_partitions_of_one_disk_differ(sys_block: Path) -> None:
    put(sys_block, {"sdb/device/serial": "WD-1", "sdb/sdb1/partition": "1", "sdb/sdb1/size": "8", "sdb/sdb2/partition": "2"})
    for part in ("sdb1", "sdb2"):
        os.symlink(sys_block / "sdb" / part, sys_block / part)
    assert device_identity("sdb1") == "serial WD-1, partition 1"
    assert device_identity("sdb2") == "serial WD-1, partition 2"


def test_a_file_is_its_inode_and_one_to_be_made_its_directory(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    missing = target_identity({"path": path})
    assert missing == target_identity({"path": str(tmp_path / "b")})
    assert missing[0].endswith(f"inode {os.stat(tmp_path).st_ino}")
    Path(path).write_bytes(b"x")
    assert target_identity({"path": path})[0].endswith(f"inode {os.stat(path).st_ino}")
    # It may be removed and made anew, and is the same scratch file then.
    assert target_identity({"path": path, "made_by_plimsoll": True}) == missing


def test_parts_are_told_in_their_order_and_a_model_has_none(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x")
    parts = [{"path": str(tmp_path / name)} for name in ("a", "b")]
    one, two = target_identity({"parts": parts})
    assert [two, one] == target_identity({"parts": parts[::-1]}) and one != two
    assert target_identity({"kind": "null", "parts": []}) == []
