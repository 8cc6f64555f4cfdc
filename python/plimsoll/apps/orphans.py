"""Stops the servers that killed runs left running: what the next command does before anything else, whichever it is.

Model: `plimsoll.orphans` knows them; here each is claimed, so that two commands do not stop one at the same time, and stopped by the module
of its kind. What it stored stays: the next run on that directory, or the one that is resumed, decides on that. What processes worked with
goes with them.

    for one in orphans():
        print(stopped(one))
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from plimsoll.apps.analytics import work
from plimsoll.apps.databases import java_process, server
from plimsoll.apps.mail import server as mail
from plimsoll.engine.claims import holding
from plimsoll.engine.files import native_files
from plimsoll.errors import PlimsollError
from plimsoll.orphans import Note

#: What stops a server of each kind.
_STOPPING: dict[str, Callable[[Note], str | None]] = {
    server.KIND: server.stop_orphan,
    java_process.KIND: java_process.stop_orphan,
    mail.KIND: mail.stop_orphan,
    work.KIND: work.clear_orphan,
}


def stopped(orphan: Note) -> str | None:
    """Stop the server; a sentence on it, or None where it was gone or is another's to stop."""
    stop = _STOPPING.get(orphan.kind)
    with suppress(PlimsollError), holding():
        if stop is not None and native_files().claim(orphan.directory):
            return stop(orphan)
    return None
