"""What an estimate's interval says of the error of its logarithm, where ratios are differences.

Model: the delta method: the standard error of log x is that of x over x.

    standard_error(Estimate(1000, 990, 1010, batches=30))    # 0.00489
"""

from __future__ import annotations

from math import inf, log

from plimsoll.analysis.statistics.distributions import quantile
from plimsoll.result import Estimate

_UPPER = 0.975


def standard_error(estimate: Estimate) -> float | None:
    """Of the logarithm of its value; None without an interval."""
    if estimate.low is None or estimate.high is None:
        return None
    # On the logarithm where that exists; else relative, which is the same to first order, and of the side that is not cut off at 0.
    width = log(estimate.high / estimate.low) if estimate.low > 0 else 2 * (estimate.high - estimate.value) / estimate.value
    return width / (2 * quantile(_UPPER, degrees_of_freedom(estimate)))


def degrees_of_freedom(estimate: Estimate) -> float:
    """With which its interval was made."""
    return estimate.batches - 1 if estimate.batches > 1 else inf
