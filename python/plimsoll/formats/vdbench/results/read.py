"""Vdbench's flatfile as points of ours: each run is a point, found by the names in the header.

Model: the ``avg_m-n`` row is the tool's own total; it excludes warm-up, and intervals m to n are the measured phase. The length of an
interval is the usual time between two rows. Versions add columns, so none is found by its position, and ``n/a`` is absent. Reads and
writes of a workload on devices are told apart by ``read%``, their bytes by columns that Plimsoll writes; workloads on file systems have
columns for every operation, each with its own rate and response time. Vdbench's intervals are whole seconds, ours need not be, so a comment
in flatfiles that Plimsoll writes names the instant at which the measured phase began, how long it was, and the target, which says whether
it was a model; counts read back are those that were written.
Limits: a flatfile holds means, maxima and standard deviations only, no distribution; with reads and writes mixed, their maxima are told
apart only where it has columns of their own, and of both together otherwise.

    points = read_flatfile(text, "flatfile.html")
    span_line("rd1", Span("10:00:01.000", 0.083, "/dev/sdb"))     # "* Run rd1 … was measured for 0.083000 s on /dev/sdb."
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.foreign_point import Imported, Known, cell, interval
from plimsoll.formats.stored_point import Recorded
from plimsoll.formats.vdbench.results.file_rows import WORDS
from plimsoll.stored import Cell, Interval, Json

_LINE = re.compile(
    r"^\* Run (\S+) began at (\d\d:\d\d:\d\d\.\d{3}) and was measured for (\d{1,9}\.\d{1,9}) s(?: on (.+))?\.$", re.MULTILINE
)


@dataclass(frozen=True)
class Span:
    """The measured phase: the time of day at which it began, its length, and what was measured; no target where that is not known."""

    began: str
    seconds: float
    target: str = ""


def span_line(name: str, span: Span) -> str:
    """The comment for one run."""
    on = f" on {span.target}" if span.target else ""
    return f"* Run {name} began at {span.began} and was measured for {span.seconds:.6f} s{on}.\n"


def stated_spans(text: str) -> dict[str, Span]:
    """What the comments of a flatfile say, by run."""
    return {found[1]: Span(found[2], float(found[3]), found[4] or "") for found in _LINE.finditer(text) if float(found[3]) > 0}


_NEEDED = ("Run", "Interval", "rate", "resp")
#: What only the flatfile of a workload on file systems has.
OF_FILES = "Read_rate"
_AVERAGE = re.compile(r"avg_(\d{1,9})-(\d{1,9})$")
_CLOCK = re.compile(r"(\d{1,2}):(\d\d):(\d\d)(?:\.(\d{1,3}))?$")
_DAY_S = 86_400.0
#: No figure of a real run comes near.
_LARGEST = 1e15
#: What stands in place of a rate when none was asked for.
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
                f"{self.place}: {name} is {quoted(text)}, where a number of at least 0 should stand; give the file as Vdbench wrote it."
            )
        return value

    def known(self, name: str) -> float:
        """The number in a column, 0 where it is not known."""
        return self.number(name) or 0.0


@dataclass(frozen=True)
class RunRows:
    """A run: the intervals that count, its average where there is one, and how long an interval is where that can be told."""

    measured: Sequence[Entry]
    average: Entry | None
    sample: Entry
    length_s: float | None
    #: What the file itself says of the measured phase.
    stated: Span | None = None

    @property
    def counted(self) -> Sequence[Entry]:
        """The rows that rates are taken from."""
        return [self.average] if self.average is not None else self.measured

    @property
    def seconds(self) -> float:
        """How long was measured."""
        if self.stated is not None:
            return self.stated.seconds
        return max(1, len(self.measured)) * (self.length_s or 1.0)

    @property
    def target(self) -> str:
        """What was measured; empty where it is not told."""
        return self.stated.target if self.stated is not None else ""

    @property
    def spans_s(self) -> list[tuple[float, float]]:
        """From when to when each interval was, counted from the first one's beginning."""
        usual = self.length_s or 1.0
        equal = [(index * usual, (index + 1) * usual) for index in range(len(self.measured))]
        clocks = [clock for row in self.measured if (clock := _clock_s(row)) is not None]
        began = _seconds_of(self.stated.began) if self.stated is not None else None
        if began is None or len(clocks) < len(equal):
            return equal
        ends = [(clock - began) % _DAY_S for clock in clocks]
        rising = all(start < end for start, end in pairwise([0.0, *ends]))
        return list(pairwise([0.0, *ends])) if rising else equal

    @property
    def remark(self) -> str:
        """What the file does not tell."""
        return (
            "" if self.length_s or self.stated else "It does not tell how long its intervals are, so counts are those of one second each."
        )

    @property
    def origin(self) -> str:
        """What wrote the file."""
        version = self.sample.values.get("version", "n/a")
        known = version == "n/a" or version.startswith("plimsoll")
        return f"Vdbench {version.removeprefix('vdbench')}" if not known else "Vdbench" if version == "n/a" else version


def asked(rate: float) -> dict[str, object]:
    """Options of a stream that follow from the rate that was asked for."""
    return {"arrival": "poisson", "rate": rate} if 0 < rate < _MAXIMUM else {}


def entries(text: str, source: str) -> Iterator[Entry]:
    """Every row under a header. Raises `InputError` that names file and line."""
    header: list[str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or line.lstrip().startswith(("*", "<")):
            continue
        if "Run" in words and "Interval" in words:
            header = words
            needed = [name.capitalize() for name in _NEEDED] if OF_FILES in words else _NEEDED
            missing = [name for name in needed if name not in words]
            if missing:
                raise InputError(f"{source}:{number}: the header has no column {quoted(missing[0])}; give the file as Vdbench wrote it.")
        elif header is None:
            raise InputError(
                f"{source}:{number}: a row stands before the header that names the columns; give the file as Vdbench wrote it."
            )
        elif len(words) != len(header):
            raise InputError(f"{source}:{number}: {len(words)} words under {len(header)} columns; give the file as Vdbench wrote it.")
        else:
            yield Entry(dict(zip(header, words, strict=True)), f"{source}:{number}")


def run_of_rows(rows: Sequence[Entry], stated: Span | None = None) -> RunRows:
    """The rows of one run; ``stated`` is what a comment says of its measured phase."""
    intervals = [row for row in rows if row.values["Interval"].isdecimal()]
    average = next((row for row in rows if _AVERAGE.match(row.values["Interval"])), None)
    measured = _measured(intervals, average)
    return RunRows(measured, average, average or (measured or rows)[0], _length_s(intervals), stated)


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
    return _seconds_of(row.values.get("tod", ""))


def _seconds_of(time_of_day: str) -> float | None:
    clock = _CLOCK.match(time_of_day)
    if clock is None:
        return None
    return int(clock[1]) * 3600 + int(clock[2]) * 60 + int(clock[3]) + float(f"0.{clock[4] or 0}")


_MB = 1 << 20


def file_point(name: str, run: RunRows, source: str) -> Recorded:
    """The point of one run."""
    threads = int(run.sample.known("Threads"))
    stream: Json = ({"threads": threads} if threads else {}) | asked(run.sample.known("Reqrate"))
    point = Imported(name, run.origin, source, seconds=run.seconds, streams=[stream], target=run.target, remark=run.remark)
    for op, word in WORDS.items():
        point.add("stream-1", op, _known_operation(word, run.counted, run.seconds))
    for index, (row, (start, end)) in enumerate(zip(run.measured, run.spans_s, strict=True)):
        point.intervals.append(interval(index, (round(start * 1e9), round(end * 1e9)), _cells(row, end - start)))
    return point.recorded()


def _known_operation(word: str, rows: Sequence[Entry], seconds: float) -> Known:
    column = word.capitalize()
    rates = [row.known(f"{column}_rate") for row in rows]
    rate = sum(rates) / max(1, len(rows))
    spent = sum(count * row.known(f"{column}_resp") for count, row in zip(rates, rows, strict=True))
    slowest = max((row.known(f"{column}_resp_max") for row in rows), default=0.0)
    partial = {"mean": spent / sum(rates) * 1e6 if sum(rates) else 0.0, "max": slowest * 1e6}
    bytes_per_s = sum(_moved(word, row) for row in rows) / max(1, len(rows))
    return Known(
        count=round(rate * seconds),
        bytes=round(bytes_per_s * seconds),
        iops=rate,
        bytes_per_s=bytes_per_s,
        partial={name: value for name, value in partial.items() if value},
    )


def _moved(word: str, row: Entry) -> float:
    """Bytes per second that an operation moved."""
    return row.known(f"MB_{word}") * _MB if word in ("read", "write") else 0.0


def _cells(row: Entry, length_s: float) -> list[Cell]:
    return [
        cell("stream-1", op, round(rate * length_s), round(_moved(word, row) * length_s))
        for op, word in WORDS.items()
        if (rate := row.known(f"{word.capitalize()}_rate"))
    ]


def is_flatfile(head: str) -> bool:
    """Whether a text begins like a flatfile."""
    return any({"run", "interval", "rate"} <= set(line.lower().split()) for line in head.splitlines())


def read_flatfile(text: str, source: str) -> list[Recorded]:
    """A point for each run. Raises `InputError` that names file and line."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries(text, source):
        groups.setdefault(entry.values["Run"], []).append(entry)
    stated = stated_spans(text)
    points = [
        (file_point if OF_FILES in rows[0].values else _point)(name, run_of_rows(rows, stated.get(name)), source)
        for name, rows in groups.items()
        if not name.startswith("format")
    ]
    if not points:
        raise InputError(f"{source}: no row of a run stands under its header; give the flatfile of a run that measured something.")
    return points


def _point(name: str, run: RunRows, source: str) -> Recorded:
    """A run on devices."""
    rates = [row.known("rate") for row in run.counted]
    rate = sum(rates) / max(1, len(rates))
    remark = " ".join(part for part in (run.remark, _one_size(run.sample)) if part)
    point = Imported(name, run.origin, source, seconds=run.seconds, streams=[_stream(run.sample)], target=run.target, remark=remark)
    for op, share in _shares(run.sample):
        point.add("stream-1", op, _known(op, run, rate * share))
    if len(_shares(run.sample)) > 1:
        point.whole = _whole(run)
    point.intervals = _intervals(run)
    return point.recorded()


def _whole(run: RunRows) -> dict[str, float]:
    """The maximum of reads and writes together, which no column tells of either."""
    apart = any(row.known(f"{op}_max") for row in run.counted for op in ("read", "write"))
    slowest = max((row.known("resp_max") for row in run.counted), default=0.0)
    return {"max": slowest * 1e6} if slowest and not apart else {}


def _one_size(row: Entry) -> str:
    """What is said where the bytes of reads and writes are not apart."""
    if len(_shares(row)) == 1 or row.number("MB_read") is not None:
        return ""
    return "It tells one size for reads and writes together, so their bytes are divided as their requests are."


def _bytes_per_s(op: str, row: Entry, rate: float) -> float:
    """Of one direction: its own column, or the mean size of all requests."""
    own = row.number(f"MB_{op}")
    if own is not None:
        return own * _MB
    size = row.known("bytes/io") or (row.known("MB/sec") * _MB / row.known("rate") if row.known("rate") else 0.0)
    return rate * size


def _stream(row: Entry) -> Json:
    known: Json = {}
    for column, option in (("rdpct", "read_percent"), ("seekpct", "random_percent"), ("xfersize", "block_size")):
        value = row.number(column) if row.values.get(column, "n/a").replace(".", "").isdigit() else None
        if value is not None:
            known[option] = int(value)
    if row.number("threads"):
        # A thread of Vdbench's has one request outstanding, which is our queue depth.
        known["queue_depth"] = int(row.known("threads"))
    return known | asked(row.known("reqrate"))


def _shares(row: Entry) -> list[tuple[str, float]]:
    reads = row.number("read%")
    if reads is None:
        reads = row.known("rdpct")
    return [(op, share) for op, share in (("read", reads / 100), ("write", 1 - reads / 100)) if share > 1e-9]


def _known(op: str, run: RunRows, rate: float) -> Known:
    row, rows = run.sample, run.counted
    alone = len(_shares(row)) == 1
    means = [(one.known("rate"), one.known(f"{op}_resp") or (one.known("resp") if alone else 0.0)) for one in rows]
    weight = sum(count for count, _ in means)
    partial = {"mean": sum(count * mean for count, mean in means) / weight * 1e6} if weight else {}
    slowest = max((one.known(f"{op}_max") or (one.known("resp_max") if alone else 0.0) for one in rows), default=0.0)
    if slowest:
        partial["max"] = slowest * 1e6
    bytes_per_s = _bytes_per_s(op, row, rate)
    return Known(
        count=round(rate * run.seconds),
        bytes=round(bytes_per_s * run.seconds),
        iops=rate,
        bytes_per_s=bytes_per_s,
        partial={name: value for name, value in partial.items() if value},
    )


def _intervals(run: RunRows) -> list[Interval]:
    lines = []
    for index, (row, (start, end)) in enumerate(zip(run.measured, run.spans_s, strict=True)):
        shares = [(op, row.known("rate") * share) for op, share in _shares(row)]
        cells = [
            cell("stream-1", op, round(rate * (end - start)), round(_bytes_per_s(op, row, rate) * (end - start))) for op, rate in shares
        ]
        lines.append(interval(index, (round(start * 1e9), round(end * 1e9)), cells))
    return lines
