"""Whether a gang's Ray answers somebody who has its certificate and not its token: one call of gRPC, said and read by hand.

Model: a call that is carried out answers with a message, a frame of DATA; one that is refused with headers alone, which end the stream
(RFC 9113, 6.1 and 6.2; gRPC over HTTP/2, "Responses"). What is asked is whether a node lives, which Ray's directory answers everybody whom
it lets in.
Limits: the one question goes to Ray's directory, the process that all others are joined by; every process of Ray takes the same token from
the same settings.

    answers_without_token("10.0.0.1", 40123, "/tmp/plimsoll-gang-x1")
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import suppress

from plimsoll.gang.credentials import AUTHORITY, CERTIFICATE, KEY

_PATIENCE_S = 5.0
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RESET, _SETTINGS, _GOAWAY = 0, 1, 3, 4, 7
_END_STREAM, _END_HEADERS, _ACKNOWLEDGED = 1, 4, 1
_QUESTION = "/ray.rpc.NodeInfoGcsService/CheckAlive"
#: An empty message, not compressed.
_EMPTY = b"\0\0\0\0\0"


def answers_without_token(host: str, port: int, folder: str, token: str | None = None) -> bool:
    """Whether who listens there carries a call out; ``folder`` has the gang's certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(f"{folder}/{AUTHORITY}")
    context.load_cert_chain(f"{folder}/{CERTIFICATE}", f"{folder}/{KEY}")
    context.set_alpn_protocols(["h2"])
    with suppress(OSError):
        plain = socket.create_connection((host, port), timeout=_PATIENCE_S)
        with plain, context.wrap_socket(plain) as connection:
            connection.sendall(_PREFACE + _frame(_SETTINGS, 0, 0, b"") + _call(f"{host}:{port}", token))
            for kind, flags, stream in _frames(connection):
                if kind == _SETTINGS and not flags & _ACKNOWLEDGED:
                    connection.sendall(_frame(_SETTINGS, _ACKNOWLEDGED, 0, b""))
                if stream == 1 and kind == _DATA:
                    return True
                if kind == _GOAWAY or (stream == 1 and (kind == _RESET or flags & _END_STREAM)):
                    return False
    return False


def _call(authority: str, token: str | None) -> bytes:
    headers = {
        ":method": "POST",
        ":scheme": "https",
        ":path": _QUESTION,
        ":authority": authority,
        "te": "trailers",
        "content-type": "application/grpc",
        **({"authorization": f"Bearer {token}"} if token else {}),
    }
    block = b"".join(_literal(name) + _literal(value, new=False) for name, value in headers.items())
    return _frame(_HEADERS, _END_HEADERS, 1, block) + _frame(_DATA, _END_STREAM, 1, _EMPTY)


def _literal(text: str, *, new: bool = True) -> bytes:
    """A name or value as it is, not indexed (RFC 7541, 5.2 and 6.2.2); all are shorter than 127 bytes."""
    return (b"\0" if new else b"") + bytes([len(text)]) + text.encode("ascii")


def _frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    return struct.pack(">I", len(content))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + content


def _frames(connection: ssl.SSLSocket) -> Iterator[tuple[int, int, int]]:
    """Kind, flags and stream of each frame that comes."""
    with connection.makefile("rb") as file:
        while len(head := file.read(9)) == 9:
            file.read(int.from_bytes(head[:3], "big"))
            yield head[3], head[4], int.from_bytes(head[5:], "big")
