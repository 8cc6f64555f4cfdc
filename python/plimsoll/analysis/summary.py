"""Totals of a job from its intervals: counts add, histograms merge without loss, percentiles are read once at the end.

Model: only intervals of the ``measure`` phase count; rates divide by the time those intervals cover together, so a warm-up or a
drain changes no number. What completes in the drain belongs to no total; `plimsoll.analysis.outstanding` says what it says of them.
Memory does not depend on the length of the job: one histogram per stream, operation and part is kept.

    summary = Summary()
    for interval in intervals:
        summary.add(interval)
    summary.totals()["read"].iops
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from plimsoll.analysis.batches import Batches, Portion, portion_key, portion_of
from plimsoll.analysis.outstanding import Owed
from plimsoll.histogram import Histogram, decoded
from plimsoll.result import OPS, LatencySummary, OpTotals, Outstanding, Totals

Json = dict[str, Any]
Key = tuple[str | None, str, str | None]


class Tally:
    """One operation's counts and distributions, in one stream, part or all of them."""

    def __init__(self) -> None:
        self.count = 0
        self.bytes = 0
        self.errors: Counter[str] = Counter()
        self.latency: Histogram | None = None
        self.service: Histogram | None = None

    def add_cell(self, cell: Json) -> Histogram | None:
        """Add one cell of an interval; its latencies. A null ``service`` says: the same as ``latency``."""
        self.count += cell["count"]
        self.bytes += cell["bytes"]
        self.errors.update(cell.get("errors") or {})
        latency = decoded(cell["latency"]) if cell.get("latency") else None
        service = decoded(cell["service"]) if cell.get("service") else None
        if latency is not None:
            self._merge(latency, service)
        return latency

    def add(self, other: Tally) -> None:
        """Add another tally."""
        self.count += other.count
        self.bytes += other.bytes
        self.errors.update(other.errors)
        if other.latency is not None:
            self._merge(other.latency, other.service)

    def _merge(self, latency: Histogram, service: Histogram | None) -> None:
        if self.service is None and service is not None:
            self.service = _copy(self.latency) if self.latency is not None else None
        if service is not None or self.service is not None:
            self.service = _sum(self.service, service if service is not None else latency)
        self.latency = _sum(self.latency, latency)

    def totals(self, elapsed_s: float) -> OpTotals:
        """Rates and percentiles over ``elapsed_s`` seconds."""
        latency = latency_summary(self.latency)
        return OpTotals(
            count=self.count,
            iops=self.count / elapsed_s if elapsed_s > 0 else 0.0,
            bytes=self.bytes,
            bytes_per_s=self.bytes / elapsed_s if elapsed_s > 0 else 0.0,
            errors=self.errors.total(),
            latency_ns=latency,
            service_ns=latency if self.service is None else latency_summary(self.service),
        )


class Summary:
    """Accumulates the measured phase of one job; ``batches`` keeps its course for the confidence intervals.

    ``drawn`` are the operations that streams of file operations draw (`plimsoll.analysis.definition.drawn_by_stream`).
    """

    def __init__(self, drawn: Mapping[str, frozenset[str]] | None = None) -> None:
        self._drawn = drawn or {}
        self.batches = Batches()
        self._owed = Owed()
        self._tallies: dict[Key, Tally] = {}
        self._elapsed_ns = 0

    def add(self, interval: Json) -> None:
        """Count one interval; those outside the measured phase only tell what was outstanding at its ends."""
        self._owed.add(interval)
        if interval["phase"] != "measure":
            return
        elapsed_ns = interval["end_ns"] - interval["start_ns"]
        self._elapsed_ns += elapsed_ns
        portions: dict[str, Portion] = {}
        for cell in interval["cells"]:
            key = (cell["stream"], cell["op"], cell.get("part"))
            latency = self._tallies.setdefault(key, Tally()).add_cell(cell)
            if key[2] is None:
                portions.setdefault(portion_key(cell, self._drawn), Portion()).add(portion_of(cell, latency))
        self.batches.add(elapsed_ns / 1e9, portions)

    @property
    def elapsed_s(self) -> float:
        """Seconds of measured time."""
        return self._elapsed_ns / 1e9

    def totals(self) -> Totals:
        """Of all streams together. What the parts of a target saw is the same requests once more, and left out."""
        return self._grouped(lambda key: "" if key[2] is None else None).get("", {})

    def outstanding(self) -> dict[str, Outstanding]:
        """What was due and had no answer when the measured time ended, by operation and for all together."""
        latencies = {(stream, op): tally.latency for (stream, op, part), tally in self._tallies.items() if part is None and tally.latency}
        return self._owed.outstanding(latencies, self._drawn)

    def streams(self) -> dict[str, Totals]:
        """Per stream."""
        return self._grouped(lambda key: key[0])

    def parts(self) -> dict[str, Totals]:
        """Per LUN of a striped or concatenated target; empty for others."""
        return self._grouped(lambda key: key[2])

    def errors(self) -> dict[str, dict[str, int]]:
        """Failed requests per operation and error name."""
        counts: dict[str, Counter[str]] = {}
        for (_, op, part), tally in self._tallies.items():
            if part is not None:
                continue
            counts.setdefault(op, Counter()).update(tally.errors)
        return {op: dict(counts[op]) for op in OPS if counts.get(op)}

    def _grouped(self, name_of: Callable[[Key], str | None]) -> dict[str, Totals]:
        groups: dict[str, dict[str, Tally]] = {}
        for key, tally in self._tallies.items():
            name = name_of(key)
            if name is not None:
                groups.setdefault(name, {}).setdefault(key[1], Tally()).add(tally)
        return {
            name: {op: by_op[op].totals(self.elapsed_s) for op in OPS if op in by_op}
            for name, by_op in sorted(groups.items(), key=lambda item: _natural(item[0]))
        }


def latency_summary(histogram: Histogram | None) -> LatencySummary | None:
    """Mean, spread and percentiles of a histogram in nanoseconds; None when it holds nothing."""
    if histogram is None or histogram.count == 0:
        return None
    return LatencySummary(
        mean=histogram.mean,
        min=histogram.min,
        p50=histogram.percentile(50.0),
        p90=histogram.percentile(90.0),
        p95=histogram.percentile(95.0),
        p99=histogram.percentile(99.0),
        p999=histogram.percentile(99.9),
        max=histogram.max,
        stddev=histogram.stddev,
    )


def summarised(intervals: Iterable[Json]) -> Summary:
    """The summary of recorded intervals."""
    summary = Summary()
    for interval in intervals:
        summary.add(interval)
    return summary


def _sum(total: Histogram | None, addend: Histogram) -> Histogram:
    if total is None:
        return _copy(addend)
    total.add(addend)
    return total


def _copy(histogram: Histogram) -> Histogram:
    return decoded(histogram.encode())


def _natural(name: str) -> tuple[int, str]:
    """Order parts by their index ("2:/dev/sdc" before "10:/dev/sdk") and streams by name."""
    head, colon, _ = name.partition(":")
    return (int(head), name) if colon and head.isdigit() else (0, name)
