"""Faithfulness of a replayed trace: lateness, gaps and outstanding requests, asked and achieved.

Model: the engine keeps, over a whole run, when each request of a trace was due and when it left. Lateness is the time between both,
whatever held the request back. A request *waited* when all slots of its stream were taken at the time it was due: the storage under test
then answered slower than the trace assumes. Distances are Kolmogorov–Smirnov's between cumulative distributions of the gaps, 0 to 1.
Units: nanoseconds; shares are of the completed requests.
Limits: as fast as possible nothing is due, so there is no lateness and no gap to hold against the trace. What the trace's own storage
had outstanding is known only where completions were recorded.

    replay_fidelity(outcome)[0]["lateness_ns"]["p99"]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.histogram import Histogram

Json = dict[str, Any]

AS_RECORDED, AS_FAST_AS_POSSIBLE = "as recorded", "as fast as possible"
#: Share of the requests whose completion must have been recorded, for response times of a trace to stand for all of it.
RECORDED_SHARE_MIN = 0.9


def replay_fidelity(outcome: Json) -> list[Json]:
    """The section ``replay`` of a result, one entry for each stream with a trace; ``outcome`` is what the engine says at the end."""
    return [_stream(found, outcome.get("lateness_report")) for found in outcome.get("replays") or ()]


def _stream(found: Json, report: Json | None) -> Json:
    trace, speed, completed = found["trace"], found["speed"], found["completed"]
    timed = speed is not None and completed > 0
    return {
        "stream": found["stream"],
        "source": trace["source"],
        "devices": trace["devices"],
        "device_count": trace["device_count"],
        "pace": AS_RECORDED if speed is not None else AS_FAST_AS_POSSIBLE,
        "speed": speed,
        "requests": {name: found[name] for name in ("asked", "issued", "completed", "failed")},
        "changes": found["changes"],
        "lateness_ns": _quantiles(Histogram.decode(found["lateness"])) if timed else None,
        "late": _late(found) if timed else None,
        "waited": found["waited"] / completed if timed else None,
        "gaps": _gaps(found) if timed else None,
        "outstanding": {"asked": _outstanding(trace, found), "achieved": found["outstanding"]},
        "response_ns": {"recorded": _response_ns(trace["service"]), "achieved": found["service_mean_ns"]},
        "seconds": {"asked": trace["span_ns"] / speed / 1e9 if speed else None, "achieved": found["course_ns"] / 1e9},
        "report": report,
    }


def _quantiles(histogram: Histogram) -> Json:
    return {
        "mean": histogram.mean,
        "p50": histogram.percentile(50),
        "p99": histogram.percentile(99),
        "max": histogram.max,
    }


def _late(found: Json) -> Json:
    """Shares of the requests that left later than a limit; that of a tenth of the gap is of the requests that had a gap before them."""
    completed, gaps = found["completed"], found["late_for_gap"]
    return {
        "100us": found["late"]["100us"] / completed,
        "1ms": found["late"]["1ms"] / completed,
        "tenth_of_gap": gaps["late"] / gaps["of"] if gaps["of"] else 0.0,
    }


def _gaps(found: Json) -> Json | None:
    asked, achieved = Histogram.decode(found["gaps_asked"]), Histogram.decode(found["gaps_left"])
    if not asked.count or not achieved.count:
        return None
    return {
        "asked": _quantiles(asked),
        "achieved": _quantiles(achieved),
        "distance": distance(asked.buckets(), achieved.buckets()),
    }


def distance(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> float:
    """The largest difference of two cumulative distributions, given as ascending (value, count)."""
    totals = [sum(count for _, count in buckets) for buckets in (one, other)]
    steps = sorted([(value, count / totals[0]) for value, count in one] + [(value, -count / totals[1]) for value, count in other])
    largest = difference = 0.0
    for at, (value, step) in enumerate(steps):
        difference += step
        if at + 1 == len(steps) or steps[at + 1][0] != value:
            largest = max(largest, abs(difference))
    return largest


def _response_ns(service: Json) -> float | None:
    return service["sum_ns"] / service["count"] if service["count"] else None


def _outstanding(trace: Json, found: Json) -> float | None:
    """What the trace's own storage had outstanding on average, at the speed of the replay."""
    service, speed = trace["service"], found["speed"] or 1.0
    if not trace["timed"] or not trace["span_ns"] or service["count"] < RECORDED_SHARE_MIN * found["asked"]:
        return None
    return float(service["sum_ns"] / trace["span_ns"] * speed)
