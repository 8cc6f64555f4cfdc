"""What all groups of goals share: the contestants, the files with holes, and how long and how often to measure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from speed.fio import Fio
from speed.plimsoll import Plimsoll
from speed.ring_loop import RingLoop

HOLE_BYTES = 1 << 30
HOLES = 8
NO_FIO = "fio is not installed"

Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Setting:
    """One run of the bench. ``fio`` and ``ring_loop`` are None when they are not at hand."""

    plimsoll: Plimsoll
    fio: Fio | None
    ring_loop: RingLoop | None
    holes: list[str]
    rounds: int
    seconds: float
    quick: bool

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
                measured[name].append(measure(number))
        return measured


def make_holes(folder: Path) -> list[str]:
    """Sparse files: reading them directly reaches the file system, but no device."""
    paths = [folder / f"hole{number}" for number in range(HOLES)]
    for path in paths:
        path.touch()
        with path.open("r+b") as file:
            file.truncate(HOLE_BYTES)
    return [str(path) for path in paths]
