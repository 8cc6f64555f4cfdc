"""The host that keeps the journal of another one whose power is going to be cut.

Model: one connection, one journal. A batch is a count of records (four bytes, little-endian) and the records, 64 bytes each, as
`crates/workload/src/journal.rs` has them; they are on this host's disk before the answer, the number of records so far (eight bytes).
The journal ends with its connection: by its sender, or, when that lost its power and says nothing more, by whoever stops this program.
Limits: no secret and no encryption, so listen where only the host under test can connect.

    host = JournalHost("cut.journal", ("127.0.0.1", 0))
    host.keep(stopped=lambda: False)     # number of records
"""

from __future__ import annotations

import os
import select
import socket
import struct
from collections.abc import Callable

from plimsoll.errors import InputError, StoreError

RECORD_BYTES = 64
#: Records of one batch at most: what no honest sender reaches.
_BATCH_MAX = 1 << 20
#: How soon it is noticed that the program is told to stop.
_LOOK_S = 0.2


class JournalHost:
    """Listens, and keeps one journal."""

    def __init__(self, path: str, address: tuple[str, int]) -> None:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        try:
            self._listener = socket.create_server(address, family=family, backlog=1)
        except OSError as problem:
            where = f"--listen {address[0]}:{address[1]}"
            raise InputError(f"{where}: cannot listen there ({_reason(problem)}); give an address of this host.") from None
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            self._listener.close()
            raise InputError(f"{path} is there already, and perhaps still needed; name a new file, or remove it.") from None
        except OSError as problem:
            self._listener.close()
            raise InputError(f"{path}: cannot be made ({_reason(problem)}); name a new file in a directory that exists.") from None
        self._path = path

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._listener.getsockname()[1])

    def keep(self, stopped: Callable[[], bool]) -> int:
        """Keep the journal of the first that connects until its connection ends or ``stopped``; the number of records kept."""
        try:
            while not stopped():
                if not select.select([self._listener], [], [], _LOOK_S)[0]:
                    continue
                sender, _ = self._listener.accept()
                self._listener.close()
                with sender:
                    return self._keep_from(sender, stopped)
            return 0
        finally:
            self._listener.close()
            os.close(self._file)

    def _keep_from(self, sender: socket.socket, stopped: Callable[[], bool]) -> int:
        kept = 0
        while (head := _received(sender, 4, stopped)) is not None:
            (count,) = struct.unpack("<I", head)
            if not 0 < count <= _BATCH_MAX:
                break
            records = _received(sender, count * RECORD_BYTES, stopped)
            if records is None:
                break
            self._append(records)
            kept += count
            try:
                sender.sendall(struct.pack("<Q", kept))
            except OSError:
                break
        return kept

    def _append(self, records: bytes) -> None:
        try:
            left = memoryview(records)
            while left:
                left = left[os.write(self._file, left) :]
            os.fdatasync(self._file)
        except OSError as problem:
            raise StoreError(f"{self._path}: cannot be written ({_reason(problem)}); the journal ends here.") from None


def _reason(problem: OSError) -> str:
    return (problem.strerror or str(problem)).lower()


def _received(sender: socket.socket, size: int, stopped: Callable[[], bool]) -> bytes | None:
    """So many bytes; None when the connection ends before, or ``stopped``."""
    parts = bytearray()
    while len(parts) < size:
        if stopped():
            return None
        if not select.select([sender], [], [], _LOOK_S)[0]:
            continue
        try:
            part = sender.recv(min(size - len(parts), 1 << 20))
        except OSError:
            return None
        if not part:
            return None
        parts += part
    return bytes(parts)
