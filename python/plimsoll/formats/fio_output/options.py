"""A stream of ours as fio's "job options": the texts that would stand in a job file.

Model: what fio would need to issue the same load, as far as it has a word for it. Sizes are written as people write them (``8k``), in
steps of 1024. A stream of several sizes becomes ``bssplit``. Every address is drawn independently, which fio calls ``norandommap``.
Limits: strides, access specifications of several mixes, schedules and flow between streams have no faithful word here and are left out.

    job_options(stream, course)      # {"rw": "randrw", "rwmixread": "70", "bs": "8k", "iodepth": "4", …}
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from plimsoll.formats.mix import is_open, random_percent, shares
from plimsoll.formats.recorded import Course

Json = dict[str, Any]

#: Our backends by the engine of fio that issues requests in the same way.
ENGINES = {"uring": "io_uring", "sync": "psync", "mmap": "mmap", "null": "null"}
_UNITS = ((1 << 40, "t"), (1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k"))


def job_options(stream: Json, course: Course) -> dict[str, str]:
    """The options of one stream, in the order in which people write them."""
    job = course.result.job
    options = {"rw": direction(stream), **_mix(stream), **_sizes(stream)}
    options["iodepth"] = str(int(stream.get("queue_depth", job.queue_depth or 1)))
    options["numjobs"] = str(int(stream.get("threads", job.threads or 1)))
    options["ioengine"] = ENGINES.get(str((course.result.engine.get("backend") or {}).get("used")), "psync")
    options["direct"] = "1" if stream.get("direct", True) else "0"
    if job.target:
        options["filename"] = job.target
    if course.result.modelled:
        # The only option that fio repeats in all its forms.
        options["description"] = job.target
    size = (course.result.host.get("target") or {}).get("size_bytes")
    if size:
        options["size"] = str(stream.get("region_length") or size)
    options |= {"time_based": "1", "runtime": _seconds(job.duration_s)}
    if job.warmup_s:
        options["ramp_time"] = _seconds(job.warmup_s)
    return {**options, **_pace(stream), **_addresses(stream, job.seed), "group_reporting": "1"}


def direction(stream: Json) -> str:
    """fio's ``rw``: what is done, and whether at random places."""
    read, write, trim = shares(stream)
    word = "trim" if trim and not read and not write else "rw" if read and write else "write" if write or not read else "read"
    return f"rand{word}" if random_percent(stream) > 0 else word


def size_text(value: Any) -> str:
    """A size as it stands in a job file: ``8k``; other texts unchanged."""
    if not isinstance(value, int):
        return str(value)
    return next((f"{value // unit}{letter}" for unit, letter in _UNITS if value and value % unit == 0), str(value))


def block_size(stream: Json) -> str:
    """The usual size of a request as fio writes it."""
    return _sizes(stream).get("bs", "4k")


def _mix(stream: Json) -> dict[str, str]:
    read, write, _ = shares(stream)
    options = {"rwmixread": f"{100 * read / (read + write):.0f}"} if read and write else {}
    if 0 < random_percent(stream) < 100:
        options["percentage_random"] = f"{random_percent(stream):.0f}"
    return options


def _sizes(stream: Json) -> dict[str, str]:
    if stream.get("access"):
        return _split([(entry["size"], float(entry.get("weight", 1))) for entry in stream["access"]])
    whole = stream.get("block_size", 4096)
    if isinstance(whole, dict):
        return _split([(size, float(share)) for size, share in whole.items()])
    if isinstance(whole, str) and "-" in whole:
        first, _, last = whole.partition("-")
        return {"bs": size_text(_number(last)), "bsrange": f"{size_text(_number(first))}-{size_text(_number(last))}"}
    each = [stream.get(f"{op}_block_size") or whole for op in ("read", "write", "trim")]
    return {"bs": size_text(whole) if set(map(str, each)) == {str(whole)} else ",".join(size_text(size) for size in each)}


def _split(parts: Sequence[tuple[Any, float]]) -> dict[str, str]:
    """Several sizes with their shares; ``bs`` names the most frequent, for readers that look for nothing else."""
    whole = sum(share for _, share in parts)
    text = ":".join(f"{size_text(_number(size))}/{100 * share / whole:.0f}" for size, share in parts)
    return {"bs": size_text(_number(max(parts, key=lambda part: part[1])[0])), "bssplit": text}


def _number(size: Any) -> Any:
    return int(size) if str(size).isdigit() else size


def _seconds(value: float) -> str:
    return f"{value:.0f}" if math.isclose(value, round(value)) else f"{value * 1000:.0f}ms"


def _pace(stream: Json) -> dict[str, str]:
    options: dict[str, str] = {}
    if is_open(stream) and stream.get("rate"):
        threads = max(1, int(stream.get("threads", 1)))
        options["rate_iops"] = f"{float(stream['rate']) / threads:.0f}"
        options |= {"rate_process": "poisson"} if stream["arrival"] == "poisson" else {}
        options["lat_percentiles"] = "1"
    if stream.get("think_time"):
        options["thinktime"] = f"{float(stream['think_time']) * 1e6:.0f}"
    if stream.get("flush_every"):
        options["fsync"] = str(stream["flush_every"])
    return options


def _addresses(stream: Json, seed: int) -> dict[str, str]:
    options = {"randseed": str(seed)}
    kind = stream.get("distribution", "uniform")
    if random_percent(stream) and kind != "permutation":
        options["norandommap"] = "1"
    if isinstance(kind, str) and kind.partition(":")[0] in ("zipf", "pareto", "normal"):
        options["random_distribution"] = kind
    return options
