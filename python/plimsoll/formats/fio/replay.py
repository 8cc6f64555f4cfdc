"""Jobs that repeat a log of requests: ``read_iolog`` and what belongs to it, as streams of a trace.

Model: clone k takes the k-th of the logs. Their requests are due at the instants of the log, or, with ``replay_no_stall`` and for logs
without instants, as fast as the queue has room. They go to the files that the log names, or to ``replay_redirect``.
Limits: the log is looked at here only for its version and its names, and has to be there; one that is no iolog, or very long, counts as a
trace with instants and without names. What fio aligns by its start alone is rounded at both ends.

    read_log("job.iolog", text)        # Log("job.iolog", timed=True, names=("/dev/sdb",))
    replays(replay)                    # [Flow(options={"trace": "/logs/job.iolog", "arrival": "trace", …})]
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

from plimsoll.errors import InputError
from plimsoll.formats.fio.files import Extent, Files
from plimsoll.formats.fio.flow import JOBS_MAX, TOO_MANY, Flow, Use, stream_name
from plimsoll.formats.fio.notes import Note, Unfit, all_idle, idle, surprise, unsupported
from plimsoll.formats.fio.quantity import Quantity, bytes_text, rounded
from plimsoll.formats.fio.read import Include
from plimsoll.formats.fio.requests import Requests, Values
from plimsoll.formats.known_targets import KnownTargets
from plimsoll.stored import Json

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


@dataclass(frozen=True)
class Sources:
    """What logs are found by: the folder of the job file, what reads a text, and what is known of files."""

    folder: str
    include: Include | None
    targets: KnownTargets


def logs_of(given: str | None, sources: Sources) -> tuple[tuple[Log, ...], tuple[Note, ...]]:
    """The logs that a job names, none for most jobs; raises `Unfit` for one that cannot be read."""
    if not given:
        return (), all_idle(_BELONG, "there is no read_iolog")
    found, notes = [], []
    for path in given.split(":"):
        if path:
            place, said = _found(path, sources)
            found.append(read_log(place, _text(place, sources)))
            notes += said
    return tuple(found), tuple(notes)


def _found(path: str, sources: Sources) -> tuple[str, list[Note]]:
    """The log's full path: fio looks in the working directory; where it is not there, the one beside the job file is taken."""
    here, beside = os.path.abspath(path), os.path.abspath(os.path.join(sources.folder, path))
    if not sources.folder or here == beside:
        return path, []
    if not sources.targets.is_there(beside):
        return here, []
    if sources.targets.is_there(here):
        why = f"there is one beside the job file, too; {here} in the working directory is taken, as fio does"
        return here, [surprise("read_iolog", why)]
    return beside, [surprise("read_iolog", f"fio looks in the working directory, where it is not; {beside} beside the job file is taken")]


def _text(path: str, sources: Sources) -> str | None:
    if sources.include is None or (sources.targets.found(path) or 0) > _LOOKED_AT_MAX:
        return None
    try:
        return sources.include(path)
    except (InputError, OSError, KeyError) as problem:
        reason = str(problem).rstrip(".") if isinstance(problem, InputError) else f"{path}: cannot be read"
        raise Unfit("read_iolog", f"{reason}; name a log that is there.") from None


@dataclass(frozen=True)
class Replay:
    """What a job that repeats logs asks for."""

    name: str
    logs: tuple[Log, ...]
    requests: Requests
    clones: int
    files: Files
    #: How the streams use files, but which.
    use: Use
    #: The typed target, or the file that the job names in place of those of the log; else nothing.
    redirect: str
    #: The files of the job itself, for logs that name none.
    named: tuple[str, ...]
    #: As fast as the queue has room.
    no_stall: bool
    speed_percent: int
    align: Quantity | None
    #: Operations that are left out, in our words.
    skipped: tuple[str, ...]


def replay_of(values: Values, logs: tuple[Log, ...], files: Files, use: Use, requests: Requests) -> tuple[Replay, tuple[Note, ...]]:
    """The replay of a job; raises `Unfit` for an operation to leave out that is none."""
    notes = list(all_idle(_DECIDED, "the log decides it"))
    for name in ("replay_scale", "loops"):
        if values.get(name, 1) > 1:
            why = "addresses are not divided; trace_map = scale or squeeze fits a long trace onto a short target"
            notes.append(unsupported(name, why if name == "replay_scale" else "a log is repeated once; write the job several times"))
    clones = values.get("numjobs", 1)
    if clones > JOBS_MAX:
        notes.append(unsupported("numjobs", TOO_MANY))
    if values.get("replay_no_stall"):
        notes.append(idle("replay_time_scale", "replay_no_stall leaves no times to scale"))
    align: Quantity | None = values.get("replay_align")
    if align:
        why = "fio moves starts only and keeps lengths; here a request also reaches to the next multiple"
        notes.append(surprise("replay_align", why))
    size: Quantity | None = values.get("size")
    length = size if size is not None and size.is_bytes and size.number else None
    replay = Replay(
        name=files.job,
        logs=logs,
        requests=requests,
        clones=min(clones, JOBS_MAX),
        files=files,
        use=replace(use, extent=Extent(Quantity(0), length, None), traced=True),
        redirect=files.target or str(values.get("replay_redirect", "")),
        named=tuple(name for name in str(values.get("filename", "")).split(":") if name),
        no_stall=bool(values.get("replay_no_stall")),
        speed_percent=values.get("replay_time_scale", 100) or 100,
        align=align,
        skipped=tuple(_skipped(word) for word in str(values["replay_skip"]).split(",")) if "replay_skip" in values else (),
    )
    return replay, tuple(notes)


def _skipped(word: str) -> str:
    if word not in _SKIPPED:
        raise Unfit("replay_skip", f"there are {', '.join(_SKIPPED)}.")
    return _SKIPPED[word]


def replays(job: Replay) -> tuple[list[Flow], tuple[Note, ...]]:
    """The streams of a job that repeats logs."""
    found, notes = [], list[Note]()
    for clone in range(job.clones):
        log = job.logs[min(clone, len(job.logs) - 1)]
        name = stream_name(job.name) if job.clones == 1 else f"{stream_name(job.name)}-{clone}"
        options, said = _options(job, log)
        files, more = _files(job, log)
        notes += [*said, *more]
        use = replace(job.use, files=files if job.use.performer.has_target else ())
        found.append(Flow(name, options | {"queue_depth": job.use.performer.depth, "direct": job.requests.direct}, use, job.requests))
    return found, tuple(notes)


def _options(job: Replay, log: Log) -> tuple[Json, list[Note]]:
    options: Json = {"trace": os.path.abspath(log.path)}
    notes = []
    if not job.no_stall and log.timed:
        options["arrival"] = "trace"
        if job.speed_percent != 100:
            options["trace_speed"] = rounded(job.speed_percent / 100)
    elif not job.no_stall:
        notes.append(idle("replay_time_scale", "the log has no times"))
        notes.append(surprise("read_iolog", "a log of version 2 has waits in place of times, which are left out"))
    if job.align:
        options["align"] = bytes_text(job.align.number)
    return options | ({"trace_skip": list(job.skipped)} if job.skipped else {}), notes


def _files(job: Replay, log: Log) -> tuple[tuple[str, ...], list[Note]]:
    """Where the requests go: fio heeds ``filename`` for logs of other programs only where ``replay_redirect`` is missing."""
    if job.redirect:
        return (job.redirect,), []
    if log.names:
        return log.names, [idle("filename", "the log names the files")]
    if job.named:
        return job.named, []
    why = "what the log was taken from is not known here; write replay_redirect= with a file or device, or name one with --target"
    return ("unknown",), [unsupported("read_iolog", why)]
