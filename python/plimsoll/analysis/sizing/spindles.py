"""Disks for a demand, and their price.

Prices: per performance and capacity, and the arithmetic of published composite metrics.

Model: price per IOPS = price / IOPS at the mark; price per GB = price / usable bytes · 10⁹. The published TPC-H results of report 000 are
composed of a power and a throughput figure, composite = √(power · throughput), and their price/performance is price / composite,
stated to the cent.
Sources: array-model claims 1–3; TPC-H specification 5.4 (from memory). The report rounds 24.2336 up to 24.24 and 30.1814 down to 30.18, so
it follows no single rule; `to_the_cent` does either, and asks which.
Limits: these identities check published figures. A figure measured here is not a TPC result and is never called one.

    per_iops(42_000, 120_000)                                        # 0.35
    to_the_cent(288_751 / composite(15_504.0, 9_157.2), "up")       # Decimal("24.24")

Spindles: what disks in a RAID level offer to a demand, that is how many it needs, what the given ones carry, how much can be stored, at
what price.

Model: arithmetic on data-sheet figures (`plimsoll.analysis.sizing.raid`, `plimsoll.analysis.sizing.raid`), nothing measured. Where no
number of disks is given, the needed ones, made up to equal groups, are taken.
Limits: those of the write penalty: small random requests, no cache. It says what disks would have to do, not how fast they answer.

    answer = spindles(Disks(raid_level("5"), disk_iops=180.0, disk_bytes=600e9), demand)
    answer.disks_needed, answer.storage.usable_bytes
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from typing import Literal

from plimsoll.analysis.sizing.demand import Demand
from plimsoll.analysis.sizing.raid import Layout, RaidLevel, Storage
from plimsoll.analysis.sizing.view import SpindlesView
from plimsoll.errors import InputError

Rounding = Literal["half up", "up"]
_CENT = Decimal("0.01")


def per_iops(price: float, iops: float) -> float:
    """Price of one I/O per second."""
    return _positive("price", price) / _positive("rate", iops)


def per_gigabyte(price: float, usable_bytes: float) -> float:
    """Price of 10⁹ usable bytes."""
    return _positive("price", price) / (_positive("capacity", usable_bytes) / 1e9)


def composite(power: float, throughput: float) -> float:
    """Geometric mean of the single-stream and the multi-stream figure."""
    return math.sqrt(_positive("power", power) * _positive("throughput", throughput))


def to_the_cent(value: float, rounding: Rounding = "half up") -> Decimal:
    """``value`` with two decimals."""
    mode = ROUND_CEILING if rounding == "up" else ROUND_HALF_UP
    # By way of text: 30.18 must not become 30.19 because its nearest double lies above it.
    return Decimal(repr(value)).quantize(_CENT, rounding=mode)


def _positive(what: str, value: float) -> float:
    if not (value > 0 and math.isfinite(value)):
        raise InputError(f"a {what} of {value:g} is impossible here; it must be above 0.")
    return value


@dataclass(frozen=True)
class Disks:
    """What was said of the disks. ``disks``, ``groups`` and spares are those of one array."""

    level: RaidLevel
    disk_iops: float | None = None
    disk_bytes: float | None = None
    disks: int | None = None
    groups: int | None = None
    dedicated_spares: int = 0
    global_spares: int = 0
    arrays: int = 1
    mirrored: bool = False
    volumes: int | None = None
    price: float | None = None


@dataclass(frozen=True)
class Spindles:
    """The answer; what cannot be said from what was given is None."""

    disks: Disks
    layout: Layout
    storage: Storage | None
    disks_needed: int | None
    iops: float | None
    headroom: float | None
    read_percent: float | None

    @property
    def disks_in_groups(self) -> int:
        """All disks that do the work: those of every array, without spares."""
        return self.disks.arrays * self.layout.disks

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the figures."""
        note = self.disks.level.note
        return (note,) if note is not None and self.iops is not None else ()

    @property
    def usable_factor(self) -> float | None:
        """1 / (R + penalty · W) at the demanded mix."""
        if self.read_percent is None:
            return None
        return self.disks.level.usable_factor(self.read_percent, 2 if self.disks.mirrored else 1)

    @property
    def price_per_gigabyte(self) -> float | None:
        """Price of 10⁹ usable bytes."""
        price = self.disks.price
        return per_gigabyte(price, self.storage.usable_bytes) if price is not None and self.storage is not None else None

    @property
    def price_per_iops(self) -> float | None:
        """Price of one I/O per second that the disks carry at the demanded mix."""
        return per_iops(self.disks.price, self.iops) if self.disks.price is not None and self.iops is not None else None

    def to_json(self) -> SpindlesView:
        """For programs."""
        storage, volumes = self.storage, self.disks.volumes
        return {
            "level": self.disks.level.name,
            "penalty": self.disks.level.penalty,
            "usable_factor": self.usable_factor,
            "layout": str(self.layout),
            "arrays": self.disks.arrays,
            "mirrored": self.disks.mirrored,
            "disks_in_groups": self.disks_in_groups,
            "disk_iops": self.disks.disk_iops,
            "disks_needed": self.disks_needed,
            "iops": self.iops,
            "headroom": self.headroom,
            "disk_bytes": self.disks.disk_bytes,
            "raw_bytes": None if storage is None else storage.raw_bytes,
            "usable_bytes": None if storage is None else storage.usable_bytes,
            "efficiency": None if storage is None else storage.efficiency,
            "failures_survived": None if storage is None else storage.failures_survived,
            "volume_bytes": None if storage is None or volumes is None else storage.volume_bytes(volumes),
            "price_per_gigabyte": self.price_per_gigabyte,
            "price_per_iops": self.price_per_iops,
            "notes": list(self.notes),
        }


def spindles(disks: Disks, demand: Demand | None) -> Spindles:
    """What ``disks`` offer to ``demand``, or by themselves when there is none."""
    needed = None
    if demand is not None and disks.disk_iops is not None:
        copies = 2 if disks.mirrored else 1
        needed = disks.level.disks_needed(demand.grown_iops, read_percent=demand.read_percent, disk_iops=disks.disk_iops, copies=copies)
    layout = _layout(disks, needed)
    # Without a size there is no capacity, but the number of arrays is still to be checked and the load to be computed.
    storage = Storage(layout, disks.disk_bytes if disks.disk_bytes is not None else 1.0, disks.arrays, disks.mirrored)
    iops = None
    if demand is not None and disks.disk_iops is not None:
        iops = storage.iops(read_percent=demand.read_percent, disk_iops=disks.disk_iops)
    return Spindles(
        disks=disks,
        layout=layout,
        storage=storage if disks.disk_bytes is not None else None,
        disks_needed=needed,
        iops=iops,
        headroom=iops / demand.grown_iops if iops is not None and demand is not None else None,
        read_percent=demand.read_percent if demand is not None else None,
    )


def _layout(disks: Disks, needed: int | None) -> Layout:
    """The given disks, or as many as are needed in equal groups that the level allows."""
    groups = disks.level.groups_min if disks.groups is None else disks.groups
    count = disks.disks
    if count is None:
        if needed is None:
            raise InputError(f"RAID {disks.level.name} of how many disks? Give --disks, or a demand and --disk-iops to have them computed.")
        groups, group = _grouped(math.ceil(needed / max(1, disks.arrays)), groups, disks)
        count = groups * group
    return Layout(disks.level, count, groups, disks.dedicated_spares, disks.global_spares)


def _grouped(needed: int, groups: int, disks: Disks) -> tuple[int, int]:
    """Groups of one array, and the disks of each, that make up at least ``needed``."""
    level = disks.level
    if level.disks_max is not None and disks.groups is None:
        groups = math.ceil(needed / level.disks_max)
    group = max(level.disks_min, math.ceil(needed / max(1, groups)))
    return groups, group + group % 2 if level.mirrored else group
