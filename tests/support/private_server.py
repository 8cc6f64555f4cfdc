"""A private PostgreSQL server as tests start it, here or in a process that can be killed.

Model: initdb takes seconds of the disk. Plimsoll lets it work once for each process that tests; with `copied_data` servers get copies of what
it left, also in processes that `killable_server` starts. Segments of their log have 1 MiB instead of 16, so that a copy has 24 MB instead of 39.

server = private_server(place / "pg")
with killable_server(place / "pg") as run:        # run.server, run.guard: processes
    run.process.kill()
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

from plimsoll.apps.databases.programs import Programs, programs
from plimsoll.apps.databases.server import PrivateServer
from plimsoll.engine.files import native_files
from plimsoll.errors import PlimsollError
from support.patience import HANGS_S, wait_until

#: Small, so that it starts at once.
SMALL = {"shared_buffers": "16MB"}
#: What `copied_data` stands in for.
MAKE_DATA = PrivateServer._make_data
#: Names data that may be copied to processes that hold a server.
_DATA = "PLIMSOLL_TEST_DATA"
_HOLDING = """
import sys, time
from plimsoll.engine.claims import holding
from support.private_server import copied_data, private_server
with holding(), copied_data():
    server = private_server(sys.argv[1])
    server.start()
    print(server.pid, server._guard.pid, server.connection["host"], flush=True)
    sys.stdin.read()
    server.stop()
"""


def missing_server() -> str | None:
    """Why no server can be started here."""
    try:
        programs()
    except PlimsollError as missing:
        return str(missing)
    return None


@contextmanager
def reached_directory() -> Iterator[Path]:
    """An empty directory that every user reaches, as the server's user has to."""
    made = Path(tempfile.mkdtemp(prefix="plimsoll-test-", dir="/tmp"))
    made.chmod(0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def private_server(directory: Path | str, settings: Mapping[str, str] | None = None) -> PrivateServer:
    """A server in a directory of Plimsoll's own, not started."""
    home = native_files().own(str(directory), None, "postgresql")
    return PrivateServer(home, str(directory), {**SMALL, **(settings or {})})


def server_url(connection: Mapping[str, str], role: str, database: str = "postgres", password: str | None = None) -> str:
    """How ``role`` reaches a database of a server whose ``connection`` is known, as a user writes it."""
    who = role if password is None else f"{role}:{password}"
    return f"postgresql://{who}@/{database}?host={connection['host']}"


@contextmanager
def copied_data() -> Iterator[None]:
    """Until the end private servers get a copy of data that initdb made before, and make none themselves."""
    data = os.environ.get(_DATA) or made_once()

    def copied(server: PrivateServer, found: Programs) -> None:
        if not os.path.exists(os.path.join(server.data, "PG_VERSION")):
            subprocess.run(["cp", "--archive", "--no-target-directory", data, server.data], check=True)

    with patch.object(PrivateServer, "_make_data", copied), patch.dict(os.environ, {_DATA: data}):
        yield


@cache
def made_once() -> str:
    """Data as Plimsoll lets initdb make them, but for segments of the log of 1 MiB, where every user reaches them; removed when this process
    ends."""
    directory = tempfile.mkdtemp(prefix="plimsoll-test-", dir="/tmp")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    os.chmod(directory, 0o755)
    found = programs()
    small = Path(directory, "initdb")
    small.write_text(f'#!/bin/sh\nexec {shlex.quote(found.initdb)} --wal-segsize=1 "$@"\n')
    small.chmod(0o755)
    server = PrivateServer(directory, directory)
    MAKE_DATA(server, replace(found, folder=directory))
    return server.data


@dataclass
class Killable:
    """A run that holds a server, as processes."""

    process: subprocess.Popen[str]
    server: int
    guard: int
    sockets: str


@contextmanager
def killable_server(directory: Path) -> Iterator[Killable]:
    """A process that holds a server until it is killed, or its input ends."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PGPASSWORD": "canary-7b1f"}
    command = [sys.executable, "-c", _HOLDING, str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        server, guard, sockets = process.stdout.readline().split()
        try:
            yield Killable(process, int(server), int(guard), sockets)
        finally:
            process.kill()
            for number in (guard, server):
                with suppress(ProcessLookupError):
                    os.kill(int(number), signal.SIGCONT)
            process.wait(timeout=HANGS_S)
            wait_until(lambda: not is_alive(int(server)), "the server ends with its guard")
            shutil.rmtree(sockets, ignore_errors=True)


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
