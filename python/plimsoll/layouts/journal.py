"""What was made for a layout and what is left of it: notes that are on the medium before the step that they announce begins.

Model: a directory per layout in ``/var/lib/plimsoll/layouts`` (``$XDG_STATE_HOME/plimsoll/layouts`` where that is set) with the plan,
``plan.json``, and a line per event, ``journal.jsonl``: a step was begun, done, removed. A step without ``done`` may be half made. Whoever
changes a layout holds its lock, so that two cannot.

    with Journal.made(plan) as journal:
        journal.note(0, "begun")
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, field
from typing import Any, Literal

from plimsoll.displayed import displayed, quoted
from plimsoll.errors import InputError, PlimsollError, StoreError
from plimsoll.layouts.alignment import remarks
from plimsoll.layouts.inventory import PLAN, SCHEMA, folder, names
from plimsoll.layouts.plan import Plan
from plimsoll.near import meant
from plimsoll.records import dataclass
from plimsoll.store.durable import LineFile, replace_file
from plimsoll.stored import Json

Event = Literal["begun", "done", "removed"]

_EVENTS, _KEY, _LOCK = "journal.jsonl", "key", "lock"
_KEY_BYTES = 32


@dataclass
class Journal:
    """The notes of one layout, and how far each step is."""

    path: str
    plan: Json
    #: By the number of the step: its last event, and facts that were found out when it began.
    events: dict[int, Event] = field(default_factory=dict)
    found: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    _held: int = -1

    @classmethod
    def made(cls, plan: Plan, *, for_run: str = "") -> Journal:
        """The notes of a layout that is about to be made; ``for_run`` is the run that takes it away again when it has measured it.

        Raises `InputError` when there is one of that name.
        """
        path = os.path.join(folder(), plan.named.name)
        if os.path.lexists(path):
            name = plan.named.name
            raise InputError(f"there is a layout {quoted(name)} already; take it away with 'plimsoll layout undo {name}', or add --name.")
        document = {
            "schema": SCHEMA,
            "name": plan.named.name,
            "id": plan.named.id,
            "made_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "document": plan.layout.document,
            "members": [asdict(member) for member in plan.members],
            "steps": [{"made": step.made, "what": step.what, "facts": dict(step.facts)} for step in plan.steps],
            "devices": [asdict(volume) for volume in plan.devices],
            "volumes": [asdict(volume) for volume in plan.volumes],
            "remarks": remarks(plan),
            **({"for_run": for_run} if for_run else {}),
        }
        try:
            os.makedirs(folder(), mode=0o755, exist_ok=True)
            # Whoever measures on the layout may read what it is; its key is root's alone.
            os.mkdir(path, 0o755)
        except OSError as problem:
            raise StoreError(f"{displayed(path)} cannot be made: {problem.strerror}; layouts are remembered there.") from None
        journal = cls(path, document)
        journal.hold()
        _write_key(os.path.join(path, _KEY))
        replace_file(os.path.join(path, PLAN), json.dumps(document, indent=1).encode())
        return journal

    @classmethod
    def of(cls, name: str) -> Journal:
        """The notes of the layout ``name``. Raises `InputError` with the nearest name when there is none."""
        if name not in names():
            near = meant(name, names(), "'plimsoll layout list' shows all.")
            raise InputError(f"there is no layout {quoted(name)}; {near}")
        path = os.path.join(folder(), name)
        try:
            with open(os.path.join(path, PLAN), "rb") as file:
                plan = json.load(file)
        except FileNotFoundError:
            # Killed before the plan was there: nothing had begun.
            return cls(path, {"schema": SCHEMA, "name": name, "members": [], "steps": [], "volumes": [], "devices": []})
        except (OSError, ValueError) as problem:
            raise StoreError(f"{displayed(path)}/{PLAN} cannot be read: {problem}.") from None
        if plan.get("schema") != SCHEMA:
            raise StoreError(f"{displayed(path)}/{PLAN} is of the form {plan.get('schema')}, which this version of Plimsoll does not know.")
        journal = cls(path, plan)
        for event in _events(os.path.join(path, _EVENTS)):
            journal.events[event["step"]] = event["is"]
            journal.found.setdefault(event["step"], event.get("found", {}))
        return journal

    @property
    def name(self) -> str:
        """What the layout is called."""
        return str(self.plan["name"])

    @property
    def key_path(self) -> str:
        """The file with the key of its encryption."""
        return os.path.join(self.path, _KEY)

    @property
    def for_run(self) -> str:
        """The run that it was made for; empty of one that stays until somebody takes it away."""
        return str(self.plan.get("for_run", ""))

    @property
    def is_held(self) -> bool:
        """Whether a command is at work on it, or a run measures on it."""
        try:
            self.hold()
        except InputError:
            return True
        except OSError:
            # Of root's, seen by somebody else: nobody can tell.
            return False
        self.release()
        return False

    @property
    def complete(self) -> bool:
        """Whether every step was carried out, and none was taken back."""
        return bool(self.plan["steps"]) and all(self.events.get(number) == "done" for number in range(len(self.plan["steps"])))

    def left(self) -> list[int]:
        """The steps that were begun and not taken back, the last first."""
        return [number for number in sorted(self.events, reverse=True) if self.events[number] != "removed"]

    def facts(self, step: int) -> Json:
        """What finds what a step made."""
        return {**self.plan["steps"][step]["facts"], **self.found.get(step, {})}

    def note(self, step: int, event: Event, found: Mapping[str, Any] | None = None) -> None:
        """Note an event; it is on the medium when this returns."""
        line = {"step": step, "is": event, **({"found": found} if found else {})}
        with LineFile(os.path.join(self.path, _EVENTS)) as lines:
            lines.append(json.dumps(line))
        self.events[step] = event
        if found:
            self.found[step] = found

    def hold(self) -> None:
        """Keep others from changing the layout until `release`. Raises `InputError` when somebody does."""
        self._held = os.open(os.path.join(self.path, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise InputError(f"another command is at work on the layout {quoted(self.name)}; wait for it.") from None

    def release(self) -> None:
        """Let others change the layout."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1

    def forget(self) -> None:
        """Nothing of the layout is left: remove its notes."""
        shutil.rmtree(self.path)
        with suppress(OSError):
            os.rmdir(folder())

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def directories_of_layouts() -> set[str]:
    """The directories that were not there before the layouts of this host were mounted in them."""
    found: set[str] = set()
    for name in names():
        with suppress(PlimsollError):
            found |= {str(path) for facts in Journal.of(name).found.values() for path in facts.get("directories", ())}
    return found


def _write_key(path: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "wb") as key:
        key.write(secrets.token_bytes(_KEY_BYTES))
        key.flush()
        os.fsync(key.fileno())


def _events(path: str) -> Iterator[Json]:
    """The events; a last line that a power cut left in pieces announced a step that never began."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return
    for number, line in enumerate(lines):
        try:
            yield json.loads(line)
        except ValueError:
            if number != len(lines) - 1:
                raise StoreError(
                    f"{displayed(path)}, line {number + 1}, cannot be read; the layout has to be taken away by hand."
                ) from None
