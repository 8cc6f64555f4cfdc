"""The first two derivatives of the logarithm of the gamma function: mean and variance of the logarithm of a variance.

Model: recurrence up to 10, from there the asymptotic series (Abramowitz and Stegun, Handbook of Mathematical Functions, 6.3.18 and 6.4.12).
Limits: positive arguments; relative error below 1e-10 (of digamma absolute near its zero).

    digamma(1.0)                # -0.5772156649
    trigamma(1.0)               # 1.6449340668
    inverse_trigamma(1.64493)   # 1.0
"""

from __future__ import annotations

from math import log, sqrt

#: From here on the series is used.
_SERIES_FROM = 10.0
#: Between these is every argument that means anything; halving the logarithm so often leaves nothing between.
_LEAST, _MOST, _HALVINGS = 1e-8, 1e8, 64


def digamma(x: float) -> float:
    """The first derivative, for x above 0."""
    before = 0.0
    while x < _SERIES_FROM:
        before, x = before - 1.0 / x, x + 1.0
    square = 1.0 / (x * x)
    return before + log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))


def trigamma(x: float) -> float:
    """The second derivative, for x above 0."""
    before = 0.0
    while x < _SERIES_FROM:
        before, x = before + 1.0 / (x * x), x + 1.0
    square = 1.0 / (x * x)
    return before + 1.0 / x + 0.5 * square + square / x * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30)))


def inverse_trigamma(value: float) -> float:
    """Where `trigamma`, which falls, has this value above 0; within 1e-8 and 1e8."""
    low, high = _LEAST, _MOST
    for _ in range(_HALVINGS):
        middle = sqrt(low * high)
        low, high = (middle, high) if trigamma(middle) > value else (low, middle)
    return sqrt(low * high)
