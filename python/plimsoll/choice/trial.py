"""One candidate under the demand in virtual time: healthy, with a drive missing, and while that is rebuilt.

Model: a trial is a point like any other of a modelled array: the demand's own rate and seed, load first until the write caches are in
balance (`plimsoll.points.balance`), then measured until the response is steady. *Degraded* is the same load for as long with the first
member of the first group missing from the beginning and no spare; *rebuilding* is the same with a new drive put in for it at once. A load
that is far from its objective on an array with empty caches is not carried by one in balance, so each candidate is screened for a few
seconds first.
How long a rebuild takes under the load follows from its course: its own length where it ended, else how far it had come. Disks are rebuilt
from their outer edge inwards, where they are slower; so what is left of a disk is taken at the mean rate over the outer one, unless the
pace is far below what the drive could do.
Flash that keeps writes before disks is a group of other drives: how long a member of it takes to be rebuilt is found in a trial of its own.
Limits: one member of one group fails, and whether the demand holds is asked of the first group. A rebuild is taken to go on as fast as it
began.

    examined = examine(Trial("array:nvme-raid10", load), ("healthy", "degraded", "rebuilding"))
    examined["rebuilding"].rebuild_hours
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from plimsoll.analysis.objective.judgement import Judgement, Objective, judge
from plimsoll.analysis.point.array import bottleneck, component_sets, rebuilds_s, rebuilt_share
from plimsoll.analysis.point.definition import streams
from plimsoll.catalog.levels import storing
from plimsoll.choice.bounds import bound_of
from plimsoll.choice.demand import DemandedLoad
from plimsoll.engine.block import native
from plimsoll.engine.protocol import Engine
from plimsoll.measure import Job, measure
from plimsoll.points.balance import BALANCE_S_MAX, REQUESTS_MAX, balanced
from plimsoll.points.goals import goal_of
from plimsoll.points.point import PlannedPoint
from plimsoll.result import Result
from plimsoll.stored import Definition, HostFacts, Interval, Json, Options, Sample, TargetFacts
from plimsoll.target import Target, target_of
from plimsoll.units import count, time_text

HEALTHY, DEGRADED, REBUILDING = "healthy", "degraded", "rebuilding"
STATES = (HEALTHY, DEGRADED, REBUILDING)
#: The screening: so many requests count, after a tenth of them, and so far from its limit a latency has to be; less far where caches will
#: hardly ever answer a read, so that filling them makes nothing better.
_SCREENED_REQUESTS = 4_000
_SCREENED_S_MAX = 20.0
#: A second one, longer by this, shows what queues up for as long as it is asked: cheaper than a trial in balance that shows the same.
_SCREENED_LONGER = 10
_SCREENED_FACTOR = 3.0
_SCREENED_FACTOR_MISSED = 1.5
_MISSED = 0.95
#: What misses a limit by far: a latency above so many times of it, or less than this part of what should be achieved.
_FAR_LATENCY = 1.5
_FAR_ACHIEVED = 0.9
#: A rebuild that does not get beyond its first step.
_NOT_YET = {"rate_bytes_per_s": 1, "least_bytes_per_s": 1}
#: A new drive comes this long after the failure: at once.
_REPLACED_S = 0.001
#: A rebuild that is slower than this part of the drive's rate is not held up by its platters.
_OWN_PACE = 0.5


@dataclass(frozen=True)
class Trial:
    """A candidate and a load; ``seed`` is that of all its points."""

    target: str
    load: DemandedLoad
    seed: int = 1


@dataclass(frozen=True)
class Response:
    """One clause of an objective as a trial gave it, in the unit of its limit; of a single demand ``part`` is empty."""

    text: str
    value: float | None
    low: float | None
    high: float | None
    limit: float
    holds: bool
    part: str = ""

    def to_json(self) -> Json:
        """For programs."""
        return {name: getattr(self, name) for name in ("text", "part", "value", "low", "high", "limit", "holds")}


@dataclass(frozen=True)
class Outcome:
    """What a trial in one state showed; ``rejection`` is why it does not carry the load, ``doubts`` are flags of its point."""

    state: str
    carries: bool
    iops: float
    responses: tuple[Response, ...]
    limited_by: str | None
    busiest: str | None
    doubts: tuple[str, ...] = ()
    rejection: str | None = None
    rebuild_hours: float | None = None
    rebuild_ended: bool = False
    #: The same hours of groups of other drives, by their names.
    further_hours: Mapping[str, float | None] = field(default_factory=dict)
    #: Whether it misses an objective by so much that no scatter explains it.
    far: bool = False

    def to_json(self) -> Json:
        """For programs."""
        found: Json = {
            "carries": self.carries,
            "iops": self.iops,
            "responses": [one.to_json() for one in self.responses],
            "limited_by": self.limited_by,
            "doubts": list(self.doubts),
        }
        if self.state == REBUILDING:
            found |= {"hours": self.rebuild_hours, "hours_from": "its end" if self.rebuild_ended else "its course"}
        return found


def examine(trial: Trial, states: Sequence[str] = STATES) -> dict[str, Outcome]:
    """The trials of a candidate in the order of ``states``, up to the first that does not carry the load."""
    engine = native()
    target = target_of(trial.target)
    for times in (1, _SCREENED_LONGER):
        screened = _screened(trial, target, engine, times)
        if screened is not None:
            return {HEALTHY: screened}
    found: dict[str, Outcome] = {}
    timing: Options | None = None
    for state in states:
        found[state], timing = _tried(trial, target, state, timing)
        if not found[state].carries:
            break
    if timing is not None and (last := found.get(REBUILDING)) is not None and last.carries:
        found[REBUILDING] = replace(last, further_hours=_further_hours(trial, target, timing))
    return found


def _further_hours(trial: Trial, target: Target, timing: Options) -> dict[str, float | None]:
    """How long groups of other drives than the first take to be rebuilt, of those that data lie on; each kind of drives once."""
    document = target.document or {}
    groups = document.get("group", [])
    kept = [group["name"] for group in storing(groups)]
    known = [_model(document, number) for number in range(len(groups))]
    found: dict[str, float | None] = {}
    for number, group in enumerate(groups):
        if group["name"] in kept and known.index(known[number]) == number > 0:
            found[group["name"]] = _tried(trial, target, REBUILDING, timing, number)[0].rebuild_hours
    return found


def _model(document: Json, number: int) -> Json:
    """The first drive of the group of that number."""
    groups = document.get("group") or [{"members": [""]}]
    drives = str(groups[number]["members"][0]).partition("[")[0]
    return next((dict(one.get("model", {})) for one in document.get("devices", []) if one["name"] == drives), {})


def responses(load: DemandedLoad, result: Result) -> tuple[Response, ...]:
    """Every clause of every demand as the point has it."""
    return tuple(one for name, objective, seen in _seen(load, result) for one in _responses(name, objective, seen))


def _screened(trial: Trial, target: Target, engine: Engine, times: int) -> Outcome | None:
    """The outcome of a short load on empty caches where that is far from the objective; None where it has to be looked at closely."""
    rate = trial.load.rate_per_s
    seconds = min(_SCREENED_S_MAX, times * _SCREENED_REQUESTS / rate)
    workload = trial.load.at(1.0)
    options = engine.check_job({"duration": f"{seconds:.4f}s", "warmup": f"{seconds / 10:.4f}s", "interval": "auto", "seed": trial.seed})
    result = run_of(PlannedPoint(workload, options, target), engine, rate)
    if result.status == "failed":
        return _failed(HEALTHY, result)
    found = responses(trial.load, result)
    latencies = [one for one in found if not one.holds and one.value is not None and is_latency(one)]
    factor = _SCREENED_FACTOR if bound_of(target, trial.load).missed < _MISSED else _SCREENED_FACTOR_MISSED
    if not any((one.value or 0.0) > factor * one.limit for one in latencies):
        return None
    worst = max(latencies, key=lambda one: (one.value or 0.0) / one.limit)
    limited, busiest = limit_of(result)
    rejection = f"screened: {_said(worst)} already with empty caches"
    return Outcome(
        HEALTHY, carries=False, iops=_iops(result), responses=found, limited_by=limited, busiest=busiest, rejection=rejection, far=True
    )


def _tried(trial: Trial, target: Target, state: str, chosen: Options | None, number: int = 0) -> tuple[Outcome, Options]:
    """The trial in one state, of the group of that number; healthy ones choose their times, which hold for the others."""
    engine = native()
    point = point_of(trial, in_state(target, state, number), trial.load.at(1.0))
    if state == HEALTHY or chosen is None:
        point = balanced(point, engine, engine.control())
        point = replace(point, target=in_state(target, state, number))
    else:
        point = replace(point, options=cast("Options", {**point.options, **chosen}))
    result = run_of(point, engine, trial.load.rate_per_s)
    longest = point.least_s or point.options["duration"]
    timing = cast("Options", {"warmup": point.options["warmup"], "interval": point.options["interval"], "duration": max(longest, 1.0)})
    if state == REBUILDING and (ended := rebuilds_s(result.engine)) and ended[0] < point.options["warmup"] + point.options["duration"]:
        # Nothing was rebuilt for a part of the measured time: only as long as it lasted counts.
        short: Options = {**point.options, "warmup": 0.0, "duration": max(0.1, ended[0]), "interval": "auto"}
        result = replace(run_of(replace(point, options=short, precision=None), engine, trial.load.rate_per_s), engine=result.engine)
    if result.status == "failed":
        return _failed(state, result), timing
    return _outcome(trial, state, result, point, number), timing


def _outcome(trial: Trial, state: str, result: Result, point: PlannedPoint, number: int) -> Outcome:
    holds, rejection = judged(trial.load, result)
    limited, busiest = limit_of(result)
    doubts = tuple(dict.fromkeys(flag.name for flag in result.flags if flag.severity in ("doubt", "invalid")))
    if holds and "cache_filling" in doubts:
        holds, rejection = False, f"not shown: {_still_filling(point)}"
    outcome = Outcome(state, holds, _iops(result), responses(trial.load, result), limited, busiest, doubts, rejection)
    outcome = replace(outcome, far=any(_is_far(one) for one in outcome.responses))
    if state != REBUILDING:
        return outcome
    hours, ended = rebuild_hours(result, point.target, number)
    return replace(outcome, rebuild_hours=hours, rebuild_ended=ended)


def _still_filling(point: PlannedPoint) -> str:
    """For how long the load had been on an array whose write cache filled all the time, and what a balance is given."""
    given = f"a balance is waited for {count(REQUESTS_MAX)} requests or {time_text(BALANCE_S_MAX)}"
    return f"its write cache was still filling after {time_text(point.options['warmup'])} of this load; {given}"


def rebuild_hours(result: Result, target: Target, number: int = 0) -> tuple[float | None, bool]:
    """How long the rebuild of the trial, in the group of that number, took or will take, in hours, and whether it ended; None where nothing
    was rebuilt."""
    if ended := rebuilds_s(result.engine):
        return ended[0] / 3600, True
    share = rebuilt_share(result.engine)
    elapsed_s = float(result.engine.get("end_ns") or 0) / 1e9
    if not share or not elapsed_s:
        return None, False
    whole_s = elapsed_s / share
    model = _model(target.document or {}, number)
    outer, inner = (float(model.get(f"{zone}_rate_bytes_per_s", 0)) for zone in ("outer", "inner"))
    pace = share * float(model.get("capacity_bytes", 0)) / elapsed_s
    if outer and inner and pace > _OWN_PACE * outer:
        # The time of a whole disk is that of its mean rate; what was rebuilt lay at the outer edge.
        whole_s *= 2 * outer / (outer + inner)
    return whole_s / 3600, False


def in_state(target: Target, state: str, number: int = 0) -> Target:
    """The array with the first member of a group missing, and with a new drive in its place at once; a healthy one as it is.

    Spare space that is spread over all drives cannot be taken away: it stands for the member at once, or is not written yet.
    """
    if state == HEALTHY or target.document is None:
        return target
    document = copy.deepcopy(target.document)
    document.pop("spares", None)
    for group in document["group"]:
        group.pop("spares", None)
    failed = document["group"][number]
    failures = failed.setdefault("failures", {})
    failures["at"] = [{"time_s": 0.0, "member": 0}]
    spread = bool(failed["raid"].get("distributed_spares"))
    if state == REBUILDING and not spread:
        failures["replaced_at"] = [{"time_s": _REPLACED_S, "member": 0}]
    if state == DEGRADED and spread:
        failed["rebuild"] = _NOT_YET
    return Target(target.text, document, target.driver)


def point_of(trial: Trial, target: Target, workload: Definition) -> PlannedPoint:
    """A point of the trial's seed, its times yet to be chosen."""
    options = native().check_job({"duration": "10s", "warmup": "2s", "interval": "auto", "seed": trial.seed})
    return PlannedPoint(workload, options, target)


def measured(point: PlannedPoint, engine: Engine, rate: float) -> Result:
    """The point's result, in balance; ``rate`` is its level."""
    return run_of(balanced(point, engine, engine.control()), engine, rate)


def run_of(point: PlannedPoint, engine: Engine, rate: float) -> Result:
    """The point's result; nothing of it is stored."""
    inspection = engine.inspect_target(point.target)
    facts: HostFacts = {"target": cast("TargetFacts", {**inspection})}
    job = Job("trial", point.workload, point.options, point.target, facts, goal=goal_of(point, inspection))
    result = measure(job, engine, _Nothing(), engine.control())
    return replace(result, place={"level": rate, "role": "point"})


def _failed(state: str, result: Result) -> Outcome:
    return Outcome(state, carries=False, iops=0.0, responses=(), limited_by=None, busiest=None, rejection=f"failed: {result.error}")


def judged(load: DemandedLoad, result: Result, without: str | None = None) -> tuple[bool, str | None]:
    """Whether all demands hold, but for one that is left out, and the condition that is furthest beyond its limit."""
    left_out = next((part.streams for part in load.parts if part.name == without), ())
    wrong: list[tuple[float, str]] = []
    for name, objective, seen in _seen(load, result):
        if name in left_out:
            continue
        judgement = judge(objective, seen)
        if not judgement.holds:
            beyond, reason = _reason(judgement)
            wrong.append((beyond, f"{name}: {reason}" if name else reason))
    return (False, max(wrong, key=lambda one: one[0])[1]) if wrong else (True, None)


def _reason(judgement: Judgement) -> tuple[float, str]:
    """How many times its limit a condition came to that does not hold, and what it was; what has no figure is told before all others."""
    wrong = [clause for clause in judgement.clauses if not clause.holds]
    if not wrong:
        return math.inf, str(judgement.failed_by)
    times = {id(one): one.estimate.value / one.clause.limit if one.estimate and one.clause.limit else 0.0 for one in wrong}
    worst = max(wrong, key=lambda one: times[id(one)])
    estimate = worst.estimate
    found = Response(worst.text, None if estimate is None else estimate.value, None, None, worst.clause.limit, holds=False)
    return times[id(worst)], _said(found)


def _said(response: Response) -> str:
    from plimsoll.units import brief_duration, significant

    if response.value is None:
        return f"{response.text}: nothing was answered"
    value = brief_duration(response.value) if is_latency(response) else significant(response.value)
    return f"{response.text}: it was {value}"


def is_latency(response: Response) -> bool:
    """Whether the condition is one on a latency."""
    return not any(word in response.text for word in ("achieved", "errors", "iops", "bandwidth"))


def _seen(load: DemandedLoad, result: Result) -> Iterator[tuple[str, Objective, Result]]:
    """The result as each stream of several demands sees it, with its name and what has to hold for it; a single demand sees all of it."""
    if len(load.parts) == 1:
        yield "", load.objective, result
        return
    for part in load.parts:
        for stream in streams(result.job.definition):
            if stream["name"] in part.streams:
                name = stream["name"]
                own = cast("Definition", {**result.job.definition, "stream": [stream]})
                job = replace(result.job, definition=own)
                totals = result.streams.get(name, {})
                own_rate = stream.get("rate")
                # Intervals, and what was unfinished, are known of all streams together alone.
                yield (
                    name,
                    part.objective,
                    replace(
                        result,
                        job=job,
                        totals=totals,
                        streams={name: totals},
                        estimates={},
                        outstanding={},
                        unfinished=None,
                        offered_per_s=float(own_rate) if isinstance(own_rate, int | float) else None,
                    ),
                )


def _is_far(response: Response) -> bool:
    """Whether a condition is missed by far: a latency by half of its limit, a share that is achieved by a tenth."""
    if response.holds or not response.value:
        return False
    if is_latency(response):
        return response.value > _FAR_LATENCY * response.limit
    return "achieved" in response.text and response.value < _FAR_ACHIEVED * response.limit


def _responses(name: str, objective: Objective, result: Result) -> list[Response]:
    found = []
    for clause in judge(objective, result).clauses:
        one = clause.estimate
        value, low, high = (None, None, None) if one is None else (one.value, one.low, one.high)
        found.append(Response(clause.text, value, low, high, clause.clause.limit, clause.holds, name))
    return found


def limit_of(result: Result) -> tuple[str | None, str | None]:
    """What limited a point, if anything was saturated, and the busiest components, in words."""
    from plimsoll.analysis.point.array import ComponentSet

    sets: list[ComponentSet] = [one for one in component_sets(result) if one.kind != "cache"]
    limit = bottleneck(sets)
    busiest = sets[0] if sets else None
    return (None if limit is None else _named(limit)), None if busiest is None else f"{_named(busiest)} at {busiest.busiest:.0%}"


def _named(one: Any) -> str:
    return str(one.name) if one.kind in str(one.name) else f"{one.kind} {one.name}"


def _iops(result: Result) -> float:
    return sum(total.iops for total in result.totals.values())


class _Nothing:
    """A sink that keeps nothing."""

    def interval(self, interval: Interval) -> None:
        """Nothing."""

    def monitor(self, sample: Sample) -> None:
        """Nothing."""
