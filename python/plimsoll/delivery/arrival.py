"""Runs that arrived as files: parcels from an inbox or a stick, mails that carry them, and runs of another store.

Model: what a file is, is told by its content. A directory is looked through for parcels and mails by their endings, or is a Maildir, a
run or a store; what is still coming there is left alone. Whatever is found goes through the same checks as a run that arrives at
`plimsoll serve`: whole, the digest it was sent with, every file readable, one step into the store. The same twice is one run.
Limits: nobody vouches for who sent a file or a mail; a run is taken for what it says of itself. What was received is not removed here.

    for found in arrived(["inbox"]):
        print(stored(found, "results", Limits()))
"""

from __future__ import annotations

import email
import io
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.policy import default
from typing import IO

from plimsoll.displayed import displayed
from plimsoll.errors import InputError, StoreError
from plimsoll.store.parcel import ENDING, Limits, Received, announced_in, pack, spool, unpack
from plimsoll.store.reader import open_run
from plimsoll.units import binary

_GZIP = b"\x1f\x8b"
_MAIL = ".eml"
#: A mail is read into memory; no server takes one that is larger.
_LARGEST_MAIL = 256 << 20


@dataclass(frozen=True)
class Arrival:
    """Something that may hold runs: a file, or the directory of a run."""

    path: str

    @property
    def shown(self) -> str:
        """Its name."""
        return displayed(self.path)


def arrived(paths: Sequence[str]) -> Iterator[Arrival]:
    """What lies at ``paths``, in the order of names; raises `InputError` for a path at which nothing is, or nothing that was sent."""
    for path in paths:
        if not os.path.exists(path):
            raise InputError(f"{displayed(path)} is not there; name files that were sent, or the directory they lie in.")
        if not os.path.isdir(path) or _is_run(path):
            yield Arrival(path)
            continue
        found = sorted(_in_folder(path))
        if not found:
            raise InputError(f"{displayed(path)} holds no parcel ({ENDING}), no mail ({_MAIL}) and no run; name another directory.")
        yield from map(Arrival, found)


def stored(arrival: Arrival, out: str, limits: Limits) -> Iterator[Received]:
    """The runs of one arrival, each in the store ``out`` by now; raises `InputError` for what holds none, or none that is whole."""
    with _told(arrival):
        for parcel in _parcels(arrival.path):
            yield unpack(parcel, out, announced_in(parcel), limits)


@contextmanager
def _told(arrival: Arrival) -> Iterator[None]:
    """Whatever goes wrong is said of this file."""
    try:
        yield
    except InputError as problem:
        raise InputError(f"{arrival.shown}: {problem}") from None
    except OSError as problem:
        raise StoreError(f"{arrival.shown}: cannot be read ({str(problem.strerror or problem).lower()}).") from None


def _is_run(path: str) -> bool:
    return os.path.lexists(os.path.join(path, "run.json"))


def _in_folder(path: str) -> Iterator[str]:
    if all(os.path.isdir(os.path.join(path, name)) for name in ("cur", "new")):
        for part in ("cur", "new"):
            yield from (one.path for one in os.scandir(os.path.join(path, part)) if one.is_file() and not one.name.startswith("."))
        return
    for one in os.scandir(path):
        if one.name.startswith("."):
            continue
        if (one.is_file() and one.name.endswith((ENDING, _MAIL))) or (one.is_dir() and _is_run(one.path)):
            yield one.path


def _parcels(path: str) -> Iterator[IO[bytes]]:
    """The parcels in a file or a run, each open until the next."""
    if os.path.isdir(path):
        yield from _packed(path)
        return
    # A pipe in place of the file would never answer.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InputError("it is neither a file nor a directory; name files that were sent.")
        if file.read(len(_GZIP)) == _GZIP:
            file.seek(0)
            yield file
            return
        file.seek(0)
        yield from _attached(file)


def _packed(path: str) -> Iterator[IO[bytes]]:
    with spool() as parcel:
        pack(open_run(path), parcel)
        parcel.seek(0)
        yield parcel


def _attached(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """The parcels that a mail carries."""
    size_bytes = os.fstat(file.fileno()).st_size
    if size_bytes > _LARGEST_MAIL:
        raise InputError(f"it is no parcel, and with {binary(size_bytes)} no mail; name files that were sent.")
    mail = email.message_from_binary_file(file, policy=default)
    found = False
    for part in mail.walk():
        if part.is_multipart():
            continue
        content = part.get_payload(decode=True)
        if isinstance(content, bytes) and content.startswith(_GZIP):
            found = True
            yield io.BytesIO(content)
    if not found:
        raise InputError("it is no parcel and no mail that carries one; name files that 'plimsoll send' has made.")
