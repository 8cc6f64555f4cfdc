"""Claims on a target that several workers of one machine use: one has them, and lends the open files that carry them to the others.

Model: locks and the kernel's claim belong to open files, so whoever is handed a duplicate has them, too, until the last one closes it
(flock(2), unix(7) `SCM_RIGHTS`). The lender listens on a socket beside its own for as long as it takes, and each of the others comes once.

    with Lending("/tmp/nest/db1/loan.sock", loans, count=2): ...
    borrowed("/tmp/nest/db1/loan.sock")
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress

from plimsoll.engine.claims import Loan
from plimsoll.errors import EngineError
from plimsoll.gang.wire import listening

#: A target has so many parts at most whose claims go in one message (unix(7): 253 descriptors).
_MOST = 250
_BYTES = 1 << 16
_PATIENCE_S = 30.0


def lend(path: str, loans: Sequence[Loan], count: int) -> None:
    """Hand these claims to ``count`` others that come to ``path``, in a thread; raises `EngineError` for more than one message holds."""
    if len(loans) > _MOST:
        for _, number in loans:
            os.close(number)
        raise EngineError(f"a target of {len(loans)} claims cannot be shared by workers of one machine; {_MOST} can")
    with suppress(OSError):
        os.unlink(path)
    server = listening(path)
    server.settimeout(_PATIENCE_S)
    threading.Thread(target=_serve, args=(server, path, list(loans), count), name="plimsoll-loan", daemon=True).start()


def _serve(server: socket.socket, path: str, loans: list[Loan], count: int) -> None:
    try:
        with server, suppress(OSError):
            for _ in range(count):
                connection, _ = server.accept()
                with connection:
                    socket.send_fds(connection, [json.dumps([carries for carries, _ in loans]).encode()], [number for _, number in loans])
    finally:
        for _, number in loans:
            os.close(number)
        with suppress(OSError):
            os.unlink(path)


def borrowed(path: str) -> list[Loan]:
    """The claims that whoever listens at ``path`` lends. Raises `EngineError` when there are none."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_PATIENCE_S)
            connection.connect(path)
            words, numbers, _, _ = socket.recv_fds(connection, _BYTES, _MOST)
    except OSError as problem:
        raise EngineError(f"the claims on a shared target could not be had ({problem})") from None
    carried = json.loads(words) if words else []
    if len(carried) != len(numbers):
        raise EngineError("the claims on a shared target came in part only")
    return list(zip(carried, numbers, strict=True))
