"""Writes results as Iometer's result file, in the columns of 2008 or of 1.1.0.

Model: a test per result: the access specification that its streams amount to, then a row for all, for the host, for each stream (a worker)
and for each part of the target (a disk). Rows of all and of the host are sums for rates, means weighted with requests for latencies, and
maxima for maxima.
Limits: sizes that are ranges have no line in the specification. The files are Iometer-compatible; what is in them are no Iometer results.

    results_csv([result], {result.id: histogram}, "1.1.0")
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.iometer.result_columns import BINS, columns
from plimsoll.formats.iometer.result_rows import Figures, bin_figures, cpu_figures, figures
from plimsoll.formats.iometer.storage import SECTOR
from plimsoll.formats.iometer.version import Version
from plimsoll.histogram import Histogram
from plimsoll.result import Result

#: The versions whose columns can be written.
VERSIONS = ("2008.06.18", "1.1.0")

#: Columns that stand only where they say something.
_ONLY_WHERE_KNOWN = ("Starting Sector", "Maximum Size", "Queue Depth", *(name for name, _ in BINS))
_SIZE_MAX = 2**30


def results_csv(results: Sequence[Result], histograms: Mapping[str, Histogram], version: str = "1.1.0") -> str:
    """The text of a result file; ``histograms`` holds all latencies of a result by its id, where there are some.

    Raises `InputError` for a version whose columns are not known.
    """
    if version not in VERSIONS:
        raise InputError(f"version {version!r} of Iometer's result files is not known; choose {' or '.join(VERSIONS)}.")
    names = columns(Version(version))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for number, result in enumerate(results):
        _write_head(out, result, version if number == 0 else None)
        _write_specification(out, result)
        out.write("'Results\n'")
        writer.writerow(names)
        for row in _rows(result, histograms.get(result.id)):
            writer.writerow([_cell(name, row) for name in names])
        out.write(f"'Time Stamp\n{_stamp(result)}\n")
    return out.getvalue()


def _write_head(out: io.StringIO, result: Result, version: str | None) -> None:
    if version is not None:
        out.write(f"'Test Type,Test Description\n0,{_plain(result.job.title)}\n'Version\n{version} \n")
    out.write(f"'Time Stamp\n{_stamp(result)}\n")


def _write_specification(out: io.StringIO, result: Result) -> None:
    out.write("'Access specifications\n'Access specification name,default assignment\n")
    out.write(f"{_name(result)},0\n'size,% of size,% reads,% random,delay,burst,align,reply\n")
    for line in _specification(result.job.definition):
        out.write(",".join(f"{value:g}" if isinstance(value, float) else str(value) for value in line) + "\n")
    out.write("'End access specifications\n")


def _stamp(result: Result) -> str:
    """As Iometer writes it: date, time, and milliseconds behind another colon."""
    return f"{result.started[:10]} {result.started[11:19]}:000"


def _plain(text: str) -> str:
    """Iometer does not quote, so a name has no commas and no line ends."""
    return " ".join(text.replace(",", ";").split())


def _name(result: Result) -> str:
    return _plain(result.job.title or result.job.workload)


def _rows(result: Result, histogram: Histogram | None) -> Iterator[Figures]:
    duration_s, title = result.job.duration_s, _name(result)
    whole = figures(result.totals, duration_s)
    whole |= cpu_figures(result.monitor, sum(total.iops for op, total in result.totals.items() if op in ("read", "write")))
    if histogram is not None:
        whole |= bin_figures(histogram)
    streams = {stream.get("name", ""): stream for stream in _streams(result.job.definition)}
    workers = sum(_whole(stream.get("threads"), 1) for stream in streams.values()) or result.job.threads
    counted = {"# Managers": 1, "# Workers": workers, "# Disks": max(1, len(result.parts))}
    yield {"Target Type": "ALL", "Target Name": "All", "Access Specification Name": title, **counted, **whole}
    host = _plain(str((result.host.get("machine") or {}).get("name") or "localhost"))
    yield {"Target Type": "MANAGER", "Target Name": host, **counted, **whole}
    for name, totals in result.streams.items():
        stream = streams.get(name, {})
        counted = {"# Workers": _whole(stream.get("threads"), 1), "# Disks": max(1, len(result.parts))}
        row = {"Target Type": "WORKER", "Target Name": _plain(name), "Access Specification Name": title, **counted}
        yield row | _place(stream) | figures(totals, duration_s)
    for name, totals in (result.parts or {result.job.target: result.totals}).items():
        yield {"Target Type": "DISK", "Target Name": _plain(name), "# Disks": 1, **figures(totals, duration_s)}


def _place(stream: Mapping[str, Any]) -> Figures:
    """Where the stream runs, in sectors, and how deep; shares of a target have no place in Iometer."""
    found: Figures = {"Queue Depth": _whole(stream.get("queue_depth"), 1)}
    for column, key in (("Starting Sector", "region_start"), ("Maximum Size", "region_length")):
        value = stream.get(key, 0)
        if isinstance(value, int):
            found[column] = value // SECTOR
    return found


def _cell(name: str, row: Figures) -> object:
    value = row.get(name)
    if value is None:
        return "" if name in _ONLY_WHERE_KNOWN or name in ("Access Specification Name", "# Managers", "# Workers") else 0
    return f"{value:.6f}" if isinstance(value, float) else value


def _streams(definition: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [stream for stream in definition.get("stream") or [] if isinstance(stream, Mapping)]


def _specification(definition: Mapping[str, Any]) -> Iterator[tuple[float | int, ...]]:
    """The lines that all streams come to, each stream with the share of its number of threads."""
    lines = [line for stream in _streams(definition) for line in _stream_lines(stream)]
    total = sum(line[1] for line in lines)
    for size, weight, reads, random, delay_ms, burst, align in lines:
        yield size, round(100 * weight / total, 4), reads, random, delay_ms, burst, align, 0


def _stream_lines(stream: Mapping[str, Any]) -> Iterator[tuple[float, ...]]:
    threads = _whole(stream.get("threads"), 1)
    entries = stream.get("access") or list(_as_entries(stream))
    total = sum(float(entry.get("weight", 1)) for entry in entries)
    for entry in entries:
        size = _whole(entry.get("size"), 0)
        weight = threads * float(entry.get("weight", 1)) / total
        if 0 < size <= _SIZE_MAX:
            reads, random = _percent(entry, "read_percent"), _percent(entry, "random_percent")
            delay_ms = round(float(entry.get("delay") or 0) * 1000)
            yield size, weight, reads, random, delay_ms, _whole(entry.get("burst"), 1), _whole(entry.get("align"), size)


def _as_entries(stream: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A stream without an access list as lines of one."""
    sizes = stream.get("block_size", 4096)
    shares = sizes if isinstance(sizes, Mapping) else {sizes: 1}
    reads = stream.get("read_percent")
    if reads is None:
        reads = 100 - float(stream.get("write_percent") or 0)
    random = stream.get("random_percent", 100)
    for size, weight in shares.items():
        align = {"align": stream["align"]} if "align" in stream else {}
        yield {"size": _whole(size, 0), "weight": weight, "read_percent": reads, "random_percent": random, **align}


def _percent(entry: Mapping[str, Any], key: str) -> float:
    return float(entry.get(key, 100))


def _whole(value: object, default: int) -> int:
    """Bytes or a number, as the stored definition of a workload has them; texts such as ranges are not."""
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() else default
