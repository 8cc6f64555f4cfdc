"""The directory in which workflows work: cleared before a point, after it, and by the next command when its run was killed.

Model: the marker of the target names the directory as Plimsoll's (`NativeFiles.own`); nothing is removed from one that it does not name.
Each workflow works in a directory that is called by its number; what else lies there is somebody's, and stays.
Processes of a killed run die with it. Inputs stay: the next run on the target, or the one that is resumed, decides.

    note(directory); ...; clear(work); forget(directory)
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from plimsoll import orphans
from plimsoll.engine.files import native_files
from plimsoll.units import binary

#: Kind of the notes of `plimsoll.orphans`.
KIND = "analytics"
#: What the directory is called.
NAME = "work"


def note(directory: str) -> None:
    """Workflows begin in a directory of a target."""
    orphans.note(orphans.Note(KIND, os.path.abspath(directory)))


def forget(directory: str) -> None:
    """They have ended, and their files are gone."""
    orphans.forget(os.path.abspath(directory))


def clear(work: str) -> int:
    """Remove the directories of workflows; the bytes of their files."""
    found = 0
    for entry in list(os.scandir(work)) if os.path.isdir(work) else ():
        if not (entry.name.isdigit() and entry.is_dir(follow_symlinks=False)):
            continue
        for here, _, names in os.walk(entry.path):
            for name in names:
                with suppress(OSError):
                    found += os.lstat(os.path.join(here, name)).st_blocks * 512
        shutil.rmtree(entry.path, ignore_errors=True)
    return found


def clear_orphan(left: orphans.Note) -> str | None:
    """Remove the work of a killed run; a sentence when there was some. What the marker does not name stays."""
    cleared = 0
    try:
        if os.path.isdir(os.path.join(left.directory, NAME)):
            cleared = clear(native_files().own(left.directory, None, NAME))
    finally:
        # What is not ours to clear is not asked for again.
        orphans.forget(left.directory)
    if not cleared:
        return None
    return f"removed {binary(cleared)} that workflows of a killed run had left in {left.directory}"
