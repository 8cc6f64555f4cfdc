"""What a host holds of a gang that nobody commands any more, read where it is.

LocalRemains("~/.local/state/plimsoll/gangs/x1/db1").runs()          # ["2026-11-23T03-36-29_host"]
"""

from __future__ import annotations

import json
import os
import shutil

from plimsoll.gang.copies import files_of, piece_of
from plimsoll.store.writer import is_alive


class LocalRemains:
    """See the module; ``folder`` is the host's."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def runs(self) -> list[str]:
        """The runs, as paths from the directory; none where nothing is stored."""
        try:
            return sorted(name for name in os.listdir(self._folder) if os.path.isfile(os.path.join(self._folder, name, "run.json")))
        except OSError:
            return []

    def points(self, run: str) -> list[str]:
        """The names of its points."""
        try:
            return sorted(os.listdir(os.path.join(self._folder, run, "points")))
        except OSError:
            return []

    def is_measuring(self, run: str) -> bool:
        """Whether who writes the run still does."""
        with open(os.path.join(self._folder, run, "run.json"), encoding="utf-8") as file:
            meta = json.load(file)
        return meta.get("status") == "running" and is_alive(meta.get("process"))

    def files(self, path: str) -> list[tuple[str, int]]:
        """The files in a directory, with their sizes."""
        return files_of(self._folder, path)

    def piece(self, path: str, offset: int) -> str:
        """A piece of one of them, in base64."""
        return piece_of(self._folder, path, offset)

    def forget(self) -> None:
        """It has been collected."""
        shutil.rmtree(os.path.dirname(self._folder), ignore_errors=True)
