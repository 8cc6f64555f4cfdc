"""Workers on this machine: a trial of what several hosts do, and what tests measure with.

Model: a keeper holds the workers and what carries their calls, Ray unless another is named. Sockets and logs lie in a directory that only
its user can enter; what workers store lies in the user's state (`$XDG_STATE_HOME/plimsoll/gangs`), which outlives them and the command.
`PLIMSOLL_GANG_CARRIER=direct` carries calls over sockets alone, without Ray: it starts at once, and is what quick tests use.

    launcher = Local(lineup_of("local:3"))
    lines = launcher.launch()
    launcher.close(keep=False)
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from plimsoll.errors import EngineError, StoreError
from plimsoll.gang.line import Direct, Line
from plimsoll.gang.lineup import Lineup
from plimsoll.gang.nest import KEEPER, LEASE, NOTE, SPECIFICATION, made_nest
from plimsoll.gang.relay import Relay
from plimsoll.orphans import gangs_folder
from plimsoll.store.writer import identity_of, own_identity
from plimsoll.stored import Json

CARRIER = "PLIMSOLL_GANG_CARRIER"
_KEEPER_LEAVES_S = 30.0


class Local:
    """See the module."""

    def __init__(self, lineup: Lineup) -> None:
        self._lineup = lineup
        self._keeper: subprocess.Popen[bytes] | None = None
        self._nest = ""
        self._run: str | None = None
        self.store = ""

    @property
    def hosts(self) -> tuple[str, ...]:
        return self._lineup.names

    def launch(self) -> dict[str, Line]:
        direct = os.environ.get(CARRIER) == "direct"
        if not direct:
            from plimsoll.gang.switchboard import check_installed

            check_installed()
        self._make()
        carriers: list[Any] = []
        if not direct:
            from plimsoll.gang.switchboard import carrier_here, free_port, tell_places

            carriers = [carrier_here(self._nest, f"127.0.0.1:{free_port('127.0.0.1')}", network=False)]
            tell_places(self._nest, {host: os.path.join(self._nest, host) for host in self.hosts})
        with open(os.path.join(self._nest, KEEPER), "w", encoding="utf-8") as file:
            json.dump({"workers": self.hosts, "carriers": carriers}, file)
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", "plimsoll.gang.keeper", self._nest],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._note()
        try:
            if direct:
                return {host: Direct(Relay(os.path.join(self._nest, host))) for host in self.hosts}
            from plimsoll.gang.switchboard import lines_to

            return lines_to(self._nest, self.hosts)
        except OSError as problem:
            raise EngineError(f"--hosts {self._lineup.text}: the workers cannot be started ({problem}).") from None

    def close(self, *, keep: bool) -> None:
        keeper = self._keeper
        if keeper is not None:
            with suppress(OSError):
                if keeper.stdin is not None:
                    keeper.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                keeper.wait(_KEEPER_LEAVES_S)
        if not keep:
            shutil.rmtree(self.store, ignore_errors=True)

    def _make(self) -> None:
        """The two directories, with what each worker is told."""
        root = gangs_folder()
        try:
            self._nest = made_nest()
            self.store = os.path.join(root, f"{time.strftime('%Y-%m-%dT%H-%M-%S')}-{secrets.token_hex(3)}")
            os.makedirs(self.store, mode=0o700)
            for host in self.hosts:
                folder = os.path.join(self._nest, host)
                os.mkdir(folder)
                store = os.path.join(self.store, host)
                os.mkdir(store)
                with open(os.path.join(folder, SPECIFICATION), "w", encoding="utf-8") as file:
                    json.dump({"name": host, "store": store, "cwd": os.getcwd()}, file)
                with open(os.path.join(folder, LEASE), "w", encoding="utf-8"):
                    pass
        except OSError as problem:
            raise StoreError(f"{root}: what workers measure cannot be kept there ({(problem.strerror or str(problem)).lower()}).") from None

    def _note(self) -> None:
        """How whoever comes later finds the gang."""
        keeper = identity_of(self._keeper.pid) if self._keeper is not None else {}
        note: Json = {"nest": self._nest, "driver": own_identity(), "keeper": keeper, "hosts": list(self.hosts), "run": self._run}
        beside = os.path.join(self.store, f".{NOTE}")
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(note, file)
        os.replace(beside, os.path.join(self.store, NOTE))

    def serve(self, run: str) -> Json:
        """The run that is measured, for who finds the gang; where each host keeps what it measures, for who finds the run."""
        self._run = os.path.abspath(run)
        with suppress(OSError):
            self._note()
        return {"hosts": self._lineup.text, "stores": {host: os.path.join(self.store, host) for host in self.hosts}}
