"""Whether an open load was carried: completed requests over those that were due.

Model: arrivals are drawn, so in a short measurement fewer requests fall due than the rate says, and completing all of them is no sign of
saturation. What the target owes at the end bounds what it can have missed: the requests that were due are at most those completed and those
unfinished, and at least those completed. Without a count of the unfinished ones, the offered rate stands for what was due.

    due_per_s(100.0, iops=83.0, unfinished=0, elapsed_s=1.0)      # 83.0: nothing was left undone
    due_per_s(100.0, iops=83.0, unfinished=40, elapsed_s=1.0)     # 100.0

Limits: requests that were unfinished already when the measured time began are not taken off, so a target that answers after a good part
of the measured time looks a little slower than it is; never faster.
"""

from __future__ import annotations

from dataclasses import replace

from plimsoll.result import Estimate, Result


def due_per_s(offered: float, *, iops: float, unfinished: int | None, elapsed_s: float | None) -> float:
    """Requests per second that were due, at most ``offered`` unless more were completed."""
    if unfinished is None or not elapsed_s:
        return offered
    return min(offered, iops + unfinished / elapsed_s)


def share(result: Result, iops: Estimate, offered: float) -> Estimate:
    """``iops`` of ``result`` over what was due of ``offered`` requests per second; 1 is all."""
    elapsed_s = elapsed(result)

    def of(rate: float | None) -> float | None:
        if rate is None:
            return None
        due = due_per_s(offered, iops=rate, unfinished=result.unfinished, elapsed_s=elapsed_s)
        return rate / due if due else 1.0

    value = of(iops.value)
    assert value is not None
    return replace(iops, value=value, low=of(iops.low), high=of(iops.high))


def elapsed(result: Result) -> float | None:
    """The measured time in seconds, from counts and rates; None when nothing was measured."""
    return next((total.count / total.iops for total in result.totals.values() if total.iops > 0), None)
