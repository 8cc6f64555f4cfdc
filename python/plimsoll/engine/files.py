"""File operations over the extension module.

native_files().inspect("/mnt/data")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plimsoll.engine.exchange import forwarded, job_text, name_text, permission_text, value_of
from plimsoll.engine.protocol import Control, Job, OnEvent, OnProgress, Permission
from plimsoll.handover import as_json, as_name
from plimsoll.silence import no_answer
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options


class NativeFiles:
    """File operations over the extension module: the verbs that differ from those of block I/O."""

    def __init__(self, core: Any) -> None:
        self._core = core

    def check(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of a workload of file operations; ``source`` names its file in messages."""
        return cast("Definition", value_of(self._core.check_files(as_json(workload, source), name_text(source))))

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: ``key`` is an option of the job, of every stream or tree, or ``NAME.option``."""
        changed = self._core.set_files_option(as_json(workload), as_json(options), name_text(key), as_json(value, key))
        return value_of(changed[0]), value_of(changed[1])

    def schema(self) -> Json:
        """JSON Schema (2020-12) of a workload file of file operations."""
        return cast("Json", value_of(self._core.files_schema()))

    def inspect(self, target: str) -> Inspection:
        """What is at a directory, without touching it."""
        return cast("Inspection", value_of(self._core.inspect_files(as_name(target), no_answer)))

    def check_parts(self, workload: Definition, target: str) -> None:
        """Raise `InputError` where the target has more or fewer directories than the trees of a workload lie in."""
        self._core.check_files_parts(as_json(workload), as_name(target))

    def prepare(
        self, workload: Definition, target: str, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Bring the trees of a workload to their beginning; says what exists then."""
        allowed = permission_text(permission)
        return cast(
            "Inspection", value_of(self._core.prepare_files(as_json(workload), as_name(target), allowed, on_progress, control, no_answer))
        )

    def own(self, directory: str, permission: Permission | None, name: str) -> str:
        """Make a directory in ``directory`` that is Plimsoll's, or find it again; its path. `remove` removes what is known to be written
        into a directory of that name (crates/engine/src/files/possession.rs), and says what else lies there."""
        path: str = self._core.own_directory(as_name(directory), permission_text(permission), name, no_answer)
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
        asked = job_text(job, job["target"].text)
        return cast("EngineOutcome", value_of(self._core.run_files(asked, forwarded(on_event), control, no_answer)))


def native_files() -> NativeFiles:
    """The file operations of this installation."""
    from plimsoll import _core

    return NativeFiles(_core)
