"""The commanding host's end of a gang whose hosts are elsewhere: a keeper of its own, which holds what carries the calls.

Model: Ray's head comes up while hosts are still being made ready; where each host's relay is follows when they are. A note in the user's
state names the keeper and the directory, so that the next command takes down what a killed one has left.

    head = Head(credentials.files(["10.0.0.1"]), lambda nest: [carrier_here(nest, "10.0.0.1:40123", network=True)])
    lines = head.lines({"db1": "/tmp/plimsoll-gang-x1/db1"}, lambda: None)
    head.close()
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from plimsoll.errors import StoreError
from plimsoll.gang.line import Line
from plimsoll.gang.nest import KEEPER, NOTE, made_nest
from plimsoll.gang.switchboard import lines_to, tell_places
from plimsoll.orphans import gangs_folder
from plimsoll.store.writer import identity_of, own_identity

_KEEPER_LEAVES_S = 30.0


class Head:
    """See the module; ``files`` lie in the gang's directory, ``carriers`` says what its keeper starts there,
    and ``leaves_s`` how long that has for a goodbye.
    """

    def __init__(self, files: Mapping[str, str], carriers: Callable[[str], list[Any]], leaves_s: float = 0.0) -> None:
        root = gangs_folder()
        try:
            self.nest = made_nest()
            self._folder = os.path.join(root, f"{time.strftime('%Y-%m-%dT%H-%M-%S')}-{secrets.token_hex(3)}")
            os.makedirs(self._folder, mode=0o700)
            for name, text in files.items():
                with open(
                    os.open(os.path.join(self.nest, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii"
                ) as file:
                    file.write(text)
            with open(os.path.join(self.nest, KEEPER), "w", encoding="utf-8") as file:
                json.dump({"workers": [], "carriers": carriers(self.nest), "leaves_s": leaves_s}, file)
        except OSError as problem:
            raise StoreError(f"{root}: a gang cannot be noted there ({(problem.strerror or str(problem)).lower()}).") from None
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", "plimsoll.gang.keeper", self.nest],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        keeper = identity_of(self._keeper.pid)
        note: dict[str, Any] = {"nest": self.nest, "driver": own_identity(), "keeper": keeper, "hosts": [], "run": None}
        with open(os.path.join(self._folder, NOTE), "w", encoding="utf-8") as file:
            json.dump(note, file)

    def lines(self, places: Mapping[str, str], failed: Callable[[], str | None]) -> dict[str, Line]:
        """A line to the relay in each of these directories; ``failed`` says why there will never be one."""
        tell_places(self.nest, places)
        return lines_to(self.nest, list(places), failed)

    def close(self) -> None:
        """Take down what carried the calls."""
        with suppress(OSError):
            if self._keeper.stdin is not None:
                self._keeper.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._keeper.wait(_KEEPER_LEAVES_S)
        shutil.rmtree(self._folder, ignore_errors=True)
