"""Block I/O over the extension module.

engine = native()
engine.probe_io_uring().available
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from plimsoll.engine.exchange import forwarded, job_text, name_text, permission_text, value_of
from plimsoll.engine.protocol import Control, IoUring, Job, OnEvent, OnProgress, Permission
from plimsoll.errors import InputError
from plimsoll.handover import as_json, as_name
from plimsoll.own_cost import OwnCost
from plimsoll.silence import no_answer
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target

if TYPE_CHECKING:
    from plimsoll import _core


class NativeEngine:
    """`Engine` over the extension module."""

    def __init__(self, core: Any) -> None:
        self._core = core

    def control(self) -> _core.Control:
        control: _core.Control = self._core.Control()
        return control

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        return cast("Definition", value_of(self._core.check_workload(as_json(workload, source), name_text(source))))

    def check_job(self, options: Json) -> Options:
        return cast("Options", value_of(self._core.check_job(as_json(options))))

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        changed = self._core.set_option(as_json(workload), as_json(options), name_text(key), as_json(value, key))
        return value_of(changed[0]), value_of(changed[1])

    def workload_schema(self) -> Json:
        return cast("Json", value_of(self._core.workload_schema()))

    def inspect_target(self, target: Target) -> Inspection:
        with _told(target):
            found: Inspection = value_of(self._core.inspect_target(as_name(target.handed), no_answer))
        # The engine knows an array by the name in its document.
        return {**found, "spec": target.text} if target.document is not None else found

    def describe_array(self, target: Target, *, simulate: bool = False) -> Json:
        """What an ``array:`` target consists of, where its values come from, and what limits it; nothing is run."""
        with _told(target):
            return cast("Json", value_of(self._core.describe_array(as_name(target.handed), simulate=simulate)))

    def serve_array(self, request: Json) -> None:
        """Serve a modelled array in real time until told to stop over the pipe that the request names; see `plimsoll.serving`."""
        self._core.serve_array(as_json(request))

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        refusal: str | None = self._core.write_refusal(as_name(target.handed), permission_text(permission), no_answer)
        return refusal

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        name, allowed = as_name(target.handed), permission_text(permission)
        return cast("Inspection", value_of(self._core.prepare_target(name, size_bytes, allowed, on_progress, control, no_answer)))

    def remove_target(self, target: Target) -> list[str]:
        removed: list[str] = self._core.remove_target(as_name(target.handed), no_answer)
        return removed

    def release_target(self, target: Target) -> None:
        self._core.release_target(as_name(target.handed), no_answer)

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        asked = job_text(job, job["target"].handed)
        return cast("EngineOutcome", value_of(self._core.run_job(asked, forwarded(on_event), control, no_answer)))

    def calibrate(self, seconds: float) -> OwnCost:
        return OwnCost(value_of(self._core.calibrate(seconds)))

    def probe_io_uring(self) -> IoUring:
        return IoUring.from_json(value_of(self._core.probe_io_uring()))


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


def check_blocks(workload: Definition, block_bytes: int) -> None:
    """Raise `InputError` where direct I/O cannot carry a request of a block workload to a target with this logical block."""
    from plimsoll import _core

    _core.check_blocks(as_json(workload), block_bytes)
