"""Flags from identities that every honest measurement obeys.

Little's law: the mean number of requests in flight equals their rate times their mean time in the system (J. D. C. Little, "A Proof for the
Queuing Formula L = λW", Operations Research 9, 1961). It is checked on service time, because a request that waits for its instant
is not in flight. Bandwidth: the rate times the request size.
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.plausibility.evidence import COST_BACKENDS, Evidence, quantity
from plimsoll.analysis.point.definition import size_bounds
from plimsoll.result import Flag, OpTotals
from plimsoll.units import brief_duration

LITTLE_TOLERANCE = 0.05
BANDWIDTH_TOLERANCE = 0.001
#: Below this the stamps themselves, not the target, are most of a request's time in flight.
SERVICE_NS_MIN = 1_000.0


def littles_law(evidence: Evidence) -> Iterator[Flag]:
    """In flight ≠ rate × service time."""
    inflight, service_ns = evidence.observation.inflight_mean, evidence.service_mean_ns
    if not inflight or service_ns is None or evidence.backend in COST_BACKENDS or service_ns < SERVICE_NS_MIN:
        return
    elapsed_ns = evidence.observation.elapsed_s * 1e9
    expected = evidence.iops * service_ns / 1e9
    # Requests in flight at either edge of the window are counted in one side of the law only.
    tolerance = LITTLE_TOLERANCE + service_ns / elapsed_ns
    # Requests that failed were in flight as well, for a time that is in no latency.
    failed = any(total.errors for total in evidence.result.totals.values())
    more = 0.0 if failed else inflight - expected - _still_waiting(evidence)
    if max(expected - inflight, more) > tolerance * max(expected, inflight):
        yield Flag(
            "littles_law",
            "invalid",
            f"{inflight:.3g} requests were in flight, but rate × service time is {expected:.3g} "
            f"({quantity(evidence.iops)}/s × {brief_duration(service_ns)}): they differ by more than {tolerance:.0%}.",
            "Measure longer; if it stays, the host lost time (steal, suspend) or requests, and latencies are not to be trusted.",
        )


def _still_waiting(evidence: Evidence) -> float:
    """How many requests in flight, on average, those account for at most that completed after the measured time: a queue that grows."""
    observation = evidence.observation
    return observation.late_count * min(1.0, observation.drain_latency_max_ns / 1e9 / observation.elapsed_s)


def bandwidth_identity(evidence: Evidence) -> Iterator[Flag]:
    """Bytes ≠ requests × size."""
    for stream in evidence.streams:
        for op, total in evidence.result.streams.get(stream.get("name", ""), {}).items():
            if op == "flush" or not total.count:
                continue
            if not _rate_is_consistent(total):
                yield _mismatch(
                    f"{op} moved {quantity(total.bytes_per_s)} B/s, but IOPS × mean size is "
                    f"{quantity(total.iops * total.bytes / total.count)} B/s"
                )
            bounds = size_bounds(stream, op)
            mean = total.bytes / total.count
            if bounds and not bounds[0] * (1 - BANDWIDTH_TOLERANCE) <= mean <= bounds[1] * (1 + BANDWIDTH_TOLERANCE):
                asked = f"{bounds[0]:,}" if bounds[0] == bounds[1] else f"{bounds[0]:,} to {bounds[1]:,}"
                yield _mismatch(f"{op} moved {mean:,.0f} bytes per request, but {asked} were asked for")


def _rate_is_consistent(total: OpTotals) -> bool:
    computed = total.iops * total.bytes / total.count
    return abs(computed - total.bytes_per_s) <= BANDWIDTH_TOLERANCE * max(computed, total.bytes_per_s)


def _mismatch(message: str) -> Flag:
    return Flag(
        "bandwidth_identity",
        "invalid",
        f"{message}.",
        "Look for short transfers at the end of the target; if there are none, report it as a bug of Plimsoll.",
    )
