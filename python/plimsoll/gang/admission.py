"""Whether Ray's directory lets somebody in who has this certificate and this token: one call of gRPC, said and read by hand.

Model: a call that is carried out answers with a message, a frame of DATA; one that is refused with headers alone, which end the stream
(RFC 9113, 6.1 and 6.2; gRPC over HTTP/2, "Responses"). What is asked is whether a node lives, which Ray's directory answers everybody whom
it lets in. Who shows no certificate that is wanted is told so by TLS, at the latest when something is read (RFC 8446, 4.4.2.4).
Limits: the one question goes to Ray's directory, the process that all others are joined by; every process of Ray takes the same token from
the same settings.

    answers_without_token("10.0.0.1", 40123, "/tmp/plimsoll-gang-x1")
    admission_of("10.0.0.1", 6379, ("ca.pem", "cert.pem", "key.pem"), token)
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum

from plimsoll.gang.credentials import AUTHORITY, CERTIFICATE, KEY

_PATIENCE_S = 5.0
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RESET, _SETTINGS, _GOAWAY = 0, 1, 3, 4, 7
_END_STREAM, _END_HEADERS, _ACKNOWLEDGED = 1, 4, 1
_QUESTION = "/ray.rpc.NodeInfoGcsService/CheckAlive"
#: An empty message, not compressed.
_EMPTY = b"\0\0\0\0\0"
Socket = socket.socket | ssl.SSLSocket


class Admission(Enum):
    """What becomes of who comes."""

    GIVEN = "the call was carried out"
    UNKNOWN = "the call was refused"
    NO_CERTIFICATE = "our certificate was refused"
    FOREIGN = "theirs is not one that we trust"
    NOT_SPOKEN = "no word of gRPC was said"


def answers_without_token(host: str, port: int, folder: str, token: str | None = None) -> bool:
    """Whether who listens there carries a call out; ``folder`` has the gang's certificates."""
    context = _context(f"{folder}/{AUTHORITY}", f"{folder}/{CERTIFICATE}", f"{folder}/{KEY}")
    context.check_hostname = False
    with suppress(OSError):
        plain = socket.create_connection((host, port), timeout=_PATIENCE_S)
        with plain, context.wrap_socket(plain) as connection:
            return _asked(connection, f"{host}:{port}", token) is Admission.GIVEN
    return False


def admission_of(host: str, port: int, papers: tuple[str, str, str] | None, token: str | None) -> Admission:
    """What becomes of who comes with these files of authority, certificate and key, or in the clear, and this token."""
    try:
        plain = socket.create_connection((host, port), timeout=_PATIENCE_S)
    except OSError:
        return Admission.NOT_SPOKEN
    with plain:
        if papers is None:
            return _heard(plain, f"{host}:{port}", token)
        try:
            connection = _context(*papers).wrap_socket(plain, server_hostname=host)
        except ssl.SSLCertVerificationError:
            return Admission.FOREIGN
        except ssl.SSLError as problem:
            # Nothing of TLS was there, or an alert that means our certificate.
            return Admission.NO_CERTIFICATE if "ALERT" in (problem.reason or "") else Admission.NOT_SPOKEN
        except OSError:
            return Admission.NOT_SPOKEN
        with connection:
            found = _heard(connection, f"{host}:{port}", token)
    # Whose certificate is trusted and who says no word does not trust ours: gRPC hangs up, with an alert or without.
    return Admission.NO_CERTIFICATE if found is Admission.NOT_SPOKEN else found


def _heard(connection: Socket, authority: str, token: str | None) -> Admission:
    with suppress(OSError):
        return _asked(connection, authority, token)
    return Admission.NOT_SPOKEN


def _context(authority: str, certificate: str, key: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(authority)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2"])
    return context


def _asked(connection: Socket, authority: str, token: str | None) -> Admission:
    """What the call is answered with; `ssl.SSLError` where TLS only now says that a certificate was not wanted."""
    scheme = "https" if isinstance(connection, ssl.SSLSocket) else "http"
    connection.sendall(_PREFACE + _frame(_SETTINGS, 0, 0, b"") + _call(scheme, authority, token))
    spoken = False
    for kind, flags, stream in _frames(connection):
        spoken = True
        if kind == _SETTINGS and not flags & _ACKNOWLEDGED:
            connection.sendall(_frame(_SETTINGS, _ACKNOWLEDGED, 0, b""))
        if stream == 1 and kind == _DATA:
            return Admission.GIVEN
        if kind == _GOAWAY or (stream == 1 and (kind == _RESET or flags & _END_STREAM)):
            return Admission.UNKNOWN
    return Admission.UNKNOWN if spoken else Admission.NOT_SPOKEN


def _call(scheme: str, authority: str, token: str | None) -> bytes:
    headers = {
        ":method": "POST",
        ":scheme": scheme,
        ":path": _QUESTION,
        ":authority": authority,
        "te": "trailers",
        "content-type": "application/grpc",
        **({"authorization": f"Bearer {token}"} if token else {}),
    }
    block = b"".join(_literal(name) + _literal(value, new=False) for name, value in headers.items())
    return _frame(_HEADERS, _END_HEADERS, 1, block) + _frame(_DATA, _END_STREAM, 1, _EMPTY)


def _literal(text: str, *, new: bool = True) -> bytes:
    """A name or value as it is, not indexed (RFC 7541, 5.2 and 6.2.2)."""
    data = text.encode("ascii", "replace")
    return (b"\0" if new else b"") + _length(len(data)) + data


def _length(number: int) -> bytes:
    """A length in seven bits and what is left of it (RFC 7541, 5.1)."""
    if number < _SEVEN_BITS:
        return bytes([number])
    said, number = bytes([_SEVEN_BITS]), number - _SEVEN_BITS
    while number >= 1 << 7:
        said, number = said + bytes([number % (1 << 7) | 1 << 7]), number >> 7
    return said + bytes([number])


_SEVEN_BITS = 127


def _frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    return struct.pack(">I", len(content))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + content


def _frames(connection: Socket) -> Iterator[tuple[int, int, int]]:
    """Kind, flags and stream of each frame that comes."""
    with connection.makefile("rb") as file:
        while len(head := file.read(9)) == 9:
            file.read(int.from_bytes(head[:3], "big"))
            yield head[3], head[4], int.from_bytes(head[5:], "big")
