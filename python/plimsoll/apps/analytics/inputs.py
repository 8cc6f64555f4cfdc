"""The files of rows that workflows read: written once for a seed and number of rows, and used by every point that asks for the same.

Model: ``1.rows`` has the rows of workflow 1, and ``1.rows.json`` says which they are and their sums, which every workflow that reads them
holds against what it read. For DuckDB the same rows are lines of text, ``1.csv``.
Limits: what is in a file is checked when it is read, and not before.

    inputs = Inputs("/mnt/array/sas/input", asked)
    inputs.make(on_progress, control)
    inputs.path(1), inputs.tally(1)
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress

from plimsoll.apps.analytics.options import ROW_BYTES, WorkflowOptions
from plimsoll.engine.protocol import Control, OnProgress
from plimsoll.engine.rows import native_rows
from plimsoll.errors import Interrupted, TargetError
from plimsoll.host.device import free_bytes
from plimsoll.stored import Json
from plimsoll.units import binary

SCHEMA = "plimsoll.rows/1"
#: Bytes of a row as text, at most, over those of a row.
_TEXT = 1.9


class Inputs:
    """Of a directory of inputs."""

    def __init__(self, folder: str, asked: WorkflowOptions) -> None:
        self._folder = folder
        self._asked = asked

    @property
    def size_bytes(self) -> int:
        """What they take."""
        return sum(os.path.getsize(self._file(number)) for number in self._numbers())

    def path(self, workflow: int) -> str | None:
        """What a workflow reads; None where it makes its rows."""
        number = self._number(workflow)
        return None if number is None else self._file(number)

    def whose(self, workflow: int) -> int:
        """The workflow whose rows it has."""
        return self._number(workflow) or workflow

    def tally(self, workflow: int) -> Json | None:
        """The sums of what a workflow reads."""
        number = self._number(workflow)
        note = None if number is None else self._note(number)
        return None if note is None else note["tally"]

    def make(self, on_progress: OnProgress, control: Control) -> None:
        """Write what is missing or of other rows. Raises `Interrupted` where the control stopped it."""
        missing = [number for number in self._numbers() if not self._is_there(number)]
        total, done = len(missing) * self._asked.data_bytes, 0
        for number in missing:
            self._write(number, _told(on_progress, done, total), control)
            done += self._asked.data_bytes
            on_progress(done, total)

    def missing_bytes(self) -> int:
        """What is yet to be written, about."""
        factor = _TEXT if self._asked.engine == "duckdb" else 1.0
        return round(factor * self._asked.data_bytes * sum(not self._is_there(number) for number in self._numbers()))

    def _write(self, number: int, told: Callable[[int], None], control: Control) -> None:
        note, path = f"{self._file(number)}.json", self._file(number)
        # A note tells of a whole file, so it goes first and comes last.
        with suppress(FileNotFoundError):
            os.unlink(note)
        made = native_rows().write(path, (self._asked.data_seed, number, self._asked.rows), self._is_text, told, control)
        if made is None:
            raise Interrupted("the preparation was stopped")
        try:
            with open(f"{note}.part", "w", encoding="utf-8") as file:
                json.dump({"schema": SCHEMA, **self._identity(number), **made}, file)
                file.flush()
                os.fsync(file.fileno())
            os.rename(f"{note}.part", note)
        except OSError as problem:
            raise TargetError(f"{note}: cannot be written ({str(problem.strerror).lower()}).") from None

    def _is_there(self, number: int) -> bool:
        note = self._note(number)
        try:
            size = os.path.getsize(self._file(number))
        except OSError:
            return False
        return note is not None and size == note["bytes"]

    def _note(self, number: int) -> Json | None:
        """What is said of a file; None where it is of other rows."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            with open(f"{self._file(number)}.json", encoding="utf-8") as file:
                note: Json = json.load(file)
            if note["schema"] == SCHEMA and self._identity(number).items() <= note.items() and note["tally"]["rows"] == self._asked.rows:
                return note
        return None

    def _identity(self, number: int) -> Json:
        return {"seed": self._asked.data_seed, "workflow": number, "rows": self._asked.rows, "row_bytes": ROW_BYTES}

    def _numbers(self) -> range:
        return range(1, self._asked.inputs + 1)

    def _number(self, workflow: int) -> int | None:
        return {"own": workflow, "shared": 1, "generated": None}[self._asked.input]

    def _file(self, number: int) -> str:
        return os.path.join(self._folder, f"{number}.{'csv' if self._is_text else 'rows'}")

    @property
    def _is_text(self) -> bool:
        return self._asked.engine == "duckdb"


def check_room(asked: WorkflowOptions, input_end: str, work_end: str) -> None:
    """Raise `TargetError` where inputs and work do not fit into what is free."""
    needed: dict[int, int] = {}
    places: dict[int, str] = {}
    missing = Inputs(os.path.join(input_end, "input"), asked).missing_bytes()
    for directory, bytes_ in ((input_end, missing), (work_end, asked.workflows * asked.work_bytes)):
        standing = os.path.abspath(directory)
        while not os.path.isdir(standing):
            standing = os.path.dirname(standing)
        device = os.stat(standing).st_dev
        needed[device] = needed.get(device, 0) + bytes_
        places.setdefault(device, standing)
    for device, bytes_ in needed.items():
        free = free_bytes(places[device])
        if free < bytes_:
            raise TargetError(
                f"{places[device]}: {asked.workflows} workflow{'s' if asked.workflows > 1 else ''} of {asked.rows:,} rows need about "
                f"{binary(bytes_)}, and {binary(free)} are free; ask for fewer rows (--set rows=…) or workflows, or name another directory."
            )


def _told(on_progress: OnProgress, before: int, total: int) -> Callable[[int], None]:
    """Hears of one file, and tells of all."""
    return lambda done: on_progress(before + done, total)
