"""RAID levels and the usable capacity of disks in them.

RAID levels: what they lose of the capacity, what a write costs, and how many disks a load needs.

Model: a small random write is turned into ``penalty`` disk operations: RAID 0 one; a mirror two; RAID 5 four (read data and parity, write
both); RAID 6 six (two parities). Then

    disk operations/s = IOPS · R + penalty · IOPS · W        disks = that / IOPS of one disk, rounded up
    usable factor     = 1 / (R + penalty · W)                what a RAID level leaves of the disks' IOPS

Sources: teoheras.blogspot.com, February 2006 (formula; penalties of 0, 1, 10 and 5); 6 for RAID 6 from memory, agreeing with the count of
3 reads and 3 writes in HP's Smart Array tables.
Limits: small, random, uncached requests. Sequential writes fill whole stripes and pay only for their parity; a write-back cache joins
writes; a degraded group pays more. Levels 1 and 10 mean two copies.

    RAID["5"].disks_needed(600, read_percent=70, disk_iops=180)      # 7

Usable capacity: disks in RAID groups with spares, in one array or several, mirrored across arrays or not.

Model: usable = arrays · groups · (data disks of a group) · disk size, halved when arrays mirror each other. Spares hold nothing. Report 003
(four arrays of 48 disks and a global spare) counts its ``disks`` without the spares, and so does this.
Units: disk sizes are those of data sheets, 10⁹ bytes to the GB; results are bytes, shown as TB (10¹²) and TiB (2⁴⁰). Nothing is rounded.
Limits: metadata of the controller, space kept back and file systems come off this, some tenths of a percent to several percent.

    storage = Storage(Layout(RAID["5"], disks=48, groups=4, global_spares=1), disk_bytes=146e9, arrays=4, mirrored=True)
    storage.usable_bytes / 1e12        # 12.848
    storage.volume_bytes(16) / 1e9     # 803
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.errors import InputError


@dataclass(frozen=True)
class RaidLevel:
    """One level. A group loses ``parity`` disks, or half of them when it is ``mirrored``."""

    name: str
    penalty: int
    parity: int
    mirrored: bool
    disks_min: int
    disks_max: int | None = None
    groups_min: int = 1
    groups_max: int | None = None
    note: str | None = None

    def data_disks(self, disks: int) -> int:
        """Disks' worth of data in one group of ``disks``."""
        return disks // 2 if self.mirrored else disks - self.parity

    @property
    def failures_survived(self) -> int:
        """Disks that may fail in the worst case, all of one group, before data is lost."""
        return 1 if self.mirrored else self.parity

    def disk_operations_per_s(self, iops: float, read_percent: float, copies: int = 1) -> float:
        """What the disks have to do for ``iops`` of the host; with ``copies`` across arrays every write is done in each."""
        reads = _share(read_percent)
        return iops * (reads + copies * self.penalty * (1 - reads))

    def usable_factor(self, read_percent: float, copies: int = 1) -> float:
        """The part of the disks' IOPS that the host gets: 1 / (R + penalty · W)."""
        return 1 / self.disk_operations_per_s(1, read_percent, copies)

    def disks_needed(self, iops: float, *, read_percent: float, disk_iops: float, copies: int = 1) -> int:
        """The smallest number of disks that carries ``iops``, made up to what the level can be built of."""
        if not disk_iops > 0:
            raise InputError(f"the IOPS of one disk are {disk_iops:g}; they must be above 0, for example 180.")
        exact = self.disk_operations_per_s(iops, read_percent, copies) / disk_iops
        # A quotient that is whole but for its last bits must not cost another disk.
        disks = max(math.ceil(round(exact, 9)), self.disks_min * self.groups_min)
        return disks + disks % 2 if self.mirrored else disks

    def check_group(self, disks: int) -> None:
        """Refuse a group that the level cannot be built of."""
        if disks < self.disks_min:
            raise InputError(f"RAID {self.name} needs at least {self.disks_min} {_disks(self.disks_min)} per group, not {disks}.")
        if self.disks_max is not None and disks > self.disks_max:
            raise InputError(
                f"a group of RAID {self.name} has {self.disks_max} disks, not {disks}; "
                f"make more groups of it, or stripe over mirrors, which is RAID 10."
            )
        if self.mirrored and disks % 2:
            raise InputError(f"RAID {self.name} mirrors disks in pairs, so a group of {disks} is impossible; take an even number.")


#: The levels by name. 50 and 60 are stripes over at least two groups of 5 and 6.
RAID: dict[str, RaidLevel] = {
    level.name: level
    for level in (
        RaidLevel("0", penalty=1, parity=0, mirrored=False, disks_min=1),
        RaidLevel("1", penalty=2, parity=0, mirrored=True, disks_min=2, disks_max=2),
        RaidLevel("10", penalty=2, parity=0, mirrored=True, disks_min=4),
        RaidLevel("5", penalty=4, parity=1, mirrored=False, disks_min=3),
        RaidLevel("50", penalty=4, parity=1, mirrored=False, disks_min=3, groups_min=2),
        RaidLevel("6", penalty=6, parity=2, mirrored=False, disks_min=4, note="the write penalty of RAID 6 is from memory"),
        RaidLevel("60", penalty=6, parity=2, mirrored=False, disks_min=4, groups_min=2, note="the write penalty of RAID 60 is from memory"),
    )
}


def raid_level(name: str) -> RaidLevel:
    """The level called ``name``: ``5``, ``RAID5``, ``raid-10``, ``1+0``."""
    plain = name.strip().lower().removeprefix("raid").strip(" -_").replace("+", "")
    known = {**RAID, "01": RAID["10"], "05": RAID["50"], "06": RAID["60"]}
    if plain not in known:
        raise InputError(f"RAID level {quoted(name)} is unknown; there are {', '.join(RAID)}.")
    return known[plain]


#: Random IOPS of one disk at a bearable response, planning figures: slipstick.com/exs/ex07/080918ms_iops.asp; ``15k-fc`` is the 180 of
#: teoheras.blogspot.com with the 80 % of it that the same source plans with.
DISK_IOPS = {"7.2k-sata": 35.0, "10k-sata": 50.0, "10k-scsi": 85.0, "15k": 110.0, "15k-fc": 180 * 0.8}


def named_disk_iops(text: str) -> float:
    """The IOPS of one disk, as a number or by the name of its kind."""
    kind = text.strip().lower()
    if kind in DISK_IOPS:
        return DISK_IOPS[kind]
    try:
        value = float(kind)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise InputError(
            f"{quoted(text)} is not the IOPS of a disk; write a number above 0, for example 180, or one of {', '.join(DISK_IOPS)}."
        )
    return value


def _share(percent: float) -> float:
    if not 0 <= percent <= 100:
        raise InputError(f"a read share of {percent:g} % is impossible; it lies between 0 and 100.")
    return percent / 100


def _disks(number: int) -> str:
    return "disk" if number == 1 else "disks"


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
