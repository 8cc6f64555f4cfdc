"""A server on this machine that gives whoever it lets in the same bytes, as one of Ray's ports may.

with answering(SETTINGS, context) as port:
    assert answers_strangers("127.0.0.1", port)
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: Empty settings of HTTP/2 (RFC 9113, 6.5).
SETTINGS = b"\0\0\0\4\0\0\0\0\0"


@contextmanager
def answering(answer: bytes = SETTINGS, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of somebody who answers whoever comes, in the clear or by TLS."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                plain, _ = server.accept()
            except OSError:
                return
            with suppress(OSError), plain, context.wrap_socket(plain, server_side=True) if context else plain as connection:
                connection.recv(4096)
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
