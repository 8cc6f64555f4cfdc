"""Vdbench's flatfile as points of ours: each run is a point, found by the names in the header.

Model: the ``avg_m-n`` row is the tool's own total; it excludes warm-up, and intervals m to n are the measured phase. Reads and writes are
told apart by ``read%``. The length of an interval is the usual time between two rows. Versions add columns, so none is found by its
position, and ``n/a`` is absent.
Limits: a flatfile holds means, maxima and standard deviations only, no distribution; with reads and writes mixed, their maxima only where
it has columns of their own. File-system workloads, whose flatfile has other columns, are refused.

    points = read_flatfile(text, "flatfile.html")
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.imported import Imported, Known, cell, interval
from plimsoll.formats.recorded import Recorded

Json = dict[str, Any]

_NEEDED = ("Run", "Interval", "rate", "resp")
_AVERAGE = re.compile(r"avg_(\d{1,9})-(\d{1,9})$")
_CLOCK = re.compile(r"(\d{1,2}):(\d\d):(\d\d)(?:\.(\d{1,3}))?$")
_DAY_S = 86_400.0
#: No figure of a real run comes near.
_LARGEST = 1e15
#: ``reqrate`` when no rate was asked for.
_MAXIMUM = 999_900


@dataclass(frozen=True)
class Entry:
    """One row by column names."""

    values: Mapping[str, str]
    place: str

    def number(self, name: str) -> float | None:
        """The number in a column; None where it is absent or not known."""
        text = self.values.get(name, "n/a")
        if text.lower() in ("n/a", "na", "-"):
            return None
        try:
            value = float(text.replace(",", ""))
        except ValueError:
            value = -1.0
        if not 0 <= value <= _LARGEST:
            raise InputError(
                f"{self.place}: {name} is {text!r}, where a number of at least 0 should stand; give the file as Vdbench wrote it."
            )
        return value

    def known(self, name: str) -> float:
        """The number in a column, 0 where it is not known."""
        return self.number(name) or 0.0


def is_flatfile(head: str) -> bool:
    """Whether a text begins like a flatfile."""
    return any({"Run", "Interval", "rate"} <= set(line.split()) for line in head.splitlines())


def read_flatfile(text: str, source: str) -> list[Recorded]:
    """A point for each run. Raises `InputError` that names file and line."""
    groups: dict[str, list[Entry]] = {}
    for entry in _entries(text, source):
        groups.setdefault(entry.values["Run"], []).append(entry)
    points = [_point(name, rows, source) for name, rows in groups.items() if not name.startswith("format")]
    if not points:
        raise InputError(f"{source}: no row of a run stands under its header; give the flatfile of a run that measured something.")
    return points


def _entries(text: str, source: str) -> Iterator[Entry]:
    header: list[str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or line.lstrip().startswith(("*", "<")):
            continue
        if "Run" in words and "Interval" in words:
            header = words
            missing = [name for name in _NEEDED if name not in words]
            if missing:
                raise InputError(
                    f"{source}:{number}: the header has no column {missing[0]!r}; give the flatfile of a workload on storage, not on files."
                )
        elif header is None:
            raise InputError(
                f"{source}:{number}: a row stands before the header that names the columns; give the file as Vdbench wrote it."
            )
        elif len(words) != len(header):
            raise InputError(f"{source}:{number}: {len(words)} words under {len(header)} columns; give the file as Vdbench wrote it.")
        else:
            yield Entry(dict(zip(header, words, strict=True)), f"{source}:{number}")


def _point(name: str, rows: Sequence[Entry], source: str) -> Recorded:
    intervals = [row for row in rows if row.values["Interval"].isdecimal()]
    average = next((row for row in rows if _AVERAGE.match(row.values["Interval"])), None)
    measured = _measured(intervals, average)
    length_s = _length_s(intervals)
    sample = average or (measured or rows)[0]
    remark = "" if length_s else "It does not tell how long its intervals are, so counts are those of one second each."
    point = Imported(
        workload=name,
        origin=_origin(sample),
        source=source,
        seconds=max(1, len(measured)) * (length_s or 1.0),
        streams=[_stream(sample)],
        remark=remark,
        monitor={},
    )
    rate = average.known("rate") if average else sum(row.known("rate") for row in measured) / max(1, len(measured))
    for op, share in _shares(sample):
        point.add("stream-1", op, _known(op, (sample, measured, average is not None), (rate * share, point.seconds)))
    point.intervals = _intervals(measured, length_s or 1.0)
    return point.recorded()


def _measured(intervals: Sequence[Entry], average: Entry | None) -> Sequence[Entry]:
    """The intervals that the average covers; without one, all but the first, which Vdbench leaves out."""
    if average is None:
        return intervals[1:] or intervals
    bounds = _AVERAGE.match(average.values["Interval"])
    first, last = (int(bounds[1]), int(bounds[2])) if bounds else (0, 0)
    return [row for row in intervals if first <= int(row.values["Interval"]) <= last]


def _length_s(intervals: Sequence[Entry]) -> float | None:
    """The usual time between two rows."""
    pairs = pairwise(clock for row in intervals if (clock := _clock_s(row)) is not None)
    gaps = [(later - earlier) % _DAY_S for earlier, later in pairs]
    usual = median(gaps) if gaps else 0.0
    # Rows are printed a little after the interval's end; intervals are whole seconds.
    return float(round(usual)) if usual >= 0.5 else usual or None


def _clock_s(row: Entry) -> float | None:
    clock = _CLOCK.match(row.values.get("tod", ""))
    if clock is None:
        return None
    return int(clock[1]) * 3600 + int(clock[2]) * 60 + int(clock[3]) + float(f"0.{clock[4] or 0}")


def _origin(row: Entry) -> str:
    version = row.values.get("version", "n/a")
    return version if version.startswith("plimsoll") else "Vdbench" if version == "n/a" else f"Vdbench {version.removeprefix('vdbench')}"


def _stream(row: Entry) -> Json:
    known: Json = {}
    for column, option in (("rdpct", "read_percent"), ("seekpct", "random_percent"), ("xfersize", "block_size")):
        value = row.number(column) if row.values.get(column, "n/a").replace(".", "").isdigit() else None
        if value is not None:
            known[option] = int(value)
    if row.number("threads"):
        # A thread of Vdbench's has one request outstanding, which is our queue depth.
        known["queue_depth"] = int(row.known("threads"))
    if 0 < row.known("reqrate") < _MAXIMUM:
        known |= {"arrival": "poisson", "rate": row.known("reqrate")}
    return known


def _shares(row: Entry) -> list[tuple[str, float]]:
    reads = row.number("read%")
    if reads is None:
        reads = row.known("rdpct")
    return [(op, share) for op, share in (("read", reads / 100), ("write", 1 - reads / 100)) if share > 1e-9]


def _known(op: str, about: tuple[Entry, Sequence[Entry], bool], amount: tuple[float, float]) -> Known:
    row, measured, is_average = about
    rate, seconds = amount
    alone = len(_shares(row)) == 1
    rows = [row] if is_average else measured
    means = [(one.known("rate"), one.known(f"{op}_resp") or (one.known("resp") if alone else 0.0)) for one in rows]
    weight = sum(count for count, _ in means)
    partial = {"mean": sum(count * mean for count, mean in means) / weight * 1e6} if weight else {}
    slowest = max((one.known(f"{op}_max") or (one.known("resp_max") if alone else 0.0) for one in rows), default=0.0)
    if slowest:
        partial["max"] = slowest * 1e6
    size = row.known("bytes/io") or (row.known("MB/sec") * (1 << 20) / row.known("rate") if row.known("rate") else 0.0)
    return Known(
        count=round(rate * seconds),
        bytes=round(rate * seconds * size),
        iops=rate,
        bytes_per_s=rate * size,
        partial={name: value for name, value in partial.items() if value},
    )


def _intervals(rows: Sequence[Entry], length_s: float) -> list[Json]:
    lines = []
    for index, row in enumerate(rows):
        rate, size = row.known("rate"), row.known("bytes/io")
        cells = [cell("stream-1", op, round(rate * share * length_s), round(rate * share * length_s * size)) for op, share in _shares(row)]
        span = round(index * length_s * 1e9), round((index + 1) * length_s * 1e9)
        lines.append(interval(index, span, cells))
    return lines
