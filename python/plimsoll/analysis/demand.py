"""What is asked of storage: observed on a live device, interval by interval, or put together from figures.

Model: `Observed` keeps every interval of one device as columns under iostat's names, so that distributions can be drawn from it and peaks
keep their mix. Percentiles are over intervals (the smallest value that the given share of intervals does not exceed); means of rates are
over time, means of sizes and waits over requests. `Demand` is what sizing works with: rates at a percentile, mix and size over all.
Units: kB are 1024 bytes and waits milliseconds, as iostat has them; `Demand` is in bytes.
Limits: an interval's rates are means of that interval; shorter bursts are not seen. Intervals without reads say nothing of the size and
wait of reads and are left out of those. One device's day at one second takes about 9 MB.

    observed.distribution("iops").p95
    demand_at(observed, percentile=95).iops
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from plimsoll.errors import InputError, StoreError
from plimsoll.result import check_schema

Json = dict[str, Any]

SCHEMA = "plimsoll.demand/1"
#: iostat's columns, in its order.
COLUMNS = ("r/s", "rkB/s", "r_await", "rareq-sz", "w/s", "wkB/s", "w_await", "wareq-sz", "d/s", "f/s", "aqu-sz", "%util")
#: What is computed from them, for reads and writes together.
DERIVED = ("iops", "kB/s", "%read", "areq-sz")
METRICS = (*DERIVED, *COLUMNS)
#: The column that says how many requests a size or wait stands for.
_REQUESTS = {"r_await": "r/s", "rareq-sz": "r/s", "w_await": "w/s", "wareq-sz": "w/s", "%read": "iops", "areq-sz": "iops"}
_DIGITS = 5


@dataclass(frozen=True)
class Distribution:
    """A metric over the intervals in which it has a value."""

    mean: float
    p5: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float
    intervals: int


@dataclass
class Observed:
    """One device's intervals. ``about`` holds what is known of the device."""

    name: str
    about: Json = field(default_factory=dict)
    seconds: array[float] = field(default_factory=lambda: array("d"))
    columns: dict[str, array[float]] = field(default_factory=lambda: {name: array("d") for name in COLUMNS})

    def add(self, seconds: float, columns: Mapping[str, float]) -> None:
        """One interval, to five significant digits: more than the counters' milliseconds hold."""
        self.seconds.append(_short(seconds))
        for name, kept in self.columns.items():
            kept.append(_short(columns[name]))

    def distribution(self, metric: str) -> Distribution | None:
        """The distribution of one of `METRICS`; None when no interval has a value."""
        values, weights = self._weighted(metric)
        if not values:
            return None
        mean = math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / math.fsum(weights)
        ordered = sorted(values)
        p5, p50, p90, p95, p99, top = (nearest_rank(ordered, percent) for percent in (5, 50, 90, 95, 99, 100))
        return Distribution(mean, p5, p50, p90, p95, p99, top, intervals=len(values))

    def percentile(self, metric: str, percent: float) -> float:
        """The value that ``percent`` of the intervals do not exceed; 0 when no interval has one."""
        values, _ = self._weighted(metric)
        return nearest_rank(sorted(values), percent) if values else 0.0

    def summary(self) -> dict[str, Distribution]:
        """Every metric that has a value."""
        found = {metric: self.distribution(metric) for metric in METRICS}
        return {metric: distribution for metric, distribution in found.items() if distribution is not None}

    def to_json(self) -> Json:
        """As it stands in the document."""
        return {
            "name": self.name,
            **self.about,
            "intervals": len(self.seconds),
            "summary": {metric: _rounded(asdict(distribution)) for metric, distribution in self.summary().items()},
            "seconds": self.seconds.tolist(),
            "columns": {name: values.tolist() for name, values in self.columns.items()},
        }

    def _values(self, metric: str) -> Sequence[float]:
        if metric in self.columns:
            return self.columns[metric]
        reads, writes = self.columns["r/s"], self.columns["w/s"]
        iops = [r + w for r, w in zip(reads, writes, strict=True)]
        if metric == "iops":
            return iops
        kilobytes = [r + w for r, w in zip(self.columns["rkB/s"], self.columns["wkB/s"], strict=True)]
        if metric == "kB/s":
            return kilobytes
        over = reads if metric == "%read" else kilobytes
        factor = 100.0 if metric == "%read" else 1.0
        return [factor * value / total if total else 0.0 for value, total in zip(over, iops, strict=True)]

    def _weighted(self, metric: str) -> tuple[list[float], list[float]]:
        """Values and what each weighs in the mean, without the intervals that have none."""
        rate = _REQUESTS.get(metric)
        weights: Iterable[float] = self.seconds
        if rate is not None:
            weights = [count * seconds for count, seconds in zip(self._values(rate), self.seconds, strict=True)]
        pairs = [(value, weight) for value, weight in zip(self._values(metric), weights, strict=True) if weight > 0]
        return [value for value, _ in pairs], [weight for _, weight in pairs]


@dataclass(frozen=True)
class Demand:
    """What sizing is asked for. ``block_bytes`` is the mean request; ``bytes_per_s`` need not be its product with ``iops``."""

    iops: float
    bytes_per_s: float
    read_percent: float
    block_bytes: float
    random_percent: float = 100.0
    growth_percent: float = 0.0
    source: str = "as typed"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (self.iops > 0 and math.isfinite(self.iops)):
            raise InputError(f"a demand of {self.iops:g} IOPS is none; give more than 0.")
        for what, percent in (("read", self.read_percent), ("random", self.random_percent)):
            if not 0 <= percent <= 100:
                raise InputError(f"a {what} share of {percent:g} % is impossible; it lies between 0 and 100.")
        if not self.block_bytes > 0:
            raise InputError(f"requests of {self.block_bytes:g} bytes are impossible; give a size such as 8KiB.")
        if not self.growth_percent > -100:
            raise InputError(f"a growth of {self.growth_percent:g} % leaves no demand; give more than -100.")

    @property
    def grown(self) -> float:
        """The factor of growth."""
        return 1 + self.growth_percent / 100

    @property
    def reads_per_s(self) -> float:
        """Reads demanded, growth included."""
        return self.iops * self.grown * self.read_percent / 100

    @property
    def writes_per_s(self) -> float:
        """Writes demanded, growth included."""
        return self.iops * self.grown * (100 - self.read_percent) / 100

    @property
    def grown_iops(self) -> float:
        """Requests demanded, growth included."""
        return self.iops * self.grown

    @property
    def grown_bytes_per_s(self) -> float:
        """Bandwidth demanded, growth included."""
        return self.bytes_per_s * self.grown

    def to_json(self) -> Json:
        """For programs."""
        return {
            **asdict(self),
            "notes": list(self.notes),
            "iops_with_growth": self.grown_iops,
            "bytes_per_s_with_growth": self.grown_bytes_per_s,
        }


def demand_at(observed: Observed, percentile: float = 95.0) -> Demand:
    """The demand that ``percentile`` per cent of the intervals did not exceed, in IOPS and in bandwidth, each for itself."""
    if not 0 < percentile <= 100:
        raise InputError(f"percentile {percentile:g} is impossible; it lies above 0 and at most at 100, which is the maximum.")
    mix, size = observed.distribution("%read"), observed.distribution("areq-sz")
    if mix is None or size is None:
        raise InputError(
            f"{observed.name}: it did nothing while it was watched, so there is no demand to size for; watch it when it is used."
        )
    iops = observed.percentile("iops", percentile)
    if not iops:
        raise InputError(f"{observed.name}: it was idle in {percentile:g} % of the intervals; give a higher --percentile, at most 100.")
    return Demand(
        iops=iops,
        bytes_per_s=observed.percentile("kB/s", percentile) * 1024,
        read_percent=mix.mean,
        block_bytes=size.mean * 1024,
        source=f"{observed.name} as watched, percentile {percentile:g} of {len(observed.seconds)} intervals",
        notes=tuple(_doubts(mix, size, len(observed.seconds), percentile)),
    )


def demand_document(devices: Sequence[Observed], about: Json) -> Json:
    """The ``plimsoll.demand/1`` document; ``about`` says when, where and how it was watched."""
    return {"schema": SCHEMA, **about, "devices": [observed.to_json() for observed in devices]}


def observed_devices(document: Any, source: str) -> list[Observed]:
    """The devices of a ``plimsoll.demand/1`` document; ``source`` names its file in messages."""
    try:
        check_schema(document, SCHEMA, source)
    except StoreError as problem:
        raise InputError(str(problem)) from None
    try:
        return [_device(entry) for entry in document["devices"]]
    except (KeyError, TypeError, ValueError) as problem:
        missing = f"{problem} is missing" if isinstance(problem, KeyError) else str(problem)
        raise InputError(f"{source}: not a complete {SCHEMA} document ({missing}); watch again.") from None


def nearest_rank(ordered: Sequence[float], percent: float) -> float:
    """The smallest of the ``ordered`` values that ``percent`` of them do not exceed."""
    # 95 % of 20 values are 19 of them, although 0.95 · 20 is a hair more in binary.
    rank = math.ceil(round(percent / 100 * len(ordered), 9))
    return ordered[max(0, rank - 1)]


def _doubts(mix: Distribution, size: Distribution, intervals: int, percentile: float) -> Iterator[str]:
    beyond = intervals * (100 - percentile) / 100
    if percentile < 100 and beyond < 1:
        yield f"{intervals} intervals are too few for percentile {percentile:g}: it is their maximum; watch longer"
    if mix.p95 - mix.p5 > 50:
        yield f"the read share went from {mix.p5:.0f} to {mix.p95:.0f} % (5th to 95th percentile), so its mean stands for several mixes"
    if size.p95 > 4 * size.p5:
        yield f"the request size went from {size.p5:.3g} to {size.p95:.3g} kB (5th to 95th percentile); its mean stands for several sizes"
    yield "counters do not tell random from sequential; random is supposed (change it with --random-percent)"


def _device(entry: Json) -> Observed:
    observed = Observed(str(entry["name"]))
    seconds = [float(value) for value in entry["seconds"]]
    columns = {name: [float(value) for value in entry["columns"][name]] for name in COLUMNS}
    if any(len(values) != len(seconds) for values in columns.values()):
        raise ValueError("columns of different length")
    if not all(math.isfinite(value) and value >= 0 for values in (seconds, *columns.values()) for value in values):
        raise ValueError("a figure below 0 or without end")
    observed.seconds.extend(seconds)
    for name, values in columns.items():
        observed.columns[name].extend(values)
    return observed


def _rounded(values: Json) -> Json:
    return {name: _short(value) if isinstance(value, float) else value for name, value in values.items()}


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
