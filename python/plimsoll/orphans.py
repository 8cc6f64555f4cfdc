"""Servers that Plimsoll starts on a target: noted before they start, found by the next command when their run was killed.

Model: a note is a file in ``$XDG_CACHE_HOME/plimsoll/servers`` that names the directory of the target and what stops the server. It goes
when the server has been stopped. A note whose directory is marked as used by a run that is dead is an orphan's; whoever is to stop it has
to claim the directory first, which the kernel allows nobody while its run lives, in whatever container.
Limits: without a cache directory that can be written to there are no notes; the guard of a server (`plimsoll.apps.guard`) and the
next run on the same directory stop it all the same.

    note(Note("postgresql", "/mnt/array/pg", {"data": "/mnt/array/pg/postgresql/data"}))
    for one in orphans():
        ...
    forget("/mnt/array/pg")
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, field

from plimsoll.errors import PlimsollError
from plimsoll.records import dataclass

SCHEMA = "plimsoll.server/1"


@dataclass(frozen=True)
class Note:
    """A server: of which ``kind``, in which ``directory`` of the target (an absolute path), and what stops it."""

    kind: str
    directory: str
    facts: Mapping[str, str] = field(default_factory=dict)


def note(server: Note) -> None:
    """Remember a server that is about to be started."""
    path = _path_of(server.directory)
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        beside = f"{path}.{os.getpid()}"
        with open(beside, "w", encoding="utf-8") as file:
            json.dump({"schema": SCHEMA, **asdict(server)}, file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(beside, path)


def forget(directory: str) -> None:
    """Its server has been stopped."""
    with suppress(OSError):
        os.unlink(_path_of(directory))


def any_noted() -> bool:
    """Whether there is any note: one look at a directory, which every command can afford."""
    try:
        return bool(os.listdir(_folder()))
    except OSError:
        return False


def any_gang() -> bool:
    """Whether a gang of this user's is noted, alive or not (`plimsoll.gang.leftovers`)."""
    try:
        return bool(os.listdir(gangs_folder()))
    except OSError:
        return False


def gangs_folder() -> str:
    """Where workers on this machine store, and where each gang is noted."""
    root = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(root, "plimsoll", "gangs")


def orphans() -> Iterator[Note]:
    """The servers whose run was killed. A note of a directory that is gone is removed."""
    from plimsoll.engine.files import native_files

    for one in _notes():
        if not os.path.isdir(one.directory):
            forget(one.directory)
            continue
        with suppress(PlimsollError):
            if native_files().inspect(one.directory).get("left_behind"):
                yield one


def _notes() -> Iterator[Note]:
    try:
        names = sorted(os.listdir(_folder()))
    except OSError:
        return
    for name in names:
        with suppress(OSError, ValueError, KeyError, TypeError):
            with open(os.path.join(_folder(), name), encoding="utf-8") as file:
                document = json.load(file)
            if document["schema"] == SCHEMA:
                yield Note(str(document["kind"]), str(document["directory"]), {key: str(value) for key, value in document["facts"].items()})


def _path_of(directory: str) -> str:
    import hashlib

    return os.path.join(_folder(), f"{hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]}.json")


def _folder() -> str:
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "plimsoll", "servers")
