"""The 95 % band of a scaling fit: how well the throughput at a number of workers is known.

Model: the law is written with the throughput at that number as a parameter in place of λ, X(n) = X(N) · f(n) / f(N) with
f(n) = n / (1 + σ(n−1) + κn(n−1)); the band is Student's t times the standard error of that parameter, from the Jacobian at the fit.
Source: reparametrisation for the expected response, Bates and Watts, "Nonlinear Regression Analysis and Its Applications" (1988), 2.3.
Limits: the band of the mean, not of single measurements; approximate, like the intervals of `plimsoll.analysis.scaling`; never below 0.

    low, high = band(fit, levels, throughputs, 16.0)
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.scaling import UslFit
from plimsoll.analysis.statistics.distributions import quantile
from plimsoll.analysis.statistics.regression import squares, standard_errors

_PARAMETERS = 3


def band(fit: UslFit, levels: Sequence[float], throughputs: Sequence[float], level: float) -> tuple[float, float] | None:
    """Lowest and highest throughput at ``level``; None where the observations leave nothing to judge the fit by."""
    degrees = len(levels) - _PARAMETERS
    middle = fit.throughput(level)
    if degrees < 1 or middle <= 0:
        return None
    left = squares([value / middle for value in throughputs], [fit.throughput(each) / middle for each in levels])
    errors = standard_errors([_derivatives(fit, each, level) for each in levels], left, degrees)
    if errors is None:
        return None
    half = quantile(0.975, degrees) * errors[0] * middle
    return max(0.0, middle - half), middle + half


def _derivatives(fit: UslFit, each: float, level: float) -> list[float]:
    """Of X(each) / X(level) by X(level) / X(level), σ and κ."""
    sigma, kappa = fit.sigma.value, fit.kappa.value
    slowed, slowed_there = (1 + sigma * (n - 1) + kappa * n * (n - 1) for n in (each, level))
    share = (each / slowed) / (level / slowed_there)
    return [
        share,
        share * ((level - 1) / slowed_there - (each - 1) / slowed),
        share * (level * (level - 1) / slowed_there - each * (each - 1) / slowed),
    ]
