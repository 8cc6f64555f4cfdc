"""The driver of file operations: trees of directories and files laid out in a directory, and streams of operations on them.

Model: the work is done in Rust, in threads that make one system call after the other (``crates/engine/src/files.rs``); here its verbs
become those of an `Engine`. The target is a directory, or several with ``concat:A,B``, of which each tree lies in its ``part``; the trees
of the workload are laid out there before every point, unless they are as the point before found them.
Limits: one host.

    [workload file]  driver = "files"
                     [[tree]]
                     files = 1000
                     sizes = "4KiB-64KiB"
                     [[stream]]
                     operation = { read = 80, create = 10, delete = 10 }

    engine = Files(native(), definition)
    engine.prepare_target(Target("/mnt/array/tree"), None, None, on_progress, control)
    engine.run_job({"workload": definition, "job": options, "target": Target("/mnt/array/tree"), "permission": None}, on_event, control)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.apps.application import Application
from plimsoll.displayed import quoted
from plimsoll.engine.files import native_files
from plimsoll.engine.protocol import Control, Engine, Job, OnEvent, OnProgress, Permission
from plimsoll.errors import InputError
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target

NAME = "files"
#: Where trees are laid out when no target is named.
DEFAULT_DIRECTORY = "./plimsoll-scratch.files"
#: What begins a target that is no path.
_SCHEMES = ("null:", "queue:", "stripe:", "array:")
_NO_SIZE = "size: a tree is as large as its files and sizes make it; set those, or total_size, in place of size."


class Files(Application):
    """`plimsoll.engine.protocol.Engine` whose jobs are operations on files; what is not about them is handed on to ``engine``."""

    #: What a run without a target takes.
    default_target = DEFAULT_DIRECTORY
    #: Its target is written to, whatever the workload says.
    fills_target = True

    def __init__(self, engine: Engine, definition: Definition) -> None:
        super().__init__(engine)
        self._definition = definition
        self._files = native_files()

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of trees and streams."""
        return self._files.check(workload, source)

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: of the job, of every stream or tree, or of the one named before the dot."""
        if key == "size":
            raise InputError(_NO_SIZE)
        return self._files.set_option(workload, options, key, value)

    def workload_schema(self) -> Json:
        return self._files.schema()

    def inspect_target(self, target: Target) -> Inspection:
        """What is at the directories. Raises `InputError` for what is no path."""
        if target.text.startswith(_SCHEMES):
            raise InputError(
                f"target {quoted(target.text)}: file operations need a directory; name one, for example -t /mnt/array/tree, or several, as "
                "concat:/mnt/a,/srv/b."
            )
        return self._files.inspect(target.text)

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        """Why nothing may be laid out there: a directory that Plimsoll did not make needs a permission.

        Raises `InputError` where trees and directories do not go together.
        """
        self._files.check_parts(self._definition, target.text)
        return self.inspect_target(target).get("write_refusal") if permission is None else None

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Bring the trees to their beginning. A size is none of a directory's: the trees say how large they are."""
        if size_bytes is not None:
            raise InputError(_NO_SIZE)
        self.inspect_target(target)
        prepared = self._files.prepare(self._definition, target.text, permission, on_progress, control)
        return {**prepared, "size_bytes": prepared["file_bytes"], "changes_between_points": True}

    def remove_target(self, target: Target) -> list[str]:
        """Remove what was laid out, and the directory if it was made for that."""
        return self._files.remove(target.text)

    def release_target(self, target: Target) -> None:
        """Note in the directory's marker that its trees stay and that no run uses them any more."""
        self._files.release(target.text)

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        return self._files.run(job, on_event, control)
