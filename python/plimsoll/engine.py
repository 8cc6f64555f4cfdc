"""The Rust engine as Python sees it: one protocol of verbs, and the native implementation over ``plimsoll._core``.

Everything above this file receives an ``Engine`` as an argument, so it can be driven by a script in tests and by the real
engine otherwise. ``_core`` speaks JSON text; the conversion to and from Python values happens here and nowhere else.

    engine = native()
    workload = engine.check_workload(document, "mine.toml")
    shape = engine.inspect_target(Target("/dev/nvme0n1"))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, cast

from plimsoll.displayed import displayed_in_line
from plimsoll.errors import InputError
from plimsoll.handover import as_json, as_name
from plimsoll.silence import no_answer
from plimsoll.stored import Definition, EngineOutcome, Inspection, Options
from plimsoll.target import Target

if TYPE_CHECKING:
    from plimsoll import _core

Json = dict[str, Any]
#: The kind of an event, and what it says: an `Interval`, or what its kind says.
OnEvent = Callable[[str, Any], None]
OnProgress = Callable[[int, int], None]


class Job(TypedDict):
    """What is run; ``permission`` is leave to write."""

    workload: Definition
    job: Options
    target: Target
    permission: Json | None


class Control(Protocol):
    """The brake of a running job; safe to use from a signal handler and from any thread."""

    def stop(self) -> None:
        """Issue nothing more, wait for what is in flight, keep everything measured."""

    def abort(self) -> None:
        """Leave without waiting for what is in flight."""

    @property
    def stopped(self) -> bool:
        """Whether either was asked for."""


class Engine(Protocol):
    """What a driver of block I/O offers. Every verb raises a `PlimsollError` with one sentence on bad input."""

    def control(self) -> Control:
        """A fresh brake for one job."""

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of a workload; ``source`` names its file in messages."""

    def check_job(self, options: Json) -> Options:
        """The canonical form of job options."""

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: ``key`` is an option of the job, of every stream, or ``STREAM.option``."""

    def workload_schema(self) -> Json:
        """JSON Schema (2020-12) of a workload file."""

    def inspect_target(self, target: Target) -> Inspection:
        """What a target is, without touching it: kind, path, size and logical block in bytes, parts."""

    def write_refusal(self, target: Target, permission: Json | None) -> str | None:
        """Why a target may not be written to with this permission, as far as looking at it tells; None when it may."""

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Json | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Make and fill what has to exist before measuring; says what was created."""

    def remove_target(self, target: Target) -> list[str]:
        """Delete the scratch files of a target that Plimsoll made, with their markers; their paths."""

    def release_target(self, target: Target) -> None:
        """Note in the markers of a target's scratch files that they stay, and that no run uses them any more."""

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Run one job to its end, pushing ``start``, ``tick`` and ``interval`` events from the calling thread; its target is a `Target`."""

    def calibrate(self, seconds: float) -> Json:
        """What one I/O costs this program itself, on ``null`` and ``nop``."""

    def probe_io_uring(self) -> Json:
        """What the kernel allows of io_uring."""


class NativeEngine:
    """`Engine` over the extension module."""

    def __init__(self, core: Any) -> None:
        self._core = core

    def control(self) -> _core.Control:
        control: _core.Control = self._core.Control()
        return control

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        return cast("Definition", _object(self._core.check_workload(as_json(workload, source), _source(source))))

    def check_job(self, options: Json) -> Options:
        return cast("Options", _object(self._core.check_job(as_json(options))))

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        changed = self._core.set_option(as_json(workload), as_json(options), _source(key), as_json(value, key))
        return _object(changed[0]), _object(changed[1])

    def workload_schema(self) -> Json:
        return cast("Json", _object(self._core.workload_schema()))

    def inspect_target(self, target: Target) -> Inspection:
        with _told(target):
            found: Inspection = _object(self._core.inspect_target(as_name(target.handed), no_answer))
        # The engine knows an array by the name in its document.
        return {**found, "spec": target.text} if target.document is not None else found

    def describe_array(self, target: Target, *, simulate: bool = False) -> Json:
        """What an ``array:`` target consists of, where its values come from, and what limits it; nothing is run."""
        with _told(target):
            return cast("Json", _object(self._core.describe_array(as_name(target.handed), simulate=simulate)))

    def serve_array(self, request: Json) -> None:
        """Serve a modelled array in real time until told to stop over the pipe that the request names; see `plimsoll.serving`."""
        self._core.serve_array(as_json(request))

    def write_refusal(self, target: Target, permission: Json | None) -> str | None:
        refusal: str | None = self._core.write_refusal(as_name(target.handed), _allowed(permission), no_answer)
        return refusal

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Json | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        name, allowed = as_name(target.handed), _allowed(permission)
        return cast("Inspection", _object(self._core.prepare_target(name, size_bytes, allowed, on_progress, control, no_answer)))

    def remove_target(self, target: Target) -> list[str]:
        removed: list[str] = self._core.remove_target(as_name(target.handed), no_answer)
        return removed

    def release_target(self, target: Target) -> None:
        self._core.release_target(as_name(target.handed), no_answer)

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        def forward(kind: str, text: str) -> None:
            on_event(kind, json.loads(text))

        asked = as_json({**job, "target": as_name(job["target"].handed)})
        return cast("EngineOutcome", _object(self._core.run_job(asked, forward, control, no_answer)))

    def calibrate(self, seconds: float) -> Json:
        return cast("Json", _object(self._core.calibrate(seconds)))

    def probe_io_uring(self) -> Json:
        return cast("Json", _object(self._core.probe_io_uring()))


class NativeFiles:
    """File operations over the extension module: the verbs that differ from those of block I/O."""

    def __init__(self, core: Any) -> None:
        self._core = core

    def check(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of a workload of file operations; ``source`` names its file in messages."""
        return cast("Definition", _object(self._core.check_files(as_json(workload, source), _source(source))))

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: ``key`` is an option of the job, of every stream or tree, or ``NAME.option``."""
        changed = self._core.set_files_option(as_json(workload), as_json(options), _source(key), as_json(value, key))
        return _object(changed[0]), _object(changed[1])

    def schema(self) -> Json:
        """JSON Schema (2020-12) of a workload file of file operations."""
        return cast("Json", _object(self._core.files_schema()))

    def inspect(self, target: str) -> Inspection:
        """What is at a directory, without touching it."""
        return cast("Inspection", _object(self._core.inspect_files(as_name(target), no_answer)))

    def check_parts(self, workload: Definition, target: str) -> None:
        """Raise `InputError` where the target has more or fewer directories than the trees of a workload lie in."""
        self._core.check_files_parts(as_json(workload), as_name(target))

    def prepare(self, workload: Definition, target: str, permission: Json | None, on_progress: OnProgress, control: Control) -> Inspection:
        """Bring the trees of a workload to their beginning; says what exists then."""
        allowed = _allowed(permission)
        return cast(
            "Inspection", _object(self._core.prepare_files(as_json(workload), as_name(target), allowed, on_progress, control, no_answer))
        )

    def own(self, directory: str, permission: Json | None, name: str) -> str:
        """Make a directory in ``directory`` that is Plimsoll's with everything in it, or find it again; its path. `remove` removes it."""
        path: str = self._core.own_directory(as_name(directory), _allowed(permission), name, no_answer)
        return path

    def claim(self, directory: str) -> bool:
        """Keep other runs from a directory that Plimsoll works in while this process holds it (`holding`); False when it does not."""
        ours: bool = self._core.claim_directory(as_name(directory), no_answer)
        return ours

    def remove(self, target: str) -> list[str]:
        """Remove what was laid out in a directory; the paths that are gone."""
        removed: list[str] = self._core.remove_files(as_name(target), no_answer)
        return removed

    def release(self, target: str) -> None:
        """Note that what was laid out in a directory stays and that no run uses it any more."""
        self._core.release_files(as_name(target), no_answer)

    def run(self, job: Json, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Run one job to its end."""

        def forward(kind: str, text: str) -> None:
            on_event(kind, json.loads(text))

        return cast("EngineOutcome", _object(self._core.run_files(as_json(job), forward, control, no_answer)))


class NativeMail:
    """Mail users over the extension module: the verbs that differ from those of block I/O."""

    def __init__(self, core: Any) -> None:
        self._core = core

    def check(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of a workload of mail users; ``source`` names its file in messages."""
        return cast("Definition", _object(self._core.check_mail(as_json(workload, source), _source(source))))

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: ``key`` is an option of the job, of the server, of every group of users, or ``NAME.option``."""
        changed = self._core.set_mail_option(as_json(workload), as_json(options), _source(key), as_json(value, key))
        return _object(changed[0]), _object(changed[1])

    def schema(self) -> Json:
        """JSON Schema (2020-12) of a workload file of mail users."""
        return cast("Json", _object(self._core.mail_schema()))

    def lay_out(
        self, workload: Definition, root: str, owner: tuple[int, int] | None, on_progress: OnProgress, control: Control
    ) -> dict[str, int]:
        """Write the mailboxes of users who have none; ``messages`` and ``bytes`` that were written."""
        return cast("dict[str, int]", _object(self._core.lay_out_mail(as_json(workload), root, owner, on_progress, control)))

    def run(self, job: Json, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Run one job to its end: `workload`, `job`, `server`, `run`, `date`, `ledger`."""

        def forward(kind: str, text: str) -> None:
            on_event(kind, json.loads(text))

        return cast("EngineOutcome", _object(self._core.run_mail(as_json(job), forward, control)))

    @property
    def mark(self) -> str:
        """The header that says which letter a message is."""
        return str(self._core.mail_mark())

    def hash(self, body: bytes) -> str:
        """The hash of a letter's body as its mark has it."""
        return str(self._core.mail_hash(body))


def native_mail() -> NativeMail:
    """The mail users of this installation."""
    from plimsoll import _core

    return NativeMail(_core)


def native_files() -> NativeFiles:
    """The file operations of this installation."""
    from plimsoll import _core

    return NativeFiles(_core)


def native() -> NativeEngine:
    """The engine of this installation."""
    from plimsoll import _core

    return NativeEngine(_core)


@contextmanager
def _told(target: Target) -> Iterator[None]:
    """Bad input is told of the target as it was typed."""
    try:
        yield
    except InputError as problem:
        raise InputError(target.told(str(problem))) from None


@contextmanager
def holding() -> Iterator[None]:
    """What this process claims of its targets stays claimed inside, also between two points of a run."""
    from plimsoll import _core

    session = _core.Session()
    try:
        yield
    finally:
        session.close()


def check_blocks(workload: Definition, block_bytes: int) -> None:
    """Raise `InputError` where direct I/O cannot carry a request of a block workload to a target with this logical block."""
    from plimsoll import _core

    _core.check_blocks(as_json(workload), block_bytes)


def await_answer(path: str) -> None:
    """Wait until what is at ``path`` has answered, whatever it says; for who looks at it himself. See `plimsoll.silence`."""
    from plimsoll import _core

    _core.await_path(as_name(path), no_answer)


def left_behind(directory: str) -> list[tuple[str, int]]:
    """The scratch files and trees in a directory, with their sizes in bytes, that runs left behind when they were killed."""
    from plimsoll import _core

    return _core.left_behind(directory, no_answer)


def _allowed(permission: Json | None) -> str | None:
    return None if permission is None else as_json(permission, "--destroy-data")


def _source(name: str) -> str:
    """The name of a file or option for messages of the engine, which takes only what can be encoded."""
    return displayed_in_line(name)


def _object(text: str) -> Any:
    """What the engine says, of the type that the verb promises."""
    return json.loads(text)
