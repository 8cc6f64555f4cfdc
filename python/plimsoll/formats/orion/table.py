"""ORION's CSV files: a row for each number of large requests, a column for each number of small ones.

    Large/Small,      1,      2,      3
              0,    108,    215,    318
              1,     96,       ,    287

Model: ``mbps`` has the points with large requests, its columns begin at 0; ``iops`` and ``lat`` have those with small ones, their columns
begin at 1. A point that was not measured is blank. Latencies are milliseconds up to release 11.1 and microseconds from 11.2 on; files of
the latter say what they contain above the table. Names are ``NAME_YYYYMMDD_HHMM_iops.csv``, in release 10.2 ``NAME_iops.csv``.
Limits: a ``lat`` file that does not say its unit is read in the unit given, milliseconds if none is.

    write_table(plane, "iops")
    read_table(text, "mytest_20130722_0953_iops.csv").points[(17, 0)].iops
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.orion.plane import Latency, Plane, Point, Where

Metric = Literal["mbps", "iops", "lat"]
Unit = Literal["ms", "us"]

METRICS: tuple[Metric, ...] = ("mbps", "iops", "lat")
CORNER = "Large/Small"
WIDTH = 7
#: What stands above the table from release 11.2 on.
CONTENTS: dict[Metric, str] = {
    "mbps": "Rates of large requests in MBPS.",
    "iops": "Rates of small requests in IOPS.",
    "lat": "Mean latencies of small requests in microseconds.",
}
_NAME = re.compile(r"(?P<test>.+?)(?:_(?P<day>\d{8})_(?P<time>\d{4}))?_(?P<metric>mbps|iops|lat)\.csv", re.IGNORECASE)
_COUNT_DIGITS = 9


@dataclass(frozen=True)
class TableName:
    """What the name of a file says: the test, when it ran (``20130722_0953``, None in old releases), and what is in it."""

    test: str
    moment: str | None
    metric: Metric


def table_name(test: str, metric: Metric, moment: str | None = None) -> str:
    """The name of a file; ``moment`` is ``YYYYMMDD_HHMM``."""
    return f"{test}_{metric}.csv" if moment is None else f"{test}_{moment}_{metric}.csv"


def read_name(name: str) -> TableName:
    """What a file's name says; raises `InputError` when it is none of ORION's."""
    found = _NAME.fullmatch(name.replace("\\", "/").rpartition("/")[2])
    if found is None:
        raise InputError(f"{name}: not a name of ORION's tables; write NAME_mbps.csv, NAME_iops.csv or NAME_lat.csv.")
    moment = f"{found['day']}_{found['time']}" if found["day"] else None
    metric = next(item for item in METRICS if item == found["metric"].lower())
    return TableName(found["test"], moment, metric)


def write_table(plane: Plane, metric: Metric, unit: Unit = "us") -> str:
    """The file's text; ``unit`` is that of ``lat``, and ``ms`` makes the form of releases up to 11.1."""
    first = 0 if metric == "mbps" else 1
    columns = [few for few in plane.small() if few >= first]
    rows = [many for many in plane.large() if metric != "mbps" or many]
    lines = [] if unit == "ms" else [CONTENTS[metric], ""]
    lines.append(",".join([CORNER, *(f"{few:>{WIDTH}}" for few in columns)]))
    for many in rows:
        cells = [_cell(plane.points.get((few, many)), metric, unit) for few in columns]
        lines.append(",".join([f"{many:>{len(CORNER)}}", *(f"{cell:>{WIDTH}}" for cell in cells)]))
    return "\n".join(lines) + "\n"


def read_table(text: str, name: str, unit: Unit = "ms") -> Plane:
    """The points of one file; ``unit`` is that of a ``lat`` file that does not say it. Raises `InputError` that names the line."""
    metric = read_name(name).metric
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.lstrip().lower().startswith(CORNER.lower())), None)
    if start is None:
        raise InputError(f"{name}: there is no line that begins with '{CORNER},', so this is not a table of ORION's.")
    unit = _unit("\n".join(lines[:start]), unit)
    columns = [_count(cell, f"{name}:{start + 1}") for cell in _cells(lines[start])]
    found: dict[Where, Point] = {}
    for number, line in enumerate(lines[start + 1 :], start=start + 2):
        if line.strip():
            for where, point in _row(line, columns, metric, unit, f"{name}:{number}"):
                if where in found:
                    raise InputError(f"{name}:{number}: the point small {where[0]}, large {where[1]} stands twice; leave one out.")
                found[where] = point
    return Plane(found)


def joined(planes: Sequence[Plane]) -> Plane:
    """One plane with what several files say of the same run."""
    found: dict[Where, Point] = {}
    for plane in planes:
        for where, point in plane.points.items():
            known = found.get(where, Point())
            found[where] = Point(
                known.iops if point.iops is None else point.iops,
                known.mbps if point.mbps is None else point.mbps,
                known.latency if point.latency is None else point.latency,
            )
    return Plane(dict(sorted(found.items())))


def _cell(point: Point | None, metric: Metric, unit: Unit) -> str:
    if point is None:
        return ""
    if metric == "iops":
        return "" if point.iops is None else f"{point.iops:.0f}"
    if metric == "mbps":
        return "" if point.mbps is None else f"{point.mbps:.2f}"
    return "" if point.latency is None else f"{point.latency.mean_us / (1000 if unit == 'ms' else 1):.2f}"


def _unit(above: str, otherwise: Unit) -> Unit:
    said = above.lower()
    if "microsecond" in said or "usec" in said:
        return "us"
    return "ms" if "millisecond" in said or "msec" in said else otherwise


def _cells(line: str) -> list[str]:
    """The cells after the first, without the empty one that a comma at the line's end makes."""
    cells = [cell.strip() for cell in line.split(",")[1:]]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _row(line: str, columns: Sequence[int], metric: Metric, unit: Unit, place: str) -> list[tuple[Where, Point]]:
    many = _count(line.split(",", 1)[0].strip(), place)
    cells = _cells(line)
    if len(cells) > len(columns):
        raise InputError(f"{place}: there are {len(cells)} values for {len(columns)} columns; write one for each column, or a blank.")
    return [((few, many), _point(cell, metric, unit, place)) for few, cell in zip(columns, cells, strict=False) if cell]


def _count(text: str, place: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _COUNT_DIGITS):
        raise InputError(f"{place}: {quoted(text[:40])} is not a number of outstanding requests; write a whole number, 0 or more.")
    return int(text)


def _point(text: str, metric: Metric, unit: Unit, place: str) -> Point:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise InputError(f"{place}: {quoted(text[:40])} is not a measured value; write a number, 0 or more, or a blank.")
    if metric == "iops":
        return Point(iops=value)
    return Point(mbps=value) if metric == "mbps" else Point(latency=Latency(value * 1000 if unit == "ms" else value))
