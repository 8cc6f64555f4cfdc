"""The kinds of layers, a file each, and the tables of a layout's file that are no layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plimsoll.layouts.kinds import encryption, filesystem, lvm, mount, partitions, raid, raw, settings
from plimsoll.layouts.kinds.kind import Host, Kind
from plimsoll.layouts.step import Facts

#: What stands in ``[[layer]]``, from the devices up.
LAYERS: Mapping[str, Kind] = {kind.name: kind for kind in (raw.KIND, partitions.KIND, raid.KIND, lvm.KIND, encryption.KIND)}
#: What a file has at most once, each a table of its name.
TABLES: Mapping[str, Kind] = {kind.name: kind for kind in (filesystem.KIND, mount.KIND, settings.KIND)}
#: How each thing that a step makes is taken away.
UNMAKE: Mapping[str, Callable[[Host, Facts], None]] = {
    # What was cleared stays so.
    "cleared device": lambda _host, _facts: None,
    **{made: unmake for kind in (*LAYERS.values(), *TABLES.values()) for made, unmake in kind.unmake.items()},
}
#: The Debian package of each program that steps call.
PACKAGES: Mapping[str, str] = {
    "sfdisk": "fdisk",
    "setpriv": "util-linux",
    "wipefs": "util-linux",
    "blkid": "util-linux",
    "blockdev": "util-linux",
    "mount": "mount",
    "umount": "mount",
    "mkdir": "coreutils",
    "mdadm": "mdadm",
    **dict.fromkeys(("pvcreate", "vgcreate", "lvcreate", "lvs", "vgs", "pvs", "lvremove", "vgremove", "pvremove"), "lvm2"),
    "cryptsetup": "cryptsetup-bin",
    "dmsetup": "dmsetup",
    "mkfs.xfs": "xfsprogs",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "btrfs": "btrfs-progs",
    "zpool": "zfsutils-linux (of contrib)",
    "zfs": "zfsutils-linux (of contrib)",
}
