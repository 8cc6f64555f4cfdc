"""What ``plimsoll size --json`` and ``plimsoll watch --json`` print, as their schemas in ``docs/reference`` describe it.

document: DemandDocument = demand_document([observed], about)
"""

from __future__ import annotations

from typing import Any, TypedDict

from plimsoll.analysis.load_line.mark import MarkView


class DistributionView(TypedDict):
    """A metric over the intervals in which it has a value."""

    mean: float
    p5: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float
    intervals: int


class _DeviceFacts(TypedDict, total=False):
    disk: Any
    model: Any
    serial: Any
    size_bytes: Any
    rotational: Any
    scheduler: Any


class WatchedDevice(_DeviceFacts):
    """What one device did while it was watched."""

    name: str
    intervals: int
    #: By metric: iostat's columns, and ``iops``, ``kB/s``, ``%read`` and ``areq-sz`` of reads and writes together.
    summary: dict[str, DistributionView]
    #: How long each interval was.
    seconds: list[float]
    #: By iostat's columns, a figure for each interval; kB are 1024 bytes, waits milliseconds.
    columns: dict[str, list[float]]


class _Watch(TypedDict, total=False):
    started: str
    interval_s: float
    ended_by: str
    host: str
    versions: dict[str, Any]


class DemandDocument(_Watch):
    """What was watched; ``plimsoll size --from`` and ``plimsoll fit`` read it."""

    devices: list[WatchedDevice]


class DemandView(TypedDict):
    """The load that is to be carried."""

    iops: float
    bytes_per_s: float
    read_percent: float
    #: The mean request.
    block_bytes: float
    random_percent: float
    growth_percent: float
    source: str
    notes: list[str]
    #: Means of reads and of writes, where they are known.
    read_bytes: float | None
    write_bytes: float | None
    #: What the demand was taken from, where it was mailboxes.
    mailboxes: int | None
    profile: str | None
    iops_with_growth: float
    bytes_per_s_with_growth: float


class FitView(TypedDict):
    """A load line held against the demand."""

    run: str
    workload: str
    configuration: str | None
    target: str
    modelled: bool
    carries: bool
    #: ``yes``, ``no``, each perhaps ``, not settled``; ``not shown`` where the line ends without having failed; ``refused``.
    verdict: str
    #: Why it is no answer to this demand.
    refused: str | None
    #: The mark over the demand.
    headroom: float | None
    headroom_interval: tuple[float, float] | None
    headroom_at_least: bool
    limited_by: str | None
    #: How many of the demanded mailboxes the mark carries.
    mailboxes: int | None
    mark: MarkView | None
    read_percent: float | None
    block_bytes: float | None
    random_percent: float | None
    #: Reads measured less reads demanded, in percentage points.
    mix_points_away: float | None
    size_factor: float | None
    flags: list[str]


class PricedFit(FitView):
    """With its price."""

    price_per_iops: float | None


class SpindlesView(TypedDict):
    """Disks as they were computed, not measured."""

    level: str
    penalty: float
    usable_factor: float | None
    layout: str
    arrays: int
    mirrored: bool
    disks_in_groups: int
    disk_iops: float | None
    disks_needed: int | None
    iops: float | None
    headroom: float | None
    disk_bytes: float | None
    raw_bytes: float | None
    usable_bytes: float | None
    efficiency: float | None
    failures_survived: int | None
    volume_bytes: float | None
    price_per_gigabyte: float | None
    price_per_iops: float | None
    notes: list[str]


class _Measured(TypedDict, total=False):
    answer: str
    #: The directory of the run.
    results: str


class SizingView(_Measured):
    """Which storage carries the demand; ``answer`` and ``results`` only where something was measured for it."""

    demand: DemandView | None
    objective: str | None
    price: float | None
    #: Whether any line carries the demand.
    carried: bool
    lines: list[PricedFit]
    raid: SpindlesView | None
