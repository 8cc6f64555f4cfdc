"""Drivers that are applications rather than the block engine, behind the same verbs (`plimsoll.engine.protocol.Engine`).

Model: a workload whose file has the key ``driver`` is carried out by that driver. A driver wraps the engine, answers the verbs that differ
and hands on the others, so that whoever measures need not know what does the work. `DRIVERS` is the whole list.

    engine = driver_of(catalog.load("file-copy"), native())       # FileCopy
    definition = engine.check_workload(document, "file-copy.toml")
    measure(job, engine, sink, control)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plimsoll.apps.decision.driver import DecisionSupport
from plimsoll.apps.filecopy import FileCopy
from plimsoll.apps.files import Files
from plimsoll.apps.mail.driver import Mail
from plimsoll.displayed import quoted
from plimsoll.engine.block import native
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.near import meant
from plimsoll.stored import Definition, Json

__all__ = ["DRIVERS", "check_workload", "driver_of"]


def _mailstore(engine: Engine, definition: Any) -> Engine:
    from plimsoll.apps.mailstore import Mailstore

    return Mailstore(engine, definition)


def _order_entry(engine: Engine, definition: Any) -> Engine:
    """Imported where a workload asks for it: what it takes to speak to databases is none of the others' business."""
    from plimsoll.apps.order_entry.driver import OrderEntry

    return OrderEntry(engine, definition)


def _database_durability(engine: Engine, definition: Any) -> Engine:
    from plimsoll.apps.durability.driver import DatabaseDurability

    return DatabaseDurability(engine, definition)


def _analytics(engine: Engine, definition: Any) -> Engine:
    from plimsoll.apps.analytics.driver import Analytics

    return Analytics(engine, definition)


def _io_test(engine: Engine, definition: Any) -> Engine:
    from plimsoll.apps.io_test.driver import IoTest

    return IoTest(engine, definition)


#: What the key ``driver`` may say, and what makes that driver for a workload.
DRIVERS: dict[str, Callable[[Engine, Any], Engine]] = {
    "analytics": _analytics,
    "filecopy": lambda engine, _: FileCopy(engine),
    "files": Files,
    "decision-support": DecisionSupport,
    "database-durability": _database_durability,
    "io-test": _io_test,
    "mail": Mail,
    "mailstore": _mailstore,
    "order-entry": _order_entry,
}


def driver_of(definition: Mapping[str, object], engine: Engine) -> Engine:
    """What carries out this workload, canonical or as written: a driver over ``engine``, or ``engine`` itself."""
    name = definition.get("driver")
    if name is None:
        return engine
    if not isinstance(name, str) or name not in DRIVERS:
        hint = meant(str(name), DRIVERS, f"known are {', '.join(DRIVERS)}; leave the key out for block I/O.")
        raise InputError(f"driver {quoted(name)} is unknown; {hint}")
    return DRIVERS[name](engine, definition)


def check_workload(document: Json, source: str, engine: Engine | None = None) -> Definition:
    """The canonical form of a workload for whatever driver; ``source`` names its file in messages."""
    try:
        driver = driver_of(document, engine or native())
    except InputError as unknown:
        raise InputError(f"{source}: {unknown}") from None
    return driver.check_workload(document, source)
