"""The mark under uncertainty: in each draw of what nobody has looked up another level may be the last that holds.

Model: every level of a load line has the same draws, so draw ``n`` of all levels together is the load line of one array as it may be. Its
mark is looked for as the mark of any load line (`plimsoll.analysis.load_line.mark`), on the levels that were measured; where the response
crosses the limit between two of them, at the interpolated rate. A draw moves the mark by the ratio of its rate to that of the array itself,
so that what interpolation is coarse in cancels.
Limits: levels that were not measured are not looked at, and draws that failed at one of them are left out. A draw that holds at all of
them has a mark of the highest at least (``above``), one that holds at none a mark below the lowest (``below``); an end of the interval that
lies among such draws is open.

    found = drawn_mark(results, parse_objective("p99 <= 30ms"))
    found.low, found.high, found.open_high        # 250.0, 420.0, False
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.analysis.load_line.line import by_level, usable
from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.analysis.objective.judgement import Objective
from plimsoll.analysis.point.metric import ALL
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.analysis.uncertainty.interval import quantile
from plimsoll.records import dataclass
from plimsoll.result import DrawnInterval, Estimate, Result
from plimsoll.stored import Json

#: Fewer draws than this have no interval.
_DRAWS_MIN = 10


@dataclass(frozen=True)
class DrawnMark:
    """Between what the mark lies in ``level`` of the ``draws``, in requests per second.

    ``above`` draws hold at every measured level and ``below`` at none; ``open_low`` and ``open_high`` say whether an end lies among them,
    so that the mark may be lower or higher.
    """

    iops: float
    low: float
    high: float
    level: float
    draws: int
    above: int
    below: int

    @property
    def open_low(self) -> bool:
        """Whether the low end is only known not to be higher."""
        return self.below > self.draws * (1 - self.level) / 2

    @property
    def open_high(self) -> bool:
        """Whether the high end is only known not to be lower."""
        return self.above > self.draws * (1 - self.level) / 2

    def to_json(self) -> Json:
        """For programs."""
        plain = {name: getattr(self, name) for name in ("iops", "low", "high", "level", "draws", "above", "below")}
        return {**plain, "open_low": self.open_low, "open_high": self.open_high}


def drawn_mark(results: Sequence[Result], objective: Objective) -> DrawnMark | None:
    """The interval of the mark of one subject; None where it has none itself, or not every level has the same draws."""
    own = mark_of(results, objective)
    levels = [result for _, group in by_level(results) for result in usable(group)]
    draws = [_any_interval(result) for result in levels]
    known = [one for one in draws if one is not None]
    if own is None or not known or len(known) < len(draws) or len({one.seed for one in known}) > 1:
        return None
    count = min(len(one.values) for one in known)
    rates, above, below = [], 0, 0
    for number in (one for one in range(count) if not any(_failed(result, one) for result in levels)):
        drawn = [_as_drawn(result, number) for result in levels]
        found = mark_of(drawn, objective)
        above += found is not None and found.failed_by is None
        below += found is None
        rates.append(_rate(found) if found is not None else _lowest(drawn))
    if len(rates) < _DRAWS_MIN:
        return None
    given = [own.iops * rate / _rate(own) for rate in rates]
    level = known[0].level
    ends = quantile(given, (1 - level) / 2), quantile(given, (1 + level) / 2)
    return DrawnMark(own.iops, *ends, level, len(rates), above, below)


def _rate(mark: Mark) -> float:
    return mark.crossing if mark.crossing is not None else mark.iops


def _lowest(results: Sequence[Result]) -> float:
    """The rate of the lowest level, which the mark is below."""
    found = pooled_metric(by_level(results)[0][1], ALL, "iops")
    return 0.0 if found is None else found.value


def _any_interval(result: Result) -> DrawnInterval | None:
    return next((one.interval for metrics in result.estimates.values() for one in metrics.values() if one.interval is not None), None)


def _failed(result: Result, number: int) -> bool:
    """Whether the draw gave no figure at this level."""
    every = (one.interval for metrics in result.estimates.values() for one in metrics.values())
    return any(interval is not None and interval.values[number] is None for interval in every)


def _as_drawn(result: Result, number: int) -> Result:
    """The point as it is in one draw: other figures, whose scatter is not known."""
    estimates = {op: {name: _estimate(one, number) for name, one in metrics.items()} for op, metrics in result.estimates.items()}
    return replace(result, estimates=estimates, outstanding={})


def _estimate(one: Estimate, number: int) -> Estimate:
    value = None if one.interval is None else one.interval.values[number]
    return Estimate(one.value if value is None else value)
