"""Stops the servers that killed runs left running: what the next command does before anything else, whichever it is.

Model: `plimsoll.orphans` knows them; here each is claimed, so that two commands do not stop one at the same time, and stopped by the module
of its kind. What it stored stays: the next run on that directory, or the one that is resumed, decides on that.

    for sentence in stop_orphans():
        print(sentence)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from plimsoll.apps.databases import server
from plimsoll.apps.mail import server as mail
from plimsoll.engine import holding, native_files
from plimsoll.errors import PlimsollError
from plimsoll.orphans import Note, orphans

#: What stops a server of each kind.
_STOPPING: dict[str, Callable[[Note], str | None]] = {server.KIND: server.stop_orphan, mail.KIND: mail.stop_orphan}


def stop_orphans() -> Iterator[str]:
    """A sentence for each server that was found and stopped."""
    for one in orphans():
        stop = _STOPPING.get(one.kind)
        with suppress(PlimsollError), holding():
            if stop is not None and native_files().claim(one.directory):
                sentence = stop(one)
                if sentence is not None:
                    yield sentence
