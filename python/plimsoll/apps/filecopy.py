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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, cast

from plimsoll.apps.application import Application
from plimsoll.apps.copy_loop import Copier, Ending, Task, first_error
from plimsoll.apps.course import Course, Ended, Timing
from plimsoll.apps.destination import destination, remove_leftover
from plimsoll.displayed import quoted
from plimsoll.engine.protocol import Control, Engine, Job, OnEvent, OnProgress, Permission
from plimsoll.errors import InputError, TargetError
from plimsoll.records import dataclass
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target

NAME = "filecopy"
#: Kinds of targets that hold no files, whatever they are made of.
FILELESS = ("array", "null", "queue")
#: What a stream of a copy may say.
OPTIONS = ("name", "block_size", "direct", "passes")
#: cp's own: the least that coreutils reads and writes at once.
DEFAULT_BLOCK = "128KiB"
_DEFAULTS: Json = {"name": "copy", "block_size": DEFAULT_BLOCK, "direct": False}


class FileCopy(Application):
    """`plimsoll.engine.protocol.Engine` whose jobs copy a file; what is not about copying is handed on to ``engine``."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)

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
            copy = _Copy(task, plan.stream)
            ended = Course(plan.timing, on_event, control, by_clock=False).run(copy)
            return _outcome(plan, copy.ending, ended)

    @staticmethod
    def _canonical(plain: Definition, passes: int) -> Definition:
        (stream,) = plain["stream"]
        return {**plain, "driver": NAME, "stream": [{**stream, "passes": passes}]}

    def inspect_target(self, target: Target) -> Inspection:
        """What is there. Raises `InputError` where no file can ever be; a device is a place for other points of the same run."""
        inspection = self._engine.inspect_target(target)
        if inspection.get("kind") in FILELESS:
            raise InputError(_needs_file(target.text))
        return inspection

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        return self._engine.write_refusal(target, permission)

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
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


@dataclass(frozen=True)
class _Plan:
    """A job, checked."""

    path: str
    stream: str
    block_bytes: int
    direct: bool
    passes: int
    timing: Timing
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
    return _Plan(
        path=str(inspection["path"]),
        stream=stream["name"],
        block_bytes=block,
        direct=stream["direct"],
        passes=passes,
        timing=Timing.of(options),
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
            yield Task(source, copy.file, size, plan.block_bytes, plan.passes, plan.timing.warmup_ns, plan.timing.duration_ns)
    finally:
        os.close(source)


class _Copy:
    """The copying thread's part of a job."""

    def __init__(self, task: Task, stream: str) -> None:
        self._task = task
        self._stream = stream
        self.ending = Ending()

    def carry_out(self, course: Course) -> None:
        self.ending = Copier(self._task, self._stream, course).run()
        course.stop(self.ending.stopped_by)

    def interrupt(self) -> None:
        """A call of the kernel ends soon or never."""


def _outcome(plan: _Plan, ending: Ending, ended: Ended) -> EngineOutcome:
    ended.first_error = first_error(ending)
    ended.cpu_ns = ending.user_ns, ending.system_ns
    facts = {"passes": str(ending.passes), "copied to": f"{plan.path}.copy", **_short(ending)}
    return ended.outcome(NAME, plan.backend, 1, facts)


def _short(ending: Ending) -> Json:
    """Requests that were answered in part and asked for again, where there were any."""
    return {"short transfers": str(ending.short)} if ending.short else {}


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
