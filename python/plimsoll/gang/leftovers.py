"""Gangs of commands that were killed: what of them still runs, and what they have measured that nobody has collected.

Model: each gang on this machine has a note in the user's state. A note whose command is alive belongs to it. A gang whose keeper lives
takes itself down; one whose keeper was killed as well is taken down here. What its workers stored stays until it is collected.

    for sentence in swept():
        print(sentence)
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from plimsoll.gang.nest import NOTE, kill_marked, marked
from plimsoll.orphans import gangs_folder
from plimsoll.store.writer import is_alive


def swept() -> Iterator[str]:
    """Take down what killed commands have left; a sentence on each gang that somebody should know of."""
    for folder, note in _notes():
        if is_alive(note["driver"]) or is_alive(note["keeper"]):
            continue
        nest = str(note["nest"])
        if list(marked(nest)):
            kill_marked(nest, but=set())
            yield "the workers of a run that was killed have been stopped"
        shutil.rmtree(nest, ignore_errors=True)
        if not _has_points(folder):
            shutil.rmtree(folder, ignore_errors=True)
        elif note.get("run"):
            yield f"{note['run']} was killed, and what its hosts measured is kept: plimsoll hosts collect {note['run']}"


def _notes() -> Iterator[tuple[str, dict[str, Any]]]:
    with suppress(OSError):
        for name in sorted(os.listdir(gangs_folder())):
            folder = os.path.join(gangs_folder(), name)
            with suppress(OSError, ValueError, KeyError):
                with open(os.path.join(folder, NOTE), encoding="utf-8") as file:
                    note = json.load(file)
                if {"nest", "driver", "keeper"} <= note.keys():
                    yield folder, note


def _has_points(folder: str) -> bool:
    """Whether a worker has stored a point that ended."""
    return any("result.json" in files for _, _, files in os.walk(folder))
