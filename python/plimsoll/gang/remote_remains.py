"""What hosts that are elsewhere hold of a gang that nobody commands any more, over ssh.

Model: the hosts are reached beside each other, each as when it measured, with the environment that its cache has; what attends there
answers for its files. It leaves when nobody asks, so every host is asked for its clock from time to time, while others are read. A host
that cannot be reached is left out, with a sentence.

    with remote_remains(lineup, {"db1": "x1/db1"}, print) as stores:
        collect(run, stores)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from plimsoll.errors import PlimsollError, StoreError
from plimsoll.gang.environment import environment_of
from plimsoll.gang.line import LineLost
from plimsoll.gang.lineup import Lineup
from plimsoll.gang.ssh import Seat
from plimsoll.gang.ssh_line import SshLine
from plimsoll.gang.talk import Talk
from plimsoll.gang.visit import way_to

#: Of one answer; pieces are a megabyte.
_ANSWERS_S = 60.0
#: How often a host is asked for its clock: well below the patience of `plimsoll.gang.attendant`.
_ASKED_S = 5.0
#: Connections that are begun at once.
_BESIDE = 16


class RemoteRemains:
    """The store of one host."""

    def __init__(self, host: str, line: SshLine) -> None:
        self._host = host
        self._line = line

    def runs(self) -> list[str]:
        return list(self._ask("runs"))

    def points(self, run: str) -> list[str]:
        return list(self._ask("points", run))

    def is_measuring(self, run: str) -> bool:
        return bool(self._ask("is_measuring", run))

    def files(self, path: str) -> list[tuple[str, int]]:
        return [(name, size) for name, size in self._ask("files", path)]

    def piece(self, path: str, offset: int) -> str:
        return str(self._ask("piece", path, offset))

    def forget(self) -> None:
        self._ask("forget")

    def _ask(self, verb: str, *arguments: Any) -> Any:
        try:
            return self._line.call(verb, *arguments, within_s=_ANSWERS_S)
        except (LineLost, OSError) as lost:
            raise StoreError(f"{self._host}: what it stored cannot be read ({lost}); collect again later.") from None


@contextmanager
def remote_remains(lineup: Lineup, places: Mapping[str, str], tell: Callable[[str], None]) -> Iterator[dict[str, RemoteRemains]]:
    """The stores of the hosts that can be reached; ``places`` are theirs below the directory of all gangs."""
    environment = environment_of(["ray"] if lineup.carrier == "ray" else [])
    lines: dict[str, SshLine] = {}
    done = threading.Event()

    def reach(seat: Seat) -> str | None:
        try:
            talk = Talk(seat, environment, command, lineup.launcher)
            talk.carry()
            talk.become({"be": "attendant", "words": ["store", places[seat.name]]})
        except PlimsollError as problem:
            return str(problem)
        line = lines[seat.name] = SshLine(talk)
        threading.Thread(target=_keep_asking, args=(line, done), name=f"plimsoll-afar-{seat.name}", daemon=True).start()
        return None

    seats = [seat for seat in lineup.seats if seat.name in places]
    ways = ExitStack()
    try:
        command = ways.enter_context(way_to(lineup))
        with ThreadPoolExecutor(_BESIDE) as pool:
            for problem in filter(None, pool.map(reach, seats)):
                tell(problem)
        yield {seat.name: RemoteRemains(seat.name, lines[seat.name]) for seat in seats if seat.name in lines}
    finally:
        done.set()
        for line in lines.values():
            line.close()
        ways.close()


def _keep_asking(line: SshLine, done: threading.Event) -> None:
    """Until ``done``, or until the line is lost, which whoever asks for a file is told."""
    with suppress(LineLost, OSError):
        while not done.wait(_ASKED_S):
            line.call("clock", within_s=_ANSWERS_S)
