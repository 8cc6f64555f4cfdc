"""A percentage of the maximum as a rate to ask for: exactly, or rounded as Vdbench rounds it.

Model of Vdbench 5.04.07, reproduced on all 525 curve points of 40 published runs: the maximum is rounded half up to a whole number, the
percentage of it is cut to a whole number, and that goes up to the next multiple of 10, or of 100 when it is above 1,000. A tiny rate
becomes 10. (Its manual says "above 100".)

    vdbench(12_345.4, 50)        # 6,200
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

#: A rate from the maximum and a percentage.
Rounding = Callable[[float, float], float]

FINE, COARSE, COARSE_ABOVE = 10, 100, 1000


def exact(maximum: float, percent: float) -> float:
    """The percentage as it is, to a thousandth of a request per second."""
    return round(maximum * percent / 100, 3)


def vdbench(maximum: float, percent: float) -> float:
    """As Vdbench asks it."""
    # Fractions, so that 12.5 % of a whole number is cut where Vdbench's integers cut it.
    whole = math.floor(math.floor(maximum + 0.5) * Fraction(str(percent)) / 100)
    step = COARSE if whole > COARSE_ABOVE else FINE
    return float(max(FINE, -(-whole // step) * step))


#: By the word that experiment files use.
ROUNDINGS: dict[str, Rounding] = {"none": exact, "vdbench": vdbench}
