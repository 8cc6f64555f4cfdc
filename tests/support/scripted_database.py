"""A database that says what it is told to say: the seam below decision support and order entry.

database = ScriptedDatabase(answers={"q": [(1,)]})
with database.session() as session:
    session.run(["SELECT 1"])
database.said        # ["SELECT 1"]
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self

from plimsoll.apps.databases.database import Counters, DatabaseError, Moved, Row

#: What happens when a statement is carried out: rows, or an error that is raised.
Reaction = Callable[[str], list[Row]]


class ScriptedSession:
    """`plimsoll.apps.databases.database.Session`."""

    def __init__(self, database: ScriptedDatabase) -> None:
        self._database = database
        self.cancelled = threading.Event()

    def run(self, statements: Sequence[str], parameters: Sequence[object] = ()) -> list[Row]:
        rows: list[Row] = []
        for statement in statements:
            self._database.said.append(statement)
            rows = self._database.react(statement, self)
        return rows

    def begin(self) -> None:
        self._database.said.append("begin")

    def commit(self) -> None:
        self._database.said.append("commit")

    def rollback(self) -> None:
        self._database.said.append("rollback")

    def copy(self, table: str, text: Iterable[bytes], columns: Sequence[str] = ()) -> int:
        rows = b"".join(text).count(b"\n")
        self._database.copied[table] = self._database.copied.get(table, 0) + rows
        return rows

    def moved(self) -> Moved:
        return Moved()

    def cancel(self) -> None:
        self.cancelled.set()

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ScriptedDatabase:
    """`plimsoll.apps.databases.database.Database`; ``reaction`` says what becomes of a statement."""

    engine = "scripted"
    dialect = "duckdb"
    concurrent_writers = True
    runs_here = False
    builds_keys = False
    takes_parquet = False
    text_suffix = ""

    def __init__(self, reaction: Callable[[str, ScriptedSession], list[Row]] = lambda _statement, _session: []) -> None:
        self.react = reaction
        self.said: list[str] = []
        self.copied: dict[str, int] = {}
        self.restarts = 0
        #: How many sessions are at what whenever that is asked.
        self.waiting: Mapping[str, int] | None = None

    def open(self) -> None:
        """It always is."""

    def close(self) -> None:
        """It never is."""

    def session(self) -> ScriptedSession:
        return ScriptedSession(self)

    def restart(self) -> None:
        self.restarts += 1

    def cold_how(self) -> str:
        return "nothing was warm"

    def tables(self) -> frozenset[str]:
        return frozenset()

    def settle(self) -> None:
        """There is nothing to settle."""

    def size_bytes(self) -> int | None:
        return 1000

    def counters(self) -> Counters:
        return Counters(spill_bytes=0)

    def waits(self) -> Mapping[str, int] | None:
        """What the test says that sessions wait for."""
        return self.waiting

    def processes(self) -> Sequence[int]:
        return ()

    def facts(self) -> Mapping[str, str]:
        return {"version": "scripted"}


def lost(_statement: str, _session: ScriptedSession) -> list[Row]:
    """The server is gone."""
    raise DatabaseError("the server closed the connection.", "lost")
