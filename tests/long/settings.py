"""Seed and scale of the long suite, from the environment.

Model: `PLIMSOLL_LONG_SEED` is the number that everything random follows from, drawn anew unless it is set. `PLIMSOLL_LONG_SCALE` says how much
is tried: 1 is the whole suite, 0.05 a twentieth of it, at least one trial of each kind.

    for _ in range(scale.times(100)):
        instant_s = draws.uniform(0, scale.seconds(3, least=0.5))
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """How much of the suite is tried, 1 for all of it."""

    factor: float

    def times(self, whole: int, least: int = 1) -> int:
        """So many of ``whole`` trials."""
        return max(least, round(whole * self.factor))

    def every(self) -> int:
        """Of things whose number nobody knows before, one of so many."""
        return max(1, round(1 / self.factor))

    def some(self, whole: int, least: int = 1) -> int:
        """So many of ``whole`` cases, never more than there are."""
        return min(whole, self.times(whole, least))

    def seconds(self, whole: float, least: float) -> float:
        """So many of ``whole`` seconds."""
        return max(least, whole * self.factor)


#: Drawn once a session; this module is imported by one name only, so that there is one seed, which processes that test side by side inherit.
SEED = int(os.environ.get("PLIMSOLL_LONG_SEED") or random.SystemRandom().randrange(1 << 32))
os.environ["PLIMSOLL_LONG_SEED"] = str(SEED)
SCALE = Scale(float(os.environ.get("PLIMSOLL_LONG_SCALE") or 1))


def spoken() -> str:
    """What repeats this session."""
    return f"PLIMSOLL_LONG_SEED={SEED} PLIMSOLL_LONG_SCALE={SCALE.factor:g}"
