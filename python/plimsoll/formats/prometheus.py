"""A stored run in Prometheus' text format, for a node exporter's textfile collector or a push gateway.

Model: gauges of each point and operation over its measured phase, in base units (seconds, bytes, per second), labelled with run, point,
workload, target, stream (empty for all together) and operation; latencies are a summary with quantiles. No timestamps: a scrape sets its
own.
Limits: sums of a latency summary are its mean times its count, exact to rounding. Intervals are not written; Prometheus has a clock of
its own.

    prometheus_text("2026-11-21T03-36-29_oltp", [Recorded(result, intervals, monitor)])
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.derivation import derivation
from plimsoll.formats.stored_point import Recorded
from plimsoll.result import LatencySummary, OpTotals

Labels = Mapping[str, str]

#: Gauges of an operation: name, what it says, the field of its totals.
_GAUGES = (
    ("plimsoll_operations_per_second", "Operations completed per second.", "iops"),
    ("plimsoll_bytes_per_second", "Bytes moved per second.", "bytes_per_s"),
    ("plimsoll_operations", "Operations completed.", "count"),
    ("plimsoll_bytes", "Bytes moved.", "bytes"),
    ("plimsoll_errors", "Operations that failed.", "errors"),
)
_SUMMARIES = (
    ("plimsoll_latency_seconds", "Latency from the intended instant.", "latency_ns"),
    ("plimsoll_service_seconds", "Service time from submission.", "service_ns"),
)
_QUANTILES = (("0", "min"), ("0.5", "p50"), ("0.9", "p90"), ("0.95", "p95"), ("0.99", "p99"), ("0.999", "p999"), ("1", "max"))


def prometheus_text(run: str, points: Sequence[Recorded]) -> str:
    """The whole exposition, each metric once with its help and type."""
    rows = [row for point in points for row in _rows(run, point)]
    lines: list[str] = []
    for name, help_text, field in _GAUGES:
        lines += [f"# HELP {name} {help_text}", f"# TYPE {name} gauge"]
        lines += [f"{name}{_labels(labels)} {getattr(total, field)}" for labels, total in rows]
    for name, help_text, field in _SUMMARIES:
        lines += [f"# HELP {name} {help_text}", f"# TYPE {name} summary"]
        for labels, total in rows:
            lines += _summary(name, labels, getattr(total, field), total.count)
    lines += _outstanding(run, points)
    lines += ["# HELP plimsoll_point_ok Whether the point was measured to its end.", "# TYPE plimsoll_point_ok gauge"]
    for point in points:
        lines.append(f"plimsoll_point_ok{_labels(_point_labels(run, point))} {int(point.result.status == 'complete')}")
    lines += ["# HELP plimsoll_flags Doubts about the point's numbers.", "# TYPE plimsoll_flags gauge"]
    for point in points:
        for severity in ("invalid", "doubt", "note"):
            count = sum(flag.severity == severity for flag in point.result.flags)
            lines.append(f"plimsoll_flags{_labels({**_point_labels(run, point), 'severity': severity})} {count}")
    lines += _derived(run, points)
    return "\n".join(lines) + "\n"


def _derived(run: str, points: Sequence[Recorded]) -> Iterator[str]:
    """Of loads that are modelled on a published benchmark, which; its results are not comparable."""
    found = [(point, derived) for point in points if (derived := derivation(point.result)) is not None]
    if found:
        yield "# HELP plimsoll_derived What the point's load is modelled on and not comparable with, in a label."
        yield "# TYPE plimsoll_derived gauge"
    for point, derived in found:
        yield f"plimsoll_derived{_labels({**_point_labels(run, point), 'derived': derived})} 1"


def _outstanding(run: str, points: Sequence[Recorded]) -> Iterator[str]:
    """What had no answer when the measured time ended, and what latencies were at least with it."""
    owed = [({**_point_labels(run, point), "op": op}, one) for point in points for op, one in point.result.outstanding.items()]
    if not owed:
        return
    yield "# HELP plimsoll_outstanding Operations without an answer when the measured time ended."
    yield "# TYPE plimsoll_outstanding gauge"
    yield from (f"plimsoll_outstanding{_labels(labels)} {one.count}" for labels, one in owed)
    yield "# HELP plimsoll_latency_at_least_seconds Lower bound of the latency with those operations."
    yield "# TYPE plimsoll_latency_at_least_seconds gauge"
    for labels, one in owed:
        for quantile, field in _QUANTILES:
            if field in one.at_least:
                yield f"plimsoll_latency_at_least_seconds{_labels({**labels, 'quantile': quantile})} {one.at_least[field] / 1e9}"


def _rows(run: str, point: Recorded) -> Iterator[tuple[Labels, OpTotals]]:
    result = point.result
    scopes = {"": result.totals, **(result.streams if len(result.streams) > 1 else {})}
    for stream, totals in scopes.items():
        for op, total in totals.items():
            yield {**_point_labels(run, point), "stream": stream, "op": op}, total


def _point_labels(run: str, point: Recorded) -> dict[str, str]:
    result = point.result
    return {
        "run": run,
        "point": result.id,
        "workload": result.job.workload,
        "target": result.job.target,
        "modelled": str(result.modelled).lower(),
    }


def _summary(name: str, labels: Labels, summary: LatencySummary | None, count: int) -> Iterator[str]:
    if summary is None:
        return
    for quantile, field in _QUANTILES:
        yield f"{name}{_labels({**labels, 'quantile': quantile})} {getattr(summary, field) / 1e9}"
    yield f"{name}_sum{_labels(labels)} {summary.mean * count / 1e9}"
    yield f"{name}_count{_labels(labels)} {count}"


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
