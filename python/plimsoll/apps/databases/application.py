"""What drivers on databases have in common: what becomes of the database once nobody measures it any more.

Model: a private database is a directory of ours on the target, removed or kept as trees of files are. In a server of the user's it is a
schema of ours (`plimsoll.apps.databases.own_schemas`). What a killed run has left is named by the path of its directory.

    class OrderEntry(DatabaseApplication):
        engines = ("sqlite", "postgresql")
        schema = "plimsoll_orders"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from plimsoll.apps.application import Application
from plimsoll.apps.databases import own_schemas
from plimsoll.apps.databases.address import Address, is_address, parse
from plimsoll.apps.databases.address import Engine as EngineName
from plimsoll.engine.files import native_files
from plimsoll.engine.protocol import Engine
from plimsoll.target import Target


class DatabaseApplication(Application):
    """An `Application` whose target is a database of one of its ``engines``; in a server of the user's it works in ``schema``."""

    engines: ClassVar[Sequence[EngineName]]
    schema: ClassVar[str]

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._files = native_files()

    def remove_target(self, target: Target) -> list[str]:
        """Remove the database, and the directory if it was made for that; of a server of the user's our schema."""
        directory = self.directory_of(target)
        return self._files.remove(directory) if directory else own_schemas.remove(self.address_of(target), [self.schema])

    def release_target(self, target: Target) -> None:
        """Note that the database stays and that no run uses it any more."""
        directory = self.directory_of(target)
        if directory:
            self._files.release(directory)
        else:
            own_schemas.keep(self.address_of(target), [self.schema])

    def schema_state(self, target: Target) -> str:
        """What there is of our schema in a server of the user's."""
        return own_schemas.state_of(self.address_of(target), self.schema)

    def address_of(self, target: Target) -> Address:
        """Where the database is. Raises `InputError` for what is no address of an engine that can do this."""
        return parse(target.text, self.engines)

    def directory_of(self, target: Target) -> str | None:
        """Of an address, or a directory that is named by its path; None for a server of the user's."""
        return self.address_of(target).directory if is_address(target.text) else target.text
