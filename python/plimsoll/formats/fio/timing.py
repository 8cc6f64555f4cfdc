"""How long a group of jobs runs: the duration and warm-up of a point, and when its streams start.

Model: a point ends when all its streams have ended by themselves, or when its duration is over. Where the jobs of a group end at different
times, each of their streams has an end of its own; ``exitall`` makes the earliest of their times that of all, and has no effect where a
stream ends by its amount.
Limits: fio counts ``startdelay`` from its own start, not from that of the group; what is left of it follows where the groups before end by
time.

    settings, lasts_ns = timing(flows, elapsed_ns=0)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.formats.fio.extent import is_time_based
from plimsoll.formats.fio.flow import Flow
from plimsoll.formats.fio.job import Job
from plimsoll.formats.fio.quantity import time_ns, time_text

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
        _remark(job)
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
    return settings, end if all(is_time_based(job) for job in jobs) else None


def _remark(job: Job) -> None:
    if job.get("time_based") and not job.get("runtime"):
        job.ignored("time_based", "there is no runtime, without which it has no effect with fio either")
    if job.get("ramp_time") and not is_time_based(job):
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
    if is_time_based(job) or "trace" in flow.options or "amount" in flow.options or "requests" in flow.options:
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
