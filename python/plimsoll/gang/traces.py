"""Traces on their way to hosts that have no part of this machine's disks, and where they lie there.

Model: a trace goes in its compact form, under the hash of its bytes, into the cache of each host, where traces lie that were converted
there as well; so it is carried once, and the ones used longest ago make way. All hosts that lack it get each piece at the same time. A
host shows it under its name when every byte is there and the hash is right.
Limits: pieces go through the same way as calls, 1 MiB each and one after the other; every host replays all of it.

    Carried(gang, ("db1", "db2")).at("db1", workload)["stream"][0]["trace"]     # "/root/.cache/plimsoll/traces/carried-….trace"
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from plimsoll.errors import InputError, StoreError
from plimsoll.stored import Definition, Json

_PIECE = 1 << 20
Ask = Callable[[Mapping[str, Json]], Mapping[str, Any]]


class Carried:
    """The traces that hosts have been given; ``ask`` asks each of them something."""

    def __init__(self, ask: Ask, hosts: Sequence[str]) -> None:
        self._ask = ask
        self._hosts = hosts
        self._there: dict[str, Mapping[str, str]] = {}

    def at(self, host: str, workload: Definition) -> Definition:
        """The workload with its traces where they lie on ``host``; those that lie on no host yet are carried there."""
        if not any(stream.get("trace") for stream in workload.get("stream", ())):
            return workload
        streams = [
            {**stream, "trace": self._paths(str(stream["trace"]))[host]} if stream.get("trace") else stream for stream in workload["stream"]
        ]
        return cast("Definition", {**workload, "stream": streams})

    def _paths(self, path: str) -> Mapping[str, str]:
        if path not in self._there:
            self._there[path] = self._carry(path)
        return self._there[path]

    def _carry(self, path: str) -> Mapping[str, str]:
        try:
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                asked: Json = {"ask": "take_trace", "digest": digest, "size": os.fstat(file.fileno()).st_size}
                found = self._ask(dict.fromkeys(self._hosts, asked))
                lacking = [host for host in self._hosts if not found[host]["there"]]
                file.seek(0)
                while lacking and (piece := file.read(_PIECE)):
                    handed: Json = {"ask": "take_piece", "digest": digest, "piece": base64.b64encode(piece).decode("ascii")}
                    self._ask(dict.fromkeys(lacking, handed))
        except OSError as problem:
            raise InputError(f"{path}: cannot be read ({str(problem.strerror).lower()}); give a trace.") from None
        return {host: str(found[host]["path"]) for host in self._hosts}


class Arriving:
    """The traces that come to this host; they lie in ``folder``, which ``tidy`` keeps from growing."""

    def __init__(self, folder: str, tidy: Callable[[], None]) -> None:
        self._folder = folder
        self._tidy = tidy
        self._parts: dict[str, _Part] = {}

    def begin(self, digest: str, size: int) -> Json:
        """Where a trace lies, and whether it is there already; pieces of one that is not are taken from now on."""
        path = os.path.join(self._folder, f"carried-{digest}.trace")
        with suppress(OSError):
            if os.stat(path).st_size == size:
                os.utime(path)
                return {"path": path, "there": True}
        with _kept(self._folder):
            os.makedirs(self._folder, exist_ok=True)
            self._parts[digest] = _Part(path, size)
        return {"path": path, "there": False}

    def take(self, digest: str, piece: bytes) -> None:
        """The next piece of a trace."""
        part = self._parts[digest]
        with _kept(self._folder):
            if part.take(piece):
                self._parts.pop(digest).finish(digest)
                self._tidy()


class _Part:
    """A trace of which not all is there yet."""

    def __init__(self, path: str, size: int) -> None:
        self._path, self._left = path, size
        self._beside = f"{path}.{secrets.token_hex(4)}.part"
        self._digest = hashlib.sha256()
        with open(self._beside, "xb"):
            pass

    def take(self, piece: bytes) -> bool:
        """Whether this was the last piece."""
        try:
            with open(self._beside, "ab") as file:
                file.write(piece)
        except OSError:
            with suppress(OSError):
                os.unlink(self._beside)
            raise
        self._digest.update(piece)
        self._left -= len(piece)
        return self._left <= 0

    def finish(self, digest: str) -> None:
        """Show it under its name. Raises `StoreError` for one that is not what was to come."""
        if self._digest.hexdigest() != digest:
            os.unlink(self._beside)
            raise StoreError(f"{self._path}: the trace arrived damaged; try again.")
        os.replace(self._beside, self._path)


class _kept:  # noqa: N801 (used like a function)
    """Raises `StoreError` with one sentence for a directory that cannot hold a trace."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, problem: BaseException | None, _trace: object) -> None:
        if isinstance(problem, OSError):
            raise StoreError(f"{self._folder}: the trace cannot be kept there ({str(problem.strerror).lower()}).") from None
