"""Figures of one row of a result file: of everything, a host, a worker, or a disk.

Model: reads and writes count; transactions are requests, since ours have no replies. Latencies of both together are weighted with their
counts, maxima are the larger one, as Iometer does it. Raw times are in ticks of a clock of 1 GHz, which is the processor speed we write.
Limits: trims and flushes are not among Iometer's operations and stand in no row. Connections, packets and DPC time do not exist here, and
are 0. Rows of workers and disks have no latency bins, because our histograms are handed over for the whole point.

    figures(result.totals, 60.0)["IOps"]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.formats.iometer.result_columns import BINARY, BINS, DECIMAL, MEGABYTES, RATES
from plimsoll.histogram import Histogram
from plimsoll.result import LatencySummary, OpTotals, Totals

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
