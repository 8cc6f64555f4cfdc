"""Clients of NBD that keep to nothing: they hang up in the middle, send noise at every stage, fall silent, do not read, are killed.

Model: threads attack a server for some seconds, each with attacks drawn by its own seed, while one client that keeps to the protocol writes,
reads back and compares. What that one sees decides: it has to be answered in good time, rightly, to the end.

    attacked = attack("array.sock", seconds=2, draws=Random(1))
    assert attacked.connections and not attacked.trouble
"""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from support.patience import HANGS_S

MAGIC = b"IHAVEOPT"
READ, WRITE, DISCONNECT, FLUSH, TRIM, ZEROES = 0, 1, 2, 3, 4, 6
#: Silent connections that are held at once; more than the server takes.
SILENT = 160
#: What the witness writes lies beyond what the attackers touch.
_ATTACKED_BYTES = 1 << 24
_KILLED = """
import socket, struct, sys, time
sys.path.insert(0, {tests!r})
from support.hostile_nbd import connected, request
client = connected({path!r})
print("connected", flush=True)
while True:
    client.sendall(b"".join(request(0, number * 4096, 4096) for number in range(64)))
"""


@dataclass
class Attacked:
    """What was tried, and what the client that keeps to the protocol found wrong."""

    tried: Counter[str] = field(default_factory=Counter)
    witnessed: int = 0
    trouble: list[str] = field(default_factory=list)

    @property
    def connections(self) -> int:
        return self.tried.total()


def request(kind: int, offset: int, length: int, data: bytes = b"", *, flags: int = 0, cookie: int = 7) -> bytes:
    """A request as it is sent."""
    return struct.pack(">IHHQQI", 0x25609513, flags, kind, cookie, offset, length) + data


def option(kind: int, data: bytes = b"", length: int | None = None) -> bytes:
    """An option as it is sent; ``length`` may lie."""
    return MAGIC + struct.pack(">II", kind, len(data) if length is None else length) + data


@contextmanager
def dialled(path: str) -> Iterator[socket.socket]:
    """A connection before any word of the client."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(HANGS_S)
    try:
        client.connect(path)
        yield client
    finally:
        client.close()


def agree(client: socket.socket) -> int:
    """Negotiate in the shortest way; the size in bytes."""
    taken(client, 18)
    client.sendall(struct.pack(">I", 3) + option(1))
    size_bytes: int = struct.unpack(">QH", taken(client, 10))[0]
    return size_bytes


def connected(path: str) -> socket.socket:
    """A connection that transmits, until it is closed by whoever asked for it."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(HANGS_S)
    client.connect(path)
    agree(client)
    return client


def taken(client: socket.socket, count: int) -> bytes:
    """So many bytes from the server."""
    bytes_taken = b""
    while len(bytes_taken) < count:
        piece = client.recv(count - len(bytes_taken))
        if not piece:
            raise ConnectionError("the server hung up")
        bytes_taken += piece
    return bytes_taken


def _hang_up_on_reads(path: str, draws: Random) -> None:
    with dialled(path) as client:
        agree(client)
        client.sendall(b"".join(request(READ, draws.randrange(_ATTACKED_BYTES), 4096, cookie=number) for number in range(32)))


def _hang_up_on_everything(path: str, draws: Random) -> None:
    with dialled(path) as client:
        agree(client)
        for _ in range(draws.randrange(1, 40)):
            kind, length = draws.choice((READ, WRITE, FLUSH, TRIM, ZEROES)), draws.choice((0, 1, 512, 4096, 1 << 20))
            data = draws.randbytes(length) if kind == WRITE else b""
            flags = draws.choice((0, 0, 0, 1, 2, 4))
            client.sendall(request(kind, draws.randrange(_ATTACKED_BYTES), length, data, flags=flags))


def _hang_up_in_negotiation(path: str, draws: Random) -> None:
    words = struct.pack(">I", 3) + option(8) + option(3) + option(6, struct.pack(">IH", 0, 0)) + option(7, struct.pack(">IH", 0, 0))
    with dialled(path) as client:
        client.sendall(words[: draws.randrange(len(words))])


def _noise_as_greeting(path: str, draws: Random) -> None:
    with dialled(path) as client:
        client.sendall(draws.randbytes(draws.randrange(1, 2000)))


def _noise_as_options(path: str, draws: Random) -> None:
    with dialled(path) as client:
        client.sendall(struct.pack(">I", 3))
        for _ in range(draws.randrange(1, 80)):
            data = draws.randbytes(draws.choice((0, 1, 6, 40, 4000)))
            length = draws.choice((None, None, None, 0, 2**32 - 1, 8193))
            client.sendall(option(draws.choice((*range(12), 2**31, 2**32 - 1)), data, length))


def _noise_as_requests(path: str, draws: Random) -> None:
    with dialled(path) as client:
        agree(client)
        for _ in range(draws.randrange(1, 30)):
            words = bytearray(request(draws.randrange(8), draws.randrange(_ATTACKED_BYTES), 4096))
            # Offsets stay where the witness is not.
            for place in (draws.choice((*range(16), *range(24, 28))) for _ in range(draws.randrange(3))):
                words[place] = draws.randrange(256)
            client.sendall(bytes(words))


def _extremes(path: str, draws: Random) -> None:
    with dialled(path) as client:
        agree(client)
        offset = draws.choice((2**64 - 1, 2**64 - 4096, 2**63, 2**40))
        kind, length = draws.choice((READ, WRITE, FLUSH, 5, 7, 255)), draws.choice((2**32 - 1, 2**31, (32 << 20) + 1, 32 << 20))
        client.sendall(request(kind, offset, length))


def _promise_and_leave(path: str, draws: Random) -> None:
    with dialled(path) as client:
        agree(client)
        for _ in range(draws.randrange(4)):
            client.sendall(request(WRITE, 0, 4096, bytes(4096)))
        client.sendall(request(WRITE, 0, 32 << 20) + bytes(draws.randrange(5000)))


def _reads_without_taking(path: str, draws: Random) -> None:
    with dialled(path) as client:
        agree(client)
        for _ in range(64):
            client.sendall(request(READ, 0, draws.choice((4096, 1 << 20, 8 << 20))))
        time.sleep(draws.random() / 10)


def _leave_in_order(path: str, draws: Random) -> None:
    with dialled(path) as client:
        agree(client)
        client.sendall(request(READ, draws.randrange(_ATTACKED_BYTES), 4096) + request(DISCONNECT, 0, 0))
        taken(client, 16 + 4096)


ATTACKS: tuple[Callable[[str, Random], None], ...] = (
    _hang_up_on_reads,
    _hang_up_on_reads,
    _hang_up_on_everything,
    _hang_up_in_negotiation,
    _noise_as_greeting,
    _noise_as_options,
    _noise_as_requests,
    _extremes,
    _promise_and_leave,
    _reads_without_taking,
    _leave_in_order,
)


def attack(path: str, *, seconds: float, draws: Random, kills: int = 1, threads: int = 4) -> Attacked:
    """Attack the server at ``path``; every thread has its own draws, so that what is sent follows from them alone."""
    attacked, until = Attacked(), time.monotonic() + seconds
    lock = threading.Lock()

    def assail(own: Random) -> None:
        while time.monotonic() < until and not attacked.trouble:
            one = own.choice(ATTACKS)
            # To be hung up on is what they deserve.
            with suppress(OSError):
                one(path, own)
            with lock:
                attacked.tried[one.__name__.strip("_")] += 1

    def kill() -> None:
        for _ in range(kills):
            if _killed_client(path):
                attacked.tried["killed"] += 1

    workers = [threading.Thread(target=assail, args=(Random(draws.random()),)) for _ in range(threads)]
    workers.append(threading.Thread(target=kill))
    workers.append(threading.Thread(target=_fall_silent, args=(path, until, attacked)))
    for worker in workers:
        worker.start()
    try:
        _witness(path, until, attacked)
    except (OSError, AssertionError) as problem:
        attacked.trouble.append(repr(problem))
    for worker in workers:
        worker.join()
    return attacked


def _fall_silent(path: str, until: float, attacked: Attacked) -> None:
    """Hold connections that say nothing, or not enough, or nothing more once they transmit, for as long as the server bears them."""
    silent: list[socket.socket] = []
    try:
        while time.monotonic() < until:
            for number in range(SILENT):
                client = socket.socket(socket.AF_UNIX)
                silent.append(client)
                client.settimeout(HANGS_S)
                with suppress(OSError):
                    client.connect(path)
                    client.sendall(struct.pack(">I", 3)[: number % 5] + (option(1) if number % 5 == 4 else b""))
                attacked.tried["silent"] += 1
            time.sleep(min(0.5, max(0.0, until - time.monotonic())))
            while silent:
                silent.pop().close()
    finally:
        for client in silent:
            client.close()


def _killed_client(path: str) -> bool:
    """Kill a process in the middle of its requests; whether it had got so far."""
    code = _KILLED.format(tests=str(Path(__file__).parents[1]), path=path)
    client = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert client.stdout is not None
    got = client.stdout.readline()
    client.kill()
    client.wait()
    client.stdout.close()
    return bool(got)


def _witness(path: str, until: float, attacked: Attacked) -> None:
    """Keep to the protocol: one connection that stays, and a new one each time, which may have to wait its turn."""
    with dialled(path) as client:
        base = agree(client) - (1 << 20)
        draws = Random(1)
        while time.monotonic() < until or not attacked.witnessed:
            at, data = base + 4096 * draws.randrange(64), draws.randbytes(4096)
            client.sendall(request(WRITE, at, 4096, data))
            assert taken(client, 16) == struct.pack(">IIQ", 0x67446698, 0, 7)
            client.sendall(request(READ, at, 4096))
            assert taken(client, 16) == struct.pack(">IIQ", 0x67446698, 0, 7)
            assert taken(client, 4096) == data, "other data came back"
            attacked.witnessed += 1
    after = connected(path)
    after.close()
