"""The driver that copies a file: how fast cp is here, with the same intervals, histograms and flags as block I/O.

Model: the target is a file, which Plimsoll makes and fills like any other; it is copied to a new file beside it, over and over, until the
duration ends, or as many whole passes as ``passes`` says (after a warm-up of whole passes, if there is one). Reads, writes and the fsync
that ends each pass are operations of one stream. The work is done in a thread of its own; the calling thread cuts the intervals and
pushes the events.
Limits: regular files only; one copy at a time. Of the options of a stream a copy has `OPTIONS`; everything else about it is fixed.

    [workload file]  driver = "filecopy"
                     [[stream]]
                     block_size = "128KiB"
                     passes = 1

    engine = FileCopy(native())
    job = {"workload": definition, "job": options, "target": Target("scratch.dat"), "permission": None}
    engine.run_job(job, on_event, engine.control())
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, cast

from plimsoll.apps.copy_loop import Copier, Ending, Task, first_error
from plimsoll.apps.destination import destination, remove_leftover
from plimsoll.apps.recorder import Recorder, Slice
from plimsoll.displayed import quoted
from plimsoll.engine import Control, Engine, Job, Json, OnEvent, OnProgress
from plimsoll.errors import InputError, TargetError
from plimsoll.stored import Definition, EngineOutcome, Inspection, Options
from plimsoll.target import Target

NAME = "filecopy"
#: Kinds of targets that hold no files, whatever they are made of.
FILELESS = ("array", "null", "queue")
#: What a stream of a copy may say.
OPTIONS = ("name", "block_size", "direct", "passes")
#: cp's own: the least that coreutils reads and writes at once.
DEFAULT_BLOCK = "128KiB"
_DEFAULTS: Json = {"name": "copy", "block_size": DEFAULT_BLOCK, "direct": False}
#: Lengths of an interval that ``auto`` chooses from, in nanoseconds; the longest of which the duration holds forty.
_AUTO_NS = (1_000_000_000, 500_000_000, 250_000_000)
_AUTO_LEAST_NS = 100_000_000
_AUTO_LONG_NS = 10_000_000_000
#: From when on a call that does not return is told of (`crates/engine/src/silence.rs`).
_SILENT_FROM_NS = 5_000_000_000
_TWO_HOURS_NS = 7200 * 1_000_000_000


class FileCopy:
    """`plimsoll.engine.Engine` whose jobs copy a file; what is not about copying is handed on to ``engine``."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of a file copy. The engine checks what the options have in common with block I/O."""
        streams = workload.get("stream") or [{}]
        if not isinstance(streams, list) or len(streams) != 1 or not isinstance(streams[0], dict):
            raise InputError(f"{source}: a file copy has one stream; write one [[stream]] table or none.")
        given = {key: value for key, value in streams[0].items() if key in OPTIONS}
        stream = {**_DEFAULTS, **given}
        passes = _passes(stream.pop("passes", 0), f"{source}: stream")
        rest = {key: value for key, value in workload.items() if key != "driver"}
        canonical = self._canonical(self._engine.check_workload({**rest, "stream": [stream]}, source), passes)
        # What the canonical form says of every stream may be said again.
        fixed: Mapping[str, object] = canonical["stream"][0]
        unknown = [key for key, value in streams[0].items() if key not in OPTIONS and (key not in fixed or fixed[key] != value)]
        if unknown:
            raise InputError(f"{source}: stream: a file copy has no option {quoted(unknown[0])}; it has {', '.join(OPTIONS)}.")
        return canonical

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed; an option of block I/O that a copy does not have is refused."""
        name = workload["stream"][0]["name"]
        option = key.removeprefix(f"{name}.")
        if option == "passes":
            return self._canonical(_plain(workload), _passes(value, key)), options
        before = _plain(workload)
        after, changed = self._engine.set_option(before, options, key, value)
        if option not in OPTIONS and after != before:
            raise InputError(f"{key}: a file copy has no such option; it has {', '.join(OPTIONS)} and the options of a job.")
        return self._canonical(after, workload["stream"][0].get("passes", 0)), changed

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Copy until the job is over. Raises `InputError` for a target that is no file, `TargetError` when it cannot be copied."""
        plan = _planned(job, self._engine.inspect_target(job["target"]))
        with _opened(plan) as task:
            return _Run(task, plan, on_event, control).outcome()

    @staticmethod
    def _canonical(plain: Definition, passes: int) -> Definition:
        (stream,) = plain["stream"]
        return {**plain, "driver": NAME, "stream": [{**stream, "passes": passes}]}

    def control(self) -> Control:
        return self._engine.control()

    def check_job(self, options: Json) -> Options:
        return self._engine.check_job(options)

    def workload_schema(self) -> Json:
        return self._engine.workload_schema()

    def inspect_target(self, target: Target) -> Inspection:
        """What is there. Raises `InputError` where no file can ever be; a device is a place for other points of the same run."""
        inspection = self._engine.inspect_target(target)
        if inspection.get("kind") in FILELESS:
            raise InputError(_needs_file(target.text))
        return inspection

    def write_refusal(self, target: Target, permission: Json | None) -> str | None:
        return self._engine.write_refusal(target, permission)

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Json | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Make and fill the source, with the space that the copy of a killed process took."""
        self._remove_leftover(target)
        return self._engine.prepare_target(target, size_bytes, permission, on_progress, control)

    def remove_target(self, target: Target) -> list[str]:
        """Delete the source if Plimsoll made it, and the copy that was left behind, where that can be; `clear_target` says where not."""
        removed: list[str] = []
        with suppress(TargetError):
            removed = self._remove_leftover(target)
        return [*removed, *self._engine.remove_target(target)]

    def clear_target(self, path: str) -> None:
        """Remove the copy that a job could not remove. Raises `TargetError` with the reason where it stays."""
        remove_leftover(path)

    def release_target(self, target: Target) -> None:
        """Keep the source."""
        self._engine.release_target(target)

    def _remove_leftover(self, target: Target) -> list[str]:
        inspection = self._engine.inspect_target(target)
        path = inspection.get("path")
        return remove_leftover(path) if path and inspection.get("kind") == "file" else []

    def calibrate(self, seconds: float) -> Json:
        return self._engine.calibrate(seconds)

    def probe_io_uring(self) -> Json:
        return self._engine.probe_io_uring()


@dataclass(frozen=True)
class _Plan:
    """A job, checked."""

    path: str
    stream: str
    block_bytes: int
    direct: bool
    passes: int
    warmup_ns: int
    duration_ns: int
    interval_ns: int
    backend: str


def _needs_file(target: str) -> str:
    return (
        f"target {quoted(target)}: a file copy needs a file as its target; name one, for example -t /mnt/array/scratch.dat, "
        "or run the other workloads without it."
    )


def _planned(job: Job, inspection: Inspection) -> _Plan:
    target, options, (stream,) = job["target"], job["job"], job["workload"]["stream"]
    if inspection.get("kind") != "file":
        raise InputError(_needs_file(target.text))
    block = stream["block_size"]
    if not isinstance(block, int):
        raise InputError("block_size: a file copy reads and writes blocks of one size; write one, for example 128KiB.")
    logical = int(inspection.get("logical_block_bytes") or 512)
    if stream["direct"] and block % logical:
        raise InputError(f"block_size: {block} bytes is no multiple of the {logical} bytes that direct I/O transfers at least.")
    passes = stream.get("passes", 0)
    duration_ns = round(options["duration"] * 1e9)
    return _Plan(
        path=str(inspection["path"]),
        stream=stream["name"],
        block_bytes=block,
        direct=stream["direct"],
        passes=passes,
        warmup_ns=round(options["warmup"] * 1e9),
        duration_ns=duration_ns,
        interval_ns=_interval_ns(options["interval"], duration_ns),
        backend=options["backend"],
    )


@contextmanager
def _opened(plan: _Plan) -> Iterator[Task]:
    """Source and copy, open."""
    flags = os.O_RDONLY | os.O_CLOEXEC | (os.O_DIRECT if plan.direct else 0)
    try:
        source = os.open(plan.path, flags)
    except OSError as problem:
        hint = "set direct=false" if plan.direct and os.path.exists(plan.path) else "name a file that exists and that you may read"
        raise TargetError(f"{plan.path}: cannot be opened for copying ({str(problem.strerror).lower()}); {hint}.") from None
    try:
        size = os.fstat(source).st_size
        if size < plan.block_bytes:
            raise InputError(f"{plan.path}: {size} bytes do not fill one block of {plan.block_bytes}; copy a larger file (--size).")
        with destination(plan.path, size, direct=plan.direct) as copy:
            yield Task(source, copy.file, size, plan.block_bytes, plan.passes, plan.warmup_ns, plan.duration_ns)
    finally:
        os.close(source)


class _Run:
    """One job under way: the copying thread, and this one, which cuts intervals and pushes events."""

    def __init__(self, task: Task, plan: _Plan, on_event: OnEvent, control: Control) -> None:
        self._plan = plan
        self._on_event = on_event
        self._brake = _Brake(control)
        self._start_ns, self._wall_ns = time.monotonic_ns(), time.time_ns()
        self._recorder = Recorder(plan.stream, self._now_ns, "warmup" if plan.warmup_ns else "measure")
        self._handed: SimpleQueue[Slice | None] = SimpleQueue()
        self._copier = Copier(task, self._recorder, self._brake, self._handed.put)
        self._index = 0
        self._told_ns = self._silence_ns = 0
        self._mistake: BaseException | None = None

    def outcome(self) -> EngineOutcome:
        """Run to the end; what is known then."""
        self._on_event("start", {"monotonic_ns": self._start_ns, "wall_ns": self._wall_ns})
        thread = threading.Thread(target=self._copy, name="plimsoll-copy", daemon=True)
        thread.start()
        try:
            self._serve()
        finally:
            self._brake.stopped_here = True
            thread.join()
        if self._mistake is not None:
            raise self._mistake
        return self._facts(self._copier.ending)

    def _copy(self) -> None:
        try:
            self._copier.run()
        except BaseException as mistake:  # a mistake of ours belongs to the calling thread
            self._mistake = mistake
        finally:
            self._handed.put(None)

    def _serve(self) -> None:
        """Push intervals: those that end with a phase as they are handed over, the others when their time has come."""
        phase_start_ns = last_cut_ns = 0
        while True:
            due_ns = self._next_boundary_ns(phase_start_ns, last_cut_ns)
            try:
                ended = self._handed.get(timeout=min(max(due_ns - self._now_ns(), 0) / 1e9, 1.0))
            except Empty:
                self._tell_silence()
                if self._now_ns() < due_ns:
                    continue
                ended = self._recorder.cut()
                last_cut_ns = ended.end_ns
                self._push(ended)
                continue
            if ended is None:
                return
            phase_start_ns = last_cut_ns = ended.end_ns
            self._push(ended)

    def _tell_silence(self) -> None:
        """A call that the target does not answer, once a second."""
        waited_ns = self._recorder.waited_ns
        if waited_ns >= _SILENT_FROM_NS and time.monotonic_ns() >= self._told_ns + 1_000_000_000:
            self._told_ns = time.monotonic_ns()
            self._silence_ns = max(self._silence_ns, waited_ns)
            self._on_event("silence", {"ns": waited_ns, "waiting": 1})

    def _next_boundary_ns(self, phase_start_ns: int, last_cut_ns: int) -> int:
        """The next multiple of the interval in this phase that is not where the phase is to end: there the copying thread cuts."""
        interval_ns, phase = self._plan.interval_ns, self._recorder.phase
        length_ns = {"warmup": self._plan.warmup_ns, "measure": self._plan.duration_ns}.get(phase, 0)
        due_ns = phase_start_ns + ((last_cut_ns - phase_start_ns) // interval_ns + 1) * interval_ns
        if abs(due_ns - phase_start_ns - length_ns) < interval_ns / 2:
            due_ns += interval_ns
        return due_ns

    def _push(self, ended: Slice) -> None:
        if ended.phase == "drain" and not ended.cells:
            return
        self._on_event("tick", {"index": self._index, "monotonic_ns": time.monotonic_ns()})
        self._on_event("interval", ended.event(self._index))
        self._index += 1

    def _now_ns(self) -> int:
        return time.monotonic_ns() - self._start_ns

    def _facts(self, ending: Ending) -> EngineOutcome:
        facts: dict[str, Any] = {
            "backend": {"asked": self._plan.backend, "used": NAME, "fallback_reason": None},
            "engine": {
                "workers": 1,
                "virtual_time": False,
                "facts": {"passes": str(ending.passes), "copied to": f"{self._plan.path}.copy", **_short(ending)},
                "clock": {"source": None, "drift_ppm": None},
                "iou_wrk_threads": None,
                "unissued": 0,
            },
            "silence": {"ns": self._silence_ns, "waiting": 1} if self._silence_ns else None,
            "start": {"monotonic_ns": self._start_ns, "wall_ns": self._wall_ns},
            "end_ns": self._now_ns(),
            "first_io_ns": ending.first_done_ns,
            "stopped_by": ending.stopped_by,
            "first_error": first_error(ending),
            "cpu_ns": {"user": ending.user_ns, "system": ending.system_ns},
            "verify": None,
            "offered_per_s": None,
            "parts": [],
        }
        return cast("EngineOutcome", facts)


def _short(ending: Ending) -> Json:
    """Requests that were answered in part and asked for again, where there were any."""
    return {"short transfers": str(ending.short)} if ending.short else {}


class _Brake:
    """The caller's brake, and our own for when an event cannot be pushed."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self.stopped_here = False

    def stop(self) -> None:
        self._control.stop()

    def abort(self) -> None:
        self._control.abort()

    @property
    def stopped(self) -> bool:
        return self.stopped_here or self._control.stopped


def _plain(workload: Definition) -> Definition:
    """The workload as the engine knows it."""
    plain: dict[str, Any] = {key: value for key, value in workload.items() if key != "driver"}
    streams = [{key: value for key, value in stream.items() if key != "passes"} for stream in workload["stream"]]
    return cast("Definition", {**plain, "stream": streams})


def _passes(value: Any, where: str) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not text.isdigit() or int(text) > 1_000_000:
        raise InputError(f"{where}: passes is {quoted(value)}, but must be a whole number from 0 (as many as fit) to 1000000.")
    return int(text)


def _interval_ns(asked: Any, duration_ns: int) -> int:
    """The interval's length; ``auto`` as `crates/workload` defines it."""
    if asked != "auto":
        return max(round(float(asked) * 1e9), 1)
    if duration_ns >= _TWO_HOURS_NS:
        return _AUTO_LONG_NS
    return next((length for length in _AUTO_NS if duration_ns >= 40 * length), _AUTO_LEAST_NS)
