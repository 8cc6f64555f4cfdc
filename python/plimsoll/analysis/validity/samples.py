"""Flags about the samples: enough of them, steady, and consistent with each other.

The samples: how much was seen, and whether it was the same throughout.

Identities that every honest measurement obeys.

Little's law: the mean number of requests in flight equals their rate times their mean time in the system (J. D. C. Little, "A Proof for the
Queuing Formula L = λW", Operations Research 9, 1961). It is checked on service time, because a request that waits for its instant
is not in flight. Over a window the law is exact once its edges are allowed for: the time in flight is the service time of all that
completed in it, less what these spent in flight before it, plus what those did that were in flight when it ended
(`Observation.edges_s`). Bandwidth: the rate times the request size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from plimsoll.analysis.analytics.io_test import tests_io
from plimsoll.analysis.decision.runs import asks_queries
from plimsoll.analysis.mailstore.counters import is_mailstore
from plimsoll.analysis.point.array import FAILED, incidents, rebuilds
from plimsoll.analysis.point.definition import IN_BACKGROUND, arrival, ends_by_itself, runs_workflows, size_bounds
from plimsoll.analysis.point.durability import tries_durability
from plimsoll.analysis.point.metric import ALL, IOPS, rate_noun
from plimsoll.analysis.statistics.steadiness import (
    EXCURSION_PERCENT_MAX,
    SLOPE_PERCENT_MAX,
    SOURCE,
    Steadiness,
    Transient,
    find_transient,
    steadiness,
)
from plimsoll.analysis.validity.evidence import COST_BACKENDS, Evidence, at_least, quantity
from plimsoll.analysis.validity.severity import of_shift
from plimsoll.result import Flag, OpTotals
from plimsoll.units import brief_duration, significant

SHORT_S = 5.0
#: A percentile needs ten samples beyond it to be more than the luck of a few.
SAMPLES_MIN = {"p99": 1_000, "p999": 10_000}
DRAIN_RATIO_MAX = 2.0
#: Five rounds of fewer requests than twenty each differ by chance.
STEADY_REQUESTS_MIN = 100
#: A beginning shorter than this share of the measured time, or that moves the mean by less, is not worth a word.
TRANSIENT_SHARE_MIN = 0.05
TRANSIENT_EFFECT_MIN = 0.01
#: Writes that were so much faster at the beginning may have gone into a cache.
FILLED_RATIO_MIN = 1.2


def _is_procedure(evidence: Evidence) -> bool:
    """Whether each thing is done as often as a procedure says, so that a rate over all of it means nothing."""
    by_list = asks_queries(evidence.result) or runs_workflows(evidence.result.job.definition) or tests_io(evidence.result)
    return by_list or tries_durability(evidence.result) or _goes_through(evidence)


def not_steady(evidence: Evidence) -> Iterator[Flag]:
    """The response climbed, fell or jumped during the measured phase."""
    if sum(point.count for point in evidence.observation.series) < STEADY_REQUESTS_MIN or _is_procedure(evidence):
        return  # each of the 22 queries takes its own time, and a server that is killed on purpose none
    what, values = _response(evidence)
    verdict = steadiness(values)
    width = evidence.half_width("mean" if what == "mean latency" else "iops")
    yield from _unsteady(what, verdict, width, _failing(evidence) or _longer(evidence))


def warmup_too_short(evidence: Evidence) -> Iterator[Flag]:
    """The response still settled when the measured time began."""
    if _is_procedure(evidence):
        return
    what, values = _response(evidence)
    transient = find_transient(values)
    if transient is None or not transient.significant or transient.length <= TRANSIENT_SHARE_MIN * len(values):
        return
    mean = sum(values) / len(values)
    effect = (mean - transient.after) / transient.after if transient.after > 0 else 0.0
    if abs(effect) < TRANSIENT_EFFECT_MIN:
        return
    settling_s = sum(point.seconds for point in islice(evidence.observation.series, transient.length))
    enough_s = evidence.result.job.warmup_s + settling_s
    yield Flag(
        "warmup_too_short",
        of_shift(effect),
        f"The response was still settling in the first {quantity(settling_s)} s of the measured time: {what} {_change(transient)} than "
        f"afterwards, which shifts the mean by {effect:+.1%} (MSER-5).",
        _failing(evidence) or f"{_cache(evidence, transient)}Warm up for {at_least(enough_s)} s or more (--warmup {at_least(enough_s)}s).",
    )


def _cache(evidence: Evidence, transient: Transient) -> str:
    """What a real target does not tell but lets suspect: it took writes faster until something was full."""
    slower = transient.before > FILLED_RATIO_MIN * transient.after
    writes = "write" in evidence.result.totals and arrival(evidence.result.job.definition) != "open"
    return "A write cache that became full looks like this. " if slower and writes and evidence.moves_data else ""


def drain_slower(evidence: Evidence) -> Iterator[Flag]:
    """The slowest requests were still in flight when the measured phase ended."""
    slowest = max((total.latency_ns.max for total in evidence.result.totals.values() if total.latency_ns), default=0)
    drained = evidence.observation.drain_latency_max_ns
    if slowest and drained > DRAIN_RATIO_MAX * slowest:
        marked = any(estimate.at_least for of_op in evidence.result.estimates.values() for estimate in of_op.values())
        shown = "the latencies marked ≥ include its wait" if marked else "the maximum is understated"
        yield Flag(
            "drain_slower",
            "note",
            f"A request that was in flight at the end took {brief_duration(drained)}, while the slowest measured one took "
            f"{brief_duration(slowest)}: {shown}.",
            "Measure longer, so that the measured time covers such requests.",
        )


def short_run(evidence: Evidence) -> Iterator[Flag]:
    """Too short to say anything about caches, housekeeping or throttling."""
    elapsed_s = evidence.observation.elapsed_s
    if evidence.moves_data and 0 < elapsed_s < SHORT_S:
        yield Flag(
            "short_run",
            "note",
            f"Measured for {significant(elapsed_s)} s: too short to show the effect of caches, housekeeping and throttling.",
            "Measure for at least a minute (--duration 60) before you publish or compare numbers.",
        )


def few_samples(evidence: Evidence) -> Iterator[Flag]:
    """Percentiles from too few requests. A query is asked as often as the procedure says; nobody looks for its percentiles, nor for those
    of what nobody waits for."""
    if _is_procedure(evidence):
        return
    for op, total in evidence.result.totals.items():
        if op in IN_BACKGROUND:
            continue
        doubtful = [name for name, least in SAMPLES_MIN.items() if 0 < total.count < least]
        if doubtful:
            needed = SAMPLES_MIN[doubtful[-1]]
            named = f"{' and '.join(map(_percentile, doubtful))} of {op} {'rests' if len(doubtful) == 1 else 'rest'}"
            yield Flag(
                "few_samples",
                of_shift(1.0 / math.sqrt(total.count)),
                f"{named} on {total.count:,} {'request' if total.count == 1 else 'requests'}; {needed:,} are needed.",
                _more(evidence, total.iops, needed),
            )


def _goes_through(evidence: Evidence) -> bool:
    """Whether a mail store goes from a beginning to an end (backup, recovery, tuning), so that nothing of it is meant to be the same."""
    return is_mailstore(evidence.result) and ends_by_itself(evidence.result.job.definition)


def _percentile(name: str) -> str:
    """As people write it."""
    return "p99.9" if name == "p999" else name


def _response(evidence: Evidence) -> tuple[str, list[float]]:
    """What is left to vary, slice by slice: an open loop fixes the rate, so it is the latency there."""
    series = evidence.observation.series
    if arrival(evidence.result.job.definition) == "open":
        return "mean latency", [point.mean_ns for point in series]
    noun = rate_noun([evidence.result])
    return IOPS if noun == IOPS else "The rate", [point.rate_per_s for point in series]


def _change(transient: Transient) -> str:
    change = transient.before / transient.after - 1
    return f"{abs(change):.0%} {'higher' if change > 0 else 'lower'}"


def _unsteady(what: str, verdict: Steadiness | None, width: float | None, cause: str) -> Iterator[Flag]:
    """A trend goes on beyond the end; without one the interval of the mean says how far it can be off."""
    if verdict is None or verdict.steady:
        return
    trend = abs(verdict.slope_percent) > SLOPE_PERCENT_MAX
    yield Flag(
        "not_steady",
        "doubt" if trend or width is None else of_shift(width),
        f"{what} {_trend(verdict.slope_percent)} across the measured time (limit {SLOPE_PERCENT_MAX:g} %), its fifths "
        f"differ by {verdict.excursion_percent:.0f} % (limit {EXCURSION_PERCENT_MAX:g} %), coefficient of variation "
        f"{verdict.variation_percent:.0f} %; {SOURCE}.",
        cause,
    )


def _trend(slope_percent: float) -> str:
    """A share is of the mean, so one of more than the whole is no change by percent that anybody could follow."""
    if abs(slope_percent) <= 100:
        return f"changed by {slope_percent:+.0f} %"
    return f"{'rose' if slope_percent > 0 else 'fell'} by {abs(slope_percent) / 100:.1f} times its mean"


def _longer(evidence: Evidence) -> str:
    """What helps without another cause; a modelled array says whether there is flash in it."""
    components = (evidence.result.engine.get("engine") or {}).get("components") or []
    if components and all(component["kind"] != "flash" for component in components):
        return "Warm up and measure longer."
    return "Warm up and measure longer; precondition flash before measuring writes."


def _failing(evidence: Evidence) -> str:
    """What to do about a rebuild or a failure of a modelled array in the measured time, where a longer warm-up is no help; or nothing."""
    begin_s = evidence.result.job.warmup_s
    end_s = begin_s + evidence.observation.elapsed_s
    engine = evidence.result.engine
    for one in rebuilds(engine):
        if one.begin_s < end_s and (one.end_s is None or one.end_s > begin_s):
            until = "to beyond the end" if one.end_s is None else f"to {one.end_s:.3f} s"
            what = "the copying back" if one.copied else "the rebuild"
            return (
                f"The likely cause is {what} of member {one.member} of the modelled group {one.group}, "
                f"from {one.begin_s:.3f} s {until}: measure entirely within it or entirely outside it; "
                "times count from the start of the warm-up."
            )
    failed = next((one for one in incidents(engine) if one.what == FAILED and begin_s < one.time_s < end_s), None)
    if failed is None:
        return ""
    return (
        f"The likely cause is the failure of member {failed.member} of the modelled group {failed.group} at {failed.time_s:.3f} s: "
        "measure entirely before or after it; times count from the start of the warm-up."
    )


def _more(evidence: Evidence, iops: float, needed: int) -> str:
    """What to do for ``needed`` requests: what ended by itself does not last longer for being given more time."""
    if evidence.result.ended.get("by") == "amount":
        return f"Ask for a larger amount: {needed:,} requests are needed."
    seconds = needed / iops if iops > 0 else evidence.result.job.duration_s
    return "Measure for a second or more." if seconds < 1 else f"Measure about {quantity(seconds)} s."


def unanswered(evidence: Evidence) -> Iterator[Flag]:
    """So much had no answer when the measured time ended that it changes what is shown."""
    result = evidence.result
    marked = [op for op in result.outstanding if any(estimate.at_least for estimate in result.estimates.get(op, {}).values())]
    if not marked:
        return
    owed = result.outstanding.get(ALL) or result.outstanding[marked[0]]
    never = f"; {owed.unfinished:,} never had one" if owed.unfinished else ""
    yield Flag(
        "unanswered",
        "doubt" if _raises_the_mean(evidence) else "note",
        f"{owed.count:,} of {owed.count + owed.measured:,} requests were due and had no answer when the measured time ended{never}. "
        f"The longest took {brief_duration(owed.longest_ns)} or more: latencies marked ≥ are lower bounds.",
        "Find out what the target did at the end. If it was just too slow, measure longer or offer less load.",
    )


def _raises_the_mean(evidence: Evidence) -> bool:
    """Whether more than maxima and high percentiles are lower bounds."""
    shown = evidence.result.estimates.values()
    return any(metric in of_op and of_op[metric].at_least for of_op in shown for metric in ("mean", "p50"))


LITTLE_TOLERANCE = 0.05
BANDWIDTH_TOLERANCE = 0.001
#: Below this the stamps themselves, not the target, are most of a request's time in flight.
SERVICE_NS_MIN = 1_000.0


def littles_law(evidence: Evidence) -> Iterator[Flag]:
    """In flight ≠ rate × service time."""
    inflight, service_ns = evidence.observation.inflight_mean, evidence.service_mean_ns
    if tries_durability(evidence.result):
        return  # what was under way at a kill is in no latency
    if not inflight or service_ns is None or evidence.backend in COST_BACKENDS or service_ns < SERVICE_NS_MIN:
        return
    elapsed_s, edges_s = evidence.observation.elapsed_s, evidence.observation.edges_s
    law = evidence.iops * service_ns / 1e9
    # Who was in flight at an edge is in one side of the law only; what does not tell for how long has a wider limit.
    expected = law + (edges_s or 0.0) / elapsed_s
    tolerance = LITTLE_TOLERANCE if edges_s is not None else LITTLE_TOLERANCE + service_ns / 1e9 / elapsed_s
    # Requests that failed were in flight as well, for a time that is in no latency.
    failed = any(total.errors for total in evidence.result.totals.values())
    allowed = 0.0 if edges_s is not None else _still_waiting(evidence)
    more = 0.0 if failed else inflight - expected - allowed
    if max(expected - inflight, more) > tolerance * max(expected, inflight):
        edges = f", and {quantity(expected)} with what crossed the edges of the measured time" if edges_s else ""
        yield Flag(
            "littles_law",
            "invalid",
            f"{quantity(inflight)} requests were in flight, but rate × service time is {quantity(law)} "
            f"({quantity(evidence.iops)}/s × {brief_duration(service_ns)}){edges}: they differ by more than {tolerance:.0%}.",
            "Measure longer. If the flag stays, the host lost time (steal, suspend) or requests: do not trust the latencies.",
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
        "Look for short transfers at the end of the target. If there are none, report a bug in Plimsoll.",
    )
