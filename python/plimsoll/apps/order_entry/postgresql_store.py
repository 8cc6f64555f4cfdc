"""The database of order entry in PostgreSQL: filled with COPY, opened for terminals, watched and checked.

Model: everything lies in one schema that carries Plimsoll's mark, and that is made anew with other data; a schema of the same name without
the mark is somebody's, and is refused. Several connections fill the tables at once; keys, indexes and functions follow, then VACUUM,
ANALYZE and a checkpoint, so that nothing of the filling is left to the measured time. While terminals work, a connection of its own reads
what the server counts and, four times a second, what their transactions wait for (pg_stat_activity). The server adds its flushes up; where
it runs on this host and the kernel lets us, the kernel tells of each.
Limits: a server of the user's tells what it lets the role see; what it does not tell is None.

    store = PostgresqlStore({"host": "/tmp/sockets", "user": "plimsoll", "dbname": "postgres"}, "postgresql:new:/mnt/array/pg")
    store.fill(scale, Filling(scale, on_progress, control))
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from queue import Empty, Queue
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from plimsoll.apps.databases import schema
from plimsoll.apps.databases.address import Address
from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.databases.postgresql_processes import first_process
from plimsoll.apps.databases.postgresql_waits import class_of
from plimsoll.apps.databases.server import url_of
from plimsoll.apps.order_entry.postgresql import PostgresqlConnections, PostgresqlSessions, told
from plimsoll.apps.order_entry.store import BATCH_ROWS, MADE, AtWork, Filling, Lot, Watched, Working, lots, made_row
from plimsoll.apps.order_entry.terminals import Plan, Terminals
from plimsoll.apps.order_entry.threads import TerminalThreads
from plimsoll.histogram import Histogram
from plimsoll.monitor.flush_times import FlushTimes
from plimsoll.monitor.processes import Family
from plimsoll.orders.consistency import CONDITIONS
from plimsoll.orders.functions import CALL_OF, CREATE
from plimsoll.orders.scale import Scale
from plimsoll.orders.schema import POSTGRESQL, created, indexed, keyed

SCHEMA = schema.ORDER_ENTRY
_APPLICATION, _WATCHING = "plimsoll terminal", "plimsoll"
#: Connections that fill the tables at once; rows are made by one processor, which feeds about so many.
_LOADERS = 4
_LOOK_S = 0.25
#: By how much of them the flushes that the kernel saw may differ in number from those that the server counted, and by those of how many
#: seconds: the server's sessions hand their counts in about once a second.
_FLUSHES_APART, _HANDED_IN_S = 0.1, 1.0
#: Settings that are recorded.
_SETTINGS = (
    *("server_version", "shared_buffers", "fsync", "synchronous_commit", "wal_level", "wal_sync_method", "full_page_writes"),
    *("wal_compression", "wal_buffers", "max_wal_size", "min_wal_size", "checkpoint_timeout", "checkpoint_completion_target"),
    *("autovacuum", "autovacuum_vacuum_scale_factor", "autovacuum_naptime", "track_io_timing", "track_wal_io_timing"),
    *("default_transaction_isolation", "data_checksums", "huge_pages", "effective_io_concurrency", "max_connections"),
)
#: Those of them that the connections of terminals have of their own.
_OF_TERMINALS = ("default_transaction_isolation", "synchronous_commit")


class PostgresqlStore:
    """`plimsoll.apps.order_entry.store.Store` on a server; ``connection`` is how to connect, ``shown`` the target in sentences."""

    engine = "postgresql"

    def __init__(self, connection: Mapping[str, Any], shown: str) -> None:
        self._connection = dict(connection)
        self._shown = shown

    @property
    def url(self) -> str:
        """Where clients on this machine reach a private server."""
        return url_of(self._connection)

    def holds(self, scale: Scale) -> bool:
        """Whether the schema is there, filled to the end for this scale."""
        with self._opened() as session:
            self._check_mark(session)
            if _one(session, f"SELECT to_regclass('{SCHEMA}.plimsoll_made') IS NULL"):
                return False
            return session.execute("SELECT * FROM plimsoll_made").fetchall() == [made_row(scale)]

    def fill(self, scale: Scale, filling: Filling) -> None:
        """A new schema in place of one that Plimsoll made."""
        with self._opened() as session:
            schema.drop(session, SCHEMA, self._shown)
            session.execute(f"CREATE SCHEMA {SCHEMA}")
            session.execute(f"COMMENT ON SCHEMA {SCHEMA} IS '{schema.MARKER}'")
            for statement in created(POSTGRESQL):
                session.execute(statement)
        self._together([partial(_copied, lot, filling) for lot in lots(scale)])
        self._together([partial(_executed, statement) for statement in (*keyed(), *indexed())])
        with self._opened() as session:
            for statement in (*CREATE, "VACUUM (ANALYZE)", MADE):
                session.execute(statement)
            session.execute("INSERT INTO plimsoll_made VALUES (%s, %s, %s, %s, %s)", made_row(scale))
            self._settle(session)

    def remove(self) -> bool:
        """Remove the schema, if it carries our mark; whether there was one."""
        with self._opened() as session:
            return schema.drop(session, SCHEMA, self._shown)

    def check_mark(self) -> None:
        """Raise `SafetyRefusal` for a schema that is somebody's."""
        with self._opened() as session:
            self._check_mark(session)

    @contextmanager
    def working(self, stream: Mapping[str, Any]) -> Iterator[Working]:
        """Terminals over connections of their own, and one that watches."""
        isolation = str(stream["isolation"]).replace(" ", r"\ ")
        options = f"-c search_path={SCHEMA} -c default_transaction_isolation={isolation}"
        conninfo = make_conninfo(**{**self._connection, "application_name": _APPLICATION, "options": options})
        terminals, calls = int(stream["terminals"]), str(stream["calls"])
        with self._opened() as session, _carried_out(conninfo, terminals, calls) as (made, retries, client), _watch(session) as watch:
            # Recorded as they are, not as they were asked for: a role or a database may have settings of its own.
            with psycopg.connect(conninfo, autocommit=True) as one:
                settings = {name: str(_one(one, f"SHOW {name}")) for name in _OF_TERMINALS}
            yield Working(made, watch, client, retries, settings)

    @contextmanager
    def watching(self) -> Iterator[PostgresqlWatch]:
        """What watches terminals that others serve."""
        with self._opened() as session, _watch(session) as watch:
            yield watch

    def broken(self) -> Sequence[str]:
        """The conditions that do not hold."""
        with self._opened() as session:
            found = (condition.broken(session.execute(condition.query).fetchall()) for condition in CONDITIONS)
            return [sentence for sentence in found if sentence is not None]

    def orders(self) -> int:
        """How many orders there are, by the numbers that districts have given."""
        with self._opened() as session:
            return int(_one(session, "SELECT coalesce(sum(d_next_o_id - 1), 0) FROM district"))

    def size_bytes(self) -> int | None:
        """Tables and indexes of the schema."""
        query = f"SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace AND relkind = 'r'"
        with self._opened() as session:
            return int(_one(session, query) or 0)

    def facts(self) -> Mapping[str, str]:
        """The server's version and settings."""
        with self._opened() as session:
            found = session.execute(
                "SELECT name, coalesce(current_setting(name, true), '') FROM pg_settings WHERE name = ANY (%s)", (list(_SETTINGS),)
            ).fetchall()
        values = dict(found)
        return {name: str(values[name]) for name in _SETTINGS if name in values}

    def processes(self) -> Sequence[int]:
        """The server's first process, where it is seen from here."""
        with self._opened() as session:
            first = first_process(session)
            return () if first is None else (first,)

    @contextmanager
    def _opened(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection in the schema, each of whose statements is a transaction; what fails in it is told in a sentence."""
        try:
            with psycopg.connect(
                **self._connection, autocommit=True, application_name=_WATCHING, options=f"-c search_path={SCHEMA}"
            ) as session:
                yield session
        except psycopg.Error as problem:
            alive = not isinstance(problem, psycopg.OperationalError)
            error = told(str(problem), problem.sqlstate or "", alive=alive)
            raise DatabaseError(f"{self._shown}: {error}", error.trouble) from None

    def _check_mark(self, session: psycopg.Connection[Any]) -> bool:
        """Whether our schema is there."""
        return schema.is_ours(session, SCHEMA, self._shown)

    def _settle(self, session: psycopg.Connection[Any]) -> None:
        """A checkpoint, where the role may ask for one."""
        try:
            session.execute("CHECKPOINT")
        except psycopg.errors.InsufficientPrivilege:
            return

    def _together(self, tasks: Sequence[Callable[[psycopg.Connection[Any]], object]]) -> None:
        """Every task over one of several connections; the first problem ends all."""
        waiting: Queue[Callable[[psycopg.Connection[Any]], object]] = Queue()
        for task in tasks:
            waiting.put(task)
        problems: list[BaseException] = []

        def serve() -> None:
            try:
                with self._opened() as session:
                    while not problems:
                        waiting.get_nowait()(session)
            except Empty:
                return
            except BaseException as problem:
                problems.append(problem)

        threads = [threading.Thread(target=serve, name="plimsoll-filling", daemon=True) for _ in range(min(_LOADERS, len(tasks)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]


@contextmanager
def _carried_out(conninfo: str, terminals: int, calls: str) -> Iterator[tuple[Callable[[Plan], AtWork], Counter[str], str]]:
    """What makes the terminals, counts what they tried again, and says who carries out."""
    if calls == "functions":
        with closing(PostgresqlConnections(conninfo, terminals)) as connections:
            if connections.plain:
                retries: Counter[str] = Counter()
                with ExitStack() as stack:
                    yield (lambda plan: _threads(stack, plan, connections, retries)), retries, "threads of the engine"
                return
    with closing(PostgresqlSessions(conninfo, terminals, calls=calls)) as sessions:
        yield partial(Terminals, sessions=sessions), sessions.retries, "one thread, libpq"


def _threads(stack: ExitStack, plan: Plan, connections: PostgresqlConnections, retries: Counter[str]) -> TerminalThreads:
    """Their connections are used until the stack is left."""
    return stack.enter_context(closing(TerminalThreads(plan, connections, CALL_OF, retries)))


def _watch(session: psycopg.Connection[Any]) -> closing[PostgresqlWatch]:
    return closing(PostgresqlWatch(session))


class PostgresqlWatch:
    """`plimsoll.apps.order_entry.store.Watch` over a connection of its own."""

    def __init__(self, session: psycopg.Connection[Any]) -> None:
        self._session = session
        self._began: tuple[float, dict[str, float]] | None = None
        self._ended: tuple[float, dict[str, float]] | None = None
        self._looked = 0.0
        self._waits: Counter[str] = Counter()
        self._flushes: FlushTimes | None = None

    def begin(self) -> None:
        """Count from now on."""
        first = first_process(self._session)
        if first is not None:
            # What the kernel does not let us see is not told; see `_flush_of`.
            with suppress(OSError):
                self._flushes = FlushTimes([process.pid for process in Family([first]).look()])
        self._began = self._now()

    def look(self) -> None:
        """What the transactions of the terminals wait for at this moment."""
        if time.monotonic() < self._looked + _LOOK_S:
            return
        self._looked = time.monotonic()
        if self._flushes is not None:
            self._flushes.read()
        found = self._session.execute(
            "SELECT wait_event_type, wait_event, count(*) FROM pg_stat_activity "
            "WHERE application_name = %s AND state = 'active' GROUP BY 1, 2",
            (_APPLICATION,),
        ).fetchall()
        for kind, event, count in found:
            self._waits[f"{kind} {event}" if kind else ""] += count

    def end(self) -> None:
        """Count no more."""
        if self._flushes is not None:
            self._flushes.stop()
        self._ended = self._now()

    def close(self) -> None:
        """Whatever the watch came to, the kernel records nothing more for it."""
        if self._flushes is not None:
            self._flushes.close()

    def watched(self) -> Watched:
        """What happened between."""
        if self._began is None or self._ended is None:
            return Watched()
        counted = {name: value - self._began[1].get(name, 0.0) for name, value in self._ended[1].items() if name in self._began[1]}
        found = Watched(seconds=self._ended[0] - self._began[0])
        if "wal_bytes" in counted:
            found.wal_bytes = int(counted.pop("wal_bytes"))
        found.flush = self._flush_of(counted, found.seconds)
        found.counters = counted
        total = self._waits.total()
        for event, count in self._waits.items():
            name = class_of(event)
            found.waits[name] = found.waits.get(name, 0.0) + count / total
        found.events = {event or "processor": count / total for event, count in self._waits.most_common(8)}
        return found

    def _flush_of(self, counted: Mapping[str, float], seconds: float) -> dict[str, float]:
        """How long flushes of the log took: each of them, if the kernel saw as many as the server counted; else their sum."""
        flushes = counted.get("wal_sync")
        if not flushes:
            return {}
        seen = self._flushes
        apart = _FLUSHES_APART + _HANDED_IN_S / seconds
        if seen is not None and seen.is_whole and seen.took_ns and abs(len(seen.took_ns) / flushes - 1) <= apart:
            times = Histogram()
            for took_ns in seen.took_ns:
                times.record(took_ns)
            percentiles = {f"p{percent}": float(times.percentile(percent)) for percent in (50, 90, 99)}
            return {"count": float(times.count), "mean": times.mean, **percentiles, "max": float(times.max)}
        waited_ms = counted.get("wal_sync_time_ms")
        return {"count": flushes, "mean": 1e6 * waited_ms / flushes} if waited_ms else {}

    def _now(self) -> tuple[float, dict[str, float]]:
        counters: dict[str, float] = {}
        for query in _COUNTERS:
            try:
                cursor = self._session.execute(query)
            except psycopg.Error:
                if self._session.broken:
                    raise DatabaseError("the server is gone while its counters were read.", "lost") from None
                continue
            row = cursor.fetchone()
            names = [column.name for column in cursor.description or ()]
            counters |= {name: float(value) for name, value in zip(names, row or (), strict=False) if value is not None}
        return time.monotonic(), counters


#: What the server counts; a query that a version or a role does not know is left out.
_COUNTERS = (
    "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS wal_bytes",
    "SELECT xact_commit AS commits, xact_rollback AS rollbacks, deadlocks, blks_read AS blocks_read, blks_hit AS blocks_hit, "
    "temp_bytes FROM pg_stat_database WHERE datname = current_database()",
    "SELECT wal_records, wal_fpi AS full_page_images, wal_buffers_full FROM pg_stat_wal",
    "SELECT wal_write, wal_sync, wal_write_time AS wal_write_time_ms, wal_sync_time AS wal_sync_time_ms FROM pg_stat_wal",
    # From version 18 on writes and flushes of the log are among the other I/O.
    "SELECT sum(writes) AS wal_write, sum(fsyncs) AS wal_sync, sum(write_time) AS wal_write_time_ms, sum(fsync_time) AS wal_sync_time_ms "
    "FROM pg_stat_io WHERE object = 'wal'",
    "SELECT checkpoints_timed, checkpoints_req AS checkpoints_requested, checkpoint_write_time AS checkpoint_write_time_ms, "
    "checkpoint_sync_time AS checkpoint_sync_time_ms, buffers_checkpoint, buffers_backend FROM pg_stat_bgwriter",
    "SELECT num_timed AS checkpoints_timed, num_requested AS checkpoints_requested, write_time AS checkpoint_write_time_ms, "
    "sync_time AS checkpoint_sync_time_ms, buffers_written AS buffers_checkpoint FROM pg_stat_checkpointer",
    f"SELECT sum(autovacuum_count) AS autovacuums, sum(autoanalyze_count) AS autoanalyzes, sum(n_tup_hot_upd) AS hot_updates, "
    f"sum(n_tup_upd) AS updates FROM pg_stat_all_tables WHERE schemaname = '{SCHEMA}'",
)


def connection_of(address: Address) -> dict[str, Any]:
    """How to connect to a server of the user's; what the URL leaves out comes from the environment and PGPASSFILE."""
    return {**conninfo_to_dict(str(address.url)), **address.secrets}


def _executed(statement: str, session: psycopg.Connection[Any]) -> None:
    session.execute(statement)


def _copied(lot: Lot, filling: Filling, session: psycopg.Connection[Any]) -> None:
    """The rows as COPY text; they hold nothing that would have to be escaped."""
    filling.check()
    with session.cursor() as cursor, cursor.copy(f"COPY {lot.table} FROM STDIN") as copy:
        lines: list[str] = []
        for row in lot.rows:
            lines.append("\t".join(["\\N" if value is None else str(value) for value in row]))
            if len(lines) == BATCH_ROWS:
                copy.write("\n".join(lines) + "\n")
                lines.clear()
        if lines:
            copy.write("\n".join(lines) + "\n")
    filling.loaded(lot)


def _one(session: psycopg.Connection[Any], query: str) -> Any:
    row = session.execute(query).fetchone()
    return None if row is None else row[0]
