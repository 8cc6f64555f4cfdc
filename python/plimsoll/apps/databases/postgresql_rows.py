"""Rows on their way into PostgreSQL by COPY: straight to the socket where nothing on it is encrypted, else through psycopg.

Model: libpq copies every message into a buffer of its own, and the interpreter stands still meanwhile. So psycopg begins and ends the
COPY, and the engine writes the messages of rows between (`crates/terminals`, ``rows``), 64 KiB each: the server works on the first while
the next come. When the server says that it takes no more (a full disk, a cancelled statement), no further row is drawn, and psycopg
reads what it said.
Limits: text of whole rows altogether; a chunk may end anywhere. A server that says more than some 200 KiB while it works on the last rows
(notices of triggers) waits for psycopg, which waits for it: tables here have no triggers.

    with connection.cursor() as cursor:
        copy(cursor, "COPY region FROM STDIN", [b"0\\tAFRICA\\t...\\n"])
        cursor.rowcount
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from plimsoll import _core

if TYPE_CHECKING:
    import psycopg

#: Bytes of a message that psycopg sends: it would make longer ones, and copy a chunk to divide it.
_MESSAGE_BYTES = 64 << 10


def copy(cursor: psycopg.Cursor[Any], statement: str, text: Iterable[bytes]) -> None:
    """Carry out a COPY from the client with these rows. Raises `psycopg.Error` as every statement does."""
    socket = plain_socket(cursor.connection)
    with cursor.copy(statement) as copying:
        if socket is None:
            for message in messages(text):
                copying.write(message)
            return
        for chunk in text:
            if not _core.copy_rows(socket, chunk):
                return


def plain_socket(connection: psycopg.Connection[Any]) -> int | None:
    """The connection's socket where rows may be written to it; None where what goes over it is encrypted."""
    held = connection.pgconn
    return None if held.ssl_in_use or held.used_gssapi else held.socket


def messages(text: Iterable[bytes]) -> Iterator[memoryview]:
    """The chunks of a COPY as messages for the server, no longer than it takes at a time."""
    for chunk in text:
        view = memoryview(chunk)
        for begin in range(0, len(view), _MESSAGE_BYTES):
            yield view[begin : begin + _MESSAGE_BYTES]
