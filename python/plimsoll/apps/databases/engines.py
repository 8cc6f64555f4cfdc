"""The engine behind an address: which class answers the verbs of a database. `ENGINES` is the whole list.

database_of(parse("duckdb:/mnt/array/dss"), "/mnt/array/dss/duckdb", Settings())
"""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.apps.databases.address import Address
from plimsoll.apps.databases.address import Engine as EngineName
from plimsoll.apps.databases.database import Database, Settings


def _duckdb(_: Address, directory: str, settings: Settings) -> Database:
    from plimsoll.apps.databases.duckdb import DuckDb

    return DuckDb(directory, settings)


def _postgresql(address: Address, directory: str, settings: Settings) -> Database:
    from plimsoll.apps.databases import postgresql

    if address.directory is None:
        return postgresql.own_server(address, settings)
    return postgresql.private(directory, address.directory, settings)


def _spark(address: Address, directory: str, settings: Settings) -> Database:
    from plimsoll.apps.databases.spark import Spark

    return Spark(address, directory, settings)


#: What makes a database of its address, the directory that is ours (empty for the user's own server), and its settings.
ENGINES: dict[EngineName, Callable[[Address, str, Settings], Database]] = {
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "spark": _spark,
}
#: What an engine has to have at least; it gets no less where a share of the data would be.
MEMORY_LEAST: dict[EngineName, int] = {"spark": 1 << 30}
_MEMORY_LEAST = 128 << 20


def memory_least(engine: EngineName) -> int:
    """With less memory an engine does not work."""
    return MEMORY_LEAST.get(engine, _MEMORY_LEAST)


def check(address: Address, memory_bytes: int | None) -> None:
    """Raise a sentence where the engine could not be opened here: a missing package, a missing program, too little memory."""
    if address.engine == "duckdb":
        from plimsoll.apps.databases.duckdb import engine_module

        engine_module()
    elif address.engine == "postgresql":
        from plimsoll.apps.databases.postgresql import client
        from plimsoll.apps.databases.programs import programs

        client()
        if address.is_private:
            programs()
    elif address.engine == "spark":
        from plimsoll.apps.databases.spark import check as check_spark

        check_spark(address, memory_bytes)


def database_of(address: Address, directory: str, settings: Settings) -> Database:
    """The database at an address of one of `ENGINES`, not yet open."""
    return ENGINES[address.engine](address, directory, settings)


def client_of(address: Address, settings: Settings) -> Database:
    """The database at the URL of a server that whoever commands several hosts has claimed."""
    from plimsoll.apps.databases import postgresql

    return postgresql.own_server(address, settings, claims=False)
