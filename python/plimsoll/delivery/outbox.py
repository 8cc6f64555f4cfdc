"""What is still to be sent, noted in the store, so that a restart goes on where a power cut or Ctrl-C ended it.

Model: a file ``.outbox/KEY.json`` beside the run says which run goes where, with which options, and how the last try failed. It is written
before the first try and goes when the run is delivered. Where the receiver cannot tell whether it has a run (mail), the note stays and says
that it was delivered. Who sends holds a lock on it, so that two processes do not send the same run to the same place at once.
Limits: passwords and tokens are not noted; a restart takes them from where the first command did, or from its own options.

    with held(run, digest, Addressee("sftp://lab7/inbox", {"to": "sftp://lab7/inbox"})) as note:
        note.failed("connection refused")
        note.delivered(remember=False)
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from plimsoll.displayed import as_document
from plimsoll.errors import InputError, StoreError
from plimsoll.store.durable import replace_file
from plimsoll.store.reader import StoredRun

FOLDER = ".outbox"
_SCHEMA = "plimsoll.outbox/1"
_MARK = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True)
class Addressee:
    """Where a run is to go, as it is shown, and the options of the command that say so again."""

    shown: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """What tells the place from others, from wherever the command is given: directories are shown as they were typed."""
        noted = self.options.get("to", "")
        return noted if noted.startswith("file:") else self.shown


class Note:
    """One run on its way to one place; nothing is written where the store cannot be (``path`` is None)."""

    def __init__(self, path: str | None, content: dict[str, Any]) -> None:
        self.path = path
        self._content = content

    @property
    def mark(self) -> str:
        """What this delivery's temporary names have and no other's: the same again after a restart."""
        return str(self._content["mark"])

    @property
    def run(self) -> str:
        """The run's name."""
        return str(self._content["run"])

    @property
    def options(self) -> dict[str, str]:
        """What the command was given."""
        return {str(key): str(value) for key, value in self._content["options"].items()}

    @property
    def delivered_at(self) -> str | None:
        """When it was delivered, where that was to be remembered."""
        found = self._content.get("delivered")
        return None if found is None else str(found)

    def failed(self, problem: str) -> None:
        """A try failed."""
        self._content["attempts"] += 1
        self._content["problem"] = problem
        self._write()

    def delivered(self, *, remember: bool) -> None:
        """It is there; ``remember`` it where the receiver does not."""
        if remember:
            self._content |= {"delivered": _now(), "problem": None}
            self._write()
        elif self.path is not None:
            with suppress(OSError):
                os.unlink(self.path)

    def _write(self) -> None:
        if self.path is not None:
            # A full disk here keeps no run from being sent.
            with suppress(StoreError):
                replace_file(self.path, as_document(self._content, indent=1) + b"\n")


@contextmanager
def held(run: StoredRun, digest: str, asked: Addressee) -> Iterator[Note]:
    """The note of this run and place, old or new, locked; raises `InputError` while another process sends it."""
    folder = os.path.join(os.path.dirname(os.path.abspath(run.path)), FOLDER)
    key = hashlib.sha256(f"{digest}\n{asked.place}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    path = os.path.join(folder, f"{key}.json")
    new: dict[str, Any] = {"schema": _SCHEMA, "run": run.name, "digest": digest, "to": asked.shown, "options": dict(asked.options)}
    new |= {"mark": os.urandom(4).hex(), "since": _now(), "attempts": 0, "problem": None, "delivered": None}
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        lock = _locked(os.path.join(folder, f"{key}.lock"))
    except OSError:
        # A store on a medium that cannot be written is sent all the same.
        yield Note(None, new)
        return
    if lock is None:
        raise InputError(f"{run.name} is being sent to {asked.shown} by another process; let it end.")
    try:
        note = Note(path, {**new, **_read(path), "options": dict(asked.options)})
        if note.delivered_at is None:
            note._write()
        yield note
    finally:
        with suppress(OSError):
            os.unlink(os.path.join(folder, f"{key}.lock"))
        os.close(lock)
        with suppress(OSError):
            os.rmdir(folder)


def _locked(path: str) -> int | None:
    """The lock, held; None while another process has it."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it may have removed it in between: then this is the lock of nothing.
            if os.path.exists(path) and os.path.samestat(os.fstat(lock), os.stat(path)):
                return lock
        except BlockingIOError:
            os.close(lock)
            return None
        except OSError:
            os.close(lock)
            raise
        os.close(lock)


def waiting(out: str) -> list[Note]:
    """The notes in the store ``out`` of what was not delivered, the oldest first."""
    folder = os.path.join(out, FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise StoreError(f"{folder}: cannot be read ({str(problem.strerror).lower()}).") from None
    found = [(content, os.path.join(folder, name)) for name in names if (content := _read(os.path.join(folder, name)))]
    ordered = sorted(found, key=lambda one: (str(one[0]["since"]), one[1]))
    return [Note(path, content) for content, path in ordered if content.get("delivered") is None]


def _read(path: str) -> dict[str, Any]:
    """A note; empty where there is none, or one that a power cut or another version left unreadable."""
    try:
        with open(path, "rb") as file:
            content = json.loads(file.read(1 << 20))
    except (OSError, ValueError):
        return {}
    whole = isinstance(content, dict) and content.get("schema") == _SCHEMA and isinstance(content.get("options"), dict)
    needed = ("run", "digest", "to", "mark", "since", "attempts")
    if not whole or not all(key in content for key in needed):
        return {}
    return content if isinstance(content["attempts"], int) and _MARK.fullmatch(str(content["mark"])) else {}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
