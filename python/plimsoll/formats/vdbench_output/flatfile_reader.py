"""Vdbench's flatfile as points of ours: each run is a point, found by the names in the header.

Model: `entries` reads the rows. Reads and writes of a workload on devices are told apart by ``read%``, their bytes by
columns that Plimsoll writes; workloads on file systems have columns for every operation.
Limits: a flatfile holds means, maxima and standard deviations only, no distribution; with reads and writes mixed, their maxima are told
apart only where it has columns of their own, and of both together otherwise.

    points = read_flatfile(text, "flatfile.html")
"""

from __future__ import annotations

from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.imported import Imported, Known, cell, interval
from plimsoll.formats.recorded import Recorded
from plimsoll.formats.vdbench_output.entries import OF_FILES, Entry, RunRows, asked, entries, run_of_rows
from plimsoll.formats.vdbench_output.file_flatfile_reader import file_point
from plimsoll.formats.vdbench_output.measured_span import stated_spans

Json = dict[str, Any]

_MB = 1 << 20


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


def _intervals(run: RunRows) -> list[Json]:
    lines = []
    for index, (row, (start, end)) in enumerate(zip(run.measured, run.spans_s, strict=True)):
        shares = [(op, row.known("rate") * share) for op, share in _shares(row)]
        cells = [
            cell("stream-1", op, round(rate * (end - start)), round(_bytes_per_s(op, row, rate) * (end - start))) for op, rate in shares
        ]
        lines.append(interval(index, (round(start * 1e9), round(end * 1e9)), cells))
    return lines
