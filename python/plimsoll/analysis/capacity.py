"""Usable capacity: disks in RAID groups with spares, in one array or several, mirrored across arrays or not.

Model: usable = arrays · groups · (data disks of a group) · disk size, halved when arrays mirror each other. Spares hold nothing. Report 003
(four arrays of 48 disks and a global spare) counts its ``disks`` without the spares, and so does this.
Units: disk sizes are those of data sheets, 10⁹ bytes to the GB; results are bytes, shown as TB (10¹²) and TiB (2⁴⁰). Nothing is rounded.
Limits: metadata of the controller, space kept back and file systems come off this, some tenths of a percent to several percent.

    storage = Storage(Layout(RAID["5"], disks=48, groups=4, global_spares=1), disk_bytes=146e9, arrays=4, mirrored=True)
    storage.usable_bytes / 1e12        # 12.848
    storage.volume_bytes(16) / 1e9     # 803
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.analysis.raid import RaidLevel
from plimsoll.errors import InputError


@dataclass(frozen=True)
class Layout:
    """The disks of one array. ``disks`` are those in groups; spares come on top, ``dedicated_spares`` in every group."""

    level: RaidLevel
    disks: int
    groups: int = 1
    dedicated_spares: int = 0
    global_spares: int = 0

    def __post_init__(self) -> None:
        for what, number in (("dedicated spares", self.dedicated_spares), ("global spares", self.global_spares)):
            if number < 0:
                raise InputError(f"{number} {what} are impossible; 0 means none.")
        if self.level.groups_min > self.groups:
            raise InputError(
                f"RAID {self.level.name} stripes over groups and needs at least {self.level.groups_min}, not {self.groups}; "
                f"a single group is RAID {self.level.name[0]}."
            )
        if self.groups < 1 or self.disks % self.groups:
            raise InputError(f"{self.disks} disks do not make {self.groups} equal groups; choose a number of groups that divides them.")
        self.level.check_group(self.group_disks)
        if self.level.failures_survived == 0 and self.spares:
            raise InputError("a spare is of no use to RAID 0, which cannot rebuild; leave it out or choose another level.")

    @property
    def group_disks(self) -> int:
        """Disks of one group."""
        return self.disks // self.groups

    @property
    def data_disks(self) -> int:
        """Disks' worth of data."""
        return self.groups * self.level.data_disks(self.group_disks)

    @property
    def spares(self) -> int:
        """All spares, dedicated and global."""
        return self.groups * self.dedicated_spares + self.global_spares

    def __str__(self) -> str:
        shape = f"{self.groups} × {self.group_disks}" if self.groups > 1 else f"{self.disks}"
        spares = f" and {self.spares} {'spare' if self.spares == 1 else 'spares'}" if self.spares else ""
        return f"RAID {self.level.name} of {shape} disks{spares}"


@dataclass(frozen=True)
class Storage:
    """Equal arrays with disks of ``disk_bytes``; ``mirrored`` pairs the arrays, each holding a copy of its twin."""

    layout: Layout
    disk_bytes: float
    arrays: int = 1
    mirrored: bool = False

    def __post_init__(self) -> None:
        if not self.disk_bytes > 0:
            raise InputError(f"a disk of {self.disk_bytes:g} bytes is impossible; give its size, for example 600GB.")
        if self.arrays < 1:
            raise InputError(f"{self.arrays} arrays are impossible; there is at least 1.")
        if self.mirrored and self.arrays % 2:
            raise InputError(f"arrays mirror each other in pairs, so {self.arrays} cannot; take an even number.")

    @property
    def copies(self) -> int:
        """Copies across arrays."""
        return 2 if self.mirrored else 1

    @property
    def disks(self) -> int:
        """All disks bought: data, parity, mirrors, spares."""
        return self.arrays * (self.layout.disks + self.layout.spares)

    @property
    def raw_bytes(self) -> float:
        """What is bought."""
        return self.disks * self.disk_bytes

    @property
    def usable_bytes(self) -> float:
        """What can be filled."""
        return self.arrays * self.layout.data_disks * self.disk_bytes / self.copies

    @property
    def efficiency(self) -> float:
        """Usable over raw, spares included in raw."""
        return self.usable_bytes / self.raw_bytes

    @property
    def failures_survived(self) -> int:
        """Disks that may fail in the worst case without loss of data. Losing a mirrored group takes the loss of its twin, too."""
        return self.copies * (self.layout.level.failures_survived + 1) - 1

    @property
    def failures_survived_at_best(self) -> int:
        """Disks that may fail without loss of data where each finds parity or a copy left: all that hold no data of their own."""
        return self.arrays * self.layout.disks - self.arrays * self.layout.data_disks // self.copies

    def volume_bytes(self, volumes: int) -> float:
        """The size of each of ``volumes`` equal volumes over everything usable."""
        if volumes < 1:
            raise InputError(f"{volumes} volumes are impossible; there is at least 1.")
        return self.usable_bytes / volumes

    def iops(self, *, read_percent: float, disk_iops: float) -> float:
        """The host's IOPS that all disks in groups carry. Mirrored arrays share the reads, and each of a pair carries every write."""
        return self.arrays * self.layout.disks * disk_iops * self.layout.level.usable_factor(read_percent, self.copies)
