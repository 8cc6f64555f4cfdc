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
from typing import Any, TypedDict

from plimsoll.histogram import Histogram
from plimsoll.stored import EngineOutcome, Json

AS_RECORDED, AS_FAST_AS_POSSIBLE = "as recorded", "as fast as possible"
#: Share of the requests whose completion must have been recorded, for response times of a trace to stand for all of it.
RECORDED_SHARE_MIN = 0.9


class TraceSource(TypedDict):
    """The file that a trace was read from."""

    name: str
    format: str
    sha256: str


class RequestCounts(TypedDict):
    """Of the requests of a trace."""

    asked: int
    issued: int
    completed: int
    failed: int


class Changes(TypedDict):
    """How many requests the target made different from the trace."""

    moved: int
    rounded: int
    shortened: int


class Quantiles(TypedDict):
    """Quantiles in nanoseconds."""

    mean: float
    p50: int
    p99: int
    max: int


#: Shares of the requests that left later than a limit; that of a tenth of the gap is of the requests that had a gap before them.
LateShares = TypedDict("LateShares", {"100us": float, "1ms": float, "tenth_of_gap": float})


class Gaps(TypedDict):
    """Times between requests."""

    asked: Quantiles
    achieved: Quantiles
    distance: float


class Outstanding(TypedDict):
    """Requests outstanding on average."""

    asked: float | None
    achieved: float


class ResponseTimes(TypedDict):
    """Mean service times in nanoseconds."""

    recorded: float | None
    achieved: float | None


class Seconds(TypedDict):
    """How long all requests took."""

    asked: float | None
    achieved: float


class Replay(TypedDict):
    """How faithfully the trace of one stream was replayed; shares are of 1. What was not asked for, or is not known, is null."""

    stream: str
    source: TraceSource
    devices: list[str]
    device_count: int
    pace: str
    speed: float | None
    requests: RequestCounts
    changes: Changes
    lateness_ns: Quantiles | None
    late: LateShares | None
    waited: float | None
    gaps: Gaps | None
    outstanding: Outstanding
    response_ns: ResponseTimes
    seconds: Seconds
    report: dict[str, Any] | None


def replay_fidelity(outcome: EngineOutcome) -> list[Replay]:
    """The section ``replay`` of a result, one entry for each stream with a trace; ``outcome`` is what the engine says at the end."""
    return [_stream(found, outcome.get("lateness_report")) for found in outcome.get("replays") or ()]


def _stream(found: Json, report: Json | None) -> Replay:
    trace, speed, completed = found["trace"], found["speed"], found["completed"]
    timed = speed is not None and completed > 0
    return {
        "stream": found["stream"],
        "source": trace["source"],
        "devices": trace["devices"],
        "device_count": trace["device_count"],
        "pace": AS_RECORDED if speed is not None else AS_FAST_AS_POSSIBLE,
        "speed": speed,
        "requests": {
            "asked": found["asked"],
            "issued": found["issued"],
            "completed": found["completed"],
            "failed": found["failed"],
        },
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


def _quantiles(histogram: Histogram) -> Quantiles:
    return {
        "mean": histogram.mean,
        "p50": histogram.percentile(50),
        "p99": histogram.percentile(99),
        "max": histogram.max,
    }


def _late(found: Json) -> LateShares:
    completed, gaps = found["completed"], found["late_for_gap"]
    return {
        "100us": found["late"]["100us"] / completed,
        "1ms": found["late"]["1ms"] / completed,
        "tenth_of_gap": gaps["late"] / gaps["of"] if gaps["of"] else 0.0,
    }


def _gaps(found: Json) -> Gaps | None:
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
