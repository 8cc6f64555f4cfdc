"""What keeps a job from issuing although its queue has room: refilling in waves, a ratio to other jobs, requests that overlap.

Model: fio fills its queue, waits for ``iodepth_batch_complete_min`` completions at once and until no more than ``iodepth_low`` are
outstanding, and fills it up again: our ``refill_depth``. It hands over ``iodepth_batch`` requests at once, as far as so many are missing;
from three on the kernel joins those that touch: our ``merge_depth``. ``flow`` is the weight of a job among those with its ``flow_id``:
our ``share``.
Limits: requests of a rate are due whatever is outstanding, so with a rate none of it has a counterpart.

    holding(job, queue_depth=16, paced=False)        # {"refill_depth": 8}
"""

from __future__ import annotations

from typing import Any

from plimsoll.formats.fio.addresses import mode_of
from plimsoll.formats.fio.content import is_direct
from plimsoll.formats.fio.engine_options import ENGINE_ALIASES
from plimsoll.formats.fio.job import Job

Json = dict[str, Any]

#: What these options are here.
HELD = frozenset(("refill_depth", "share", "serialize_overlap"))
_BATCHES = ("iodepth_low", "iodepth_batch_complete_min", "iodepth_batch")
#: From so many requests in one call on the kernel joins neighbours (fs/aio.c, io_uring/io_uring.c).
_PLUGGED = 3
#: Engines that hand over several requests in one call.
_BATCHING = ("libaio", *ENGINE_ALIASES, "io_uring")


def holding(job: Job, queue_depth: int, *, paced: bool) -> Json:
    """The options; ``paced`` says that requests have instants of their own."""
    options = {**_waves(job, queue_depth, paced=paced), **_share(job, paced=paced)}
    if job.get("serialize_overlap"):
        if paced:
            job.ignored("serialize_overlap", "requests of a rate wait for nobody")
        elif queue_depth > 1:
            options["serialize_overlap"] = True
    return options


def _waves(job: Job, queue_depth: int, *, paced: bool) -> Json:
    if queue_depth == 1:
        for name in _BATCHES:
            job.idle(name, "one request is outstanding")
        return {}
    low = min(job.get("iodepth_low", 0) or queue_depth, queue_depth)
    least = min(max(1, job.get("iodepth_batch_complete_min", 1)), queue_depth)
    refill_depth = min(low, queue_depth - least)
    if refill_depth >= queue_depth - 1:
        job.idle("iodepth_batch", "each completion is followed by one request, so fio hands over one at a time whatever it says")
        return {}
    if paced:
        for name in _BATCHES:
            if job.has(name):
                job.ignored(name, "requests of a rate are issued when they are due")
        return {}
    together = min(job.get("iodepth_batch", 1), queue_depth - refill_depth)
    return {"refill_depth": refill_depth, **({"merge_depth": together} if together >= _PLUGGED and _joins(job) else {})}


def _joins(job: Job) -> bool:
    """Whether fio's engine hands over several requests in one call, and some of them can touch."""
    return job.get("ioengine") in _BATCHING and is_direct(job) and not _is_random(job)


def _is_random(job: Job) -> bool:
    return mode_of(job).random and job.get("percentage_random", (100,) * 3) == (100,) * 3


def _share(job: Job, *, paced: bool) -> Json:
    weight = job.get("flow", 0)
    if not weight:
        for name in ("flow_id", "flow_sleep", "flow_watermark"):
            job.idle(name, "there is no flow")
        return {}
    if weight < 0:
        why = "negative weights are of old files, and fio 3.33 runs such jobs without a ratio; write positive ones: the larger runs more"
        job.unsupported("flow", why)
        return {}
    if paced:
        job.unsupported("flow", "requests of a rate wait for nobody; drop flow, and give the jobs rates of this ratio")
        return {}
    group = job.get("flow_id", 0)
    return {"share": weight, **({"share_group": group} if group else {})}
