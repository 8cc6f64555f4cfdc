"""Tables of comparisons with known truth, and how often they show a difference where there is none.

Model: twelve points on two sides measured in turn. Repeats of a point scatter by 1 % times a factor of the point's own; turns may differ by
more. Printing the table of METHODOLOGY.md takes some minutes:

    python tests/support/simulated_tables.py
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import exp

from plimsoll.analysis.comparison.ratio import Ratio, holm, ratio
from plimsoll.analysis.comparison.scatter import Common, Repeats
from plimsoll.result import Estimate

#: Factors of the points' scatter, over and over.
ALIKE, SPREAD, ONE_WIDE = (1.0,), (0.5, 1.0, 2.0), (*[1.0] * 11, 10.0)
POINTS = 12


def known(logarithm: float, within: float = 1e-4) -> Estimate:
    """A value of 1,000 times a power of e, whose interval reaches as far on the logarithm as ``within``."""
    return Estimate(1000 * exp(logarithm), 1000 * exp(logarithm - within), 1000 * exp(logarithm + within))


def judged(point: Repeats, common: Common) -> Ratio:
    """The second side over the first."""
    found = ratio(point.sides[1], point.sides[0], common.at(point))
    assert found is not None
    return found


@dataclass(frozen=True)
class World:
    """Where tables come from: ``apart`` is the logarithm of the ratio of the sides, ``turns`` the scatter of turns."""

    repeats: int
    turns: float = 0.0
    factors: tuple[float, ...] = ALIKE
    apart: float = 0.0
    in_turn: bool = True

    def shown(self, random_: random.Random) -> int:
        """How many differences a table of it shows."""
        points = []
        for number in range(POINTS):
            own = 0.01 * self.factors[number % len(self.factors)]
            means = [random_.gauss(0, self.turns) for _ in range(self.repeats)]
            sides = [[known(side * self.apart + mean + random_.gauss(0, own), 0.008) for mean in means] for side in range(2)]
            points.append(Repeats(sides, self.in_turn))
        common = Common.of(points)
        return sum(p is not None and p < 0.05 for p in holm([judged(point, common).p for point in points]))


def _share(world: World, tables: int, *, of_points: bool) -> float:
    random_ = random.Random(5)
    shown = [world.shown(random_) for _ in range(tables)]
    return 100 * sum(shown) / (tables * POINTS) if of_points else 100 * sum(map(bool, shown)) / tables


def main() -> None:
    """Prints the table."""
    for repeats in (2, 3, 5):
        for factors in (ALIKE, SPREAD, ONE_WIDE):
            alarms = [_share(World(repeats, turns, factors), 2000, of_points=False) for turns in (0.0, 0.03)]
            print(f"{repeats} repeats, scatter {factors}: {alarms[0]:.1f} ({alarms[1]:.1f}) of 100 tables", flush=True)
    for in_turn in (True, False):
        found = _share(World(3, 0.03, apart=0.04, in_turn=in_turn), 300, of_points=True)
        print(f"3 repeats, sides 4 % apart, turns {'taken out' if in_turn else 'left in'}: found at {found:.0f} of 100 points", flush=True)


if __name__ == "__main__":
    main()
