"""Reads Iometer's result files: into plain records, a row each, and into points of ours.

Model: a file is a series of blocks that keys with an apostrophe begin. Figures are found by the names of their columns, so files of any
version are read; bandwidth is brought to bytes per second, whatever megabyte the version means. Each test, whose row is called ALL, is a
point. Its rates and amounts are those of the row; the measured time is that in which they were counted, requests over requests per second.
Limits: of the dump of access specifications only the results' own column is read. Of latencies the file holds means and maxima; the bins
of 1.1.0 are too coarse for percentiles and stay unread.

    read_results_csv(text, "results.csv")[0].iops
    points = read_iometer(text, "results.csv")
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from plimsoll.displayed import quoted
from plimsoll.formats.foreign_point import Imported, Known
from plimsoll.formats.iometer.statements import LINE_LENGTH_MAX
from plimsoll.formats.iometer.write_results import BINARY, MEGABYTES, NAMES, RATES
from plimsoll.formats.place import Place
from plimsoll.formats.stored_point import Recorded
from plimsoll.stored import Json, Sample

MIB = 1 << 20
#: What rows are about.
ROW_KINDS = ("ALL", "MANAGER", "PROCESSOR", "WORKER", "DISK", "NETWORK")
_HEADER = "'target type,target name"


@dataclass(frozen=True)
class ResultRow:
    """One row: what it is about, and every figure that it has by the name of its column; times in milliseconds."""

    line: int
    kind: str
    name: str
    spec: str
    version: str
    description: str
    started: str
    figures: Mapping[str, float] = field(repr=False)

    @property
    def iops(self) -> float:
        """Requests per second."""
        return self.figures.get(RATES[0], 0.0)

    @property
    def bytes_per_s(self) -> float:
        """Bandwidth, from the binary megabytes of either form."""
        return MIB * self.figures.get(BINARY[0], self.figures.get(MEGABYTES[0], 0.0))

    @property
    def mean_ms(self) -> float:
        """Mean response time."""
        return self.figures.get("Average Response Time", 0.0)


def read_results_csv(text: str, source: str) -> list[ResultRow]:
    """The rows of all tests in the file; raises `InputError` with line, what is wrong and what would be right."""
    reading = _Reading(Place(source))
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        reading.line(number, line.strip())
    if reading.header is None:
        raise reading.place.at(1).wrong(
            "there is no row of results; an Iometer result file has a line that begins with 'Target Type,Target Name."
        )
    return reading.rows


@dataclass
class _Reading:
    """What is known at the line that is read."""

    place: Place
    header: list[str] | None = None
    rows: list[ResultRow] = field(default_factory=list)
    _block: str = ""
    _version: str = ""
    _description: str = ""
    _started: str = ""
    _spec: str = ""

    def line(self, number: int, line: str) -> None:
        """Take the next line."""
        if len(line) > LINE_LENGTH_MAX:
            raise self.place.at(number).wrong(f"the line has {len(line)} characters, more than any of a result file; this is none.")
        if line.lower().startswith(_HEADER):
            self._begin_rows(number, line)
        elif line.startswith("'"):
            self._block = line[1:].lower()
        elif line and self._block == "rows":
            self._row(number, line)
        elif line:
            self._about(line)

    def _about(self, line: str) -> None:
        if self._block.startswith("test type"):
            self._description = line.partition(",")[2].strip()
        elif self._block == "version":
            self._version = line
        elif self._block == "time stamp":
            self._started = line

    def _begin_rows(self, number: int, line: str) -> None:
        header = [name.strip() for name in self._cells(number, line[1:])]
        twice = next((name for name in header if name and header.count(name) > 1), None)
        if twice is not None:
            raise self.place.at(number).wrong(f"column {quoted(twice[:60])} stands twice; a result file has each once.")
        missing = next((name for name in (NAMES[2], RATES[0]) if name not in header), None)
        if missing is not None:
            raise self.place.at(number).wrong(f"there is no column {quoted(missing)}; a result file has one.")
        self.header, self._block, self._spec = header, "rows", ""

    def _row(self, number: int, line: str) -> None:
        assert self.header is not None
        cells = [cell.strip() for cell in self._cells(number, line)]
        kind = cells[0].upper()
        if kind not in ROW_KINDS:
            raise self.place.at(number).wrong(
                f"{quoted(cells[0][:60])} is not what a row is about; rows begin with {', '.join(ROW_KINDS)}."
            )
        if len(cells) > len(self.header) and any(cells[len(self.header) :]):
            raise self.place.at(number).wrong(
                f"the row has {len(cells)} values for {len(self.header)} columns; names must not have commas."
            )
        named = dict(zip(self.header, cells, strict=False))
        # Only some rows name the specification; those below them are of the same test.
        self._spec = named.get(NAMES[2]) or self._spec
        figures = {name: self._figure(number, name, cell) for name, cell in named.items() if name not in NAMES[:3] and name and cell}
        name = named.get(NAMES[1], "")
        self.rows.append(ResultRow(number, kind, name, self._spec, self._version, self._description, self._started, figures))

    def _figure(self, number: int, name: str, cell: str) -> float:
        try:
            value = float(cell)
        except ValueError:
            raise self.place.at(number).wrong(
                f"{quoted(name)} is {quoted(cell[:60])}, which is no number; write one, or nothing."
            ) from None
        if not math.isfinite(value):
            raise self.place.at(number).wrong(f"{quoted(name)} is {quoted(cell[:60])}, which is no number; write one, or nothing.")
        return value

    def _cells(self, number: int, line: str) -> list[str]:
        try:
            return next(csv.reader([line]))
        except (csv.Error, StopIteration) as problem:
            raise self.place.at(number).wrong(
                f"the row cannot be taken apart at its commas ({problem}); write one value between each."
            ) from None


_MIB = 1 << 20
_MB = 1_000_000
_COLUMNS = {"read": ("Read IOps", "Bytes Read", "Read I/Os", "Read"), "write": ("Write IOps", "Bytes Written", "Write I/Os", "Write")}
_CPU = {"user_percent": "% User Time", "system_percent": "% Privileged Time", "used_percent": "% CPU Utilization"}


def read_iometer(text: str, source: str) -> list[Recorded]:
    """A point for each test. Raises `InputError` that names the line."""
    rows = read_results_csv(text, source)
    starts = [position for position, row in enumerate(rows) if row.kind == "ALL"]
    return [_point(rows[start:end], source) for start, end in pairwise([*starts, len(rows)])]


def _point(rows: Sequence[ResultRow], source: str) -> Recorded:
    whole = rows[0]
    seconds = _seconds(whole)
    disks = list(dict.fromkeys(row.name for row in rows if row.kind == "DISK"))
    point = Imported(
        workload=whole.spec or "iometer",
        origin=f"Iometer {whole.version}".strip(),
        source=source,
        seconds=seconds,
        streams=[_stream(rows)],
        target=", ".join(disks),
        started=_started(whole.started),
        monitor=_monitor(whole, seconds),
    )
    for op, (rate, moved, count, word) in _COLUMNS.items():
        figures = whole.figures
        partial = {
            name: figures[column] * 1e6
            for name, column in (("mean", f"Average {word} Response Time"), ("max", f"Maximum {word} Response Time"))
            if figures.get(column)
        }
        iops = figures.get(rate, 0.0)
        known = Known(
            count=round(figures.get(count, iops * seconds)),
            bytes=round(figures.get(moved, _bytes_per_s(whole, word) * seconds)),
            iops=iops,
            bytes_per_s=_bytes_per_s(whole, word),
            errors=round(figures.get(f"{word} Errors", 0.0)),
            partial=partial,
        )
        point.add("stream-1", op, known)
    return point.recorded()


def _seconds(whole: ResultRow) -> float:
    """The time in which the requests were counted; one second where there are no counts."""
    for rate, _, count, _ in _COLUMNS.values():
        if whole.figures.get(rate) and whole.figures.get(count):
            return whole.figures[count] / whole.figures[rate]
    return 1.0


def _bytes_per_s(whole: ResultRow, word: str) -> float:
    figures = whole.figures
    for column, unit in ((f"{word} MiBps (Binary)", _MIB), (f"{word} MBps (Decimal)", _MB), (f"{word} MBps", _MIB)):
        if column in figures:
            return unit * figures[column]
    return 0.0


def _stream(rows: Sequence[ResultRow]) -> Json:
    workers = [row for row in rows if row.kind == "WORKER"]
    depths = {round(row.figures["Queue Depth"]) for row in workers if row.figures.get("Queue Depth")}
    known: Json = {"threads": len(workers)} if workers else {}
    return {**known, "queue_depth": depths.pop()} if len(depths) == 1 else known


def _monitor(whole: ResultRow, seconds: float) -> Sample:
    cpu = {ours: whole.figures[column] for ours, column in _CPU.items() if column in whole.figures}
    return {"seconds": seconds, "cpu": cpu} if any(cpu.values()) else {}


def _started(text: str) -> str:
    """Iometer's ``2006-01-31 12:00:00:123`` as ISO 8601, which has no zone because the file has none."""
    date, _, clock = text.partition(" ")
    return f"{date}T{clock[:8]}" if len(date) == 10 and len(clock) >= 8 else ""
