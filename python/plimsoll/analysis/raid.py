"""RAID levels: what they lose of the capacity, what a write costs, and how many disks a load needs.

Model: a small random write is turned into ``penalty`` disk operations: RAID 0 one; a mirror two; RAID 5 four (read data and parity, write
both); RAID 6 six (two parities). Then

    disk operations/s = IOPS · R + penalty · IOPS · W        disks = that / IOPS of one disk, rounded up
    usable factor     = 1 / (R + penalty · W)                what a RAID level leaves of the disks' IOPS

Sources: teoheras.blogspot.com, February 2006 (formula; penalties of 0, 1, 10 and 5); 6 for RAID 6 from memory, agreeing with the count of
3 reads and 3 writes in HP's Smart Array tables.
Limits: small, random, uncached requests. Sequential writes fill whole stripes and pay only for their parity; a write-back cache joins
writes; a degraded group pays more. Levels 1 and 10 mean two copies.

    RAID["5"].disks_needed(600, read_percent=70, disk_iops=180)      # 7
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
        raise InputError(f"RAID level {name!r} is unknown; there are {', '.join(RAID)}.")
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
        raise InputError(f"{text!r} is not the IOPS of a disk; write a number above 0, for example 180, or one of {', '.join(DISK_IOPS)}.")
    return value


def _share(percent: float) -> float:
    if not 0 <= percent <= 100:
        raise InputError(f"a read share of {percent:g} % is impossible; it lies between 0 and 100.")
    return percent / 100


def _disks(number: int) -> str:
    return "disk" if number == 1 else "disks"
