"""What makes a disk a member of a set: by the tool where it needs no kernel for that, byte for byte from the documented layout otherwise.

Sources: Linux ``include/uapi/linux/raid/md_p.h`` and ``drivers/md/md.c`` (where a superblock stands, its checksum), SNIA DDF 2.0, mdadm
``super-intel.c``, Linux ``include/uapi/linux/bcache.h``, OpenZFS ``vdev_impl.h``.
"""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Callable
from random import Random

from support.patience import HANGS_S

_LVM = 'devices { scan=["/dev"] use_devicesfile=0 } activation { udev_sync=0 udev_rules=0 } backup { backup=0 archive=0 }'
_MD_MAGIC = 0xA92B4EFC
_KIB = 1 << 10


def _said(*words: str) -> str:
    surroundings = {**os.environ, "LVM_SUPPRESS_FD_WARNINGS": "1"}
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=HANGS_S, env=surroundings).stdout.strip()


def physical_volume(*, copies: int = 1, group: bool = False) -> Callable[[str, Random], None]:
    """A physical volume of LVM, with so many copies of its metadata, in a group if asked for."""

    def make(path: str, draws: Random) -> None:
        device = _said("losetup", "--find", "--show", path)
        try:
            _said("pvcreate", "--config", _LVM, "--pvmetadatacopies", str(copies), "--yes", "-ff", device)
            if group:
                _said("vgcreate", "--config", _LVM, f"test{draws.randrange(1 << 32):x}", device)
        finally:
            _said("losetup", "--detach", device)

    return make


def linux_raid(version: str) -> Callable[[str, Random], None]:
    """A member of a Linux RAID 1, with its superblock at the end (0.90, 1.0), at the start (1.1) or 4 KiB behind that (1.2)."""

    def make(path: str, draws: Random) -> None:
        size = os.path.getsize(path)
        places = {
            "0.90": size // (64 * _KIB) * 64 * _KIB - 64 * _KIB,
            "1.0": (size // 512 - 16) // 8 * 8 * 512,
            "1.1": 0,
            "1.2": 4 * _KIB,
        }
        block = _raid_0_90(size, draws) if version == "0.90" else _raid_1(size, places[version], draws)
        _write(path, places[version], block)

    return make


def _raid_0_90(size: int, draws: Random) -> bytes:
    words = [0] * 1024
    words[:5] = [_MD_MAGIC, 0, 90, 0, 1024]
    words[5], words[13:16] = draws.getrandbits(32), [draws.getrandbits(32) for _ in range(3)]
    words[6], words[7], words[8], words[9], words[10] = 1_700_000_000, 1, size // _KIB - 64, 1, 2
    words[32], words[33], words[34], words[35] = 1_700_000_000, 1, 1, 1
    # This disk: number, device numbers, place in the set, active and in sync.
    disk = [0, 7, 0, 0, 6]
    words[128:133], words[992:997] = disk, disk
    total = sum(words)
    words[38] = (total + (total >> 32)) & 0xFFFFFFFF
    return struct.pack("<1024I", *words)


def _raid_1(size: int, place: int, draws: Random) -> bytes:
    data = 0 if place > size // 2 else 2048
    room = (place if place > size // 2 else size) // 512 - data
    block = bytearray(
        struct.pack("<4I", _MD_MAGIC, 1, 0, 0)
        + draws.randbytes(16)
        + b"host:0".ljust(32, b"\0")
        + struct.pack("<QIIQIII", 1_700_000_000, 1, 0, room, 0, 2, 0)
        + bytes(128 - 100)
        + struct.pack("<4QII", data, room, place // 512, 0, 0, 0)
        + draws.randbytes(16)
        + bytes(8)
        + struct.pack("<QQQII", 1_700_000_000, 1, 2**64 - 1, 0, 2)
        + bytes(256 - 224)
        + struct.pack("<2H", 0, 0xFFFE)
    )
    words = struct.unpack(f"<{len(block) // 4}I", block)
    total = sum(words)
    block[216:220] = struct.pack("<I", ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF)
    return bytes(block)


def ddf(path: str, draws: Random) -> None:
    """The anchor header in the last sector, which every controller with DDF looks for."""
    anchor = struct.pack(">I", 0xDE11DE11) + draws.randbytes(4) + b"Plimsoll-test-0123456789" + b"02.00.00"
    _write(path, os.path.getsize(path) - 512, anchor.ljust(512, b"\xff"))


def intel_raid(path: str, draws: Random) -> None:
    """The anchor of Intel's firmware RAID in the last sector but one."""
    anchor = b"Intel Raid ISM Cfg Sig. 1.3.00\0\0" + draws.randbytes(64)
    _write(path, os.path.getsize(path) - 1024, anchor.ljust(512, b"\0"))


def bcache(path: str, draws: Random) -> None:
    """A backing device of bcache: superblock in sector 8."""
    magic = bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")
    _write(path, 4 * _KIB, struct.pack("<QQQ", 0, 8, 1) + magic + draws.randbytes(16))


def zfs(path: str, draws: Random) -> None:
    """A member of a pool: uberblocks in the second half of each of four labels of 256 KiB, two at either end."""
    label = 256 * _KIB
    end = os.path.getsize(path) // label * label
    slot = draws.randrange(128) * _KIB
    for start in (0, label, end - 2 * label, end - label):
        _write(path, start + 128 * _KIB + slot, struct.pack("<QQQ", 0x00BAB10C, 5000, 4))


def _write(path: str, place: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(data)
