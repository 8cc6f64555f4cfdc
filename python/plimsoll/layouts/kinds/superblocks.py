"""Where a file system keeps copies of its superblock: they are erased with it, or the device would be taken for in use for ever.

Model: xfs has one at the beginning of each allocation group, ext4 in groups 1 and the powers of 3, 5 and 7, btrfs at three fixed places.
The geometry stands in the first superblock, so the copies go before it. Sources: Linux, Documentation/filesystems/ext4/super.rst and
fs/xfs/libxfs/xfs_format.h; btrfs(5).

    copies("xfs", host, "/dev/loop3")        # [536870912, 1073741824, 1610612736]
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from plimsoll.layouts.kinds.kind import Host

_XFS_MAGIC, _EXT_MAGIC, _BTRFS_MAGIC = b"XFSB", b"\x53\xef", b"_BHRfS_M"
_EXT_AT, _MAGIC_IN_EXT, _MAGIC_IN_BTRFS = 1024, 0x38, 0x40
_BTRFS_AT = (64 << 10, 64 << 20, 256 << 30)
_BYTES = 1024


def copies(type_: str, host: Host, device: str) -> list[int]:
    """The offsets of the magic numbers of copies that are there, in bytes."""
    return list({"xfs": _xfs, "ext4": _ext, "btrfs": _btrfs}[type_](host, device))


def _xfs(host: Host, device: str) -> Iterator[int]:
    first = host.read(device, 0, _BYTES)
    if first[:4] != _XFS_MAGIC:
        return
    block, group_blocks, groups = struct.unpack_from(">4xI76xII", first)
    for group in range(1, groups):
        at = group * group_blocks * block
        if host.read(device, at, 4) == _XFS_MAGIC:
            yield at


def _ext(host: Host, device: str) -> Iterator[int]:
    first = host.read(device, _EXT_AT, _BYTES)
    if first[_MAGIC_IN_EXT : _MAGIC_IN_EXT + 2] != _EXT_MAGIC:
        return
    blocks, begin, log_block, group_blocks = struct.unpack_from("<4xI12xII4xI", first)
    block, groups = 1024 << log_block, -(-(blocks - begin) // group_blocks)
    for group in sorted({1, *(base**power for base in (3, 5, 7) for power in range(1, 20))}):
        if group >= groups:
            return
        at = (begin + group * group_blocks) * block + _MAGIC_IN_EXT
        if host.read(device, at, 2) == _EXT_MAGIC:
            yield at


def _btrfs(host: Host, device: str) -> Iterator[int]:
    for at in _BTRFS_AT[1:]:
        if host.read(device, at + _MAGIC_IN_BTRFS, 8) == _BTRFS_MAGIC:
            yield at + _MAGIC_IN_BTRFS
