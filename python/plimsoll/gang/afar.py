"""What hosts that are elsewhere hold of a gang that nobody commands any more, over ssh.

Model: each host is reached as when it measured, with the environment that its cache has; what attends there answers for its files. A host
that cannot be reached is left out, with a sentence.

    with afar(lineup, {"db1": "x1/db1"}, print) as stores:
        collect(run, stores)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from plimsoll.errors import PlimsollError, StoreError
from plimsoll.gang.environment import environment_of
from plimsoll.gang.line import LineLost
from plimsoll.gang.lineup import Lineup
from plimsoll.gang.ssh import COMMANDS
from plimsoll.gang.talk import Talk
from plimsoll.gang.wired import Wired

#: Of one answer; pieces are a megabyte.
_ANSWERS_S = 60.0


class Afar:
    """The store of one host."""

    def __init__(self, host: str, line: Wired) -> None:
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
def afar(lineup: Lineup, places: Mapping[str, str], tell: Callable[[str], None]) -> Iterator[dict[str, Afar]]:
    """The stores of the hosts that can be reached; ``places`` are theirs below the directory of all gangs."""
    environment = environment_of(["ray"] if lineup.carrier == "ray" else [])
    lines: dict[str, Wired] = {}
    try:
        for seat in lineup.seats:
            if seat.name not in places:
                continue
            try:
                talk = Talk(seat, environment, COMMANDS[lineup.launcher])
                talk.carry()
                talk.become({"be": "attendant", "words": ["store", places[seat.name]]})
            except PlimsollError as problem:
                tell(str(problem))
            else:
                lines[seat.name] = Wired(talk)
        yield {host: Afar(host, line) for host, line in lines.items()}
    finally:
        for line in lines.values():
            line.close()
