"""Measured rows with the loads that made them: of a CSV file, of a stored run, of published figures, or of a trace.

Model: a point of a run brings its workload. A row of a CSV file or of published figures names one in its column ``workload``, or gets the
one that was typed (``se6920-{access}`` takes a word from a column), or else a plain stream; its sizes, threads and shares are set on it.
A row with rates (``rate``, or ``read_rate`` and ``write_rate``) is of requests that are due at random instants, or where ``arrival``,
``read_arrival`` or ``write_arrival`` is constant at equal gaps, reads and writes in a stream each. A trace (``trace:FILE``) is four
rows, a quarter of its time each, told apart by ``part``.

    measured = measured_rows("se6920.csv", RowChoice(workload="se6920-{access}"), "array:se6920-raid1")
    measured[0].row.iops, measured[0].load.workload
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll import catalog
from plimsoll.analysis.array_fit.figure import RATE, is_latency
from plimsoll.analysis.array_fit.row import OPTIONS, Condition, Row, chosen, read_rows
from plimsoll.analysis.point.definition import streams
from plimsoll.displayed import quoted
from plimsoll.engine.block import native
from plimsoll.errors import InputError, PlimsollError
from plimsoll.formats import rows as table
from plimsoll.points.array_runs import Load
from plimsoll.points.point import changed, setting
from plimsoll.result import Result
from plimsoll.store.reader import open_run
from plimsoll.stored import Definition
from plimsoll.target import target_of

PUBLISHED = "published:"
TRACE = "trace:"
#: Of requests that are due at instants so many may be outstanding: more than any device takes up.
_OUTSTANDING = 4096
#: What plain streams may differ in; all other options have to be as they are by default.
_PLAIN = ("name", "block_size", "region_length", "read_percent", "random_percent", "threads", "queue_depth", "sequential", "direct")
_BRACE = re.compile(r"\{(\w+)\}")
#: What a random share of all or nothing is called.
_ACCESS = {100: "random", 0: "sequential"}


@dataclass(frozen=True)
class RowChoice:
    """What was typed about the rows."""

    where: Sequence[Condition] = ()
    workload: str | None = None
    settings: Sequence[str] = ()
    #: Where runs called by name are kept.
    out: str = "results"


@dataclass(frozen=True)
class Measured:
    """A row and its load."""

    row: Row
    load: Load
    #: Rows with one number are figures of one load.
    number: int = 0
    #: Of a trace what was measured of all its parts.
    parts: tuple[tuple[float, ...], ...] = ()


def measured_rows(source: str, asked: RowChoice, target: str) -> list[Measured]:
    """The rows that were chosen, in their order."""
    size_bytes = float(native().inspect_target(target_of(target))["size_bytes"])
    if source.startswith(TRACE):
        from plimsoll.points.measured_trace import measured_parts

        _without_workload(asked, "a trace says itself what was asked for; leave it out.")
        parts = measured_parts(source.removeprefix(TRACE), target)
        responses = tuple(row.responses for row, _ in parts)
        kept = {row.figure for row in chosen([row for row, _ in parts], asked.where)}
        return [Measured(row, load, 0, responses) for row, load in parts if row.figure in kept]
    if not (source.startswith(PUBLISHED) or source.lower().endswith(".csv") or os.path.isfile(source)):
        return _of_run(source, asked, size_bytes)
    rows = chosen(list(_published(source) if source.startswith(PUBLISHED) else _of_file(source)), asked.where)
    together: dict[str, list[Row]] = {}
    for row in rows:
        together.setdefault(row.place, []).append(row)
    loads = {place: (number, _load(figures, asked, size_bytes)) for number, (place, figures) in enumerate(together.items())}
    return [Measured(row, load, number) for row in rows for number, load in (loads[row.place],)]


def _without_workload(asked: RowChoice, why: str) -> None:
    for option, given in (("--workload", asked.workload), ("--set", asked.settings)):
        if given:
            raise InputError(f"{option}: {why}")


def _of_file(path: str, *, shipped: bool = False) -> Iterator[Row]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text, so not a CSV file.") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({str(problem.strerror).lower()}); give a CSV file, a run, or published:NAME.") from None
    name = os.path.basename(path) if shipped else path
    for number, cells in table.read(text, path):
        yield from read_rows(f"{name}:{number}", cells)


def _published(source: str) -> Iterator[Row]:
    name = source.removeprefix(PUBLISHED)
    path = catalog.matrix(name)
    if path is not None:
        yield from _of_file(path, shipped=True)
        return
    for number, row in enumerate(catalog.published(name)["rows"], start=1):
        if row["metric"] == RATE and row["match"] is not None:
            match = row["match"]
            texts = {"label": row["label"], "workload": match.get("workload", ""), "iops": row["value"], **match.get("settings", {})}
            yield from read_rows(f"{source}, row {number}", {key: str(value) for key, value in texts.items()})


def _of_run(source: str, asked: RowChoice, size_bytes: float) -> list[Measured]:
    _without_workload(asked, "the points of a run say themselves what was asked for; leave it out.")
    found: list[Measured] = []
    for point in open_run(source, asked.out).points:
        result = point.result
        iops = sum(total.iops for total in result.totals.values())
        if result.status == "complete" and iops > 0:
            (row,) = read_rows(f"{source}, point {point.id}", _cells(result, iops))
            mean_bytes = sum(total.bytes_per_s for total in result.totals.values()) / iops
            definition = result.job.definition
            load = Load(definition, iops, mean_bytes, _range(definition, size_bytes), _places(definition))
            found.append(Measured(row, load, len(found)))
    if not found:
        raise InputError(f"{source}: the run has no complete point with requests; measure some first, for example with 'plimsoll matrix'.")
    kept = {row.place for row in chosen([measured.row for measured in found], asked.where)}
    return [measured for measured in found if measured.row.place in kept]


def _cells(result: Result, iops: float) -> dict[str, str]:
    """A point in the columns of a file; what its streams differ in is left out."""
    cells = {"workload": result.job.workload, "threads": str(result.job.threads), "iops": repr(iops)}
    if result.job.queue_depth is not None:
        cells["queue_depth"] = str(result.job.queue_depth)
    found = streams(result.job.definition)
    for name in ("block_size", "region_length", "read_percent", "random_percent"):
        values = {repr(stream.get(name)) for stream in found}
        value = found[0].get(name) if len(values) == 1 else None
        if isinstance(value, (int, float)):
            cells[name] = repr(value)
    random_percent = float(cells.get("random_percent", -1))
    return cells | ({"access": _ACCESS[int(random_percent)]} if random_percent in _ACCESS else {})


def _load(figures: Sequence[Row], asked: RowChoice, size_bytes: float) -> Load:
    engine = native()
    row = figures[0]
    try:
        workload, options = engine.check_workload(_document(row, asked), "the workload"), engine.check_job({})
        of_kinds = "read_rate" in row.values or "write_rate" in row.values
        set_here = [(name, _typed(row.values[name])) for name in OPTIONS if name in row.values and not (of_kinds and name == "block_size")]
        workload, _ = changed(workload, options, engine, [*set_here, *map(setting, asked.settings)])
    except PlimsollError as problem:
        raise InputError(f"{row.place}: {problem}") from None
    size = streams(workload)[0].get("block_size")
    block_bytes = float(size) if isinstance(size, int) else row.number("block_size") or 4096.0
    rates = [row.number(name) for name in ("rate", "read_rate", "write_rate")]
    rarest = min((rate for rate in rates if rate), default=None)
    return Load(workload, _iops(figures), block_bytes, _range(workload, size_bytes), _places(workload), rarest)


def _iops(figures: Sequence[Row]) -> float:
    """Requests per second: asked for, measured, or as follows from the responses of so many at a time."""
    row = figures[0]
    asked = [row.number(name) for name in ("rate", "read_rate", "write_rate")]
    if any(asked):
        return sum(rate for rate in asked if rate)
    measured = [one.measured for one in figures if one.figure == RATE]
    if measured:
        return measured[0]
    return (row.number("level") or 1.0) * 1e9 / min(one.measured for one in figures if is_latency(one.figure))


def _document(row: Row, asked: RowChoice) -> dict[str, Any]:
    name = asked.workload or row.values.get("workload")
    if name is not None:
        return catalog.load(catalog.sources(_BRACE.sub(lambda brace: _word(row, brace[1]), str(name)))[0])
    if "read_rate" in row.values or "write_rate" in row.values:
        return {"name": "measured", "stream": [_of_kind(row, kind) for kind in ("read", "write") if f"{kind}_rate" in row.values]}
    if "block_size" not in row.values or ("access" not in row.values and "random_percent" not in row.values):
        raise InputError("it has no workload, and no block_size and access to make one of; give --workload or these columns.")
    one_after_another = {"random_percent": 0, "sequential": "shared"}
    stream = {"random_percent": 100} if row.values.get("access") != "sequential" else one_after_another
    rate = {} if "rate" not in row.values else _due(row, "rate", "arrival")
    return {"name": "measured", "stream": [{**stream, **rate, "block_size": _typed(row.values["block_size"])}]}


def _of_kind(row: Row, kind: str) -> dict[str, Any]:
    """The stream of reads or of writes."""
    block = row.values.get(f"{kind}_block_size", row.values.get("block_size"))
    if block is None:
        raise InputError(f"it has no {kind}_block_size; give this column, or block_size.")
    access = row.values.get("write_access" if kind == "write" else "access", "random")
    places = {"random_percent": 100} if access == "random" else {"random_percent": 0, "sequential": "shared"}
    percent = 100 if kind == "read" else 0
    due = _due(row, f"{kind}_rate", f"{kind}_arrival")
    return {"name": f"{kind}s", "read_percent": percent, "block_size": _typed(block), **places, **due}


def _due(row: Row, rate: str, arrival: str) -> dict[str, Any]:
    """When requests are due: at random instants, unless the row says at equal gaps."""
    return {"arrival": row.values.get(arrival, "poisson"), "rate": row.values[rate], "queue_depth": _OUTSTANDING}


def _word(row: Row, column: str) -> str:
    if column not in row.values:
        raise InputError(f"--workload: there is no column {quoted(column)} to take a word from; there are {', '.join(sorted(row.values))}.")
    return str(row.values[column])


def _typed(value: float | str) -> Any:
    """A number as workloads have it."""
    return int(value) if isinstance(value, float) and value % 1 == 0 else value


def _places(workload: Definition) -> str:
    """Where a load of nothing but reads of one size goes; options that say anything else make it another."""
    found = streams(workload)
    stream = found[0]
    default = native().check_workload({"stream": [{}]}, "the default")["stream"][0]
    plain = all(value == default.get(option) for option, value in stream.items() if option not in _PLAIN)
    if len(found) > 1 or not plain or not isinstance(stream.get("block_size"), int) or stream.get("read_percent") != 100:
        return "other"
    return {100.0: "uniform", 0.0: "sequential"}.get(stream.get("random_percent", -1), "other")


def _range(workload: Definition, size_bytes: float) -> float:
    """The bytes that requests go over: of the largest stream."""
    lengths = [stream.get("region_length") for stream in streams(workload)]
    return max((float(length) if isinstance(length, int) and length else size_bytes for length in lengths), default=size_bytes)
