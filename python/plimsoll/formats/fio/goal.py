"""What a job asks of its own numbers: minimum rates, a maximum latency, a latency to search the depth for, a steady state.

Model: ``rate_min`` and ``max_latency`` become the objective of a point, which is judged and not ended. ``latency_target`` is a ramp over
the queue depth, which doubles until the latency is exceeded and then closes in, as fio does. ``steadystate`` is an experiment of kind
steady.

    goal(flows)        # {"kind": "ramp", "over": {"queue_depth": "1..32"}, "objective": "p99 <= 5ms", "resolution": 1}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.formats.fio.addresses import mode_of
from plimsoll.formats.fio.flow import Flow
from plimsoll.formats.fio.job import Job
from plimsoll.formats.fio.quantity import rounded, time_text

Json = dict[str, Any]

_OPS = {"r": "read", "w": "write", "t": "trim"}
_PERCENTILES = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p99.9", 100.0: "max"}
_STEADY = {"iops": "iops", "bw": "bandwidth", "lat": "mean"}
_ALONE = "an objective is for the whole point, and other jobs run beside this one; put stonewall between"
_WINDOW = 5
#: The most rounds that our experiment takes.
_ROUNDS_MAX = 10_000


def goal(flows: Sequence[Flow], settings: Json) -> Json:
    """Kind and goal of the experiment of a group; ``settings`` is changed where a kind needs another duration."""
    jobs = list({id(flow.job): flow.job for flow in flows}.values())
    for job in jobs:
        _remark(job, alone=len(flows) == 1)
    if len(flows) > 1:
        return {"kind": "single"}
    job, flow = jobs[0], flows[0]
    if job.get("latency_target"):
        return _ramp(job, flow, settings)
    if job.has("steadystate"):
        return _steady(job, settings)
    clauses = _minima(job, flow) + _maxima(job)
    return {"kind": "single", "objective": " and ".join(clauses)} if clauses else {"kind": "single"}


def _remark(job: Job, *, alone: bool) -> None:
    for name in ("rate_min", "rate_iops_min", "max_latency"):
        if job.has(name) and not alone:
            job.ignored(name, _ALONE)
    for name, prefix in (("latency_target", "latency_"), ("steadystate", "steadystate_")):
        if job.get(name) and not alone:
            job.unsupported(name, _ALONE)
        for other in [other for other in job.values if other.startswith(prefix) and not job.get(name)]:
            job.idle(other, f"there is no {name}")


def _minima(job: Job, flow: Flow) -> list[str]:
    threads = flow.options.get("threads", 1)
    found = []
    for name, metric in (("rate_min", "bandwidth"), ("rate_iops_min", "iops")):
        for index, (op, word) in enumerate(_OPS.items()):
            least = job.get(name, (None,) * 3)[index]
            if least and op in mode_of(job).ops:
                limit = f"{rounded(least * threads / 1e6)}MB/s" if metric == "bandwidth" else f"{least * threads}"
                found.append(f"{word} {metric} >= {limit}")
    return found


def _maxima(job: Job) -> list[str]:
    limits = job.get("max_latency", (None,) * 3)
    if len(set(limits)) == 1:
        return [f"max <= {time_text(limits[0])}"] if limits[0] else []
    ops = mode_of(job).ops
    return [f"{word} max <= {time_text(limit)}" for limit, (op, word) in zip(limits, _OPS.items(), strict=True) if limit and op in ops]


def _ramp(job: Job, flow: Flow, settings: Json) -> Json:
    percent = job.get("latency_percentile", 100.0)
    if not 0 < percent <= 100:
        raise job.wrong("latency_percentile", f"{percent:g} is not a percentage of the requests.")
    metric = _PERCENTILES.get(percent)
    if metric is None:
        near = min(_PERCENTILES, key=lambda known: (known < percent, abs(known - percent)))
        metric = _PERCENTILES[near]
        job.native("latency_percentile", f"metric of the objective; {near:g} is the next one that is judged")
    objective = f"{metric} <= {time_text(job.get('latency_target'))}"
    window = job.get("latency_window", 0)
    if window:
        settings["duration"] = time_text(max(1_000_000, window))
        if job.has("runtime"):
            job.ignored("runtime", "every level lasts latency_window, and the levels end when the mark is found")
    for stopped in ("amount", "requests", "flush_at_end"):
        flow.options.pop(stopped, None)
    depth = flow.performer.depth
    if depth == 1:
        job.surprise("latency_target", "iodepth is 1, so there is no depth to search for")
        return {"kind": "single", "objective": objective}
    return {"kind": "ramp", "over": {"queue_depth": f"1..{depth}"}, "objective": objective, "resolution": 1}


def _steady(job: Job, settings: Json) -> Json:
    criterion, _, limit = str(job.get("steadystate")).partition(":")
    metric = _STEADY[criterion.removesuffix("_slope")]
    length = job.get("steadystate_duration", 0)
    if not length:
        job.unsupported("steadystate", "without steadystate_duration fio never judges; write ss_dur=60")
        return {"kind": "single"}
    job.native(
        "steadystate",
        "experiment of kind steady, which ends when five rounds stay within 20 % of their mean and 10 % of their line, in "
        f"place of the limit {limit}",
    )
    round_ns = max(1_000_000, length // _WINDOW)
    settings["duration"] = time_text(round_ns)
    settings["warmup"] = time_text(job.get("steadystate_ramp_time", job.get("ramp_time", 0)))
    found: Json = {"kind": "steady", "metric": metric, "window": _WINDOW}
    if job.get("runtime"):
        found["rounds_max"] = min(_ROUNDS_MAX, max(_WINDOW, -(-job.get("runtime") // round_ns)))
    return found
