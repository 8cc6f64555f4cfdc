"""Order entry on PostgreSQL: every terminal has a connection.

Model: where each transaction is one call of a function (`plimsoll.orders.functions`), connections are opened here and used by threads of
the engine (`plimsoll.apps.order_entry.threads`). Where each of its statements is a call of its own, between BEGIN and COMMIT, or the
connection is encrypted, one thread of the interpreter serves all: requests are sent and answers taken without waiting for either, through
libpq's own calls (`psycopg.pq`). What ends in a conflict (a deadlock, a serialization failure) is tried again, up to `TRIES_MAX` times;
its latency counts from the first try.
Limits: the one thread takes answers when it comes to them, so that at more than a thousand transactions a second latencies include its
turn.

    with closing(PostgresqlSessions(conninfo, terminals=8, calls="functions")) as sessions:
        sessions.submit(0, request)
        sessions.wait(1.0)                  # [Ending(0, "committed")]
"""

from __future__ import annotations

import select
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import psycopg
from psycopg import pq

from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.databases.postgresql_troubles import told_of
from plimsoll.apps.order_entry.terminals import Ending, Verdict
from plimsoll.orders.functions import CALLS, call
from plimsoll.orders.requests import NewOrder, Request
from plimsoll.orders.statements import STATEMENTS, Missing, Rows, Statement, Unused, of_dialect, transaction

#: How often a transaction is tried before it counts as failed.
TRIES_MAX = 10
_BEGIN, _COMMIT, _ROLLBACK = (Statement("", word) for word in ("BEGIN", "COMMIT", "ROLLBACK"))
#: Types of columns that are whole numbers: int8, int2, int4.
_WHOLE = frozenset((20, 21, 23))
_OK = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)
_CONFLICTS = {"40001": "serialization", "40P01": "deadlock"}

Script = Generator[tuple[Statement, Sequence[Any]], Rows, Verdict]


class PostgresqlSessions:
    """`plimsoll.apps.order_entry.terminals.Sessions` on a server. ``retries`` counts what was tried again, by why."""

    def __init__(self, conninfo: str, terminals: int, *, calls: str) -> None:
        self.retries: Counter[str] = Counter()
        # First, so that its number is one that select(2) takes.
        self._ready = select.epoll()
        self._terminals: list[_Terminal] = []
        self._by_file: dict[int, _Terminal] = {}
        self._ended: list[Ending] = []
        try:
            for number in range(terminals):
                terminal = _Terminal(number, conninfo, calls)
                self._terminals.append(terminal)
                self._by_file[terminal.connection.socket] = terminal
                self._ready.register(terminal.connection.socket, select.EPOLLIN)
        except BaseException:
            self.close()
            raise

    def submit(self, terminal: int, request: Request) -> None:
        """Send the first statement."""
        self._follow(self._terminals[terminal].begun(request))

    def wait(self, seconds: float) -> Sequence[Ending]:
        """Take answers and send what follows, until a transaction has ended or the time is over."""
        if not self._ended and seconds > 0:
            # select(2) knows microseconds, epoll_wait(2) no more than milliseconds.
            select.select([self._ready], [], [], seconds)
        for file, _ in self._ready.poll(0):
            terminal = self._by_file[file]
            self._follow(terminal.heard())
            if terminal.connection.status != pq.ConnStatus.OK:
                # Nothing comes over it any more; what is asked next fails.
                with suppress(OSError, ValueError):
                    self._ready.unregister(file)
        ended, self._ended = self._ended, []
        return ended

    def abandon(self) -> None:
        """Ask the server to cancel what is under way."""
        for terminal in self._terminals:
            if terminal.request is not None:
                _cancelled(terminal.connection)

    def close(self) -> None:
        """End every connection."""
        for terminal in self._terminals:
            terminal.connection.finish()
        self._ready.close()

    def _follow(self, ending: Ending | str | None) -> None:
        """Keep an ending; what ended in a conflict is begun again."""
        while isinstance(ending, str):
            number, _, why = ending.partition(" ")
            self.retries[why] += 1
            ending = self._terminals[int(number)].again()
        if ending is not None:
            self._ended.append(ending)


class _Terminal:
    """One connection, and the transaction that is under way over it."""

    def __init__(self, number: int, conninfo: str, calls: str) -> None:
        self._number = number
        self._scripted = _by_functions if calls == "functions" else _by_statements
        self.connection = connected(conninfo, CALLS if calls == "functions" else STATEMENTS)
        self.connection.nonblocking = 1
        self.request: Request | None = None
        self._script: Script | None = None
        self._rows: Rows = ()
        self._error: pq.abc.PGresult | None = None
        self._undoing: Ending | str | None = None
        self._tries = 0
        self._lost: DatabaseError | None = None

    def begun(self, request: Request) -> Ending | str | None:
        """Begin a transaction; what it ended with, if it did, or its terminal and why it is to be tried again."""
        if self._lost is not None:
            return Ending(self._number, "failed", self._lost)
        self.request, self._tries = request, 0
        return self.again()

    def again(self) -> Ending | str | None:
        """Begin it once more."""
        assert self.request is not None, "a transaction is begun again that has ended"
        self._tries += 1
        self._script, self._undoing = self._scripted(self.request), None
        return self._step(None)

    def heard(self) -> Ending | str | None:
        """The server has sent something, or has gone."""
        connection = self.connection
        try:
            connection.consume_input()
            while not connection.is_busy():
                result = connection.get_result()
                if result is None:
                    return self._answered()
                if result.status in _OK:
                    self._rows = _decoded(result)
                else:
                    self._error = result
        except psycopg.Error as problem:
            return self._gone(str(problem))
        return None

    def _gone(self, message: str) -> Ending | None:
        """The connection is lost, and with it what was under way."""
        said = _message(self._error) if self._error is not None else message
        problem = self._problem(said.encode(), self._error)
        self._lost, self._error = problem, None
        return None if self.request is None else self._ended("failed", problem)

    def _answered(self) -> Ending | str | None:
        """A statement is over: send the next, or end."""
        if self.request is None:
            return None
        error, self._error = self._error, None
        if self._undoing is not None:
            undone, self._undoing = self._undoing, None
            if isinstance(undone, Ending):
                self.request = None
            return undone
        if error is not None:
            return self._failed(error)
        return self._step(self._rows)

    def _step(self, rows: Rows | None) -> Ending | str | None:
        assert self._script is not None, "an answer came to a terminal that had asked nothing"
        try:
            statement, values = self._script.send(rows)  # type: ignore[arg-type]
        except StopIteration as end:
            return self._ended(end.value, None)
        except Missing as damage:
            return self._undo(self._ended("failed", DatabaseError(f"{damage}; the data are damaged."), keep=True))
        return self._send(statement, values)

    def _send(self, statement: Statement, values: Sequence[Any]) -> Ending | str | None:
        try:
            if statement.name:
                encoded = [None if value is None else str(value).encode() for value in values]
                self.connection.send_query_prepared(statement.name.encode(), encoded)
            else:
                self.connection.send_query(statement.text.encode())
            self.connection.flush()
        except psycopg.Error as problem:
            return self._gone(str(problem))
        return None

    def _failed(self, error: pq.abc.PGresult) -> Ending | str | None:
        """A statement failed: try the transaction again where that may help."""
        problem = self._problem(error.error_message, error)
        if problem.trouble == "conflict" and self._tries < TRIES_MAX:
            return self._undo(f"{self._number} {_CONFLICTS.get(_state(error), 'conflict')}")
        return self._undo(self._ended("failed", problem, keep=True))

    def _undo(self, then: Ending | str) -> Ending | str | None:
        """Roll back what is left of the transaction, and only then say what became of it."""
        if self.connection.transaction_status in (pq.TransactionStatus.INERROR, pq.TransactionStatus.INTRANS):
            self._undoing = then
            return self._send(_ROLLBACK, ())
        if isinstance(then, Ending):
            self.request = None
        return then

    def _ended(self, verdict: Verdict, problem: DatabaseError | None, *, keep: bool = False) -> Ending:
        if not keep:
            self.request = None
        return Ending(self._number, verdict, problem)

    def _problem(self, message: bytes, error: pq.abc.PGresult | None) -> DatabaseError:
        """What the server says, as a sentence."""
        return _problem_of(self.connection, message, error)


class PostgresqlConnections:
    """`plimsoll.apps.order_entry.threads.Connections`: a connection for each terminal, whose calls are prepared and whose socket the engine
    may use, since nothing on it is encrypted. Raises `DatabaseError` where one cannot be opened."""

    def __init__(self, conninfo: str, terminals: int) -> None:
        self._connections: list[pq.abc.PGconn] = []
        try:
            for _ in range(terminals):
                self._connections.append(connected(conninfo, CALLS))
        except BaseException:
            self.close()
            raise

    @property
    def files(self) -> list[int]:
        """Their sockets."""
        return [connection.socket for connection in self._connections]

    @property
    def plain(self) -> bool:
        """Whether what goes over them can be read and written by others."""
        return not any(connection.ssl_in_use or connection.used_gssapi for connection in self._connections)

    def problem(self, state: str, message: str, *, alive: bool) -> DatabaseError:
        """What a server said, as a sentence."""
        return told(f"ERROR: {message}", state, alive=alive)

    def cancel(self) -> None:
        """Ask the server to cancel what is under way."""
        for connection in self._connections:
            _cancelled(connection)

    def close(self) -> None:
        """End every connection."""
        for connection in self._connections:
            connection.finish()


def connected(conninfo: str, statements: Sequence[Statement]) -> pq.abc.PGconn:
    """A connection on which the statements are prepared. Raises `DatabaseError`."""
    connection = pq.PGconn.connect(conninfo.encode())
    if connection.status != pq.ConnStatus.OK:
        raise _problem_of(connection, connection.error_message, None)
    for statement in statements:
        prepared = connection.prepare(statement.name.encode(), of_dialect(statement.text, "postgresql").encode())
        if prepared.status not in _OK:
            raise _problem_of(connection, prepared.error_message, prepared)
    return connection


def _cancelled(connection: pq.abc.PGconn) -> None:
    with suppress(psycopg.Error):
        connection.get_cancel().cancel()


def _problem_of(connection: pq.abc.PGconn, message: bytes, error: pq.abc.PGresult | None) -> DatabaseError:
    alive = connection.status == pq.ConnStatus.OK
    return told(message.decode(errors="replace"), _state(error) if error is not None else "", alive=alive)


def _by_functions(request: Request) -> Script:
    """A call that commits by itself; one that has to be rolled back says so before."""
    statement, values = call(request)
    if isinstance(request, NewOrder) and request.unused:
        yield _BEGIN, ()
        ((total,),) = yield statement, values
        yield _ROLLBACK, ()
        if total is not None:
            raise Missing("an item was found that does not exist")
        return "rolled back"
    ((answer,),) = yield statement, values
    if answer is None:
        raise Missing("an item was not found that has to exist")
    return "committed"


def _by_statements(request: Request) -> Script:
    """A call for each statement."""
    yield _BEGIN, ()
    try:
        yield from transaction(request, f"{datetime.now():%Y-%m-%d %H:%M:%S}")
    except Unused:
        yield _ROLLBACK, ()
        return "rolled back"
    yield _COMMIT, ()
    return "committed"


def _decoded(result: pq.abc.PGresult) -> list[list[Any]]:
    """The rows: whole numbers as such, everything else as text."""
    columns = range(result.nfields)
    whole = [result.ftype(column) in _WHOLE for column in columns]
    rows = []
    for row in range(result.ntuples):
        values = [result.get_value(row, column) for column in columns]
        rows.append([None if value is None else int(value) if whole[column] else value.decode() for column, value in enumerate(values)])
    return rows


def _message(error: pq.abc.PGresult) -> str:
    return error.error_message.decode(errors="replace")


def _state(error: pq.abc.PGresult) -> str:
    """The SQLSTATE."""
    found = error.error_field(pq.DiagnosticField.SQLSTATE)
    return found.decode() if found else ""


def told(message: str, state: str, *, alive: bool) -> DatabaseError:
    """What a server says, as a sentence; ``state`` is its SQLSTATE, ``alive`` whether the connection lives."""
    return told_of(next((line for line in message.splitlines() if line.strip()), "it says nothing of why"), state, alive=alive)
