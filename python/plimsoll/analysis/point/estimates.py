"""The estimates of a point: every metric with its 95 % interval, from batches of measured time.

Model: each metric is turned into one number per batch whose mean is the metric, and `mean_interval` gives the interval, which respects
correlation from batch to batch.

- Rates: the batch's rate.
- Mean latency, a ratio of two sums that both vary: r + (sum - r × count) / mean count, the linear form of a ratio (Cochran, Sampling
  Techniques, 3rd ed., 6.3; Law, Simulation Modeling and Analysis, 5th ed., 9.5.3), so busy batches weigh more.
- Percentiles: q is read from the histogram of the whole time, as in sectioning (Asmussen and Glynn, Stochastic Simulation, 2007, III.5a),
  because percentiles of short batches are biased. The share of requests that took at most q has an interval [p - h, p + h] from the
  batches like any ratio, and the latencies at p - h and p + h are the interval (Woodruff, "Confidence intervals for medians and other
  position measures", Journal of the American Statistical Association 47, 1952). It needs neither a density nor many requests per batch.

The value is the one of the totals, exactly. The maximum has no interval.
- Score of mail users, a weighted mean of percentiles: a batch counts by how many requests of each task it has above the percentile of the
  whole time, times what the percentile changes per share of requests there (the slope of the quantile function over the interval that
  Woodruff's method gives a sample of that size), so tasks that are slow together are slow together in the interval, too.

Limits: a percentile has no bounds when fewer than `BEYOND_MIN` requests lie beyond it, or when p + h reaches 100 %: what was measured then
says nothing about how slow the slowest are. Slow requests come in bursts, and a few bursts show little of their own scatter, so intervals
of p99 and beyond at high load still cover somewhat less than 95 %. Bounds below 0 become 0.

    estimates(batches, totals)["read"]["p99"]     # Estimate(value, low, high, batches), nanoseconds
    estimate(batches, "all", "mean")              # the same before there are totals
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

from plimsoll.analysis.point.metric import ALL, RATES, metric_of_totals
from plimsoll.analysis.point.observation import Batch, Batches, Portion, implied
from plimsoll.analysis.point.score import PERCENT, mean_of
from plimsoll.analysis.statistics.confidence import mean_interval
from plimsoll.histogram import Histogram
from plimsoll.result import OPS, Estimate, Estimates, OpTotals, Totals

#: Percentiles that have intervals, by metric.
PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}
#: Slow requests come in bursts; fewer of them than this do not show how they scatter.
BEYOND_MIN = 50
#: Metrics that have intervals.
WITH_INTERVAL = (*RATES, "mean", *PERCENTILES)
#: Every portion, whether it was drawn or came with another.
_EVERYTHING = (*OPS, *map(implied, OPS))


def estimates(batches: Batches, totals: Totals, together: Sequence[OpTotals] | None = None) -> Estimates:
    """Of every operation in ``totals`` and of all together; empty when nothing was measured.

    ``together`` are the totals that all operations together are made of (`plimsoll.analysis.point.metric.together`), if not simply all.
    """
    ops = [op for op in OPS if op in totals]
    course = _Course(batches)
    found: Estimates = {op: _operation(course, _keys(op), [totals[op]]) for op in ops}
    if len(ops) > 1:
        every = list(totals.values())
        whole = _operation(course, _keys(ALL), every if together is None else together)
        moved = _at(sum(total.bytes_per_s for total in every), course.estimate(_EVERYTHING, "bytes_per_s"))
        return {ALL: {**whole, "bytes_per_s": moved}, **found}
    return {ALL: dict(found[ops[0]]), **found} if ops else {}


def estimate(batches: Batches, op: str, name: str) -> Estimate | None:
    """One metric of `WITH_INTERVAL` of one operation or of `ALL`; None when nothing completed."""
    course = _Course(batches)
    keys = _keys(op)
    return course.estimate(_EVERYTHING if op == ALL and name == "bytes_per_s" else keys, name) if course.count(keys) else None


def score_estimate(batches: Batches, totals: Totals, weights: Mapping[str, float]) -> Estimate | None:
    """The score: the mean of the tasks' percentiles by ``weights``; None where no task that has a weight was done."""
    done = {task: total.latency_ns for task, total in totals.items() if task in weights and total.latency_ns is not None and total.count}
    value = mean_of({task: latency.p95 for task, latency in done.items()}, weights)
    if value is None:
        return None
    beyond = sum(totals[task].count for task in done) * (1.0 - PERCENT / 100.0)
    return _Course(batches).score(value, {task: weights[task] for task in done}) if beyond >= BEYOND_MIN else Estimate(value)


def _keys(op: str) -> list[str]:
    """The portions that ``op`` is made of; all together leave out what merely came with other operations."""
    return list(OPS) if op == ALL else [op, implied(op)]


def _operation(course: _Course, ops: Sequence[str], totals: Sequence[OpTotals]) -> dict[str, Estimate]:
    """Every metric of ``ops`` together, at the values that ``totals`` have."""
    timed = metric_of_totals(list(totals), "mean") is not None
    names = WITH_INTERVAL if timed and course.count(ops) else RATES
    found = {name: course.estimate(ops, name) for name in names}
    for name, one in found.items():
        stated = metric_of_totals(list(totals), name)
        # Percentiles of several operations together are in no total; theirs come from the merged histogram.
        if stated is not None and (len(totals) == 1 or name not in PERCENTILES):
            found[name] = _at(stated.value, one)
    slowest = metric_of_totals(list(totals), "max")
    return found if slowest is None else {**found, "max": slowest}


class _Course:
    """The batches as series of numbers, one per batch of equal time."""

    def __init__(self, batches: Batches) -> None:
        self._every = list(batches)
        self._equal = batches.equal()
        self._whole: dict[tuple[str, ...], Histogram] = {}

    def count(self, ops: Sequence[str]) -> int:
        """Requests completed."""
        return sum(portion.count for batch in self._every for portion in _portions(batch, ops))

    def estimate(self, ops: Sequence[str], name: str) -> Estimate:
        """One metric of ``ops`` together, at its value over the whole time."""
        if name in PERCENTILES:
            return self._percentile(ops, PERCENTILES[name])
        if name == "mean":
            sums = [sum(portion.latency_sum_ns for portion in _portions(batch, ops)) for batch in self._equal]
            whole = sum(portion.latency_sum_ns for batch in self._every for portion in _portions(batch, ops))
            return _at(whole / self.count(ops), _ratio(sums, self._counts(ops)))
        field = "count" if name == "iops" else "bytes"
        amounts = [sum(getattr(portion, field) for portion in _portions(batch, ops)) for batch in self._every]
        seconds = sum(batch.seconds for batch in self._every)
        rates = [sum(getattr(portion, field) for portion in _portions(batch, ops)) / batch.seconds for batch in self._equal]
        return _at(sum(amounts) / seconds if seconds > 0 else 0.0, mean_interval(rates) if rates else Estimate(0.0))

    def _percentile(self, ops: Sequence[str], percent: float) -> Estimate:
        whole = self._distribution(ops)
        value = whole.percentile(percent)
        below = [sum(_at_most(value, portion) for portion in _portions(batch, ops)) for batch in self._equal]
        share = _ratio(below, self._counts(ops))
        if share.low is None or share.high is None or whole.count * (1.0 - percent / 100.0) < BEYOND_MIN:
            return Estimate(float(value), batches=share.batches)
        lowest, highest = percent - 100.0 * (share.value - share.low), percent + 100.0 * (share.high - share.value)
        if highest >= 100.0 and share.high > share.low:
            return Estimate(float(value), batches=share.batches)
        low = whole.percentile(max(0.0, lowest))
        return Estimate(float(value), float(low), float(whole.percentile(highest)), share.batches)

    def score(self, value: float, weights: Mapping[str, float]) -> Estimate:
        """The interval around a score, whose tasks all have requests."""
        whole = sum(weights.values())
        errors = [0.0] * len(self._equal)
        for task, weight in weights.items():
            latency, counts = self._distribution([task]), self._counts([task])
            if not sum(counts):
                return Estimate(value)
            limit, mean_count = latency.percentile(PERCENT), sum(counts) / len(counts)
            beyond = [count - sum(_at_most(limit, one) for one in _portions(batch, [task])) for count, batch in self._counted(counts)]
            share = sum(beyond) / sum(counts)
            slope = weight / whole * _slope(latency) / mean_count
            errors = [error + slope * (over - share * count) for error, over, count in zip(errors, beyond, counts, strict=True)]
        return _at(value, mean_interval([value + error for error in errors]) if errors else Estimate(value))

    def _counted(self, counts: Sequence[int]) -> list[tuple[int, Batch]]:
        return list(zip(counts, self._equal, strict=True))

    def _counts(self, ops: Sequence[str]) -> list[int]:
        return [sum(portion.count for portion in _portions(batch, ops)) for batch in self._equal]

    def _distribution(self, ops: Sequence[str]) -> Histogram:
        key = tuple(ops)
        if key not in self._whole:
            whole = self._whole[key] = Histogram()
            for batch in self._every:
                for portion in _portions(batch, ops):
                    if portion.latency is not None:
                        whole.add(portion.latency)
        return self._whole[key]


def _at_most(value_ns: int, portion: Portion) -> int:
    """Requests of ``portion`` that took at most ``value_ns``."""
    return portion.latency.at_most(value_ns) if portion.latency is not None else 0


def _slope(latency: Histogram) -> float:
    """What the percentile of the score changes per share of requests: over two standard errors of that share to each side."""
    share = PERCENT / 100.0
    reach = min(2.0 * sqrt(share * (1.0 - share) / latency.count), 1.0 - share)
    rise = latency.percentile(100.0 * (share + reach)) - latency.percentile(100.0 * (share - reach))
    return rise / (2.0 * reach)


def _portions(batch: Batch, ops: Sequence[str]) -> list[Portion]:
    return [batch.portions[op] for op in ops if op in batch.portions]


def _ratio(sums: Sequence[float], counts: Sequence[int]) -> Estimate:
    """The mean of what ``sums`` sum up, per counted thing."""
    total = sum(counts)
    if not total:
        return Estimate(0.0)
    ratio, mean_count = sum(sums) / total, total / len(counts)
    return mean_interval([ratio + (one - ratio * count) / mean_count for one, count in zip(sums, counts, strict=True)])


def _at(value: float, around: Estimate) -> Estimate:
    """The interval of ``around`` moved to ``value``, which includes the last batch when it is not full."""
    if around.low is None or around.high is None:
        return Estimate(value, batches=around.batches)
    return Estimate(value, max(0.0, value - (around.value - around.low)), value + (around.high - around.value), around.batches)
