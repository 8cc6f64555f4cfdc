"""A stored run as one file that travels, and what comes out of one: a run like every other, or nothing.

Model: a parcel is a gzipped tar of ``run.json`` and everything below ``points``; reports and what was superseded stay where they are. Its
digest is that of the names and contents, however they were packed, so that both ends can say whether they have the same run. The parcel
begins with the run's name and this digest, so that it can lie about as a file, and the same run gives the same bytes. What comes in
is written beside the store, held to limits while it comes, read whole as every run is, flushed, and only then given its name, in one step;
what is no file of a run ends it. The same run again is known and not stored twice; another run of the same name gets a name of its own.
Where the disk is full, or would be, nothing of what came stays.
Limits: a run that is being measured cannot be sent, since it is never whole.

    digest = pack(open_run("latest"), file)
    unpack(file, "results", announced_in(file), Limits())
"""

from __future__ import annotations

import errno
import fcntl
import gzip
import hashlib
import os
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any, Self

from plimsoll.displayed import displayed, quoted
from plimsoll.errors import InputError, PlimsollError, StoreError
from plimsoll.store.durable import store_error, sync
from plimsoll.store.reader import StoredRun, open_run
from plimsoll.units import binary

_PIECE = 1 << 20
#: What a file or directory of a run can be called.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,199}")
_DEEPEST = 8
_COMING = ".coming-"
#: How the file of a parcel ends.
ENDING = ".parcel.tgz"
#: Keys of the parcel's own header, as records of the tar format pax.
_OF_NAME, _OF_DIGEST = "PLIMSOLL.name", "PLIMSOLL.digest"
_BLOCK = 512
_LONGEST_HEADER = 64 << 10
_DIGEST = re.compile(r"[0-9a-f]{64}")
_ENDED = ("complete", "interrupted", "failed", "incomplete")


@dataclass(frozen=True)
class Limits:
    """What a parcel may hold, at most, and how much of the disk it leaves free; sizes in bytes."""

    bytes: int = 4 << 30
    files: int = 1_000_000
    kept_free: int = 0


class NoRoom(StoreError):
    """The disk has no room for a run; nothing of it was kept, and what was stored before is whole."""

    def __init__(self, out: str, name: str) -> None:
        self.free_bytes = free_bytes(out)
        super().__init__(
            f"{displayed(out)}: there is no room left for {name} ({binary(self.free_bytes)} free); make room there and send it again."
            " Nothing of it was kept, and what is stored there is intact."
        )


def free_bytes(out: str) -> int:
    """What the disk of the store ``out`` has left for us, also before the store is made."""
    folder = os.path.abspath(out)
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return shutil.disk_usage(folder).free


def is_full(problem: OSError) -> bool:
    """Whether this means that the disk, or our share of it, is full."""
    return problem.errno in (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def spool(folder: str | None = None) -> Iterator[IO[bytes]]:
    """A file without a name for a parcel, in ``folder`` or where temporary files lie. Raises `OSError` where there can be none."""
    file = tempfile.TemporaryFile(prefix=_COMING, dir=folder)  # noqa: SIM115
    try:
        yield file
    finally:
        # On a full disk closing fails once more, and whoever wrote has heard of it.
        with suppress(OSError):
            file.close()


@dataclass(frozen=True)
class Announced:
    """What the sender says of a parcel: the run's name and the digest of its contents."""

    name: str
    digest: str


@dataclass(frozen=True)
class Received:
    """Under which name a run is in the store, and whether it was there before."""

    name: str
    known: bool


def pack(run: StoredRun, into: IO[bytes]) -> str:
    """Write the parcel of ``run``; its digest. Raises `InputError` while it is being measured, `StoreError` when it cannot be read."""
    if run.status == "running":
        raise InputError(f"{run.path} is being measured; send it when it has ended.")
    if not _NAME.fullmatch(run.name):
        raise InputError(f"{quoted(run.name)} is no name of a run that travels; name its directory with letters, digits and '._+-' only.")
    total = hashlib.sha256()
    try:
        digest = digest_of(run.path)
        about_it = {_OF_NAME: run.name, _OF_DIGEST: digest}
        # Neither names nor times of files are in it: the same run gives the same bytes.
        with (
            gzip.GzipFile(filename="", fileobj=into, mode="wb", compresslevel=6, mtime=0) as squeezed,
            tarfile.open(fileobj=squeezed, mode="w", format=tarfile.PAX_FORMAT, pax_headers=about_it) as packed,
        ):
            for name in _files(run.path):
                path = os.path.join(run.path, name)
                about = tarfile.TarInfo(name)
                with open(path, "rb") as file:
                    about.size = os.fstat(file.fileno()).st_size
                    packed.addfile(about, file)
                total.update(_line(name, path))
        # What does not fit shows here, and not when somebody else closes it.
        into.flush()
    except OSError as problem:
        where = f"; free some space in {tempfile.gettempdir()}, or name another directory in TMPDIR" if is_full(problem) else ""
        raise StoreError(f"{run.path}: cannot be packed ({str(problem.strerror or problem).lower()}){where}.") from None
    if total.hexdigest() != digest:
        raise StoreError(f"{run.path} changed while it was packed; send it again.")
    return digest


def announced_in(parcel: IO[bytes]) -> Announced:
    """What the parcel says of itself; the file is at its beginning again. Raises `InputError` where it is none."""
    try:
        with gzip.GzipFile(fileobj=parcel, mode="rb") as plain:
            header = tarfile.TarInfo.frombuf(plain.read(_BLOCK), "utf-8", "strict")
            if header.type != tarfile.XGLTYPE or header.size > _LONGEST_HEADER:
                raise InputError("it is no parcel; name files that 'plimsoll send' has made.")
            said = _records(plain.read(header.size))
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError) as problem:
        raise InputError(f"it is no parcel, or not all of one ({displayed(str(problem))[:80]}); send it again.") from None
    finally:
        parcel.seek(0)
    name, digest = said.get(_OF_NAME, ""), said.get(_OF_DIGEST, "")
    if not _NAME.fullmatch(name) or not _DIGEST.fullmatch(digest):
        raise InputError("it does not say which run it holds; name files that 'plimsoll send' has made.")
    return Announced(name, digest)


def _records(header: bytes) -> dict[str, str]:
    """The records of a header of pax, ``LENGTH KEY=VALUE`` and a line feed each; raises `ValueError` for others."""
    found: dict[str, str] = {}
    while header:
        length, _, _ = header.partition(b" ")
        whole = header[: int(length)]
        if len(whole) <= len(length) + 1:
            raise ValueError("its header is damaged")
        key, _, value = whole[len(length) + 1 :].decode().rstrip("\n").partition("=")
        found[key] = value
        header = header[int(length) :]
    return found


def digest_of(path: str) -> str:
    """The digest of the run in the directory ``path``."""
    total = hashlib.sha256()
    for name in _files(path):
        total.update(_line(name, os.path.join(path, name)))
    return total.hexdigest()


def unpack(parcel: IO[bytes], out: str, announced: Announced, limits: Limits) -> Received:
    """Store the run that comes in ``parcel``; raises `InputError` for what is no whole run, `StoreError` when it cannot be kept."""
    if not _NAME.fullmatch(announced.name):
        raise InputError(f"{quoted(announced.name)} is no name of a run; send a run as 'plimsoll send' does.")
    try:
        coming, held = _coming(out)
    except OSError as problem:
        raise _unkept(out, announced, problem) from None
    try:
        _lay_out(parcel, coming, _Room(out, announced.name, limits))
        digest = digest_of(coming)
        if digest != announced.digest:
            raise InputError(
                f"{announced.name}: what came is not what was sent (SHA-256 {digest[:12]}…, not {announced.digest[:12]}…); send it again."
            )
        _check(coming, announced.name)
        return _named(coming, out, announced)
    except OSError as problem:
        raise _unkept(out, announced, problem) from None
    finally:
        shutil.rmtree(coming, ignore_errors=True)
        os.close(held)


def _coming(out: str) -> tuple[str, int]:
    """A new hidden directory of the store, and the lock that says that it is no leftover."""
    os.makedirs(out, exist_ok=True)
    while True:
        coming = tempfile.mkdtemp(prefix=_COMING, dir=out)
        held = os.open(coming, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(held, fcntl.LOCK_EX)
        # Whoever looked for leftovers in this instant has taken it for one.
        if os.path.isdir(coming):
            return coming, held
        os.close(held)


def _unkept(out: str, announced: Announced, problem: OSError) -> StoreError:
    return NoRoom(out, announced.name) if is_full(problem) else store_error(out, problem)


def remove_leftovers(out: str) -> None:
    """Remove what was coming when its receiver was killed; what another one receives at this moment stays."""
    with suppress(OSError):
        for name in os.listdir(out):
            if name.startswith(_COMING):
                _remove_unless_held(os.path.join(out, name))


def _remove_unless_held(path: str) -> None:
    with suppress(OSError):
        held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(held)


def _files(path: str) -> Iterator[str]:
    """Names of the files of a run, in one order everywhere."""
    if os.path.lexists(os.path.join(path, "run.json")):
        yield "run.json"
    for folder, folders, names in os.walk(os.path.join(path, "points")):
        folders[:] = sorted(name for name in folders if _NAME.fullmatch(name))
        for name in sorted(names):
            whole = os.path.join(folder, name)
            if _NAME.fullmatch(name) and os.path.isfile(whole) and not os.path.islink(whole):
                yield os.path.relpath(whole, path)


def _line(name: str, path: str) -> bytes:
    with open(path, "rb") as file:
        return f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n".encode()


class _Room:
    """How much of a parcel is still taken; each raises what is said when it is too much."""

    def __init__(self, out: str, name: str, limits: Limits) -> None:
        self._out, self._name, self._limits = out, name, limits
        self._left_bytes, self._left_files = limits.bytes, limits.files

    def take(self, size_bytes: int) -> None:
        """One more file of this size."""
        self._left_bytes -= size_bytes
        self._left_files -= 1
        if self._left_bytes < 0 or self._left_files < 0:
            most = self._limits
            raise InputError(f"the run is larger than {binary(most.bytes)} or {most.files:,} files, which is all that is taken here.")
        if self._limits.kept_free and free_bytes(self._out) - size_bytes < self._limits.kept_free:
            raise NoRoom(self._out, self._name)


def _lay_out(parcel: IO[bytes], folder: str, room: _Room) -> None:
    """Write the files of the parcel below ``folder``."""
    try:
        with tarfile.open(fileobj=parcel, mode="r|gz", tarinfo=_bounded()) as packed:
            for about in packed:
                room.take(about.size)
                if not about.isreg() or not _belongs(about.name):
                    raise _foreign(about)
                _write(packed.extractfile(about), os.path.join(folder, about.name))
    except (tarfile.TarError, EOFError, zlib.error, ValueError, RecursionError) as problem:
        raise InputError(f"what came is no whole parcel ({displayed(str(problem))[:80]}); send it again.") from None


def _bounded() -> type[tarfile.TarInfo]:
    """Headers of a parcel: of files and their names alone, since the reader would take others of any length into memory."""
    begun = False

    class Bounded(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            nonlocal begun
            found = super().frombuf(buf, encoding, errors)
            of_names = found.type == tarfile.XHDTYPE or (found.type == tarfile.XGLTYPE and not begun)
            begun = True
            if found.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) and not (of_names and found.size <= _LONGEST_HEADER):
                raise _foreign(found)
            return found

        def _proc_gnusparse_10(self, following: tarfile.TarInfo, *_: Any) -> None:
            """Called for a sparse file, whose map is as long as its sender likes."""
            raise _foreign(following)

    return Bounded


def _foreign(about: tarfile.TarInfo) -> InputError:
    return InputError(f"{quoted(displayed(about.name)[:80])} is no file of a run; send a run as 'plimsoll send' does.")


def _belongs(name: str) -> bool:
    parts = name.split("/")
    inside = parts == ["run.json"] or (parts[0] == "points" and 2 < len(parts) <= _DEEPEST)
    return inside and all(_NAME.fullmatch(part) for part in parts)


def _write(source: IO[bytes] | None, path: str) -> None:
    assert source is not None
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb") as file:
        shutil.copyfileobj(source, file, _PIECE)
        file.flush()
        os.fsync(file.fileno())


def _check(folder: str, name: str) -> None:
    """Read everything, as whoever opens the run will."""
    if not os.path.isfile(os.path.join(folder, "run.json")):
        raise InputError(f"{name}: the parcel has no run.json; send a run as 'plimsoll send' does.")
    try:
        run = open_run(folder)
        if str(run.meta.get("status")) not in (*_ENDED, "running"):
            raise InputError(f"{name}: its status is unknown here; use the same version of Plimsoll at both ends.")
        for point in run.points:
            point.check()
    except InputError:
        raise
    except PlimsollError as problem:
        said = str(problem).replace(folder + os.sep, "").replace(folder, name)
        raise InputError(f"{name} is damaged, so it is not stored: {said}") from None


def _named(coming: str, out: str, announced: Announced) -> Received:
    """Give the run its name; one at a time, so that of two that come at once the second knows the first."""
    os.makedirs(os.path.join(coming, "points"), exist_ok=True)
    # As other runs: the directory was made for its owner alone.
    os.chmod(coming, 0o755)  # noqa: S103
    for folder, _, _ in os.walk(coming):
        sync(folder)
    held = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        name, known = _found(out, announced)
        if not known:
            os.rename(coming, os.path.join(out, name))
            os.fsync(held)
        return Received(name, known)
    finally:
        os.close(held)


def is_known(out: str, announced: Announced) -> Received | None:
    """The run if the store has it already, which takes no room."""
    if not _NAME.fullmatch(announced.name):
        return None
    name, known = _found(out, announced)
    return Received(name, known) if known else None


def _found(out: str, announced: Announced) -> tuple[str, bool]:
    """The name under which the run is there; else the first that is free for it."""
    for attempt in range(1, 1000):
        name = announced.name if attempt == 1 else f"{announced.name}-{attempt}"
        path = os.path.join(out, name)
        if not os.path.lexists(path):
            return name, False
        if digest_of(path) == announced.digest:
            return name, True
    raise StoreError(f"{out}: a thousand runs are called {announced.name}; move some of them away.")
