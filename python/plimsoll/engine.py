"""The Rust engine as Python sees it: one protocol of verbs, and the native implementation over ``plimsoll._core``.

Everything above this file receives an ``Engine`` as an argument, so it can be driven by a script in tests and by the real
engine otherwise. ``_core`` speaks JSON text; the conversion to and from Python values happens here and nowhere else.

    engine = native()
    workload = engine.check_workload(document, "mine.toml")
    shape = engine.inspect_target("/dev/nvme0n1")
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from plimsoll import _core

Json = dict[str, Any]
OnEvent = Callable[[str, Json], None]
OnProgress = Callable[[int, int], None]


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

    def check_workload(self, workload: Json, source: str) -> Json:
        """The canonical form of a workload; ``source`` names its file in messages."""

    def check_job(self, options: Json) -> Json:
        """The canonical form of job options."""

    def set_option(self, workload: Json, options: Json, key: str, value: Any) -> tuple[Json, Json]:
        """Both with one option changed: ``key`` is an option of the job, of every stream, or ``STREAM.option``."""

    def workload_schema(self) -> Json:
        """JSON Schema (2020-12) of a workload file."""

    def inspect_target(self, spec: str) -> Json:
        """What a target is, without touching it: kind, path, size and logical block in bytes, parts."""

    def prepare_target(self, spec: str, size_bytes: int | None, permission: Json | None, on_progress: OnProgress, control: Control) -> Json:
        """Make and fill what has to exist before measuring; says what was created."""

    def remove_target(self, spec: str) -> list[str]:
        """Delete the scratch files of a target that Plimsoll made, with their markers; their paths."""

    def run_job(self, job: Json, on_event: OnEvent, control: Control) -> Json:
        """Run one job to its end, pushing ``start``, ``tick`` and ``interval`` events from the calling thread."""

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

    def check_workload(self, workload: Json, source: str) -> Json:
        return _object(self._core.check_workload(json.dumps(workload), source))

    def check_job(self, options: Json) -> Json:
        return _object(self._core.check_job(json.dumps(options)))

    def set_option(self, workload: Json, options: Json, key: str, value: Any) -> tuple[Json, Json]:
        changed = self._core.set_option(json.dumps(workload), json.dumps(options), key, json.dumps(value))
        return _object(changed[0]), _object(changed[1])

    def workload_schema(self) -> Json:
        return _object(self._core.workload_schema())

    def inspect_target(self, spec: str) -> Json:
        return _object(self._core.inspect_target(spec))

    def prepare_target(self, spec: str, size_bytes: int | None, permission: Json | None, on_progress: OnProgress, control: Control) -> Json:
        allowed = None if permission is None else json.dumps(permission)
        return _object(self._core.prepare_target(spec, size_bytes, allowed, on_progress, control))

    def remove_target(self, spec: str) -> list[str]:
        removed: list[str] = self._core.remove_target(spec)
        return removed

    def run_job(self, job: Json, on_event: OnEvent, control: Control) -> Json:
        def forward(kind: str, text: str) -> None:
            on_event(kind, json.loads(text))

        return _object(self._core.run_job(json.dumps(job), forward, control))

    def calibrate(self, seconds: float) -> Json:
        return _object(self._core.calibrate(seconds))

    def probe_io_uring(self) -> Json:
        return _object(self._core.probe_io_uring())


def native() -> NativeEngine:
    """The engine of this installation."""
    from plimsoll import _core

    return NativeEngine(_core)


def _object(text: str) -> Json:
    value: Json = json.loads(text)
    return value
