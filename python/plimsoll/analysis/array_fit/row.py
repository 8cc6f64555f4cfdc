"""Measured rows, and how they are read from texts.

A measured row: a load, a figure that it reached, and the values by which rows are told apart.

Model: ``values`` hold numbers for what can be counted (sizes in bytes) and words for the rest. A condition names a column and, if it asks
for one value, the value; sizes are equal however they are written. Short names of columns stand for those of workloads.

    row = Row("se6920.csv:4", {"region_length": 2 << 30, "block_size": 16384, "access": "random"}, 3350.0)
    condition("size=2G").holds(row)        # True

Reading: numbers where a load has numbers, one name per column, one unit per size.

Model: a column's name may end in ``_kb``, ``_mb`` or ``_gb`` (in steps of 1024), and may be a short one. A level follows from threads and
queue depth. Cells that say nothing are left out. A line with several figures (``iops``, ``p99_us``, ``read_mean_ms``) is several rows.

    rows = read_rows("se6920.csv:4", {"access": "random", "size_mb": "2048", "block_kb": "16", "iops": "3340"})
    rows[0].values["block_size"]           # 16384.0
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analysis.array_fit.figure import RATE, demerit, is_distribution, latency_figure
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.units import size_bytes, size_text

Value = float | str

#: Columns with more than one name.
_NAMES = {
    "size": "region_length",
    "span": "region_length",
    "block": "block_size",
    "read_block": "read_block_size",
    "write_block": "write_block_size",
}
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]{1,2})?", re.IGNORECASE)
_SIZE = re.compile(r"[0-9.]+\s*[kmgtp]i?b?|[0-9.]+\s*b", re.IGNORECASE)


@dataclass(frozen=True)
class Row:
    """One measured point."""

    #: Where it stands: file and line, or run and point.
    place: str
    values: Mapping[str, Value]
    #: What was measured: requests per second, or nanoseconds.
    measured: float
    figure: str = RATE
    #: Of a distribution its quantiles.
    responses: tuple[float, ...] = ()

    def number(self, column: str) -> float | None:
        """A value that can be counted; None if the row has none of this name, or a word."""
        value = self.values.get(column)
        return value if isinstance(value, float) else None

    @property
    def kind(self) -> str:
        """What a power law cannot be asked to explain: the figure, the workload and how it goes over the addresses."""
        named = [] if self.figure == RATE else [self.figure]
        return " ".join([*named, *(str(self.values[name]) for name in ("workload", *_WORDS) if name in self.values)])

    def error(self, said: float) -> float:
        """How wrong it is; of a distribution, ``said`` is the demerit."""
        return said if is_distribution(self.figure) else abs(said / self.measured - 1)

    def null(self, training: Sequence[Row]) -> float | None:
        """Of a distribution: the demerit of what the rows of the training had together; None for any other figure."""
        known = [row.responses for row in training if row.responses]
        if not self.responses or not known:
            return None
        return demerit(self.responses, [sum(values) / len(known) for values in zip(*known, strict=True)])


@dataclass(frozen=True)
class Condition:
    """Rows with this value in this column; with no value, each value of it in turn."""

    text: str
    column: str
    value: Value | None

    def holds(self, row: Row) -> bool:
        """Whether the row has the value."""
        return row.values.get(self.column) == self.value


def column_name(text: str) -> str:
    """The name that stands for a column, whichever of its names is typed."""
    name = text.strip().lower().replace("-", "_").replace(" ", "_")
    return _NAMES.get(name, name)


def value_of(text: str) -> Value:
    """A number, a size in bytes, or the word itself. Raises `InputError` without a place where a size can be read in two ways, as 64KB."""
    plain = text.strip()
    if _NUMBER.fullmatch(plain):
        number = float(plain)
        return number if math.isfinite(number) else plain
    return float(size_bytes(plain)) if _SIZE.fullmatch(plain) else plain


def condition(text: str, option: str) -> Condition:
    """``column=value`` or ``column``; `InputError` names the option."""
    name, equals, value = text.partition("=")
    if not name.strip() or (equals and not value.strip()):
        raise InputError(f"{option} {text}: write a column and a value, for example size=8G.")
    try:
        return Condition(text, column_name(name), value_of(value) if equals else None)
    except InputError as problem:
        raise InputError(f"{option} {text}: {problem}") from None


def chosen(rows: Sequence[Row], conditions: Sequence[Condition]) -> list[Row]:
    """The rows for which all conditions hold."""
    left = list(rows)
    for wanted in conditions:
        known_value(rows, wanted, "--where")
        left = [row for row in left if wanted.holds(row)]
    if not left:
        raise InputError("--where: no row has all of these values; leave one out.")
    return left


def known_value(rows: Sequence[Row], wanted: Condition, option: str) -> None:
    """Refuse a condition that no row fulfils."""
    columns = sorted({name for row in rows for name in row.values})
    if wanted.column not in columns:
        raise InputError(f"{option} {wanted.text}: there is no such column; there are {', '.join(columns)}.")
    if wanted.value is None:
        if option == "--where":
            raise InputError(f"{option} {wanted.text}: write a value as well, for example {wanted.column}={_some(rows, wanted.column)[0]}.")
    elif not any(map(wanted.holds, rows)):
        raise InputError(f"{option} {wanted.text}: no row has this value; there are {', '.join(_some(rows, wanted.column))}.")


def _some(rows: Sequence[Row], column: str) -> list[str]:
    values = list(dict.fromkeys(written(row.values[column]) for row in rows if column in row.values))
    return values[:8]


def written(value: Value) -> str:
    """A value as it can be typed: whole kibibytes and more with their unit."""
    if isinstance(value, str):
        return value
    return size_text(int(value)) if value and value % 1024 == 0 else f"{value:g}"


_SCALES = {"_kb": 1 << 10, "_mb": 1 << 20, "_gb": 1 << 30}
_SIZES = ("block_size", "region_length", "read_block_size", "write_block_size")
_RATES = ("rate", "read_rate", "write_rate")
_COUNTS = ("threads", "queue_depth")
_PERCENT = ("read_percent", "random_percent")
_ACCESS = ("random", "sequential")
_ARRIVAL = ("poisson", "constant")
#: Columns that hold one of some words.
_WORDS = {"access": _ACCESS, "write_access": _ACCESS, "arrival": _ARRIVAL, "read_arrival": _ARRIVAL, "write_arrival": _ARRIVAL}
#: Columns that say what was asked for of all requests; all others but those of streams only tell rows apart.
OPTIONS = ("block_size", "region_length", *_COUNTS, *_PERCENT)


def read_rows(place: str, cells: Mapping[str, str]) -> list[Row]:
    """A row for each figure; `InputError` names their place and the column that is wrong."""
    values: dict[str, Value] = {}
    figures: dict[str, float] = {}
    for column, text in cells.items():
        if not text.strip():
            continue
        latency = latency_figure(column)
        if latency is not None:
            figures[latency.name] = _latency_ns(column, text, latency.ns, place)
            continue
        name, value = _cell(column, text, place)
        if name in values:
            raise InputError(f"{place}: {column} says again what another column says; leave one out.")
        values[name] = value
    rate = values.pop(RATE, None)
    if rate is not None or not figures:
        if not isinstance(rate, float) or rate <= 0:
            raise InputError(f"{place}: iops: {quoted(cells.get(RATE, ''))} is not a rate; write requests per second above 0.")
        figures = {RATE: rate, **figures}
    if "level" not in values and any(name in values for name in _COUNTS):
        threads, depth = (values.get(name, 1.0) for name in _COUNTS)
        values["level"] = float(threads) * float(depth)
    return [Row(place, values, measured, figure) for figure, measured in figures.items()]


def _latency_ns(column: str, text: str, ns: float, place: str) -> float:
    value = value_of(text) if _NUMBER.fullmatch(text.strip()) else None
    if not isinstance(value, float) or value <= 0:
        raise InputError(f"{place}: {column}: {quoted(text)} is not a time; write a number above 0.")
    return value * ns


def _cell(column: str, text: str, place: str) -> tuple[str, Value]:
    scale = _SCALES.get(column[-3:], 1)
    plain = column_name(column[:-3] if scale > 1 else column)
    try:
        value = value_of(text)
    except InputError as problem:
        raise InputError(f"{place}: {column}: {problem}") from None
    if scale > 1:
        if not isinstance(value, float):
            raise InputError(f"{place}: {column}: {quoted(text)} is not a number.")
        value *= scale
    words = _WORDS.get(plain)
    if words is not None and value not in words:
        raise InputError(f"{place}: {plain}: {quoted(text)} is unknown; write {' or '.join(words)}.")
    if plain in _RATES and not (isinstance(value, float) and value > 0):
        raise InputError(f"{place}: {column}: {quoted(text)} is not a rate; write requests per second above 0.")
    if plain in _SIZES and not (isinstance(value, float) and value >= 1):
        raise InputError(f"{place}: {column}: {quoted(text)} is not a size; write for example 8KiB.")
    if plain in _COUNTS and not (isinstance(value, float) and value >= 1 and value % 1 == 0):
        raise InputError(f"{place}: {column}: {quoted(text)} is not a number of them; write a whole number above 0.")
    if plain in _PERCENT and not (isinstance(value, float) and 0 <= value <= 100):
        raise InputError(f"{place}: {column}: {quoted(text)} is not a percentage; write a number from 0 to 100.")
    return plain, value
