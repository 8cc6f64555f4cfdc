"""Writes results as Iometer's result file, in the columns of 2008 or of 1.1.0.

Model: a test per result: the access specification that its streams amount to, then a row for all, for the host, for each stream (a worker)
and for each part of the target (a disk). Reads and writes count; transactions are requests, since ours have no replies. Rows of all and of
the host are sums for rates, means weighted with requests for latencies, and maxima for maxima. Times are milliseconds; raw times are in
ticks of a clock of 1 GHz, which is the processor speed we write. 1.1.0 has bandwidth twice (binary and decimal megabytes) in the place of
one trio, and 21 latency bins behind everything else; a megabyte of the older form is 1,048,576 bytes.
Limits: sizes that are ranges have no line in the specification. Trims and flushes are not among Iometer's operations and stand in no row.
Connections, packets and DPC time do not exist here, and are 0. Rows of workers and disks have no latency bins, because our histograms are
handed over for the whole point. The files are Iometer-compatible; what is in them are no Iometer results.

    results_csv([result], {result.id: histogram}, "1.1.0")
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.iometer.model import Version
from plimsoll.formats.iometer.storage import SECTOR
from plimsoll.histogram import Histogram
from plimsoll.result import LatencySummary, OpTotals, Result, Totals

_TRIO = ("", "Read ", "Write ")
_TIMES = ("Response Time", "Read Response Time", "Write Response Time", "Transaction Time", "Connection Time")
_RAW = ("Read Response Time", "Write Response Time", "Transaction Time", "Connection Time")

NAMES = ("Target Type", "Target Name", "Access Specification Name", "# Managers", "# Workers", "# Disks")
RATES = tuple(f"{which}IOps" for which in _TRIO)
MEGABYTES = tuple(f"{which}MBps" for which in _TRIO)
BINARY = tuple(f"{which}MiBps (Binary)" for which in _TRIO)
DECIMAL = tuple(f"{which}MBps (Decimal)" for which in _TRIO)
REST = (
    "Transactions per Second",
    "Connections per Second",
    *(f"Average {time}" for time in _TIMES),
    *(f"Maximum {time}" for time in _TIMES),
    "Errors",
    "Read Errors",
    "Write Errors",
    "Bytes Read",
    "Bytes Written",
    "Read I/Os",
    "Write I/Os",
    "Connections",
    "Transactions per Connection",
    *(f"Total Raw {time}" for time in _RAW),
    *(f"Maximum Raw {time}" for time in _RAW),
    "Total Raw Run Time",
    "Starting Sector",
    "Maximum Size",
    "Queue Depth",
    "% CPU Utilization",
    "% User Time",
    "% Privileged Time",
    "% DPC Time",
    "% Interrupt Time",
    "Processor Speed",
    "Interrupts per Second",
    "CPU Effectiveness",
    "Packets/Second",
    "Packet Errors",
    "Segments Retransmitted/Second",
)

#: Upper edges of the latency bins in nanoseconds, each with the name of its column; a bin counts what lies below its edge and not in an
#: earlier one. The column that says 4.7 s ends at 4 s, as Iometer counts it.
BINS: tuple[tuple[str, int | None], ...] = (
    ("0 to 50 uS", 50_000),
    ("50 to 100 uS", 100_000),
    ("100 to 200 uS", 200_000),
    ("200 to 500 uS", 500_000),
    ("0.5 to 1 mS", 1_000_000),
    ("1 to 2 mS", 2_000_000),
    ("2 to 5 mS", 5_000_000),
    ("5 to 10 mS", 10_000_000),
    ("10 to 15 mS", 15_000_000),
    ("15 to 20 mS", 20_000_000),
    ("20 to 30 mS", 30_000_000),
    ("30 to 50 mS", 50_000_000),
    ("50 to 100 mS", 100_000_000),
    ("100 to 200 mS", 200_000_000),
    ("200 to 500 mS", 500_000_000),
    ("0.5 to 1 S", 1_000_000_000),
    ("1 to 2 s", 2_000_000_000),
    ("2 to 4.7 s", 4_000_000_000),
    ("4.7 to 5 s", 5_000_000_000),
    ("5 to 10 s", 10_000_000_000),
    (" >= 10 s", None),
)


def columns(version: Version) -> tuple[str, ...]:
    """The header of result rows."""
    if not version.modern:
        return (*NAMES, *RATES, *MEGABYTES, *REST)
    return (*NAMES, *RATES, *BINARY, *DECIMAL, *REST, *(name for name, _ in BINS))


MIB = 1 << 20
MB = 10**6
CLOCK_HZ = 10**9
_MS = 1e6

#: An operation that did not occur.
_NOTHING = OpTotals(0, 0.0, 0, 0.0, 0, None, None)

#: Figures by column.
Figures = dict[str, object]


def figures(totals: Totals, duration_s: float) -> Figures:
    """The figures of reads and writes."""
    read, write = totals.get("read", _NOTHING), totals.get("write", _NOTHING)
    return {**_rates(read, write), **_latencies(read, write), **_counts(read, write), **_raw(read, write, duration_s)}


def cpu_figures(monitor: Mapping[str, Any], iops: float) -> Figures:
    """What the processors did, as the monitor saw them; nothing where it did not look."""
    cpu = monitor.get("cpu") or {}
    if "idle_percent" not in cpu:
        return {}
    user, system = float(cpu.get("user_percent", 0)), float(cpu.get("system_percent", 0))
    # Waiting for I/O is idleness, in Iometer too.
    busy = max(0.0, 100 - float(cpu["idle_percent"]) - float(cpu.get("iowait_percent", 0)))
    effectiveness = iops / busy if busy else 0.0
    return {"% CPU Utilization": busy, "% User Time": user, "% Privileged Time": system, "CPU Effectiveness": effectiveness}


def bin_figures(histogram: Histogram) -> Figures:
    """The counts of the 21 latency bins."""
    counts = dict.fromkeys((name for name, _ in BINS), 0)
    for highest_ns, count in histogram.buckets():
        counts[_bin(highest_ns)] += count
    return dict(counts)


def _bin(latency_ns: int) -> str:
    return next(name for name, edge_ns in BINS if edge_ns is None or latency_ns < edge_ns)


def _rates(read: OpTotals, write: OpTotals) -> Figures:
    rates = (read.iops + write.iops, read.iops, write.iops)
    bandwidths = (read.bytes_per_s + write.bytes_per_s, read.bytes_per_s, write.bytes_per_s)
    return {
        **dict(zip(RATES, rates, strict=True)),
        **{name: value / MIB for names in (MEGABYTES, BINARY) for name, value in zip(names, bandwidths, strict=True)},
        **{name: value / MB for name, value in zip(DECIMAL, bandwidths, strict=True)},
        "Transactions per Second": rates[0],
    }


def _latencies(read: OpTotals, write: OpTotals) -> Figures:
    means = (_mean_ns(read), _mean_ns(write))
    count = read.count + write.count
    mean_ns = (means[0] * read.count + means[1] * write.count) / count if count else 0.0
    maxima = (_max_ns(read.latency_ns), _max_ns(write.latency_ns))
    return {
        "Average Response Time": mean_ns / _MS,
        "Average Read Response Time": means[0] / _MS,
        "Average Write Response Time": means[1] / _MS,
        "Average Transaction Time": mean_ns / _MS,
        "Maximum Response Time": max(maxima) / _MS,
        "Maximum Read Response Time": maxima[0] / _MS,
        "Maximum Write Response Time": maxima[1] / _MS,
        "Maximum Transaction Time": max(maxima) / _MS,
    }


def _counts(read: OpTotals, write: OpTotals) -> Figures:
    return {
        "Errors": read.errors + write.errors,
        "Read Errors": read.errors,
        "Write Errors": write.errors,
        "Bytes Read": read.bytes,
        "Bytes Written": write.bytes,
        "Read I/Os": read.count,
        "Write I/Os": write.count,
    }


def _raw(read: OpTotals, write: OpTotals, duration_s: float) -> Figures:
    totals = [round(_mean_ns(part) * part.count) for part in (read, write)]
    maxima = [_max_ns(part.latency_ns) for part in (read, write)]
    return {
        "Total Raw Read Response Time": totals[0],
        "Total Raw Write Response Time": totals[1],
        "Total Raw Transaction Time": sum(totals),
        "Maximum Raw Read Response Time": maxima[0],
        "Maximum Raw Write Response Time": maxima[1],
        "Maximum Raw Transaction Time": max(maxima),
        "Total Raw Run Time": round(duration_s * CLOCK_HZ),
        "Processor Speed": CLOCK_HZ,
    }


def _mean_ns(part: OpTotals) -> float:
    return part.latency_ns.mean if part.latency_ns is not None else 0.0


def _max_ns(summary: LatencySummary | None) -> int:
    return summary.max if summary is not None else 0


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
        raise InputError(f"version {quoted(version)} of Iometer's result files is not known; choose {' or '.join(VERSIONS)}.")
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
