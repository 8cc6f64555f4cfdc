"""Writing of runs and points: as they arise here, or as another tool measured them.

The process that wrote a run: alive or not, so that an abandoned run is told from one that is going on.

Model: a process id is reused, so it counts only with the boot it belongs to and the tick it started at (proc_pid_stat(5), field 22).
Limits: across hosts (a shared directory) the boot differs, and the run counts as abandoned even while it goes on elsewhere.

    identity = own_identity()        # stored in run.json
    is_alive(identity)

Writing of runs and points as they arise; see `plimsoll.store` for the layout and its guarantees.

run = RunWriter.create("results", info)
with run.begin_point(skeleton) as point:
    point.interval(interval)
    point.finish(result)
run.finish("complete")

What another tool measured, kept as a run: the same directories and files, with nothing of this machine in them.

Model: the run has no host, since where it was measured is not known; its versions say which tool measured it, and from which files it was
read. Points get their ids here; equal ones become repeats of each other. Either the whole run is stored or an error says what was not.

    path = import_points("results", Import(["plimsoll", "import", "a.json"], "fio", ["a.json"]), points)
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from typing import Protocol

from plimsoll import displayed
from plimsoll.errors import StoreError
from plimsoll.records import dataclass
from plimsoll.result import Result, iso_time
from plimsoll.store.durable import LineFile, fresh_folder, replace_file, store_error, sync
from plimsoll.stored import Conclusion, Experiment, HostAt, HostFacts, Interval, Json, Process, Sample, StoredPrice, Suite


def own_identity() -> Process:
    """What tells this process from every other."""
    return identity_of(os.getpid())


def identity_of(pid: int) -> Process:
    """What tells a process of this machine from every other."""
    return {"pid": pid, "boot_id": _boot_id(), "start_ticks": _start_ticks(pid)}


def is_alive(identity: Process | None) -> bool:
    """Whether the process of ``identity`` still runs on this machine."""
    if not identity or identity.get("boot_id") != _boot_id():
        return False
    pid = identity.get("pid")
    ticks = _start_ticks(pid) if isinstance(pid, int) else None
    return ticks is not None and ticks == identity.get("start_ticks")


def _boot_id() -> str | None:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


def _start_ticks(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    # Counted after the command name: state is field 3, the start time field 22. A zombie has ended.
    return None if fields[0] in "ZX" else int(fields[19])


RUN_SCHEMA = "plimsoll.run/1"
#: Of a point that goes on: how far each of several hosts is.
HOSTS = "hosts.json"


@dataclass(frozen=True)
class RunInfo:
    """What a run is, known before it starts; ``host`` and ``versions`` are facts of this machine.

    ``points_planned`` is None when results decide how many there will be. ``experiments`` are definitions, ``suite`` says which shipped or
    written list they come from, and ``fingerprint`` is equal for runs that measure the same (`plimsoll.store.resumption`).
    """

    name: str
    command: list[str]
    points_planned: int | None
    host: HostFacts
    versions: Json
    label: str | None = None
    experiments: Sequence[Experiment] = ()
    suite: Suite | None = None
    fingerprint: str | None = None
    prices: Mapping[str, StoredPrice] = field(default_factory=dict)


class RunWriter:
    """One run directory being filled."""

    def __init__(self, path: str, meta: Json, points: int = 0) -> None:
        self.path = path
        self._meta = meta
        self._points = points

    @classmethod
    def create(cls, out: str, info: RunInfo) -> RunWriter:
        """Make the directory ``OUT/<time>_<name>`` with its run.json."""
        created_ns = time.time_ns()
        created = created_ns / 1e9
        meta = {
            "schema": RUN_SCHEMA,
            "name": "",
            "label": info.label,
            "created": iso_time(created),
            "created_ns": created_ns,
            "finished": None,
            "command": info.command,
            "status": "running",
            "points_planned": info.points_planned,
            "process": own_identity(),
            "host": info.host,
            "versions": info.versions,
            **({"experiments": list(info.experiments), "fingerprint": info.fingerprint} if info.experiments else {}),
            **({"suite": info.suite} if info.suite is not None else {}),
            **({"prices": dict(info.prices)} if info.prices else {}),
        }
        stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime(created))
        try:
            os.makedirs(out, exist_ok=True)
            path = _claim(out, f"{stamp}_{slug(info.name)}", meta)
        except OSError as problem:
            raise store_error(out, problem) from None
        return cls(path, meta)

    @contextmanager
    def held(self) -> Iterator[None]:
        """The directory is open within the block: by that, whoever wants to stop the run tells this process from every other."""
        try:
            folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as problem:
            raise store_error(self.path, problem) from None
        try:
            yield
        finally:
            os.close(folder)

    def begin_point(self, skeleton: Result) -> PointWriter:
        """Start a point: its directory appears with ``job.json`` inside."""
        folder = os.path.join(self.path, "points")
        path = os.path.join(folder, skeleton.id)
        beside = os.path.join(folder, f".{skeleton.id}.part")
        try:
            fresh_folder(beside)
            replace_file(os.path.join(beside, "job.json"), encoded(skeleton.to_json()), durable=False)
            os.rename(beside, path)
        except OSError as problem:
            raise store_error(path, problem) from None
        return PointWriter(path)

    def adopt_point(self, folder: str, skeleton: Result, result: Result) -> None:
        """Take over a point that was measured into another run of this host: intervals as they are, documents under the new name.

        It appears when all of it is there, on the medium.
        """
        path = os.path.join(self.path, "points", result.id)
        beside = os.path.join(self.path, "points", f".{result.id}.part")
        try:
            _discard(beside)
            _move(folder, beside)
            replace_file(os.path.join(beside, "job.json"), encoded(skeleton.to_json()), durable=False)
            replace_file(os.path.join(beside, "result.json"), encoded(result.to_json()))
            for name in ("intervals.jsonl", "monitor.jsonl"):
                with suppress(FileNotFoundError):
                    sync(os.path.join(beside, name))
            os.rename(beside, path)
            sync(os.path.dirname(path))
        except OSError as problem:
            raise store_error(path, problem) from None

    def count_from(self, place: int) -> None:
        """The next point has this place; for a host whose points are numbered by who measures with several."""
        self._points = place - 1

    def next_point_id(self, workload: str) -> str:
        """``0001-oltp-db``: the place in the run, then the workload."""
        self._points += 1
        return f"{self._points:04d}-{slug(workload)}"

    @property
    def scratch(self) -> list[str]:
        """The scratch files that this run has made, also before it was resumed."""
        return list(self._meta.get("scratch", []))

    def keep_scratch(self, paths: Collection[str]) -> None:
        """Remember scratch files before they are made: whoever resumes the run removes them."""
        known = self.scratch
        if set(paths) <= set(known):
            return
        self._meta["scratch"] = sorted({*known, *paths})
        replace_file(os.path.join(self.path, "run.json"), encoded(self._meta), durable=False)

    def keep_gang(self, gang: Json) -> None:
        """Remember which hosts measure, and where each keeps what it measures: who collects it later finds it."""
        self._meta["gang"] = gang
        replace_file(os.path.join(self.path, "run.json"), encoded(self._meta), durable=False)

    def finish(self, status: str, conclusions: Sequence[Conclusion] = ()) -> None:
        """Say how the run ended, and what its experiments found."""
        self._meta.update(status=status, finished=iso_time(time.time()))
        if conclusions:
            self._meta["conclusions"] = list(conclusions)
        replace_file(os.path.join(self.path, "run.json"), encoded(self._meta))


class PointWriter:
    """One point directory being filled; the sink of a measurement."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._intervals = LineFile(os.path.join(path, "intervals.jsonl"))
        self._monitor = LineFile(os.path.join(path, "monitor.jsonl"))
        self._hosts: str | None = None

    def interval(self, interval: Interval) -> None:
        """Keep one interval."""
        self._intervals.append(_compact(interval))

    def hosts(self, hosts: Sequence[HostAt]) -> None:
        """Keep how far each of several hosts is, for who looks on; the result says how they ended."""
        self._hosts = os.path.join(self.path, HOSTS)
        replace_file(self._hosts, encoded({"hosts": list(hosts)}), durable=False)

    def monitor(self, sample: Sample) -> None:
        """Keep one sample of the host's counters."""
        self._monitor.append(_compact(sample))

    def finish(self, result: Result) -> None:
        """Keep the result; after this the point is complete on the medium."""
        self._intervals.close()
        self._monitor.close()
        replace_file(os.path.join(self.path, "result.json"), encoded(result.to_json()))
        if self._hosts is not None:
            with suppress(OSError):
                os.unlink(self._hosts)
        # The name of the point's own directory, which `begin_point` left to the system.
        try:
            sync(os.path.dirname(self.path))
        except OSError as problem:
            raise store_error(self.path, problem) from None

    def close(self) -> None:
        """Give up: what was appended stays readable, the point stays incomplete."""
        for lines in (self._intervals, self._monitor):
            lines.close(durable=False)

    def __enter__(self) -> PointWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def slug(name: str) -> str:
    """``name`` as it may stand in a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "run"


def _claim(out: str, name: str, meta: Json) -> str:
    """Make a directory whose name is taken by nobody, complete with run.json from its first instant."""
    beside = os.path.join(out, f".{name}.{os.getpid()}.part")
    os.mkdir(beside)
    os.mkdir(os.path.join(beside, "points"))
    try:
        for attempt in range(1, 1000):
            meta["name"] = name if attempt == 1 else f"{name}-{attempt}"
            path = os.path.join(out, meta["name"])
            if os.path.exists(path):
                continue
            replace_file(os.path.join(beside, "run.json"), encoded(meta), durable=False)
            try:
                os.rename(beside, path)
            except OSError:
                if os.path.isdir(path):
                    continue
                raise
            # Only now, since who is killed before it has its name leaves a folder that nobody lists.
            for name_on_medium in (os.path.join(path, "run.json"), path, out):
                sync(name_on_medium)
            return path
    except (OSError, StoreError):
        _discard(beside)
        raise
    raise StoreError(f"{out}: a thousand runs were started in this second; give another directory with --out.")


def _move(folder: str, to: str) -> None:
    import shutil

    shutil.move(folder, to)


def _discard(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def encoded(value: Json) -> bytes:
    """A document as it stands in a file."""
    return displayed.encoded(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def _compact(value: Mapping[str, object]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Point(Protocol):
    """What is to be stored."""

    @property
    def result(self) -> Result:
        """The point."""

    @property
    def intervals(self) -> Sequence[Interval]:
        """Its intervals, as far as they are known."""

    @property
    def monitor(self) -> Sequence[Sample]:
        """Samples of a host, as far as they are known."""


@dataclass(frozen=True)
class Import:
    """What the run is called and where it comes from."""

    command: list[str]
    form: str
    files: Sequence[str]
    label: str | None = None


def import_points(out: str, about: Import, points: Sequence[Point]) -> str:
    """Store ``points`` as a run in ``out``; its directory. Raises `StoreError` when it cannot be written."""
    origins = sorted({point.result.origin or about.form for point in points})
    info = RunInfo(
        name=f"import-{about.form}",
        command=about.command,
        points_planned=len(points),
        host={},
        versions={"origin": ", ".join(origins), "files": ", ".join(about.files)},
        label=about.label,
    )
    run = RunWriter.create(out, info)
    seen: Counter[str] = Counter()
    for point in points:
        result = _placed(point.result, run.next_point_id(point.result.job.workload), seen)
        with run.begin_point(replace(result, status="incomplete", error="The import of this point did not end.")) as writer:
            for interval in point.intervals:
                writer.interval(interval)
            for sample in point.monitor:
                writer.monitor(sample)
            writer.finish(result)
    run.finish("complete")
    return run.path


def _placed(result: Result, point_id: str, seen: Counter[str]) -> Result:
    """The result with its id; points of equal workload, options and place are numbered as repeats."""
    job = result.job
    key = json.dumps([job.workload, job.target, job.definition, result.place], sort_keys=True, default=str)
    seen[key] += 1
    return replace(result, id=point_id, job=replace(job, repeat=seen[key]))
