"""The null model: a power law of what a row asks for, which knows nothing of storage.

Model: requests per second = a · size^b · block^c · level^d by least squares of the logarithms, one law for every kind of row (workload and
access). A factor that does not vary among the rows it is fitted to is left out; so is one for which rows are too few. What a modelled array
predicts is worth something only where it is nearer than this.

    law = power_law(rows)
    law.iops(row)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.analysis.adjustment.row import Row

#: What a power law is of, the first first if rows are few.
FACTORS = ("block_size", "region_length", "level", "read_percent")


@dataclass(frozen=True)
class PowerLaw:
    """One law per kind of row: the logarithm of a, and exponents by factor."""

    laws: dict[str, tuple[float, dict[str, float]]]

    def iops(self, row: Row) -> float | None:
        """What the law says of a row; None for a kind that it was not fitted to."""
        law = self.laws.get(row.kind)
        if law is None:
            return None
        constant, exponents = law
        logarithm = constant
        for factor, exponent in exponents.items():
            value = row.number(factor)
            if not value:
                return None
            logarithm += exponent * math.log(value)
        return math.exp(logarithm)


def power_law(rows: Sequence[Row]) -> PowerLaw:
    """The law that fits these rows."""
    kinds = dict.fromkeys(row.kind for row in rows)
    return PowerLaw({kind: _law([row for row in rows if row.kind == kind]) for kind in kinds})


def _law(rows: Sequence[Row]) -> tuple[float, dict[str, float]]:
    factors = [factor for factor in FACTORS if _varies(rows, factor)][: max(0, len(rows) - 1)]
    while True:
        table = [[1.0, *(math.log(row.number(factor) or 1.0) for factor in factors)] for row in rows]
        solved = _least_squares(table, [math.log(row.iops) for row in rows])
        if solved is not None:
            return solved[0], dict(zip(factors, solved[1:], strict=True))
        # Two factors went up and down together: the later one explains nothing.
        factors.pop()


def _varies(rows: Sequence[Row], factor: str) -> bool:
    values = [row.number(factor) for row in rows]
    return all(values) and len(set(values)) > 1


def _least_squares(table: list[list[float]], answers: list[float]) -> list[float] | None:
    """The normal equations, by elimination with pivots; None where they have no single solution."""
    size = len(table[0])
    left = [[sum(line[row] * line[column] for line in table) for column in range(size)] for row in range(size)]
    right = [sum(line[row] * answer for line, answer in zip(table, answers, strict=True)) for row in range(size)]
    scale = [left[place][place] for place in range(size)]
    for place in range(size):
        pivot = max(range(place, size), key=lambda row: abs(left[row][place]))
        if abs(left[pivot][place]) < 1e-9 * scale[place]:
            return None
        left[place], left[pivot] = left[pivot], left[place]
        right[place], right[pivot] = right[pivot], right[place]
        for row in range(place + 1, size):
            factor = left[row][place] / left[place][place]
            left[row] = [value - factor * above for value, above in zip(left[row], left[place], strict=True)]
            right[row] -= factor * right[place]
    solution = [0.0] * size
    for place in reversed(range(size)):
        known = sum(left[place][column] * solution[column] for column in range(place + 1, size))
        solution[place] = (right[place] - known) / left[place][place]
    return solution
