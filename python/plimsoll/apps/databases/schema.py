"""The schema in a PostgreSQL server that Plimsoll works in: marked as its own, claimed by one run at a time, dropped without touching more.

Model: a comment on the schema is the marker. A schema of the same name without it is somebody's and is refused, whatever was typed. The
claim is an advisory lock of the database, which the server gives back when the connection ends, however it ends. Dropping names every
table, view and function of the schema, so that an object of the user's that depends on one of them stops it rather than going with it.
Limits: the schema is found by name; what somebody else puts into a schema that carries the marker goes with it.

    claimed(connection, "plimsoll", "postgresql://me@db1/test")       # True where it was there already
    drop(connection, "plimsoll", "postgresql://me@db1/test")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.displayed import quoted
from plimsoll.errors import SafetyRefusal, TargetError

if TYPE_CHECKING:
    import psycopg

MARKER = "plimsoll.schema/1: made by Plimsoll for its measurements, and removed by it with everything in it"
#: "plimsoll" as a number.
_LOCK = int.from_bytes(b"plimsoll", "big")
_COMMENT = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s"
#: What a schema of ours can hold, in an order in which nothing is missed by what depends on it.
_OBJECTS = (
    ("SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = %s::regnamespace", "ROUTINE"),
    ("SELECT oid::regclass::text FROM pg_class WHERE relkind = 'v' AND relnamespace = %s::regnamespace", "VIEW"),
    ("SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = %s::regnamespace", "TABLE"),
    ("SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S' AND relnamespace = %s::regnamespace", "SEQUENCE"),
)


def is_ours(connection: psycopg.Connection[Any], name: str, shown: str) -> bool:
    """Whether the schema is there and carries the marker. Raises `SafetyRefusal` for one that does not; ``shown`` is the target."""
    found = connection.execute(_COMMENT, (name,)).fetchone()
    if found is not None and found[0] != MARKER:
        raise SafetyRefusal(
            f"{shown}: the database has a schema {quoted(name)} that Plimsoll did not make, and it is left alone; rename it, or name"
            " another database."
        )
    return found is not None


def claimed(connection: psycopg.Connection[Any], name: str, shown: str) -> bool:
    """Keep other runs away for as long as this connection lasts, and make the schema where there is none; whether it was there."""
    import psycopg

    there = is_ours(connection, name, shown)
    free = connection.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK,)).fetchone()
    if free != (True,):
        raise TargetError(f"{shown}: another run of Plimsoll uses this database; wait for its end, or name another database.")
    if not there:
        try:
            with connection.transaction():
                connection.execute(f'CREATE SCHEMA "{name}"')
                connection.execute(f"COMMENT ON SCHEMA \"{name}\" IS '{MARKER}'")
        except psycopg.errors.InsufficientPrivilege:
            ((user, database),) = connection.execute("SELECT current_user, current_database()").fetchall()
            raise TargetError(
                f"{shown}: user {quoted(user)} may not make a schema here; allow it (GRANT CREATE ON DATABASE {database} TO {user}), or"
                " name another database."
            ) from None
    return there


def drop(connection: psycopg.Connection[Any], name: str, shown: str) -> bool:
    """Drop the schema with what is in it, if it carries the marker; whether there was one. Raises `TargetError` where something stays."""
    import psycopg

    if not is_ours(connection, name, shown):
        return False
    try:
        with connection.transaction():
            for query, kind in _OBJECTS:
                names = [found for (found,) in connection.execute(query, (f'"{name}"',)).fetchall()]
                if names:
                    connection.execute(f"DROP {kind} {', '.join(names)}")
            connection.execute(f'DROP SCHEMA "{name}"')
    except psycopg.errors.DependentObjectsStillExist as problem:
        detail = (problem.diag.message_detail or "").splitlines()
        raise TargetError(
            f"{shown}: schema {quoted(name)} stays, since something of yours depends on it ({'; '.join(detail[:1])}); drop that first."
        ) from None
    return True
