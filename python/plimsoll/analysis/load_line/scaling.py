"""Scaling of throughput with concurrency: speed-up, efficiency, and the Universal Scalability Law with its band.

How throughput grows with concurrency: speed-up, efficiency, and the Universal Scalability Law.

Model: X(N) = λN / (1 + σ(N−1) + κN(N−1)) (Gunther, "Guerrilla Capacity Planning", 2007, ch. 4–6). λ is the throughput of one worker, σ
the share that is serial (contention), κ the price of keeping workers consistent with each other (coherency). With κ = 0 it is Amdahl's
law; with κ > 0 throughput peaks at N* = √((1−σ)/κ) and falls beyond. The fit is ordinary least squares on the throughput, started from
the linear form N/X; σ and κ are not negative: where the best fit would be, the parameter is 0 and the rest is fitted again. Intervals
are 95 %, Student's t times the standard errors from the Jacobian, cut off at 0.
Limits: at least four different levels, because three parameters fit three levels whatever they are. Residuals are taken to be of equal size
at all levels. Intervals are approximate near 0. The law describes; it does not say where contention comes from. Nor does it describe
everything: throughput that grows faster than in proportion, or bends sharply at a limit. Where the mean of a level is more than a fifth
away from the law (and that is more than a fiftieth of the largest throughput, since small ones weigh little in the fit), and repeats show
that this is not their scatter (F test of lack of fit, Draper and Smith, "Applied Regression Analysis", 3rd ed., 2.1; without repeats the
distance decides), the fit has a `Misfit`, and its parameters mean nothing.

    fit = usl_fit([1, 2, 4, 8, 16, 32], [995.0, 1890.0, 3480.0, 5700.0, 7600.0, 7500.0])
    fit.sigma.value, fit.kappa.value, fit.peak_level

The 95 % band of a fit: how well the throughput at a number of workers is known.

Model: the law is written with the throughput at that number as a parameter in place of λ, X(n) = X(N) · f(n) / f(N) with
f(n) = n / (1 + σ(n−1) + κn(n−1)); the band is Student's t times the standard error of that parameter, from the Jacobian at the fit.
Source: reparametrisation for the expected response, Bates and Watts, "Nonlinear Regression Analysis and Its Applications" (1988), 2.3.
Limits: the band of the mean, not of single measurements; approximate, like the intervals of `plimsoll.analysis.load_line.scaling`; never
below 0.

    low, high = band(fit, levels, throughputs, 16.0)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import sqrt
from typing import Any

from plimsoll.analysis.statistics.distributions import quantile, upper_p
from plimsoll.analysis.statistics.regression import Row, linear, nonlinear, squares, standard_errors
from plimsoll.records import dataclass
from plimsoll.result import Estimate

#: Different levels that a fit needs.
LEVELS_MIN = 4
_PARAMETERS = 3
#: A level whose mean is further from the law than this share of itself is not described by it.
MISFIT_SHARE_MIN = 0.2
#: And further than this share of the largest throughput: the law is fitted to throughputs, so small ones may be off by more of themselves.
_APART_MIN = 0.02
#: Unless the scatter of repeats explains as much with this probability.
_CHANCE_MAX = 0.05
#: Which of λ, σ, κ are fitted; the others are 0.
_CHOICES = ((0, 1, 2), (0, 2), (0, 1), (0,))


@dataclass(frozen=True)
class Misfit:
    """The level at which the law is furthest from what was measured, and by what share of it: 0.2 is a fifth above. ``chance`` is the
    probability that the scatter of repeats explains as much over all levels; None without repeats."""

    level: float
    share: float
    chance: float | None

    def words(self) -> str:
        """A sentence."""
        above = "above" if self.share > 0 else "below"
        return (
            f"The Universal Scalability Law does not describe this: at level {self.level:g} it is {100 * abs(self.share):.0f} % {above} "
            "what was measured, so it has no contention and coherency to tell."
        )


@dataclass(frozen=True)
class UslFit:
    """The three parameters with their 95 % intervals; with a ``misfit`` they describe nothing.

    ``peak_level`` is N*, None when it is not shown that throughput ever falls, that is, when κ may be 0; ``r_squared`` the share of the
    variance that the law explains, None when the throughput does not vary.
    """

    lambda_per_s: Estimate
    sigma: Estimate
    kappa: Estimate
    peak_level: float | None
    r_squared: float | None
    misfit: Misfit | None = None

    def throughput(self, level: float) -> float:
        """X(N)."""
        return _throughput(self.lambda_per_s.value, self.sigma.value, self.kappa.value, level)

    def to_json(self) -> dict[str, Any]:
        """For pages and programs."""
        return asdict(self)


@dataclass(frozen=True)
class ScalingRow:
    """One level against the lowest: how many times the throughput, and that over how many times the workers."""

    level: float
    throughput: float
    speed_up: float
    efficiency: float


def scaling_table(levels: Sequence[float], throughputs: Sequence[float]) -> tuple[ScalingRow, ...]:
    """Speed-up and efficiency of every level, repeats averaged; empty when the lowest level carried nothing."""
    groups: dict[float, list[float]] = {}
    for level, throughput in zip(levels, throughputs, strict=True):
        groups.setdefault(level, []).append(throughput)
    means = [(level, sum(group) / len(group)) for level, group in sorted(groups.items())]
    if not means or means[0][0] <= 0 or means[0][1] <= 0:
        return ()
    first, one = means[0]
    return tuple(ScalingRow(level, mean, mean / one, (mean / one) / (level / first)) for level, mean in means)


def usl_fit(levels: Sequence[float], throughputs: Sequence[float]) -> UslFit | None:
    """The fit; repeats are observations of their own. None with fewer than four different levels or without throughput at one."""
    if len(set(levels)) < LEVELS_MIN or min(levels) <= 0 or min(throughputs) <= 0:
        return None
    # Fitted in units of the largest throughput, so that no tolerance depends on what the throughput counts.
    unit = max(throughputs)
    values = [throughput / unit for throughput in throughputs]
    fitted = [found for choice in _CHOICES if (found := _fitted(levels, values, choice)) is not None]
    if not fitted:
        return None
    best = min(fitted, key=lambda parameters: squares(values, _model(levels, parameters)[0]))
    return _described(levels, values, best, unit)


def _fitted(levels: Sequence[float], values: Row, choice: Sequence[int]) -> tuple[float, float, float] | None:
    """λ, σ and κ with those outside ``choice`` 0; None when there is no fit or one of them is negative."""
    columns = [[1.0, level - 1, level * (level - 1)] for level in levels]
    start = linear(
        [[row[index] for index in choice] for row in columns], [level / value for level, value in zip(levels, values, strict=True)]
    )
    if start is None or start[0] <= 0:
        # Noise can turn the linear form over; begin at a law without contention instead.
        start = [levels[0] / values[0], *([0.01] * (len(choice) - 1))]
    first = [1 / start[0], *(max(0.0, entry / start[0]) for entry in start[1:])]

    def model(parameters: Row) -> tuple[list[float], list[list[float]]]:
        predicted, derivatives = _model(levels, _complete(parameters, choice))
        return predicted, [[row[index] for index in choice] for row in derivatives]

    found = nonlinear(model, values, first)
    if found is None or min(found) < 0 or found[0] <= 0:
        return None
    return _complete(found, choice)


def _complete(parameters: Row, choice: Sequence[int]) -> tuple[float, float, float]:
    full = dict(zip(choice, parameters, strict=True))
    return full.get(0, 0.0), full.get(1, 0.0), full.get(2, 0.0)


def _throughput(one: float, sigma: float, kappa: float, level: float) -> float:
    slowed = 1 + sigma * (level - 1) + kappa * level * (level - 1)
    return one * level / slowed if slowed else float("inf")


def _model(levels: Sequence[float], parameters: tuple[float, float, float]) -> tuple[list[float], list[list[float]]]:
    one, sigma, kappa = parameters
    predicted, derivatives = [], []
    for level in levels:
        value = _throughput(one, sigma, kappa, level)
        slowed = 1 + sigma * (level - 1) + kappa * level * (level - 1) or 1e-300
        predicted.append(value)
        derivatives.append([level / slowed, -value * (level - 1) / slowed, -value * level * (level - 1) / slowed])
    return predicted, derivatives


def _described(levels: Sequence[float], values: Row, parameters: tuple[float, float, float], unit: float) -> UslFit:
    predicted, derivatives = _model(levels, parameters)
    left = squares(values, predicted)
    mean = sum(values) / len(values)
    around_mean = squares(values, [mean] * len(values))
    degrees = len(values) - _PARAMETERS
    errors = standard_errors(derivatives, left, degrees)
    t = quantile(0.975, degrees)
    one, sigma, kappa = (_estimate(value, t * errors[index] if errors else None, len(values)) for index, value in enumerate(parameters))
    return UslFit(
        lambda_per_s=_times(one, unit),
        sigma=sigma,
        kappa=kappa,
        peak_level=sqrt((1 - sigma.value) / kappa.value) if _surely_positive(kappa) and sigma.value < 1 else None,
        r_squared=1 - left / around_mean if around_mean > 1e-12 * len(values) else None,
        misfit=_misfit(levels, values, parameters),
    )


def _misfit(levels: Sequence[float], values: Row, parameters: tuple[float, float, float]) -> Misfit | None:
    """Where the law does not describe what was measured; None where it does, or where the scatter of repeats may be all there is."""
    groups: dict[float, list[float]] = {}
    for level, value in zip(levels, values, strict=True):
        groups.setdefault(level, []).append(value)
    means = {level: sum(group) / len(group) for level, group in groups.items()}
    shares = {level: _throughput(*parameters, level) / mean - 1 for level, mean in means.items()}
    far = [
        level for level, share in shares.items() if abs(share) > MISFIT_SHARE_MIN and abs(share) * means[level] > _APART_MIN * max(values)
    ]
    if not far:
        return None
    worst = max(far, key=lambda level: abs(shares[level]))
    apart = sum(len(group) * (means[level] * shares[level]) ** 2 for level, group in groups.items())
    scatter = sum((value - means[level]) ** 2 for level, group in groups.items() for value in group)
    above, below = len(groups) - _PARAMETERS, len(values) - len(groups)
    if below < 1:
        return Misfit(worst, shares[worst], None)
    chance = upper_p((apart / above) / (scatter / below), above, below) if scatter > 0 else 0.0
    return Misfit(worst, shares[worst], chance) if chance < _CHANCE_MAX else None


def _surely_positive(estimate: Estimate) -> bool:
    return (estimate.value if estimate.low is None else estimate.low) > 0


def _estimate(value: float, half_width: float | None, count: int) -> Estimate:
    return Estimate(value) if half_width is None else Estimate(value, max(0.0, value - half_width), value + half_width, count)


def _times(estimate: Estimate, unit: float) -> Estimate:
    low, high = (None if bound is None else bound * unit for bound in (estimate.low, estimate.high))
    return Estimate(estimate.value * unit, low, high, estimate.batches)


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
