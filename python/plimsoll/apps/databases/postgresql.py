"""PostgreSQL as a load: a private server on the target, or a server of the user's, behind the verbs of a database.

Model: a session is a connection whose statements are transactions of their own. Rows are loaded with COPY, from memory
(`plimsoll.apps.databases.postgresql_rows`). Sessions that do nothing have their figures written before the server's counters are read
(`plimsoll.apps.databases.postgresql_counters`); what single statements move, a private server tells
(`plimsoll.apps.databases.postgresql_tally`). Everything lies in one schema (`plimsoll.apps.databases.schema`). Of a private server, the
memory that it may use goes to shared buffers and sorts; to start cold it is stopped, its files are dropped from the page cache, and it is
started again.
Limits: PostgreSQL reads through the page cache, which no setting of its own bounds. A server of the user's is taken as it is: neither its
settings nor its caches are changed.

    database = private(home, "/mnt/array/pg", Settings(memory_bytes=1 << 30))
    database = own_server(parse("postgresql://me@db1/test"), Settings())
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

from plimsoll.apps.databases.address import Address
from plimsoll.apps.databases.database import Counters, DatabaseError, Moved, Row, Settings
from plimsoll.apps.databases.postgresql_counters import FLUSHES_SINCE, counted, read_bytes
from plimsoll.apps.databases.postgresql_processes import first_process
from plimsoll.apps.databases.postgresql_rows import copy
from plimsoll.apps.databases.postgresql_tally import SETTINGS, Tally, Turn, spilled_bytes
from plimsoll.apps.databases.postgresql_troubles import told
from plimsoll.apps.databases.postgresql_waits import ASKED, class_of
from plimsoll.apps.databases.schema import DECISION_SUPPORT, drop, hold, is_ours, lock, made
from plimsoll.apps.databases.server import PrivateServer, url_of
from plimsoll.errors import InputError
from plimsoll.host.page_cache import drop_pages
from plimsoll.monitor.processes import Family

if TYPE_CHECKING:
    import psycopg

SCHEMA = DECISION_SUPPORT
_MISSING = "PostgreSQL's client is not installed here; install it with: pip install 'plimsoll[postgresql]'."
_CONNECT_S = 15
#: A private server that recovers from a crash takes nobody for so long at most.
_RECOVERY_S = 600.0
_WAIT_S = 0.05
#: How long after the end of a connection a server that still runs may take to say in its log why.
_WORDS_S = 5.0
#: Settings that decide on what is measured.
RECORDED = (
    *("shared_buffers", "work_mem", "maintenance_work_mem", "effective_cache_size", "temp_buffers", "huge_pages", "data_checksums"),
    *("max_parallel_workers_per_gather", "max_parallel_workers", "jit", "effective_io_concurrency", "random_page_cost"),
    *("io_method", "io_workers"),
    *("wal_level", "fsync", "synchronous_commit", "full_page_writes", "wal_compression", "wal_buffers", "wal_sync_method"),
    *("max_wal_size", "min_wal_size", "checkpoint_timeout", "checkpoint_completion_target", "bgwriter_delay"),
    *("autovacuum", "autovacuum_naptime", "autovacuum_vacuum_scale_factor", "max_connections", "track_io_timing", "track_wal_io_timing"),
)


def client() -> Any:
    """The package ``psycopg``, imported where a run needs it. Raises `InputError` with what to install."""
    try:
        import psycopg
    except ImportError:
        raise InputError(_MISSING) from None
    # What it has to say of connections that are gone is said by us, and once.
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)
    return psycopg


def private(home: str, directory: str, settings: Settings) -> PostgreSql:
    """The database of a private server whose files are in ``home``, a directory of ours below the target ``directory``."""
    server = PrivateServer(home, directory, _configuration(settings))
    return PostgreSql(f"postgresql:new:{directory}", lambda: server.connection, server)


def own_server(address: Address, settings: Settings, *, claims: bool = True) -> PostgreSql:
    """The database at a URL; of the settings only what a session may choose for itself is used. ``claims`` keeps other runs away; clients
    of a run on several hosts leave that to who commands them."""
    asked = {"dbname": str(address.url), **address.secrets}
    return PostgreSql(address.text, lambda: asked, None, settings.options, claims=claims)


class PostgreSql:
    """`plimsoll.apps.databases.database.Database`; ``connection`` says how to connect, ``shown`` is the target in sentences."""

    engine = "postgresql"
    dialect = "postgres"
    concurrent_writers = True
    #: Statements are carried out in processes of the server's.
    runs_here = False
    builds_keys = True
    takes_parquet = False
    text_suffix = ' COLLATE "C"'

    def __init__(
        self,
        shown: str,
        connection: Callable[[], Mapping[str, Any]],
        server: PrivateServer | None,
        options: Mapping[str, str] | None = None,
        *,
        claims: bool = True,
    ) -> None:
        self._shown = shown
        self._claims = claims
        self._how = connection
        self._server = server
        self._options = dict(options or {})
        #: None where others than we may use the database.
        self.tally = None if server is None else Tally()
        self._claim: psycopg.Connection[Any] | None = None
        #: A session was lost: the private server has died, or recovers from the end of a process of its own.
        self._is_lost = False
        #: The first process of the server on this host, and all that it started.
        self._family: tuple[int, Family] | None = None
        self._sessions: set[PostgreSqlSession] = set()
        self._cold = ""

    @property
    def url(self) -> str:
        """Where clients on this machine reach it."""
        return url_of(self._how())

    def open(self) -> None:
        client()
        if self._claim is not None and not self._claim.closed:
            return
        if self._server is not None:
            self._server.start()
        connection = self.connect()
        try:
            with self.telling(connection):
                if self._server is not None:
                    lock(connection, self._shown)
                elif self._claims:
                    hold(self._shown, self.connect)
                if self._claims:
                    made(connection, SCHEMA, self._shown)
        except BaseException:
            connection.close()
            raise
        self._claim = connection

    def close(self) -> None:
        for session in list(self._sessions):
            session.close()
        claim, self._claim = self._claim, None
        # While the first processes end, the connection of the claim can still answer: what a session has met counts.
        is_well = not self._is_lost and (claim is None or _answers(claim))
        self._is_lost = False
        if claim is not None:
            with suppress(client().Error):
                claim.close()
        if self._server is not None:
            # One that recovers from a crash may not hear that it is to stop (PostgreSQL 15); its next start recovers as well.
            self._server.stop(discarding=not is_well)

    def session(self) -> PostgreSqlSession:
        connection = self.connect()
        session = PostgreSqlSession(self, connection)
        if self.tally is not None:
            with self.telling(connection):
                for name, value in SETTINGS.items():
                    connection.execute(f"SET {name} = {value}")
        self._sessions.add(session)
        return session

    def restart(self) -> None:
        if self._server is None:
            raise DatabaseError(
                f"{self._shown}: a server of yours is not restarted, so its caches stay as they are; measure with --cache warm, or on"
                " postgresql:new:DIR."
            )
        self.close()
        self._cold = drop_pages(_files(self._server.data)).how
        self.open()

    def cold_how(self) -> str:
        if self._server is None:
            return "nothing: a server of yours is neither restarted nor are its caches emptied"
        dropped = f" ({self._cold.rstrip('.')})" if self._cold else ""
        return f"the server was stopped, its files dropped from the page cache{dropped}, and started again; caches of the storage stay warm"

    def tables(self) -> frozenset[str]:
        return frozenset(str(name) for (name,) in self._rows("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"))

    def settle(self) -> None:
        names = ", ".join(f'"{name}"' for name in sorted(self.tables()))
        with self.session() as session:
            if names:
                session.run([f"VACUUM (ANALYZE) {names}"])
            if self._rows("SELECT pg_has_role(current_user, 'pg_checkpoint', 'member')" if self._version() >= 150000 else _SUPERUSER) == [
                (True,)
            ]:
                session.run(["CHECKPOINT"])

    def size_bytes(self) -> int | None:
        query = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind IN ('r', 'm') AND relnamespace = '{}'::regnamespace"
        ((found,),) = self._rows(query.format(SCHEMA))
        return int(found or 0)

    def counters(self) -> Counters:
        if self.tally is not None and self.tally.is_idle:
            for session in list(self._sessions):
                session.flush()
        claim = self._claimed()
        with self.telling(claim):
            found = counted(claim)
        if self.tally is not None:
            self.tally.read(self.read_bytes())
        return found

    def read_bytes(self) -> int:
        """What was read of tables and indexes so far, by all sessions."""
        claim = self._claimed()
        with self.telling(claim):
            return read_bytes(claim)

    def waits(self) -> Mapping[str, int] | None:
        found: Counter[str] = Counter()
        for event, count in self._rows(ASKED):
            found[class_of(str(event))] += int(count)
        return found

    def processes(self) -> Sequence[int]:
        first = self._first_process()
        if first is None:
            return ()
        if self._family is None or self._family[0] != first:
            self._family = (first, Family([first]))
        return [process.pid for process in self._family[1].look()]

    def _first_process(self) -> int | None:
        """The server's first process; None where it is gone, or not on this host."""
        if self._server is not None:
            return self._server.pid
        if self._family is None and self._claim is not None:
            with self.telling(self._claim):
                return first_process(self._claim)
        return None if self._family is None else self._family[0]

    def facts(self) -> Mapping[str, str]:
        with self.session() as session:
            found: dict[Any, Any] = dict(
                session.run(
                    ["SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY (%s)"],
                    (list(RECORDED),),
                )
            )
            ((version,),) = session.run(["SHOW server_version"])
        return {"version": str(version), **{name: str(found[name]) for name in RECORDED if name in found}}

    def remove(self) -> bool:
        """Drop our schema, and nothing else; whether there was one. A private server's goes with its directory instead."""
        connection = self.connect()
        with self.telling(connection), connection:
            return drop(connection, SCHEMA, self._shown)

    def holds_ours(self) -> bool:
        """Whether our schema is there. Raises `SafetyRefusal` for one of its name that is somebody's."""
        connection = self.connect()
        with self.telling(connection), connection:
            return is_ours(connection, SCHEMA, self._shown)

    def connect(self) -> psycopg.Connection[Any]:
        """A connection in our schema; each of its statements is a transaction of its own."""
        module = client()
        how = dict(self._how())
        from psycopg.conninfo import conninfo_to_dict

        until = time.monotonic() + _RECOVERY_S
        while True:
            try:
                asked = conninfo_to_dict(str(how["dbname"])) if "://" in str(how["dbname"]) else {"dbname": how["dbname"]}
                whole = {"connect_timeout": _CONNECT_S, **asked, **{key: value for key, value in how.items() if key != "dbname"}}
                options = f"{whole.get('options') or ''} -c search_path={SCHEMA}".strip()
                whole |= {"options": options, "application_name": "plimsoll", "client_encoding": "UTF8"}
                connection: psycopg.Connection[Any] = module.connect(**whole, autocommit=True, prepare_threshold=None)
                for name, value in self._options.items():
                    connection.execute("SELECT set_config(%s, %s, false)", (name, value))
                return connection
            except module.Error as problem:
                if self._server is not None and _is_recovering(str(problem)) and time.monotonic() < until:
                    time.sleep(_WAIT_S)
                    continue
                raise self._told(problem, None) from None

    @contextmanager
    def telling(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """What the server says, in one sentence with the kind of trouble."""
        try:
            yield
        except client().Error as problem:
            raise self._told(problem, connection) from None

    def forget(self, session: PostgreSqlSession) -> None:
        """A session has been closed."""
        self._sessions.discard(session)

    def _told(self, problem: psycopg.Error, connection: psycopg.Connection[Any] | None) -> DatabaseError:
        is_alive = connection is not None and not connection.broken
        self._is_lost = self._is_lost or (connection is not None and not is_alive)
        return told(problem, self._shown, alive=is_alive, ended="" if is_alive or connection is None else self._why_it_ended())

    def _why_it_ended(self) -> str:
        """What a private server writes in its log of an end, as soon as it does; empty where it says nothing."""
        until = time.monotonic() + _WORDS_S
        while self._server is not None:
            runs = self._server.pid is not None and time.monotonic() < until
            # One that has ended has written all that it had to say.
            if (said := self._server.why_it_ended()) or not runs:
                return said
            time.sleep(_WAIT_S)
        return ""

    def _claimed(self) -> psycopg.Connection[Any]:
        """The connection that holds the claim, which does nothing else."""
        if self._claim is None:
            raise DatabaseError(f"{self._shown}: the database is not open.", "lost")
        return self._claim

    def _rows(self, statement: str) -> list[Row]:
        claim = self._claimed()
        with self.telling(claim):
            return claim.execute(statement).fetchall()

    def _version(self) -> int:
        return self._claimed().info.server_version


_SUPERUSER = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"


class PostgreSqlSession:
    """`plimsoll.apps.databases.database.Session`: a connection."""

    def __init__(self, database: PostgreSql, connection: psycopg.Connection[Any]) -> None:
        self._database = database
        self._connection = connection
        self._closing = threading.Lock()
        self._is_flushed = connection.info.server_version < FLUSHES_SINCE
        self._turn: Turn | None = None
        self._spilled_bytes = 0
        connection.add_notice_handler(self._heard)

    @property
    def process(self) -> int:
        """The server's process that serves this session."""
        return self._connection.info.backend_pid

    def run(self, statements: Sequence[str], parameters: Sequence[object] = ()) -> list[Row]:
        rows: list[Row] = []
        with self._under_way():
            for statement in statements:
                cursor = self._connection.execute(statement, parameters or None)
                if cursor.description is not None:
                    rows = cursor.fetchall()
        return rows

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        """What is done inside is counted as one statement."""
        tally = self._database.tally
        self._turn, self._spilled_bytes = None if tally is None else tally.begin(), 0
        self._is_flushed = self._connection.info.server_version < FLUSHES_SINCE
        try:
            with self._database.telling(self._connection):
                yield
        finally:
            if tally is not None:
                tally.end()

    def _heard(self, notice: psycopg.errors.Diagnostic) -> None:
        self._spilled_bytes += spilled_bytes(notice.message_primary or "")

    def flush(self) -> None:
        """Have this session's figures written now: of its own accord the server lets a second pass, or ten."""
        from psycopg.pq import TransactionStatus

        if not self._is_flushed and self._connection.info.transaction_status == TransactionStatus.IDLE:
            with suppress(client().Error):
                self._connection.execute("SELECT pg_stat_force_next_flush()")
                self._is_flushed = True

    def moved(self) -> Moved:
        turn, tally = self._turn, self._database.tally
        if turn is None or tally is None:
            return Moved()
        spilled = self._spilled_bytes
        if turn.bytes_before is None or self._connection.info.server_version < FLUSHES_SINCE:
            return Moved(None, spilled)
        self.flush()
        return Moved(tally.bytes_of(turn, self._database.read_bytes()), spilled)

    def begin(self) -> None:
        self.run(["BEGIN"])

    def commit(self) -> None:
        self.run(["COMMIT"])

    def rollback(self) -> None:
        self.run(["ROLLBACK"])

    def copy_parquet(self, table: str, pieces: Iterable[bytes]) -> int:
        raise DatabaseError("PostgreSQL takes no Parquet files.")

    def copy(self, table: str, text: Iterable[bytes], columns: Sequence[str] = ()) -> int:
        named = f" ({', '.join(columns)})" if columns else ""
        with self._under_way(), self._connection.cursor() as cursor:
            copy(cursor, f"COPY {table}{named} FROM STDIN", text)
            return max(cursor.rowcount, 0)

    def cancel(self) -> None:
        with self._closing, suppress(client().Error):
            if not self._connection.closed:
                self._connection.cancel()

    def close(self) -> None:
        with self._closing, suppress(client().Error):
            self.flush()
            self._connection.close()
        self._database.forget(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _configuration(settings: Settings) -> dict[str, str]:
    """What a private server is told: three quarters of its memory hold data, the rest sorts and builds indexes."""
    made: dict[str, str] = {}
    if settings.memory_bytes is not None:
        kib = max(settings.memory_bytes >> 10, 1024)
        made |= {
            "shared_buffers": f"{max(kib * 3 // 4, 128)}kB",
            "effective_cache_size": f"{kib}kB",
            "work_mem": f"{max(kib // 16, 64)}kB",
            "maintenance_work_mem": f"{max(kib // 8, 1024)}kB",
        }
    if settings.threads is not None:
        made |= {
            "max_parallel_workers_per_gather": str(settings.threads - 1),
            "max_parallel_maintenance_workers": str(settings.threads - 1),
            "max_parallel_workers": str(settings.threads),
            "max_worker_processes": str(max(8, settings.threads + 2)),
        }
    return {**made, **settings.options}


def _answers(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server is there still."""
    try:
        return connection.execute("SELECT 1").fetchone() is not None
    except client().Error:
        return False


def _is_recovering(said: str) -> bool:
    return any(words in said for words in ("starting up", "in recovery mode", "not yet accepting connections", "shutting down"))


def _files(folder: str) -> list[str]:
    """Every regular file below a directory."""
    return [os.path.join(here, name) for here, _, names in os.walk(folder) for name in names if os.path.isfile(os.path.join(here, name))]
