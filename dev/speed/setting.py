"""What all groups of goals share: the contestants, the files with holes, and how long and how often to measure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from speed.bare_ring import BareRing
from speed.fio import Fio
from speed.plimsoll import Plimsoll
from speed.process import BenchError
from speed.ring_loop import RingLoop

HOLE_BYTES = 1 << 30
HOLES = 8
NO_FIO = "fio is not installed"

Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Setting:
    """One run of the bench. ``fio``, ``ring_loop`` and ``bare_ring`` are None when they are not at hand; ``refused`` says of each
    contestant that was at hand and could not be measured why."""

    plimsoll: Plimsoll
    fio: Fio | None
    ring_loop: RingLoop | None
    bare_ring: BareRing | None
    holes: list[str]
    rounds: int
    seconds: float
    quick: bool
    refused: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def long_rounds(self) -> int:
        """Repetitions of what takes ten seconds and varies little."""
        return 1 if self.quick else min(self.rounds, 3)

    def interleaved(
        self, group: str, contestants: Mapping[str, Callable[[int], Measured]], rounds: int | None = None, *, turning: bool = False
    ) -> dict[str, list[Measured]]:
        """Measure each contestant in turn, round after round; each is given the number of the round. With ``turning`` every second round
        goes the other way (A B B A), so that what one leaves behind meets both."""
        measured: dict[str, list[Measured]] = {name: [] for name in contestants}
        count = self.rounds if rounds is None else rounds
        for number in range(1, count + 1):
            print(f"{group}: round {number} of {count}", file=sys.stderr, flush=True)
            order = list(contestants.items())
            for name, measure in reversed(order) if turning and number % 2 == 0 else order:
                if (group, name) not in self.refused:
                    self._measure(measured, (group, name), partial(measure, number))
        return {name: found for name, found in measured.items() if (group, name) not in self.refused}

    def _measure(self, measured: dict[str, list[Measured]], who: tuple[str, str], once: Callable[[], Measured]) -> None:
        """One measurement. A contestant that refuses is left out, and Plimsoll's rows beside it stay; without Plimsoll there is none."""
        try:
            measured[who[1]].append(once())
        except BenchError as problem:
            if who[1] == "plimsoll":
                raise
            self.refused[who] = str(problem)


def make_holes(folder: Path) -> list[str]:
    """Sparse files: reading them directly reaches the file system, but no device."""
    paths = [folder / f"hole{number}" for number in range(HOLES)]
    for path in paths:
        path.touch()
        with path.open("r+b") as file:
            file.truncate(HOLE_BYTES)
    return [str(path) for path in paths]
