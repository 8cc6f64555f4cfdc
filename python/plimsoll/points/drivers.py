"""Which driver carries out a workload: the block engine, or the one that the workload's key ``driver`` names.

Model: `plimsoll.apps` knows the other drivers; it is imported when a workload asks for one. A driver has the verbs of the engine, so
whoever holds one need not know which it is.

    driver_of(workload, engine).run_job(job, on_event, control)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import cast

from plimsoll import catalog
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.stored import Definition, Json


def driver_of(workload: Mapping[str, object], engine: Engine) -> Engine:
    """The driver of a workload, canonical or as written."""
    own = getattr(engine, "driver_of", None)
    if own is not None:
        # Of a gang, or of a worker of one: whatever the workload is, it is carried out there.
        driver: Engine = own(workload)
        return driver
    if driver_name(workload) is None:
        return engine
    from plimsoll import apps

    return apps.driver_of(workload, engine)


def files_driver(engine: Engine) -> Engine:
    """The driver of file operations without a workload: for what it has laid out before."""
    from plimsoll.apps.files import Files

    return Files(engine, {})


def copying_driver(engine: Engine) -> Engine:
    """The driver of file copies: for scratch files beside which a killed one may have left its copy."""
    from plimsoll.apps.filecopy import FileCopy

    return FileCopy(engine)


def server_driver(address: str) -> Engine:
    """What clears away what drivers have made in a server of the user's: mail, or schemas, whichever driver it was."""
    from plimsoll.apps.mail.address import is_address

    if is_address(address):
        from plimsoll.apps.mail.own_server import LeftMail

        return cast("Engine", LeftMail())
    from plimsoll.apps.databases.own_schemas import LeftSchemas

    return cast("Engine", LeftSchemas())


def driver_name(workload: Mapping[str, object]) -> str | None:
    """What the workload asks for; None for the block engine."""
    name = workload.get("driver")
    return None if name is None else str(name)


def checked_workload(source: str, engine: Engine) -> Definition:
    """The canonical form of the workload behind one of `catalog.sources`."""
    document, name = catalog.load(source), catalog.file_of(source)
    if "experiment" in document:
        raise InputError(f"{source} is a file of experiments, not a workload; carry it out with 'plimsoll suite {source}'.")
    return checked(document, name, engine, os.path.dirname(source) if catalog.is_file(source) else "")


def checked(document: Json, name: str, engine: Engine, folder: str = "") -> Definition:
    """The canonical form of a workload; ``name`` is where it stands, for messages, and relative traces lie in ``folder``."""
    if driver_name(document) is None:
        return _with_traces(engine.check_workload(document, name), folder)
    from plimsoll import apps

    return apps.check_workload(document, name, engine)


def _with_traces(workload: Definition, folder: str) -> Definition:
    """What converts traces is only imported where a stream has one."""
    if not any(stream.get("trace") for stream in workload.get("stream", ())):
        return workload
    from plimsoll.points.traces import with_traces

    return with_traces(workload, folder)
