"""How long the response still settled: the truncation point of MSER-5.

Model: the series is averaged in fives; of all beginnings that could be cut off, the one is chosen that leaves the smallest standard error
of the mean of what remains: cutting more removes bias, cutting too much removes data (K. P. White, "An effective truncation heuristic for
bias reduction in simulation output", Simulation 69, 1997; White, Cobb and Spratt, "A comparison of five steady-state truncation
heuristics for simulation", Winter Simulation Conference 2000). A choice in the later half means that the series did not settle.
The rule always finds some best cut, in pure noise as well. So a `Transient` says how many standard errors apart the cut part and the rest
are, with the correlation of neighbours taken into account; it is `significant` beyond `ERRORS_MIN`, which the best of many cuts of a
stationary series reaches in about 1 of 100 series or less.
Limits: `FIVES_MIN` fives at least; a series that climbs throughout is for `steady` to find.

    transient = find_transient([slice.rate_per_s for slice in series])
    if transient is not None and transient.significant: ...
    transient.length, transient.before, transient.after
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from plimsoll.analysis.confidence import mean_interval
from plimsoll.analysis.student import quantile

FIVES_MIN = 8
ERRORS_MIN = 4.0
_FIVE = 5
_UPPER_PROBABILITY = 0.975


@dataclass(frozen=True)
class Transient:
    """The first ``length`` values, their mean, the mean of the rest, and how many standard errors lie between."""

    length: int
    before: float
    after: float
    errors: float

    @property
    def significant(self) -> bool:
        """Whether chance does not explain the difference."""
        return self.errors >= ERRORS_MIN


def truncation_point(values: Sequence[float]) -> int | None:
    """How many values MSER-5 cuts off at the start; None when the series is too short or did not settle in its first half."""
    fives = [sum(values[start : start + _FIVE]) / _FIVE for start in range(0, len(values) - _FIVE + 1, _FIVE)]
    if len(fives) < FIVES_MIN:
        return None
    best, best_at = inf, 0
    total = squares = 0.0
    # Deviations from the last value: sums of squares of large close numbers would lose their digits.
    for at in range(len(fives) - 1, -1, -1):
        deviation = fives[at] - fives[-1]
        total, squares, kept = total + deviation, squares + deviation * deviation, len(fives) - at
        error = (squares - total * total / kept) / kept**2
        # The last few are alike by chance; they are no candidates (White, Cobb and Spratt leave out five).
        if kept > _FIVE and error <= best:
            best, best_at = error, at
    return best_at * _FIVE if best_at <= len(fives) // 2 else None


def find_transient(values: Sequence[float]) -> Transient | None:
    """The beginning that MSER-5 cuts off; None when it cuts nothing or cannot tell."""
    length = truncation_point(values)
    if not length:
        return None
    rest = mean_interval(values[length:])
    before = sum(values[:length]) / length
    if rest.low is None or rest.high is None:
        return None
    count = len(values) - length
    error = (rest.high - rest.low) / 2 / quantile(_UPPER_PROBABILITY, max(1, rest.batches - 1))
    # The error of a mean falls with the root of how many values it is of.
    apart = error * sqrt(1 + count / length)
    distance = abs(before - rest.value)
    errors = distance / apart if apart > 0 else (inf if distance > 0 else 0.0)
    return Transient(length, before, rest.value, errors)
