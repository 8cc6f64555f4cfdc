"""Metrics: how a figure of a result is named and read, operation and metric, with its confidence interval where there is one.

Model: what `Result.estimates` holds is taken; what it does not hold (results of earlier versions, points without enough intervals, the
maximum, which has no interval) is read from the totals and has no bounds. All operations together are those that the streams draw: the
opening and closing that come with reading a file were asked of nobody. Bandwidth is of everything that moved.

    metric(result, "read", "p99")        # Estimate(value=4_800_000.0, low=…, high=…)      nanoseconds
    metric(result, "all", "iops")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plimsoll.analysis.point.definition import drawn_by_stream, runs_workflows
from plimsoll.result import Estimate, OpTotals, Result
from plimsoll.stored import Definition
from plimsoll.units import count, megabytes

#: Metrics by name. Rates are per second, latencies nanoseconds from the intended instant.
RATES = ("iops", "bytes_per_s")
LATENCIES = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
#: How long mail users wait, all their tasks together (`plimsoll.analysis.point.score`); it has no operation.
SCORE = "score"
#: Metrics that are times.
RESPONSES = (*LATENCIES, SCORE)
METRICS = (*RATES, *RESPONSES)
#: All operations together.
ALL = "all"
IOPS = "IOPS"
MB_PER_S = "MB/s"
#: Of drivers whose operations are no requests to storage.
RATE_NOUNS = {
    "order-entry": "transactions/s",
    "mail": "tasks/s",
    "mailstore": "transfers/s",
    "decision-support": "queries per hour",
    "database-durability": "refreshes/s",
}
#: How many seconds a rate is told for, where it is not one.
_TOLD_FOR_S = {"queries per hour": 3600.0}
_ONE_OF = {
    "transactions/s": "transaction/s",
    "tasks/s": "task/s",
    "transfers/s": "transfer/s",
    "queries per hour": "query per hour",
    "refreshes/s": "refresh/s",
}
#: Requests from this size on are spoken of in MB/s.
LARGE_BYTES = 64 << 10
#: And workloads with this tag, whose source speaks of MB/s.
BANDWIDTH_TAG = "bandwidth"
#: What metrics are called in sentences, where that is not their name.
_CALLED = {"bytes_per_s": "bandwidth", "mean": "mean latency", "max": "maximum latency", "p999": "p99.9"}


def metric(result: Result, op: str, name: str) -> Estimate | None:
    """The metric ``name`` of operation ``op`` (or `ALL`); None when the point has no such figure."""
    found = result.estimates.get(op, {}).get(name)
    if found is not None:
        return found
    if name == SCORE:
        return None
    if op == ALL:
        return metric_of_totals(list(result.totals.values()) if name == "bytes_per_s" else together(result), name)
    return metric_of_totals([result.totals[op]] if op in result.totals else [], name)


def called(op: str, name: str, rate: str = IOPS) -> str:
    """What a sentence calls the metric ``name`` of operation ``op``: ``IOPS``, ``read p99``; ``rate`` is what the load's rate is called."""
    words = rate if name == "iops" else _CALLED.get(name, name)
    return words if op == ALL else f"{op} {words}"


def together(result: Result) -> list[OpTotals]:
    """The totals that all operations together are made of: those of every operation, or where operations came with others, per stream of
    those that were drawn."""
    drawn = drawn_by_stream(result.job.definition)
    if not drawn or not result.streams:
        return list(result.totals.values())
    return [total for name, totals in result.streams.items() for op, total in totals.items() if name not in drawn or op in drawn[name]]


def rate_noun(results: Sequence[Result]) -> str:
    """What people call the rate of these loads: IOPS, or what the driver of all of them does in a second."""
    drivers = {result.job.definition.get("driver") for result in results}
    return RATE_NOUNS.get(str(drivers.pop()), IOPS) if len(drivers) == 1 else IOPS


def spoken(per_s: float, noun: str) -> float:
    """A rate in the unit of its noun."""
    return per_s * _TOLD_FOR_S.get(noun, 1.0)


def in_bytes(results: Sequence[Result]) -> bool:
    """Whether people speak of these loads in MB/s: requests are large on the whole, or every workload is tagged
    `BANDWIDTH_TAG` or runs workflows."""
    if rate_noun(results) != IOPS:
        return False
    if results and all(_speaks_in_bytes(result.job.definition) for result in results):
        return True
    totals = [total for result in results for total in together(result)]
    asked = sum(total.count for total in totals if total.bytes)
    return asked > 0 and sum(total.bytes for total in totals) >= LARGE_BYTES * asked


def one_of(noun: str) -> str:
    """What one of them is called, behind ``per``: ``transaction/s``, ``query per hour``."""
    return _ONE_OF.get(noun, noun)


def _speaks_in_bytes(definition: Definition) -> bool:
    """Whether a workload's source speaks of MB/s; of workflows nobody counts the calls, of which lookups in an index are small ones."""
    return BANDWIDTH_TAG in (definition.get("tags") or ()) or runs_workflows(definition)


def load_noun(results: Sequence[Result]) -> str:
    """What people speak of these loads in: ``MB/s`` where requests are large, else `rate_noun`."""
    return MB_PER_S if in_bytes(results) else rate_noun(results)


def load_text(iops: float, bytes_per_s: float, noun: str = IOPS) -> str:
    """A load in what people speak of it in: ``2,204 IOPS``, ``1,150 MB/s``, ``63,652 queries per hour``."""
    return f"{megabytes(bytes_per_s)} {noun}" if noun == MB_PER_S else f"{count(spoken(iops, noun))} {noun}"


def metric_of_totals(totals: list[OpTotals], name: str) -> Estimate | None:
    """The metric of several operations together, without interval; None when there is none."""
    if not totals:
        return None
    if name in RATES:
        return Estimate(sum(getattr(total, name) for total in totals))
    timed = [total for total in totals if total.latency_ns is not None and total.count]
    if not timed:
        return None
    if name == "mean" and len(timed) > 1:
        count = sum(total.count for total in timed)
        return Estimate(_over(timed, lambda total: total.count * _latency(total, name)) / count)
    # Percentiles of several operations do not add; the slowest operation's is the bound that can be read from totals.
    return Estimate(max(_latency(total, name) for total in timed))


def _over(totals: list[OpTotals], value: Callable[[OpTotals], float]) -> float:
    return sum(value(total) for total in totals)


def _latency(total: OpTotals, name: str) -> float:
    return float(getattr(total.latency_ns, name))
