"""How long a group of jobs runs and what it asks of its own numbers: duration, warm-up and starts of a point, the kind of its experiment.

Model: a point ends when all its streams have ended by themselves, or when its duration is over. Where the jobs of a group end at different
times, each of their streams has an end of its own; ``exitall`` makes the earliest of their times that of all, and has no effect where a
stream ends by its amount.
``rate_min`` and ``max_latency`` become the objective of a point, which is judged and not ended. ``latency_target`` is a ramp over
the queue depth, which doubles until the latency is exceeded and then closes in, as fio does. ``steadystate`` is an experiment of kind
steady.
Limits: fio counts ``startdelay`` from its own start, not from that of the group; what is left of it follows where the groups before end by
time.

    settings, lasts_ns = timing(flows, elapsed_ns=0)
    goal(flows, settings)        # {"kind": "ramp", "over": {"queue_depth": "1..32"}, "objective": "p99 <= 5ms", "resolution": 1}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.formats.fio.flow import Flow
from plimsoll.formats.fio.jobs import Job
from plimsoll.formats.fio.quantity import rounded, time_ns, time_text

Json = dict[str, Any]

#: A point that ends by its amounts; only the limit for a target that takes nothing any more.
_LIMIT = "30d"
_LIMIT_INTERVAL = "1s"
_SHORTEST_NS, _LONGEST_NS = 1_000_000, time_ns("1d", "d")
_WINDOWS = ("log_avg_msec", "log_hist_msec", "bwavgtime", "iopsavgtime")


def timing(flows: Sequence[Flow], elapsed_ns: int | None) -> tuple[Json, int | None]:
    """Settings of a point, and how long it lasts when that is known. ``elapsed_ns`` is when the group starts, None when unknown."""
    jobs = list({id(flow.job): flow.job for flow in flows}.values())
    for job in jobs:
        _remark_times(job)
    delays = {id(job): _delay(job, elapsed_ns) for job in jobs}
    for flow in flows:
        delay = delays[id(flow.job)]
        flow.options.pop("start_after", None)
        if delay:
            flow.options["start_after"] = time_text(delay)
        _check_end(flow)
    warmup = max(job.get("ramp_time", 0) for job in jobs)
    end = _end(flows, jobs, delays)
    settings: Json = {"duration": _LIMIT, "warmup": time_text(warmup), "interval": _LIMIT_INTERVAL}
    if end is None:
        _log(jobs, settings, _LONGEST_NS)
        return settings, None
    duration = max(_SHORTEST_NS, end - warmup)
    settings = {"duration": time_text(duration), "warmup": time_text(warmup)}
    _log(jobs, settings, min(duration, _LONGEST_NS))
    return settings, end if all(job.requests.time_based for job in jobs) else None


def _remark_times(job: Job) -> None:
    if job.get("time_based") and not job.get("runtime"):
        job.ignored("time_based", "there is no runtime, without which it has no effect with fio either")
    if job.get("ramp_time") and not job.requests.time_based:
        job.native("ramp_time", "warmup; what is transferred meanwhile counts towards the amount, as with fio")


def _delay(job: Job, elapsed_ns: int | None) -> int:
    delay: int = job.get("startdelay", (0, 0))[0]
    if not delay or elapsed_ns == 0:
        return delay
    if elapsed_ns is None:
        job.ignored(
            "startdelay", "fio counts it from its own start, and how long the groups before take is not known; the job starts at once"
        )
        return 0
    job.surprise("startdelay", "fio counts it from its own start, not from the start of the group")
    return max(0, delay - elapsed_ns)


def _check_end(flow: Flow) -> None:
    """A stream without time, amount or number of requests would go on for ever."""
    job = flow.job
    if job.requests.time_based or "trace" in flow.options or "amount" in flow.options or "requests" in flow.options:
        return
    if job.get("runtime"):
        job.surprise("runtime", "how much lies behind the offset is not known here, so the job goes on until its runtime is over")
    else:
        why = f"how much lies behind it is not known here, so the job would not end; write size=, or {job.targets.remedy}"
        job.unsupported("offset", why)


def _end(flows: Sequence[Flow], jobs: Sequence[Job], delays: dict[int, int]) -> int | None:
    """The instant at which the point is over, None when streams end by themselves."""
    ends = {id(job): delays[id(job)] + job.get("ramp_time", 0) + job.get("runtime") if job.get("runtime") else None for job in jobs}
    different = set(ends.values())
    known: list[int] = [end for end in different if end is not None]
    leaving = [job for job in jobs if job.get("exitall")]
    if leaving and any(end is None for end in different) and len(jobs) > 1:
        for job in leaving:
            job.ignored("exitall", "a stream that has transferred its amount does not end the others")
    if len(different) == 1:
        return different.pop()
    if leaving:
        return min(known)
    for flow in flows:
        end = ends[id(flow.job)]
        if end is not None and (None in different or end < max(known)):
            flow.options["end_after"] = time_text(end)
            flow.job.native("runtime", "end_after, because jobs beside it end at another time")
    return None if None in different else max(known)


def _log(jobs: Sequence[Job], settings: Json, longest: int) -> None:
    """The shortest window that a job asks to see its numbers in is the interval of the record, where it fits into the run."""
    wanted = [job.get(name) for job in jobs for name in _WINDOWS if job.has(name)]
    possible = [window for window in wanted if _SHORTEST_NS <= window <= longest]
    if possible:
        settings["interval"] = time_text(min(possible))
    for job in jobs:
        for name in [name for name in _WINDOWS if job.has(name) and job.get(name) not in possible]:
            if longest < job.get(name) <= _LONGEST_NS:
                job.ignored(name, f"an interval is no longer than the run, {time_text(longest)}; fio writes nothing down before it is over")
            else:
                job.ignored(name, "an interval lasts 1 ms to a day; requests are not written down one by one")


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
            if least and op in job.requests.mode.ops:
                limit = f"{rounded(least * threads / 1e6)}MB/s" if metric == "bandwidth" else f"{least * threads}"
                found.append(f"{word} {metric} >= {limit}")
    return found


def _maxima(job: Job) -> list[str]:
    limits = job.get("max_latency", (None,) * 3)
    if len(set(limits)) == 1:
        return [f"max <= {time_text(limits[0])}"] if limits[0] else []
    ops = job.requests.mode.ops
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
