"""``plimsoll serve-array``: a modelled array in real time, over NBD and as a mounted file."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import click

from plimsoll.cli import completions
from plimsoll.displayed import as_document, quoted
from plimsoll.errors import InputError
from plimsoll.points.signals import handled
from plimsoll.stored import Json

#: How soon it is noticed that the server has ended.
_LOOK_S = 0.5
_DEPTH_MAX = 1024
_PORT_MAX = 65535


@dataclass
class _Endpoints:
    """Where it is served, as typed, and what has to be cleared up."""

    sockets: list[socket.socket] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    mount: str | None = None


@click.command(short_help="Serve a modelled array to other programs in real time.")
@click.argument("array", metavar="array:NAME", shell_complete=completions.arrays)
@click.option("--socket", "path", metavar="PATH", help="Serve NBD on a Unix socket made there.")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, _PORT_MAX), help="Serve NBD on a TCP port of this machine's loopback; 0 is a free one."
)
@click.option("--address", metavar="IP", help="The loopback address for --port. [default: 127.0.0.1]")
@click.option("--mount", metavar="DIR", help="Mount it at an empty directory, as the file DIR/array.")
@click.option("--data", metavar="memory|derived|FILE", default="memory", show_default=True, help="Where the bytes are kept.")
@click.option("--memory", metavar="SIZE", help="How much --data memory may keep. [default: 1GiB]")
@click.option(
    "--depth", metavar="N", type=click.IntRange(1, _DEPTH_MAX), default=64, show_default=True, help="Requests at once per NBD connection."
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Where the platters are at the start."
)
@click.option("-d", "--duration", metavar="TIME", help="How long to serve, e.g. 30s. [default: until Ctrl-C]")
@click.option("-i", "--interval", metavar="TIME", help="Report every so often on stderr; SIGUSR1 asks for a report at any time.")
@click.option("--json", "as_json", is_flag=True, help="Print the last report as JSON.")
def command(array: str, path: str | None, port: int | None, address: str | None, mount: str | None, **options: Any) -> int:
    """Let fio, qemu, libnbd tools, or any program that opens a file work on a modelled array, at the speed that the model says.

    Requests enter the model when they arrive and are answered when it completes them. How late answers were is reported at
    the end; a session is flagged when that distorts what clients see. --mount needs /dev/fuse.

    \b
    plimsoll serve-array array:msa2000-raid5 --socket ./array.sock
    fio --name=x --ioengine=nbd --uri='nbd+unix:///?socket=./array.sock' --rw=randread --bs=4k
    plimsoll serve-array array:nearline-raid6 --mount /mnt/array --data derived
    """
    duration_s, interval_s = (_time(f"--{name}", options[name]) for name in ("duration", "interval"))
    document = _document(array)
    data = _data(options["data"], options["memory"])
    if address is not None and port is None:
        raise InputError(f"--address {address} has no effect without --port; write --port N as well.")
    if path is None and port is None and mount is None:
        raise InputError("nothing says where to serve; write --socket PATH, --port N, --mount DIR, or several of them.")
    with ExitStack() as cleared:
        endpoints = _opened(cleared, path, (address or "127.0.0.1", port), mount)
        from plimsoll.serving.session import ServedArray, Serving

        wanted = ServedArray(document, data, options["seed"], endpoints.mount, endpoints.sockets, options["depth"])
        # Signals are ours before anything is mounted, so that none of them leaves a mount behind.
        with _Orders() as orders:
            serving = Serving.start(wanted)
            _announce(array, serving.size_bytes, endpoints)
            try:
                _serve(serving, orders, duration_s, interval_s)
            finally:
                report = serving.stop()
    _show(report, as_json=options["as_json"])
    return 0


class _Orders:
    """Signals as something to wait for: Ctrl-C and SIGTERM stop, SIGUSR1 asks for a report."""

    def __init__(self) -> None:
        self._handled = ExitStack()

    def wait(self, seconds: float) -> bytes:
        """What came within so many seconds: ``s`` and ``r``, in order."""
        return os.read(self._read, 64) if select.select([self._read], [], [], seconds)[0] else b""

    def __enter__(self) -> _Orders:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._handled.enter_context(handled(lambda: self._send(b"s")))
        self._handled.enter_context(_reported(lambda: self._send(b"r")))
        return self

    def __exit__(self, *_: object) -> None:
        self._handled.close()
        os.close(self._read)
        os.close(self._write)

    def _send(self, order: bytes) -> None:
        # When the pipe is full, thousands are waiting already.
        with suppress(BlockingIOError):
            os.write(self._write, order)


@contextmanager
def _reported(ask: Any) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, lambda _number, _frame: ask())
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def _serve(serving: Any, orders: _Orders, duration_s: float | None, interval_s: float | None) -> None:
    """Serve until told to stop, until the time is over, or until the server has ended."""
    from plimsoll.reports.terminal.server import serving_text

    began = time.monotonic()
    end = began + duration_s if duration_s is not None else float("inf")
    due = began + interval_s if interval_s is not None else float("inf")
    while not serving.has_ended():
        now = time.monotonic()
        came = orders.wait(max(0.0, min(_LOOK_S, end - now, due - now)))
        now = time.monotonic()
        if b"s" in came or now >= end:
            return
        if b"r" in came or now >= due:
            click.echo(serving_text(serving.report()) + "\n", err=True)
        if interval_s is not None and now >= due:
            due = max(due + interval_s, now)


def _opened(cleared: ExitStack, path: str | None, loopback: tuple[str, int | None], mount: str | None) -> _Endpoints:
    from plimsoll.serving.endpoints import FILE, loopback_socket, mountable, unix_socket

    endpoints = _Endpoints()
    address, port = loopback
    if mount is not None:
        endpoints.mount = mountable(mount)
    if port is not None:
        bound = loopback_socket(address, port)
        cleared.callback(bound.close)
        endpoints.sockets.append(bound)
        host = f"[{address}]" if ":" in address else address
        endpoints.addresses.append(f"nbd://{host}:{bound.getsockname()[1]}")
    if path is not None:
        bound = unix_socket(path)
        cleared.callback(os.unlink, path)
        cleared.callback(bound.close)
        endpoints.sockets.append(bound)
        endpoints.addresses.append(f"nbd+unix:///?socket={path}")
    if endpoints.mount is not None:
        endpoints.addresses.append(os.path.join(endpoints.mount, FILE))
    return endpoints


def _announce(array: str, size_bytes: int, endpoints: _Endpoints) -> None:
    from plimsoll.units import binary

    click.echo(f"serving   {array} (modelled), {binary(size_bytes)}, in real time; Ctrl-C ends it", err=True)
    for address in endpoints.addresses:
        click.echo(f"at        {address}", err=True)


def _show(report: Json, *, as_json: bool) -> None:
    if as_json:
        click.echo(as_document(report))
        return
    from plimsoll.reports.terminal.server import serving_text

    click.echo(serving_text(report))


def _document(array: str) -> Json:
    from plimsoll.catalog.arrays import described, is_array

    if not is_array(array):
        raise InputError(f"{quoted(array)} is not a modelled array; write array: and a name, for example array:msa2000-raid5.")
    return described(array)


def _data(kind: str, memory: str | None) -> Json:
    from plimsoll.points.quantity import size_bytes

    if kind == "memory":
        return {"kind": "memory", "bound_bytes": 1 << 30 if memory is None else size_bytes("--memory", memory)}
    if memory is not None:
        raise InputError(f"--memory {memory} has no effect with --data {kind}; leave one of them out.")
    return {"kind": "derived"} if kind == "derived" else {"kind": "file", "path": kind}


def _time(option: str, text: str | None) -> float | None:
    from plimsoll.points.quantity import duration_s

    if text is None:
        return None
    value = duration_s(option, text)
    if value <= 0:
        raise InputError(f"{option} {text}: no time at all; write for example 30s.")
    return value
