"""Who could reach a gang: where its processes listen, and whether they answer somebody who has no certificate of it.

Model: on loopback only users of the host are. Elsewhere everything that listens has to refuse whoever comes without a certificate: each
listener is called once in the clear and once by TLS with none, with what gRPC and HTTP begin with. One that answers either is open.
Limits: one that would answer another protocol is not found out; of Ray all are gRPC or HTTP. Tokens are Ray's matter.

    open_to_others("/tmp/plimsoll-gang-x1")        # ["0.0.0.0:40123"], of processes that listen beyond loopback
    open_to_strangers("/tmp/plimsoll-gang-x1")     # those that answer somebody without a certificate
    open_to_runners("/tmp/ray/session_x")          # of somebody else's Ray, those that would run something for him
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress

from plimsoll.gang.nest import marked

_PATIENCE_S = 1.5
#: What a client of gRPC says first (RFC 9113, 3.4, and empty settings), and one of HTTP.
_GREETINGS = (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0", b"GET / HTTP/1.0\r\n\r\n")
#: What of Ray's lists jobs and tells their logs, and what nobody has: who asks for a token asks for it before he looks.
_ASKED = (b"/api/jobs/", b"/api/job_agent/jobs/0/logs", b"/plimsoll")
#: What TLS answers in the clear is an alert: nobody was let in.
_ALERT = b"\x15"


def open_to_others(nest: str) -> list[str]:
    """Where processes of the gang listen that others than this machine can reach, as ``address:port``."""
    inodes = set()
    for process in marked(nest):
        with suppress(OSError):
            for number in os.listdir(f"/proc/{process}/fd"):
                with suppress(OSError):
                    inodes.add(os.readlink(f"/proc/{process}/fd/{number}"))
    return [address for address, inode in listeners() if f"socket:[{inode}]" in inodes and not _is_loopback(address)]


def open_to_strangers(nest: str) -> list[str]:
    """Of those, the ones that answer somebody who has no certificate."""
    return [address for address in open_to_others(nest) if answers_strangers(*_reached(address))]


def open_to_runners(session: str) -> list[str]:
    """Of the processes of a Ray that others have started, those that answer somebody without a certificate, and not for want of a token.

    Ray's pages and its agents speak HTTP in the clear, and nothing but its token keeps them closed; what is there for Prometheus tells
    numbers and does nothing.
    """
    return [address for address in open_to_strangers(session) if not is_guarded(*_reached(address))]


def is_guarded(host: str, port: int) -> bool:
    """Whether who listens there speaks HTTP, and refuses whoever shows no token, whatever is asked; or tells nothing but numbers."""
    return all(_says_no(_http(host, port, path)) for path in _ASKED)


def _says_no(answer: bytes) -> bool:
    head = answer.partition(b"\r\n\r\n")[0].lower()
    status = head.split(b" ", 2)[1:2] if head.startswith(b"http/1.") else []
    return status in ([b"401"], [b"403"]) or (status == [b"200"] and b"content-type: text/plain; version=0.0.4" in head)


def _http(host: str, port: int, path: bytes) -> bytes:
    """What begins the answer to a request; nothing where there is none."""
    found = b""
    with suppress(OSError), socket.create_connection((host, port), timeout=_PATIENCE_S) as connection:
        connection.sendall(b"GET " + path + b" HTTP/1.0\r\n\r\n")
        while b"\r\n\r\n" not in found and (piece := connection.recv(4096)):
            found += piece
    return found


def listeners() -> Iterator[tuple[str, str]]:
    """Listening sockets and their inodes; format: proc(5), /proc/net/tcp."""
    for table, family in (("/proc/net/tcp", socket.AF_INET), ("/proc/net/tcp6", socket.AF_INET6)):
        with suppress(OSError), open(table, encoding="ascii") as file:
            for line in list(file)[1:]:
                fields = line.split()
                if fields[3] == "0A":
                    host, _, port = fields[1].partition(":")
                    # Words of four bytes, each in the machine's order.
                    words = [bytes.fromhex(host[n : n + 8])[::-1] for n in range(0, len(host), 8)]
                    yield f"{socket.inet_ntop(family, b''.join(words))}:{int(port, 16)}", fields[9]


def answers_strangers(host: str, port: int) -> bool:
    """Whether who listens there says a word to somebody without a certificate."""
    return any(_answer(host, port, greeting, tls=tls) for greeting in _GREETINGS for tls in (False, True))


def _answer(host: str, port: int, greeting: bytes, *, tls: bool) -> bool:
    try:
        plain = socket.create_connection((host, port), timeout=_PATIENCE_S)
        with plain, _stranger().wrap_socket(plain) if tls else plain as connection:
            connection.sendall(greeting)
            answer = connection.recv(64)
    except OSError:
        return False
    return bool(answer) and (tls or not answer.startswith(_ALERT))


def _stranger() -> ssl.SSLContext:
    """Somebody who trusts everybody and has nothing to show."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


def _reached(address: str) -> tuple[str, int]:
    """Where a listener of all addresses is reached from here."""
    host, _, port = address.rpartition(":")
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), int(port)  # noqa: S104 — nothing is bound


def _is_loopback(address: str) -> bool:
    host = address.rpartition(":")[0]
    return host.startswith(("127.", "::ffff:127.")) or host == "::1"
