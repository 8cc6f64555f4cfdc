"""Several hosts side by side, as a table: what each did, when it began, and how well its clock is known.

Model: one row per host and operation, for the points that several hosts measured, where there are few of them; the sums stand in the table
of points. Times are microseconds after the common instant, and of the host's clock against that of the host that started all.

    host    status    operation     IOPS  MB/s      mean       p99  began after  clock ahead
    local1  complete  read       412,031  1,688  72.1 µs   120 µs       1.6 µs  -0.0 ± 0.1 µs
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import HostResult, Result
from plimsoll.units import count, duration, megabytes

#: More points than these stand in the report alone.
_POINTS_MAX = 4


def hosts(results: Sequence[Result], screen: Screen = ANY) -> str:
    """The tables; empty where one host measured, or there are many points."""
    shared = [result for result in results if result.hosts]
    if not shared or len(shared) > _POINTS_MAX:
        return ""
    head = ("point", "host", "status", "operation", "per second", "MB/s", "mean", "p99", "began after", "clock ahead")
    return table([head, *(row for result in shared for row in _rows(result))], left=4, screen=screen)


def _rows(result: Result) -> Iterator[tuple[str, ...]]:
    for host in result.hosts:
        if not host.totals:
            yield (result.id, host.name, host.status, "–", "–", "–", "–", "–", *_clock(host))
        for op, total in host.totals.items():
            latency = total.latency_ns
            times = ("–", "–") if latency is None else (duration(latency.mean), duration(latency.p99))
            yield (result.id, host.name, host.status, op, count(total.iops), megabytes(total.bytes_per_s), *times, *_clock(host))


def _clock(host: HostResult) -> tuple[str, str]:
    began = "–" if host.skew_ns is None else f"{host.skew_ns / 1e3:,.1f} µs"
    if host.offset_ns is None or host.offset_bound_ns is None:
        return began, "–"
    return began, f"{host.offset_ns / 1e3:+,.1f} ± {host.offset_bound_ns / 1e3:,.1f} µs"
