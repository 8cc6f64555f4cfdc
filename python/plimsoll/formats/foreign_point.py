"""What another tool measured, as a point of ours that says so.

Model: the rates are the tool's own; nothing it does not say is filled in. Where it tells the distribution of latencies, the point holds a
histogram; where it tells percentiles, mean and extremes, a summary; where it tells less, estimates without bounds, which comparisons
use. Its origin stands in ``versions["origin"]``, host and machine stay unknown, and the note ``imported`` names what is not known.

    point = Imported("randread", "fio-3.33", "randread.json", seconds=60.0, streams=[{"block_size": 4096}])
    point.add("stream-1", "read", Known(count=1000, bytes=4096000, latency=summary))
    point.recorded()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from plimsoll.formats.stored_point import Recorded, added
from plimsoll.histogram import Histogram
from plimsoll.result import OPS, Estimate, Flag, JobRecord, LatencySummary, OpTotals, Result, Totals
from plimsoll.stored import Cell, Coordinates, Definition, Entry, Interval, Json, Sample
from plimsoll.units import significant

NAME_WIDTH_MAX = 80
_ADVICE = "Compare it with points of the same origin; name what may differ with --varying when comparing it with others."


@dataclass(frozen=True)
class Known:
    """What a file tells of one operation. ``partial`` are figures (mean, p99, max …, in nanoseconds) where there is no whole summary."""

    count: int
    bytes: int
    iops: float | None = None
    bytes_per_s: float | None = None
    errors: int = 0
    latency: LatencySummary | None = None
    service: LatencySummary | None = None
    histogram: Histogram | None = None
    partial: Mapping[str, float] = field(default_factory=dict)


@dataclass
class Imported:
    """A point in the making; ``seconds`` is its measured time, ``streams`` are options of ours as far as the file tells them."""

    workload: str
    origin: str
    source: str
    seconds: float
    streams: list[Json] = field(default_factory=list)
    target: str = ""
    started: str = ""
    warmup_s: float = 0.0
    error: str | None = None
    remark: str = ""
    monitor: Sample = field(default_factory=Sample)
    place: Coordinates = field(default_factory=Coordinates)
    intervals: list[Interval] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    known: dict[str, dict[str, Known]] = field(default_factory=dict)
    #: Figures of all operations together, in nanoseconds, where the file tells them of no single one.
    whole: Mapping[str, float] = field(default_factory=dict)

    def add(self, stream: str, op: str, known: Known) -> None:
        """Take one operation of one stream; what did not occur is left out."""
        if known.count or known.errors or known.iops:
            self.known.setdefault(stream, {})[op] = known

    def recorded(self) -> Recorded:
        """The point as it is stored."""
        streams: dict[str, Totals] = {
            name: {op: self._totals(by_op[op]) for op in OPS if op in by_op} for name, by_op in self.known.items()
        }
        by_op: dict[str, list[Known]] = {op: [known[op] for known in self.known.values() if op in known] for op in OPS}
        totals = {op: _with_bins(total, by_op[op]) for op, total in joined(list(streams.values())).items()}
        partial = {op: found for op, total in totals.items() if total.latency_ns is None and (found := figures_of(by_op[op]))}
        result = Result(
            id="",
            status="complete" if self.error is None else "failed",
            error=self.error,
            started=self.started,
            modelled=False,
            job=self._job(),
            totals=totals,
            streams=streams,
            flags=[noted(self.origin, self.source, self._told(partial))],
            engine={"engine": {"origin": self.origin}},
            monitor=self.monitor,
            versions={"origin": self.origin, "file": self.source},
            estimates=_estimates(partial, totals, self.whole),
            place=self.place,
            cache={"state": "as found", "how": f"{self.origin} does not say."},
        )
        return Recorded(result, self.intervals or self._whole_interval(), self.samples)

    def _totals(self, known: Known) -> OpTotals:
        seconds = self.seconds
        return OpTotals(
            count=known.count,
            iops=known.iops if known.iops is not None else known.count / seconds if seconds else 0.0,
            bytes=known.bytes,
            bytes_per_s=known.bytes_per_s if known.bytes_per_s is not None else known.bytes / seconds if seconds else 0.0,
            errors=known.errors,
            latency_ns=known.latency,
            service_ns=known.service or known.latency,
        )

    def _job(self) -> JobRecord:
        streams = [{"name": name, **options} for name, options in self._named()]
        depths = {stream.get("queue_depth") for stream in streams}
        name = self.workload[:NAME_WIDTH_MAX]
        return JobRecord(
            workload=name,
            title=f"{name}, measured by {self.origin}",
            group="sequential" if streams and all(stream.get("random_percent") == 0 for stream in streams) else "random",
            target=self.target or f"unknown ({self.origin})",
            seed=0,
            repeat=1,
            duration_s=self.seconds,
            warmup_s=self.warmup_s,
            threads=sum(int(stream.get("threads", 1)) for stream in streams) or 1,
            queue_depth=depths.pop() if len(depths) == 1 else None,
            arrival="open" if streams and all(stream.get("arrival", "closed") != "closed" for stream in streams) else "closed",
            definition=cast("Definition", {"name": name, "stream": streams}),
            options={"duration": int(self.seconds) if self.seconds == int(self.seconds) else self.seconds},
        )

    def _named(self) -> list[tuple[str, Json]]:
        names = list(self.known) or ["stream-1"]
        options = self.streams or [{}]
        return [(name, options[min(position, len(options) - 1)]) for position, name in enumerate(names)]

    def _told(self, partial: Mapping[str, Mapping[str, float]]) -> str:
        figures = [
            f"{op} latency {', '.join(f'{name} {significant(value / 1e6, 4)} ms' for name, value in known.items())}"
            for op, known in partial.items()
        ]
        if self.whole:
            told = ", ".join(f"{name} {significant(value / 1e6, 4)} ms" for name, value in self.whole.items())
            figures.append(f"of all together {told}")
        apart = any(known.latency for by_op in self.known.values() for known in by_op.values())
        whose = "Of its streams together it tells" if apart else "It tells"
        unknown = f" {whose} no distribution of latencies: {'; '.join(figures)}." if figures else ""
        remark = f" {self.remark}" if self.remark else ""
        return f"{unknown}{remark}"

    def _whole_interval(self) -> list[Interval]:
        """One interval that holds the distributions, so that reports draw them; none where there are none."""
        cells = [_cell(stream, op, known) for stream, by_op in self.known.items() for op, known in by_op.items() if known.histogram]
        return [interval(0, (0, round(self.seconds * 1e9)), cells)] if cells else []


def noted(origin: str, source: str, more: str = "") -> Flag:
    """The note that says where a point comes from."""
    return Flag("imported", "note", f"Measured by {origin} and read from {source}, not measured here.{more}", _ADVICE)


def interval(index: int, span_ns: tuple[int, int], cells: list[Cell]) -> Interval:
    """A line of `intervals.jsonl` made of ``cells``."""
    summary: dict[str, Entry] = {}
    for cell in cells:
        known = summary.setdefault(cell["op"], {"bytes": 0, "count": 0, "errors": 0})
        known["bytes"] = (known["bytes"] or 0) + cell["bytes"]
        known["count"] += cell["count"]
    return {
        "index": index,
        "start_ns": span_ns[0],
        "end_ns": span_ns[1],
        "phase": "measure",
        "inflight_mean": None,
        "backlog_ns": None,
        "lag": None,
        "cells": cells,
        "summary": summary,
    }


def cell(stream: str, op: str, count: int, moved: int) -> Cell:
    """What one operation did in an interval, without latencies."""
    return {
        "stream": stream,
        "op": op,
        "part": None,
        "count": count,
        "bytes": moved,
        "errors": {},
        "latency": None,
        "latency_sum_ns": None,
        "service": None,
        "service_sum_ns": None,
    }


def joined(streams: list[Totals]) -> Totals:
    """Several streams together; where more than one has latencies of an operation, no summary of both is known."""
    found: Totals = {}
    for totals in streams:
        for op, total in totals.items():
            known = found.get(op)
            found[op] = total if known is None else _sum(known, total)
    return {op: found[op] for op in OPS if op in found}


def _sum(one: OpTotals, other: OpTotals) -> OpTotals:
    return OpTotals(
        count=one.count + other.count,
        iops=one.iops + other.iops,
        bytes=one.bytes + other.bytes,
        bytes_per_s=one.bytes_per_s + other.bytes_per_s,
        errors=one.errors + other.errors,
        latency_ns=None,
        service_ns=None,
    )


def _cell(stream: str, op: str, known: Known) -> Cell:
    mean = known.latency.mean if known.latency else 0.0
    encoded = known.histogram.encode() if known.histogram else None
    return {**cell(stream, op, known.count, known.bytes), "latency": encoded, "latency_sum_ns": mean * known.count}


def figures_of(known: list[Known]) -> dict[str, float]:
    """Of one operation of all streams: whatever is told of a single one; of several mean and maximum, where all tell these."""
    told = [
        (one.count, dict(one.partial) if one.latency is None else {"mean": one.latency.mean, "max": float(one.latency.max)})
        for one in known
    ]
    if len(told) == 1:
        return told[0][1]
    found = {}
    count = sum(number for number, _ in told)
    if count and all("mean" in figures for _, figures in told):
        found["mean"] = sum(number * figures["mean"] for number, figures in told) / count
    if told and all("max" in figures for _, figures in told):
        found["max"] = max(figures["max"] for _, figures in told)
    return found


def _with_bins(total: OpTotals, known: list[Known]) -> OpTotals:
    """The total of several streams with the summary of their histograms, where all of them have one."""
    histograms = [one.histogram for one in known if one.histogram is not None]
    if total.latency_ns is not None or not histograms or len(histograms) < len(known):
        return total
    whole: Histogram | None = None
    for histogram in histograms:
        whole = added(whole, histogram)
    summary = summary_of(whole, figures_of(known)) if whole is not None else None
    services = {one.service or one.latency for one in known} - {one.latency for one in known}
    return replace(total, latency_ns=summary, service_ns=total.service_ns if services else summary)


def _estimates(partial: Mapping[str, Mapping[str, float]], totals: Totals, whole: Mapping[str, float]) -> dict[str, dict[str, Estimate]]:
    found = {op: {name: Estimate(value) for name, value in known.items()} for op, known in partial.items()}
    of_all = dict(whole)
    count = sum(totals[op].count for op in found)
    if found and count and set(found) == set(totals):
        if all("mean" in known for known in partial.values()):
            of_all["mean"] = sum(totals[op].count * partial[op]["mean"] for op in found) / count
        if all("max" in known for known in partial.values()):
            of_all["max"] = max(known["max"] for known in partial.values())
    if of_all:
        found["all"] = {name: Estimate(value) for name, value in of_all.items()}
    return found


def summary_of(histogram: Histogram, extent: Mapping[str, float] | None = None) -> LatencySummary | None:
    """A histogram's summary; ``extent`` are min, max, mean and stddev where they are known more exactly."""
    if not histogram.count:
        return None
    exact: dict[str, Any] = dict(extent or {})
    return LatencySummary(
        mean=float(exact.get("mean", histogram.mean)),
        min=int(exact.get("min", histogram.min)),
        p50=histogram.percentile(50.0),
        p90=histogram.percentile(90.0),
        p95=histogram.percentile(95.0),
        p99=histogram.percentile(99.0),
        p999=histogram.percentile(99.9),
        max=int(exact.get("max", histogram.max)),
        stddev=float(exact.get("stddev", histogram.stddev)),
    )
