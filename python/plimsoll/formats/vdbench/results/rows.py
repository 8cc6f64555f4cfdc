"""The rows of Vdbench's files: each run definition with its intervals and their average; and what its flatfiles have in common.

Model: everything is computed here once and formatted elsewhere. Rates are per second, response times milliseconds. The number of requests
outstanding follows from Little's law, rate × response time, as no other number of it is kept for each window.
Limits: standard deviations and maxima need the stored distributions; they are None without.

    run = run_of(Recorded(result, intervals, monitor), "oltp-db")
    run.average.both.mean
    print(table(["Run", "rate"], [["rd1", 100.0]]))
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from plimsoll.formats.stored_point import MOVES, Amount, Course, Recorded, Window, added
from plimsoll.histogram import Histogram
from plimsoll.result import LatencySummary, OpTotals, Totals
from plimsoll.stored import Sample

_ABSENT = "n/a"


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """One header of words and rows padded with blanks."""
    texts = [list(header), *([_text(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(header))]
    return "".join(" ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in texts)


def tod_of(when: datetime) -> str:
    """The time of day."""
    return f"{when:%H:%M:%S}.{when.microsecond // 1000:03d}"


def when_of(when: datetime) -> str:
    """The date, time and zone."""
    return f"{when:%m/%d/%Y-%H:%M:%S}-{when.tzname() or 'UTC'}"


def outstanding(course: Course) -> int:
    """Threads of Vdbench's: each has one request outstanding."""
    return sum(int(stream.get("threads", 1)) * int(stream.get("queue_depth", 1)) for stream in course.streams)


def version_of(course: Course) -> str:
    """What wrote the file, in place of Vdbench's version."""
    return f"plimsoll-{course.result.plimsoll_version or 'import'}"


def known_shares(sample: Sample) -> dict[str, float]:
    """The shares of CPU time that were read."""
    return {name: share for name, share in (sample.get("cpu") or {}).items() if share is not None}


def used(cpu: Mapping[str, float]) -> float | None:
    """User and system together; None where either is not known."""
    return cpu["user_percent"] + cpu["system_percent"] if {"user_percent", "system_percent"} <= cpu.keys() else None


def _text(value: Any) -> str:
    if value is None:
        return _ABSENT
    return f"{value:.4f}" if isinstance(value, float) else str(value).replace(" ", "_")


#: What stands in ``reqrate`` when no rate was asked for.
MAXIMUM_RATE = 999977
INTERVAL_MS = 1000.0
_PERCENT = re.compile(r"[0-9.]+ %")


@dataclass(frozen=True)
class Response:
    """Response times of one direction, or of all, in milliseconds; None where they are not known."""

    mean: float | None = None
    max: float | None = None
    std: float | None = None


@dataclass(frozen=True)
class Row:
    """One interval, or the average of all."""

    when: datetime
    label: str
    rate: float
    bytes_per_s: float
    read_bytes_per_s: float
    write_bytes_per_s: float
    read_percent: float
    both: Response
    reads: Response
    writes: Response
    cpu: Mapping[str, float]

    @property
    def bytes_per_io(self) -> float:
        """The mean size of a request."""
        return self.bytes_per_s / self.rate if self.rate else 0.0

    @property
    def queue_depth(self) -> float:
        """Requests outstanding on average."""
        return self.rate * (self.both.mean or 0.0) / 1000


R = TypeVar("R")


@dataclass(frozen=True)
class Run(Generic[R]):
    """One run definition; its rows are those of devices (`Row`) or of file systems."""

    name: str
    started: datetime
    intervals: Sequence[R]
    average: R
    course: Course

    @property
    def asked_rate(self) -> float:
        """The rate that was asked for."""
        return self.course.result.offered_per_s or MAXIMUM_RATE


@dataclass(frozen=True)
class Frame:
    """When a point and its windows were: ``begin`` of all, ``origin`` of what is measured."""

    begin: datetime
    origin: datetime
    origin_ns: int
    length_ms: float


def names(points: Sequence[Recorded]) -> list[str]:
    """A name for each point, with its percentage on a curve as Vdbench writes it; those that occur again are numbered."""
    seen: Counter[str] = Counter()
    found = []
    for point in points:
        name = f"{point.result.job.workload}{_percent(point.result.place)}".replace(" ", "_")
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return found


def _percent(place: Mapping[str, Any]) -> str:
    label = str(place.get("label") or "")
    on_curve = place.get("kind") == "curve" and _PERCENT.fullmatch(label)
    return f"_({label.replace(' ', '')})" if on_curve else ""


def frame_of(point: Recorded, course: Course) -> Frame:
    """When what is in the rows happened."""
    begin = datetime.fromisoformat(point.result.started) if point.result.started else datetime.fromtimestamp(0).astimezone()
    measured = next((interval["start_ns"] for interval in point.intervals if interval["phase"] == "measure"), 0)
    length_ms = INTERVAL_MS if course.seconds >= 2 * INTERVAL_MS / 1000 else 0.0
    return Frame(begin, begin + timedelta(milliseconds=measured / 1e6), measured, length_ms)


def run_of(point: Recorded, name: str) -> Run[Row]:
    """A point on devices."""
    course = Course(point)
    frame = frame_of(point, course)
    windows = list(course.windows(None, frame.length_ms, distributions=True))
    rows = [_interval(frame.origin, number, window, cpu_of(point, frame, window)) for number, window in enumerate(windows, start=1)]
    last = rows[-1].when if rows else frame.origin + timedelta(seconds=course.seconds)
    return Run(name, frame.begin, rows, _average(course, last, max(1, len(rows))), course)


def _interval(origin: datetime, number: int, window: Window, cpu: Mapping[str, float]) -> Row:
    seconds = window.seconds or 1.0
    moved = {op: amount for op, amount in window.amounts.items() if op in MOVES}
    spent = together(list(moved.values()))
    count = spent.count
    return Row(
        when=origin + timedelta(milliseconds=window.end_ms),
        label=str(number),
        rate=count / seconds,
        bytes_per_s=sum(amount.bytes for amount in moved.values()) / seconds,
        read_bytes_per_s=moved["read"].bytes / seconds if "read" in moved else 0.0,
        write_bytes_per_s=moved["write"].bytes / seconds if "write" in moved else 0.0,
        read_percent=100.0 * moved["read"].count / count if count and "read" in moved else 0.0,
        both=response_of(spent),
        reads=response_of(moved.get("read")),
        writes=response_of(moved.get("write")),
        cpu=cpu,
    )


def together(amounts: Sequence[Amount]) -> Amount:
    """What several operations did in one window."""
    whole: Histogram | None = None
    for amount in amounts:
        whole = added(whole, amount.latency) if amount.latency is not None else whole
    count, moved = sum(amount.count for amount in amounts), sum(amount.bytes for amount in amounts)
    return Amount(count, moved, 0.0, sum(amount.service_sum_ns for amount in amounts), whole)


def response_of(amount: Amount | None) -> Response:
    """Of one operation in a window."""
    if amount is None or not amount.count:
        return Response(0.0, 0.0, 0.0)
    mean = amount.service_sum_ns / amount.count / 1e6
    if amount.latency is None:
        return Response(mean)
    return Response(mean, amount.latency.max / 1e6, amount.latency.stddev / 1e6)


def _average(course: Course, when: datetime, count: int) -> Row:
    totals = {op: total for op, total in course.totals(None).items() if op in MOVES}
    rate = sum(total.iops for total in totals.values())
    reads = totals["read"].iops if "read" in totals else 0.0
    return Row(
        when=when,
        label=f"avg_1-{count}",
        rate=rate,
        bytes_per_s=sum(total.bytes_per_s for total in totals.values()),
        read_bytes_per_s=totals["read"].bytes_per_s if "read" in totals else 0.0,
        write_bytes_per_s=totals["write"].bytes_per_s if "write" in totals else 0.0,
        read_percent=100.0 * reads / rate if rate else 0.0,
        both=_both(course, totals),
        reads=_of_one(course, "read", totals),
        writes=_of_one(course, "write", totals),
        cpu=known_shares(course.result.monitor),
    )


def stated(summary: LatencySummary | None) -> Response:
    """Of one operation over the whole point."""
    if summary is None:
        return Response(0.0, 0.0, 0.0)
    return Response(summary.mean / 1e6, summary.max / 1e6, summary.stddev / 1e6)


def _of_one(course: Course, op: str, totals: Totals) -> Response:
    """Of one operation; what an imported point tells without a distribution where there is none."""
    total = totals.get(op)
    if total is None or not total.count:
        return stated(None)
    return stated(total.service_ns) if total.service_ns is not None else _estimated(course, op)


def _both(course: Course, totals: Totals) -> Response:
    found = mixture(list(totals.values()))
    return _estimated(course, "all") if found is None else found


def _estimated(course: Course, op: str) -> Response:
    known = course.result.estimates.get(op, {})
    mean, most = (known[name].value / 1e6 if name in known else None for name in ("mean", "max"))
    return Response(mean, most)


def mixture(totals: Sequence[OpTotals]) -> Response | None:
    """Of several operations together; None where nothing is known of any."""
    timed = [(total.count, total.service_ns) for total in totals if total.service_ns is not None and total.count]
    if len(timed) < 2:
        return stated(timed[0][1]) if timed else None
    count = sum(number for number, _ in timed)
    mean_ns = sum(number * summary.mean for number, summary in timed) / count
    # The variance of a mixture is the mean of squares less the square of the mean.
    squares = sum(number * (summary.stddev**2 + summary.mean**2) for number, summary in timed) / count
    return Response(mean_ns / 1e6, max(summary.max for _, summary in timed) / 1e6, max(0.0, squares - mean_ns**2) ** 0.5 / 1e6)


def cpu_of(point: Recorded, frame: Frame, window: Window) -> dict[str, float]:
    """Mean CPU shares of the samples that ended in the window."""
    found: list[Mapping[str, Any]] = []
    for sample in point.monitor:
        ended_ms = (sample.get("end_ns", 0) - frame.origin_ns) / 1e6
        if window.start_ms < ended_ms <= window.end_ms + 1 and (shares := sample.get("cpu")):
            found.append(shares)
    return {name: sum(one[name] for one in found) / len(found) for name in found[0]} if found else {}
