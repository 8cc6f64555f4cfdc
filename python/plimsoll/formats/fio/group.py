"""A group of jobs as one workload and one experiment of ours.

described = experiment(jobs, Names(), targets, elapsed_ns=0)
described.workload["stream"], described.experiment["kind"]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.formats.fio.content import is_direct
from plimsoll.formats.fio.engine import Performer
from plimsoll.formats.fio.extent import Extent
from plimsoll.formats.fio.files import named_files
from plimsoll.formats.fio.flow import JOBS_MAX, TOO_MANY, Flow, flows, stream_name
from plimsoll.formats.fio.goal import goal
from plimsoll.formats.fio.job import Job
from plimsoll.formats.fio.layout import layout
from plimsoll.formats.fio.placed import Placed
from plimsoll.formats.fio.quantity import Quantity, bytes_text
from plimsoll.formats.fio.replay import replays
from plimsoll.formats.fio.timing import timing
from plimsoll.formats.fio.trees import is_of_files, tree_stream
from plimsoll.formats.known_targets import SHARED, KnownTargets

Json = dict[str, Any]

#: The longest name that a stream can have.
_NAME_MAX = 64
#: The longest target that the engine takes.
_SIZE_MAX = 1 << 50


@dataclass
class Names:
    """Names given so far; every further one is made different."""

    taken: set[str] = field(default_factory=set)

    def unique(self, wanted: str) -> str:
        """The name, with a number behind it where it is taken."""
        name, number = wanted, 2
        while name in self.taken:
            more = f"-{number}"
            name, number = wanted[: _NAME_MAX - len(more)] + more, number + 1
        self.taken.add(name)
        return name


@dataclass(frozen=True)
class Group:
    """What a group became; ``lasts_ns`` is None when it ends by amounts."""

    workload: Json
    experiment: Json
    lasts_ns: int | None
    placed: Placed = field(default_factory=Placed)


def group(jobs: Sequence[Job], names: Names, targets: KnownTargets, elapsed_ns: int | None) -> Group:
    """The workload and experiment of jobs that run at the same time."""
    if any(is_of_files(job) for job in jobs):
        return _tree_group(jobs, names, elapsed_ns)
    streams = [flow for job in jobs for flow in (replays(job) if job.get("read_iolog") else flows(job))]
    if sum(job.get("numjobs", 1) for job in jobs) > JOBS_MAX >= max(job.get("numjobs", 1) for job in jobs):
        jobs[-1].unsupported("numjobs", TOO_MANY)
    _name(streams)
    _remark_sharing(jobs)
    placed = layout(streams, targets)
    settings, lasts_ns = timing(streams, elapsed_ns)
    asked = goal(streams, settings)
    settings |= _settings(streams, placed)
    name = names.unique(streams[0].job.name if _is_word(streams[0].job.name) else streams[0].name)
    experiment: Json = {"name": name, "kind": asked.pop("kind"), "workloads": [name], "set": settings, **asked}
    if any(not is_direct(flow.job) and flow.job.get("invalidate", True) and flow.performer.backend != "null" for flow in streams):
        experiment["cache"] = "cold"
    experiment["configurations"] = [{"name": name, "target": placed.target}]
    for job in jobs:
        _remark_place(job, name, len(jobs))
    return Group(_workload(name, jobs, streams), experiment, lasts_ns, placed)


def _remark_sharing(jobs: Sequence[Job]) -> None:
    """Says where one typed target takes the place of several files."""
    first = jobs[0]
    if not first.target:
        return
    named = {path for job in jobs for clone in range(min(job.get("numjobs", 1), JOBS_MAX)) for path in named_files(job, clone)}
    if len(named) > 1:
        together = "this job" if len(jobs) == 1 else "this job and those beside it"
        first.surprise("", f"{together} would use {len(named)} files or devices; --target {first.target} {SHARED}")


def _tree_group(jobs: Sequence[Job], names: Names, elapsed_ns: int | None) -> Group:
    """Jobs that work on trees of files at the same time."""
    known, trees, streams = Names(), [], list[Flow]()
    for job in jobs:
        if not is_of_files(job):
            job.unsupported("", "jobs on blocks and jobs on many files have targets of their own; put stonewall between")
            continue
        tree, stream = tree_stream(job, known.unique(stream_name(job.name)))
        trees.append(tree)
        streams.append(Flow(job, stream["name"], stream, (), Extent(Quantity(0), None, None), Performer("", 1)))
    settings, lasts_ns = timing(streams, elapsed_ns)
    name = names.unique(streams[0].name)
    folders = dict.fromkeys(str(flow.job.get("directory", ".")) for flow in streams)
    if len(folders) > 1 and not streams[-1].job.target:
        streams[-1].job.unsupported("directory", "trees that are worked on at the same time lie in one directory; name one for all")
    target = f"{next(iter(folders)).partition(':')[0].rstrip('/')}/{name}"
    experiment: Json = {"name": name, "kind": "single", "workloads": [name], "set": settings}
    experiment["configurations"] = [{"name": name, "target": target}]
    for job in jobs:
        _remark_place(job, name, len(jobs))
    workload = _workload(name, jobs, streams)
    return Group({"driver": "files", **workload, "tree": trees}, experiment, lasts_ns)


def _is_word(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,55}", name) is not None


def _name(streams: Sequence[Flow]) -> None:
    names = Names()
    for flow in streams:
        flow.options["name"] = names.unique(flow.name)


def _workload(name: str, jobs: Sequence[Job], streams: Sequence[Flow]) -> Json:
    workload: Json = {"name": name, "title": " and ".join(job.name for job in jobs)}
    purposes = [str(job.get("description")) for job in jobs if job.get("description")]
    if purposes:
        workload["purpose"] = "; ".join(dict.fromkeys(purposes))
    workload["stream"] = [flow.options for flow in streams]
    return workload


def _remark_place(job: Job, name: str, count: int) -> None:
    job.native("", f"experiment {name!r}" if count == 1 else f"a stream of experiment {name!r}")
    if job.has("randrepeat") and not job.get("randrepeat"):
        job.ignored("randrepeat", "equal seeds give equal requests; --set seed=… gives others")


def _settings(streams: Sequence[Flow], placed: Placed) -> Json:
    settings: Json = {}
    if placed.made_bytes > _SIZE_MAX:
        longest = next((flow.job for flow in streams if flow.job.has("size")), streams[0].job)
        raise longest.wrong("size", "the target would be longer than 1 PiB; write a smaller size, or a smaller offset.")
    if placed.size_bytes is not None:
        settings["size"] = bytes_text(placed.size_bytes)
    backend = _backend(streams)
    if backend:
        settings["backend"] = backend
    if any(flow.performer.polled for flow in streams):
        settings["polled"] = True
    if any(_goes_on(flow.job) for flow in streams):
        settings["on_error"] = "continue"
    for flow in streams:
        if flow.job.has("randseed"):
            flow.options["seed"] = flow.job.get("randseed")
    return settings


def _goes_on(job: Job) -> bool:
    return job.get("continue_on_error", "none") not in ("none", "0")


def _backend(streams: Sequence[Flow]) -> str:
    """The one backend of the point, or empty where ours chooses."""
    backends = {flow.performer.backend for flow in streams} - {""}
    if len(backends) == 1:
        only = backends.pop()
        return only if only in ("sync", "mmap") else ""
    for flow in streams:
        if flow.performer.backend == "mmap":
            flow.job.unsupported("ioengine", "a point has one backend; put stonewall between mmap and the others")
        elif flow.performer.backend == "sync" and flow.job.has("ioengine"):
            flow.job.native("ioengine", "io_uring with one request outstanding, because jobs beside it have more")
    return ""
