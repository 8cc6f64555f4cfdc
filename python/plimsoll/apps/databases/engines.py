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


#: What makes a database of its address, the directory that is ours (empty for the user's own server), and its settings.
ENGINES: dict[EngineName, Callable[[Address, str, Settings], Database]] = {"duckdb": _duckdb}


def database_of(address: Address, directory: str, settings: Settings) -> Database:
    """The database at an address of one of `ENGINES`, not yet open."""
    return ENGINES[address.engine](address, directory, settings)
