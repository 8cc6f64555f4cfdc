"""The counters of a mail store: twelve columns for each database, without and with what goes on in the background.

Model: a `Row` has the columns of the original's report. Transactional I/O is what operations wait for or leave behind: pages and log.
Maintenance and replication are told beside it, and all together is both. The last row of every table is the sum: rates add up, latencies
and sizes are means over all requests. *Achieved* transfers are the reads and writes of all databases per second, without log and
background.
Limits: a checkpoint is written to the log and counts as a write of it.

    counters(result).achieved_per_s
    counters(result).transactional[0].read_mean_ns
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from plimsoll.analysis.point.host_use import real_s
from plimsoll.records import dataclass
from plimsoll.result import OpTotals, Result, Totals

#: What the key ``driver`` of a mail store's workload says.
DRIVER = "mailstore"
#: The last row of every table.
ALL_DATABASES = "all databases"


@dataclass(frozen=True)
class Row:
    """One database, or all. Latencies are nanoseconds and sizes bytes, on the mean; None where nothing was done."""

    name: str
    read_mean_ns: float | None
    write_mean_ns: float | None
    reads_per_s: float
    writes_per_s: float
    read_bytes: float | None
    write_bytes: float | None
    log_read_mean_ns: float | None
    log_write_mean_ns: float | None
    log_reads_per_s: float
    log_writes_per_s: float
    log_read_bytes: float | None
    log_write_bytes: float | None


@dataclass(frozen=True)
class Background:
    """What was read in the background of one database, or of all."""

    name: str
    reads_per_s: float
    read_bytes: float | None


@dataclass(frozen=True)
class Counters:
    """See the module. ``asked_per_s`` are operations per second, None where threads went on at once."""

    achieved_per_s: float
    operations_per_s: float
    asked_per_s: float | None
    threads: int
    databases: tuple[dict[str, Any], ...]
    transactional: tuple[Row, ...]
    maintenance: tuple[Background, ...]
    replication: tuple[Background, ...]
    together: tuple[Row, ...]


def is_mailstore(result: Result) -> bool:
    """Whether a result is of a mail store and has figures."""
    return result.job.definition.get("driver") == DRIVER and bool(result.streams)


def section(result: Result) -> dict[str, Any]:
    """What the driver left in a result: databases, limits, warnings."""
    return result.engine.get("mailstore") or {}


def counters(result: Result) -> Counters:
    """The counters of a result for which `is_mailstore` holds."""
    named = [*result.streams.items(), (ALL_DATABASES, _sum(list(result.streams.values())))]
    databases = tuple(section(result).get("databases") or ())
    asked: Any = dict(result.job.definition).get("rate")
    operations = sum(sum(database["counts"]["operations"].values()) for database in databases)
    return Counters(
        achieved_per_s=sum(_rate(totals, op) for totals in result.streams.values() for op in ("read", "write")),
        operations_per_s=operations / measured_s if (measured_s := real_s(result)) else 0.0,
        asked_per_s=float(asked) if asked is not None else None,
        threads=result.job.threads,
        databases=databases,
        transactional=tuple(_row(name, totals) for name, totals in named),
        maintenance=tuple(_background(name, totals, "maintenance-read") for name, totals in named),
        replication=tuple(_background(name, totals, "replication-read") for name, totals in named),
        together=tuple(_row(name, _with_background(totals)) for name, totals in named),
    )


def _row(name: str, totals: Totals) -> Row:
    return Row(
        name=name,
        read_mean_ns=_mean(totals, "read"),
        write_mean_ns=_mean(totals, "write"),
        reads_per_s=_rate(totals, "read"),
        writes_per_s=_rate(totals, "write"),
        read_bytes=_bytes(totals, "read"),
        write_bytes=_bytes(totals, "write"),
        log_read_mean_ns=_mean(totals, "log-read"),
        log_write_mean_ns=_mean(totals, "log-write"),
        log_reads_per_s=_rate(totals, "log-read"),
        log_writes_per_s=_rate(totals, "log-write"),
        log_read_bytes=_bytes(totals, "log-read"),
        log_write_bytes=_bytes(totals, "log-write"),
    )


def _background(name: str, totals: Totals, op: str) -> Background:
    return Background(name, _rate(totals, op), _bytes(totals, op))


def _mean(totals: Totals, op: str) -> float | None:
    latency = totals[op].latency_ns if op in totals else None
    return None if latency is None else latency.mean


def _rate(totals: Totals, op: str) -> float:
    return totals[op].iops if op in totals else 0.0


def _bytes(totals: Totals, op: str) -> float | None:
    return totals[op].bytes / totals[op].count if op in totals and totals[op].count else None


def _with_background(totals: Totals) -> Totals:
    """Maintenance as reads of the database, replication as reads of the log."""
    joined = dict(totals)
    for op, background in (("read", "maintenance-read"), ("log-read", "replication-read")):
        found = [totals[name] for name in (op, background) if name in totals]
        if found:
            joined[op] = _joined(found)
    return joined


def _sum(databases: Sequence[Totals]) -> Totals:
    ops = dict.fromkeys(op for totals in databases for op in totals)
    return {op: _joined([totals[op] for totals in databases if op in totals]) for op in ops}


def _joined(found: Sequence[OpTotals]) -> OpTotals:
    """Several totals as one, as far as counters need it: percentiles are those of the first."""
    answered = [total for total in found if total.latency_ns is not None]
    if len(found) == 1 or not answered:
        return found[0]

    def added(value: Callable[[OpTotals], float]) -> float:
        return sum(value(total) for total in found)

    count = int(added(lambda total: total.count))
    summed = sum(total.count * total.latency_ns.mean for total in answered if total.latency_ns)
    slowest = max(total.latency_ns.max for total in answered if total.latency_ns)
    first = answered[0].latency_ns
    return OpTotals(
        count=count,
        iops=added(lambda total: total.iops),
        bytes=int(added(lambda total: total.bytes)),
        bytes_per_s=added(lambda total: total.bytes_per_s),
        errors=int(added(lambda total: total.errors)),
        latency_ns=None if first is None else replace(first, mean=summed / max(count, 1), max=slowest),
        service_ns=None,
    )
