"""What a job asks of its own numbers: the kind of an experiment and its objective.

Model: ``rate_min`` and ``max_latency`` become the objective of a point, which is judged and not ended. ``latency_target`` is a ramp over
the queue depth, which doubles until the latency is exceeded and then closes in, as fio does. ``steadystate`` is an experiment of kind
steady. A goal is that of a whole point, so jobs beside others have none.

    goal, notes = goal_of(values)
    aimed(goal, Alone(ops="r", threads=4, depth=32)).experiment       # {"kind": "single", "objective": "read iops >= 4000"}
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.formats.fio.notes import Note, Unfit, all_idle, ignored, native, surprise, unsupported
from plimsoll.formats.fio.quantity import rounded, time_text
from plimsoll.formats.fio.requests import Values
from plimsoll.formats.fio.times import SHORTEST_NS
from plimsoll.stored import Json

_OPS = {"r": "read", "w": "write", "t": "trim"}
_PERCENTILES = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p99.9", 100.0: "max"}
_STEADY = {"iops": "iops", "bw": "bandwidth", "lat": "mean"}
_ALONE = "an objective is for the whole point, and other jobs run beside this one; put stonewall between"
_WINDOW = 5
#: The most rounds that our experiment takes.
_ROUNDS_MAX = 10_000
#: Options that end a stream by itself, which a ramp does not let it do.
_ENDS = ("amount", "requests", "flush_at_end")

#: A number for reads, for writes and for trims.
Each = tuple[int | None, int | None, int | None]
_NO_LIMIT: Each = (None, None, None)


@dataclass(frozen=True)
class Goal:
    """What a job asks of its numbers; 0 or empty where it asks nothing."""

    #: Bytes and requests per second of one clone.
    least_bytes: Each
    least_requests: Each
    latencies_ns: Each
    target_ns: int
    percentile: float
    window_ns: int
    #: A criterion with its limit.
    steady: str
    steady_ns: int
    steady_warmup_ns: int
    runtime_ns: int
    #: The options that ask, of those that a job beside others cannot have.
    asked: tuple[str, ...]
    #: Whether a time limits it.
    limited: bool


def goal_of(values: Values) -> tuple[Goal, tuple[Note, ...]]:
    """The goal of a job."""
    asked = [name for name in ("rate_min", "rate_iops_min", "max_latency") if name in values]
    goal = Goal(
        least_bytes=values.get("rate_min", _NO_LIMIT),
        least_requests=values.get("rate_iops_min", _NO_LIMIT),
        latencies_ns=values.get("max_latency", _NO_LIMIT),
        target_ns=values.get("latency_target", 0),
        percentile=values.get("latency_percentile", 100.0),
        window_ns=values.get("latency_window", 0),
        steady=str(values.get("steadystate", "")),
        steady_ns=values.get("steadystate_duration", 0),
        steady_warmup_ns=values.get("steadystate_ramp_time", values.get("ramp_time", 0)),
        runtime_ns=values.get("runtime", 0),
        asked=(*asked, *(name for name in ("latency_target", "steadystate") if values.get(name))),
        limited="runtime" in values,
    )
    notes: list[Note] = []
    for name, prefix in (("latency_target", "latency_"), ("steadystate", "steadystate_")):
        if not values.get(name):
            notes += all_idle([other for other in values if other.startswith(prefix)], f"there is no {name}")
    return goal, tuple(notes)


def not_alone(goal: Goal) -> tuple[Note, ...]:
    """What is to be said of the goal of a job that has none, because others run beside it."""
    return tuple((unsupported if name in ("latency_target", "steadystate") else ignored)(name, _ALONE) for name in goal.asked)


@dataclass(frozen=True)
class Alone:
    """The only stream of a point: its operations, its threads, and how deep its queue is."""

    ops: str
    threads: int
    depth: int


@dataclass(frozen=True)
class Aimed:
    """Kind and goal of an experiment, settings that its kind needs, and options that its stream then has not."""

    experiment: Json
    settings: Json
    left_out: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


def aimed(goal: Goal, stream: Alone) -> Aimed:
    """The experiment of a job that runs alone; raises `Unfit` for a percentile that is none."""
    if goal.target_ns:
        return _ramp(goal, stream.depth)
    if goal.steady:
        return _steady(goal)
    clauses = _minima(goal, stream) + _maxima(goal, stream.ops)
    return Aimed({"kind": "single", "objective": " and ".join(clauses)} if clauses else {"kind": "single"}, {})


def _minima(goal: Goal, stream: Alone) -> list[str]:
    found = []
    for metric, limits in (("bandwidth", goal.least_bytes), ("iops", goal.least_requests)):
        for least, (op, word) in zip(limits, _OPS.items(), strict=True):
            if least and op in stream.ops:
                limit = f"{rounded(least * stream.threads / 1e6)}MB/s" if metric == "bandwidth" else f"{least * stream.threads}"
                found.append(f"{word} {metric} >= {limit}")
    return found


def _maxima(goal: Goal, ops: str) -> list[str]:
    limits = goal.latencies_ns
    if len(set(limits)) == 1:
        return [f"max <= {time_text(limits[0])}"] if limits[0] else []
    return [f"{word} max <= {time_text(limit)}" for limit, (op, word) in zip(limits, _OPS.items(), strict=True) if limit and op in ops]


def _ramp(goal: Goal, depth: int) -> Aimed:
    percent, notes = goal.percentile, list[Note]()
    if not 0 < percent <= 100:
        raise Unfit("latency_percentile", f"{percent:g} is not a percentage of the requests.")
    near = min(_PERCENTILES, key=lambda known: (known < percent, abs(known - percent)))
    if percent not in _PERCENTILES:
        notes.append(native("latency_percentile", f"metric of the objective; {near:g} is the next one that is judged"))
    objective = f"{_PERCENTILES[near]} <= {time_text(goal.target_ns)}"
    settings: Json = {"duration": time_text(max(SHORTEST_NS, goal.window_ns))} if goal.window_ns else {}
    if goal.window_ns and goal.limited:
        notes.append(ignored("runtime", "every level lasts latency_window, and the levels end when the mark is found"))
    experiment: Json = {"kind": "ramp", "over": {"queue_depth": f"1..{depth}"}, "objective": objective, "resolution": 1}
    if depth == 1:
        notes.append(surprise("latency_target", "iodepth is 1, so there is no depth to search for"))
        experiment = {"kind": "single", "objective": objective}
    return Aimed(experiment, settings, _ENDS, tuple(notes))


def _steady(goal: Goal) -> Aimed:
    criterion, _, limit = goal.steady.partition(":")
    if not goal.steady_ns:
        return Aimed(
            {"kind": "single"}, {}, (), (unsupported("steadystate", "without steadystate_duration fio never judges; write ss_dur=60"),)
        )
    why = (
        "experiment of kind steady, which ends when five rounds stay within 20 % of their mean and 10 % of their line, in "
        f"place of the limit {limit}"
    )
    round_ns = max(SHORTEST_NS, goal.steady_ns // _WINDOW)
    settings: Json = {"duration": time_text(round_ns), "warmup": time_text(goal.steady_warmup_ns)}
    found: Json = {"kind": "steady", "metric": _STEADY[criterion.removesuffix("_slope")], "window": _WINDOW}
    if goal.runtime_ns:
        found["rounds_max"] = min(_ROUNDS_MAX, max(_WINDOW, -(-goal.runtime_ns // round_ns)))
    return Aimed(found, settings, (), (native("steadystate", why),))
