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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Protocol, TypedDict, cast

from plimsoll.displayed import displayed_in_line
from plimsoll.errors import InputError
from plimsoll.handover import as_json, as_name
from plimsoll.own_cost import OwnCost
from plimsoll.silence import no_answer
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target

if TYPE_CHECKING:
    from plimsoll import _core

#: The kind of an event, and what it says: an `Interval`, or what its kind says.
OnEvent = Callable[[str, Any], None]
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Permission:
    """Leave to write to what holds data; ``typed`` is the serial or path that was typed with it, which some targets ask for."""

    typed: str | None = None

    def to_json(self) -> Json:
        """As the engine takes it, of this host or of another."""
        return {"destroy": True, "typed": self.typed}

    @classmethod
    def from_json(cls, value: Json | None) -> Permission | None:
        """What was sent to another host; None is no leave."""
        return None if value is None else cls(value["typed"])


@dataclass(frozen=True, slots=True)
class IoUring:
    """What the kernel allows of io_uring: its features, or why it cannot be used."""

    available: bool = False
    features: tuple[str, ...] = ()
    reason: str = ""

    @classmethod
    def from_json(cls, value: Json) -> IoUring:
        """What the engine says of it."""
        return cls(value["available"], tuple(value.get("features", ())), value.get("reason", ""))


class Clients(TypedDict):
    """Of several hosts that are clients of one server: which of ``count`` this is, and the seed that they have in common.

    ``given`` is what the driver where the server is watched tells them besides, which is stored nowhere; what their own driver writes into
    ``folder`` is fetched from there.
    """

    number: int
    count: int
    seed: int
    given: NotRequired[Json]
    folder: NotRequired[str]


class Job(TypedDict):
    """What is run; ``permission`` is leave to write. ``clients`` says that the target is a server which others prepare, watch and check."""

    workload: Definition
    job: Options
    target: Target
    permission: Permission | None
    clients: NotRequired[Clients]


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

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        """Why a target may not be written to with this permission, as far as looking at it tells; None when it may."""

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Make and fill what has to exist before measuring; says what was created."""

    def remove_target(self, target: Target) -> list[str]:
        """Delete the scratch files of a target that Plimsoll made, with their markers; their paths."""

    def release_target(self, target: Target) -> None:
        """Note in the markers of a target's scratch files that they stay, and that no run uses them any more."""

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Run one job to its end, pushing ``start``, ``tick`` and ``interval`` events from the calling thread; its target is a `Target`.

        Where other processes of this host work for the job, an event ``servers`` comes first, with the ``pids`` of those that this process
        did not start: what they use is the load's.
        """

    def calibrate(self, seconds: float) -> OwnCost:
        """What one I/O costs this program itself, on ``null`` and ``nop``."""

    def probe_io_uring(self) -> IoUring:
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

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        refusal: str | None = self._core.write_refusal(as_name(target.handed), _allowed(permission), no_answer)
        return refusal

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        name, allowed = as_name(target.handed), _allowed(permission)
        return cast("Inspection", _object(self._core.prepare_target(name, size_bytes, allowed, on_progress, control, no_answer)))

    def remove_target(self, target: Target) -> list[str]:
        removed: list[str] = self._core.remove_target(as_name(target.handed), no_answer)
        return removed

    def release_target(self, target: Target) -> None:
        self._core.release_target(as_name(target.handed), no_answer)

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        asked = _handed(job, job["target"].handed)
        return cast("EngineOutcome", _object(self._core.run_job(asked, _forwarding(on_event), control, no_answer)))

    def calibrate(self, seconds: float) -> OwnCost:
        return OwnCost(_object(self._core.calibrate(seconds)))

    def probe_io_uring(self) -> IoUring:
        return IoUring.from_json(_object(self._core.probe_io_uring()))


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

    def prepare(
        self, workload: Definition, target: str, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Bring the trees of a workload to their beginning; says what exists then."""
        allowed = _allowed(permission)
        return cast(
            "Inspection", _object(self._core.prepare_files(as_json(workload), as_name(target), allowed, on_progress, control, no_answer))
        )

    def own(self, directory: str, permission: Permission | None, name: str) -> str:
        """Make a directory in ``directory`` that is Plimsoll's, or find it again; its path. `remove` removes what is known to be written
        into a directory of that name (crates/engine/src/files/possession.rs), and says what else lies there."""
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

    def run(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Run one job to its end."""
        asked = _handed(job, job["target"].text)
        return cast("EngineOutcome", _object(self._core.run_files(asked, _forwarding(on_event), control, no_answer)))


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
        """Run one job to its end: `workload`, `job`, `server`, `run`, `date`, `ledger`; `clients` for the users of one host of several."""
        return cast("EngineOutcome", _object(self._core.run_mail(as_json(job), _forwarding(on_event), control)))

    def letter(self, workload: Mapping[str, Any], user: int, place: int) -> bytes:
        """The letter at a place of what a user has in the beginning, as it travels."""
        found: bytes = self._core.mail_letter(as_json(workload), user, place)
        return found

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


class NativeMailstore:
    """Mail stores over the extension module: the verbs that differ from those of block I/O."""

    def __init__(self, core: Any) -> None:
        self._core = core

    def check(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of a workload of a mail store; ``source`` names its file in messages."""
        return cast("Definition", _object(self._core.check_mailstore(as_json(workload, source), _source(source))))

    def warnings(self, workload: Mapping[str, Any]) -> list[str]:
        """What is doubtful about a workload, and allowed."""
        warnings: list[str] = self._core.mailstore_warnings(as_json(workload))
        return warnings

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: ``key`` is an option of the job or of the store."""
        changed = self._core.set_mailstore_option(as_json(workload), as_json(options), _source(key), as_json(value, key))
        return _object(changed[0]), _object(changed[1])

    def schema(self) -> Json:
        """JSON Schema (2020-12) of a workload file of a mail store."""
        return cast("Json", _object(self._core.mailstore_schema()))

    def run(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Run one job to its end."""
        asked = _handed(job, job["target"].handed)
        return cast("EngineOutcome", _object(self._core.run_mailstore(asked, _forwarding(on_event), control, no_answer)))


def native_mailstore() -> NativeMailstore:
    """The mail store of this installation."""
    from plimsoll import _core

    return NativeMailstore(_core)


class NativeRows:
    """Rows of analytics workflows over the extension module."""

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def extension(self) -> str:
        """Where the extension module is, for processes that load it and nothing else."""
        return str(self._core.__file__)

    def write(
        self, path: str, rows: tuple[int, int, int], text: bool, on_progress: Callable[[int], None] | None, control: Control
    ) -> Json | None:
        """Write the rows of seed, workflow and number to a new file, as lines if ``text``; ``tally`` and ``bytes``, None when stopped."""
        made: str | None = self._core.write_rows(as_name(path), rows, text, on_progress, control)
        return None if made is None else cast("Json", _object(made))

    def iterate(self, loops: int) -> float:
        """Add 1 so many times, cubed; the sum."""
        return float(self._core.iterate_loops(loops))


def native_rows() -> NativeRows:
    """The rows of this installation."""
    from plimsoll import _core

    return NativeRows(_core)


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


#: What an open file carries of a claim, and its descriptor.
Loan = tuple[str, int]
#: Whether processes of a run that no descriptor reaches use a target, too: who comes later, or who has claimed it for all.
Elsewhere = Literal["nobody", "follows", "leads", "leads_here"]


def lent_claims(target: Target, elsewhere: Elsewhere, *, writes: bool) -> list[Loan]:
    """Claims on a target of this process, to be handed to others of its run; the caller closes the descriptors."""
    from plimsoll import _core

    return _core.Session().lend(as_name(target.handed), writes, elsewhere)


def forgo_reading(target: Target) -> None:
    """Give up what this process claims of a target for reading alone, so that another machine can claim it for writing."""
    from plimsoll import _core

    _core.Session().forgo_reading(as_name(target.handed))


def borrow_claims(loans: list[Loan], companions: list[str]) -> None:
    """Take over claims that another process of the same run has lent; ``companions`` are all of its processes."""
    from plimsoll import _core

    _core.accompanied_by(companions)
    _core.Session().borrow_claims(loans)


def this_process() -> str:
    """This process as its companions are told of it."""
    from plimsoll import _core

    return _core.this_process()


def check_share(share: str) -> None:
    """Raise `InputError` for a word that says no way in which hosts can share a target."""
    from plimsoll import _core

    _core.check_share(share)


def share_workload(
    workload: Definition, share: str, part: tuple[int, int], shape: tuple[int, int], part_ends: list[int]
) -> tuple[Definition, list[tuple[int, int]]]:
    """The workload of host ``part``, (number, count), on a target of ``shape``, (bytes, logical block in bytes), that hosts share, and the
    ranges of bytes that it may touch."""
    from plimsoll import _core

    own, ranges = _core.share_workload(as_json(workload), share, part, shape, part_ends)
    return cast("Definition", _object(own)), ranges


def await_answer(path: str) -> None:
    """Wait until what is at ``path`` has answered, whatever it says; for who looks at it himself. See `plimsoll.silence`."""
    from plimsoll import _core

    _core.await_path(as_name(path), no_answer)


def left_behind(directory: str) -> list[tuple[str, int]]:
    """The scratch files and trees in a directory, with their sizes in bytes, that runs left behind when they were killed."""
    from plimsoll import _core

    return _core.left_behind(directory, no_answer)


def signatures(path: str) -> list[tuple[str, int]]:
    """The known signatures on a file or block device, each with its offset in bytes. Raises `TargetError` when it cannot be read."""
    from plimsoll import _core

    return _core.signatures(path)


def _allowed(permission: Permission | None) -> str | None:
    return None if permission is None else as_json(permission.to_json(), "--destroy-data")


def _handed(job: Job, target: str) -> str:
    """A job as the engine takes it."""
    permission = job["permission"]
    return as_json({**job, "target": as_name(target), "permission": None if permission is None else permission.to_json()})


def _forwarding(on_event: OnEvent) -> Callable[[str, str], None]:
    """What hears the engine's events as text."""
    return lambda kind, text: on_event(kind, json.loads(text))


def _source(name: str) -> str:
    """The name of a file or option for messages of the engine, which takes only what can be encoded."""
    return displayed_in_line(name)


def _object(text: str) -> Any:
    """What the engine says, of the type that the verb promises."""
    return json.loads(text)
