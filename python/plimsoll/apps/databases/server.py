"""A private PostgreSQL server in a directory on the target: made, started, stopped, and never left running.

Model: the server has its data, its log of messages and its settings in one directory of Plimsoll's
(`plimsoll.engine.files.NativeFiles.own`). It listens at a Unix socket in a directory that only its user may enter, and at no port. A guard
(`plimsoll.apps.guard`) is its parent: when this process ends, however it ends, the guard stops the server. Should the guard be
killed as well, the kernel tells the server to stop; and the next command looks for servers that were noted and stops what still runs
(`plimsoll.orphans`).
Limits: whoever starts a server has claimed its directory. Memory for parallel queries comes from /dev/shm, which has to be there.

    server = PrivateServer(home, "/mnt/array/pg", {"shared_buffers": "256MB"})
    server.start()
    psycopg.connect(**server.connection)
    server.stop()
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from plimsoll.apps import guard
from plimsoll.apps.databases.database import DatabaseError, Trouble
from plimsoll.apps.databases.programs import Programs, programs
from plimsoll.apps.user import User, check_reachable, reaches, server_user
from plimsoll.errors import Interrupted
from plimsoll.orphans import Note, forget, note

KIND = "postgresql"
USER = "plimsoll"
_USERS = ("postgres", "nobody")
_PORT = 5432
_DATA, _MAKING, _LOG, _SETTINGS = "data", "data.making", "server.log", "plimsoll.conf"
#: sockaddr_un holds 108 bytes, the last of them zero; the socket's own name takes some.
_SOCKET_PATH_MAX = 107 - len(f"/.s.PGSQL.{_PORT}.lock") - len("/plimsoll-pg-xxxxxxxx")
#: What every private server is told; what the caller wants comes after it.
_FIXED: Mapping[str, str] = {
    "listen_addresses": "",
    "port": str(_PORT),
    "unix_socket_permissions": "0700",
    "cluster_name": "plimsoll",
    "max_connections": "300",
    "logging_collector": "off",
    "log_destination": "stderr",
    "lc_messages": "C",
    "timezone": "UTC",
    "track_io_timing": "on",
    "track_wal_io_timing": "on",
}
#: Where little of it is free, parallel queries fail; System V's memory has no such limit.
_LEAST_SHM_BYTES = 1 << 30
#: Of a server that died, processes may live on for a moment and hold its memory.
_RETRIED = re.compile(r"shared memory block .* is still in use|lock file .* (already )?exists")
_RETRIES_S = 30.0
_LOOK_S = 0.01
_SAID = re.compile(r"(?:FATAL|PANIC|ERROR):\s+(.*)")
_ENDED = re.compile(r"(?:LOG|PANIC|FATAL):\s+(.*(?:was terminated by signal|shutdown request|no space left).*)", re.IGNORECASE)
_TROUBLES: tuple[tuple[str, Trouble], ...] = (
    (r"no space left|disk quota", "full"),
    (r"could not create shared memory|cannot allocate memory", "memory"),
)


class PrivateServer:
    """A server whose files are in ``home``, a directory of Plimsoll's own below the target ``directory``; ``settings`` are PostgreSQL's."""

    def __init__(self, home: str, directory: str, settings: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.directory = directory
        self.settings = dict(settings or {})
        self._user: User = server_user(_USERS, "PostgreSQL's server")
        self._sockets: str | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> str:
        """PostgreSQL's data directory."""
        return os.path.join(self.home, _DATA)

    @property
    def connection(self) -> dict[str, str | int]:
        """How a client connects: through the socket, whose directory lets nobody else in, so that no password is needed."""
        if self._sockets is None:
            raise DatabaseError(f"{self.directory}: the server is not started.", "lost")
        return {"host": self._sockets, "port": _PORT, "user": USER, "dbname": "postgres"}

    @property
    def pid(self) -> int | None:
        """The process of the server; None when it does not run."""
        return running(self.data)

    def start(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Make its data where there are none, start it, and wait until it takes connections. Raises `Interrupted` when ``stopped``."""
        if self._guard is not None and self._guard.poll() is None:
            return
        found = programs(_version_of(self.data))
        os.makedirs(self.home, exist_ok=True)
        check_reachable(self.home, self._user)
        stop_process(self.data)
        self._make_data(found)
        self._close_guard()
        self._sockets = self._sockets or _socket_directory(self._user)
        self._write_settings()
        note(Note(KIND, self.directory, {"data": self.data, "sockets": self._sockets}))
        until = time.monotonic() + _RETRIES_S
        while True:
            said = self._started(found, stopped)
            if said is None:
                return
            if not _RETRIED.search(said) or time.monotonic() > until:
                self._tidy()
                raise _trouble(f"{self.directory}: the PostgreSQL server did not start: {said}.", "refused")

    def stop(self, *, discarding: bool = False) -> None:
        """Stop it, and wait until it has ended; with ``discarding`` its data are not needed any more, and no checkpoint is written."""
        if self._guard is None:
            return
        if discarding and self._guard.stdin is not None:
            with suppress(OSError):
                self._guard.stdin.write(b"q")
                self._guard.stdin.flush()
        self._close_guard()
        self._tidy()

    def restart(self) -> None:
        """Stop it and start it again; between the two `drop_files` may empty the page cache."""
        self.stop()
        self.start()

    def why_it_ended(self) -> str:
        """What the server wrote of the end of one of its processes, or of its own; empty where it was not heard of."""
        found = [said[1].strip().rstrip(".") for said in map(_ENDED.search, self._log()) if said]
        # A process that finds no space ends by a signal of its own, which says less.
        full = [said for said in found if "no space left" in said.lower()]
        return (full or found or [""])[-1]

    def _log(self) -> list[str]:
        """The last lines that it wrote."""
        try:
            with open(os.path.join(self.home, _LOG), "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - 65536))
                return file.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return []

    def last_words(self) -> str:
        """What the server said of its last failure; empty when nothing."""
        lines = self._log()
        found = [said[1].strip().rstrip(".") for said in map(_SAID.search, lines) if said]
        return found[-1] if found else (lines[-1].strip().rstrip(".") if lines else "")

    def _make_data(self, found: Programs) -> None:
        if os.path.exists(os.path.join(self.data, "PG_VERSION")):
            return
        making = os.path.join(self.home, _MAKING)
        for path in (making, self.data):
            shutil.rmtree(path, ignore_errors=True)
        try:
            os.mkdir(making, 0o700)
            os.chown(making, self._user.uid, self._user.gid)
        except OSError as problem:
            raise _trouble(f"{making}: cannot be made ({str(problem.strerror).lower()}).") from None
        options = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions", "-U", USER]
        made = subprocess.run(
            [found.initdb, "-D", making, *options],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=_environment(),
            start_new_session=True,
            **self._user.options,
        )
        if made.returncode:
            said = [line for line in made.stderr.splitlines() if "error:" in line or "FATAL" in line] or made.stderr.splitlines() or [""]
            shutil.rmtree(making, ignore_errors=True)
            raise _trouble(
                f"{self.directory}: initdb could not make the database: {said[0].removeprefix('initdb: error: ').strip().rstrip('.')}."
            )
        os.rename(making, self.data)

    def _write_settings(self) -> None:
        """Settings go to a file of our own, which the server's own file includes last."""
        whole = {**_FIXED, **_shared_memory(), **self.settings, "unix_socket_directories": str(self._sockets)}
        text = "".join(f"{name} = '{_escaped(value)}'\n" for name, value in whole.items())
        _replace(os.path.join(self.data, _SETTINGS), text, self._user)
        main = os.path.join(self.data, "postgresql.conf")
        with open(main, encoding="utf-8") as file:
            before = file.read()
        line = f"include '{_SETTINGS}'\n"
        if line not in before:
            _replace(main, before + line, self._user)

    def _started(self, found: Programs, stopped: Callable[[], bool]) -> str | None:
        """Start it once; None when it takes connections, else what it said."""
        user = f"{self._user.uid}:{self._user.gid}"
        command = [sys.executable, "-I", "-S", guard.__file__, user, str(self._sockets), found.postgres, "-D", self.data]
        with open(os.path.join(self.home, _LOG), "wb") as log:
            self._guard = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd="/", env=_environment(), start_new_session=True
            )
        while not _is_ready(self.data):
            if self._guard.poll() is not None:
                self._close_guard()
                return self.last_words() or "it ended without a word"
            if stopped():
                self.stop(discarding=True)
                raise Interrupted(f"{self.directory}: stopped while its server was started")
            time.sleep(_LOOK_S)
        return None

    def _close_guard(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            if guard.stdin is not None:
                with suppress(OSError):
                    guard.stdin.close()
            guard.wait()

    def _tidy(self) -> None:
        """The server has ended: nothing of it stays outside its directory."""
        if self._sockets is not None:
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = None
        forget(self.directory)


def url_of(connection: Mapping[str, Any]) -> str:
    """The address of a private server for clients on this machine: it listens at a socket."""
    at = {name: quote(str(value), safe="") for name, value in connection.items()}
    return f"postgresql://{at['user']}@/{at['dbname']}?host={at['host']}&port={at['port']}"


def running(data: str) -> int | None:
    """The server that has a data directory open: the process that its file names, if that works in this very directory."""
    lines = _pid_file(data)
    if not lines or not lines[0].strip().isdigit():
        return None
    pid = int(lines[0])
    try:
        works_in, asked = os.stat(f"/proc/{pid}/cwd"), os.stat(data)
    except OSError:
        return None
    return pid if (works_in.st_dev, works_in.st_ino) == (asked.st_dev, asked.st_ino) else None


def stop_process(data: str) -> int | None:
    """Stop the server of a data directory that nobody guards any more; its process, None when there was none.

    Whoever asks has claimed the directory of the target, so that no living run uses the server.
    """
    pid = running(data)
    if pid is None:
        return None
    for number, seconds in ((signal.SIGINT, 60.0), (signal.SIGQUIT, 30.0), (signal.SIGKILL, 30.0)):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if running(data) != pid:
                return pid
            time.sleep(_LOOK_S)
    raise DatabaseError(f"{data}: the server that a killed run left (pid {pid}) does not stop; end it first.", "locked")


def stop_orphan(server: Note) -> str | None:
    """Stop the server that a killed run left, and take away what it had outside its directory; a sentence when there was one."""
    data, sockets = server.facts.get("data", ""), server.facts.get("sockets", "")
    pid = stop_process(data) if data.startswith(server.directory + os.sep) else None
    if os.path.basename(sockets).startswith("plimsoll-pg-") and not os.path.islink(sockets):
        shutil.rmtree(sockets, ignore_errors=True)
    forget(server.directory)
    return None if pid is None else f"stopped the PostgreSQL server in {server.directory} that a killed run had left running (pid {pid})"


def _pid_file(data: str) -> list[str]:
    """Format: PostgreSQL, src/include/utils/pidfile.h: a line each, the first for the process, the eighth for its status."""
    try:
        with open(os.path.join(data, "postmaster.pid"), encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _is_ready(data: str) -> bool:
    lines = _pid_file(data)
    return len(lines) >= 8 and lines[7].strip() == "ready" and running(data) is not None


def _version_of(data: str) -> int | None:
    try:
        with open(os.path.join(data, "PG_VERSION"), encoding="ascii") as file:
            return int(file.read().split(".")[0])
    except (OSError, ValueError):
        return None


def _socket_directory(user: User) -> str:
    """A directory for sockets with a path short enough, that only the server's user may enter."""
    for place in (tempfile.gettempdir(), "/tmp", "/run", "/var/tmp"):  # noqa: S108 — mkdtemp makes it, closed to others
        if len(os.fsencode(place)) <= _SOCKET_PATH_MAX and os.access(place, os.W_OK | os.X_OK) and reaches(user, place):
            made = tempfile.mkdtemp(prefix="plimsoll-pg-", dir=place)
            os.chown(made, user.uid, user.gid)
            return made
    raise DatabaseError("there is no directory for the server's socket: neither TMPDIR nor /tmp can be written to.")


def _shared_memory() -> dict[str, str]:
    """Where queries that run in parallel share memory."""
    try:
        found = os.statvfs("/dev/shm")  # noqa: S108 — the mount itself
    except OSError:
        return {"dynamic_shared_memory_type": "sysv"}
    return {"dynamic_shared_memory_type": "posix" if found.f_bavail * found.f_frsize >= _LEAST_SHM_BYTES else "sysv"}


def _environment() -> dict[str, str]:
    """What the programs see: nothing of the user's, whose PGPASSWORD among others is no business of theirs."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def _replace(path: str, text: str, user: User) -> None:
    beside = f"{path}.new"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.chown(beside, user.uid, user.gid)
        os.chmod(beside, 0o600)
        os.rename(beside, path)
    except OSError as problem:
        raise _trouble(f"{path}: cannot be written ({str(problem.strerror).lower()}).") from None


def _escaped(value: str) -> str:
    return value.replace("'", "''")


def _trouble(sentence: str, otherwise: Trouble = "lost") -> DatabaseError:
    kind = next((kind for words, kind in _TROUBLES if re.search(words, sentence, re.IGNORECASE)), None)
    if kind == "full":
        sentence = f"{sentence.rstrip('.')}; make room, or name a directory with more."
    return DatabaseError(sentence, kind or otherwise)
