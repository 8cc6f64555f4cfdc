"""What a PostgreSQL server counts since it was made, read from its statistics views.

Model: the server brings the views up to date when a transaction has ended and at most once a second, so a session that rests should write
its figures first (``FLUSHES_SINCE``). Version 16 counts I/O by itself, and from version 18 on flushes of the log are among it.
Limits: where the views may be seconds old (before ``FLUSHES_SINCE``), of the log only its length is told.

    counted(connection).spill_bytes
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from plimsoll.apps.databases.database import Counters

if TYPE_CHECKING:
    import psycopg

#: Since this version a session can be told to write its figures.
FLUSHES_SINCE = 150000
_COUNTS_IO = 160000
_LOG_IN_IO = 180000
#: The views that are read, with the first version that has each.
_VIEWS = (("pg_stat_database", 140000), ("pg_stat_wal", 140000), ("pg_stat_bgwriter", 140000), ("pg_stat_checkpointer", 170000))
_READ_BYTES = "SELECT blks_read * current_setting('block_size')::bigint FROM pg_stat_database WHERE datname = current_database()"
_OWN_DATABASE = "SELECT * FROM pg_stat_database WHERE datname = current_database()"
_IO = "SELECT sum(reads * op_bytes), sum(writes * op_bytes), sum(reads), sum(writes), sum(fsyncs) FROM pg_stat_io"
_IO_18 = "SELECT sum(read_bytes), sum(write_bytes), sum(reads), sum(writes), sum(fsyncs) FROM pg_stat_io"
_IO_NAMES = ("read_bytes", "write_bytes", "reads", "writes", "fsyncs")
_LOG_18 = "SELECT sum(fsyncs) AS wal_sync, sum(fsync_time) AS wal_sync_time FROM pg_stat_io WHERE object = 'wal'"
#: How much has been written to the log.
_LOG_14 = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS wal_bytes"


def counted(connection: psycopg.Connection[Any]) -> Counters:
    """What the server of a connection has counted so far; bytes, and seconds for flushes. Raises the errors of ``psycopg``."""
    version = connection.info.server_version
    found: dict[str, float] = {}
    for view, since in _VIEWS:
        if version >= since:
            found.update(_row(connection, view, _OWN_DATABASE if view == "pg_stat_database" else f"TABLE {view}"))
    if version >= _LOG_IN_IO:
        found.update(_row(connection, "pg_stat_wal", _LOG_18))
    elif version < FLUSHES_SINCE:
        # What its views say of the log may be seconds old; how long the log is it knows.
        found = {name: value for name, value in found.items() if not name.startswith("pg_stat_wal.")}
        found.update(_row(connection, "pg_stat_wal", _LOG_14))
    if version >= _COUNTS_IO:
        (figures,) = connection.execute(_IO_18 if version >= _LOG_IN_IO else _IO).fetchall()
        found.update({f"pg_stat_io.{name}": float(value) for name, value in zip(_IO_NAMES, figures, strict=True) if value is not None})
    return _counters(found)


def read_bytes(connection: psycopg.Connection[Any]) -> int:
    """What was read of tables and indexes of a connection's database so far, by all sessions. Raises the errors of ``psycopg``."""
    ((found,),) = connection.execute(_READ_BYTES).fetchall()
    return int(found)


def _row(connection: psycopg.Connection[Any], view: str, statement: str) -> dict[str, float]:
    """The numbers of a view that has one row."""
    cursor = connection.execute(statement)
    row = cursor.fetchone() or ()
    names = [column.name for column in cursor.description or ()]
    # Identities are numbers, too, and count nothing.
    return {
        f"{view}.{name}": float(value)
        for name, value in zip(names, row, strict=False)
        if name not in ("datid", "numbackends") and isinstance(value, int | float | Decimal)
    }


def _counters(found: Mapping[str, float]) -> Counters:
    """What the server counts, of which some stands for what every engine does."""
    spilled, log, flushes, waited_ms = (
        found.get(name)
        for name in ("pg_stat_database.temp_bytes", "pg_stat_wal.wal_bytes", "pg_stat_wal.wal_sync", "pg_stat_wal.wal_sync_time")
    )
    return Counters(
        spill_bytes=None if spilled is None else int(spilled),
        log_bytes=None if log is None else int(log),
        flushes=None if flushes is None else int(flushes),
        # It counts flushes whether or not it takes their time.
        flush_s=None if waited_ms is None or (flushes and not waited_ms) else waited_ms / 1e3,
        others=found,
    )
