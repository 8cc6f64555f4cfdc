"""A database that commits refreshes and can be killed with SIGKILL at any moment: a private PostgreSQL server, or a process with DuckDB.

Model: of PostgreSQL the server and all its processes are killed at once, so that what only they had in memory is gone; of DuckDB the
process that has the database open, which is a child of ours. An acknowledgement is what comes back when the commit has returned.
Limits: the kernel lives on, and with it what had been written and not flushed; settings that make an engine acknowledge before it has
flushed are looked for by name (`broken_promises`). What a power cut does is the matter of `docs/power-cut.md`.

    holder = holder_of(parse("duckdb:/mnt/array/db"), home, 0.01)
    holder.begin(); holder.carry_out("rf1"); holder.kill()
    with holder.reopened() as session: ...
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import IO, Protocol

from plimsoll.apps.databases.address import Address
from plimsoll.apps.databases.database import Database, DatabaseError, Session, Settings
from plimsoll.apps.databases.engines import database_of
from plimsoll.apps.decision.refresh import coming, going
from plimsoll.apps.durability.account import Op
from plimsoll.errors import PlimsollError

#: Settings without which an acknowledged commit need not be on the disk, with what they have to be.
_PROMISES: Mapping[str, tuple[str, ...]] = {
    "fsync": ("on",),
    "synchronous_commit": ("on", "local", "remote_write", "remote_apply"),
    "full_page_writes": ("on",),
}


class Holder(Protocol):
    """Holds a loaded database."""

    def begin(self) -> Mapping[str, str]:
        """Be ready for refreshes; version and settings of the engine."""

    def carry_out(self, op: Op) -> int:
        """Carry one refresh out; how many rows or orders, once it is acknowledged. Raises `DatabaseError`."""

    def kill(self) -> None:
        """SIGKILL, from any thread."""

    def reopened(self) -> AbstractContextManager[Session]:
        """Open the database again after a kill, for a look at it."""

    def end(self) -> None:
        """Let go of it."""


def broken_promises(facts: Mapping[str, str]) -> list[str]:
    """A sentence for each setting with which acknowledged commits need not survive."""
    return [
        f"{name} is {facts[name]}, so a commit is acknowledged before the storage has it"
        for name, kept in _PROMISES.items()
        if facts.get(name, kept[0]) not in kept
    ]


def holder_of(address: Address, home: str, scale: float) -> Holder:
    """What holds the database of a private address whose files are in ``home``."""
    if address.engine == "duckdb":
        return ProcessHolder(lambda: database_of(address, home, Settings()), home, scale)
    return ServerHolder(database_of(address, home, Settings()), scale)


class ServerHolder:
    """`Holder` of a database whose server is a process of its own."""

    def __init__(self, database: Database, scale: float) -> None:
        self._database = database
        self._scale = scale
        self._session: Session | None = None

    def begin(self) -> Mapping[str, str]:
        self._database.open()
        facts = self._database.facts()
        self._session = self._database.session()
        return facts

    def carry_out(self, op: Op) -> int:
        if self._session is None:
            raise DatabaseError("the database is not held.", "lost")
        return (coming if op == "rf1" else going)(self._session, self._scale)()

    def kill(self) -> None:
        for process in self._database.processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    @contextmanager
    def reopened(self) -> Iterator[Session]:
        self.end()
        self._database.open()
        with self._database.session() as session:
            yield session

    def end(self) -> None:
        session, self._session = self._session, None
        with suppress(DatabaseError):
            if session is not None:
                session.close()
        self._database.close()


class ProcessHolder:
    """`Holder` of an embedded database: a child of ours has it open. ``keeper`` is the module that the child runs."""

    def __init__(self, database: Callable[[], Database], home: str, scale: float, keeper: str = "plimsoll.apps.durability.keeper") -> None:
        self._make = database
        self._command = [sys.executable, "-m", keeper, home, repr(scale)]
        self._home = home
        self._child: subprocess.Popen[str] | None = None

    def begin(self) -> Mapping[str, str]:
        database = self._make()
        database.open()
        facts = database.facts()
        database.close()
        self._child = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # A signal to the group of a terminal is for us.
            start_new_session=True,
        )
        self._answer("ready")
        return facts

    def carry_out(self, op: Op) -> int:
        try:
            print(op, file=self._pipe("stdin"), flush=True)
        except OSError:
            raise DatabaseError(f"{self._home}: the process that held the database is gone.", "lost") from None
        return int(self._answer("done"))

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()

    @contextmanager
    def reopened(self) -> Iterator[Session]:
        self.end()
        database = self._make()
        database.open()
        try:
            with database.session() as session:
                yield session
        finally:
            database.close()

    def end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in (child.stdin, child.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        child.wait()

    def _pipe(self, name: str) -> IO[str]:
        if self._child is None:
            raise DatabaseError(f"{self._home}: the database is not held.", "lost")
        found: IO[str] = getattr(self._child, name)
        return found

    def _answer(self, expected: str) -> str:
        word, _, rest = self._pipe("stdout").readline().strip().partition(" ")
        if word == expected:
            return rest
        if word == "failed":
            raise PlimsollError(rest)
        raise DatabaseError(f"{self._home}: the process that held the database is gone.", "lost")
