"""The schema in a PostgreSQL server that Plimsoll works in: marked as its own, claimed by one run at a time, dropped without touching more.

Model: a comment on the schema is the marker; it says, too, when the user wants the schema kept. A schema of the same name without it is
somebody's and is refused, whatever was typed. The claim is an advisory lock of the database, which the server gives back when the
connection ends, however it ends; so a schema that nobody keeps and nobody claims was left by a killed run. On a server of the user's this
process holds its claim from the first point to the last (`hold`). Dropping names every table and function that Plimsoll makes, so that
an object of the user's that depends on one of them stops it rather than going with it.
A table, view or function in it that Plimsoll does not make, and whatever else a schema can hold, is somebody's, and keeps the schema from
being dropped.
Limits: the schema is found by name, and so is what is in it; an index or trigger that somebody puts on a table of ours goes with it.

    hold("postgresql://me@db1/test", connect)
    made(connection, "plimsoll", "postgresql://me@db1/test")       # True where it was there already
    drop(connection, "plimsoll", "postgresql://me@db1/test")
    let_go("postgresql://me@db1/test")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.displayed import quoted
from plimsoll.errors import SafetyRefusal, TargetError
from plimsoll.near import listed

if TYPE_CHECKING:
    import psycopg

#: What the schema of each driver is called.
DECISION_SUPPORT, ORDER_ENTRY = "plimsoll", "plimsoll_orders"
MARKER = "plimsoll.schema/1: made by Plimsoll for its measurements, and removed by it with everything in it"
KEPT = f"{MARKER}; kept for its next run"
#: What there is of our schema: nothing, one that a run uses or has left behind, or one that is kept.
State = Literal["absent", "in use or left", "kept"]
#: "plimsoll" as a number.
_LOCK = int.from_bytes(b"plimsoll", "big")
_COMMENT = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s"
#: What stands in a schema besides tables of ours: tables, views and sequences of any kind; a table's own sequence goes with it.
_RELATIONS = """
SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
AND relname <> ALL (%s) AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype IN ('a', 'i')) ORDER BY relname
"""
#: Functions as they are dropped, and as Plimsoll names those that it makes.
_ROUTINES = (
    "SELECT oid::regprocedure::text, proname || '(' || oidvectortypes(proargtypes) || ')' FROM pg_proc"
    " WHERE pronamespace = %s::regnamespace"
)
#: What a schema of ours can hold, in an order in which nothing is missed by what depends on it.
_OBJECTS = (
    (_ROUTINES, "ROUTINE"),
    (
        "SELECT oid::regclass::text, relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = %s::regnamespace",
        "TABLE",
    ),
)


def _tables(name: str) -> Iterable[str]:
    """Those that Plimsoll makes in the schema."""
    if name == ORDER_ENTRY:
        from plimsoll.orders.scale import TABLES

        return (*TABLES, "plimsoll_made")
    from plimsoll.decision import data

    return (*data.TABLES, "plimsoll_load")


def _routines(name: str) -> Iterable[str]:
    """Functions that Plimsoll makes in the schema, with the types that they take."""
    if name == ORDER_ENTRY:
        from plimsoll.orders.functions import SIGNATURES

        return SIGNATURES
    return ()


def is_ours(connection: psycopg.Connection[Any], name: str, shown: str) -> bool:
    """Whether the schema is there and carries the marker. Raises `SafetyRefusal` for one that does not; ``shown`` is the target."""
    found = connection.execute(_COMMENT, (name,)).fetchone()
    if found is not None and found[0] not in (MARKER, KEPT):
        raise SafetyRefusal(
            f"{shown}: the database has a schema {quoted(name)} that Plimsoll did not make, and it is left alone; rename it, or name"
            " another database."
        )
    return found is not None


def check_allowed(connection: psycopg.Connection[Any], name: str, shown: str) -> None:
    """Raise where the schema is somebody's or another user's, or there is none and the user may not make one; nothing is changed."""
    if is_ours(connection, name, shown):
        _check_owner(connection, name, shown)
        return
    query = "SELECT current_user, current_database(), has_database_privilege(current_database(), 'CREATE'), pg_is_in_recovery()"
    ((user, database, may, is_standby),) = connection.execute(query).fetchall()
    if is_standby:
        raise TargetError(f"{shown}: this server is a standby, where nothing can be written; name the one that it follows.")
    if not may:
        raise TargetError(
            f"{shown}: user {quoted(user)} may not make a schema here; allow it (GRANT CREATE ON DATABASE {database} TO {user}), or"
            " name another database."
        )


def _check_owner(connection: psycopg.Connection[Any], name: str, shown: str) -> None:
    """Only its owner may drop tables and make new ones."""
    query = (
        "SELECT current_user, pg_get_userbyid(nspowner) FROM pg_namespace"
        " WHERE nspname = %s AND NOT pg_has_role(current_user, nspowner, 'member')"
    )
    found = connection.execute(query, (name,)).fetchone()
    if found is not None:
        user, owner = found
        raise TargetError(
            f"{shown}: Plimsoll made schema {quoted(name)} as user {quoted(owner)}, and {quoted(user)} may not use it; connect as"
            f" {quoted(owner)}, or name another database."
        )


def state(connection: psycopg.Connection[Any], name: str, shown: str) -> State:
    """What there is of the schema. Raises `SafetyRefusal` for one that is somebody's."""
    if not is_ours(connection, name, shown):
        return "absent"
    return "kept" if connection.execute(_COMMENT, (name,)).fetchone() == (KEPT,) else "in use or left"


def keep(connection: psycopg.Connection[Any], name: str, shown: str) -> None:
    """Note in the schema, where it is there, that it stays."""
    if is_ours(connection, name, shown):
        connection.execute(f"COMMENT ON SCHEMA \"{name}\" IS '{KEPT}'")


def lock(connection: psycopg.Connection[Any], shown: str) -> None:
    """Keep other runs away for as long as this connection lasts."""
    if connection.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK,)).fetchone() != (True,):
        raise TargetError(f"{shown}: another run of Plimsoll uses this database; wait for its end, or name another database.")


#: Connections of this process that keep other runs from databases of the user's, by the address of each.
_held: dict[str, psycopg.Connection[Any]] = {}


def hold(shown: str, connect: Callable[[], psycopg.Connection[Any]]) -> None:
    """Keep other runs away until `let_go`, or the end of this process; once more where the server was restarted meanwhile."""
    import psycopg

    held = _held.get(shown)
    with suppress(psycopg.Error):
        if held is not None and held.execute("SELECT 1").fetchone() == (1,):
            return
    connection = connect()
    try:
        lock(connection, shown)
    except BaseException:
        connection.close()
        raise
    _held[shown] = connection


def let_go(shown: str) -> None:
    """Other runs may come."""
    import psycopg

    with suppress(KeyError, psycopg.Error):
        _held.pop(shown).close()


def made(connection: psycopg.Connection[Any], name: str, shown: str) -> bool:
    """Make the schema where there is none; whether it was there."""
    there = is_ours(connection, name, shown)
    check_allowed(connection, name, shown)
    if not there:
        with connection.transaction():
            connection.execute(f'CREATE SCHEMA "{name}"')
            connection.execute(f"COMMENT ON SCHEMA \"{name}\" IS '{MARKER}'")
    return there


def drop(connection: psycopg.Connection[Any], name: str, shown: str) -> bool:
    """Drop the schema with what is in it, if it carries the marker; whether there was one. Raises `TargetError` where something stays."""
    import psycopg

    if not is_ours(connection, name, shown):
        return False
    place = (f'"{name}"',)
    relations = [found for (found,) in connection.execute(_RELATIONS, (*place, list(_tables(name)))).fetchall()]
    routines = [found for _, found in connection.execute(_ROUTINES, place).fetchall() if found not in _routines(name)]
    if foreign := relations + sorted(routines):
        said = listed([quoted(each) for each in foreign], "and")
        elsewhere = f"ALTER {'TABLE' if relations else 'ROUTINE'} {name}.{foreign[0]} SET SCHEMA public"
        raise TargetError(
            f"{shown}: schema {quoted(name)} stays as it is, since Plimsoll did not make {said} in it; move that elsewhere ({elsewhere})."
        )
    try:
        with connection.transaction():
            for query, kind in _OBJECTS:
                names = [found for found, _ in connection.execute(query, place).fetchall()]
                if names:
                    connection.execute(f"DROP {kind} {', '.join(names)}")
            connection.execute(f'DROP SCHEMA "{name}"')
    except psycopg.errors.DependentObjectsStillExist as problem:
        detail = (problem.diag.message_detail or "").splitlines()
        raise TargetError(
            f"{shown}: schema {quoted(name)} stays, since something of yours depends on it ({'; '.join(detail[:1])}); drop that first."
        ) from None
    return True
