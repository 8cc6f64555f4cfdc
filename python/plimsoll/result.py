"""The record of one measured point: what was asked, what happened, where, and how far to trust it.

A `Result` is the unit that is stored, shown and compared. Its JSON form carries the schema name ``plimsoll.result/1``;
times are nanoseconds, sizes bytes, rates per second. Operations stand in the order of `OPS`, and only those that occurred
are present. Unknown fields are ignored when reading, so that a later version of the same schema may add some; another
schema is refused with a sentence.

    result = Result.from_json(json.loads(text), "results/r1/points/0001-oltp-db/result.json")
    result.totals["read"].latency_ns.p99
"""

from __future__ import annotations

import time
from dataclasses import asdict, field, replace
from typing import Any, Literal, get_args

from plimsoll.displayed import quoted
from plimsoll.errors import StoreError
from plimsoll.records import dataclass
from plimsoll.shape import Misshapen, fitted, sound
from plimsoll.stored import Cache, Coordinates, Definition, Ended, EngineOutcome, HostFacts, Json, Options, Placed, ResultParts, Sample

Status = Literal["complete", "interrupted", "failed", "incomplete"]
Severity = Literal["invalid", "doubt", "note"]

SCHEMA = "plimsoll.result/1"
#: Facts of a target that the reader took null for before they had a type of their own.
_NEVER_NULL = ("kind", "size_bytes", "devices")
#: Operations on files, in the order of every table.
FileOp = Literal["create", "open", "close", "access", "stat", "setattr", "rename", "copy", "move", "delete", "mkdir", "rmdir", "deliver"]
#: Tasks of mail users, but for those whose words are operations on files as well.
MailOp = Literal["login", "check-inbox", "send", "reply", "reply-all", "forward", "search", "calendar", "resolve"]
#: Queries and refresh functions of decision support, by their numbers.
QueryOp = Literal[
    "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12",
    "q13", "q14", "q15", "q16", "q17", "q18", "q19", "q20", "q21", "q22", "rf1", "rf2",
]  # fmt: skip
#: Transactions of order entry, in the order of every table.
TransactionOp = Literal["new-order", "payment", "order-status", "delivery", "stock-level"]
#: Requests of a mail store that are not its databases' own, in the order of every table.
StoreOp = Literal["log-read", "log-write", "maintenance-read", "replication-read"]
#: Analytics workflows, and their steps in order.
StepOp = Literal["workflow", "data-step", "iterate", "format", "index", "sort", "summary"]
Op = Literal["read", "write", "trim", "flush"] | FileOp | QueryOp | TransactionOp | MailOp | StoreOp | StepOp
OPS: tuple[Op, ...] = tuple(op for words in get_args(Op) for op in get_args(words))


@dataclass(frozen=True)
class LatencySummary:
    """A latency distribution in nanoseconds; ``stddev`` is of the population."""

    mean: float
    min: int
    p50: int
    p90: int
    p95: int
    p99: int
    p999: int
    max: int
    stddev: float


@dataclass(frozen=True)
class OpTotals:
    """One operation over the measured phase. ``latency_ns`` counts from the intended instant, ``service_ns`` from submission."""

    count: int
    iops: float
    bytes: int
    bytes_per_s: float
    errors: int
    latency_ns: LatencySummary | None
    service_ns: LatencySummary | None


#: Totals of each operation that occurred.
Totals = dict[str, OpTotals]


@dataclass(frozen=True)
class Flag:
    """A doubt about a number, with the numbers that raised it and what to do about it.

    ``invalid``: the number does not mean what it says. ``doubt``: it may not. ``note``: know this when comparing.
    """

    name: str
    severity: Severity
    message: str
    advice: str


#: Parts of names of flags that are no words as they stand; `page/src/sections/flags.ts` has the same.
_SPELT = {"io": "I/O", "littles": "Little's", "uring": "io_uring"}


def flag_words(name: str) -> str:
    """A flag's name as sentences have it: ``other_load`` is "other load". METHODOLOGY lists the names."""
    return " ".join(_SPELT.get(word, word) for word in name.split("_"))


@dataclass(frozen=True)
class DrawnInterval:
    """Between what a modelled figure lies, given what nobody has looked up (`plimsoll.analysis.uncertainty.interval`).

    ``level`` of the ``draws`` lie between ``low`` and ``high``, which would move by ``low_error`` and ``high_error`` with other draws.
    ``mostly`` are the values that matter: name, places in the array's document, share of what the figure varies by, source. ``values``
    are the figure at each draw, null where a draw ``failed``; draws of one number and ``seed`` have what two arrays share in common.
    """

    low: float
    high: float
    level: float
    draws: int
    seed: int = 1
    low_error: float = 0.0
    high_error: float = 0.0
    failed: int = 0
    mostly: list[Json] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)


@dataclass(frozen=True)
class Estimate:
    """A metric with its 95 % confidence interval; the bounds are None where the measured time does not suffice for one.

    Units are those of the metric: per second, bytes per second, nanoseconds. ``batches`` says from how many batches of time
    the interval was made. A value that is only ``at_least`` so much has no interval. ``interval`` is that of a modelled figure under
    uncertainty, where draws were made.
    """

    value: float
    low: float | None = None
    high: float | None = None
    batches: int = 0
    #: Whether the value is a lower bound, raised by requests that were outstanding when the measured time ended.
    at_least: bool = False
    interval: DrawnInterval | None = None


#: An interval whose ends are further apart than this factor says nothing that is worth printing.
SPAN_MAX = 4.0


def tells(low: float | None, high: float | None) -> bool:
    """Whether there is an interval, and one that is narrow enough to say something."""
    return low is not None and high is not None and low > 0 and high <= SPAN_MAX * low


#: Estimates of one point: by operation (``all`` for all together), then by metric (`plimsoll.analysis.point.metric.METRICS`).
Estimates = dict[str, dict[str, Estimate]]


@dataclass(frozen=True)
class Outstanding:
    """What of one operation was due and had no answer when the measured time ended (`plimsoll.analysis.point.summary`).

    ``count`` requests, of which ``unfinished`` had no answer in the drain either, beside ``measured`` ones that completed;
    ``longest_ns`` is the longest that one of them is known to have taken. ``at_least`` and ``at_most`` are what each latency metric over
    all of them lies between, in nanoseconds; None where nothing bounds it.
    """

    count: int
    unfinished: int
    longest_ns: int
    measured: int
    at_least: dict[str, float] = field(default_factory=dict)
    at_most: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class HostResult:
    """What one host of several had to do with a point. Clocks are compared with that of the host that started all.

    ``status`` ``lost`` says that nothing was heard of the host any more, ``error`` why and when. ``offset_ns`` is how far its clock is
    ahead, within ``offset_bound_ns``; ``skew_ns`` how long after the common instant its last thread began, None where that is not known,
    for the reason ``skew_unknown``; ``drift_ns`` by how much its clock ran away until the end. ``target`` is its own,
    ``point`` where its own point is, beside run.json.
    """

    name: str
    status: str
    error: str | None = None
    totals: Totals = field(default_factory=dict)
    offset_ns: int | None = None
    offset_bound_ns: int | None = None
    skew_ns: int | None = None
    skew_unknown: str | None = None
    drift_ns: int | None = None
    #: By how much its wall clock was set meanwhile.
    clock_set_ns: int | None = None
    target: str = ""
    #: The ranges of bytes, from and to, of a target that hosts share which it might touch; None for a target of its own.
    touches: list[list[int]] | None = None
    point: str | None = None
    flags: list[Flag] = field(default_factory=list)
    #: What carrying the gang cost this host meanwhile (`plimsoll.gang.own_cost`): ``cpu_ns`` in so many ``seconds``, ``memory_bytes``,
    #: ``processes``, and the ``cores`` that they were kept on. None where nobody said it.
    gang: Json | None = None


@dataclass(frozen=True)
class JobRecord:
    """What was asked for. ``queue_depth`` is per thread, and None when streams differ."""

    workload: str
    title: str
    group: str
    target: str
    seed: int
    repeat: int
    duration_s: float
    warmup_s: float
    threads: int
    queue_depth: int | None
    arrival: str
    definition: Definition
    options: Options


@dataclass(frozen=True)
class Result:
    """One point, measured."""

    id: str
    status: Status
    error: str | None
    started: str
    modelled: bool
    job: JobRecord
    totals: Totals = field(default_factory=dict)
    streams: dict[str, Totals] = field(default_factory=dict)
    parts: dict[str, Totals] = field(default_factory=dict)
    errors: dict[str, dict[str, int]] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)
    engine: EngineOutcome = field(default_factory=EngineOutcome)
    host: HostFacts = field(default_factory=HostFacts)
    monitor: Sample = field(default_factory=Sample)
    calibration: Json | None = None
    versions: Json = field(default_factory=dict)
    offered_per_s: float | None = None
    #: Requests that were due and not complete when the measured time ended; None without open streams, or where the end was not seen.
    unfinished: int | None = None
    #: Confidence intervals of the point's metrics.
    estimates: Estimates = field(default_factory=dict)
    #: What was outstanding when the measured time ended, by operation (``all`` for all together); operations without any are left out.
    outstanding: dict[str, Outstanding] = field(default_factory=dict)
    #: Where the point stands in its experiment (`plimsoll.experiments.plan.Request.place`); empty outside experiments.
    place: Coordinates = field(default_factory=Coordinates)
    #: What the caches held when the point began: ``{"state": "cold" | "warm" | "as found", "how": sentence}``.
    cache: Cache = field(default_factory=lambda: Cache(state="as found", how=""))
    #: Why the measured time ended where it did: ``{"by": "duration" | "precision" | "amount" | "limit", "how": sentence}``.
    ended: Ended = field(default_factory=lambda: Ended(by="duration", how=""))
    #: How faithfully traces were replayed, one entry for each stream that has one (`plimsoll.analysis.point.replay`).
    replay: list[Json] = field(default_factory=list)
    #: The hosts that measured it together, of whose figures the totals are the sum; empty for a point of this host alone.
    hosts: list[HostResult] = field(default_factory=list)

    @property
    def plimsoll_version(self) -> str | None:
        """Which Plimsoll measured it; None where another tool did."""
        return self.versions.get("plimsoll")

    @property
    def origin(self) -> str | None:
        """The other tool that measured it, as its files name it; None for a result of Plimsoll's."""
        return self.versions.get("origin")

    @property
    def side(self) -> str:
        """What it was measured on, as it was named: the configuration of its experiment, else the target."""
        return self.place.get("configuration") or self.job.target

    def to_json(self) -> Json:
        """The stored form."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, value: Json, source: str) -> Result:
        """The result that ``value`` holds; ``source`` names its file in messages."""
        try:
            sound(value)
        except Misshapen as problem:
            raise _not_whole(source, problem) from None
        return cls.from_sound(value, source)

    @classmethod
    def from_sound(cls, value: Json, source: str) -> Result:
        """`from_json` of what is known to be sound (`plimsoll.shape.sound`), as documents of the store are."""
        check_schema(value, SCHEMA, source)
        try:
            fitted(value, ResultParts)
            if value.get("place"):
                fitted({"place": value["place"]}, Placed)
            found: Result = fitted(_mended(value), cls)
        except Misshapen as problem:
            raise _not_whole(source, problem) from None
        streams, parts = ({name: _in_order(totals) for name, totals in groups.items()} for groups in (found.streams, found.parts))
        hosts = [replace(host, totals=_in_order(host.totals)) for host in found.hosts]
        return replace(found, totals=_in_order(found.totals), streams=streams, parts=parts, hosts=hosts)


def _not_whole(source: str, problem: Misshapen) -> StoreError:
    return StoreError(
        f"{source}: not a whole {SCHEMA} document: {problem}; the file was changed after Plimsoll wrote it, so measure the point again."
    )


def host_results(parts: list[Json]) -> list[HostResult]:
    """What an engine that is a gang says of its hosts."""
    return [fitted(part, HostResult) for part in parts]


def _mended(value: Json) -> Json:
    """The document as this version writes it: what is not known of a target is left out of its facts, and null no longer."""
    target = value["host"].get("target") if isinstance(value["host"], dict) else None
    if not isinstance(target, dict) or all(target.get(name, "") is not None for name in _NEVER_NULL):
        return value
    known = {name: fact for name, fact in target.items() if fact is not None or name not in _NEVER_NULL}
    return {**value, "host": {**value["host"], "target": known}}


def iso_time(seconds: float) -> str:
    """Local time with its offset, to the second (ISO 8601)."""
    text = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(seconds))
    return f"{text[:-2]}:{text[-2:]}"


def check_schema(value: Any, known: str, source: str) -> None:
    """Refuse a document of another schema or version with a sentence."""
    found = value.get("schema") if isinstance(value, dict) else None
    if found == known:
        return
    name, _, version = known.rpartition("/")
    if isinstance(found, str) and found.startswith(f"{name}/"):
        newer = found[len(name) + 1 :]
        age = "newer" if newer.isdigit() and int(newer) > int(version) else "different"
        raise StoreError(
            f"{source}: schema is {quoted(found)}, but this Plimsoll reads {quoted(known)}; a {age} Plimsoll wrote it, "
            "so read it with that one."
        )
    raise StoreError(f"{source}: schema is {quoted(found)}, but {quoted(known)} is expected; this is not a file of Plimsoll's.")


def _in_order(totals: Totals) -> Totals:
    """Operations in the order of `OPS`; those of a later version are left out."""
    return {op: totals[op] for op in OPS if op in totals}
