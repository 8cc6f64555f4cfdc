"""fio's logs as points of ours: the files of one prefix are a point, its job numbers are added up.

Model: an averaged log (``log_avg_msec``) holds one line per window and direction; the rate times the window is a count, the bandwidth
times the window is an amount. A latency log without averages holds every request with its size, so that it alone is enough and its
latencies make a histogram; so do the bins of ``clat_hist``. Averaged latencies make a mean. Names of bench-fio tell rw, iodepth and
numjobs.
Limits: averaged logs need the ``iops`` log; without the ``bw`` log the amount of data is not known and stands as 0. The last window is as
long as the time since the one before.

    points = read_logs({"randread_iops.1.log": text, "randread_bw.1.log": text})
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.errors import InputError
from plimsoll.formats.fio.results.bins import BINS, histogram_of, value_of
from plimsoll.formats.fio.results.read_json import known_options
from plimsoll.formats.foreign_point import Imported, Known, cell, interval, summary_of
from plimsoll.formats.stored_point import MOVES, Recorded, added
from plimsoll.histogram import Histogram
from plimsoll.stored import Cell, Interval, Json

_NAME = re.compile(r"(?P<prefix>.+)_(?P<kind>bw|iops|lat|clat|slat|clat_hist)(?:\.(?P<number>\d+))?\.log$")
_BENCH = re.compile(r"(?P<rw>[a-z]+)-iodepth-(?P<iodepth>\d{1,6})-numjobs-(?P<numjobs>\d{1,6})$")
#: They have no line for it, nor have exports of ours.
_UNTOLD = "Logs do not say whether they were modelled; they are taken as measured."
#: Requests of a log without averages are gathered into windows of this length.
_WINDOW_MS = 100


@dataclass(frozen=True)
class Line:
    """One line: when, the value, what was done, and the size of the request, 0 for an average."""

    ms: int
    value: int
    op: str
    size: int
    bins: tuple[int, ...] = ()


@dataclass
class _Window:
    """What one operation did in one window."""

    count: float = 0.0
    bytes: float = 0.0
    spent_ns: float = 0.0
    values: dict[int, int] = field(default_factory=dict)


def is_log(name: str) -> bool:
    """Whether a file of this name is a log of fio's."""
    return _NAME.match(os.path.basename(name)) is not None


def read_logs(texts: Mapping[str, str]) -> list[Recorded]:
    """A point for each prefix among the files. Raises `InputError` that names file and line."""
    prefixes: dict[str, dict[str, list[Series]]] = {}
    for name, text in texts.items():
        matched = _NAME.match(os.path.basename(name))
        if matched is None:
            raise InputError(f"{name}: not the name of a log of fio's; they end in _bw.1.log, _iops.1.log, _lat.1.log or _clat_hist.1.log.")
        kinds = prefixes.setdefault(matched["prefix"], {})
        kinds.setdefault(matched["kind"], []).append(Series(name, list(_parsed(text, name, histograms=matched["kind"] == "clat_hist"))))
    return [_point(prefix, kinds) for prefix, kinds in prefixes.items()]


@dataclass(frozen=True)
class Series:
    """The lines of one file."""

    name: str
    lines: Sequence[Line]

    @property
    def is_averaged(self) -> bool:
        """Whether lines stand for windows rather than for requests."""
        return all(line.size == 0 for line in self.lines)

    def spans(self) -> Iterator[tuple[Line, float]]:
        """Every line with the seconds since the line before of the same operation."""
        last: dict[str, int] = {}
        for line in self.lines:
            yield line, max(0, line.ms - last.get(line.op, 0)) / 1000
            last[line.op] = line.ms


def _parsed(text: str, name: str, *, histograms: bool) -> Iterator[Line]:
    for number, row in enumerate(text.splitlines(), start=1):
        if not row.strip():
            continue
        words = [word.strip() for word in row.split(",")]
        if not all(word.isascii() and word.isdigit() and len(word) < 19 for word in words):
            raise InputError(
                f"{name}:{number}: not numbers separated by commas; a line of a log reads 'milliseconds, value, direction, …'."
            )
        fields = [int(word) for word in words]
        direction = fields[1 if histograms else 2] if len(fields) > 2 else len(MOVES)
        wanted = BINS + 3 if histograms else 3
        if len(fields) < wanted or direction >= len(MOVES):
            what = f"{BINS} bins" if histograms else "time, value and direction (0, 1 or 2)"
            raise InputError(f"{name}:{number}: {len(fields)} numbers, where {what} should stand; give the log as fio wrote it.")
        if histograms:
            yield Line(fields[0], 0, MOVES[direction], fields[2], tuple(fields[3 : 3 + BINS]))
        else:
            yield Line(fields[0], fields[1], MOVES[direction], fields[3] if len(fields) > 3 else 0)


def _point(prefix: str, kinds: Mapping[str, Sequence[Series]]) -> Recorded:
    every = [series for kind in ("lat", "clat") for series in kinds.get(kind, ()) if series.lines and not series.is_averaged]
    if "iops" not in kinds and not every:
        raise InputError(f"{prefix}: its iops log is missing, so requests cannot be counted; give {prefix}_iops.1.log as well.")
    single = [series for series in kinds.get("lat", kinds.get("clat", ())) if not series.is_averaged]
    windows = _from_requests(single) if every and single else _from_averages(kinds)
    if not windows:
        raise InputError(f"{prefix}: its logs hold no line; give logs of a job that ran.")
    point = Imported(
        workload=prefix,
        origin="fio logs",
        source=f"{prefix}_*.log",
        seconds=max(windows) / 1000,
        streams=[_stream(prefix)],
        remark=_UNTOLD if "bw" in kinds or single else f"There is no bandwidth log, so amounts of data are not known. {_UNTOLD}",
    )
    point.intervals = _intervals(windows)
    for op in MOVES:
        point.add("stream-1", op, _known([amounts[op] for amounts in windows.values() if op in amounts]))
    return point.recorded()


def _stream(prefix: str) -> Json:
    bench = _BENCH.search(prefix)
    if bench is None:
        return {}
    untold = ("block_size", "direct", *(("read_percent",) if bench["rw"].endswith("rw") else ()))
    return {name: value for name, value in known_options(bench.groupdict()).items() if name not in untold}


def _from_requests(series: Sequence[Series]) -> dict[int, dict[str, _Window]]:
    windows: dict[int, dict[str, _Window]] = {}
    for one in series:
        for line in one.lines:
            end = (line.ms // _WINDOW_MS + 1) * _WINDOW_MS
            window = windows.setdefault(end, {}).setdefault(line.op, _Window())
            window.count += 1
            window.bytes += line.size
            window.spent_ns += line.value
            window.values[line.value] = window.values.get(line.value, 0) + 1
    return dict(sorted(windows.items()))


def _from_averages(kinds: Mapping[str, Sequence[Series]]) -> dict[int, dict[str, _Window]]:
    ends = sorted({line.ms for line in kinds["iops"][0].lines})
    windows: dict[int, dict[str, _Window]] = {end: {} for end in ends}

    def window_of(line: Line) -> _Window:
        """The window that ends nearest to the line; jobs and kinds of log are some milliseconds apart."""
        after = bisect_left(ends, line.ms)
        near = min(ends[max(0, after - 1) : after + 1], key=lambda end: abs(end - line.ms))
        return windows[near].setdefault(line.op, _Window())

    if not ends:
        return {}
    for line, seconds in _spans(kinds["iops"]):
        window_of(line).count += line.value * seconds
    for line, seconds in _spans(kinds.get("bw", ())):
        window_of(line).bytes += line.value * 1024 * seconds
    latencies = kinds.get("lat", kinds.get("clat", ()))
    for line, _ in _spans(latencies):
        window = window_of(line)
        window.spent_ns += line.value * window.count / len(latencies)
    for line, _ in _spans(kinds.get("clat_hist", ())):
        _count_bins(window_of(line), line)
    return windows


def _spans(several: Sequence[Series]) -> Iterator[tuple[Line, float]]:
    return (span for series in several for span in series.spans())


def _count_bins(window: _Window, line: Line) -> None:
    for index, count in enumerate(line.bins):
        if count:
            window.values[value_of(index)] = window.values.get(value_of(index), 0) + count


def _known(windows: Sequence[_Window]) -> Known:
    count = sum(window.count for window in windows)
    histogram: Histogram | None = None
    for window in windows:
        if window.values:
            histogram = added(histogram, histogram_of(window.values))
    spent_ns = sum(window.spent_ns for window in windows)
    summary = summary_of(histogram) if histogram is not None else None
    return Known(
        count=round(count),
        bytes=round(sum(window.bytes for window in windows)),
        latency=summary,
        histogram=histogram,
        partial={"mean": spent_ns / count} if summary is None and count and spent_ns else {},
    )


def _intervals(windows: Mapping[int, Mapping[str, _Window]]) -> list[Interval]:
    lines: list[Interval] = []
    start = 0
    for index, (end, amounts) in enumerate(windows.items()):
        if end <= start:
            continue
        cells: list[Cell] = []
        for op, window in amounts.items():
            encoded = histogram_of(window.values).encode() if window.values else None
            moved = cell("stream-1", op, round(window.count), round(window.bytes))
            cells.append({**moved, "latency": encoded, "latency_sum_ns": window.spent_ns})
        lines.append(interval(index, (start * 1_000_000, end * 1_000_000), cells))
        start = end
    return lines
