"""What performs a job's requests: fio's engine as our backend, with the depth that it really keeps.

performer(job)        # Performer("sync", depth=1)
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.formats.fio.engine_options import ENGINE_ALIASES, ENGINES
from plimsoll.formats.fio.job import Job
from plimsoll.formats.fio.table import OPTIONS

#: What fio takes on Linux when nothing is said.
_DEFAULT = "psync"


@dataclass(frozen=True)
class Performer:
    """``backend`` is empty for an engine without counterpart."""

    backend: str
    depth: int
    polled: bool = False


def performer(job: Job) -> Performer:
    """The backend and depth of a job; raises `InputError` for a name that fio does not know either."""
    given = job.get("ioengine", _DEFAULT).partition(":")[0]
    name = ENGINE_ALIASES.get(given, given)
    engine = ENGINES.get(name)
    if engine is None:
        raise job.wrong("ioengine", f"fio has no engine {name!r}; nearest is ioengine=io_uring or ioengine=psync.")
    if not engine.backend:
        job.unsupported("ioengine", engine.why)
        return Performer("", 1)
    if engine.why:
        job.native("ioengine", engine.why)
    _check_options(job, name)
    depth = job.get("iodepth", 1)
    if engine.synchronous and depth > 1:
        given = "" if job.has("ioengine") else ", which fio takes when none is named,"
        job.surprise("iodepth", f"the engine {name}{given} has one request outstanding, whatever iodepth says; queue_depth is 1")
        depth = 1
    return Performer(engine.backend, depth, bool(job.get("hipri")) and engine.backend == "auto")


def _check_options(job: Job, engine: str) -> None:
    """Options of another engine have no effect, with fio neither."""
    for name in job.values:
        owners = OPTIONS[name].engine
        if owners and engine not in owners.split(", "):
            job.idle(name, f"belongs to ioengine={owners}")
