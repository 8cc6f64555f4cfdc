"""PostgreSQL as a load: a private server on the target, or a server of the user's, behind the verbs of a database.

Model: a session is a connection whose statements are transactions of their own. Rows are loaded with COPY, from memory. What the server
counts comes from its statistics views, which it brings up to date when a transaction has ended and at most once a second; a statement
that took long enough to have spilled has its session's figures written at once. Everything lies in one schema
(`plimsoll.apps.databases.schema`). Of a private server, the memory that it may use goes to shared buffers and sorts; to start cold it is
stopped, its files are dropped from the page cache, and it is started again.
Limits: PostgreSQL reads through the page cache, which no setting of its own bounds. A server of the user's is taken as it is: neither its
settings nor its caches are changed.

    database = private(home, "/mnt/array/pg", Settings(memory_bytes=1 << 30))
    database = own_server(parse("postgresql://me@db1/test"), Settings())
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

from plimsoll.apps.databases.address import Address
from plimsoll.apps.databases.database import Counters, DatabaseError, Row, Settings
from plimsoll.apps.databases.postgresql_troubles import told
from plimsoll.apps.databases.schema import claimed, drop, is_ours
from plimsoll.apps.databases.server import PrivateServer
from plimsoll.errors import InputError
from plimsoll.host.page_cache import drop_pages

if TYPE_CHECKING:
    import psycopg

SCHEMA = "plimsoll"
_MISSING = "PostgreSQL's client is not installed here; install it with: pip install 'plimsoll[postgresql]'."
_CONNECT_S = 15
#: A private server that recovers from a crash takes nobody for so long at most.
_RECOVERY_S = 600.0
_WAIT_S = 0.05
#: A statement that took less has not spilled anything worth a question to the server.
_WORTH_FLUSHING_S = 0.05
#: The views that are read, with the first version that has each.
_VIEWS = (("pg_stat_database", 140000), ("pg_stat_wal", 140000), ("pg_stat_bgwriter", 140000), ("pg_stat_checkpointer", 170000))
_OWN_DATABASE = "SELECT * FROM pg_stat_database WHERE datname = current_database()"
_IO = "SELECT sum(reads * op_bytes), sum(writes * op_bytes), sum(reads), sum(writes), sum(fsyncs) FROM pg_stat_io"
_IO_18 = "SELECT sum(read_bytes), sum(write_bytes), sum(reads), sum(writes), sum(fsyncs) FROM pg_stat_io"
_IO_NAMES = ("read_bytes", "write_bytes", "reads", "writes", "fsyncs")
#: Settings that decide on what is measured.
RECORDED = (
    *("shared_buffers", "work_mem", "maintenance_work_mem", "effective_cache_size", "temp_buffers", "huge_pages", "data_checksums"),
    *("max_parallel_workers_per_gather", "max_parallel_workers", "jit", "effective_io_concurrency", "random_page_cost"),
    *("wal_level", "fsync", "synchronous_commit", "full_page_writes", "wal_compression", "wal_buffers", "wal_sync_method"),
    *("max_wal_size", "min_wal_size", "checkpoint_timeout", "checkpoint_completion_target", "bgwriter_delay"),
    *("autovacuum", "autovacuum_naptime", "autovacuum_vacuum_scale_factor", "max_connections", "track_io_timing"),
)


def client() -> Any:
    """The package ``psycopg``, imported where a run needs it. Raises `InputError` with what to install."""
    try:
        import psycopg
    except ImportError:
        raise InputError(_MISSING) from None
    return psycopg


def private(home: str, directory: str, settings: Settings) -> PostgreSql:
    """The database of a private server whose files are in ``home``, a directory of ours below the target ``directory``."""
    server = PrivateServer(home, directory, _configuration(settings))
    return PostgreSql(f"postgresql:new:{directory}", lambda: server.connection, server)


def own_server(address: Address, settings: Settings) -> PostgreSql:
    """The database at a URL; of the settings only what a session may choose for itself is used."""
    asked = {"dbname": str(address.url), **address.secrets}
    return PostgreSql(address.text, lambda: asked, None, settings.options)


class PostgreSql:
    """`plimsoll.apps.databases.database.Database`; ``connection`` says how to connect, ``shown`` is the target in sentences."""

    engine = "postgresql"
    dialect = "postgres"
    concurrent_writers = True
    #: Statements are carried out in processes of the server's.
    runs_here = False
    builds_keys = True
    text_suffix = ' COLLATE "C"'

    def __init__(
        self,
        shown: str,
        connection: Callable[[], Mapping[str, Any]],
        server: PrivateServer | None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self._shown = shown
        self._how = connection
        self._server = server
        self._options = dict(options or {})
        self._claim: psycopg.Connection[Any] | None = None
        self._sessions: set[PostgreSqlSession] = set()
        self._cold = ""

    def open(self) -> None:
        client()
        if self._claim is not None and not self._claim.closed:
            return
        if self._server is not None:
            self._server.start()
        connection = self.connect()
        try:
            with self.telling(connection):
                claimed(connection, SCHEMA, self._shown)
        except BaseException:
            connection.close()
            raise
        self._claim = connection

    def close(self) -> None:
        for session in list(self._sessions):
            session.close()
        claim, self._claim = self._claim, None
        if claim is not None:
            with suppress(client().Error):
                claim.close()
        if self._server is not None:
            self._server.stop()

    def session(self) -> PostgreSqlSession:
        session = PostgreSqlSession(self, self.connect())
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
        version = self._version()
        found: dict[str, float] = {}
        for view, since in _VIEWS:
            if version >= since:
                found.update(self._counted(view, _OWN_DATABASE if view == "pg_stat_database" else f"TABLE {view}"))
        if version >= 160000:
            (figures,) = self._rows(_IO_18 if version >= 180000 else _IO)
            found.update({f"pg_stat_io.{name}": float(value) for name, value in zip(_IO_NAMES, figures, strict=True) if value is not None})
        spilled = found.get("pg_stat_database.temp_bytes")
        return Counters(None if spilled is None else int(spilled), found)

    def processes(self) -> Sequence[int]:
        server = None if self._server is None else self._server.pid
        return () if server is None else (server, *_children(server))

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
        words = self._server.last_words() if self._server is not None else ""
        return told(problem, self._shown, alive=connection is not None and not connection.broken, last_words=words)

    def _rows(self, statement: str) -> list[Row]:
        """An answer over the connection that holds the claim, which does nothing else."""
        if self._claim is None:
            raise DatabaseError(f"{self._shown}: the database is not open.", "lost")
        with self.telling(self._claim):
            return self._claim.execute(statement).fetchall()

    def _counted(self, view: str, statement: str) -> dict[str, float]:
        if self._claim is None:
            raise DatabaseError(f"{self._shown}: the database is not open.", "lost")
        with self.telling(self._claim):
            cursor = self._claim.execute(statement)
            row = cursor.fetchone() or ()
            names = [column.name for column in cursor.description or ()]
        # Identities are numbers, too, and count nothing.
        return {
            f"{view}.{name}": float(value)
            for name, value in zip(names, row, strict=False)
            if name not in ("datid", "numbackends") and isinstance(value, int | float | Decimal)
        }

    def _version(self) -> int:
        if self._claim is None:
            raise DatabaseError(f"{self._shown}: the database is not open.", "lost")
        return self._claim.info.server_version


_SUPERUSER = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"


class PostgreSqlSession:
    """`plimsoll.apps.databases.database.Session`: a connection."""

    def __init__(self, database: PostgreSql, connection: psycopg.Connection[Any]) -> None:
        self._database = database
        self._connection = connection
        self._closing = threading.Lock()
        self._flushes = connection.info.server_version >= 150000

    @property
    def process(self) -> int:
        """The server's process that serves this session."""
        return self._connection.info.backend_pid

    def run(self, statements: Sequence[str], parameters: Sequence[object] = ()) -> list[Row]:
        rows: list[Row] = []
        with self._database.telling(self._connection):
            begun_s = time.monotonic()
            for statement in statements:
                cursor = self._connection.execute(statement, parameters or None)
                if cursor.description is not None:
                    rows = cursor.fetchall()
            if self._flushes and time.monotonic() - begun_s >= _WORTH_FLUSHING_S:
                self._flush()
        return rows

    def _flush(self) -> None:
        """Have this session's figures counted now: of its own accord the server lets a second pass, or ten."""
        from psycopg.pq import TransactionStatus

        if self._connection.info.transaction_status == TransactionStatus.IDLE:
            self._connection.execute("SELECT pg_stat_force_next_flush()")

    def begin(self) -> None:
        self.run(["BEGIN"])

    def commit(self) -> None:
        self.run(["COMMIT"])

    def rollback(self) -> None:
        self.run(["ROLLBACK"])

    def copy(self, table: str, text: Iterable[bytes], columns: Sequence[str] = ()) -> int:
        named = f" ({', '.join(columns)})" if columns else ""
        with self._database.telling(self._connection), self._connection.cursor() as cursor:
            with cursor.copy(f"COPY {table}{named} FROM STDIN") as copy:
                for chunk in text:
                    copy.write(chunk)
            return max(cursor.rowcount, 0)

    def cancel(self) -> None:
        with self._closing, suppress(client().Error):
            if not self._connection.closed:
                self._connection.cancel()

    def close(self) -> None:
        with self._closing, suppress(client().Error):
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


def _is_recovering(said: str) -> bool:
    return any(words in said for words in ("starting up", "in recovery mode", "not yet accepting connections", "shutting down"))


def _files(folder: str) -> list[str]:
    """Every regular file below a directory."""
    return [os.path.join(here, name) for here, _, names in os.walk(folder) for name in names if os.path.isfile(os.path.join(here, name))]


def _children(process: int) -> list[int]:
    """The processes that a process has started; none where the kernel does not list them."""
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return [int(number) for number in file.read().split()]
    except (OSError, ValueError):
        return []
