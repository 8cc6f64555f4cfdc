"""Reads Iometer's result files into plain records, a row each.

Model: a file is a series of blocks that keys with an apostrophe begin. Figures are found by the names of their columns, so files of any
version are read; bandwidth is brought to bytes per second, whatever megabyte the version means.
Limits: of the dump of access specifications only the results' own column is read.

    read_results_csv(text, "results.csv")[0].iops
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.formats.iometer.place import Place
from plimsoll.formats.iometer.result_columns import BINARY, MEGABYTES, NAMES, RATES
from plimsoll.formats.iometer.statements import LINE_LENGTH_MAX

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
        raise reading.place.wrong(
            1, "there is no row of results; an Iometer result file has a line that begins with 'Target Type,Target Name."
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
            raise self.place.wrong(number, f"the line has {len(line)} characters, more than any of a result file; this is none.")
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
            raise self.place.wrong(number, f"column {twice[:60]!r} stands twice; a result file has each once.")
        missing = next((name for name in (NAMES[2], RATES[0]) if name not in header), None)
        if missing is not None:
            raise self.place.wrong(number, f"there is no column {missing!r}; a result file has one.")
        self.header, self._block, self._spec = header, "rows", ""

    def _row(self, number: int, line: str) -> None:
        assert self.header is not None
        cells = [cell.strip() for cell in self._cells(number, line)]
        kind = cells[0].upper()
        if kind not in ROW_KINDS:
            raise self.place.wrong(number, f"{cells[0][:60]!r} is not what a row is about; rows begin with {', '.join(ROW_KINDS)}.")
        if len(cells) > len(self.header) and any(cells[len(self.header) :]):
            raise self.place.wrong(number, f"the row has {len(cells)} values for {len(self.header)} columns; names must not have commas.")
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
            raise self.place.wrong(number, f"{name!r} is {cell[:60]!r}, which is no number; write one, or nothing.") from None
        if not math.isfinite(value):
            raise self.place.wrong(number, f"{name!r} is {cell[:60]!r}, which is no number; write one, or nothing.")
        return value

    def _cells(self, number: int, line: str) -> list[str]:
        try:
            return next(csv.reader([line]))
        except (csv.Error, StopIteration) as problem:
            raise self.place.wrong(
                number, f"the row cannot be taken apart at its commas ({problem}); write one value between each."
            ) from None
