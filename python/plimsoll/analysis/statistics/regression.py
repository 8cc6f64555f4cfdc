"""Least squares with a handful of parameters, in plain Python.

Model: linear fits by the normal equations, solved with pivoting after the columns are scaled to unit length; non-linear fits by
Levenberg's and Marquardt's damped Gauss-Newton steps (Marquardt, SIAM J. Appl. Math. 11, 1963). The covariance of the parameters is
s² (JᵀJ)⁻¹ with s² = residual sum of squares / degrees of freedom (Seber and Wild, "Nonlinear Regression", 1989, 2.1.2).
Limits: for up to about five parameters; a singular problem gives None, never a wrong answer.

    linear([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 3.0, 5.0])      # [1.0, 2.0]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, sqrt

Row = Sequence[float]
#: Predictions at the parameters, and their derivatives: one row per observation, one column per parameter.
Model = Callable[[Row], tuple[list[float], list[list[float]]]]

_STEPS_MAX = 200
_DAMPING_MAX = 1e12
_CONVERGED = 1e-14
_SINGULAR = 1e-13


def linear(rows: Sequence[Row], values: Row) -> list[float] | None:
    """The coefficients that bring ``rows`` nearest to ``values``; None when the rows do not determine them."""
    scales = _scales(rows)
    if scales is None:
        return None
    scaled = [[entry / scale for entry, scale in zip(row, scales, strict=True)] for row in rows]
    solution = _solved(_normal(scaled), _projected(scaled, values))
    return None if solution is None else [entry / scale for entry, scale in zip(solution, scales, strict=True)]


def nonlinear(model: Model, values: Row, start: Row) -> list[float] | None:
    """The parameters near ``start`` with the least sum of squared residuals; None when a step is undetermined."""
    parameters, damping = list(start), 1e-3
    predicted, derivatives = model(parameters)
    remaining = squares(values, predicted)
    for _ in range(_STEPS_MAX):
        residuals = [value - guess for value, guess in zip(values, predicted, strict=True)]
        step = _damped(derivatives, residuals, damping)
        if step is None:
            return None
        trial = [parameter + change for parameter, change in zip(parameters, step, strict=True)]
        tried, tried_derivatives = model(trial)
        left = squares(values, tried)
        if isfinite(left) and left <= remaining:
            improved = remaining - left
            parameters, predicted, derivatives, remaining, damping = trial, tried, tried_derivatives, left, damping / 10
            if improved <= _CONVERGED * (remaining + _CONVERGED * squares(values, [0.0] * len(values))):
                break
        elif damping > _DAMPING_MAX:
            break
        else:
            damping *= 10
    return parameters


def standard_errors(derivatives: Sequence[Row], residual_squares: float, degrees_of_freedom: int) -> list[float] | None:
    """Of every parameter, from the derivatives at the solution; None when they do not determine all."""
    scales = _scales(derivatives)
    if scales is None or degrees_of_freedom < 1:
        return None
    normal = _normal([[entry / scale for entry, scale in zip(row, scales, strict=True)] for row in derivatives])
    errors = []
    for index, scale in enumerate(scales):
        column = _solved(normal, [1.0 if position == index else 0.0 for position in range(len(scales))])
        if column is None:
            return None
        errors.append(sqrt(max(0.0, column[index]) * residual_squares / degrees_of_freedom) / scale)
    return errors


def squares(values: Row, predicted: Row) -> float:
    """The sum of squared residuals."""
    return sum((value - guess) ** 2 for value, guess in zip(values, predicted, strict=True))


def _damped(rows: Sequence[Row], residuals: Row, damping: float) -> list[float] | None:
    scales = _scales(rows)
    if scales is None:
        return None
    scaled = [[entry / scale for entry, scale in zip(row, scales, strict=True)] for row in rows]
    normal = _normal(scaled)
    for index in range(len(normal)):
        normal[index][index] *= 1 + damping
    step = _solved(normal, _projected(scaled, residuals))
    return None if step is None else [entry / scale for entry, scale in zip(step, scales, strict=True)]


def _scales(rows: Sequence[Row]) -> list[float] | None:
    lengths = [sqrt(sum(entry**2 for entry in column)) for column in zip(*rows, strict=True)]
    return lengths if lengths and all(isfinite(length) and length > 0 for length in lengths) else None


def _normal(rows: Sequence[Row]) -> list[list[float]]:
    columns = list(zip(*rows, strict=True))
    return [[sum(a * b for a, b in zip(left, right, strict=True)) for right in columns] for left in columns]


def _projected(rows: Sequence[Row], values: Row) -> list[float]:
    return [sum(entry * value for entry, value in zip(column, values, strict=True)) for column in zip(*rows, strict=True)]


def _solved(matrix: Sequence[Row], right: Row) -> list[float] | None:
    """Gauss elimination with partial pivoting; None when the matrix is singular."""
    size = len(right)
    table = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(table[row][column]))
        if abs(table[pivot][column]) < _SINGULAR:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        for row in range(column + 1, size):
            factor = table[row][column] / table[column][column]
            table[row] = [entry - factor * above for entry, above in zip(table[row], table[column], strict=True)]
    solution = [0.0] * size
    for row in reversed(range(size)):
        known = sum(table[row][column] * solution[column] for column in range(row + 1, size))
        solution[row] = (table[row][size] - known) / table[row][row]
    return solution
