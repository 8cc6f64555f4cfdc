"""Offered load: whether an open load was carried, completed requests over those that were due.

Model: arrivals are drawn, so in a short measurement fewer requests fall due than the rate says, and completing all of them is no sign of
saturation. What the target owes at the end bounds what it can have missed: the requests that were due are at most those completed and those
unfinished, and at least those completed. Without a count of the unfinished ones, the offered rate stands for what was due.

    due_per_s(100.0, iops=83.0, unfinished=0, elapsed_s=1.0)      # 83.0: nothing was left undone
    due_per_s(100.0, iops=83.0, unfinished=40, elapsed_s=1.0)     # 100.0
    achieved(repeats)                                             # whether the target may have kept up

Limits: requests that were unfinished already when the measured time began are not taken off, so a target that answers after a good part
of the measured time looks a little slower than it is; never faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

from plimsoll.analysis.point.definition import ACHIEVED_SHARE_MIN, is_open, offered_per_s, rated_operations, streams
from plimsoll.analysis.point.metric import ALL, metric
from plimsoll.analysis.point.repeats import pool_repeats
from plimsoll.result import Estimate, Result, Totals
from plimsoll.stored import Stream

#: The flag of a point whose target did not keep up (`plimsoll.analysis.validity`).
NOT_ACHIEVED = "rate_not_achieved"


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


def carried(results: Sequence[Result]) -> Estimate | None:
    """The share of all repeats of a point together; None when nothing was offered at a rate of its own."""
    shares = [found for result in results if (found := _carried(result)) is not None]
    return pool_repeats(shares) if shares else None


def achieved(results: Sequence[Result]) -> bool:
    """Whether the target may have kept up with what was offered to the repeats of a point; with a closed loop it always does.

    Where the share has an interval, all of it must lie below 97 % to say that the target did not: few requests complete less by chance.
    """
    found = carried(results)
    return found is None or (found.value if found.high is None else found.high) >= share_min(results)


def share_min(results: Sequence[Result]) -> float:
    """The least share of an open load that counts as carried by these repeats of a point."""
    due = sum(
        (sum(offered_per_s(result.job.definition).values()) or result.offered_per_s or 0.0) * (elapsed(result) or 0.0) for result in results
    )
    open_streams = [stream for result in results for stream in streams(result.job.definition) if is_open(stream)]
    return share_min_of(due, drawn=any(stream["arrival"] != "constant" for stream in open_streams))


def share_min_of(due: float, *, drawn: bool) -> float:
    """The same of so many requests due, whose instants are ``drawn`` or regular.

    Of n drawn arrivals √n more or fewer is their standard deviation; a shortfall within it says nothing about the target.
    """
    return min(ACHIEVED_SHARE_MIN, 1.0 - 1.0 / sqrt(due)) if drawn and due >= 1 else ACHIEVED_SHARE_MIN


def saturated(results: Sequence[Result]) -> bool:
    """Whether latencies of these repeats grow for as long as the load lasts: one is flagged, or all together were not achieved."""
    return any(flag.name == NOT_ACHIEVED for result in results for flag in result.flags) or not achieved(results)


def _carried(result: Result) -> Estimate | None:
    """With bounds where no closed stream shares the totals; a definition without rates leaves the rate that the result names."""
    definition = result.job.definition
    rates = offered_per_s(definition)
    offered = sum(rates.values()) or result.offered_per_s
    if not offered:
        return None
    open_streams = [stream for stream in streams(definition) if not rates or stream.get("name") in rates]
    alone = len(open_streams) == len(streams(definition))
    rate = _rate_of_all(result, open_streams) if alone else None
    if rate is None:
        rate = Estimate(sum(offered_kind_per_s(stream, result.streams.get(str(stream.get("name")), {})) for stream in open_streams))
    return share(result, rate, offered)


def _rate_of_all(result: Result, open_streams: Sequence[Stream]) -> Estimate | None:
    """With its bounds, what was completed of the kind that rates are of, where all streams agree on it."""
    kinds = {rated_operations(stream) for stream in open_streams}
    only = kinds.pop() if len(kinds) == 1 else None
    return metric(result, next(iter(only)) if only is not None and len(only) == 1 else ALL, "iops")


def offered_kind_per_s(stream: Stream, totals: Totals) -> float:
    """Completions per second that count against the rate of a stream: of file operations those drawn, not the opening and closing that
    come with them; of transactions new orders."""
    rated = rated_operations(stream)
    return sum(total.iops for op, total in totals.items() if rated is None or op in rated)


def lasted_s(result: Result) -> float:
    """How long a point was measured; as long as was asked for where nothing was."""
    return elapsed(result) or result.job.duration_s


def elapsed(result: Result) -> float | None:
    """The measured time in seconds, from counts and rates; None when nothing was measured."""
    return next((total.count / total.iops for total in result.totals.values() if total.iops > 0), None)
