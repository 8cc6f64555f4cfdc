"""What a DiskSpd result says of one time span, gathered from a result of ours and its intervals.

Model: DiskSpd counts per thread and target. Here the smallest unit that is counted is a stream, so each stream is one thread here, however
many threads it has, with one target: the part of a concatenation that its region lies in, otherwise the whole target. Only reads and
writes of the measured phase count. Text has the least, quartiles, 90, 95 and 99 and then so many nines; XML has every whole percent and
the same nines, 0 being the least and 100 the greatest. A percentile is the smallest latency that so many requests did not exceed.
Limits: trims and flushes have no place in DiskSpd's results and are left out. CPU time is that of the whole host, not of each CPU. With few
requests the last percentiles are all the greatest latency, as in DiskSpd.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.formats.stored_point import Recorded
from plimsoll.histogram import Histogram, decoded
from plimsoll.result import Result
from plimsoll.stored import Cell, Stream

NINES = tuple((f"{number}-nines", 100 - 10.0 ** (2 - number)) for number in range(3, 10))
TEXT: tuple[tuple[str, float], ...] = (
    ("min", 0.0),
    ("25th", 25.0),
    ("50th", 50.0),
    ("75th", 75.0),
    ("90th", 90.0),
    ("95th", 95.0),
    ("99th", 99.0),
    *NINES,
    ("max", 100.0),
)
XML: tuple[float, ...] = (*(float(percent) for percent in range(100)), *(percent for _, percent in NINES), 100.0)


def value_ms(histogram: Histogram, percent: float) -> float:
    """The latency at a percentile in milliseconds; the histogram holds at least one request."""
    if percent <= 0:
        return histogram.min / 1e6
    return (histogram.max if percent >= 100 else histogram.percentile(percent)) / 1e6


OPS = ("read", "write")


@dataclass
class Counter:
    """One operation: how many requests, how many bytes, how long they took."""

    count: int = 0
    bytes: int = 0
    latency: Histogram | None = None

    def add(self, count: int, size_bytes: int, latency: Histogram | None) -> None:
        """Count more; the histogram given is left as it is."""
        self.count += count
        self.bytes += size_bytes
        if latency is not None:
            self.latency = self.latency or Histogram()
            self.latency.add(latency)


@dataclass
class TargetCounters:
    """A target of one thread, by operation."""

    path: str
    size_bytes: int
    ops: dict[str, Counter] = field(default_factory=lambda: {op: Counter() for op in OPS})
    #: Requests by interval, as in `Measured.buckets`.
    counts: dict[int, dict[str, int]] = field(default_factory=dict)

    def total(self, *ops: str) -> Counter:
        """The operations named together."""
        whole = Counter()
        for op in ops:
            whole.add(self.ops[op].count, self.ops[op].bytes, self.ops[op].latency)
        return whole


@dataclass(frozen=True)
class TargetPart:
    """A file or disk: its size (0 when the host's facts do not say), and where it begins within the target."""

    path: str
    size_bytes: int
    begin_bytes: int


@dataclass(frozen=True)
class Bucket:
    """An interval: when it ended after the start of the measurement, its length, and how many requests completed in it."""

    end_ms: int
    seconds: float
    counts: Mapping[str, int]


@dataclass
class Measured:
    """A time span."""

    result: Result
    seconds: float = 0.0
    #: The targets of the threads, by the names of the streams that these are.
    threads: dict[str, TargetCounters] = field(default_factory=dict)
    buckets: list[Bucket] = field(default_factory=list)

    def total(self, *ops: str) -> Counter:
        """All threads and targets together, of the operations named."""
        whole = Counter()
        for target in self.threads.values():
            found = target.total(*ops)
            whole.add(found.count, found.bytes, found.latency)
        return whole

    def deviation(self, *ops: str, of: TargetCounters | None = None) -> float:
        """Standard deviation over the intervals of the requests per second, of one target or of all."""
        counts = [bucket.counts if of is None else of.counts.get(number, {}) for number, bucket in enumerate(self.buckets)]
        rates = [sum(found.get(op, 0) for op in ops) / bucket.seconds for found, bucket in zip(counts, self.buckets, strict=True)]
        if not rates:
            return 0.0
        mean = sum(rates) / len(rates)
        return float((sum((rate - mean) ** 2 for rate in rates) / len(rates)) ** 0.5)

    def cpu(self) -> tuple[float, float, float, float] | None:
        """Percent of CPU time: used, by users, by the kernel, idle. None when the host was not watched."""
        shares = self.result.monitor.get("cpu")
        if not shares:
            return None
        idle = (shares.get("idle_percent") or 0.0) + (shares.get("iowait_percent") or 0.0)
        user, kernel = shares.get("user_percent") or 0.0, shares.get("system_percent") or 0.0
        return max(0.0, 100.0 - idle), user, kernel, idle


def measured_of(recorded: Recorded) -> Measured:
    """The time span that a recorded point is."""
    result = recorded.result
    made = Measured(result)
    start_ns: int | None = None
    for interval in recorded.intervals:
        if interval["phase"] != "measure":
            continue
        start_ns = interval["start_ns"] if start_ns is None else start_ns
        seconds = (interval["end_ns"] - interval["start_ns"]) / 1e9
        made.seconds += seconds
        if seconds <= 0:
            continue
        counts = dict.fromkeys(OPS, 0)
        for cell in interval["cells"]:
            # What the parts of a target saw is the same requests once more.
            if cell["op"] in OPS and cell.get("part") is None:
                _count(made, cell)
                counts[cell["op"]] += cell["count"]
        made.buckets.append(Bucket(round((interval["end_ns"] - start_ns) / 1e6), seconds, counts))
    return made


def _count(made: Measured, cell: Cell) -> None:
    stream = str(cell["stream"])
    target = made.threads.get(stream)
    if target is None:
        streams: dict[str, Any] = {item.get("name"): item for item in made.result.job.definition.get("stream", [])}
        place = place_of(made.result, streams.get(stream, {}))
        target = made.threads[stream] = TargetCounters(place.path, place.size_bytes)
    latency = decoded(text) if (text := cell.get("latency")) else None
    target.ops[cell["op"]].add(cell["count"], cell["bytes"], latency)
    counts = target.counts.setdefault(len(made.buckets), dict.fromkeys(OPS, 0))
    counts[cell["op"]] += cell["count"]


def place_of(result: Result, stream: Stream) -> TargetPart:
    """What a stream of the definition reaches."""
    facts = result.host.get("target") or {}
    if isinstance(number := stream.get("parts"), int) and number < len(parts := facts.get("parts") or ()):
        return TargetPart(str(parts[number].get("path")), int(parts[number].get("size_bytes") or 0), 0)
    start, length = stream.get("region_start", 0), stream.get("region_length")
    if facts.get("kind") == "concat" and isinstance(start, int) and isinstance(length, int):
        begin = 0
        for part in facts.get("parts") or ():
            end = begin + int(part.get("size_bytes") or 0)
            if begin <= start and start + length <= end:
                return TargetPart(str(part.get("path")), end - begin, begin)
            begin = end
    return TargetPart(result.job.target, int(facts.get("size_bytes") or 0), 0)
