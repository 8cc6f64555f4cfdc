"""Jobs that repeat a log of requests: ``read_iolog`` and what belongs to it, as streams of a trace.

Model: clone k takes the k-th of the logs. Their requests are due at the instants of the log, or, with ``replay_no_stall`` and for logs
without instants, as fast as the queue has room. They go to the files that the log names, or to ``replay_redirect``.
Limits: the log is looked at here only for its version and its names, and has to be there; one that is no iolog, or very long, counts as a
trace with instants and without names. What fio aligns by its start alone is rounded at both ends.

    read_log("job.iolog", text)        # Log("job.iolog", timed=True, names=("/dev/sdb",))
    replays(job)                       # [Flow(options={"trace": "/logs/job.iolog", "arrival": "trace", …})]
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.fio.files import Extent, remark_target
from plimsoll.formats.fio.flow import JOBS_MAX, TOO_MANY, Flow, performer, stream_name
from plimsoll.formats.fio.jobs import Job
from plimsoll.formats.fio.quantity import Quantity, bytes_text, rounded
from plimsoll.formats.fio.read import Include
from plimsoll.formats.known_targets import KnownTargets

Json = dict[str, Any]

#: A longer log is not looked at; its jobs have to say where its requests go.
_LOOKED_AT_MAX = 64 << 20
_VERSION = re.compile(r"fio version (\d+) iolog")
_SKIPPED = {"read": "read", "write": "write", "trim": "trim", "sync": "flush"}
_BELONG = ("replay_no_stall", "replay_time_scale", "replay_redirect", "replay_scale", "replay_align", "replay_skip", "read_iolog_chunked")
#: What the log decides in place of the job.
_DECIDED = (
    "rw",
    "bs",
    "ba",
    "bsrange",
    "bssplit",
    "rwmixread",
    "rwmixwrite",
    "norandommap",
    "random_distribution",
    "percentage_random",
    "offset",
    "io_size",
    "number_ios",
    "rate",
    "rate_iops",
    "thinktime",
    "fsync",
    "fdatasync",
    "verify",
    "time_based",
    "nrfiles",
)


@dataclass(frozen=True)
class Log:
    """A log, whether its requests have instants, and the files that it names; without names it is none of fio's own."""

    path: str
    timed: bool
    names: tuple[str, ...]


def read_log(path: str, text: str | None) -> Log:
    """What the text of a log says of it; without a text it has instants and no names."""
    head, _, rest = (text or "").partition("\n")
    version = _VERSION.match(head)
    if version is None:
        return Log(path, timed=True, names=())
    timed = int(version.group(1)) > 2
    added = [line.split() for line in rest.splitlines() if line.endswith(" add")]
    return Log(path, timed, tuple(dict.fromkeys(words[-2] for words in added)))


def open_logs(jobs: Sequence[Job], include: Include | None, targets: KnownTargets) -> None:
    """Puts the logs of every job in place of their names."""
    for job in jobs:
        if job.get("read_iolog"):
            paths = [_found(job, path, targets) for path in str(job.get("read_iolog")).split(":") if path]
            job.values["read_iolog"] = tuple(read_log(path, _text(job, path, include, targets)) for path in paths)
        else:
            for name in _BELONG:
                job.idle(name, "there is no read_iolog")


def _found(job: Job, path: str, targets: KnownTargets) -> str:
    """The log's full path: fio looks in the working directory; where it is not there, the one beside the job file is taken."""
    folder = os.path.dirname(job.lines["read_iolog"].place.source)
    here, beside = os.path.abspath(path), os.path.abspath(os.path.join(folder, path))
    if not folder or here == beside:
        return path
    if not targets.is_there(beside):
        return here
    if targets.is_there(here):
        job.surprise("read_iolog", f"there is one beside the job file, too; {here} in the working directory is taken, as fio does")
        return here
    job.surprise("read_iolog", f"fio looks in the working directory, where it is not; {beside} beside the job file is taken")
    return beside


def _text(job: Job, path: str, include: Include | None, targets: KnownTargets) -> str | None:
    if include is None or (targets.found(path) or 0) > _LOOKED_AT_MAX:
        return None
    try:
        return include(path)
    except (InputError, OSError, KeyError) as problem:
        reason = str(problem).rstrip(".") if isinstance(problem, InputError) else f"{path}: cannot be read"
        raise job.wrong("read_iolog", f"{reason}; name a log that is there.") from None


def replays(job: Job) -> list[Flow]:
    """The streams of a job that repeats logs."""
    engine = performer(job)
    for name in _DECIDED:
        job.idle(name, "the log decides it")
    remark_target(job)
    for name in ("replay_scale", "loops"):
        if job.get(name, 1) > 1:
            why = "addresses are not divided; trace_map = scale or squeeze fits a long trace onto a short target"
            job.unsupported(name, why if name == "replay_scale" else "a log is repeated once; write the job several times")
    logs: tuple[Log, ...] = job.get("read_iolog")
    count = job.get("numjobs", 1)
    if count > JOBS_MAX:
        job.unsupported("numjobs", TOO_MANY)
    part = Extent(Quantity(0), _length(job), None)
    found = []
    for clone in range(min(count, JOBS_MAX)):
        log = logs[min(clone, len(logs) - 1)]
        name = stream_name(job.name) if count == 1 else f"{stream_name(job.name)}-{clone}"
        options = {"name": name, **_options(job, log), "queue_depth": engine.depth, "direct": job.requests.direct}
        found.append(Flow(job, name, options, () if engine.backend == "null" else _files(job, log), part, engine))
    return found


def _options(job: Job, log: Log) -> Json:
    options: Json = {"trace": os.path.abspath(log.path)}
    if job.get("replay_no_stall"):
        job.idle("replay_time_scale", "replay_no_stall leaves no times to scale")
    elif log.timed:
        options["arrival"] = "trace"
        speed = job.get("replay_time_scale", 100) or 100
        if speed != 100:
            options["trace_speed"] = rounded(speed / 100)
    else:
        job.idle("replay_time_scale", "the log has no times")
        job.surprise("read_iolog", "a log of version 2 has waits in place of times, which are left out")
    if job.get("replay_align"):
        options["align"] = bytes_text(job.get("replay_align").number)
        job.surprise("replay_align", "fio moves starts only and keeps lengths; here a request also reaches to the next multiple")
    if job.has("replay_skip"):
        options["trace_skip"] = [_skipped(job, word) for word in str(job.get("replay_skip")).split(",")]
    return options


def _skipped(job: Job, word: str) -> str:
    if word not in _SKIPPED:
        raise job.wrong("replay_skip", f"there are {', '.join(_SKIPPED)}.")
    return _SKIPPED[word]


def _length(job: Job) -> Quantity | None:
    size: Quantity | None = job.get("size")
    return size if size is not None and size.is_bytes and size.number else None


def _files(job: Job, log: Log) -> tuple[str, ...]:
    """Where the requests go: fio heeds ``filename`` for logs of other programs only where ``replay_redirect`` is missing."""
    if job.target:
        return (job.target,)
    if job.get("replay_redirect"):
        return (str(job.get("replay_redirect")),)
    if log.names:
        job.idle("filename", "the log names the files")
        return log.names
    if job.has("filename"):
        return tuple(name for name in str(job.get("filename")).split(":") if name)
    why = "what the log was taken from is not known here; write replay_redirect= with a file or device, or name one with --target"
    job.unsupported("read_iolog", why)
    return ("unknown",)
