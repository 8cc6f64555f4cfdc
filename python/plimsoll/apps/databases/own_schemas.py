"""What becomes of our schemas in a server of the user's when a run has ended: dropped, or kept with a note.

Model: a schema is dropped where it carries our marker and no other run uses the database; what another run uses is that run's. Drivers
have a schema each (`SCHEMAS`). What a killed run left is found by its address alone, which has no password: that comes from the usual
places, or from the address that was typed for the run that goes on.
Limits: a server that cannot be reached keeps the schema; the next run there removes it at its end.

    state_of(parse("postgresql://me@db1/test"), "plimsoll")       # "absent"
    remove(parse("postgresql://me@db1/test"), ["plimsoll"])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from plimsoll.apps.databases import schema
from plimsoll.apps.databases.address import Address, parse
from plimsoll.apps.databases.database import Settings
from plimsoll.apps.databases.postgresql import own_server
from plimsoll.errors import TargetError
from plimsoll.stored import Inspection
from plimsoll.target import Target

if TYPE_CHECKING:
    import psycopg

#: The schemas of all drivers.
SCHEMAS = (schema.DECISION_SUPPORT, schema.ORDER_ENTRY)
#: Servers whose schema this process has dropped or kept, or tried to: they are not asked again.
_settled: set[str] = set()


def state_of(address: Address, name: str) -> schema.State:
    """What there is of a schema. Raises the sentence of a server that cannot be worked with."""
    with _connected(address) as connection:
        return schema.state(connection, name, address.text)


def check(address: Address, name: str) -> None:
    """Raise the sentence of what would keep us from working in a schema there; nothing is changed."""
    with _connected(address) as connection:
        schema.check_allowed(connection, name, address.text)


def claim(address: Address) -> None:
    """Keep other runs away from the database until `remove` or `keep`."""
    schema.hold(address.text, own_server(address, Settings()).connect)


def remove(address: Address, names: Sequence[str]) -> list[str]:
    """Drop schemas of ours, unless another run uses the database; which are gone."""
    _settled.add(address.text)
    try:
        with _connected(address) as connection:
            try:
                claim(address)
            except TargetError:
                return []
            return [name for name in names if schema.drop(connection, name, address.text)]
    finally:
        schema.let_go(address.text)


def keep(address: Address, names: Sequence[str]) -> None:
    """Note that schemas of ours stay, and let other runs come."""
    _settled.add(address.text)
    try:
        with _connected(address) as connection:
            for name in names:
                schema.keep(connection, name, address.text)
    finally:
        schema.let_go(address.text)


@contextmanager
def _connected(address: Address) -> Iterator[psycopg.Connection[Any]]:
    server = own_server(address, Settings())
    connection = server.connect()
    with server.telling(connection), connection:
        yield connection


class LeftSchemas:
    """The verbs of an engine that clear away what a killed run left in a server, by its address."""

    def inspect_target(self, target: Target) -> Inspection:
        """Whether there is something that no run keeps. Raises the sentence of a server that cannot be asked."""
        address, left = parse(target.text), False
        if address.text not in _settled:
            with _connected(address) as connection:
                left = any(schema.state(connection, name, address.text) == "in use or left" for name in SCHEMAS)
        return {"kind": "server", "path": address.text, "exists": True, "left_behind": left}

    def remove_target(self, target: Target) -> list[str]:
        """Drop what no run keeps."""
        address = parse(target.text)
        with _connected(address) as connection:
            names = [name for name in SCHEMAS if schema.state(connection, name, address.text) == "in use or left"]
        return remove(address, names)

    def release_target(self, target: Target) -> None:
        """It stays."""
        keep(parse(target.text), SCHEMAS)
