"""What a driver of block I/O offers, as a protocol, and the values that go in and out of it.

Everything above receives an ``Engine`` as an argument, so it is driven by a script in tests and by the real engine
(`plimsoll.engine.block`) otherwise.

    workload = engine.check_workload(document, "mine.toml")
    shape = engine.inspect_target(Target("/dev/nvme0n1"))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NotRequired, Protocol, TypedDict

from plimsoll.own_cost import OwnCost
from plimsoll.records import dataclass
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target

#: The kind of an event, and what it says: an `Interval`, or what its kind says.
OnEvent = Callable[[str, Any], None]
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
