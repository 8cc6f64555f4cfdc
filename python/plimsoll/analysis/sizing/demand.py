"""The demand on storage: observed, given in figures, or in mailboxes.

Demand: observed on a live device, interval by interval, or put together from figures.

Model: `Observed` keeps every interval of one device as columns under iostat's names, so that distributions can be drawn from it and peaks
keep their mix. Percentiles are over intervals (the smallest value that the given share of intervals does not exceed); means of rates are
over time, means of sizes and waits over requests. `Demand` is what sizing works with: rates at a percentile, mix and size over all.
Units: kB are 1024 bytes and waits milliseconds, as iostat has them; `Demand` is in bytes.
Limits: an interval's rates are means of that interval; shorter bursts are not seen. Intervals without reads say nothing of the size and
wait of reads and are left out of those. One device's day at one second takes about 9 MB.

    observed.distribution("iops").p95
    demand_at(observed, percentile=95).iops

Mailboxes as a demand: IOPS per mailbox by version and kind of user, as the sizing tables of their time had them.

Model: IOPS = mailboxes · IOPS per mailbox of the database volume; log writes are told apart: they go sequentially to a volume of their own.
A profile is ``VERSION:KIND``; for 2010 and 2013 the kind is the number of messages sent and received per day.
Sources: 2003 learn.microsoft.com/previous-versions/tn-archive/bb125019; 2007 slipstick.com/exs/ex07/080918ms_iops.asp; 2010 and 2013 from
memory. What is from memory says so in `MailboxProfile.notes`, which every output repeats.
Limits: planning figures, without the share for peaks, background maintenance or backup; add those with growth.

    demanded = mailbox_profile("exchange-2010:100")
    5000 * demanded.iops, demanded.read_percent          # 600.0, 50
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from plimsoll.analysis.sizing.view import DemandDocument, DemandView, WatchedDevice
from plimsoll.displayed import quoted
from plimsoll.errors import InputError, StoreError
from plimsoll.result import check_schema
from plimsoll.stored import Json
from plimsoll.units import significant

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

    def to_json(self) -> WatchedDevice:
        """As it stands in the document."""
        found = {
            "name": self.name,
            **self.about,
            "intervals": len(self.seconds),
            "summary": {metric: _rounded(asdict(distribution)) for metric, distribution in self.summary().items()},
            "seconds": self.seconds.tolist(),
            "columns": {name: values.tolist() for name, values in self.columns.items()},
        }
        return cast("WatchedDevice", found)

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
    """What sizing is asked for. ``block_bytes`` is the mean request; ``bytes_per_s`` need not be its product with ``iops``.

    ``read_bytes`` and ``write_bytes`` are the means of each, where they are known. ``mailboxes`` and their ``profile`` are what it was
    taken from, if it was.
    """

    iops: float
    bytes_per_s: float
    read_percent: float
    block_bytes: float
    random_percent: float = 100.0
    growth_percent: float = 0.0
    source: str = "as typed"
    notes: tuple[str, ...] = ()
    read_bytes: float | None = None
    write_bytes: float | None = None
    mailboxes: int | None = None
    profile: str | None = None

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
    def generation(self) -> str | None:
        """The generation of the mail servers whose mailboxes are demanded: ``2010`` of ``exchange-2010-copies:100``."""
        return None if self.profile is None else self.profile.split(":")[0].split("-")[1]

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

    def to_json(self) -> DemandView:
        """For programs."""
        return {
            "iops": self.iops,
            "bytes_per_s": self.bytes_per_s,
            "read_percent": self.read_percent,
            "block_bytes": self.block_bytes,
            "random_percent": self.random_percent,
            "growth_percent": self.growth_percent,
            "source": self.source,
            "notes": list(self.notes),
            "read_bytes": self.read_bytes,
            "write_bytes": self.write_bytes,
            "mailboxes": self.mailboxes,
            "profile": self.profile,
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
        read_bytes=_mean_bytes(observed, "rareq-sz"),
        write_bytes=_mean_bytes(observed, "wareq-sz"),
    )


def _mean_bytes(observed: Observed, column: str) -> float | None:
    found = observed.distribution(column)
    return found.mean * 1024 if found is not None and found.mean else None


def demand_document(devices: Sequence[Observed], about: Json) -> DemandDocument:
    """The ``plimsoll.demand/1`` document; ``about`` says when, where and how it was watched."""
    return cast("DemandDocument", {"schema": SCHEMA, **about, "devices": [observed.to_json() for observed in devices]})


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
        ends = f"from {significant(size.p5)} to {significant(size.p95)} kB"
        yield f"the request size went {ends} (5th to 95th percentile); its mean stands for several sizes"
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


_KIB = 1024
_FROM_MEMORY = "the IOPS per mailbox of Exchange {} are from memory"
_MIX_TAKEN_OVER = "no read share of Exchange {} is at hand; the 1:1 of Exchange 2007 is taken over (change it with --read-percent)"
_PAGES = "the page size, and with it the request size, of Exchange {} is from memory (change it with --block-size)"


@dataclass(frozen=True)
class MailboxProfile:
    """What one mailbox asks of its database volume.

    ``messages`` are sent and received per day, or their sum where only that is told. ``log_share`` is log writes over database IOPS.
    """

    name: str
    iops: float
    read_percent: float
    block_bytes: int
    messages: str
    source: str
    notes: tuple[str, ...] = ()
    mailbox_bytes: int | None = None
    log_share: float | None = None

    def database_iops(self, mailboxes: int) -> float:
        """IOPS of the database volume."""
        return mailboxes * self.iops

    def log_writes_per_s(self, mailboxes: int) -> float | None:
        """Sequential writes of the log volume; None where no share is told."""
        return None if self.log_share is None else self.log_share * self.database_iops(mailboxes)


def _exchange_2003() -> Iterator[MailboxProfile]:
    kinds = {"light": (0.5, "20/50", 50), "average": (0.75, "30/75", 100), "heavy": (1.0, "40/100", 200), "large": (1.5, "60/150", 500)}
    for kind, (iops, messages, megabytes) in kinds.items():
        yield MailboxProfile(
            f"exchange-2003:{kind}",
            iops,
            read_percent=66,
            block_bytes=4 * _KIB,
            messages=f"{messages} sent/received per day",
            source="learn.microsoft.com/previous-versions/tn-archive/bb125019",
            notes=("the source gives reads 75 to 66 %; 66 %, the dearer end, is taken", _PAGES.format(2003)),
            mailbox_bytes=megabytes * 10**6,
        )


def _exchange_2007() -> Iterator[MailboxProfile]:
    kinds = {"light": (0.11, "5/20"), "average": (0.18, "10/40"), "heavy": (0.32, "20/80"), "very-heavy": (0.48, "30/120")}
    for kind, (iops, messages) in kinds.items():
        yield MailboxProfile(
            f"exchange-2007:{kind}",
            iops,
            read_percent=50,
            block_bytes=8 * _KIB,
            messages=f"{messages} sent/received per day",
            source="slipstick.com/exs/ex07/080918ms_iops.asp",
            notes=("the messages per day of Exchange 2007 are from memory", _PAGES.format(2007)),
            log_share=0.38,
        )


#: IOPS of Exchange 2013 by messages per day. Not a formula: 100 → .067 while 50 → .034.
_EXCHANGE_2013 = dict(zip(range(50, 501, 50), (0.034, 0.067, 0.101, 0.134, 0.168, 0.201, 0.235, 0.268, 0.302, 0.335), strict=True))
_MIB_CACHE_PER_50 = 3


def _by_messages() -> Iterator[MailboxProfile]:
    """Exchange 2010, .060 per 50 messages alone and .050 with copies of the database, and 2013."""
    families = {
        "exchange-2010": {messages: round(0.060 * messages / 50, 3) for messages in range(50, 501, 50)},
        "exchange-2010-copies": {messages: round(0.050 * messages / 50, 3) for messages in range(50, 501, 50)},
        "exchange-2013": _EXCHANGE_2013,
    }
    for family, rates in families.items():
        version = family.split("-")[1]
        notes = (_FROM_MEMORY.format(version), _MIX_TAKEN_OVER.format(version), _PAGES.format(version))
        for messages, iops in rates.items():
            cache = f"; {_MIB_CACHE_PER_50 * messages // 50} MB of database cache per mailbox supposed" if version == "2010" else ""
            yield MailboxProfile(
                f"{family}:{messages}",
                iops,
                read_percent=50,
                block_bytes=32 * _KIB,
                messages=f"{messages} messages per day{cache}",
                source="sizing guidance of the vendor, from memory",
                notes=notes,
            )


#: Every profile by name.
PROFILES = {profile.name: profile for made in (_exchange_2003(), _exchange_2007(), _by_messages()) for profile in made}


def mailbox_profile(name: str) -> MailboxProfile:
    """The profile called ``name``; refuses others and says which kinds its version has."""
    found = PROFILES.get(name.strip().lower())
    if found is not None:
        return found
    families: dict[str, list[str]] = {}
    for known in PROFILES:
        family, kind = known.split(":")
        families.setdefault(family, []).append(kind)
    family = name.strip().lower().split(":")[0]
    if family in families:
        raise InputError(
            f"mailbox profile {quoted(name)} is unknown; {family} has {', '.join(families[family])}, "
            f"as in '{family}:{families[family][1]}'."
        )
    raise InputError(
        f"mailbox profile {quoted(name)} is unknown; there are {', '.join(f'{known}:…' for known in families)}, as in 'exchange-2010:100'."
    )
